//! What the user asks for, by a key or in the overlay.

use super::cli::CameraArg;
use super::switches::Switches;

/// Something that the user asked for. Keys are heeded at once; what is asked for in the overlay
/// begins with the next frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// The world stops, or goes on.
    Pause,
    /// One step of the world, which stands still then.
    Step,
    /// Double the speed.
    Faster,
    /// Halve the speed.
    Slower,
    /// World seconds per real second.
    Speed(f64),
    /// Jump in time, seconds.
    Seek(f64),
    /// Everyone does something else.
    NextClip,
    /// Another camera.
    Camera(CameraArg),
    /// Switches as they are to be.
    Switch(Switches),
}
