//! What every runtime is to this program.

use throng::math::Mat3x4;

/// Characters that one runtime animates by one workload, each with its clips and its phase.
pub trait Runtime {
    /// Animates every character once and moves the clock on by a sixtieth of a second. `frame` is
    /// how many frames came before, which every caller counts from zero without a gap.
    ///
    /// Gives nanoseconds per character.
    ///
    /// # Errors
    /// What the runtime refuses.
    fn frame(&mut self, frame: usize) -> anyhow::Result<f64>;

    /// The skinning matrices of `character` as of the last frame, one per bone. Where the workload
    /// ends at local transforms, matrices are made of these by plain code.
    ///
    /// # Errors
    /// A character that is not there.
    fn matrices(&mut self, character: usize) -> anyhow::Result<Vec<Mat3x4>>;
}
