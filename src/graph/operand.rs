//! What opcodes name: registers by what is done with them, and rows of the program's tables.

use crate::index::typed_index;

typed_index!(
    /// A row of [`Program::consts`](super::Program::consts).
    ConstId(u16)
);
typed_index!(
    /// A row of [`Program::params`](super::Program::params).
    ParamId(u16)
);
typed_index!(
    /// A row of [`Program::keys`](super::Program::keys).
    KeyId(u16)
);
typed_index!(
    /// A row of [`Program::clips`](super::Program::clips).
    ClipRef(u16)
);
typed_index!(
    /// A row of [`Program::bones`](super::Program::bones).
    BoneRef(u16)
);
typed_index!(
    /// A row of [`Program::masks`](super::Program::masks).
    MaskRef(u16)
);
typed_index!(
    /// A row of [`Program::clocks`](super::Program::clocks).
    ClockId(u16)
);
typed_index!(
    /// A row of [`Program::sync_groups`](super::Program::sync_groups).
    GroupId(u16)
);
typed_index!(
    /// A row of [`Program::machines`](super::Program::machines).
    MachineId(u16)
);
typed_index!(
    /// A state of one machine: a row of [`MachineDesc::states`](super::MachineDesc::states).
    StateId(u16)
);
typed_index!(
    /// A row of [`Program::spaces_1d`](super::Program::spaces_1d).
    Space1DId(u16)
);
typed_index!(
    /// A row of [`Program::spaces_2d`](super::Program::spaces_2d).
    Space2DId(u16)
);
typed_index!(
    /// One of [`Program::smooths`](super::Program::smooths) smoothed values.
    SmoothId(u16)
);
typed_index!(
    /// One of [`Program::seams`](super::Program::seams) transitions outside of state machines.
    SeamId(u16)
);
typed_index!(
    /// A row of [`Program::snapshots`](super::Program::snapshots).
    SnapshotRef(u16)
);

typed_index!(
    /// A scalar register that is read.
    Scalar(u16)
);
typed_index!(
    /// Three scalar registers in a row that are read: x, y, z. The number of the first.
    Vector(u16)
);
typed_index!(
    /// Ten scalar registers in a row that are read: translation, rotation (xyzw, of any length),
    /// scale. The number of the first.
    Transform(u16)
);
typed_index!(
    /// A scalar register that is written.
    ScalarOut(u16)
);
typed_index!(
    /// A pose register that is read.
    PoseIn(u16)
);
typed_index!(
    /// Pose registers in a row that are read, one per point of a blend space. The number of the
    /// first.
    PosesIn(u16)
);
typed_index!(
    /// A pose register that is written.
    PoseOut(u16)
);

/// The bones of a limb: `end` hangs on `mid`, `mid` on `root`, others may lie between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimbRef {
    /// Upper bone.
    pub root: BoneRef,
    /// Lower bone.
    pub mid: BoneRef,
    /// What is to get to the target.
    pub end: BoneRef,
}

impl LimbRef {
    /// Its bones, from the root on.
    pub const fn bones(self) -> [BoneRef; 3] {
        [self.root, self.mid, self.end]
    }
}

impl From<[BoneRef; 3]> for LimbRef {
    fn from([root, mid, end]: [BoneRef; 3]) -> Self {
        Self { root, mid, end }
    }
}

impl ScalarOut {
    /// The register, to be read.
    pub const fn read(self) -> Scalar {
        Scalar(self.0)
    }
}

impl PoseOut {
    /// The register, to be read.
    pub const fn read(self) -> PoseIn {
        PoseIn(self.0)
    }
}

