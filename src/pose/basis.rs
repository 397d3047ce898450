//! Pose space: the coordinates that poses and runtime clips are kept in.
//!
//! Let `M_j` be a bone's model matrix, `I_j` its inverse bind matrix and `X_j = M_j * I_j` the
//! palette matrix. Two classes of skeleton:
//!
//! **General**: pose space is local space; resolve walks `M_j = M_p * L_j` with scale and
//! multiplies by `I_j` for the palette.
//!
//! **Bind-relative**: no scale is animated, so each bone has a bind frame `B_j` (rotation, uniform
//! scale `k_j` and position), the inverse of `I_j` wherever that is a similarity. Then
//! `X_j = X_p * (B_p * L_j * B_j^-1)`, and the bracket is rigid: its rotation is
//! `q' = rot(B_p) * q * rot(B_j)^-1` and it takes the bind position `b_j` to
//! `u = pos(B_p) + k_p * rot(B_p) * t`. Poses hold `q'` and `u`. Fixed factors on the left and the
//! right change neither lerps nor dot products, so sampling and blending work on `q'` and `u`
//! unchanged; so do additive deltas (`delta = src * ref^-1` is only conjugated), rotation offsets
//! and angular velocities. Walking `X` yields palette matrices with no product by `I_j`; and since
//! its rotations are rotations, the walk multiplies quaternions and makes a matrix of each once.

use super::{PaletteEntry, Skeleton, UniformClip};
use crate::index::BoneIndex;
use crate::math::Trs;
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// Relative difference up to which two scales count as one. Exporters leave noise of 1e-6.
const SCALE_TOLERANCE: f64 = 2e-5;
/// Deepest hierarchy of the bind-relative class: its walk multiplies rotations that are not quite of
/// unit length, and their product must stay a number.
const DEPTH_LIMIT: usize = 96;
/// Relative difference up to which a matrix counts as a similarity, or as the identity.
const MATRIX_TOLERANCE: f64 = 2e-5;

/// Whether a skeleton's poses are kept relative to its binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RigClass {
    /// Rotation and translation relative to the bind frames; scale is constant and uniform.
    BindRelative,
    /// Local translation, rotation and scale.
    General,
}

/// A bone's coordinates in pose space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PoseTrs {
    pub rotation: DQuat,
    pub translation: DVec3,
    pub scale: DVec3,
}

impl PoseTrs {
    /// The difference between a pose and itself.
    pub const NO_DIFFERENCE: Self =
        Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO, scale: DVec3::ONE };

    /// `self` as a change of `against`: the rotation on the left, the translation by addition, the
    /// scale as a ratio (one where there is nothing to scale). The rotation is normalized.
    pub fn difference(&self, against: &Self) -> Self {
        let rotation = self.rotation * against.rotation.conjugate();
        let ratio = |a: f64, b: f64| if b.abs() > 1e-9 { a / b } else { 1.0 };
        Self {
            rotation: rotation.normalize(),
            translation: self.translation - against.translation,
            scale: DVec3::new(
                ratio(self.scale.x, against.scale.x),
                ratio(self.scale.y, against.scale.y),
                ratio(self.scale.z, against.scale.z),
            ),
        }
    }
}

/// How one bone's local transform maps to pose space and back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoneBasis {
    /// Rotation of the parent's bind frame.
    left: DQuat,
    /// Inverse rotation of the bone's own bind frame.
    right: DQuat,
    /// Position and scale of the parent's bind frame.
    offset: DVec3,
    scale: f64,
    /// Position of the bone's own bind frame.
    pub origin: DVec3,
    /// The constant local scale of the bind-relative class; one otherwise.
    constant_scale: f64,
}

impl BoneBasis {
    const IDENTITY: Self = Self {
        left: DQuat::IDENTITY,
        right: DQuat::IDENTITY,
        offset: DVec3::ZERO,
        scale: 1.0,
        origin: DVec3::ZERO,
        constant_scale: 1.0,
    };

    /// Units of pose space in one of the parent's.
    pub fn unit(self) -> f32 {
        self.scale as f32
    }

    /// What a rotation of local space has on its left and on its right in pose space, and how many
    /// units of pose space one of the parent's is.
    pub fn factors(&self) -> (DQuat, DQuat, f64) {
        (self.left, self.right, self.scale)
    }

    /// Rotation of the bone's own bind frame.
    pub fn bind_rotation(&self) -> DQuat {
        self.right.conjugate()
    }

    /// To pose space.
    pub fn to_pose(self, local: &Trs) -> PoseTrs {
        let rotation = self.left * local.rotation.as_dquat().normalize() * self.right;
        let translation = self.offset + self.left * (local.translation.as_dvec3() * self.scale);
        PoseTrs { rotation, translation, scale: local.scale.as_dvec3() }
    }

