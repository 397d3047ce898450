//! Sampling a clip, and the reference pose.

use super::enter;
use crate::index::BoneCount;
use crate::math::Lanes;
use crate::pose::buffer::{Pose, active_lines};
use crate::pose::runtime_clip::{Run, RuntimeClip};
use crate::pose::streams::{GROUP, LINE, Line, groups_for};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x8};

/// Fills `out` (which must fit the clip's rig) with the clip at `seconds`, clamped to the clip.
///
/// Rotations are interpolated linearly and not normalized: neighbouring frames lie in one
/// hemisphere, and whoever needs unit length normalizes once at the end.
pub fn sample(lanes: Lanes, clip: &RuntimeClip, seconds: f32, active: BoneCount, out: &mut Pose) {
    enter!(lanes, scalar(clip, seconds, active, out), simd => {
        vector(simd, clip, seconds, active, out)
    });
}

/// Fills `out` with the reference pose: rotations copied, no translation or scale held.
pub fn reference(reference: &Pose, active: BoneCount, out: &mut Pose) {
    let lines = active_lines(active);
    for (to, from) in out.rotations_mut().into_iter().zip(reference.rotations()) {
        to[..lines].copy_from_slice(&from[..lines]);
    }
    (out.moved, out.scaled) = (reference.moved, reference.scaled);
}

/// Copies what stands still in a clip, and marks the groups that its samples hold.
#[inline(always)]
fn still(clip: &RuntimeClip, active: BoneCount, out: &mut Pose) {
    let lines = active_lines(active);
    for run in clip.still_runs.iter().filter_map(|r| r.below(lines)) {
        for (c, to) in out.rotations_mut().into_iter().enumerate() {
            let from = &clip.still[c * clip.still_lines + run.stored_line..][..run.lines];
            to[run.pose_line..][..run.lines].copy_from_slice(from);
        }
    }
    let mut groups = still_groups(clip).iter();
    for &group in &clip.still_translations {
        for to in out.translations_mut() {
            if let Some(from) = groups.next() {
                *to[group / 2].group_mut(group) = *from;
            }
        }
    }
    for &group in &clip.still_scales {
        for to in out.scales_mut() {
            if let Some(from) = groups.next() {
                *to[group / 2].group_mut(group) = *from;
            }
        }
    }
    (out.moved, out.scaled) = clip.held;
}

/// The translations and scales of one frame, eight bones of one component at a time.
#[inline(always)]
fn groups_of(frame: &[Line], rotation_lines: usize) -> &[[f32; GROUP]] {
    bytemuck::cast_slice(&frame[4 * rotation_lines..])
}

fn still_groups(clip: &RuntimeClip) -> &[[f32; GROUP]] {
    groups_of(&clip.still, clip.still_lines)
}

fn scalar(clip: &RuntimeClip, seconds: f32, active: BoneCount, out: &mut Pose) {
    still(clip, active, out);
    let at = clip.cursor(seconds);
    let (a, b) = (clip.frame(at.first), clip.frame(at.second));
    let lerp = |a: f32, b: f32| a + at.weight * (b - a);
    for run in clip.moving.iter().filter_map(|r| r.below(active_lines(active))) {
        for (c, to) in out.rotations_mut().into_iter().enumerate() {
            for line in 0..run.lines {
                let from = c * clip.moving_lines + run.stored_line + line;
                for lane in 0..LINE {
                    to[run.pose_line + line].0[lane] = lerp(a[from].0[lane], b[from].0[lane]);
                }
            }
        }
    }
    let groups = groups_for(active.get());
    let (a, b) = (groups_of(a, clip.moving_lines), groups_of(b, clip.moving_lines));
    let blend = |streams: [&mut [Line]; 3], group: usize, at: usize| {
        for (c, to) in streams.into_iter().enumerate() {
            for lane in 0..GROUP {
                let (a, b) = (a[at * 3 + c][lane], b[at * 3 + c][lane]);
                to[group / 2].group_mut(group)[lane] = lerp(a, b);
            }
        }
    };
    let below = |&(_, group): &(usize, &usize)| *group < groups;
    for (at, &group) in clip.moving_translations.iter().enumerate().filter(below) {
        blend(out.translations_mut(), group, at);
    }
    let first = clip.moving_translations.len();
    for (at, &group) in clip.moving_scales.iter().enumerate().filter(below) {
        blend(out.scales_mut(), group, first + at);
    }
}

#[inline(always)]
fn vector<S: Simd>(simd: S, clip: &RuntimeClip, seconds: f32, active: BoneCount, out: &mut Pose) {
    still(clip, active, out);
    let at = clip.cursor(seconds);
    let (a, b) = (clip.frame(at.first), clip.frame(at.second));
    let lines = active_lines(active);
    let weight = S::f32s::simd_from(simd, at.weight);
    for run in clip.moving.iter().filter_map(|r| r.below(lines)) {
        for (c, to) in out.rotations_mut().into_iter().enumerate() {
            let from = c * clip.moving_lines + run.stored_line;
            let to = &mut to[run.pose_line..][..run.lines];
            let (a, b) = (&a[from..][..run.lines], &b[from..][..run.lines]);
            for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
                lerp_line(simd, weight, a, b, to);
            }
        }
    }
    let weight = f32x8::splat(simd, at.weight);
    let groups = groups_for(active.get());
    let (a, b) = (groups_of(a, clip.moving_lines), groups_of(b, clip.moving_lines));
    let pairs = a.as_chunks::<3>().0.iter().zip(b.as_chunks::<3>().0);
    let count = clip.moving_translations.len();
    for (&group, (a, b)) in clip.moving_translations.iter().zip(pairs.clone()) {
        if group < groups {
            lerp_group(simd, weight, a, b, out.translations_mut(), group);
        }
    }
    for (&group, (a, b)) in clip.moving_scales.iter().zip(pairs.skip(count)) {
        if group < groups {
            lerp_group(simd, weight, a, b, out.scales_mut(), group);
        }
    }
}

#[inline(always)]
fn lerp_line<S: Simd>(simd: S, weight: S::f32s, a: &Line, b: &Line, to: &mut Line) {
    let width = S::f32s::LEN;
    for at in (0..LINE).step_by(width) {
        let a = S::f32s::from_slice(simd, &a.0[at..at + width]);
        let b = S::f32s::from_slice(simd, &b.0[at..at + width]);
        weight.mul_add(b - a, a).store_slice(&mut to.0[at..at + width]);
    }
}

#[inline(always)]
fn lerp_group<S: Simd>(
    simd: S,
    weight: f32x8<S>,
    a: &[[f32; GROUP]; 3],
    b: &[[f32; GROUP]; 3],
    streams: [&mut [Line]; 3],
    group: usize,
) {
    for ((to, a), b) in streams.into_iter().zip(a).zip(b) {
        let (a, b) = (f32x8::load_array_ref(simd, a), f32x8::load_array_ref(simd, b));
        weight.mul_add(b - a, a).store_array(to[group / 2].group_mut(group));
    }
}

impl Run {
    /// The part of the run below a line, or nothing.
    #[inline(always)]
    fn below(&self, end: usize) -> Option<Self> {
        let lines = end.saturating_sub(self.pose_line).min(self.lines);
        (lines > 0).then_some(Self { lines, ..*self })
    }
}
