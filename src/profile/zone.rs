//! Zones that are cheap enough for every character and every task.

use super::client;
use std::ffi::CStr;
use std::marker::PhantomData;

/// Where and under which name zones are shown. The profiler keeps its address, so it is a `static`,
/// one per kind of thing that is timed.
///
/// ```
/// use throng::profile::{ZoneLocation, zone};
/// static SAMPLE: ZoneLocation = ZoneLocation::new(c"SampleClip");
/// let listening = throng::profile::listening(); // once a frame
/// {
///     let _zone = zone(&SAMPLE, listening);
///     // the work
/// }
/// ```
#[derive(Debug)]
pub struct ZoneLocation {
    name: &'static CStr,
    shown: client::Location,
}

impl ZoneLocation {
    /// A location named `name`, in the file and line of the caller.
    #[track_caller]
    pub const fn new(name: &'static CStr) -> Self {
        let caller = std::panic::Location::caller();
        let shown = client::Location::new(name, caller.file_as_c_str(), caller.line());
        Self { name, shown }
    }

    /// The name under which its zones are shown.
    pub fn name(&self) -> &str {
        self.name.to_str().unwrap_or_default()
    }
}

/// A zone that ends when it is dropped. It stays on the thread that began it, and zones of a thread
/// end in the reverse order of their beginnings, as locals do.
#[derive(Debug)]
#[must_use = "a zone lasts until it is dropped"]
pub struct Zone {
    context: Option<client::ZoneContext>,
    not_send: PhantomData<*const ()>,
}

/// Begins a zone if `listening`, which is what [`listening`](super::listening) or
/// [`watched`](super::watched) said this frame; otherwise it costs a branch.
#[inline]
pub fn zone(location: &'static ZoneLocation, listening: bool) -> Zone {
    #[cfg(test)]
    counting::count(location, listening);
    Zone {
        context: if listening { client::begin(&location.shown) } else { None },
        not_send: PhantomData,
    }
}

impl Drop for Zone {
    #[inline]
    fn drop(&mut self) {
        if let Some(context) = self.context.take() {
            client::end(context);
        }
    }
}

/// How many zones of each location this thread has begun for somebody who listens.
#[cfg(test)]
pub(crate) mod counting {
    use super::ZoneLocation;
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    thread_local! {
        static BEGUN: RefCell<BTreeMap<&'static str, u64>> = const { RefCell::new(BTreeMap::new()) };
    }

    pub(super) fn count(location: &'static ZoneLocation, listening: bool) {
        if listening {
            let name = location.name.to_str().unwrap_or_default();
            BEGUN.with_borrow_mut(|begun| *begun.entry(name).or_default() += 1);
        }
    }

    /// The counts since they were last taken, by name.
    pub(crate) fn take() -> BTreeMap<&'static str, u64> {
        BEGUN.take()
    }
}
