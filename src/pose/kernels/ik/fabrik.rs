//! Chains of any length: forward and backward reaching inverse kinematics.
//!
//! A. Aristidou and J. Lasenby, *FABRIK: A fast, iterative solver for the Inverse Kinematics
//! problem*, Graphical Models 73 (2011).

use super::{NO_LENGTH, arc, below, fade, joint, turn_in_model};
use crate::index::{BoneCount, BoneIndex};
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
pub fn fabrik(rig: &Rig, pose: &mut Pose, chain: &Chain, active: BoneCount) {
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
    reach(points, chain);

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

/// Moves the points; the first one stays, and so do the distances between neighbours.
fn reach(points: &mut [Vec3], chain: &Chain) {
    let mut lengths = [0.0; CHAIN];
    for (length, pair) in lengths.iter_mut().zip(points.windows(2)) {
        *length = pair[0].distance(pair[1]);
    }
    let lengths = &lengths[..points.len() - 1];
    let (root, last) = (points[0], points.len() - 1);
    let total: f32 = lengths.iter().sum();
    if root.distance(chain.target) >= total {
        let Some(along) = (chain.target - root).try_normalize() else { return };
        for at in 0..last {
            points[at + 1] = points[at] + along * lengths[at];
        }
        return;
    }
    let tolerance = if chain.tolerance > 0.0 { chain.tolerance } else { 0.0 };
    unbend(points, chain.target, total);
    for _ in 0..chain.iterations {
        if points[last].distance(chain.target) <= tolerance {
            break;
        }
        points[last] = chain.target;
        for at in (0..last).rev() {
            points[at] = kept(points[at + 1], points[at], lengths[at]);
        }
        points[0] = root;
        for at in 0..last {
            points[at + 1] = kept(points[at], points[at + 1], lengths[at]);
        }
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
