//! Chains of any length: forward and backward reaching inverse kinematics.
//!
//! A. Aristidou and J. Lasenby, *FABRIK: A fast, iterative solver for the Inverse Kinematics
//! problem*, Graphical Models 73 (2011).
//!
//! Weights per bone take the place of the paper's joint constraints: on the way from the root to the
//! end each bone is drawn back towards where it would be if it were rigid with the one above.

use super::{NO_LENGTH, arc, below, fade, joint, turn_in_model};
use crate::index::{BoneCount, BoneIndex};
use crate::pose::kernels::masked::Mask;
use crate::pose::kernels::weight;
use crate::pose::{Pose, Rig};
use glam::{Quat, Vec3};

/// The most joints of a chain; of a longer one the lower end is solved.
pub const CHAIN: usize = 64;

/// A chain and where its end is to go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chain {
    /// Upper end: the first bone that turns.
    pub root: BoneIndex,
    /// Lower end, whose joint is to get to the target; must hang below the root.
    pub end: BoneIndex,
    /// Model space.
    pub target: Vec3,
    /// Passes forward and backward, at most 255.
    pub iterations: u8,
    /// Model units from the target that are near enough.
    pub tolerance: f32,
    /// How much of the solution is taken, 0..=1.
    pub alpha: f32,
}

/// Turns the bones between root and end so that the end's joint gets to the target, or as near as
/// the chain reaches. Nothing for bones that are not active or do not hang on one another, and
/// targets that are not finite.
///
/// `weights` says how freely each bone turns, 0..=1: at 1 as far as the target asks, at 0 not at all,
/// so that the others have to. Without weights all turn freely.
pub fn fabrik(
    rig: &Rig,
    pose: &mut Pose,
    chain: &Chain,
    weights: Option<&Mask>,
    active: BoneCount,
) {
    let alpha = weight(chain.alpha);
    let mut bones = [BoneIndex(0); CHAIN];
    let Some(count) = collect(rig, chain, &mut bones) else { return };
    let bones = &bones[..count];
    let awake = bones.iter().all(|b| active.contains(*b));
    if !awake || count < 2 || !chain.target.is_finite() || alpha == 0.0 {
        return;
    }
    let mut points = [Vec3::ZERO; CHAIN];
    let mut before = [Quat::IDENTITY; CHAIN];
    let top = rig.model_from_parent(pose, bones[0]);
    let mut above = top;
    for ((bone, point), before) in bones.iter().zip(&mut points).zip(&mut before) {
        *point = joint(rig, pose, *bone, &above);
        *before = rig.local(pose, *bone).rotation;
        above = below(rig, pose, *bone, &above);
    }
    let points = &mut points[..count];
    if points.iter().any(|p| !p.is_finite()) {
        return;
    }
    let mut freedom = [1.0; CHAIN];
    if let Some(weights) = weights {
        bones.iter().zip(&mut freedom).for_each(|(bone, to)| *to = weights.weight(*bone));
    }
    reach(points, &freedom[..count], chain);

    let mut above = top;
    for (at, bone) in bones[..count - 1].iter().enumerate() {
        let here = joint(rig, pose, *bone, &above);
        let model = below(rig, pose, *bone, &above);
        let next = joint(rig, pose, bones[at + 1], &model);
        turn_in_model(rig, pose, *bone, &above, arc(next - here, points[at + 1] - here));
        above = below(rig, pose, *bone, &above);
    }
    for (bone, before) in bones[..count - 1].iter().zip(before) {
        fade(rig, pose, *bone, before, alpha);
    }
}

/// Fills `bones` from root to end; `None` when the end does not hang below the root.
fn collect(rig: &Rig, chain: &Chain, bones: &mut [BoneIndex; CHAIN]) -> Option<usize> {
    let mut count = 0;
    let mut at = chain.end;
    loop {
        if count < CHAIN {
            bones[count] = at;
            count += 1;
        }
        if at == chain.root {
            break;
        }
        at = rig.skeleton().parents().get(at.get()).copied().flatten()?;
    }
    bones[..count].reverse();
    Some(count)
}

/// Moves the points; the first one stays, and so do the distances between neighbours. `freedom` is
/// how much of its turn each bone takes; the last one's has no part.
fn reach(points: &mut [Vec3], freedom: &[f32], chain: &Chain) {
    let mut segments = [Segment::default(); CHAIN];
    for ((segment, pair), freedom) in segments.iter_mut().zip(points.windows(2)).zip(freedom) {
        let along = pair[1] - pair[0];
        *segment = Segment { length: along.length(), along, freedom: *freedom };
    }
    let segments = &segments[..points.len() - 1];
    let (root, last) = (points[0], points.len() - 1);
    let total: f32 = segments.iter().map(|s| s.length).sum();
    let free = segments.iter().all(|s| s.freedom >= 1.0);
    if free && root.distance(chain.target) >= total {
        let Some(along) = (chain.target - root).try_normalize() else { return };
        for at in 0..last {
            points[at + 1] = points[at] + along * segments[at].length;
        }
        return;
    }
    let tolerance = if chain.tolerance > 0.0 { chain.tolerance } else { 0.0 };
    let near = |points: &[Vec3]| points[last].distance(chain.target) <= tolerance;
    if chain.iterations == 0 || near(points) {
        return;
    }
    unbend(points, chain.target, total);
    for _ in 0..chain.iterations {
        points[last] = chain.target;
        for at in (0..last).rev() {
            points[at] = kept(points[at + 1], points[at], segments[at].length);
        }
        points[0] = root;
        if free {
            for at in 0..last {
                points[at + 1] = kept(points[at], points[at + 1], segments[at].length);
            }
        } else {
            place(points, segments);
        }
        if near(points) {
            break;
        }
    }
}

/// What lies between two neighbouring joints.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    length: f32,
    /// From the upper joint to the lower one, as the pose has it.
    along: Vec3,
    freedom: f32,
}

/// From the root on, puts each point at its distance from the one before, in a direction that is a
/// part of the way from where the bones above carry it to where it would be free to go.
fn place(points: &mut [Vec3], segments: &[Segment]) {
    // How the bones above have turned.
    let mut carried = Quat::IDENTITY;
    for (at, segment) in segments.iter().enumerate() {
        let rigid = carried * segment.along;
        let free = points[at + 1] - points[at];
        let turn = Quat::IDENTITY.slerp(arc(rigid, free), segment.freedom);
        points[at + 1] = points[at] + turn * rigid;
        carried = (turn * carried).normalize();
    }
}

/// A straight chain that points at (or away from) the target would never leave its line.
fn unbend(points: &mut [Vec3], target: Vec3, total: f32) {
    let root = points[0];
    let Some(along) = (target - root).try_normalize() else { return };
    let straight = points.iter().all(|p| (*p - root).cross(along).length() < 1e-4 * total);
    if straight {
        let aside = along.any_orthonormal_vector() * (1e-2 * total);
        let last = points.len() - 1;
        points[1..last].iter_mut().for_each(|p| *p += aside);
    }
}

/// The point at `length` from `from` in the direction of `to`.
fn kept(from: Vec3, to: Vec3, length: f32) -> Vec3 {
    if length < NO_LENGTH {
        return from;
    }
    from + (to - from).try_normalize().unwrap_or(Vec3::Y) * length
}
