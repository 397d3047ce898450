//! Recipes of a single clip, evaluated a second time the direct way.
//!
//! Where the two agree and a pose still looks wrong, the animation data is wrong; where they do not,
//! the playback is.

use super::{Task, TaskIndex, TaskList, Transition};
use crate::index::ClipId;
use crate::math::Mat3x4;
use crate::pose::Rig;
use crate::pose::direct::{DirectPose, Distance};

/// Scratch of one thread.
#[derive(Clone, Debug, Default)]
pub struct Validator {
    direct: DirectPose,
}

/// What became of one list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The recipe is not one of a single clip.
    NotOneClip,
    /// The palette is so far from the direct one.
    Compared {
        /// The clip of the recipe.
        clip: ClipId,
        /// Seconds inside it, as recorded.
        seconds: f32,
        /// Where the two are furthest apart.
        furthest: Distance,
    },
}

impl Validator {
    /// Evaluates what the list asks for once more and holds the palette that the executor wrote
    /// against it; see [`DirectPose::furthest`] for `near`.
    pub fn check(&mut self, rig: &Rig, list: &TaskList, palette: &[Mat3x4], near: f64) -> Verdict {
        let Some((clip, seconds)) = single_clip(list) else { return Verdict::NotOneClip };
        let active = list.active(rig.bone_count());
        let posed = self.direct.pose(rig, clip, seconds, active, list.root_pin());
        let furthest = self.direct.furthest(rig, palette, near).filter(|_| posed);
        match furthest {
            Some(furthest) => Verdict::Compared { clip, seconds, furthest },
            None => Verdict::NotOneClip,
        }
    }
}

/// The clip and the time of a recipe whose output is one sample, passed on at most: saved, through
/// transitions that are over, through feet on level ground.
pub fn single_clip(list: &TaskList) -> Option<(ClipId, f32)> {
    let task = |index: TaskIndex| list.tasks().get(index.get()?);
    let mut at = task(list.output())?;
    loop {
        match *at {
            Task::SampleClip { clip, seconds } => return Some((clip, seconds)),
            Task::SavePoseSnapshot { source, .. } => at = task(source)?,
            Task::Inertialize { source, transition } | Task::DeadBlend { source, transition }
                if is_over(&transition) =>
            {
                at = task(source)?;
            }
            Task::FootIk { source, .. } if list.ground().is_none() => at = task(source)?,
            _ => return None,
        }
    }
}

