//! Notifies: names at moments of a clip, fired when playback passes them.
//!
//! A step fires what lies in the half-open stretch from where it began, exclusive, to where it
//! arrived, inclusive; so no moment is fired twice, however time is cut into steps. The first step
//! of a clock includes where it began. Steps back and the return of a ping-pong mirror the rule.

use super::{Advance, Stretch};
use std::collections::HashMap;
use std::sync::Arc;

/// A notify's name, as a number of a [`NotifyNames`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NotifyId(pub u16);

/// All names of a crowd's notifies: each is kept once and has a number.
#[derive(Clone, Debug, Default)]
pub struct NotifyNames {
    names: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, NotifyId>,
}

impl NotifyNames {
    /// The number of a name, a new one if it has none yet. `None` when all 65,536 are given.
    pub fn id(&mut self, name: &str) -> Option<NotifyId> {
        if let Some(id) = self.ids.get(name) {
            return Some(*id);
        }
        let id = u16::try_from(self.names.len()).ok().map(NotifyId)?;
        let name: Arc<str> = name.into();
        self.names.push(Arc::clone(&name));
        self.ids.insert(name, id);
        Some(id)
    }

    /// The name of a number; empty for a number that was not given.
    pub fn name(&self, id: NotifyId) -> &str {
        self.names.get(usize::from(id.0)).map_or("", |name| name)
    }

    /// All names with their numbers, in the order they were given.
    pub fn iter(&self) -> impl Iterator<Item = (NotifyId, &str)> {
        (0..=u16::MAX).map(NotifyId).zip(self.names.iter().map(|name| &**name))
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// A notify of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Notify {
    /// Its name.
    pub id: NotifyId,
    /// Seconds inside the clip; where a span begins.
    pub seconds: f32,
    /// Where a span ends, seconds inside the clip, above `seconds`. `None`: a moment without
    /// length.
    pub end: Option<f32>,
}

/// What of a notify was fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Moment {
    /// A moment was passed.
    Point,
    /// A span was entered.
    Begin,
    /// A step ended inside a span.
    Tick,
    /// A span was left, or what played it stopped.
    End,
}

impl Moment {
    /// In the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Point, Self::Begin, Self::Tick, Self::End];

    /// The name, as in logs and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Begin => "begin",
            Self::Tick => "tick",
            Self::End => "end",
        }
    }
}

/// One firing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fired {
    /// Whose.
    pub id: NotifyId,
    /// What of it.
    pub moment: Moment,
    /// Seconds inside the clip.
    pub seconds: f32,
    /// Share that the clip had in the character's pose; zero for a span that ends because its clip
    /// lost its share.
    pub weight: f32,
}

/// What a playing clip remembers of its notifies: whether it has advanced at all, and which spans
/// are open. A new one for each start of a clip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct NotifyCursor(u16);

const STARTED: u16 = 1 << NotifyTrack::MAX_SPANS;

impl NotifyCursor {
    /// Of a clip that has not played yet.
    pub const UNPLAYED: Self = Self(0);

    /// The bits of which one is set while a span is open.
    pub(crate) const SPANS: u16 = !STARTED;

    /// True while a span is open.
    pub fn has_open_spans(self) -> bool {
        self.0 & Self::SPANS != 0
    }

    fn is_open(self, span: usize) -> bool {
        self.0 >> span & 1 == 1
    }

    fn open(&mut self, span: usize) {
        self.0 |= 1 << span;
    }

    fn close(&mut self, span: usize) {
        self.0 &= !(1 << span);
    }

    /// A clip that goes on from where it stands without having been fired so far: its next step
    /// does not include where it begins.
    pub fn started() -> Self {
        Self(STARTED)
    }
}

/// A point in a track that fires something when it is passed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Edge {
    Point(NotifyId),
    Begin(u8),
    End(u8),
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    id: NotifyId,
    begin: f32,
    end: f32,
}

/// The notifies of one clip, in the order of their times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NotifyTrack {
    edges: Vec<(f32, Edge)>,
    spans: Vec<Span>,
}

impl NotifyTrack {
    /// The most spans that one clip may have.
    pub const MAX_SPANS: usize = 15;

