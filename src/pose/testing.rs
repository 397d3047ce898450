//! Characters for tests, and the naive way to pose them in double precision.

use super::skeleton::SkeletonParts;
use super::{PaletteEntry, Skeleton, UniformClip};
use crate::index::{BoneCount, BoneIndex};
use crate::math::{Mat3x4, Trs};
use glam::{Affine3A, DAffine3, DQuat, DVec3, Quat, Vec3};

/// A small repeatable generator (xorshift).
pub(crate) struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 20) as usize % n.max(1)
    }

    /// In -1..1.
    pub fn signed(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    pub fn vec3(&mut self, size: f32) -> Vec3 {
        Vec3::new(self.signed(), self.signed(), self.signed()) * size
    }

    pub fn quat(&mut self, angle: f32) -> Quat {
        Quat::from_scaled_axis(self.vec3(angle))
    }
}

/// What a test character is like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub bones: usize,
    /// Animated, non-uniform and mirrored scales: the general class.
    pub scaled: bool,
    /// A root under a rotated, scaled node, and constant uniform scales on the way down.
    pub units: bool,
    /// Palette entries beyond the bones', and bones without a usable inverse bind matrix.
    pub odd_binds: bool,
}

impl Shape {
    pub const fn plain(bones: usize) -> Self {
        Self { bones, scaled: false, units: false, odd_binds: false }
    }

    /// One of each.
    pub fn all(bones: usize) -> [Self; 4] {
        [
            Self::plain(bones),
            Self { units: true, ..Self::plain(bones) },
            Self { odd_binds: true, units: true, ..Self::plain(bones) },
            Self { scaled: true, odd_binds: true, units: true, ..Self::plain(bones) },
        ]
    }
}

/// A random character: a bushy tree, and clips that move every bone.
pub(crate) fn character(shape: Shape, clips: usize, seed: u64) -> (Skeleton, Vec<UniformClip>) {
    let r = &mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let n = shape.bones;
    let parents: Vec<_> =
        (0..n).map(|b| (b > 0).then(|| BoneIndex((b - 1 - r.below(b.min(4))) as u16))).collect();
    let rest: Vec<_> = (0..n)
        .map(|b| Trs {
            translation: r.vec3(0.3),
            rotation: r.quat(1.0),
            scale: if shape.units && b % 7 == 3 { Vec3::splat(1.1) } else { Vec3::ONE },
        })
        .collect();
    let above = match shape.units {
        true => Affine3A::from_scale_rotation_translation(
            Vec3::splat(0.01),
            Quat::from_rotation_x(-1.5),
            Vec3::new(0.1, 0.2, 0.3),
        ),
        false => Affine3A::IDENTITY,
    };
    let parts = |palette| SkeletonParts {
        names: (0..n).map(|b| format!("bone{b}")).collect(),
        parents: parents.clone(),
        rest: rest.clone(),
        model_from_root_parent: vec![above; n],
        palette,
        low_detail_bone_count: BoneCount((n / 2) as u16),
    };
    let entry =
        |bone: usize, m: Affine3A| PaletteEntry { bone: BoneIndex(bone as u16), bone_from_mesh: m };
    let plain = (0..n).map(|b| entry(b, Affine3A::IDENTITY)).collect();
    let bound = Skeleton::new(parts(plain)).unwrap();
    // The bind pose is not the rest pose.
    let bind: Vec<_> =
        rest.iter().map(|t| Trs { rotation: t.rotation * r.quat(0.5), ..*t }).collect();
    let model = bound.model_from_bone(&bind);
    let mut palette: Vec<_> =
        model.iter().enumerate().map(|(b, m)| entry(b, m.inverse())).collect();
    if shape.odd_binds {
        for b in (0..n).step_by(5) {
            palette[b].bone_from_mesh = Affine3A::from_scale_rotation_translation(
                Vec3::new(2.0, 1.0, -0.5),
                r.quat(1.0),
                r.vec3(1.0),
            );
            palette.push(entry(b, Affine3A::from_translation(r.vec3(1.0))));
        }
    }
    let skeleton = Skeleton::new(parts(palette)).unwrap();
    let clips = (0..clips).map(|at| clip(shape, &rest, at, r)).collect();
    (skeleton, clips)
}

