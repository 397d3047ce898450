//! The character that `throng bench pose` measures: 64 bones in 12 levels, smooth motion on every
//! joint, translations on the two lowest bones only. Everything follows from hashes, so that
//! today's figures can be held against next year's.

use crate::index::{BoneCount, BoneIndex};
use crate::math::Trs;
use crate::pose::skeleton::{SkeletonError, SkeletonParts};
use crate::pose::{PaletteEntry, Skeleton, UniformClip};
use glam::{Affine3A, EulerRot, Quat, Vec3};
use std::f32::consts::{PI, TAU};

/// Bones of the character.
pub const BONES: usize = 64;
/// Frames of each clip: two seconds at 30 Hz, the last one at the end.
pub const FRAMES: usize = 61;
/// Length of each clip.
pub const SECONDS: f32 = 2.0;

/// Parents, depth first: a trunk of seven with three leaves on the head, two arms with a hand of
/// five three-bone fingers and two twists each, two legs with two twists each.
fn parents() -> Vec<Option<usize>> {
    let mut tree = vec![None];
    let mut grow = |parent: usize| {
        tree.push(Some(parent));
        tree.len() - 1
    };
    let pelvis = grow(0);
    let spine = grow(pelvis);
    let belly = grow(spine);
    let chest = grow(belly);
    let neck = grow(chest);
    let head = grow(neck);
    for _ in 0..3 {
        grow(head);
    }
    for _ in 0..2 {
        let clavicle = grow(chest);
        let upper = grow(clavicle);
        grow(upper);
        let lower = grow(upper);
        grow(lower);
        let hand = grow(lower);
        for _ in 0..5 {
            let knuckle = grow(hand);
            let middle = grow(knuckle);
            grow(middle);
        }
    }
    for _ in 0..2 {
        let thigh = grow(pelvis);
        grow(thigh);
        let calf = grow(thigh);
        grow(calf);
        let foot = grow(calf);
        grow(foot);
    }
    tree
}

/// A repeatable number in 0..1 for a bone, a purpose and an axis (splitmix64).
fn unit(bone: usize, purpose: u64, axis: usize) -> f32 {
    let mut x = (bone as u64) << 32 | purpose << 8 | axis as u64;
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 40) as f32 / (1u64 << 24) as f32
}

fn each_axis(value: impl Fn(usize) -> f32) -> Vec3 {
    Vec3::new(value(0), value(1), value(2))
}

fn turned(angles: Vec3) -> Quat {
    Quat::from_euler(EulerRot::XYZ, angles.x, angles.y, angles.z)
}

/// The bind pose, which is the rest pose as well.
fn bind(bone: usize) -> Trs {
    let aside = |axis| 0.06 * (unit(bone, 1, axis) - 0.5);
    let up = if bone < 2 { 0.4 * bone as f32 } else { 0.06 + 0.2 * unit(bone, 2, 1) };
    Trs {
        translation: Vec3::new(aside(0), up, aside(2)),
        rotation: turned(each_axis(|axis| 0.5 * (unit(bone, 3, axis) - 0.5))),
        scale: Vec3::ONE,
    }
}

/// A bone's local transform: whole swings a clip, so that it loops.
fn posed(clip: usize, bone: usize, seconds: f32) -> Trs {
    let purpose = |what: u64| 16 + 8 * clip as u64 + what;
    let reach = if bone == 0 { 0.05 } else { 0.35 };
    let swing = each_axis(|axis| {
        let swings = 1.0 + (3.0 * unit(bone, purpose(0), axis)).floor();
        let size = reach * (0.3 + 0.7 * unit(bone, purpose(1), axis));
        size * (PI * swings * seconds + TAU * unit(bone, purpose(2), axis)).sin()
    });
    let mut local = bind(bone);
    local.rotation *= turned(swing);
    if bone < 2 {
        local.translation +=
            each_axis(|axis| 0.05 * (TAU * seconds + TAU * unit(bone, purpose(3), axis)).sin());
    }
    local
}

/// The skeleton and `clips` clips.
///
/// # Errors
/// Those of [`Skeleton::new`]; none for a tree that is in order.
pub fn character(clips: usize) -> Result<(Skeleton, Vec<UniformClip>), SkeletonError> {
    let parents = parents();
    let rest: Vec<Trs> = (0..parents.len()).map(bind).collect();
    let mut model: Vec<Affine3A> = Vec::new();
    for (parent, local) in parents.iter().zip(&rest) {
        let above = parent.map_or(Affine3A::IDENTITY, |p| model[p]);
        model.push(above * local.to_affine());
    }
    let palette = model
        .iter()
        .enumerate()
        .map(|(b, m)| PaletteEntry { bone: BoneIndex(b as u16), bone_from_mesh: m.inverse() })
        .collect();
    let skeleton = Skeleton::new(SkeletonParts {
        names: (0..parents.len()).map(|b| format!("bone{b}")).collect(),
        parents: parents.iter().map(|p| p.map(|p| BoneIndex(p as u16))).collect(),
        model_from_root_parent: vec![Affine3A::IDENTITY; parents.len()],
        low_detail_bone_count: BoneCount(parents.len() as u16),
        rest,
        palette,
    })?;
    Ok((skeleton, (0..clips).map(clip).collect()))
}

fn clip(clip: usize) -> UniformClip {
    let rate_hz = (FRAMES - 1) as f32 / SECONDS;
    let mut locals: Vec<Trs> = Vec::with_capacity(FRAMES * BONES);
    for frame in 0..FRAMES {
        for bone in 0..BONES {
            let mut local = posed(clip, bone, frame as f32 / rate_hz);
            if let Some(before) = locals.len().checked_sub(BONES)
                && locals[before].rotation.dot(local.rotation) < 0.0
            {
                local.rotation = -local.rotation;
            }
            locals.push(local);
        }
    }
    UniformClip {
        name: format!("clip{clip}"),
        rate_hz,
        frame_count: FRAMES,
        locals,
        max_error_m: 0.0,
    }
}

/// What one character plays: two clips, a third for an additive layer, and where it started.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Indices of the clips.
    pub clips: [usize; 3],
    /// Seconds.
    pub start: f32,
}

impl Part {
    /// Neighbours play other clips at other phases.
    pub fn of(character: usize, clips: usize) -> Self {
        let phase = (character * 37 % 120) as f32 / 60.0 + (character % 7) as f32 * 0.0011;
        Self { clips: [0, 1, 2].map(|k| (character + k) % clips.max(1)), start: phase }
    }

    /// Clip time after `frames` sixtieths of a second, looped.
    pub fn seconds(&self, frames: usize) -> f32 {
        (self.start + frames as f32 / 60.0) % SECONDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_character_has_the_shape_that_it_is_described_with() {
        let (skeleton, clips) = character(3).unwrap();
        assert_eq!(skeleton.bone_count().get(), BONES);
        let mut depth: Vec<usize> = Vec::new();
        for parent in skeleton.parents() {
            depth.push(parent.map_or(1, |p| depth[p.get()] + 1));
        }
        assert_eq!(depth.iter().max(), Some(&12));
        for clip in &clips {
            assert_eq!((clip.frame_count, clip.seconds()), (FRAMES, SECONDS));
            let (first, last) = (&clip.locals[..BONES], &clip.locals[(FRAMES - 1) * BONES..]);
            for (a, b) in first.iter().zip(last) {
                assert!(a.rotation.dot(b.rotation).abs() > 1.0 - 1e-5, "clips loop");
            }
        }
    }
}