    /// Back to a local transform; the rotation is normalized.
    pub fn to_local(self, pose: &PoseTrs) -> Trs {
        let rotation = self.left.conjugate() * pose.rotation * self.right.conjugate();
        let translation = self.left.conjugate() * (pose.translation - self.offset) / self.scale;
        Trs {
            translation: translation.as_vec3(),
            rotation: rotation.normalize().as_quat(),
            scale: (pose.scale * self.constant_scale).as_vec3(),
        }
    }
}

/// Pose space of a whole skeleton, and what resolve needs besides the poses.
#[derive(Clone, Debug)]
pub(crate) struct Basis {
    pub class: RigClass,
    /// One per bone.
    pub bones: Vec<BoneBasis>,
    /// One per bone: for a root, what its walk starts from; for others, the identity at the scale
    /// of its root's.
    pub walk_from_root: Vec<Start>,
    /// One per palette entry: what follows the walked matrix; `None` where it is the identity.
    pub products: Vec<Option<DAffine3>>,
}

/// What the walk of a root starts from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub matrix: DAffine3,
    /// Rotation and scale of the matrix where it is a similarity (bind-relative class).
    pub rotation: DQuat,
    pub scale: f64,
}

/// A rotation, a uniform positive scale and a position.
#[derive(Clone, Copy)]
struct Frame {
    rotation: DQuat,
    scale: f64,
    position: DVec3,
}

impl Frame {
    fn to_affine(self) -> DAffine3 {
        let scale = DVec3::splat(self.scale);
        DAffine3::from_scale_rotation_translation(scale, self.rotation, self.position)
    }

    /// The inverse of `m`, if that is a similarity.
    fn inverse_of(m: &DAffine3) -> Option<Self> {
        let lengths = DVec3::new(
            m.matrix3.x_axis.length(),
            m.matrix3.y_axis.length(),
            m.matrix3.z_axis.length(),
        );
        let scale = lengths.element_sum() / 3.0;
        let normal = scale.is_finite() && scale > 1e-12 && m.matrix3.determinant() > 0.0;
        if !normal {
            return None;
        }
        let axes = DMat3::from_cols(
            m.matrix3.x_axis / scale,
            m.matrix3.y_axis / scale,
            m.matrix3.z_axis / scale,
        );
        let rotation = DQuat::from_mat3(&axes).normalize();
        let nearest = DMat3::from_quat(rotation);
        // Looser than the product test below: a product then makes up for what is left.
        if !axes.abs_diff_eq(nearest, 10.0 * MATRIX_TOLERANCE) {
            return None;
        }
        let rotation = rotation.conjugate();
        let position = rotation * (-m.translation) / scale;
        Some(Self { rotation, scale: 1.0 / scale, position })
    }
}

impl Basis {
    /// Decides the class of a skeleton with its clips and works out its pose space.
    pub fn new(skeleton: &Skeleton, clips: &[UniformClip], force_general: bool) -> Self {
        let scales = if force_general { None } else { constant_scales(skeleton, clips) };
        scales
            .filter(|_| depth(skeleton) <= DEPTH_LIMIT)
            .and_then(|scales| Self::bind_relative(skeleton, &scales))
            .unwrap_or_else(|| Self::general(skeleton))
    }

    /// What a bone's pose does to the walked matrix of what it hangs on: `walked_j = walked_p * step`.
    pub fn step(&self, bone: BoneIndex, pose: &PoseTrs) -> DAffine3 {
        let (rotation, translation) = (pose.rotation.normalize(), pose.translation);
        match self.class {
            RigClass::General => {
                DAffine3::from_scale_rotation_translation(pose.scale, rotation, translation)
            }
            RigClass::BindRelative => {
                let to_origin = DAffine3::from_translation(-self.bones[bone.get()].origin);
                DAffine3::from_rotation_translation(rotation, translation) * to_origin
            }
        }
    }

    fn general(skeleton: &Skeleton) -> Self {
        let bones = skeleton.bone_count();
        Self {
            class: RigClass::General,
            bones: vec![BoneBasis::IDENTITY; bones.get()],
            walk_from_root: bones
                .bones()
                .map(|b| Start {
                    matrix: skeleton.model_from_root_parent(b).as_daffine3(),
                    rotation: DQuat::IDENTITY,
                    scale: 1.0,
                })
                .collect(),
            products: skeleton
                .palette()
                .iter()
                .map(|p| product(p, &DAffine3::IDENTITY, 0.0))
                .collect(),
        }
    }

