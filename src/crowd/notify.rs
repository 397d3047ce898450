//! Notifies on their way from the workers to whoever listens.
//!
//! Workers leave what fires in lists of their own. The serial phase puts these into the order of
//! the characters' ids, so that listeners hear the same whatever the threads, and tells every sink.

use super::Crowd;
use crate::index::CharacterId;
use crate::motion::{Fired, Moment, NotifyId, NotifyNames};
use std::collections::VecDeque;

/// A notify that a character fired in one tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NotifyEvent {
    /// Who.
    pub character: CharacterId,
    /// What.
    pub fired: Fired,
    /// Place among what one worker heard: keeps a character's own order.
    order: u32,
}

/// Set in the order of what workers hear: what ended before the tick comes before it.
const HEARD: u32 = 1 << 31;

impl NotifyEvent {
    /// A firing, the `order`th that its worker hears in this tick.
    pub(crate) fn new(character: CharacterId, fired: Fired, order: usize) -> Self {
        Self { character, fired, order: order as u32 | HEARD }
    }
}

/// Somebody who is told of notifies: a counter, a log, a sound.
///
/// Called in the serial phase, in the order of the characters' ids and of each one's own time.
pub trait NotifySink: Send + std::fmt::Debug {
    /// One event.
    fn notify(&mut self, name: &str, event: &NotifyEvent);
}

/// How often each notify was fired, by its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotifyCounts {
    /// Indexed by [`NotifyId`] and [`Moment`].
    counts: Vec<[u64; Moment::ALL.len()]>,
}

impl NotifyCounts {
    /// How often a moment of a notify was fired.
    pub fn of(&self, id: NotifyId, moment: Moment) -> u64 {
        self.counts.get(usize::from(id.0)).map_or(0, |c| c[moment as usize])
    }

    fn count(&mut self, fired: &Fired) {
        if let Some(counts) = self.counts.get_mut(usize::from(fired.id.0)) {
            counts[fired.moment as usize] += 1;
        }
    }
}

/// Writes every event to the log, at `debug`: `RUST_LOG=throng::notify=debug` shows them.
#[derive(Clone, Copy, Debug, Default)]
pub struct NotifyLog;

impl NotifySink for NotifyLog {
    fn notify(&mut self, name: &str, event: &NotifyEvent) {
        let Fired { moment, seconds, weight, .. } = event.fired;
        tracing::debug!(
            target: "throng::notify",
            character = event.character.0,
            name,
            moment = moment.name(),
            seconds,
            weight,
        );
    }
}

impl Crowd {
    /// Has another sink told of every notify from the next tick on.
    pub fn add_notify_sink(&mut self, sink: Box<dyn NotifySink>) {
        self.world.notifies.add_sink(sink);
    }

    /// The names of all notifies of all kinds.
    pub fn notify_names(&self) -> &NotifyNames {
        &self.world.notifies.names
    }

    /// How often each was fired since the counts were last cleared.
    pub fn notify_counts(&self) -> &NotifyCounts {
        &self.world.notifies.counts
    }

    /// Counts from zero again.
    pub fn clear_notify_counts(&mut self) {
        self.world.notifies.clear_counts();
    }

    /// The last notifies that were fired, the newest last, with their names.
    pub fn recent_notifies(&self) -> impl DoubleEndedIterator<Item = (&NotifyEvent, &str)> {
        self.world.notifies.recent()
    }
}

/// The world's notifies: names, what was fired, who listens.
#[derive(Debug, Default)]
pub(crate) struct Notifies {
    pub names: NotifyNames,
    /// This tick's, in the order of the characters' ids.
    events: Vec<NotifyEvent>,
    /// Ends that were told since the last tick.
    ended: Vec<NotifyEvent>,
    pub counts: NotifyCounts,
    /// The last ones of each tick, the newest last.
    recent: VecDeque<NotifyEvent>,
    sinks: Vec<Box<dyn NotifySink>>,
}

impl Notifies {
    /// Events that are remembered for whoever looks at the crowd.
    pub const RECENT: usize = 12;
    /// Events of a tick for which there is room from the start: a frame is not to allocate.
    pub const ROOM: usize = 4_096;

