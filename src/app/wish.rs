//! What the user asks for, by a key or in the overlay.

use super::cli::{CameraArg, ColorArg};
use super::picked::Deed;
use super::switches::Switches;
use std::path::PathBuf;

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
    /// The view that the crowd is culled for stays where it is, or goes with the camera.
    Freeze(bool),
    /// So many characters.
    Count(u32),
    /// What colours tell.
    ColorBy(ColorArg),
    /// What colours tell next.
    NextColor,
    /// The character of a file joins.
    Join(PathBuf),
    /// Something is done with whom the user looks at.
    Picked(Deed),
    /// Switches as they are to be.
    Switch(Switches),
}
