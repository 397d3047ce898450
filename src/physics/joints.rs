//! How far each joint turns: as far as the character's own clips turn it, and a little more.

use super::axes;
use super::parts::Parts;
use crate::index::ClipId;
use crate::math::Trs;
use crate::pose::{Rig, Skeleton};
use glam::{Affine3A, Quat};

/// A joint between a part and its parent.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of the part in its parent, at rest.
    pub rest: Quat,
    /// The axes that it turns about, in the part's own frame: most of its motion is about +X, as a
    /// knee's is.
    pub axes: Quat,
    /// Radians from rest about each of the axes, at least and at most.
    pub ranges: [[f32; 2]; 3],
}

/// Poses that are looked at: of each clip so many a second, and no more than so many of one clip and
/// of all.
const RATE: f32 = 10.0;
const OF_ONE: usize = 32;
const OF_ALL: usize = 1024;
/// Radians, and the share of its range, that a joint turns beyond what any clip shows.
const MORE: f32 = 0.12;
const SHARE: f32 = 0.1;
/// Radians either way where no clip says anything.
const UNKNOWN: f32 = 0.6;
/// No joint turns further than this.
const MOST: f32 = 2.4;

impl Limits {
    /// Those of all parts, in their order. The first part, which hangs on nothing, has a place in it
    /// that means nothing.
    pub fn of(rig: &Rig, parts: &Parts) -> Vec<Self> {
        let skeleton = rig.skeleton();
        let rest = relative(parts, &skeleton.model_from_bone(skeleton.rest()));
        let mut turns: Vec<Vec<Quat>> = vec![Vec::new(); rest.len()];
        let mut left = OF_ALL;
        for clip in (0..rig.clip_count() as u16).map(ClipId) {
            let seconds = rig.clip(clip).map_or(0.0, |clip| clip.seconds());
            let count = ((seconds * RATE) as usize + 1).min(OF_ONE).min(left);
            left -= count;
            for at in 0..count {
                let at = seconds * at as f32 / count as f32;
                let model = skeleton.model_from_bone(&rig.sample_locals(clip, at));
                let now = relative(parts, &model);
                for ((turns, now), rest) in turns.iter_mut().zip(now).zip(&rest) {
                    turns.push(rest.conjugate() * now);
                }
            }
        }
        rest.iter().zip(&turns).map(|(rest, turns)| Self::new(*rest, turns)).collect()
    }

    /// From the turns that a joint is seen to make, as rotations from rest.
    fn new(rest: Quat, turns: &[Quat]) -> Self {
        let axes = axes::frame(turns.iter().map(|q| shorter(*q).xyz()));
        if turns.is_empty() {
            return Self { rest, axes, ranges: [[-UNKNOWN, UNKNOWN]; 3] };
        }
        let ranges = [0, 1, 2].map(|axis| {
            let angles = turns.iter().map(|turn| about(axes, *turn)[axis]);
            let start = [f32::INFINITY, f32::NEG_INFINITY];
            let [low, high] = angles.fold(start, |[low, high], a| [low.min(a), high.max(a)]);
            let more = MORE + SHARE * (high - low);
            [(low - more).max(-MOST), (high + more).min(MOST)]
        });
        Self { rest, axes, ranges }
    }

    /// The same, with room for how a part stands in its parent now: nothing is torn into place.
    pub fn with_room_for(&self, now: Quat) -> Self {
        let angles = about(self.axes, self.rest.conjugate() * now);
        let mut wider = *self;
        for ([low, high], angle) in wider.ranges.iter_mut().zip(angles) {
            (*low, *high) = (low.min(angle - 0.02), high.max(angle + 0.02));
        }
        wider
    }
}

/// A rotation by at most half a turn.
fn shorter(q: Quat) -> Quat {
    if q.w < 0.0 { -q } else { q }
}

/// The angles about three axes, each as if it was alone: what rapier holds limits against.
pub fn about(axes: Quat, turn: Quat) -> [f32; 3] {
    let turn = shorter(axes.conjugate() * turn * axes);
    turn.xyz().to_array().map(|part| 2.0 * part.atan2(turn.w))
}

/// How each part stands in its parent in a pose.
fn relative(parts: &Parts, model: &[Affine3A]) -> Vec<Quat> {
    let rotation = |part: usize| direction(&model[parts.parts[part].bone.get()]);
    let of = |(at, parent): (usize, Option<usize>)| {
        parent.map_or(Quat::IDENTITY, |parent| rotation(parent).conjugate() * rotation(at))
    };
    parts.parts.iter().map(|part| part.parent).enumerate().map(of).collect()
}

/// The rotation of a bone's matrix.
pub fn direction(model: &Affine3A) -> Quat {
    let q = Trs::from_affine(model).rotation;
    if q.is_finite() { q } else { Quat::IDENTITY }
}

/// Where each bone is at rest, model space.
pub fn rest_model(skeleton: &Skeleton) -> Vec<Affine3A> {
    skeleton.model_from_bone(skeleton.rest())
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn a_hinge_turns_the_way_it_was_seen_to_turn_and_hardly_any_other() {
        let axis = Vec3::new(0.3, -0.9, 0.2).normalize();
        let turns: Vec<Quat> =
            (0..20).map(|i| Quat::from_axis_angle(axis, 0.07 * i as f32)).collect();
        let limits = Limits::new(Quat::IDENTITY, &turns);
        let along = (limits.axes * Vec3::X).dot(axis);
        assert!(along.abs() > 0.999, "{}", limits.axes);
        let [[low, high], y, z] = limits.ranges;
        let (back, forth) = if along > 0.0 { (low, high) } else { (-high, -low) };
        assert!((back + 0.253).abs() < 1e-3 && (forth - 1.583).abs() < 1e-3, "{back} {forth}");
        assert!([y, z].as_flattened().iter().all(|a| (a.abs() - MORE).abs() < 0.01));
    }

    #[test]
    fn a_joint_that_stands_beyond_its_limits_is_given_room() {
        let limits = Limits::new(Quat::IDENTITY, &[Quat::IDENTITY]);
        let now = Quat::from_axis_angle(limits.axes * Vec3::Y, -1.0);
        let wider = limits.with_room_for(now);
        let [x, [low, high], z] = wider.ranges;
        assert!((low + 1.02).abs() < 1e-4 && high == limits.ranges[1][1], "{wider:?}");
        assert!((x, z) == (limits.ranges[0], limits.ranges[2]));
        assert_eq!(Limits::new(Quat::IDENTITY, &[]).ranges[0], [-UNKNOWN, UNKNOWN]);
    }
}