    pub fn new(names: NotifyNames) -> Self {
        let counts = NotifyCounts { counts: vec![Default::default(); names.len()] };
        Self {
            names,
            events: Vec::with_capacity(Self::ROOM),
            ended: Vec::new(),
            counts,
            recent: VecDeque::with_capacity(Self::RECENT),
            sinks: Vec::new(),
        }
    }

    /// Counts names too that were added since the last ones were.
    pub fn count_new_names(&mut self) {
        self.counts.counts.resize(self.names.len(), Default::default());
    }

    pub fn add_sink(&mut self, sink: Box<dyn NotifySink>) {
        self.sinks.push(sink);
    }

    /// What a character was in the middle of ends with it, or with its graph. It is told in the next
    /// tick, before whatever the same id fires there.
    pub fn end(&mut self, character: CharacterId, fired: Fired) {
        let order = self.ended.len() as u32;
        self.ended.push(NotifyEvent { character, fired, order });
    }

    /// The newest events, the newest last.
    pub fn recent(&self) -> impl DoubleEndedIterator<Item = (&NotifyEvent, &str)> {
        self.recent.iter().map(|event| (event, self.names.name(event.fired.id)))
    }

    /// Forgets the counts.
    pub fn clear_counts(&mut self) {
        self.counts.counts.fill(Default::default());
    }

    /// Takes over the workers' lists, leaves them empty and tells everybody. Gives the number of
    /// events.
    pub fn dispatch<'a>(&mut self, heard: impl Iterator<Item = &'a mut Vec<NotifyEvent>>) -> u32 {
        self.events.clear();
        self.events.append(&mut self.ended);
        heard.for_each(|events| self.events.append(events));
        // In a tick an id is one worker's, so the pair is unique.
        self.events.sort_unstable_by_key(|e| (e.character, e.order));
        for event in &self.events {
            self.counts.count(&event.fired);
            if self.recent.len() == Self::RECENT {
                self.recent.pop_front();
            }
            self.recent.push_back(*event);
            let name = self.names.name(event.fired.id);
            self.sinks.iter_mut().for_each(|sink| sink.notify(name, event));
        }
        self.events.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Debug)]
    struct Heard(Arc<Mutex<Vec<(u32, String)>>>);

    impl NotifySink for Heard {
        fn notify(&mut self, name: &str, event: &NotifyEvent) {
            self.0.lock().unwrap().push((event.character.0, name.to_owned()));
        }
    }

    #[test]
    fn sinks_hear_in_the_order_of_ids_whichever_worker_heard_what() {
        let mut names = NotifyNames::default();
        let ids = ["left", "right"].map(|name| names.id(name).unwrap());
        let event = |character, which: usize, order| {
            let fired = Fired { id: ids[which], moment: Moment::Point, seconds: 0.0, weight: 1.0 };
            NotifyEvent::new(CharacterId(character), fired, order)
        };
        let mut notifies = Notifies::new(names);
        let heard = Arc::new(Mutex::new(Vec::new()));
        notifies.add_sink(Box::new(Heard(Arc::clone(&heard))));
        notifies.add_sink(Box::new(NotifyLog));
        let mut workers = [
            vec![event(7, 1, 0), event(7, 0, 1), event(2, 0, 2)],
            vec![event(3, 1, 0), event(0, 1, 1)],
        ];
        assert_eq!(notifies.dispatch(workers.iter_mut()), 5);
        assert!(workers.iter().all(Vec::is_empty));
        let order: Vec<_> =
            [(0, "right"), (2, "left"), (3, "right"), (7, "right"), (7, "left")].into();
        let told = heard.lock().unwrap().clone();
        assert_eq!(told.iter().map(|(c, n)| (*c, n.as_str())).collect::<Vec<_>>(), order);
        let count = |which: usize| notifies.counts.of(ids[which], Moment::Point);
        assert_eq!((count(0), count(1)), (2, 3));
        assert_eq!(notifies.counts.of(NotifyId(9), Moment::Point), 0);
        assert_eq!(notifies.recent().count(), 5);
        for _ in 0..5 {
            notifies.dispatch([vec![event(1, 0, 0); 3]].iter_mut());
        }
        assert_eq!(notifies.recent().count(), Notifies::RECENT);
        notifies.clear_counts();
        assert_eq!(notifies.counts.of(ids[0], Moment::Point), 0);
    }
}
