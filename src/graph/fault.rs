//! What can be wrong with a program.

use crate::task::AdditiveSpace;
use std::fmt;

/// What is wrong with a program.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProgramError {
    /// An instruction.
    #[error("program \"{program}\", instruction {at} ({op}): {fault}")]
    Instruction {
        /// The program's name.
        program: String,
        /// Position in the code.
        at: usize,
        /// The opcode's name.
        op: &'static str,
        /// What is wrong.
        fault: Fault,
    },
    /// A table.
    #[error("program \"{program}\", {place}: {fault}")]
    Table {
        /// The program's name.
        program: String,
        /// Which row of which table.
        place: String,
        /// What is wrong.
        fault: Fault,
    },
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// A row or register that is not there.
    #[error("there is no {what} {index}, only {count}")]
    Missing {
        /// What kind.
        what: &'static str,
        /// Its number.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A register that nothing has written yet.
    #[error("{what} register {register} is read before it is written")]
    Unwritten {
        /// `scalar` or `pose`.
        what: &'static str,
        /// Its number.
        register: usize,
    },
    /// Something that has to be done exactly once.
    #[error("{what} {index} must have exactly one {op}, it has {count}")]
    NotOnce {
        /// What kind.
        what: &'static str,
        /// Its number.
        index: usize,
        /// The opcode.
        op: &'static str,
        /// How often.
        count: usize,
    },
    /// Something that may be done once.
    #[error("{what} {index} may have one {op}, it has {count}")]
    Twice {
        /// What kind.
        what: &'static str,
        /// Its number.
        index: usize,
        /// The opcode.
        op: &'static str,
        /// How often.
        count: usize,
    },
    /// Two things in the wrong order.
    #[error("{first} must come before {second}")]
    Order {
        /// What comes too late.
        first: String,
        /// What it has to precede.
        second: String,
    },
    /// A difference where a pose belongs, or the other way round.
    #[error("pose register {register} holds {found} where {wanted} belongs")]
    PoseKind {
        /// Its number.
        register: usize,
        /// What it holds.
        found: PoseKind,
        /// What it should.
        wanted: PoseKind,
    },
    /// A clip that is not its clock's.
    #[error("clock {clock} runs in clip {clock_clip}, not in clip {clip}")]
    ClockClip {
        /// The clock.
        clock: usize,
        /// Its clip.
        clock_clip: usize,
        /// The clip that is sampled.
        clip: usize,
    },
    /// A number out of its range.
    #[error("{what} is {value}; it must be {range}")]
    Number {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f32,
        /// What would be right.
        range: &'static str,
    },
    /// A table that is too short or too long.
    #[error("{count} {what}; there must be {range}")]
    Count {
        /// Of what.
        what: &'static str,
        /// How many.
        count: usize,
        /// What would be right.
        range: &'static str,
    },
    /// A name that is taken.
    #[error("the name \"{name}\" is taken")]
    Name {
        /// The name.
        name: String,
    },
    /// A clock in a sync group whose clip does not loop.
    #[error("a clip in a sync group must loop")]
    SyncMode,
}

/// What a pose register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoseKind {
    /// A whole pose.
    Pose,
    /// A difference in this space.
    Delta(AdditiveSpace),
}

impl fmt::Display for PoseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pose => "a pose",
            Self::Delta(AdditiveSpace::Local) => "a local difference",
            Self::Delta(AdditiveSpace::Mesh) => "a mesh-space difference",
        })
    }
}

/// Whether a row is there.
pub(super) fn within(what: &'static str, index: usize, count: usize) -> Result<(), Fault> {
    if index < count { Ok(()) } else { Err(Fault::Missing { what, index, count }) }
}
