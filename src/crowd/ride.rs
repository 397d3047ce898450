//! Closed paths that walkers follow: two straights joined by half circles, or a circle.

use glam::Vec2;
use std::f32::consts::{PI, TAU};

/// A closed lane on which everybody moves at one mean speed.
///
/// The lane itself moves: [`Ride::advance`] carries the places along it, so that a walker keeps its
/// place on the lane while nobody evaluates it, and its root motion is counted against the lane's.
/// Walkers never come closer to one another than they began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ride {
    /// Centre, (x, z) in metres.
    pub center: Vec2,
    /// Half the length of each straight, along z; zero for a circle.
    pub half: f32,
    /// Radius of the half circles: half the distance between the straights.
    pub radius: f32,
    /// Metres a second along the path; always positive.
    pub speed: f32,
    /// True when it is followed the other way round.
    pub reversed: bool,
    /// Heading of the motion relative to where its walkers' bodies face, radians.
    pub course: f32,
    /// Length of one round, metres.
    round: f32,
    /// How far the lane has moved, metres in `0..round`.
    offset: f64,
}

impl Ride {
    /// A lane at its beginning, followed the one way round by walkers who face where they go.
    pub fn new(center: Vec2, half: f32, radius: f32, speed: f32) -> Self {
        let round = 4.0 * half + TAU * radius;
        Self { center, half, radius, speed, reversed: false, course: 0.0, round, offset: 0.0 }
    }

    /// The same lane, followed the other way round if `reversed`.
    pub fn reversed(self, reversed: bool) -> Self {
        Self { reversed, ..self }
    }

    /// The same lane for a gait that leads `course` radians away from where the body faces.
    pub fn course(self, course: f32) -> Self {
        Self { course, ..self }
    }

    /// Metres a second of who walks a metre outside of the lane on its half circles: nobody is
    /// faster.
    pub fn fastest(&self) -> f32 {
        self.fastest_beside(0.0)
    }

    /// Metres a second of who is up to some metres away from such a one, and turns with it.
    pub fn fastest_beside(&self, metres: f32) -> f32 {
        self.speed * (self.radius + 1.0 + metres) / self.radius.max(0.1)
    }

    /// Length of one round, metres.
    pub fn perimeter(&self) -> f32 {
        self.round
    }

    /// Half the width (x) and depth (z) of the ground around the origin that the lane covers, metres.
    pub fn half_extent(&self) -> Vec2 {
        self.center.abs() + Vec2::new(self.radius, self.half + self.radius)
    }

    /// Moves the lane on by `dt` seconds of its speed (back, when negative).
    pub fn advance(&mut self, dt: f64) {
        let round = f64::from(self.round);
        if round > 0.0 {
            self.offset = (self.offset + f64::from(self.speed) * dt).rem_euclid(round);
        }
    }

    /// Brings metres along the lane into `0..=round`. Nearly always one step does; a division for
    /// everybody who is far away would be most of what they cost.
    fn wrapped(&self, along: f32) -> f32 {
        let near = if along < 0.0 {
            along + self.round
        } else if along >= self.round {
            along - self.round
        } else {
            along
        };
        if (0.0..=self.round).contains(&near) { near } else { along.rem_euclid(self.round) }
    }

    /// Where a place of the lane is now: position (x, z) and the heading of who walks along there.
    /// `s` is metres along the lane, `lateral` metres outward from it.
    pub fn place(&self, s: f32, lateral: f32) -> (Vec2, f32) {
        let along = self.offset as f32 + s;
        let along = if self.reversed { -along } else { along };
        let u = self.wrapped(along);
        let (straight, arc) = (2.0 * self.half, PI * self.radius);
        let reach = self.radius + lateral;
        // Counter-clockwise in (x, z): up along +x's side, around, down, around.
        let (offset, turn) = if u < straight {
            (Vec2::new(reach, u - self.half), 0.0)
        } else if u < straight + arc {
            let angle = (u - straight) / self.radius;
            let (sin, cos) = angle.sin_cos();
            (Vec2::new(reach * cos, self.half + reach * sin), angle)
        } else if u < 2.0 * straight + arc {
            (Vec2::new(-reach, self.half - (u - straight - arc)), PI)
        } else {
            let angle = PI + (u - 2.0 * straight - arc) / self.radius;
            let (sin, cos) = angle.sin_cos();
            (Vec2::new(reach * cos, reach * sin - self.half), angle)
        };
        let heading = if self.reversed { PI - turn } else { -turn };
        (self.center + offset, heading - self.course)
    }
}