    /// Puts notifies into order. Times are clamped to a clip of `duration` seconds; what has no
    /// finite time is left out, and so are spans without length and those past
    /// [`NotifyTrack::MAX_SPANS`].
    pub fn new(notifies: &[Notify], duration: f32) -> Self {
        let duration = if duration > 0.0 { duration } else { 0.0 };
        let mut this = Self::default();
        for notify in notifies.iter().filter(|n| n.seconds.is_finite()) {
            let begin = notify.seconds.clamp(0.0, duration);
            match notify.end {
                None => this.edges.push((begin, Edge::Point(notify.id))),
                Some(end) => {
                    let end = end.clamp(0.0, duration);
                    let number = this.spans.len();
                    if end > begin && number < Self::MAX_SPANS {
                        this.spans.push(Span { id: notify.id, begin, end });
                        this.edges.push((begin, Edge::Begin(number as u8)));
                        this.edges.push((end, Edge::End(number as u8)));
                    }
                }
            }
        }
        // Stable: what stands at one time keeps the order that it was written in.
        this.edges.sort_by(|a, b| a.0.total_cmp(&b.0));
        this
    }

    /// True when nothing is ever fired.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// True when some of it has a length.
    pub fn has_spans(&self) -> bool {
        !self.spans.is_empty()
    }

    /// Fires what a step of the clip's clock passed, in the order of passing; spans that the step
    /// ends in tick after that. `weight` is the clip's share of the pose: without one nothing fires
    /// but the end of what is open. A step that did not move fires nothing.
    ///
    /// Of a step over more than [`Advance::MAX_STRETCHES`] ends the last ones fire.
    pub fn advance(
        &self,
        step: &Advance,
        weight: f32,
        cursor: &mut NotifyCursor,
        mut fire: impl FnMut(Fired),
    ) {
        let first = cursor.0 & STARTED == 0;
        if !step.moved() {
            return;
        }
        cursor.0 |= STARTED;
        if weight.is_nan() || weight <= 0.0 {
            return self.stop(step.from, cursor, fire);
        }
        if self.edges.is_empty() {
            return;
        }
        let last = self.edges.len() - 1;
        for stretch in step.stretches(first) {
            self.settle(&stretch, weight, cursor, &mut fire);
            for i in 0..=last {
                let edge = &self.edges[if stretch.backward { last - i } else { i }];
                if stretch.passes(edge.0) {
                    let turns = step.turns_at(edge.0);
                    self.pass(edge, &stretch, turns, weight, cursor, &mut fire);
                }
            }
        }
        for (_, span) in self.spans.iter().enumerate().filter(|(n, _)| cursor.is_open(*n)) {
            fire(Fired { id: span.id, moment: Moment::Tick, seconds: step.to, weight });
        }
    }

    /// Ends what is open, because what played the clip stopped at `seconds`.
    pub fn stop(&self, seconds: f32, cursor: &mut NotifyCursor, mut fire: impl FnMut(Fired)) {
        for (number, span) in self.spans.iter().enumerate() {
            if cursor.is_open(number) {
                cursor.close(number);
                fire(Fired { id: span.id, moment: Moment::End, seconds, weight: 0.0 });
            }
        }
    }

    /// The clip was put to `seconds` without playing there: nothing fires but the end of spans that
    /// it is no longer in. Those it is in now begin with the next step.
    pub fn seek(&self, seconds: f32, cursor: &mut NotifyCursor, mut fire: impl FnMut(Fired)) {
        cursor.0 |= STARTED;
        for (number, span) in self.spans.iter().enumerate() {
            if cursor.is_open(number) && !(span.begin..=span.end).contains(&seconds) {
                cursor.close(number);
                fire(Fired { id: span.id, moment: Moment::End, seconds, weight: 0.0 });
            }
        }
    }

