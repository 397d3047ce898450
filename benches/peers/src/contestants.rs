//! Who is measured, and what each has no answer to.

use crate::bevy::Bevy;
use crate::fyrox::{self, Fyrox};
use crate::plain::Plain;
use crate::runtime::Runtime;
use crate::throng_runtime::{Throng, Timed};
use throng::app::bench::passes::{Rigs, Workload};
use throng::pose::UniformClip;

/// What this program was built with.
const LOCK: &str = include_str!("../Cargo.lock");

/// One of the runtimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contestant {
    /// Throng, recording and executing. The others' times are held against this one.
    Throng,
    /// Throng without the time of recording: what `throng bench pose` prints.
    ThrongExecution,
    /// Plain glam.
    Plain,
    /// Bevy.
    Bevy,
    /// Fyrox.
    Fyrox,
}

impl Contestant {
    /// All of them, in the order in which they take turns.
    pub const ALL: [Self; 5] =
        [Self::Throng, Self::ThrongExecution, Self::Plain, Self::Bevy, Self::Fyrox];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Throng => "throng",
            Self::ThrongExecution => "throng_execution",
            Self::Plain => "plain_glam",
            Self::Bevy => "bevy_animation",
            Self::Fyrox => "fyrox-animation",
        }
    }

    /// The version of its crate that this program was built with.
    pub fn version(self) -> Option<&'static str> {
        locked_version(match self {
            Self::Throng | Self::ThrongExecution => "throng",
            Self::Plain => "glam",
            Self::Bevy | Self::Fyrox => self.name(),
        })
    }

    /// Why it has no figure for a workload; `None` where it has one.
    pub fn lacks(self, workload: Workload) -> Option<&'static str> {
        match self {
            Self::Fyrox => fyrox::lacks(workload),
            Self::ThrongExecution if workload == Workload::Sample => {
                Some("nothing is recorded: throng's figure")
            }
            _ => None,
        }
    }

    /// `characters` of it that do `workload`, at the time of the first frame.
    ///
    /// # Errors
    /// Clips or workloads that the runtime refuses.
    pub fn prepare<'a>(
        self,
        rigs: &'a Rigs,
        sources: &[UniformClip],
        workload: Workload,
        characters: usize,
    ) -> anyhow::Result<Box<dyn Runtime + 'a>> {
        let throng = |timed| Box::new(Throng::new(rigs, workload, characters, timed));
        Ok(match self {
            Self::Throng => throng(Timed::All),
            Self::ThrongExecution => throng(Timed::Execution),
            Self::Plain => Box::new(Plain::new(rigs, workload, characters)),
            Self::Bevy => Box::new(Bevy::new(rigs, sources, workload, characters)?),
            Self::Fyrox => Box::new(Fyrox::new(rigs, sources, workload, characters)?),
        })
    }
}

/// The version of a package in the lock file; the newest, where there are several.
fn locked_version(package: &str) -> Option<&'static str> {
    let name = format!("name = \"{package}\"");
    let mut lines = LOCK.lines();
    let mut version = None;
    while lines.any(|line| line == name) {
        let quoted = lines.next()?.strip_prefix("version = \"")?;
        version = Some(quoted.trim_end_matches('"'));
    }
    version
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_has_a_version_and_a_package_that_is_not_locked_has_none() {
        for contestant in Contestant::ALL {
            let version = contestant.version().unwrap();
            assert!(version.split('.').count() == 3, "{contestant:?}: {version}");
        }
        assert_eq!(locked_version("bevy_pbr"), None);
    }
}
