//! Rank 3: clocks inside clips, and the ground that a clip's root covers.

pub mod clock;
pub mod ground;
pub mod root;

pub use clock::{Advance, PlayMode};
pub use ground::GroundMotion;
pub use root::RootTrack;
