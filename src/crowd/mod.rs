//! Rank 6: instances, gates and the schedule of the phases.

pub mod draw;

pub use draw::{CrowdDraw, DrawGroup, InstanceRecord, Page};
