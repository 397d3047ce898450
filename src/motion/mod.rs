//! Rank 3: clocks inside clips, the ground that a clip's root covers, and how high it is.

pub mod clock;
pub mod ground;
pub mod root;
pub mod terrain;

pub use clock::{Advance, PlayMode};
pub use ground::GroundMotion;
pub use root::RootTrack;
pub use terrain::{GroundPoint, Terrain};