impl Ride {
    /// The place of the lane that is at a position (x, z) now, metres along it and outward from it: of
    /// those a round apart the one nearest to `near`.
    pub fn find(&self, position: Vec2, near: f32) -> (f32, f32) {
        let Vec2 { x, y: z } = position - self.center;
        let (straight, arc) = (2.0 * self.half, PI * self.radius);
        // As `place` has it, backwards.
        let (u, reach) = if z > self.half {
            let angle = (z - self.half).atan2(x);
            (straight + angle * self.radius, x.hypot(z - self.half))
        } else if z < -self.half {
            let angle = (z + self.half).atan2(x) + PI;
            (2.0 * straight + arc + angle * self.radius, x.hypot(z + self.half))
        } else if x >= 0.0 {
            (z + self.half, x)
        } else {
            (straight + arc + self.half - z, -x)
        };
        let along = if self.reversed { -u } else { u };
        let s = along - self.offset as f32;
        let rounds = if self.round > 0.0 { ((near - s) / self.round).round() } else { 0.0 };
        (s + rounds * self.round, reach - self.radius)
    }
}

/// Unit vector (x, z) that a heading faces.
#[cfg(test)]
pub(crate) fn facing(heading: f32) -> Vec2 {
    crate::motion::ground::rotate(Vec2::Y, heading)
}

/// The heading that faces along a vector (x, z); zero for a vector without length.
pub(crate) fn heading_of(direction: Vec2) -> f32 {
    if direction == Vec2::ZERO { 0.0 } else { direction.x.atan2(direction.y) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_evenly_apart_and_face_the_way_they_go() {
        for (half, reversed) in [(0.0, false), (7.0, false), (7.0, true)] {
            let ride = Ride::new(Vec2::new(3.0, -2.0), half, 2.5, 1.4).reversed(reversed);
            let steps = 4_000;
            let ds = ride.perimeter() / steps as f32;
            for i in 0..steps {
                let (a, heading) = ride.place(i as f32 * ds, 0.0);
                let (b, _) = ride.place((i + 1) as f32 * ds, 0.0);
                assert!((a.distance(b) - ds).abs() < 0.02 * ds, "step {i}: {}", a.distance(b));
                let along = (b - a).normalize();
                assert!(along.dot(facing(heading)) > 0.999, "step {i}: {along} {heading}");
            }
        }
    }

    #[test]
    fn a_place_is_found_again_wherever_the_lane_has_carried_it() {
        for (half, reversed) in [(0.0, false), (7.0, false), (7.0, true)] {
            let mut ride = Ride::new(Vec2::new(3.0, -2.0), half, 2.5, 1.4).reversed(reversed);
            for i in 0..200 {
                ride.advance(0.37);
                let (s, lateral) = (i as f32 * 1.3 - 90.0, (i % 7) as f32 * 0.2 - 0.6);
                let (at, _) = ride.place(s, lateral);
                let (found, aside) = ride.find(at, s + 3.0);
                let off = ride.place(found, aside).0.distance(at);
                assert!(off < 1e-4, "{s} {lateral}: {off}");
                assert!((found - s).abs() < 1e-3 && (aside - lateral).abs() < 1e-4, "{found} {s}");
            }
        }
    }

    #[test]
    fn the_lane_carries_its_places_around_and_comes_back() {
        let mut ride = Ride::new(Vec2::ZERO, 10.0, 3.0, 1.5);
        let (start, _) = ride.place(4.0, 0.2);
        ride.advance(2.0);
        assert!(ride.place(4.0, 0.2).0.distance(start + Vec2::new(0.0, 3.0)) < 1e-4);
        ride.advance(f64::from(ride.perimeter() / ride.speed) - 2.0);
        assert!(ride.place(4.0, 0.2).0.distance(start) < 1e-3);
        ride.advance(-1.0);
        assert!(ride.place(4.0, 0.2).0.distance(start - Vec2::new(0.0, 1.5)) < 1e-3);
    }

    #[test]
    fn lateral_is_outward_everywhere() {
        let ride = Ride::new(Vec2::ZERO, 5.0, 3.0, 1.0).reversed(true);
        for i in 0..100 {
            let s = i as f32 * 0.01 * ride.perimeter();
            let (inner, outer) = (ride.place(s, 0.0).0, ride.place(s, 0.5).0);
            assert!((outer - inner).dot(inner) > 0.0 && (outer.distance(inner) - 0.5).abs() < 1e-4);
        }
    }

    #[test]
    fn a_heading_is_the_direction_it_faces() {
        for i in -10..=10 {
            let heading = i as f32 * 0.3;
            let back = heading_of(facing(heading));
            assert!(((back - heading + PI).rem_euclid(TAU) - PI).abs() < 1e-5);
        }
        assert_eq!(heading_of(Vec2::ZERO), 0.0);
    }
}