    /// Opens the spans that a stretch sets out in, and ends those that it does not go through: the
    /// clip may have been put somewhere else, or have turned round on a span's end.
    fn settle(
        &self,
        stretch: &Stretch,
        weight: f32,
        cursor: &mut NotifyCursor,
        fire: &mut impl FnMut(Fired),
    ) {
        let at = stretch.from;
        for (number, span) in self.spans.iter().enumerate() {
            let inside = match stretch.backward {
                false => at >= span.begin && at < span.end,
                true => at > span.begin && at <= span.end,
            };
            match (inside, cursor.is_open(number)) {
                (true, false) => {
                    cursor.open(number);
                    fire(Fired { id: span.id, moment: Moment::Begin, seconds: at, weight });
                }
                (false, true) => {
                    cursor.close(number);
                    fire(Fired { id: span.id, moment: Moment::End, seconds: at, weight });
                }
                _ => {}
            }
        }
    }

    /// What passing an edge does. `turns`: playback turns round there, so no span is left by it.
    fn pass(
        &self,
        &(seconds, edge): &(f32, Edge),
        stretch: &Stretch,
        turns: bool,
        weight: f32,
        cursor: &mut NotifyCursor,
        fire: &mut impl FnMut(Fired),
    ) {
        let number = match edge {
            Edge::Point(id) => return fire(Fired { id, moment: Moment::Point, seconds, weight }),
            Edge::Begin(number) | Edge::End(number) => usize::from(number),
        };
        let span = &self.spans[number];
        // Backwards, a span is entered at its end and left at its beginning.
        let enters = matches!(edge, Edge::Begin(_)) != stretch.backward;
        if enters && !cursor.is_open(number) {
            cursor.open(number);
            fire(Fired { id: span.id, moment: Moment::Begin, seconds, weight });
        } else if !enters && cursor.is_open(number) && !turns {
            cursor.close(number);
            fire(Fired { id: span.id, moment: Moment::End, seconds, weight });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::PlayMode;
    use proptest::prelude::*;

    const MODES: [PlayMode; 4] =
        [PlayMode::Loop, PlayMode::Once, PlayMode::Clamp, PlayMode::PingPong];

    fn point(id: u16, seconds: f32) -> Notify {
        Notify { id: NotifyId(id), seconds, end: None }
    }

    fn span(id: u16, seconds: f32, end: f32) -> Notify {
        Notify { id: NotifyId(id), seconds, end: Some(end) }
    }

    /// A clip of two seconds that plays.
    struct Player {
        track: NotifyTrack,
        mode: PlayMode,
        clock: f32,
        cursor: NotifyCursor,
    }

    impl Player {
        fn new(notifies: &[Notify], mode: PlayMode) -> Self {
            let track = NotifyTrack::new(notifies, 2.0);
            Self { track, mode, clock: 0.0, cursor: NotifyCursor::default() }
        }

        fn step_weighted(&mut self, dt: f32, weight: f32) -> Vec<(u16, Moment, f32)> {
            let step = self.mode.advance(self.clock, dt, 2.0);
            self.clock = step.clock;
            let mut fired = Vec::new();
            self.track.advance(&step, weight, &mut self.cursor, |f| {
                fired.push((f.id.0, f.moment, f.seconds));
            });
            fired
        }

        fn step(&mut self, dt: f32) -> Vec<(u16, Moment)> {
            self.step_weighted(dt, 1.0).into_iter().map(|(id, moment, _)| (id, moment)).collect()
        }

        fn points(&mut self, dt: f32) -> Vec<u16> {
            self.step(dt).into_iter().map(|(id, _)| id).collect()
        }
    }

    use Moment::{Begin, End, Point, Tick};

    #[test]
    fn a_moment_fires_in_the_step_that_arrives_there_and_not_in_the_next() {
        let mut p = Player::new(&[point(1, 0.5), point(0, 0.0)], PlayMode::Loop);
        assert_eq!(p.points(0.25), [0], "the first step includes its start");
        assert_eq!(p.points(0.25), [1], "a step includes its end");
        assert_eq!(p.points(0.25), [0; 0]);
        assert_eq!(p.points(1.25), [0], "landing on the end of a loop is its start");
        assert_eq!(p.points(0.25), [0; 0]);
    }

    #[test]
    fn a_step_over_several_rounds_fires_in_the_order_of_passing() {
        let mut p = Player::new(&[point(1, 0.5), point(2, 2.0), point(0, 0.0)], PlayMode::Loop);
        p.cursor = NotifyCursor::started();
        assert_eq!(p.points(4.75), [1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(p.points(-4.75), [1, 0, 2, 1, 0, 2, 1, 0], "back, and onto the start itself");
    }

    #[test]
    fn a_step_back_is_the_mirror_of_a_step_forward() {
        let mut p = Player::new(&[point(1, 0.5), point(2, 1.0)], PlayMode::Clamp);
        assert_eq!(p.points(1.0), [1, 2]);
        assert_eq!(p.points(-0.5), [1], "arrives on one, leaves the other");
        assert_eq!(p.points(0.5), [2]);
        p.clock = 1.0;
        p.cursor = NotifyCursor::default();
        assert_eq!(p.points(-0.1), [2], "the first step includes its start backwards too");
    }

    #[test]
    fn a_ping_pong_fires_on_both_ways_and_once_at_its_turns() {
        let mut p = Player::new(&[point(0, 0.0), point(1, 0.5), point(2, 2.0)], PlayMode::PingPong);
        assert_eq!(p.points(4.0), [0, 1, 2, 1, 0]);
        assert_eq!(p.points(1.0), [1]);
        assert_eq!(p.points(1.0), [2]);
        assert_eq!(p.points(0.25), [0; 0]);
        assert_eq!(p.points(-0.5), [2]);
    }

    #[test]
    fn a_clip_that_plays_once_fires_its_end_once() {
        let mut p = Player::new(&[point(7, 2.0)], PlayMode::Once);
        assert_eq!(p.points(1.9), [0; 0]);
        assert_eq!(p.points(5.0), [7]);
        assert_eq!(p.points(5.0), [0; 0], "it is held there");
    }

    #[test]
    fn pauses_and_clips_without_weight_fire_nothing() {
        let mut p = Player::new(&[point(0, 0.0), point(1, 0.5)], PlayMode::Loop);
        assert_eq!(p.points(0.0), [0; 0]);
        assert_eq!(p.points(0.1), [0], "a pause is no first step");
        for weight in [0.0, -1.0, f32::NAN] {
            assert!(p.step_weighted(4.0, weight).is_empty(), "{weight}");
        }
        let mut weights = Vec::new();
        let step = p.mode.advance(p.clock, 1.0, 2.0);
        p.track.advance(&step, 0.25, &mut p.cursor, |f| weights.push(f.weight));
        assert_eq!(weights, [0.25]);
    }

    #[test]
    fn a_span_begins_ticks_and_ends() {
        let mut p = Player::new(&[span(3, 0.5, 1.0)], PlayMode::Loop);
        assert_eq!(p.step(0.5), [(3, Begin), (3, Tick)]);
        assert_eq!(p.step(0.25), [(3, Tick)]);
        assert_eq!(p.step(0.0), [], "a pause does not tick");
        assert_eq!(p.step(0.25), [(3, End)]);
        assert_eq!(p.step(2.0), [(3, Begin), (3, End)], "a whole round");
        assert_eq!(p.step(-0.25), [(3, Begin), (3, Tick)], "backwards it begins at its end");
        assert_eq!(p.step(0.3), [(3, End)]);
    }

    #[test]
    fn turning_round_on_a_spans_edge_ends_it() {
        let mut p = Player::new(&[span(3, 0.5, 1.0)], PlayMode::Clamp);
        assert_eq!(p.step(0.5), [(3, Begin), (3, Tick)]);
        assert_eq!(p.step(-0.25), [(3, End)]);
        p.step(1.0);
        assert_eq!(p.step(-0.25), [(3, Begin), (3, Tick)]);
        assert_eq!(p.step(0.5), [(3, End)]);
    }

    #[test]
    fn a_span_up_to_a_turn_stays_open_over_it_and_one_up_to_a_loops_end_does_not() {
        let mut p = Player::new(&[span(3, 1.5, 2.0), span(4, 0.0, 0.5)], PlayMode::PingPong);
        assert_eq!(p.step(1.75), [(4, Begin), (4, End), (3, Begin), (3, Tick)]);
        assert_eq!(p.step(0.5), [(3, Tick)]);
        assert_eq!(p.step(2.0), [(3, End), (4, Begin), (4, Tick)]);
        let mut p = Player::new(&[span(3, 1.5, 2.0)], PlayMode::Loop);
        assert_eq!(p.step(2.0), [(3, Begin), (3, End)]);
    }

    #[test]
    fn what_stops_or_loses_its_weight_ends_its_spans() {
        let mut p = Player::new(&[span(3, 0.5, 1.5)], PlayMode::Loop);
        p.step(0.75);
        assert_eq!(p.step_weighted(0.1, 0.0), [(3, End, 0.75)]);
        assert_eq!(p.step(0.1), [(3, Begin), (3, Tick)], "and begin again where they are");
        let mut ends = Vec::new();
        p.track.stop(0.95, &mut p.cursor, |f| ends.push((f.id.0, f.moment, f.weight)));
        assert_eq!(ends, [(3, End, 0.0)]);
        assert!(!p.cursor.has_open_spans());
        p.track.stop(0.95, &mut p.cursor, |f| panic!("{f:?} a second time"));
    }

    #[test]
    fn a_seek_fires_nothing_but_the_end_of_what_it_leaves() {
        let mut p = Player::new(&[point(0, 0.2), span(3, 0.5, 1.0), point(1, 1.5)], PlayMode::Loop);
        assert_eq!(p.step(0.6), [(0, Point), (3, Begin), (3, Tick)]);
        let seek = |p: &mut Player, to: f32| {
            let mut fired = Vec::new();
            p.track.seek(to, &mut p.cursor, |f| fired.push((f.id.0, f.moment)));
            p.clock = to;
            fired
        };
        assert_eq!(seek(&mut p, 0.8), []);
        assert_eq!(p.step(0.1), [(3, Tick)]);
        assert_eq!(seek(&mut p, 1.5), [(3, End)]);
        assert_eq!(p.step(0.1), [], "what it was put onto is not passed");
        assert_eq!(seek(&mut p, 0.7), []);
        assert_eq!(p.step(0.1), [(3, Begin), (3, Tick)]);
    }

    #[test]
    fn times_outside_of_the_clip_are_clamped_and_what_can_not_be_is_left_out() {
        let spans: Vec<_> = (0..40).map(|i| span(i, 0.5, 1.0)).collect();
        assert_eq!(NotifyTrack::new(&spans, 2.0).spans.len(), NotifyTrack::MAX_SPANS);
        let odd = [
            point(0, f32::NAN),
            span(1, 1.0, 1.0),
            span(2, 1.0, 0.5),
            span(3, 5.0, 6.0),
            span(4, 0.5, f32::NAN),
        ];
        assert!(NotifyTrack::new(&odd, 2.0).is_empty());
        let mut p =
            Player::new(&[point(0, -3.0), point(1, 9.0), span(2, 1.0, 9.0)], PlayMode::Clamp);
        assert_eq!(p.step(5.0), [(0, Point), (2, Begin), (1, Point), (2, End)]);
        assert!(!NotifyTrack::new(&[point(0, 1.0)], 0.0).is_empty());
    }

    #[test]
    fn names_are_numbered_once() {
        let mut names = NotifyNames::default();
        let (a, b) = (names.id("left").unwrap(), names.id("right").unwrap());
        assert_eq!((names.id("left"), names.len()), (Some(a), 2));
        assert_eq!((names.name(b), names.name(NotifyId(9))), ("right", ""));
    }

    /// The moments that a clock passes, found by going there in steps of a ten-thousandth of a
    /// second in double precision.
    fn walked(mode: PlayMode, times: &[f32], from: f64, dt: f64) -> Vec<u16> {
        let n = (dt.abs() / 1e-4).ceil().max(1.0) as usize;
        let place = |u: f64| match mode {
            PlayMode::Loop => (u / 2.0).floor() * 2.0,
            PlayMode::Once | PlayMode::Clamp => 0.0,
            PlayMode::PingPong => (u / 4.0).floor() * 4.0,
        };
        let mut fired = Vec::new();
        for i in 0..n {
            let (a, b) = (from + dt * i as f64 / n as f64, from + dt * (i + 1) as f64 / n as f64);
            for (id, t) in times.iter().enumerate() {
                let t = f64::from(*t);
                // Every place of the unrolled clock where the moment stands, around here.
                let base = place(a);
                let stands = [-4.0, -2.0, 0.0, 2.0, 4.0].into_iter().flat_map(|r| match mode {
                    PlayMode::Loop => vec![base + r + t],
                    PlayMode::Once | PlayMode::Clamp if r == 0.0 => vec![t],
                    PlayMode::PingPong if r % 4.0 == 0.0 => vec![base + r + t, base + r + 4.0 - t],
                    _ => vec![],
                });
                let passed = |u: f64| if dt >= 0.0 { u > a && u <= b } else { u < a && u >= b };
                fired.extend(stands.filter(|u| passed(*u)).map(|_| id as u16));
            }
        }
        fired
    }

    proptest! {
        #[test]
        fn steps_fire_what_walking_there_fires(
            mode in 0usize..4,
            times in prop::collection::vec(0.011f32..1.989, 1..5),
            steps in prop::collection::vec(-3.0f32..6.0, 1..8),
        ) {
            let mode = MODES[mode];
            // Apart from one another and from where steps end, which rounding could put to either
            // side.
            let mut times = times;
            times.sort_by(f32::total_cmp);
            prop_assume!(times.windows(2).all(|t| t[1] - t[0] > 2e-3));
            let notifies: Vec<_> = (0u16..).zip(&times).map(|(i, t)| point(i, *t)).collect();
            let mut p = Player::new(&notifies, mode);
            p.cursor = NotifyCursor::started();
            let mut u = 0.0_f64;
            for dt in steps {
                let held = matches!(mode, PlayMode::Once | PlayMode::Clamp);
                let to = u + f64::from(dt);
                let to = if held { to.clamp(0.0, 2.0) } else { to };
                let at = mode.advance(p.clock, dt, 2.0).to;
                prop_assume!(times.iter().all(|t| (t - at).abs() > 1e-4));
                let fired = p.points(dt);
                prop_assert_eq!(&fired, &walked(mode, &times, u, to - u), "{} to {}", u, to);
                u = to;
            }
        }

        #[test]
        fn however_time_is_cut_into_steps_the_same_fires(
            mode in 0usize..4,
            notifies in prop::collection::vec((0.0f32..=2.0, prop::option::of(0.0f32..=2.0)), 0..6),
            cuts in prop::collection::vec(0.0f32..0.9, 1..40),
        ) {
            let mode = MODES[mode];
            // Powers of two, so that every sum of steps is exact.
            let grid = |t: f32| (t * 64.0).round() / 64.0;
            let notifies: Vec<_> = (0u16..)
                .zip(&notifies)
                .map(|(id, (t, end))| Notify { id: NotifyId(id), seconds: grid(*t), end: end.map(grid) })
                .collect();
            let (mut whole, mut cut) = (Player::new(&notifies, mode), Player::new(&notifies, mode));
            let steps: Vec<f32> = cuts.iter().map(|c| grid(*c)).collect();
            let ticks = |f: &(u16, Moment, f32)| f.1 != Tick;
            let large: Vec<_> =
                whole.step_weighted(steps.iter().sum(), 1.0).into_iter().filter(ticks).collect();
            let small: Vec<_> =
                steps.iter().flat_map(|s| cut.step_weighted(*s, 1.0)).filter(ticks).collect();
            prop_assert_eq!(large, small);
            prop_assert_eq!(whole.cursor, cut.cursor);
        }

        #[test]
        fn spans_begin_and_end_by_turns_and_tick_only_while_open(
            mode in 0usize..4, begin in 0.0f32..1.9, length in 0.01f32..1.0,
            steps in prop::collection::vec((-3.0f32..3.0, 0u8..4), 1..60),
        ) {
            let mut p = Player::new(&[span(0, begin, begin + length)], MODES[mode]);
            let mut open = false;
            for (dt, weight) in steps {
                for (_, moment, _) in p.step_weighted(dt, f32::from(weight)) {
                    prop_assert_eq!(open, moment != Begin, "{:?}", moment);
                    open = moment != End;
                }
                prop_assert_eq!(open, p.cursor.has_open_spans());
                prop_assert!(weight > 0 || !open || dt == 0.0);
            }
        }
    }
}
