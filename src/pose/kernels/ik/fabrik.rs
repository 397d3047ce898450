//! Chains of any length: forward and backward reaching inverse kinematics.
//!
//! A. Aristidou and J. Lasenby, *FABRIK: A fast, iterative solver for the Inverse Kinematics
//! problem*, Graphical Models 73 (2011).
//!
//! Weights per bone take the place of the paper's joint constraints: on the way from the root to the
//! end each bone is drawn back towards where it would be if it were rigid with the one above.

use super::frame::{Frame, Joint, parent};
use super::{NO_LENGTH, arc, by_class, fade};
use crate::index::{BoneCount, BoneIndex};
use crate::pose::kernels::masked::Mask;
use crate::pose::kernels::weight;
use crate::pose::{Pose, Rig};
use glam::{Quat, Vec3, Vec3A};

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
    let awake = active.min(rig.bone_count()).contains(chain.end);
    if !awake || !chain.target.is_finite() || weight(chain.alpha) == 0.0 {
        return;
    }
    // Chains are short: most need not pay for the longest.
    match length(rig, chain) {
        Some(2..=SHORT) => by_class!(rig, short(rig, pose, chain, weights)),
        Some(2..) => by_class!(rig, long(rig, pose, chain, weights)),
        _ => {}
    }
}

/// The most joints that are solved in little memory.
const SHORT: usize = 8;

fn short<F: Frame>(rig: &Rig, pose: &mut Pose, chain: &Chain, weights: Option<&Mask>) {
    solve::<F, SHORT>(rig, pose, chain, weights);
}

fn long<F: Frame>(rig: &Rig, pose: &mut Pose, chain: &Chain, weights: Option<&Mask>) {
    solve::<F, CHAIN>(rig, pose, chain, weights);
}

/// Joints from root to end; `None` when the end does not hang below the root.
fn length(rig: &Rig, chain: &Chain) -> Option<usize> {
    let (mut at, mut count) = (chain.end, 1);
    while at != chain.root {
        at = parent(rig, at)?;
        count += 1;
    }
    Some(count)
}

/// Solves the lowest `N` joints.
#[inline(always)]
fn solve<F: Frame, const N: usize>(
    rig: &Rig,
    pose: &mut Pose,
    chain: &Chain,
    weights: Option<&Mask>,
) {
    let mut bones = [chain.end; N];
    let mut count = 1;
    while count < N && bones[count - 1] != chain.root {
        let Some(bone) = parent(rig, bones[count - 1]) else { break };
        bones[count] = bone;
        count += 1;
    }
    let bones = &mut bones[..count];
    bones.reverse();

    let top = F::above(rig, pose, bones[0]);
    let mut joints = [Joint::NONE; N];
    let mut points = [Vec3A::ZERO; N];
    let mut freedom = [1.0; N];
    let mut above = top;
    for (at, &bone) in bones.iter().enumerate() {
        let joint = Joint::of::<F>(rig, pose, bone);
        joints[at] = joint;
        points[at] = above.point(joint.translation);
        above = above.below(&joint);
        if let Some(weights) = weights {
            freedom[at] = weights.weight(bone);
        }
    }
    let points = &mut points[..count];
    if points.iter().any(|p| !p.is_finite()) {
        return;
    }
    reach::<N>(points, &freedom[..count - 1], chain);

    let alpha = weight(chain.alpha);
    let mut above = top;
    for at in 0..count - 1 {
        let before = joints[at].rotation;
        let model = above.below(&joints[at]);
        let here = above.point(joints[at].translation);
        let next = model.point(joints[at + 1].translation);
        let turn = arc(next - here, points[at + 1] - here);
        let solved = above.turned(before, turn);
        joints[at].rotation = solved;
        above = model.swung(turn, here, || above.below(&joints[at]));
        pose.set_rotation(bones[at], fade(before, solved, alpha).to_array());
    }
}

/// Moves the points; the first one stays, and so do the distances between neighbours. `freedom` is
/// how much of its turn each bone takes; the last one's has no part.
fn reach<const N: usize>(points: &mut [Vec3A], freedom: &[f32], chain: &Chain) {
    let target = Vec3A::from(chain.target);
    let mut segments = [Segment::default(); N];
    for ((segment, pair), freedom) in segments.iter_mut().zip(points.windows(2)).zip(freedom) {
        let along = pair[1] - pair[0];
        *segment = Segment { length: along.length(), along, freedom: *freedom };
    }
    let segments = &segments[..points.len() - 1];
    let (root, last) = (points[0], points.len() - 1);
    let total: f32 = segments.iter().map(|s| s.length).sum();
    let free = segments.iter().all(|s| s.freedom >= 1.0);
    if free && root.distance(target) >= total {
        let Some(along) = (target - root).try_normalize() else { return };
        for at in 0..last {
            points[at + 1] = points[at] + along * segments[at].length;
        }
        return;
    }
    let tolerance = if chain.tolerance > 0.0 { chain.tolerance } else { 0.0 };
    let near = |points: &[Vec3A]| points[last].distance(target) <= tolerance;
    if chain.iterations == 0 || near(points) {
        return;
    }
    unbend(points, target, total);
    for _ in 0..chain.iterations {
        points[last] = target;
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
    along: Vec3A,
    freedom: f32,
}

/// From the root on, puts each point at its distance from the one before, in a direction that is a
/// part of the way from where the bones above carry it to where it would be free to go.
fn place(points: &mut [Vec3A], segments: &[Segment]) {
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
fn unbend(points: &mut [Vec3A], target: Vec3A, total: f32) {
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
fn kept(from: Vec3A, to: Vec3A, length: f32) -> Vec3A {
    if length < NO_LENGTH {
        return from;
    }
    from + (to - from).try_normalize().unwrap_or(Vec3A::Y) * length
}
