//! Who is to fall, and when.

use super::Wish;
use crate::crowd::random::Random;
use crate::index::CharacterId;
use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

/// Seconds until somebody falls for the first time, and from one fall to the next, at least and at
/// most.
const FIRST: (f32, f32) = (0.5, 8.0);
const AGAIN: (f32, f32) = (10.0, 24.0);
/// Seconds that somebody lies still before it gets up.
const LIES: (f32, f32) = (1.0, 3.0);
/// Metres a second that the top of somebody is pushed by who falls by itself.
const PUSH: (f32, f32) = (0.6, 2.0);
/// Metres from where somebody fell first beyond which it falls back that way.
const STRAY: f32 = 1.0;
/// The generators' streams of a seed.
const STREAM: u64 = 9 << 32;

/// Those who fall now and then, and those who were knocked down since the last tick.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    fallers: Vec<Faller>,
    knocked: Vec<Wish>,
    /// Of those who are knocked down.
    random: Option<Random>,
}

#[derive(Debug)]
struct Faller {
    id: CharacterId,
    random: Random,
    /// Played seconds until it falls.
    left: f32,
    /// Where it stood when it fell first, and which holder of its id that was.
    from: Option<(u32, Vec2)>,
}

impl Wishes {
    /// `fallers` of `count` characters fall now and then, which ones and when being drawn by the seed.
    pub fn new(fallers: u32, count: u32, seed: u64) -> Self {
        let mut random = Random::new(seed, STREAM);
        let drawn_from = if fallers == 0 { 0 } else { count };
        let mut ids: Vec<u32> = (0..drawn_from).collect();
        let faller = |at: usize| {
            // The beginning of a shuffle (Fisher and Yates).
            let other = at + random.below(ids.len() - at);
            ids.swap(at, other);
            let id = CharacterId(ids[at]);
            let mut random = Random::new(seed, STREAM + 1 + u64::from(id.0));
            let left = random.range(FIRST.0, FIRST.1);
            Faller { id, random, left, from: None }
        };
        let mut fallers: Vec<_> = (0..fallers.min(count) as usize).map(faller).collect();
        fallers.sort_unstable_by_key(|faller| faller.id);
        Self { fallers, knocked: Vec::new(), random: Some(Random::new(seed, STREAM)) }
    }

    /// Nobody will fall.
    pub fn is_empty(&self) -> bool {
        self.fallers.is_empty() && self.knocked.is_empty()
    }

    /// Somebody is to fall in the next tick.
    pub fn ask(&mut self, id: CharacterId, push: Vec3) {
        let lies = self.random.as_mut().map_or(LIES.0, |random| random.range(LIES.0, LIES.1));
        self.knocked.push(Wish { id, push, lies });
    }

    /// Hands over everybody whose time has come in so many played seconds. Who can't fall now, so that
    /// `fall` is false, is asked again in the next tick. `stands` tells which holder of its id somebody
    /// is and where it stands whom nothing takes home, world (x, z): it falls back whence it came.
    pub fn each(
        &mut self,
        seconds: f32,
        stands: impl Fn(CharacterId) -> Option<(u32, Vec2)>,
        mut fall: impl FnMut(Wish) -> bool,
    ) {
        for wish in self.knocked.drain(..) {
            fall(wish);
        }
        for faller in &mut self.fallers {
            faller.left -= seconds;
            if faller.left > 0.0 {
                continue;
            }
            let mut random = faller.random;
            let (sin, cos) = random.range(0.0, TAU).sin_cos();
            let here = stands(faller.id);
            let from = faller.from.filter(|from| here.is_some_and(|here| from.0 == here.0));
            faller.from = from.or(here);
            let back = faller.from.zip(here).map_or(Vec2::ZERO, |(from, here)| from.1 - here.1);
            let way = match back.length() > STRAY {
                true => back.normalize(),
                false => Vec2::new(sin, cos),
            };
            let push = Vec3::new(way.x, 0.0, way.y) * random.range(PUSH.0, PUSH.1);
            let lies = random.range(LIES.0, LIES.1);
            if fall(Wish { id: faller.id, push, lies }) {
                faller.left = random.range(AGAIN.0, AGAIN.1);
                faller.random = random;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3Swizzles;

    fn falls(fallers: u32, count: u32, seed: u64) -> Vec<(u32, CharacterId)> {
        let mut wishes = Wishes::new(fallers, count, seed);
        let mut all = Vec::new();
        for frame in 0..3_600 {
            wishes.each(
                1.0 / 60.0,
                |_| None,
                |wish| {
                    assert!(wish.push.length() <= PUSH.1 + 1e-3 && wish.lies >= LIES.0);
                    all.push((frame, wish.id));
                    true
                },
            );
        }
        all
    }

    #[test]
    fn as_many_as_asked_for_fall_again_and_again_and_a_seed_says_when() {
        let all = falls(20, 500, 1);
        let mut ids: Vec<_> = all.iter().map(|(_, id)| id.0).collect();
        ids.sort_unstable();
        ids.dedup();
        assert!(ids.len() == 20 && ids[19] < 500 && ids[19] > 250, "{ids:?}");
        assert!(all.len() > 60 && all.len() < 130, "{}", all.len());
        let at_once = all.iter().filter(|(frame, _)| *frame == all[0].0).count();
        assert!(at_once < 4, "staggered");
        assert_eq!(all, falls(20, 500, 1));
        assert_ne!(all, falls(20, 500, 2));
        assert_eq!(falls(9, 3, 1).iter().map(|(_, id)| id.0).max(), Some(2));
        assert!(falls(0, 3, 1).is_empty() && falls(3, 0, 1).is_empty());
    }

    #[test]
    fn who_has_come_far_from_where_it_fell_first_is_pushed_back_that_way() {
        let mut wishes = Wishes::new(1, 1, 3);
        let mut fall = |stands: Option<(u32, Vec2)>| {
            let mut push = None;
            wishes.each(30.0, |_| stands, |wish| push.replace(wish.push.xz()).is_none());
            push.unwrap()
        };
        fall(Some((0, Vec2::new(4.0, 1.0))));
        let back = fall(Some((0, Vec2::new(4.0, 4.0))));
        assert!(back.x.abs() < 1e-5 && back.y < -0.5, "{back}");
        // Another one of the same id begins where it stands.
        let other = fall(Some((1, Vec2::new(4.0, 4.0))));
        assert!(other.x.abs() > 1e-3, "{other}");
        let back = fall(Some((1, Vec2::new(2.0, 4.0))));
        assert!(back.x > 0.5 && back.y.abs() < 1e-5, "{back}");
    }

    #[test]
    fn who_could_not_fall_is_asked_again_and_who_was_knocked_down_is_not() {
        let mut wishes = Wishes::new(1, 1, 1);
        wishes.ask(CharacterId(0), Vec3::X);
        let mut asked = 0;
        wishes.each(
            20.0,
            |_| None,
            |wish| {
                asked += 1;
                assert_eq!(wish.push == Vec3::X, asked == 1);
                false
            },
        );
        wishes.each(
            0.0,
            |_| None,
            |_| {
                asked += 1;
                true
            },
        );
        wishes.each(0.0, |_| None, |_| panic!("it has fallen"));
        assert_eq!(asked, 3);
    }
}
