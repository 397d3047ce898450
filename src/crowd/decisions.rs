//! What gates decide about a character, and why one is not evaluated.

use super::sequence::SequenceId;
use super::update_mode::UpdateMode;
use crate::index::CharacterId;
use std::fmt;

/// What a tick decided about a character.
#[derive(Clone, Debug, PartialEq)]
pub struct Decisions {
    /// What it does while nobody sees it.
    pub mode: UpdateMode,
    /// Its own mode, where somebody else decides.
    pub own: Option<UpdateMode>,
    /// The sequences that do.
    pub forced_by: Vec<SequenceId>,
    /// It is in the camera's frustum.
    pub camera: bool,
    /// It is in the shadow map's.
    pub shadow: bool,
    /// Seconds since it was last in either; infinite for one that never was.
    pub unseen: f64,
    /// Seconds for which it then goes on.
    pub grace: f64,
    /// What it holds.
    pub slot: SlotKind,
    /// It was evaluated in this tick.
    pub evaluated: bool,
    /// Frames from one evaluation to the next.
    pub every: u8,
    /// Frames until the next one.
    pub countdown: u8,
    /// Only its first bones are animated.
    pub cut: bool,
    /// The camera's distance over its bounding radius.
    pub radii: f32,
    /// Whom it follows.
    pub leader: Option<CharacterId>,
    /// Somebody follows it.
    pub leads: bool,
    /// What its bodies do, if it is down.
    pub fall: Option<FallStep>,
}

/// What a character holds while it is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotKind {
    /// Nothing.
    None,
    /// A palette, and the poses that it keeps.
    Palette {
        /// Which page.
        page: u32,
        /// Which slot of it.
        slot: u32,
    },
    /// Clocks alone.
    Clocks {
        /// Which slot.
        slot: u32,
    },
}

impl fmt::Display for SlotKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Palette { page, slot } => write!(f, "{slot} of page {page}"),
            Self::Clocks { slot } => write!(f, "{slot}, clocks alone"),
        }
    }
}

/// What somebody who is down is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FallStep {
    /// It is about to fall.
    Begins,
    /// Its bodies have it.
    Down,
    /// It gets up.
    Rises,
}

impl FallStep {
    /// For people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Begins => "begins to fall",
            Self::Down => "is down",
            Self::Rises => "gets up",
        }
    }
}

/// Why a character was not evaluated in a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Idle {
    /// It takes its pose from another one.
    Follows(CharacterId),
    /// Nobody saw it for longer than it goes on unseen.
    Unseen {
        /// Seconds since it was last seen; infinite for one that never was.
        seconds: f64,
        /// Seconds for which it goes on.
        grace: f64,
    },
    /// It is seen, and there is no memory for its palette.
    NoRoom,
    /// Its clocks alone run while nobody sees it.
    ClocksAlone,
    /// Its turn comes later.
    Waits {
        /// Frames from one turn to the next.
        every: u8,
        /// Frames until the next one.
        countdown: u8,
    },
}

impl fmt::Display for Idle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Follows(leader) => write!(f, "it takes the pose of {leader}, which it follows"),
            Self::Unseen { seconds, .. } if seconds.is_infinite() => {
                f.write_str("nobody has seen it yet")
            }
            Self::Unseen { seconds, grace } => {
                write!(f, "nobody has seen it for {seconds:.2} s; it goes on for {grace} s")
            }
            Self::NoRoom => f.write_str("it is seen, but there is no memory left for its palette"),
            Self::ClocksAlone => f.write_str("nobody sees it, so its clocks alone run"),
            Self::Waits { every, countdown: 0 } => {
                write!(f, "it is far away: its turn comes every {every} frames, next in this one")
            }
            Self::Waits { every, countdown } => {
                let plural = if countdown == 1 { "" } else { "s" };
                write!(
                    f,
                    "it is far away: its turn comes every {every} frames, next in {countdown} \
                     frame{plural}"
                )
            }
        }
    }
}

impl Decisions {
    /// Why it was not evaluated, or not posed; `None` if it was.
    pub fn idle(&self) -> Option<Idle> {
        if let Some(leader) = self.leader {
            return Some(Idle::Follows(leader));
        }
        let Self { unseen, grace, every, countdown, .. } = *self;
        match self.slot {
            SlotKind::Clocks { .. } => Some(Idle::ClocksAlone),
            _ if self.evaluated => None,
            SlotKind::Palette { .. } => Some(Idle::Waits { every, countdown }),
            SlotKind::None if self.camera || self.shadow => Some(Idle::NoRoom),
            SlotKind::None => Some(Idle::Unseen { seconds: unseen, grace }),
        }
    }
}
