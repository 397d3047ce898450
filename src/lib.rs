//! Throng puts thousands of glTF skeletal characters on screen and shows what each of them costs.
//!
//! The crate is the whole program; the binary only calls [`app`]. Its modules are layers: a file
//! imports from lower ranks or from its own folder only, and `tests/layering` holds it to that.
//!
//! | rank | modules | what they know |
//! |---|---|---|
//! | 0 | [`index`], [`profile`], [`math`] | typed indices, zones and phases, vectors |
//! | 1 | [`pose`] | skeletons, clips, poses and the kernels over them |
//! | 2 | [`asset`] | files in, characters out |
//! | 3 | [`motion`] | clocks, sync groups, root motion, notifies, the ground |
//! | 4 | [`task`] | recorded pose operations and their executor |
//! | 5 | [`graph`] | animation graphs: files, compiler, bytecode and its interpreter |
//! | 6 | [`physics`], [`crowd`] | ragdolls; instances, gates, the schedule of the phases |
//! | 7 | [`render`] | wgpu |
//! | 8 | [`app`] | flags, window, headless run, report |

pub mod app;
pub mod asset;
pub mod crowd;
pub mod graph;
pub mod index;
pub mod math;
pub mod motion;
pub mod physics;
pub mod pose;
pub mod profile;
pub mod render;
pub mod task;