fn clip(shape: Shape, rest: &[Trs], at: usize, r: &mut Random) -> UniformClip {
    // The first clip is a still; the second moves rotations only.
    let frame_count = if at == 0 { 1 } else { 2 + r.below(6) };
    let mut locals: Vec<Trs> = Vec::new();
    for _ in 0..frame_count {
        for (b, rest) in rest.iter().enumerate() {
            let mut local = *rest;
            if at != 1 && (b + at).is_multiple_of(3) {
                local.translation += r.vec3(0.1);
            }
            local.rotation *= r.quat(0.5);
            if shape.scaled && at != 1 {
                local.scale *= Vec3::ONE + r.vec3(0.3);
                local.scale.x *= if b % 6 == 5 { -1.0 } else { 1.0 };
            }
            locals.push(local);
        }
    }
    let n = rest.len();
    for at in n..locals.len() {
        if locals[at].rotation.dot(locals[at - n].rotation) < 0.0 {
            locals[at].rotation = -locals[at].rotation;
        }
    }
    UniformClip { name: format!("clip{at}"), rate_hz: 30.0, frame_count, locals, max_error_m: 0.0 }
}

/// A local transform in double precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DTrs {
    pub translation: DVec3,
    pub rotation: DQuat,
    pub scale: DVec3,
}

impl From<&Trs> for DTrs {
    fn from(t: &Trs) -> Self {
        Self {
            translation: t.translation.as_dvec3(),
            rotation: t.rotation.as_dquat().normalize(),
            scale: t.scale.as_dvec3(),
        }
    }
}

/// The naive evaluator.
pub(crate) fn rest_pose(skeleton: &Skeleton) -> Vec<DTrs> {
    skeleton.rest().iter().map(DTrs::from).collect()
}

/// Nlerp between the frames around a time; not normalized, as the samples of the kernels.
pub(crate) fn sampled(clip: &UniformClip, bones: usize, seconds: f32) -> Vec<DTrs> {
    let last = (clip.frame_count - 1) as f64;
    let at = (f64::from(seconds) * f64::from(clip.rate_hz)).clamp(0.0, last);
    let first = at.floor().min((last - 1.0).max(0.0));
    let (a, b) = (first as usize, (first as usize + 1).min(clip.frame_count - 1));
    let frame = |f: usize| clip.locals[f * bones..][..bones].iter().map(DTrs::from);
    frame(a).zip(frame(b)).map(|(a, b)| lerped(&a, &b, at - first)).collect()
}

fn lerped(a: &DTrs, b: &DTrs, t: f64) -> DTrs {
    DTrs {
        translation: a.translation.lerp(b.translation, t),
        rotation: a.rotation * (1.0 - t) + b.rotation * t,
        scale: a.scale.lerp(b.scale, t),
    }
}

/// Nlerp on the shorter arc, normalized.
pub(crate) fn blended(a: &[DTrs], b: &[DTrs], t: f64) -> Vec<DTrs> {
    let near = |a: &DTrs, b: &DTrs| match a.rotation.dot(b.rotation) < 0.0 {
        true => DTrs { rotation: -b.rotation, ..*b },
        false => *b,
    };
    let mut out: Vec<_> = a.iter().zip(b).map(|(a, b)| lerped(a, &near(a, b), t)).collect();
    out.iter_mut().for_each(|t| t.rotation = t.rotation.normalize());
    out
}

/// As [`blended`], with a weight of each bone's own.
pub(crate) fn blended_masked(a: &[DTrs], b: &[DTrs], t: f64, weights: &[f32]) -> Vec<DTrs> {
    let weight = |bone: usize| {
        let w = weights.get(bone).copied().unwrap_or(1.0);
        if w.is_nan() { 0.0 } else { f64::from(w).clamp(0.0, 1.0) }
    };
    (0..a.len()).map(|i| blended(&a[i..=i], &b[i..=i], t * weight(i))[0]).collect()
}

