//! Rank 5: animation graphs, compiled to bytecode and interpreted.
//!
//! A [`Program`] is a graph's opcodes and tables. Validated and bound to a rig it is shared by all
//! characters of a kind; each of them keeps a row of words: parameters, clocks, machines. An
//! evaluation runs over a row what decides (scalars, clocks, transitions), as far as current states
//! need it, and then records a task for each pose that the output depends on. Nothing here computes
//! a pose. A program comes from a file through [`compile()`], or from whoever fills its tables.
//!
//! ```
//! # use throng::index::{BoneCount, BoneIndex};
//! # use throng::math::Trs;
//! # use throng::pose::{PaletteEntry, Rig, Skeleton, UniformClip, skeleton::SkeletonParts};
//! use std::sync::Arc;
//! use throng::graph::{Program, Target, VmScratch};
//! use throng::motion::NotifyNames;
//! use throng::task::TaskList;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let skeleton = Skeleton::new(SkeletonParts {
//! #     names: vec!["root".into()],
//! #     parents: vec![None],
//! #     rest: vec![Trs::IDENTITY],
//! #     model_from_root_parent: vec![Default::default()],
//! #     palette: vec![PaletteEntry { bone: BoneIndex(0), bone_from_mesh: Default::default() }],
//! #     low_detail_bone_count: BoneCount(1),
//! # })?;
//! # let clips: [UniformClip; 0] = [];
//! # let rig = Rig::new(skeleton, &clips)?;
//! let program = Program::bind_pose("example");
//! let bytes = program.to_bytes();
//! let program = Arc::new(Program::from_bytes(&bytes)?.validate()?);
//! // Once per kind of character.
//! let target = Target { rig: &rig, clips: &[], names: &mut NotifyNames::default() };
//! let bound = program.bind(target)?;
//! // Once per character.
//! let mut row = vec![0; bound.words()];
//! bound.start(&mut row, 0.0)?;
//! // Every frame.
//! let (mut scratch, mut list) = (VmScratch::default(), TaskList::default());
//! let motion = bound.evaluate(&mut row, 1.0 / 60.0, &mut scratch, &mut list)?;
//! # assert_eq!(list.len(), 1);
//! # Ok(())
//! # }
//! ```

pub mod bind;
pub mod builtin;
mod clocks;
pub mod compile;
mod control;
mod define;
mod demand;
mod expression;
pub mod fault;
pub mod file;
mod finish;
pub mod function;
mod groups;
pub mod instance;
pub mod listing;
pub mod load;
pub mod look;
mod machine;
pub mod op;
pub mod operand;
mod plan;
mod pose_ops;
pub mod program;
mod scratch;
mod shapes;
mod space;
pub mod starter;
pub mod succession;
mod tables;
#[cfg(test)]
mod tests;
pub mod validate;
pub mod vm;
pub mod watch;
mod wide;
pub mod wire;

pub use bind::{BindError, BoundProgram, ClipBinding, MovingClip, Target};
pub use builtin::{BUILTINS, MADE_FOR, builtin_for, builtin_text};
pub use compile::{Compiled, Places, Warning, compile};
pub use fault::{Fault, PoseKind, ProgramError};
pub use file::{FileFault, GraphError, Known};
pub use function::ScalarFn;
pub use listing::Listing;
pub use load::{GraphFile, LoadError, load};
pub use look::{ClockLook, Look, MachineLook, TransitionLook};
pub use op::Op;
pub use operand::*;
pub use program::{
    AtEnd, ClockDesc, FASTEST, Key, MachineDesc, MarkerDesc, MarkersDesc, MaskDesc, MaskEntry,
    Moment, NotifyDesc, Param, ParamKind, Program, RootDesc, RootMode, Space1D, Space2D, StateDesc,
    TransitionDesc, TransitionStyle,
};
pub use scratch::VmScratch;
pub use starter::{STARTER_CLIPS, StarterClip, starter};
pub use succession::Succession;
pub use validate::ValidProgram;
pub use vm::{EvaluateError, FARTHEST, Instance, LARGEST};
pub use watch::Watch;
pub use wide::LANES;
pub use wire::{DecodeError, Outdated};
