//! A round plaza: rings of people who stand, and circular lanes between them.

use super::Plan;
use super::cast::{Cast, Walkers};
use super::street::fill_lane;
use crate::crowd::ride::Ride;
use glam::Vec2;
use std::f32::consts::TAU;

/// Share of those who could stand that walk.
const WALKING: f32 = 0.22;
/// Widths of the standing rings, in cells: the middle and the others.
const MIDDLE_CELLS: f32 = 3.0;
const RING_CELLS: f32 = 3.5;
/// Lanes between two standing rings, alternating in direction.
const LANES: u32 = 2;
/// The golden angle, radians.
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;
/// Least distance between two points of Vogel's spiral `r = sqrt(i + 1/2)`.
const LEAST_DISTANCE: f32 = 1.54;

/// Vogel's sunflower (H. Vogel, "A better way to construct the sunflower head", 1979) with rings
/// left out for the lanes.
pub(super) fn plan(cast: &mut Cast) -> Plan {
    let mut walkers = cast.take_walkers(WALKING);
    let reach = cast.stand_reach();
    let cell = 2.0 * reach;
    let unit = cell / LEAST_DISTANCE;
    let mut plan = Plan::default();
    let mut inner = 0.0f32;
    let mut lane = 0;
    loop {
        if cast.standers() > 0 {
            let cells = if inner == 0.0 { MIDDLE_CELLS } else { RING_CELLS };
            let outer = inner + cells * cell;
            stand_between(cast, &mut plan, (inner + reach, outer - reach), inner == 0.0, unit);
            inner = outer;
        } else if walkers.iter().all(|w| w.count == 0) {
            break;
        }
        for _ in 0..LANES {
            let waiting: Vec<usize> =
                (0..walkers.len()).filter(|&i| walkers[i].count > 0).collect();
            let Some(&pick) = waiting.get(lane % waiting.len().max(1)) else { break };
            inner = walk_around(cast, &mut plan, &mut walkers[pick], inner, lane % 2 == 1);
            lane += 1;
        }
    }
    plan
}

/// Fills the ring between two radii, as far as there are people.
fn stand_between(cast: &mut Cast, plan: &mut Plan, radii: (f32, f32), middle: bool, unit: f32) {
    let (from, to) = if middle { (0.0, radii.1) } else { radii };
    let index = |radius: f32| (f64::from(radius / unit).powi(2) - 0.5).max(0.0);
    for i in index(from).ceil() as u64..=index(to).floor() as u64 {
        let Some(kind) = cast.draw_stander() else { return };
        let radius = unit * ((i as f64 + 0.5).sqrt() as f32);
        let angle = (i as f64 * GOLDEN_ANGLE) % f64::from(TAU);
        let (sin, cos) = (angle as f32).sin_cos();
        let (scale, heading) = (cast.scale(), cast.random.range(0.0, TAU));
        plan.stand(kind, scale, Vec2::new(radius * cos, radius * sin), heading);
    }
}

/// One circular lane outside of `inner`; gives the lane's outer edge.
fn walk_around(
    cast: &mut Cast,
    plan: &mut Plan,
    walkers: &mut Walkers,
    inner: f32,
    reversed: bool,
) -> f32 {
    // Nobody turns on the spot, and the circle's far side is not in the way.
    let radius = (inner + 0.5 * walkers.width).max(walkers.speed / super::grid::CIRCLING);
    let speed = walkers.speed * cast.random.range(0.96, 1.04);
    let ride = Ride::new(Vec2::ZERO, 0.0, radius, speed).reversed(reversed);
    let room = (ride.perimeter() / walkers.gap).floor().max(1.0) as u32;
    let count = room.min(walkers.count);
    walkers.count -= count;
    fill_lane(cast, plan, ride, walkers, count);
    radius + 0.5 * walkers.width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spirals_points_keep_their_distance() {
        let point = |i: u64| {
            let (r, a) = ((i as f64 + 0.5).sqrt(), i as f64 * GOLDEN_ANGLE);
            (r * a.cos(), r * a.sin())
        };
        let points: Vec<_> = (0..20_000).map(point).collect();
        // Neighbours' numbers differ by Fibonacci numbers; 1,600 covers those of this many points.
        let mut least = f64::INFINITY;
        for (i, a) in points.iter().enumerate() {
            for b in &points[i + 1..(i + 1_600).min(points.len())] {
                least = least.min((a.0 - b.0).hypot(a.1 - b.1));
            }
        }
        assert!(least >= f64::from(LEAST_DISTANCE), "{least}");
        assert!(least < f64::from(LEAST_DISTANCE) + 0.1, "{least}: room is wasted");
    }
}
