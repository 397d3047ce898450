//! What a crowd is asked for.

use super::layout::Layout;
use super::rate::Gates;
use super::replay::RecordedGraph;
use super::spawn::Spawning;
use super::update_mode::UpdateMode;
use crate::asset::{ClipMarker, ClipNotify, Surface};
use crate::graph::ValidProgram;
use crate::math::{Bounds, Lanes};
use crate::motion::{Bodies, PlayMode, RootLock, Terrain};
use crate::pose::Rig;
use std::sync::Arc;

/// How a crowd is made and run.
#[derive(Clone, Debug)]
pub struct CrowdConfig {
    /// Number of characters that are there once all have come; zero is an empty world.
    pub count: u32,
    /// How they come, and whether they go.
    pub spawning: Spawning,
    /// Decides places, looks, clips and phases.
    pub seed: u64,
    /// Where they stand and walk.
    pub layout: Layout,
    /// What they stand and walk on.
    pub terrain: Terrain,
    /// Worker threads, at least one; the caller waits while they work.
    pub threads: usize,
    /// What characters do that nobody has seen for [`CrowdConfig::grace`] seconds, until one is told
    /// otherwise ([`Crowd::set_update_mode`](super::Crowd::set_update_mode)).
    pub update_mode: UpdateMode,
    /// Seconds that a character goes on evaluating after it was last seen; finite, not negative.
    pub grace: f32,
    /// How distant characters are spared.
    pub gates: Gates,
    /// Milliseconds that evaluation may take of a frame, above 0 and finite; where it is over,
    /// distant characters are spared more.
    pub budget_ms: Option<f32>,
    /// Whoever skips frames is drawn on its way from its last pose but one to its last, and from
    /// place to place: smoother, one interval late, with a second palette for each.
    pub interpolate: bool,
    /// The instructions that the kernels use.
    pub lanes: Lanes,
    /// The executor skips tasks that the output does not depend on.
    pub prune: bool,
    /// The executor hands a buffer on to its last reader.
    pub steal: bool,
    /// How many characters fall now and then, where their kinds have bodies.
    pub ragdolls: u32,
    /// Seconds of a cross-fade between two clips; finite, not negative.
    pub fade: f32,
    /// The most matrices in one page of palette memory: what a renderer can bind at once.
    pub page_matrices: u32,
    /// Bytes that columns and palettes may take together.
    pub memory_limit: u64,
}

impl Default for CrowdConfig {
    fn default() -> Self {
        Self {
            count: 5_000,
            spawning: Spawning::default(),
            seed: 1,
            layout: Layout::Grid,
            terrain: Terrain::FLAT,
            threads: 1,
            update_mode: UpdateMode::default(),
            grace: 0.25,
            gates: Gates::default(),
            budget_ms: None,
            interpolate: false,
            lanes: Lanes::best(),
            prune: true,
            steal: true,
            ragdolls: 0,
            fade: 0.35,
            // 128 MiB, the storage binding that every adapter has.
            page_matrices: (128 << 20) / 48,
            memory_limit: u64::MAX,
        }
    }
}

/// One kind of character in the crowd.
#[derive(Clone, Debug)]
pub struct CrowdKind {
    /// For messages.
    pub name: String,
    /// Skeleton and clips.
    pub rig: Arc<Rig>,
    /// Model space, over all clips.
    pub bounds: Bounds,
    /// World metres per unit of model space; positive and finite.
    pub scale: f32,
    /// Added to model space's y before scaling, so that feet stand on y = 0.
    pub ground_offset: f32,
    /// How much of a root's motion moves the character, where a clip's does.
    pub root_lock: RootLock,
    /// One per clip of the rig, or empty for [`ClipInfo::named`] of each.
    pub clips: Vec<ClipInfo>,
    /// One list per clip of the rig, or empty for none.
    pub notifies: Vec<Vec<ClipNotify>>,
    /// One list per clip of the rig, ascending, or empty for none: what a graph keeps clips in step
    /// by.
    pub sync_markers: Vec<Vec<ClipMarker>>,
    /// What plays it.
    pub playing: Playing,
    /// What it is made of when it falls; a kind without never falls.
    pub bodies: Option<Arc<dyn Bodies>>,
    /// Its triangles, for whoever points at somebody; of a kind without, bones are what is met.
    pub surface: Option<Arc<Surface>>,
    /// Share of the crowd against the other kinds' weights; finite, not negative.
    pub weight: f32,
}

impl CrowdKind {
    /// A kind at its own scale, standing on the lowest point of its bounds.
    pub fn new(name: impl Into<String>, rig: Arc<Rig>, bounds: Bounds) -> Self {
        let ground_offset = -bounds.min.y;
        let name = name.into();
        Self {
            name,
            rig,
            bounds,
            scale: 1.0,
            ground_offset,
            root_lock: RootLock::default(),
            clips: Vec::new(),
            notifies: Vec::new(),
            sync_markers: Vec::new(),
            playing: Playing::default(),
            bodies: None,
            surface: None,
            weight: 1.0,
        }
    }
}

/// What plays a kind of character.
#[derive(Clone, Debug, Default)]
pub enum Playing {
    /// One clip after the other, each on its own; walkers go along lanes.
    #[default]
    Simple,
    /// A graph and a driver.
    Graph(Arc<ValidProgram>),
    /// Lists that a graph recorded, without it: frames of a recording, and nothing between them.
    Recorded(Arc<RecordedGraph>),
}

impl Playing {
    /// Whether its lists may scale bones, so that the rig has to keep scale.
    pub fn scales_bones(&self) -> bool {
        match self {
            Self::Simple => false,
            Self::Graph(program) => program.get().scaled_bone().is_some(),
            Self::Recorded(graph) => graph.scale,
        }
    }
}

/// Whether a clip moves its character along the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RootMotion {
    /// Yes, if its root ends far from where it began, or turned.
    #[default]
    Measured,
    /// Yes.
    On,
    /// No: the root's motion stays in the pose.
    Off,
}

impl RootMotion {
    /// The decision, given what a measurement says.
    pub fn decide(self, measured: bool) -> bool {
        match self {
            Self::Measured => measured,
            Self::On => true,
            Self::Off => false,
        }
    }
}

/// How simple playback uses a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClipInfo {
    /// What happens at its end; `None`: it loops if its last pose is its first.
    pub mode: Option<PlayMode>,
    /// Whether it moves the character.
    pub root_motion: RootMotion,
    /// How often it is chosen against the others; not negative. Zero: only when there is no other.
    pub weight: f32,
}

impl Default for ClipInfo {
    fn default() -> Self {
        Self { mode: None, root_motion: RootMotion::Measured, weight: 1.0 }
    }
}

impl ClipInfo {
    /// A guess from the clip's name: crowds mostly idle, and bind poses are not for the stage.
    pub fn named(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|w| name.contains(w));
        let weight = if has(&["tpose", "t-pose", "t_pose", "bind", "rest"]) {
            0.0
        } else if has(&["idle", "survey", "stand", "breath"]) {
            3.0
        } else if has(&["pose", "death", "die"]) {
            0.3
        } else if has(&["jump", "turn"]) {
            0.5
        } else {
            1.0
        };
        Self { weight, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_how_often_a_clip_is_played() {
        assert!(ClipInfo::named("Idle_02").weight > ClipInfo::named("wave").weight);
        assert!(ClipInfo::named("aim_pose").weight < ClipInfo::named("wave").weight);
        assert_eq!(ClipInfo::named("T-Pose").weight, 0.0);
    }
}
