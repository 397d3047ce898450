//! Why a valid file can't become a character.

use crate::pose::RigError;
use crate::pose::skeleton::SkeletonError;

/// What can go wrong between a validated source and a character.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// More bones or palette matrices than an index can name, or another fault of the skeleton.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// Clips that can't be laid out for playing.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// More clips than an index can name.
    #[error("{clips} animations are over the limit of {limit}")]
    TooManyClips {
        /// Animations of the file.
        clips: usize,
        /// The limit.
        limit: usize,
    },
    /// Mesh instances add up to more vertices than are worth holding.
    #[error("the meshes of all nodes together have {vertices} vertices, over the limit of {limit}")]
    TooManyVertices {
        /// Sum over the drawn nodes, up to the node that went over the limit.
        vertices: usize,
        /// The limit.
        limit: usize,
    },
    /// The hierarchy's numbers overflow when they are multiplied out.
    #[error("{object}: its transform in the scene overflows at rest")]
    RestOverflow {
        /// The node.
        object: String,
    },
    /// A curve's numbers overflow.
    #[error("{animation}: {node} overflows at {seconds} s")]
    ClipOverflow {
        /// The animation.
        animation: String,
        /// The node.
        node: String,
        /// When.
        seconds: f64,
    },
    /// Posed vertices whose coordinates overflow.
    #[error("{pose}: posed vertices overflow")]
    PosedOverflow {
        /// The rest pose, or the animation.
        pose: String,
    },
}
