//! Rank 3: clocks inside clips, clips that keep step, the ground that a clip's root covers and how
//! high it is, notifies, and what somebody who falls asks for.

mod clock;
pub mod ground;
pub mod markers;
pub mod notify;
pub mod physique;
pub mod ragdoll;
pub mod root;
pub mod sync;
pub mod terrain;

pub use clock::{Advance, PlayMode, Stretch};
pub use ground::GroundMotion;
pub use markers::{MarkersError, SyncTrack};
pub use notify::{Fired, Moment, Notify, NotifyCursor, NotifyId, NotifyNames, NotifyTrack};
pub use physique::{Extremity, Physique, Shell};
pub use ragdoll::{Bodies, Fall, Footing, Ragdoll};
pub use root::{RootLock, RootTrack};
pub use sync::{GroupStep, SyncGroup};
pub use terrain::{GroundPoint, Terrain};
