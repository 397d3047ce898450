//! Rank 6: ragdolls. The one layer that names rapier.
//!
//! [`Skeletal`] is what a kind of character is made of when it falls: capsules around the bones that
//! carry enough skin, joints between them, and how far each of these turns. A character that falls
//! gets a world of its own out of it ([`motion::Ragdoll`](crate::motion::Ragdoll)), with nobody
//! else in it: what becomes of it depends on nothing but its fall, so any thread may step it, many
//! step at once, and two runs agree bit for bit (rapier's `enhanced-determinism`).
//!
//! Bodies are simulated in units of their own in which every character is about as tall as a man, so
//! that tolerances mean the same to all; weight is scaled to match.

mod axes;
mod begin;
mod capsule;
mod convert;
mod ground;
mod joints;
mod limbs;
mod parts;
mod ragdoll;
mod skeletal;
mod skin;
mod solver;

pub use skeletal::Skeletal;

/// How tall, or broad, everybody is in the simulation's own units.
const STATURE: f32 = 1.8;
/// Seconds of one substep.
const SUBSTEP: f32 = 1.0 / 120.0;

#[cfg(test)]
mod tests;
