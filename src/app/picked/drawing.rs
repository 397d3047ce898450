//! A character's insides, drawn into the world.

use super::History;
use crate::app::sketch::{Sketch, Stroke};
use crate::crowd::{CharacterFrame, Crowd};
use crate::index::{BoneCount, BoneIndex};
use crate::pose::GroundPatch;
use crate::task::{Capture, MaskId, Task};
use glam::{Affine3A, Vec3};

/// What is drawn of whoever is picked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shows {
    /// Its bones, and in which colours.
    pub bones: Option<BoneColor>,
    /// The sphere that it is culled by and the box that its skin is in.
    pub bounds: bool,
    /// What its limbs reach for, what it looks at and the ground under its feet.
    pub targets: bool,
    /// Where it has been.
    pub trail: bool,
    /// Where it belongs.
    pub home: bool,
    /// Its bodies, while it is down.
    pub bodies: bool,
}

impl Default for Shows {
    fn default() -> Self {
        let bones = Some(BoneColor::Detail);
        Self { bones, bounds: true, targets: true, trail: true, home: true, bodies: true }
    }
}

/// What the colours of bones tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoneColor {
    /// Which of them are animated, and which would be from afar.
    Detail,
    /// Their axes: x red, y green, z blue.
    Axes,
    /// How much a mask of its graph weighs them.
    Mask(MaskId),
}

/// Animated always.
const KEPT: [u8; 4] = [255, 176, 66, 255];
/// Animated, but not from afar.
const SPARED: [u8; 4] = [108, 214, 255, 255];
/// Not animated.
const STILL: [u8; 4] = [150, 150, 160, 160];
const AXES: [[u8; 4]; 3] = [[255, 92, 92, 255], [120, 230, 110, 255], [96, 140, 255, 255]];
const SPHERE: Stroke = Stroke::new(1.5, [160, 200, 255, 150]);
const BOX: Stroke = Stroke::new(1.5, [255, 255, 255, 210]);
const TARGET: Stroke = Stroke::x_ray(2.5, [255, 80, 220, 255]);
const REACH: Stroke = Stroke::x_ray(1.5, [255, 80, 220, 150]);
const GROUND: Stroke = Stroke::x_ray(2.5, [130, 255, 140, 255]);
const TRAIL: Stroke = Stroke::new(3.0, [255, 220, 120, 230]);
const HOME: Stroke = Stroke::new(2.0, [150, 255, 200, 220]);
const BODY: Stroke = Stroke::x_ray(1.5, [255, 120, 90, 230]);
/// Metres above the ground, so that lines on it are seen.
const LIFT: f32 = 0.02;

/// Draws one frame of a character, with what the executor did with the list that made it; `history`
/// is where it has been, `eye` where the camera is.
pub fn draw(
    crowd: &Crowd,
    (frame, capture): (&CharacterFrame, Option<&Capture>),
    history: &History,
    (shows, eye): (&Shows, Vec3),
    sketch: &mut Sketch,
) {
    let bones = crowd.bones(frame);
    if let (Some(color), Some(bones)) = (shows.bones, &bones) {
        skeleton(crowd, (frame, capture), color, bones, sketch);
    }
    if shows.bounds {
        sketch.sphere(frame.state.center, frame.state.radius, SPHERE);
        if let (Some(of), Some(place)) = (crowd.posed_box(frame), frame.world_from_model()) {
            sketch.cuboid(&place, &of, BOX);
        }
    }
    if let (true, Some(capture), Some(bones)) = (shows.targets, capture, &bones)
        && let Some(place) = frame.world_from_model()
    {
        targets(capture, bones, (&place, eye), 0.06 * frame.state.radius, sketch);
    }
    if shows.trail {
        let until = history.iter().take_while(|then| then.frame <= frame.frame);
        sketch.path(until.map(|then| then.state.position + Vec3::Y * LIFT), TRAIL);
    }
    if let (true, Some(home)) = (shows.home, frame.home) {
        let (here, home) = (frame.state.position + Vec3::Y * LIFT, home + Vec3::Y * LIFT);
        let reach = 0.2 * frame.state.radius;
        sketch.circle(home, Vec3::X * reach, Vec3::Z * reach, HOME);
        sketch.line(here, home, HOME);
    }
    if shows.bodies {
        for (a, b, radius) in &frame.bodies {
            sketch.capsule(*a, *b, *radius, BODY);
        }
    }
}

