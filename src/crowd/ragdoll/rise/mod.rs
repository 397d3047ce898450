//! Getting up: from how somebody lies, by way of a crouch with the feet below it, to how it stands.
//!
//! Three poses are kept: the one that the bodies have left, a crouch that is made of the standing one,
//! and the standing one, in which the animation waits. A list blends them, and puts feet where they
//! will stand and hands where they lean, by two-bone IK along paths through the air. Both the paths and
//! a lift of the whole body are worked out once, when it begins: the lists are executed ahead of
//! time, and what would be in the ground is raised until it is not (`plan.rs`). So a frame of it is
//! a dozen tasks and no search.
//!
//! Who has no legs is blended from lying to standing, and lifted.

mod crouch;
mod curve;
mod paths;
mod plan;

pub(super) use plan::Site;

use crate::index::BoneIndex;
use crate::pose::kernels::bone::{BoneMode, BoneSpace};
use crate::pose::kernels::ik::two_bone::{Limb, Reach};
use crate::task::{SnapshotId, Task, TaskError, TaskIndex, TaskList};
use curve::{Curve, between, smooth};
use glam::{Quat, Vec3};

/// Seconds of getting up for somebody with legs, and without.
const SECONDS: (f32, f32) = (2.0, 1.3);
/// Shares of getting up in which a body gathers, and in which it straightens up.
const GATHERS: (f32, f32) = (0.0, 0.5);
const STRAIGHTENS: (f32, f32) = (0.38, 1.0);

/// The kept poses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stations {
    pub lies: SnapshotId,
    pub crouches: SnapshotId,
    pub stands: SnapshotId,
}

/// How one character gets up from where it lies. Model units.
#[derive(Debug)]
pub(super) struct Rise {
    stations: Stations,
    hips: BoneIndex,
    /// What the hips are moved by.
    lift: Curve,
    paths: Vec<Path>,
}

/// Where an arm or a leg goes meanwhile.
#[derive(Debug)]
struct Path {
    limb: Limb,
    ends: Curve,
    /// Unit vectors that its middle joint bends towards.
    bends: Curve,
    sole: Option<Sole>,
}

/// How a foot is turned that is put down: when it lies, when it stands, and from when to when it gets from
/// the one to the other. Model space.
#[derive(Clone, Copy, Debug)]
struct Sole {
    rotations: [Quat; 2],
    scale: Vec3,
    lands: (f32, f32),
}

impl Rise {
    /// Seconds that it takes.
    pub fn seconds(&self) -> f32 {
        if self.paths.is_empty() { SECONDS.1 } else { SECONDS.0 }
    }

    /// Records a frame of it, so many seconds in.
    pub fn record(&self, elapsed: f32, list: &mut TaskList) -> Result<(), TaskError> {
        let share = elapsed / self.seconds();
        let mut at = self.trunk(share, list)?;
        for path in &self.paths {
            at = path.record(share, at, list)?;
        }
        list.set_output(at)?;
        list.sweep();
        Ok(())
    }

    /// Records what comes before arms and legs go their ways.
    fn trunk(&self, share: f32, list: &mut TaskList) -> Result<TaskIndex, TaskError> {
        let blended = self.blend(share, list)?;
        self.raise(share, blended, list)
    }

    fn blend(&self, share: f32, list: &mut TaskList) -> Result<TaskIndex, TaskError> {
        let Stations { lies, crouches, stands } = self.stations;
        let mut load = |snapshot| list.push(Task::LoadPoseSnapshot { snapshot });
        let (a, c) = (load(lies)?, load(stands)?);
        if self.paths.is_empty() {
            return list.push(Task::Blend { a, b: c, alpha: smooth(share) });
        }
        let b = load(crouches)?;
        let a = list.push(Task::Blend { a, b, alpha: gathered(share) })?;
        list.push(Task::Blend { a, b: c, alpha: straight(share) })
    }

    fn raise(
        &self,
        share: f32,
        source: TaskIndex,
        list: &mut TaskList,
    ) -> Result<TaskIndex, TaskError> {
        let offset = self.lift.at(share).to_array();
        let (bone, space) = (self.hips, BoneSpace::Component);
        list.push(Task::TranslateBone { source, bone, space, alpha: 1.0, offset })
    }
}

impl Path {
    fn record(
        &self,
        share: f32,
        source: TaskIndex,
        list: &mut TaskList,
    ) -> Result<TaskIndex, TaskError> {
        let target = self.ends.at(share);
        let pole = target + FAR * self.bends.at(share);
        let reach = Reach { target, pole, soften: 0.0, alpha: 1.0 };
        let source = list.push(Task::TwoBoneIk { source, limb: self.limb, reach })?;
        let Some(Sole { rotations: [lies, stands], scale, lands }) = self.sole else {
            return Ok(source);
        };
        list.push(Task::BoneTransform {
            source,
            bone: self.limb.end,
            space: BoneSpace::Component,
            mode: BoneMode::Override,
            alpha: 1.0,
            translation: target.to_array(),
            rotation: lies.slerp(stands, between(lands, share)).to_array(),
            scale: scale.to_array(),
        })
    }
}

/// Model units to a point that is in a direction wherever a limb is.
const FAR: f32 = 1e4;

/// How much of its crouch somebody has.
fn gathered(share: f32) -> f32 {
    between(GATHERS, share)
}

/// How much of its standing pose.
fn straight(share: f32) -> f32 {
    between(STRAIGHTENS, share)
}