/// Rotations from the roots down, without what lies above them.
fn model_rotations(skeleton: &Skeleton, pose: &[DTrs]) -> Vec<DQuat> {
    let mut out: Vec<DQuat> = Vec::new();
    for (parent, local) in skeleton.parents().iter().zip(pose) {
        let above = parent.map_or(DQuat::IDENTITY, |p| out[p.get()]);
        out.push(above * local.rotation.normalize());
    }
    out
}

/// The difference of two poses; rotations in model space if `mesh`.
pub(crate) fn difference_of(
    skeleton: &Skeleton,
    a: &[DTrs],
    reference: &[DTrs],
    mesh: bool,
) -> Vec<DTrs> {
    let (of, to) = (model_rotations(skeleton, a), model_rotations(skeleton, reference));
    let one = |i: usize| {
        let (a, b) = (&a[i], &reference[i]);
        let local = a.rotation.normalize() * b.rotation.normalize().conjugate();
        DTrs {
            rotation: if mesh { of[i] * to[i].conjugate() } else { local },
            translation: a.translation - b.translation,
            scale: a.scale / b.scale,
        }
    };
    (0..a.len()).map(one).collect()
}

/// A pose with a difference added.
pub(crate) fn added(
    skeleton: &Skeleton,
    base: &[DTrs],
    delta: &[DTrs],
    t: f64,
    mesh: bool,
) -> Vec<DTrs> {
    let model = model_rotations(skeleton, base);
    let mut out: Vec<DTrs> = Vec::new();
    let mut turned: Vec<DQuat> = Vec::new();
    for (i, (base, delta)) in base.iter().zip(delta).enumerate() {
        let near = if delta.rotation.w < 0.0 { -delta.rotation } else { delta.rotation };
        let part = (DQuat::IDENTITY * (1.0 - t) + near * t).normalize();
        let rotation = if mesh {
            let above = skeleton.parents()[i].map_or(DQuat::IDENTITY, |p| turned[p.get()]);
            turned.push(part * model[i]);
            above.conjugate() * turned[i]
        } else {
            part * base.rotation.normalize()
        };
        out.push(DTrs {
            rotation,
            translation: base.translation + delta.translation * t,
            scale: base.scale * (DVec3::ONE + (delta.scale - 1.0) * t),
        });
    }
    out
}

/// The palette of a pose whose bones from `active` on stand at rest.
pub(crate) fn palette(skeleton: &Skeleton, pose: &[DTrs], active: usize) -> Vec<DAffine3> {
    let rest = rest_pose(skeleton);
    let mut model: Vec<DAffine3> = Vec::new();
    for bone in skeleton.bone_count().bones() {
        let at = bone.get();
        let local = if at < active { &pose[at] } else { &rest[at] };
        let parent = match skeleton.parents()[at] {
            Some(parent) => model[parent.get()],
            None => skeleton.model_from_root_parent(bone).as_daffine3(),
        };
        let rotation = local.rotation.normalize();
        model.push(
            parent
                * DAffine3::from_scale_rotation_translation(
                    local.scale,
                    rotation,
                    local.translation,
                ),
        );
    }
    let entries = skeleton.palette().iter();
    entries.map(|p| model[p.bone.get()] * p.bone_from_mesh.as_daffine3()).collect()
}

/// The largest difference between two palettes, relative to the size of the matrices' entries.
pub(crate) fn difference(ours: &[Mat3x4], exact: &[DAffine3]) -> f64 {
    assert_eq!(ours.len(), exact.len());
    let size = exact.iter().flat_map(|m| m.to_cols_array()).fold(1e-30, |a: f64, b| a.max(b.abs()));
    let pairs = ours.iter().zip(exact);
    let worst = pairs.flat_map(|(a, b)| {
        let a = a.to_affine().as_daffine3().to_cols_array();
        let b = b.to_cols_array();
        (0..12).map(move |i| (a[i] - b[i]).abs())
    });
    worst.fold(0.0, |a: f64, b| if b.is_nan() { f64::INFINITY } else { a.max(b) }) / size
}
