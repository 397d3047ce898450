//! What a graph file may hold at most, so that none can hang the program or exhaust its memory.
//! They are far above what anybody writes and far below what hurts.

/// Bytes of a file.
pub const FILE: usize = 1 << 20;
/// Bytes of a string.
pub const STRING: usize = 2_000;
/// Entries of a table or a list.
pub const TABLE: usize = 4_096;
/// Points of a blend space.
pub const POINTS: usize = 256;
/// Values and operators of an expression.
pub const TERMS: usize = 512;
/// Brackets within brackets, in the file and in an expression.
pub const DEPTH: usize = 64;
/// The largest number, either way: with it squared there still is something to compute with.
pub const NUMBER: f32 = 1e9;
