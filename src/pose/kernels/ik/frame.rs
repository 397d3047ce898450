//! The spaces of bones in the model, as solvers walk them: once up to the root, then down a limb.
//!
//! Everything here is in pose space (see `basis.rs`), so that nothing is converted on the way in or
//! out. A bone's frame is what follows its parent's: the palette matrix without inverse bind where
//! poses are relative to binds, where it is rigid but for one scale of the whole; the model matrix
//! in the general class. In both, a joint lies where its parent's frame puts the bone's translation,
//! and a rotation from the left turns a bone as in its parent's space.

use crate::index::BoneIndex;
use crate::math::Trs;
use crate::pose::{Detail, Pose, Rig, RigClass};
use glam::{Affine3A, Mat3A, Quat, Vec3A};

/// Calls what is generic over frames with the one of a rig's class.
macro_rules! by_class {
    ($rig:expr, $solver:ident ( $($argument:expr),* )) => {
        match $rig.class() {
            crate::pose::RigClass::BindRelative => {
                $solver::<crate::pose::kernels::ik::frame::Rigid>($($argument),*)
            }
            crate::pose::RigClass::General => $solver::<glam::Affine3A>($($argument),*),
        }
    };
}
pub(in crate::pose::kernels) use by_class;

/// A vector turned by a rotation of unit length.
#[inline(always)]
fn rotated(rotation: Quat, v: Vec3A) -> Vec3A {
    let axis = Vec3A::from_vec4(rotation.into());
    let aside = axis.cross(v) * 2.0;
    v + aside * rotation.w + axis.cross(aside)
}

/// One bone of a pose, in pose space.
#[derive(Clone, Copy, Debug)]
pub struct Joint {
    /// Unit length.
    pub rotation: Quat,
    pub translation: Vec3A,
    /// General class only; one otherwise.
    scale: Vec3A,
    /// Minus the position of the bind frame; zero in the general class.
    minus_origin: Vec3A,
}

impl Joint {
    /// No bone in particular.
    pub const NONE: Self = Self {
        rotation: Quat::IDENTITY,
        translation: Vec3A::ZERO,
        scale: Vec3A::ONE,
        minus_origin: Vec3A::ZERO,
    };

    /// A bone of the rig.
    #[inline(always)]
    pub fn of<F: Frame>(rig: &Rig, pose: &Pose, bone: BoneIndex) -> Self {
        let translation = rig.pose_translation(pose, bone).into();
        let rotation = Quat::from_array(pose.rotation(bone)).normalize();
        match F::CLASS {
            RigClass::BindRelative => {
                let minus_origin =
                    Vec3A::from_array(rig.table(Detail::Whole).bones[bone.get()].minus_origin);
                Self { rotation, translation, minus_origin, ..Self::NONE }
            }
            RigClass::General => {
                let scale = rig.pose_scale(pose, bone).into();
                Self { rotation, translation, scale, ..Self::NONE }
            }
        }
    }
}

/// What takes pose space below a bone to somewhere above it.
pub trait Frame: Copy {
    /// The class of rigs that are walked with it.
    const CLASS: RigClass;

    /// What lies above a root, in the model.
    fn start(rig: &Rig, root: BoneIndex) -> Self;

    /// A bone's step, from below it to below its parent.
    fn step(joint: &Joint) -> Self;

    /// This frame, of what is in `inner`.
    fn then(&self, inner: &Self) -> Self;

    /// Where a joint lies whose bone has a translation.
    fn point(&self, translation: Vec3A) -> Vec3A;

    /// The translation that moves a bone by `offset` in the model; may not be finite.
    fn translation_of(&self, offset: Vec3A) -> Vec3A;

    /// Where a direction in a bone's own space points in the model, in this frame of the bone.
    fn direction(&self, rig: &Rig, bone: BoneIndex, own: Vec3A) -> Vec3A;

    /// A bone's rotation in this frame of its parent, turned about its joint by a rotation that is
    /// given in model space. A mirrored parent turns the other way round; one without volume not at
    /// all.
    fn turned(&self, rotation: Quat, by: Quat) -> Quat;