/// One operand of an opcode, by what it means: what validation checks and a listing shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// An operand that may be left out, and is.
    None,
    /// Scalar registers that are read.
    Scalars {
        /// The first.
        first: u16,
        /// How many in a row.
        count: u16,
    },
    /// A scalar register that is written.
    ScalarOut(ScalarOut),
    /// A pose register that is read.
    Pose(PoseIn),
    /// Pose registers that are read, one per point of the blend space named by another operand.
    Poses(PosesIn),
    /// A pose register that is written.
    PoseOut(PoseOut),
    /// A constant.
    Const(ConstId),
    /// A parameter.
    Param(ParamId),
    /// A clip.
    Clip(ClipRef),
    /// A bone.
    Bone(BoneRef),
    /// Three bones.
    Limb(LimbRef),
    /// A mask.
    Mask(MaskRef),
    /// A clock.
    Clock(ClockId),
    /// A sync group.
    Group(GroupId),
    /// A state machine.
    Machine(MachineId),
    /// A blend space of one dimension.
    Space1D(Space1DId),
    /// A blend space of two dimensions.
    Space2D(Space2DId),
    /// A smoothed value.
    Smooth(SmoothId),
    /// A transition outside of state machines.
    Seam(SeamId),
    /// A snapshot.
    Snapshot(SnapshotRef),
    /// A small number.
    Count(u8),
    /// One of a few ways, by its name.
    Way(&'static str),
}

/// An operand's type: what it means and how it is written down.
pub(super) trait Field: super::wire::Wire {
    fn operand(&self) -> Operand;

    /// Other names for the registers that it names, if it names any.
    fn rename(&mut self, _: &mut impl Rename) {}
}

/// Gives registers other names.
pub(super) trait Rename {
    /// Scalar registers in a row that are read; the first one's name.
    fn scalars(&mut self, first: u16, count: u16) -> u16;
    /// A scalar register that is written.
    fn scalar_out(&mut self, register: ScalarOut) -> ScalarOut;
    /// A pose register that is read.
    fn pose(&mut self, register: PoseIn) -> PoseIn;
    /// The pose registers of a blend space's points.
    fn poses(&mut self, first: PosesIn) -> PosesIn;
    /// A pose register that is written.
    fn pose_out(&mut self, register: PoseOut) -> PoseOut;
}

/// Fields, and the operand each stands for; of registers, how they are given another name.
macro_rules! fields {
    ($($ty:ident => $operand:expr $(, |$this:ident, $names:ident| $rename:expr)?;)*) => {
        $(
            impl Field for $ty {
                fn operand(&self) -> Operand {
                    let make: fn($ty) -> Operand = $operand;
                    make(*self)
                }

                $(fn rename(&mut self, $names: &mut impl Rename) {
                    let $this = *self;
                    *self = $rename;
                })?
            }
        )*
    };
}

fields! {
    Scalar => |r| Operand::Scalars { first: r.0, count: 1 }, |r, names| Self(names.scalars(r.0, 1));
    Vector => |r| Operand::Scalars { first: r.0, count: 3 }, |r, names| Self(names.scalars(r.0, 3));
    Transform => |r| Operand::Scalars { first: r.0, count: 10 },
        |r, names| Self(names.scalars(r.0, 10));
    ScalarOut => Operand::ScalarOut, |r, names| names.scalar_out(r);
    PoseIn => Operand::Pose, |r, names| names.pose(r);
    PosesIn => Operand::Poses, |r, names| names.poses(r);
    PoseOut => Operand::PoseOut, |r, names| names.pose_out(r);
    ConstId => Operand::Const;
    ParamId => Operand::Param;
    ClipRef => Operand::Clip;
    BoneRef => Operand::Bone;
    LimbRef => Operand::Limb;
    MaskRef => Operand::Mask;
    ClockId => Operand::Clock;
    GroupId => Operand::Group;
    MachineId => Operand::Machine;
    Space1DId => Operand::Space1D;
    Space2DId => Operand::Space2D;
    SmoothId => Operand::Smooth;
    SeamId => Operand::Seam;
    SnapshotRef => Operand::Snapshot;
    u8 => Operand::Count;
}

impl<T: Field> Field for Option<T> {
    fn operand(&self) -> Operand {
        self.as_ref().map_or(Operand::None, Field::operand)
    }

    fn rename(&mut self, names: &mut impl Rename) {
        if let Some(field) = self {
            field.rename(names);
        }
    }
}
