//! What clips and rest pose say about a body: does it move, does it loop, how far does it reach.

use super::config::{CrowdKind, RootMotion};
use crate::index::{BoneIndex, ClipId};
use crate::math::{Bounds, Trs};
use crate::motion::{RootLock, RootTrack};
use crate::pose::Rig;
use glam::{Affine3A, Vec2, Vec3};

/// Poses of one clip whose bones are looked at.
const POSES: usize = 24;
/// Share of a body's size that a root must travel in one run to count as moving.
const TRAVEL: f32 = 0.12;
/// Radians that a root must turn in one run to count as moving.
const TURN: f32 = 0.35;
/// Share of a body's size by which a clip may begin away from the reference pose and be left there.
const ANCHOR: f32 = 0.25;
/// Share of a body's size by which a loop's last pose may miss its first.
const CLOSURE: f32 = 0.03;

/// What one clip does; model space.
pub(super) struct ClipMeasure {
    pub seconds: f32,
    pub track: RootTrack,
    /// The root ends far from where it began.
    pub travels: bool,
    /// Its root's motion moves the character.
    pub moves: bool,
    /// Its last pose is its first, root motion aside.
    pub closes: bool,
    /// Where bones get in the poses that were looked at, root motion aside.
    pinned: Bounds,
    /// The same with the root's motion.
    unpinned: Bounds,
    /// How far a bone gets from the y axis, root motion aside.
    reach: f32,
}

impl ClipMeasure {
    pub fn new(rig: &Rig, clip: ClipId, kind: &CrowdKind, root_motion: RootMotion) -> Self {
        let size = kind.bounds.size().max_element().max(kind.bounds.radius);
        let root = root_bone(rig);
        let measure = |root| RootTrack::of_clip(rig, clip, root, kind.root_lock);
        let still = || RootTrack::measure(&[], &Affine3A::IDENTITY, 1.0, RootLock::None);
        let mut track = root.map_or_else(still, measure).anchored(ANCHOR * size);
        let total = track.total();
        let travels = total.translation().length() > TRAVEL * size;
        let moves = root_motion.decide(travels || total.yaw.abs() > TURN);

        let (seconds, rate) = rig.clip(clip).map_or((0.0, 1.0), |c| (c.seconds(), c.rate_hz()));
        let poses = ((seconds * rate).round() as usize + 1).min(POSES);
        let times = (0..poses).map(|i| seconds * i as f32 / (poses - 1).max(1) as f32);
        let times: Vec<f32> = times.collect();
        let pin = |track: &RootTrack, seconds: f32| {
            let bone = root.filter(|_| moves)?;
            kind.root_lock.pin(bone, track.taken(seconds))
        };
        let pinned = |track: &RootTrack, seconds: f32| {
            let mut locals = rig.sample_locals(clip, seconds);
            if let Some(pin) = pin(track, seconds) {
                pin.apply_to_locals(rig.skeleton(), &mut locals);
            }
            positions(rig, &locals)
        };
        let (first, last) = (pinned(&track, 0.0), pinned(&track, seconds));
        let miss = first.iter().zip(&last).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        let closes = miss <= CLOSURE * size;
        // What goes on and on goes evenly: its sway belongs to the pose.
        if moves && closes && travels {
            track = track.steady();
        }

        let mut seen: Option<(Bounds, Bounds, f32)> = None;
        for &at in &times {
            let free = positions(rig, &rig.sample_locals(clip, at));
            let free = Bounds::of_points(free.into_iter());
            let held = pinned(&track, at);
            let far = reach(&held);
            let held = Bounds::of_points(held.into_iter());
            seen = Some(match seen {
                None => (held, free, far),
                Some((a, b, reach)) => (a.union(&held), b.union(&free), reach.max(far)),
            });
        }
        let (pinned, unpinned, reach) = seen.unwrap_or((Bounds::EMPTY, Bounds::EMPTY, 0.0));
        Self { seconds, track, travels, moves, closes, pinned, unpinned, reach }
    }

    /// How far a bone gets from a vertical axis, at most.
    pub fn reach_from(&self, pivot: Vec2) -> f32 {
        if pivot == Vec2::ZERO { self.reach } else { box_reach(&self.pinned, pivot) }
    }
}

/// A body's form; model space.
pub(super) struct Shape {
    /// The vertical axis that it stands on, (x, z).
    pub pivot: Vec2,
    /// Centre of a sphere around every vertex of every pose.
    pub center: Vec3,
    pub radius: f32,
    /// How far a bone of the rest pose is from the axis, when there are no clips.
    pub rest_reach: f32,
    /// How far skin is from bones.
    pub skin: f32,
}

/// Puts measures and bounds together. `bounds` holds all vertices with the root's motion in them;
/// where that motion is taken out, the sphere is found from the bones and what the bounds have
/// more than the bones.
pub(super) fn shape(rig: &Rig, clips: &[ClipMeasure], bounds: &Bounds) -> Shape {
    let rest = Bounds::of_points(positions(rig, rig.skeleton().rest()).into_iter());
    let all = |of: fn(&ClipMeasure) -> Bounds| clips.iter().map(of).fold(rest, |a, b| a.union(&b));
    let bones = all(|c| c.unpinned);
    let over = (bones.min - bounds.min).max(bounds.max - bones.max);
    let pinned = all(|c| c.pinned);
    let size = pinned.size().max_element();
    let skin = |v: f32| v.clamp(0.02 * size, 0.5 * size);
    let (center, radius) = if clips.iter().any(|c| c.moves) {
        let skin = skin(over.max_element());
        (pinned.center(), pinned.radius + 1.25 * skin)
    } else {
        (bounds.center(), bounds.radius)
    };
    // Most characters are modelled on the origin; one that is not stands under its own middle.
    let (middle, half) = (pinned.center(), pinned.size() * 0.5);
    let off = Vec2::new(middle.x, middle.z);
    let pivot = if off.length() > Vec2::new(half.x, half.z).length() { off } else { Vec2::ZERO };
    let rest_reach = if clips.is_empty() { box_reach(&rest, pivot) } else { 0.0 };
    let skin = skin(over.x.max(over.z));
    Shape { pivot, center, radius, rest_reach, skin }
}

/// The bone whose motion is the character's: the first root.
pub(super) fn root_bone(rig: &Rig) -> Option<BoneIndex> {
    let root = rig.skeleton().parents().iter().position(Option::is_none)?;
    BoneIndex::try_from(root).ok()
}

fn positions(rig: &Rig, locals: &[Trs]) -> Vec<Vec3> {
    let model = rig.skeleton().model_from_bone(locals);
    let finite = |p: Vec3| if p.is_finite() { p } else { Vec3::ZERO };
    model.iter().map(|m| finite(m.translation.into())).collect()
}

fn reach(points: &[Vec3]) -> f32 {
    points.iter().map(|p| p.x.hypot(p.z)).fold(0.0, f32::max)
}

/// The farthest corner of a box from a vertical axis.
fn box_reach(bounds: &Bounds, pivot: Vec2) -> f32 {
    let flat = |v: Vec3| Vec2::new(v.x, v.z);
    let (low, high) = (flat(bounds.min) - pivot, flat(bounds.max) - pivot);
    low.abs().max(high.abs()).length()
}
