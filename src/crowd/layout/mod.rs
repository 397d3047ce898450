//! Where the characters stand and which lanes they walk.

mod cast;
mod disc;
mod grid;
mod street;

pub(crate) use cast::{Body, Cast, Gait, shares};

use super::ride::Ride;
use crate::index::CharacterKind;
use glam::Vec2;

/// The arrangement of the crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Rows and columns, everybody facing about +Z.
    #[default]
    Grid,
    /// A round plaza: people stand about, facing any way, and walk around it on circular lanes.
    Disc,
    /// An avenue along z: lanes in both directions, and people who stand between and beside them,
    /// alone and in small groups.
    Street,
}

/// Individual scale lies within one of this and its inverse: about 6 % either way.
pub(crate) const SCALE_SPREAD: f32 = 1.06;

/// How one character begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spot {
    pub kind: CharacterKind,
    /// On top of the kind's own scale.
    pub scale: f32,
    pub role: Role,
}

/// What a character does with its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    /// Stays where it is and plays whatever does not lead it away.
    Stand { position: Vec2, heading: f32 },
    /// Walks along a lane in one gait.
    Ride {
        /// Index into [`Plan::rides`].
        ride: u32,
        /// Metres along the lane.
        s: f32,
        /// Metres outward from it.
        lateral: f32,
        /// Index into the kind's gaits.
        gait: u32,
    },
}

/// Every character's beginning.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// One per character.
    pub spots: Vec<Spot>,
    pub rides: Vec<Ride>,
    /// Half the width (x) and depth (z) of the ground the crowd covers around the origin, metres.
    pub half_extent: Vec2,
}

impl Plan {
    /// Arranges the whole cast.
    pub fn new(layout: Layout, mut cast: Cast) -> Self {
        let mut plan = match layout {
            Layout::Grid => grid::plan(&mut cast),
            Layout::Disc => disc::plan(&mut cast),
            Layout::Street => street::plan(&mut cast),
        };
        let reach = cast.reach();
        let mut half = Vec2::ZERO;
        for spot in &plan.spots {
            let position = match spot.role {
                Role::Stand { position, .. } => position,
                Role::Ride { ride, .. } => plan.rides[ride as usize].half_extent(),
            };
            half = half.max(position.abs());
        }
        plan.half_extent = half + reach;
        plan
    }

