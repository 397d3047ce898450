//! What can go wrong while drawing.

use super::health::GpuFault;
use super::memory::GpuMemory;

/// A frame or a renderer that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The number of samples isn't one that the device can draw with.
    #[error("{samples} samples per pixel are not possible with {format:?} here; 1 always is")]
    Samples {
        /// What was asked for.
        samples: u32,
        /// The target's format.
        format: wgpu::TextureFormat,
    },
    /// A mesh larger than one buffer of this device.
    #[error("{what} of character {name} takes {bytes} bytes, and a buffer here holds {limit}")]
    BufferTooLarge {
        /// Which buffer.
        what: &'static str,
        /// The character's name.
        name: String,
        /// Its size.
        bytes: u64,
        /// The device's limit.
        limit: u64,
    },
    /// A palette page longer than the renderer allows.
    #[error("palette page {page} has {len} matrices; the limit here is {limit}")]
    PageTooLong {
        /// Index of the page.
        page: usize,
        /// Its length in matrices.
        len: usize,
        /// The limit in matrices.
        limit: u32,
    },
    /// A page that became shorter, or a dirty range outside it.
    #[error("palette page {page} of {len} matrices can't hold the range {start}..{end}")]
    PageRange {
        /// Index of the page.
        page: usize,
        /// Its length in matrices.
        len: usize,
        /// Start of the range.
        start: u32,
        /// End of the range.
        end: u32,
    },
    /// A draw group that names what isn't there.
    #[error("a draw group names {what} {index}, and there are {count}")]
    Group {
        /// What it names.
        what: &'static str,
        /// Its index, or the end of its range.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A target without pixels or with more than a texture holds.
    #[error(
        "a picture of {width}x{height} pixels is not possible here; each side can have 1 to {limit}"
    )]
    Size {
        /// Pixels.
        width: u32,
        /// Pixels.
        height: u32,
        /// The device's limit.
        limit: u32,
    },
    /// A picture that could not be read back.
    #[error("the picture could not be read back: {0}")]
    ReadBack(String),
    /// An allocation failed.
    #[error(
        "the GPU is out of memory: {reason}; asked for so far: {held}; fewer characters (--count), \
         a smaller --size, --msaa 1 and --shadows off take less"
    )]
    OutOfMemory {
        /// What the driver refused.
        reason: String,
        /// What the renderer has asked for, the refused included.
        held: GpuMemory,
    },
    /// A fault of the device.
    #[error(transparent)]
    Fault(#[from] GpuFault),
}