    fn bind_relative(skeleton: &Skeleton, scales: &[f64]) -> Option<Self> {
        let count = skeleton.bone_count();
        let mut binds: Vec<Frame> = Vec::with_capacity(count.get());
        let mut bones = Vec::with_capacity(count.get());
        let mut walk_from_root: Vec<Start> = Vec::with_capacity(count.get());
        for bone in count.bones() {
            let at = bone.get();
            let wanted = skeleton
                .palette_entry(crate::index::PaletteIndex(bone.0))
                .and_then(|p| Frame::inverse_of(&p.bone_from_mesh.as_daffine3()));
            let parent = match skeleton.parents()[at] {
                Some(parent) => binds[parent.get()],
                // A root may start at any scale: the walk's first matrix makes up for it.
                None => Frame {
                    rotation: DQuat::IDENTITY,
                    scale: wanted.map_or(1.0, |f| f.scale) / scales[at],
                    position: DVec3::ZERO,
                },
            };
            let scale = parent.scale * scales[at];
            let bind =
                wanted.filter(|f| (f.scale / scale - 1.0).abs() <= SCALE_TOLERANCE).map_or_else(
                    || rest_frame(skeleton, bone, &parent, scale),
                    |f| Frame { scale, ..f },
                );
            walk_from_root.push(match skeleton.parents()[at] {
                Some(parent) => {
                    let Start { scale, .. } = walk_from_root[parent.get()];
                    Start { matrix: DAffine3::IDENTITY, rotation: DQuat::IDENTITY, scale }
                }
                None => {
                    let unit = DAffine3::from_scale(DVec3::splat(1.0 / parent.scale));
                    let matrix = skeleton.model_from_root_parent(bone).as_daffine3() * unit;
                    let Frame { rotation, scale, .. } = Frame::inverse_of(&matrix)?;
                    Start { matrix, rotation: rotation.conjugate(), scale: 1.0 / scale }
                }
            });
            bones.push(BoneBasis {
                left: parent.rotation,
                right: bind.rotation.conjugate(),
                offset: parent.position,
                scale: parent.scale,
                origin: bind.position,
                constant_scale: scales[at],
            });
            binds.push(bind);
        }
        let size = binds.iter().map(|b| b.position.length()).fold(0.0, f64::max);
        let products = skeleton
            .palette()
            .iter()
            .map(|p| product(p, &binds[p.bone.get()].to_affine(), size))
            .collect();
        Some(Self { class: RigClass::BindRelative, bones, walk_from_root, products })
    }
}

/// The bind frame of a bone whose inverse bind matrix can't serve: where the rest pose puts it.
fn rest_frame(skeleton: &Skeleton, bone: BoneIndex, parent: &Frame, scale: f64) -> Frame {
    let rest = &skeleton.rest()[bone.get()];
    Frame {
        rotation: (parent.rotation * rest.rotation.as_dquat()).normalize(),
        scale,
        position: parent.position + parent.rotation * (rest.translation.as_dvec3() * parent.scale),
    }
}

/// `bind * bone_from_mesh`, or `None` when that changes nothing.
fn product(entry: &PaletteEntry, bind: &DAffine3, size: f64) -> Option<DAffine3> {
    let m = *bind * entry.bone_from_mesh.as_daffine3();
    let identity = m.matrix3.abs_diff_eq(DMat3::IDENTITY, MATRIX_TOLERANCE)
        && m.translation.abs().max_element() <= MATRIX_TOLERANCE * size;
    (!identity).then_some(m)
}

/// The longest chain of bones.
fn depth(skeleton: &Skeleton) -> usize {
    let mut depths: Vec<usize> = Vec::with_capacity(skeleton.bone_count().get());
    for parent in skeleton.parents() {
        depths.push(parent.map_or(1, |p| depths[p.get()] + 1));
    }
    depths.into_iter().max().unwrap_or(0)
}

/// Each bone's local scale, if all are uniform, positive and never animated.
fn constant_scales(skeleton: &Skeleton, clips: &[UniformClip]) -> Option<Vec<f64>> {
    let rest = skeleton.rest();
    let mut scales = Vec::with_capacity(rest.len());
    for bone in rest {
        let s = bone.scale.as_dvec3();
        let mean = s.element_sum() / 3.0;
        if mean < 1e-9 || (s - mean).abs().max_element() > SCALE_TOLERANCE * mean {
            return None;
        }
        scales.push(mean);
    }
    let constant = clips.iter().all(|clip| {
        clip.locals.chunks_exact(rest.len().max(1)).all(|frame| {
            frame.iter().zip(&scales).all(|(local, &scale)| {
                (local.scale.as_dvec3() - scale).abs().max_element() <= SCALE_TOLERANCE * scale
            })
        })
    });
    constant.then_some(scales)
}