fn skeleton(
    crowd: &Crowd,
    (frame, capture): (&CharacterFrame, Option<&Capture>),
    color: BoneColor,
    bones: &[Option<Affine3A>],
    sketch: &mut Sketch,
) {
    let Some(rig) = crowd.rig(frame.kind()) else { return };
    let low = rig.skeleton().low_detail_bone_count();
    let whole = rig.bone_count();
    let animated = if frame.decisions.cut { low } else { whole };
    let animated = capture.map_or(animated, |capture| capture.active_bones);
    let mask = match color {
        BoneColor::Mask(mask) => crowd.names(frame.kind()).and_then(|names| names.masks.get(mask)),
        _ => None,
    };
    let joint = |bone: BoneIndex| bones.get(bone.get()).copied().flatten();
    let size = 0.035 * frame.state.radius;
    for bone in (0..whole.0).map(BoneIndex) {
        let Some(at) = joint(bone) else { continue };
        let here: Vec3 = at.translation.into();
        let stroke = match color {
            BoneColor::Axes => Stroke::x_ray(1.5, STILL),
            BoneColor::Detail => Stroke::x_ray(3.0, detail(bone, low, animated)),
            BoneColor::Mask(_) => {
                let weight = mask.map_or(1.0, |mask| mask.weight(bone));
                Stroke::x_ray(3.0, mixed(STILL, KEPT, weight))
            }
        };
        if let Some(parent) = crowd.parent(frame.kind(), bone).and_then(joint) {
            sketch.line(parent.translation.into(), here, stroke);
        }
        if color == BoneColor::Axes {
            let sides = [at.matrix3.x_axis, at.matrix3.y_axis, at.matrix3.z_axis];
            for (axis, color) in sides.into_iter().zip(AXES) {
                let end = here + Vec3::from(axis).normalize_or_zero() * (2.0 * size);
                sketch.line(here, end, Stroke::x_ray(2.0, color));
            }
        } else {
            sketch.cross(here, 0.3 * size, stroke);
        }
    }
}

fn detail(bone: BoneIndex, low: BoneCount, animated: BoneCount) -> [u8; 4] {
    match (animated.contains(bone), low.contains(bone)) {
        (false, _) => STILL,
        (true, true) => KEPT,
        (true, false) => SPARED,
    }
}

fn mixed(from: [u8; 4], to: [u8; 4], share: f32) -> [u8; 4] {
    let share = share.clamp(0.0, 1.0);
    std::array::from_fn(|i| (f32::from(from[i]) * (1.0 - share) + f32::from(to[i]) * share) as u8)
}

/// What the tasks that ran were to reach, from `place` of the model; `size` in metres.
fn targets(
    capture: &Capture,
    bones: &[Option<Affine3A>],
    (place, eye): (&Affine3A, Vec3),
    size: f32,
    sketch: &mut Sketch,
) {
    let joint = |bone: BoneIndex| bones.get(bone.get())?.map(|at| Vec3::from(at.translation));
    for record in capture.tasks.iter().filter(|record| record.reachable) {
        let (end, target) = match record.task {
            Task::TwoBoneIk { limb, reach, .. } => (limb.end, reach.target),
            Task::Fabrik { chain, .. } => (chain.end, chain.target),
            Task::LookAt { gaze, .. } => (gaze.bone, gaze.target),
            Task::FootIk { stance, .. } => {
                let feet = stance.legs.map(|leg| joint(leg.end));
                feet.into_iter().flatten().for_each(|foot| {
                    contact(foot, capture.ground.as_ref(), place, size, sketch);
                });
                continue;
            }
            _ => continue,
        };
        let target = place.transform_point3(target);
        // Who looks into the camera would have the whole picture crossed out.
        if target.distance(eye) < 10.0 * size {
            continue;
        }
        sketch.cross(target, size, TARGET);
        if let Some(end) = joint(end) {
            sketch.line(end, target, REACH);
        }
    }
}

/// The ground below a foot: a line down to it, and a ring on it.
fn contact(
    foot: Vec3,
    ground: Option<&GroundPatch>,
    place: &Affine3A,
    size: f32,
    sketch: &mut Sketch,
) {
    let model = place.inverse().transform_point3(foot);
    // Without a patch the ground is the plane that the character stands on, which is where y is 0.
    let height = ground.map_or(0.0, |patch| patch.origin.y + patch.rise(model));
    let slope = ground.map_or(glam::Vec2::ZERO, |patch| patch.slope_at(model));
    let below = place.transform_point3(model.with_y(height));
    let across = |x: f32, z: f32| {
        let side = Vec3::new(x, x * slope.x + z * slope.y, z);
        place.transform_vector3(side).normalize_or_zero() * (1.5 * size)
    };
    sketch.line(foot, below, GROUND);
    sketch.circle(below, across(1.0, 0.0), across(0.0, 1.0), GROUND);
}