    /// The rotation of a bone in this frame of its parent with which it stands in the model as in
    /// `was`, turned by a rotation.
    fn restored(&self, joint: &Joint, was: &Self, by: Quat) -> Quat;

    /// The frame after something above it turned in the model `about` a point. Where scale may lie
    /// between the two, it has to be worked out anew.
    fn swung(&self, by: Quat, about: Vec3A, anew: impl FnOnce() -> Self) -> Self;

    /// The frame after something above it was moved in the model.
    fn shifted(&self, by: Vec3A) -> Self;

    /// A bone's frame, in this one of its parent.
    #[inline(always)]
    fn below(&self, joint: &Joint) -> Self {
        self.then(&Self::step(joint))
    }

    /// The frame of what a bone of the rig hangs on.
    #[inline(always)]
    fn above(rig: &Rig, pose: &Pose, bone: BoneIndex) -> Self {
        let Some(mut at) = parent(rig, bone) else { return Self::start(rig, bone) };
        let mut way = Self::step(&Joint::of::<Self>(rig, pose, at));
        while let Some(parent) = parent(rig, at) {
            way = Self::step(&Joint::of::<Self>(rig, pose, parent)).then(&way);
            at = parent;
        }
        Self::start(rig, at).then(&way)
    }
}

/// What a bone hangs on; `None` for a root and for what the rig does not have.
#[inline(always)]
pub fn parent(rig: &Rig, bone: BoneIndex) -> Option<BoneIndex> {
    rig.skeleton().parents().get(bone.get()).copied().flatten()
}

/// True when a bone hangs somewhere below another.
pub fn hangs_below(rig: &Rig, bone: BoneIndex, top: BoneIndex) -> bool {
    std::iter::successors(parent(rig, bone), |&at| parent(rig, at)).any(|at| at == top)
}

/// The bones between two of them; mostly none.
#[derive(Clone, Copy, Debug)]
pub struct Between<F>(Option<F>);

impl<F: Frame> Between<F> {
    /// What lies between `top` and `bone`; `None` when the one does not hang below the other.
    #[inline(always)]
    pub fn of(rig: &Rig, pose: &Pose, bone: BoneIndex, top: BoneIndex) -> Option<Self> {
        let mut at = parent(rig, bone)?;
        if at == top {
            return Some(Self(None));
        }
        let mut way = F::step(&Joint::of::<F>(rig, pose, at));
        loop {
            at = parent(rig, at)?;
            if at == top {
                return Some(Self(Some(way)));
            }
            way = F::step(&Joint::of::<F>(rig, pose, at)).then(&way);
        }
    }

    /// The frame of the lower one's parent, given that of the upper one.
    #[inline(always)]
    pub fn below(&self, top: F) -> F {
        self.0.map_or(top, |way| top.then(&way))
    }
}

/// The frame of rigs whose poses are relative to their binds: a rotation and one scale about the
/// joint, which lies far from the origin of pose space, but near to the joints that it carries.
#[derive(Clone, Copy, Debug)]
pub struct Rigid {
    rotation: Quat,
    scale: f32,
    /// Minus the joint's place in the bind pose.
    minus_origin: Vec3A,
    /// The joint's place.
    place: Vec3A,
}

impl Rigid {
    /// The rotation of a bone in the model, in its frame.
    pub fn model_rotation(&self, rig: &Rig, bone: BoneIndex) -> Quat {
        self.rotation * rig.bind_rotation(bone)
    }

    /// The rotation of a bone whose rotation in the model is `model`, in the frame of its parent.
    pub fn pose_rotation(&self, rig: &Rig, bone: BoneIndex, model: Quat) -> Quat {
        self.rotation.conjugate() * model * rig.bind_rotation(bone).conjugate()
    }
}

impl Frame for Rigid {
    const CLASS: RigClass = RigClass::BindRelative;

    #[inline(always)]
    fn start(rig: &Rig, root: BoneIndex) -> Self {
        let start = rig.start(root);
        Self {
            rotation: start.rotation.as_quat(),
            scale: start.scale as f32,
            minus_origin: Vec3A::ZERO,
            place: start.matrix.translation.as_vec3a(),
        }
    }