fn is_over(transition: &Transition) -> bool {
    let Transition { elapsed, duration, capture, .. } = *transition;
    let running = elapsed >= 0.0 && elapsed < duration;
    !running && !capture
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{BoneCount, BoneIndex};
    use crate::pose::kernels::ik::{stand::Stance, two_bone::Limb};
    use crate::pose::testing::{self, Shape};
    use crate::pose::{GroundPatch, RootPin};
    use crate::task::tests::{MOVED, Plant};
    use crate::task::{HistoryId, SnapshotId, Worker, WorkerOptions};

    fn recipe() -> TaskList {
        let mut list = TaskList::default();
        let source = list.push(Task::SampleClip { clip: ClipId(2), seconds: 0.05 }).unwrap();
        let save = Task::SavePoseSnapshot { source, snapshot: SnapshotId(0) };
        let output = list.push(save).unwrap();
        list.set_output(output).unwrap();
        list
    }

    fn verdict(rig: &Rig, list: &mut TaskList, plant: Plant) -> Verdict {
        let mut worker = Worker::new(WorkerOptions::default());
        worker.plant = plant;
        let mut palette = vec![Mat3x4::IDENTITY; rig.palette_len()];
        let mut batch = worker.batch();
        batch.execute(rig, list, &mut palette).unwrap();
        batch.finish();
        Validator::default().check(rig, list, &palette, 0.1)
    }

    #[test]
    fn the_executor_agrees_with_the_direct_way_and_a_planted_fault_is_found_where_it_is() {
        for shape in Shape::all(40) {
            let (skeleton, clips) = testing::character(shape, 4, 9);
            let rig = Rig::new(skeleton, &clips).unwrap();
            let mut list = recipe();
            let bone = BoneIndex(0);
            let motion = RootPin::Motion { bone, x: 0.3, z: -0.2, yaw: 0.7 };
            let pins = [None, Some(RootPin::Reference(bone)), Some(motion)];
            for (cut, pinned) in [None, Some(BoneCount(17)), None].into_iter().zip(pins) {
                list.set_cut(cut);
                list.set_root_pin(pinned);
                let mut furthest = |plant| match verdict(&rig, &mut list, plant) {
                    Verdict::Compared { clip, seconds, furthest } => {
                        assert_eq!((clip, seconds), (ClipId(2), 0.05));
                        furthest
                    }
                    Verdict::NotOneClip => panic!("it is one clip"),
                };
                let right = furthest(Plant::None);
                assert!(right.distance < 1e-3, "{shape:?}: {right:?}");
                let wrong = furthest(Plant::MovedBone);
                assert!(wrong.distance > 0.9 * f64::from(MOVED.1), "{shape:?}: {wrong:?}");
                // The bone, or one that hangs on it and is carried as far.
                let parents = rig.skeleton().parents();
                let up = |b: &BoneIndex| parents[b.get()];
                let mut line = std::iter::successors(Some(wrong.bone), up);
                assert!(line.any(|b| b == MOVED.0), "{shape:?}: {wrong:?}");
            }
        }
    }

    #[test]
    fn a_clip_behind_what_does_nothing_is_still_one_clip() {
        let (skeleton, clips) = testing::character(Shape::plain(9), 3, 9);
        let rig = Rig::new(skeleton, &clips).unwrap();
        let seam = |elapsed, capture| Transition {
            history: HistoryId(0),
            elapsed,
            duration: 0.3,
            dt: 0.02,
            capture,
        };
        let stance = Stance {
            hips: BoneIndex(0),
            legs: [Limb { root: BoneIndex(1), mid: BoneIndex(2), end: BoneIndex(3) }; 2],
            alpha: 1.0,
        };
        let passed = |transition, ground| {
            let mut list = recipe();
            let source =
                list.push(Task::Inertialize { source: list.output(), transition }).unwrap();
            let source = list.push(Task::DeadBlend { source, transition }).unwrap();
            let output = list.push(Task::FootIk { source, stance }).unwrap();
            list.set_output(output).unwrap();
            list.set_ground(ground);
            match verdict(&rig, &mut list, Plant::None) {
                Verdict::Compared { furthest, .. } => {
                    assert!(furthest.distance < 1e-3, "{furthest:?}");
                    true
                }
                Verdict::NotOneClip => false,
            }
        };
        assert!(passed(seam(f32::NAN, false), None) && passed(seam(0.4, false), None));
        assert!(!passed(seam(0.1, false), None), "it is under way");
        assert!(!passed(seam(f32::NAN, true), None), "it begins");
        let slope = GroundPatch::fit(glam::Vec3::ZERO, 1.0, |at| 0.1 * at.x);
        assert!(!passed(seam(f32::NAN, false), Some(slope)), "feet are tilted");
    }

    #[test]
    fn recipes_of_other_sorts_are_left_alone() {
        let (skeleton, clips) = testing::character(Shape::plain(9), 3, 9);
        let rig = Rig::new(skeleton, &clips).unwrap();
        let mut list = recipe();
        let source = list.output();
        let output = list.push(Task::Blend { a: source, b: source, alpha: 0.5 }).unwrap();
        list.set_output(output).unwrap();
        assert_eq!(verdict(&rig, &mut list, Plant::MovedBone), Verdict::NotOneClip);
        let mut empty = TaskList::default();
        assert_eq!(verdict(&rig, &mut empty, Plant::None), Verdict::NotOneClip);
    }
}
