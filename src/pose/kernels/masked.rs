//! Blending two poses with a weight of each bone's own.

use super::blend::each_group;
use super::quat;
use super::{enter, weight};
use crate::index::{BoneCount, BoneIndex};
use crate::math::Lanes;
use crate::pose::buffer::{Pose, Rest};
use crate::pose::streams::{GROUP, LINE, Line, blocks_for};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x8};

/// A weight in 0..=1 per bone of a skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct Mask {
    lines: Vec<Line>,
}

impl Mask {
    /// The weights in bone order, limited to 0..=1 (not-a-number counts as 0). Bones that are not
    /// named weigh 1.
    pub fn new(bones: BoneCount, weights: &[f32]) -> Self {
        let mut lines = vec![Line([1.0; LINE]); blocks_for(bones.get())];
        for (to, from) in lines.iter_mut().flat_map(|l| &mut l.0).zip(weights) {
            *to = weight(*from);
        }
        Self { lines }
    }

    /// What one bone weighs; 1 for a bone beyond the skeleton's.
    pub fn weight(&self, bone: BoneIndex) -> f32 {
        self.line(bone.get() / LINE).0[bone.get() % LINE]
    }

    /// Bones of `[0, active)` that weigh anything.
    pub fn weighted_bones(&self, active: BoneCount) -> usize {
        self.lines.iter().flat_map(|l| &l.0).take(active.get()).filter(|w| **w > 0.0).count()
    }

    #[inline(always)]
    fn line(&self, block: usize) -> &Line {
        self.lines.get(block).unwrap_or(&ALL)
    }
}

const ALL: Line = Line([1.0; LINE]);

/// As [`super::blend::blend`], with `alpha * mask[bone]` for each bone.
pub fn blend_masked(
    lanes: Lanes,
    rest: Rest<'_>,
    acc: &mut Pose,
    b: &Pose,
    alpha: f32,
    mask: &Mask,
    active: BoneCount,
) {
    let alpha = weight(alpha);
    enter!(lanes, scalar(rest, acc, b, alpha, mask, active), simd => {
        vector(simd, rest, acc, b, alpha, mask, active)
    });
    acc.moved.insert_all(&b.moved);
    acc.scaled.insert_all(&b.scaled);
}

fn scalar(rest: Rest<'_>, acc: &mut Pose, b: &Pose, alpha: f32, mask: &Mask, active: BoneCount) {
    let blocks = blocks_for(active.get());
    for (at, (acc, b)) in acc.rotations[..blocks].iter_mut().zip(&b.rotations).enumerate() {
        for lane in 0..LINE {
            let alpha = alpha * mask.line(at).0[lane];
            acc.set(lane, quat::scalar::nlerp(acc.get(lane), b.get(lane), alpha));
        }
    }
    each_group(rest, acc, b, active, |(_, group), to, a, b| {
        for component in 0..3 {
            for lane in 0..GROUP {
                let alpha = alpha * mask.line(group / 2).groups()[group % 2][lane];
                let (a, b) = (a.0[component][lane], b.0[component][lane]);
                to.0[component][lane] = a + alpha * (b - a);
            }
        }
    });
}

#[inline(always)]
fn vector<S: Simd>(
    simd: S,
    rest: Rest<'_>,
    acc: &mut Pose,
    b: &Pose,
    alpha: f32,
    mask: &Mask,
    active: BoneCount,
) {
    let blocks = blocks_for(active.get());
    for (at, (acc, b)) in acc.rotations[..blocks].iter_mut().zip(&b.rotations).enumerate() {
        let weights = mask.line(at);
        for at in (0..LINE).step_by(S::f32s::LEN) {
            let weight = S::f32s::from_slice(simd, &weights.0[at..at + S::f32s::LEN]);
            let r = quat::nlerp(simd, acc.load(simd, at), b.load(simd, at), weight * alpha);
            acc.store::<S>(at, r);
        }
    }
    each_group(rest, acc, b, active, |(_, group), to, a, b| {
        let weights = &mask.line(group / 2).groups()[group % 2];
        let alpha = f32x8::load_array_ref(simd, weights) * alpha;
        for ((to, a), b) in to.0.iter_mut().zip(&a.0).zip(&b.0) {
            let (a, b) = (f32x8::load_array_ref(simd, a), f32x8::load_array_ref(simd, b));
            alpha.mul_add(b - a, a).store_array(to);
        }
    });
}