    #[inline(always)]
    fn step(joint: &Joint) -> Self {
        Self {
            rotation: joint.rotation,
            scale: 1.0,
            minus_origin: joint.minus_origin,
            place: joint.translation,
        }
    }

    #[inline(always)]
    fn then(&self, inner: &Self) -> Self {
        Self {
            rotation: self.rotation * inner.rotation,
            scale: self.scale * inner.scale,
            minus_origin: inner.minus_origin,
            place: self.point(inner.place),
        }
    }

    #[inline(always)]
    fn point(&self, translation: Vec3A) -> Vec3A {
        self.place + rotated(self.rotation, translation + self.minus_origin) * self.scale
    }

    #[inline(always)]
    fn translation_of(&self, offset: Vec3A) -> Vec3A {
        rotated(self.rotation.conjugate(), offset) / self.scale
    }

    #[inline(always)]
    fn direction(&self, rig: &Rig, bone: BoneIndex, own: Vec3A) -> Vec3A {
        rotated(self.rotation * rig.bind_rotation(bone), own)
    }

    #[inline(always)]
    fn turned(&self, rotation: Quat, by: Quat) -> Quat {
        self.rotation.conjugate() * (by * (self.rotation * rotation))
    }

    #[inline(always)]
    fn restored(&self, _: &Joint, was: &Self, by: Quat) -> Quat {
        self.rotation.conjugate() * (by * was.rotation)
    }

    #[inline(always)]
    fn shifted(&self, by: Vec3A) -> Self {
        Self { place: self.place + by, ..*self }
    }

    #[inline(always)]
    fn swung(&self, by: Quat, about: Vec3A, _: impl FnOnce() -> Self) -> Self {
        let place = about + rotated(by, self.place - about);
        Self { rotation: by * self.rotation, place, ..*self }
    }
}

impl Frame for Affine3A {
    const CLASS: RigClass = RigClass::General;

    #[inline(always)]
    fn start(rig: &Rig, root: BoneIndex) -> Self {
        rig.skeleton().model_from_root_parent(root)
    }

    #[inline(always)]
    fn step(joint: &Joint) -> Self {
        let Joint { rotation, translation, scale, .. } = *joint;
        let Mat3A { x_axis, y_axis, z_axis } = Mat3A::from_quat(rotation);
        let [x, y, z] = scale.to_array();
        Self { matrix3: Mat3A::from_cols(x_axis * x, y_axis * y, z_axis * z), translation }
    }

    #[inline(always)]
    fn then(&self, inner: &Self) -> Self {
        *self * *inner
    }

    #[inline(always)]
    fn point(&self, translation: Vec3A) -> Vec3A {
        self.transform_point3a(translation)
    }

    #[inline(always)]
    fn translation_of(&self, offset: Vec3A) -> Vec3A {
        self.matrix3.inverse() * offset
    }

    #[inline(always)]
    fn direction(&self, _: &Rig, _: BoneIndex, own: Vec3A) -> Vec3A {
        self.matrix3.mul_vec3a(own)
    }

    #[inline(always)]
    fn turned(&self, rotation: Quat, by: Quat) -> Quat {
        let inverse = self.matrix3.inverse();
        let sine = Vec3A::from_vec4(by.into());
        let axis = (inverse * sine).normalize_or_zero();
        let sine = sine.length().copysign(inverse.determinant());
        let turn = Quat::from_vec4((axis * sine).extend(by.w));
        if axis == Vec3A::ZERO || !turn.is_finite() {
            return rotation;
        }
        (turn * rotation).normalize()
    }

    #[inline(always)]
    fn restored(&self, joint: &Joint, was: &Self, by: Quat) -> Quat {
        let (was, is) = (direction(was), direction(&self.below(joint)));
        self.turned(joint.rotation, by * was * is.conjugate())
    }

    #[inline(always)]
    fn shifted(&self, by: Vec3A) -> Self {
        Self { translation: self.translation + by, ..*self }
    }

    #[inline(always)]
    fn swung(&self, _: Quat, _: Vec3A, anew: impl FnOnce() -> Self) -> Self {
        anew()
    }
}

fn direction(model: &Affine3A) -> Quat {
    Trs::from_affine(model).rotation
}