    fn stand(&mut self, kind: CharacterKind, scale: f32, position: Vec2, heading: f32) {
        self.spots.push(Spot { kind, scale, role: Role::Stand { position, heading } });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::ClipId;
    use std::collections::HashMap;

    fn person(weight: f32) -> Body {
        Body {
            weight,
            stand_reach: 0.6,
            can_stand: true,
            gaits: vec![
                Gait { clip: ClipId(1), speed: 1.4, course: 0.0, reach: 0.45 },
                Gait { clip: ClipId(2), speed: 3.6, course: 0.0, reach: 0.6 },
            ],
        }
    }

    fn runner_only(weight: f32) -> Body {
        Body { weight, stand_reach: 0.9, can_stand: false, ..person(weight) }
    }

    fn statue(weight: f32) -> Body {
        Body { weight, stand_reach: 0.4, gaits: Vec::new(), ..person(weight) }
    }

    fn plan(layout: Layout, bodies: &[Body], count: u32) -> Plan {
        let weights: Vec<f32> = bodies.iter().map(|body| body.weight).collect();
        Plan::new(layout, Cast::new(bodies.to_vec(), shares(&weights, count), 11))
    }

    /// Position and radius of each character after `seconds`.
    fn circles(plan: &Plan, bodies: &[Body], seconds: f64) -> Vec<(Vec2, f32)> {
        let mut rides = plan.rides.clone();
        rides.iter_mut().for_each(|r| r.advance(seconds));
        let circle = |spot: &Spot| {
            let body = &bodies[spot.kind.get()];
            match spot.role {
                Role::Stand { position, .. } => (position, body.stand_reach * spot.scale),
                Role::Ride { ride, s, lateral, gait, .. } => {
                    let reach = body.gaits[gait as usize].reach * spot.scale;
                    (rides[ride as usize].place(s, lateral).0, reach)
                }
            }
        };
        plan.spots.iter().map(circle).collect()
    }

    /// The least of distance minus both radii over all pairs, by a grid of buckets.
    fn least_gap(circles: &[(Vec2, f32)]) -> f32 {
        let bucket = |p: Vec2| (p / 4.0).floor().as_ivec2();
        let mut buckets: HashMap<glam::IVec2, Vec<usize>> = HashMap::new();
        for (i, (p, _)) in circles.iter().enumerate() {
            buckets.entry(bucket(*p)).or_default().push(i);
        }
        let mut least = f32::INFINITY;
        for (i, (p, r)) in circles.iter().enumerate() {
            for dx in -1..=1 {
                for dz in -1..=1 {
                    let near = buckets.get(&(bucket(*p) + glam::IVec2::new(dx, dz)));
                    for &j in near.into_iter().flatten().filter(|&&j| j > i) {
                        least = least.min(p.distance(circles[j].0) - r - circles[j].1);
                    }
                }
            }
        }
        least
    }

    const LAYOUTS: [Layout; 3] = [Layout::Grid, Layout::Disc, Layout::Street];

    #[test]
    fn nobody_stands_or_walks_into_anybody_at_any_time() {
        let casts = [
            vec![person(1.0)],
            vec![person(2.0), runner_only(1.0), statue(1.0)],
            vec![statue(1.0)],
        ];
        for layout in LAYOUTS {
            for bodies in &casts {
                for count in [2, 3, 17, 100, 1_000, 6_000] {
                    let plan = plan(layout, bodies, count);
                    for seconds in [0.0, 3.3, 47.0] {
                        let gap = least_gap(&circles(&plan, bodies, seconds));
                        let kinds = bodies.len();
                        assert!(
                            gap >= -1e-3,
                            "{layout:?}, {kinds} kinds, {count} after {seconds} s: {gap}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn every_layout_places_exactly_the_count_and_honours_the_weights() {
        for layout in LAYOUTS {
            for count in [0u32, 1, 2, 5, 999] {
                let bodies = [person(3.0), runner_only(1.0), statue(0.0)];
                let plan = plan(layout, &bodies, count);
                assert_eq!(plan.spots.len(), count as usize, "{layout:?}");
                let of = |k| plan.spots.iter().filter(|s| s.kind == CharacterKind(k)).count();
                assert!(
                    of(0).abs_diff(count as usize * 3 / 4) <= 1,
                    "{layout:?} {count}: {}",
                    of(0)
                );
                assert_eq!(of(2), 0);
            }
        }
    }

    #[test]
    fn who_can_not_stand_walks_and_who_has_no_gait_stands() {
        for layout in LAYOUTS {
            let bodies = [runner_only(1.0), statue(1.0)];
            for spot in plan(layout, &bodies, 400).spots {
                let rides = matches!(spot.role, Role::Ride { .. });
                assert_eq!(rides, spot.kind == CharacterKind(0), "{layout:?}");
            }
        }
    }

    #[test]
    fn lanes_are_as_fast_as_those_who_walk_them() {
        let bodies = [person(1.0), runner_only(1.0)];
        for layout in LAYOUTS {
            let plan = plan(layout, &bodies, 2_000);
            for spot in &plan.spots {
                if let Role::Ride { ride, gait, .. } = spot.role {
                    let gait = &bodies[spot.kind.get()].gaits[gait as usize];
                    let lane = plan.rides[ride as usize].speed;
                    let speed = gait.playback_speed(lane, spot.scale);
                    assert!((gait.speed * speed * spot.scale - lane).abs() < 1e-4);
                    assert!((0.9..=1.11).contains(&speed), "{layout:?}: {speed}");
                }
            }
        }
    }

    #[test]
    fn a_street_walks_both_ways_and_a_grid_only_stands() {
        let bodies = [person(1.0)];
        let street = plan(Layout::Street, &bodies, 3_000);
        let mut ways = [0u32; 2];
        let mut standing = 0;
        for spot in &street.spots {
            match spot.role {
                Role::Ride { ride, s, lateral, .. } => {
                    let (_, heading) = street.rides[ride as usize].place(s, lateral);
                    ways[(super::super::ride::facing(heading).y > 0.0) as usize] += 1;
                }
                Role::Stand { .. } => standing += 1,
            }
        }
        assert!(ways[0] > 600 && ways[1] > 600 && standing > 900, "{ways:?} {standing}");
        let grid = plan(Layout::Grid, &bodies, 300);
        assert!(grid.spots.iter().all(|s| matches!(s.role, Role::Stand { .. })));
        let disc = plan(Layout::Disc, &bodies, 3_000);
        assert!(disc.rides.len() > 3);
    }

    #[test]
    fn the_same_seed_gives_the_same_plan_and_another_a_different_one() {
        for layout in LAYOUTS {
            let with =
                |seed| Plan::new(layout, Cast::new(vec![person(1.0)], vec![200], seed)).spots;
            assert_eq!(with(1), with(1));
            assert_ne!(with(1), with(2));
        }
    }

    #[test]
    fn the_extent_holds_everybody() {
        for layout in LAYOUTS {
            let bodies = [person(1.0)];
            let plan = plan(layout, &bodies, 2_000);
            for (p, r) in circles(&plan, &bodies, 10.0) {
                let edge = p.abs() + r;
                assert!(edge.cmple(plan.half_extent + 1e-2).all(), "{layout:?}: {p}");
            }
        }
    }
}
