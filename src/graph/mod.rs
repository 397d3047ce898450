//! Rank 5: animation graphs, compiled to bytecode and interpreted.

pub mod op;
pub mod operand;
pub mod program;
mod tables;
pub mod validate;
pub mod wire;

pub use op::{Op, ScalarFn};
pub use operand::*;
pub use program::{
    AtEnd, ClockDesc, Key, MachineDesc, MaskDesc, MaskEntry, Moment, NotifyDesc, Param, ParamKind,
    Program, RootDesc, RootLock, Space1D, Space2D, StateDesc, TransitionDesc, TransitionStyle,
};
pub use validate::{Fault, PoseKind, ProgramError, ValidProgram};
pub use wire::{DecodeError, Outdated};
