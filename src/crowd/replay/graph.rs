//! Kinds of character whose graphs are not there: what a recording says of them.

use super::header::{InPlaceClip, RecordedGraph};
use crate::crowd::error::CrowdError;
use crate::crowd::graph::{ROOM, kept_poses};
use crate::crowd::kind::Kind;
use crate::index::ClipId;
use crate::task::serial::Extents;
use crate::task::{Masks, PoseState};

impl Kind {
    /// What its graph gives to the lists that it records; `None` for one that no graph plays.
    pub fn recorded_graph(&self) -> Option<RecordedGraph> {
        let graph = self.graph.as_ref()?;
        let program = graph.bound.program();
        let bones = self.rig.bone_count();
        let weights = |mask: &crate::pose::kernels::masked::Mask| {
            bones.bones().map(|bone| mask.weight(bone)).collect()
        };
        Some(RecordedGraph {
            name: program.name.clone(),
            scale: self.rig.has_scale(),
            histories: program.histories() as u16,
            snapshots: program.snapshots.len() as u16,
            room: if graph.bound.moves() { ROOM } else { 0.0 },
            in_place: self.in_place_clips(),
            masks: graph.bound.masks().iter().map(weights).collect(),
        })
    }

    /// Lets lists of a recording play this kind as those of its graph did.
    ///
    /// # Errors
    /// [`CrowdError::Recording`] where the kind is not what it was.
    pub fn bind_recorded(&mut self, of: &RecordedGraph) -> Result<(), CrowdError> {
        let refuse = |what: String| Err(CrowdError::Recording { kind: self.name.clone(), what });
        if self.rig.has_scale() != of.scale {
            return refuse("its poses are kept with another scale".to_owned());
        }
        let bones = self.rig.bone_count();
        if let Some(mask) = of.masks.iter().find(|mask| mask.len() != bones.get()) {
            return refuse(format!("masks of {} bones, and it has {}", mask.len(), bones.get()));
        }
        self.keep_in_place();
        let here = self.in_place_clips();
        if here != of.in_place {
            let (here, then) = (here.len(), of.in_place.len());
            let what = format!("{then} clips moved it in another way, and {here} do now");
            return Err(CrowdError::Recording { kind: self.name.clone(), what });
        }
        let mut masks = Masks::default();
        for weights in &of.masks {
            // A header's masks are no more than an id can name.
            masks.add(bones, weights);
        }
        self.walks_freely(of.room);
        self.slot.poses = Some(kept_poses(of.histories.into(), of.snapshots.into(), &self.rig));
        self.recorded = Some(masks);
        Ok(())
    }

    /// The clips that are kept in place behind the asset's own.
    fn in_place_clips(&self) -> Vec<InPlaceClip> {
        let own = self.clips.len();
        let moving = self.clips.iter().zip(0u16..).filter(|(clip, _)| clip.root.is_some());
        let of = |(_, clip)| {
            let (clip, lock) = (ClipId(clip), self.root_lock);
            Some(InPlaceClip { clip, root: self.root?, lock })
        };
        // A rig that was full has fewer.
        moving.filter_map(of).take(self.rig.clip_count().saturating_sub(own)).collect()
    }

    /// What the indices in its characters' lists may name.
    pub fn extents(&self) -> Extents {
        let kept = self.slot.poses.as_ref();
        Extents {
            bones: self.rig.bone_count().get(),
            clips: self.rig.clip_count(),
            masks: self.masks().iter().count(),
            histories: kept.map_or(0, PoseState::histories),
            snapshots: kept.map_or(0, PoseState::snapshots),
        }
    }
}
