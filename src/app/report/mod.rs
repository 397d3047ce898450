//! What a run measured: on which machine, and how series become numbers.

pub mod machine;
pub mod stats;
