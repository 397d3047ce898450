//! Clips at a uniform frame rate.

use crate::math::Trs;

/// A clip as the importer hands it over: every bone's local transform at every frame.
///
/// Frame `i` stands at `i / rate_hz` seconds, so a clip of `n` frames lasts `(n - 1) / rate_hz`;
/// one frame is a still. Rotations of one bone lie in the same hemisphere from frame to frame.
#[derive(Clone, Debug)]
pub struct UniformClip {
    /// Name, unique within its character.
    pub name: String,
    /// Frames a second; positive and finite.
    pub rate_hz: f32,
    /// Number of frames, at least one.
    pub frame_count: usize,
    /// `frame_count * bone_count` local transforms, frame-major, in the skeleton's bone order.
    pub locals: Vec<Trs>,
    /// Largest distance in metres (model space) between a bone's tip in the source's own curves and
    /// in the clip as it is played, which is these frames or what a smaller store makes of them.
    pub max_error_m: f32,
}

impl UniformClip {
    /// Length in seconds; zero for a still.
    pub fn seconds(&self) -> f32 {
        (self.frame_count.max(1) - 1) as f32 / self.rate_hz
    }
}
