//! The workloads, one pass over all characters at a time: through task lists and their executor, and
//! through plain code. `throng bench pose` measures them at every level; `benches/peers` measures them
//! beside other runtimes.

use super::baseline::PlainRig;
use super::workload::{self, BONES, Part};
use crate::index::{BoneCount, ClipId};
use crate::math::huge::reserve_huge;
use crate::math::{Lanes, Mat3x4};
use crate::pose::kernels::sample;
use crate::pose::{ClipStore, Pose, Rig, RigOptions};
use crate::task::{AdditiveSpace, Task, TaskError, TaskIndex, TaskList, Worker};
use std::time::Instant;

/// How far the second clip is blended in, 0 to 1.
pub const BLEND: f32 = 0.4;
/// How much of the third clip's difference from its first frame is added, 0 to 1.
pub const ADD: f32 = 0.6;
/// Characters that are recorded before they are executed; a multiple of a batch.
const CHUNK: usize = 80;

/// What is done for each character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Samples one clip.
    Sample,
    /// Samples one clip and makes skinning matrices of it.
    SampleResolve,
    /// Samples two clips, blends them, makes matrices.
    Blend2Resolve,
    /// Samples two clips, blends them, adds a third one as a difference, makes matrices.
    Blend2AddResolve,
}

impl Workload {
    /// All of them, cheapest first.
    pub const ALL: [Self; 4] =
        [Self::Sample, Self::SampleResolve, Self::Blend2Resolve, Self::Blend2AddResolve];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::SampleResolve => "sample_resolve",
            Self::Blend2Resolve => "blend2_resolve",
            Self::Blend2AddResolve => "blend2_add_resolve",
        }
    }
}

/// The character of [`workload`], ready for the executor and for plain code.
#[derive(Debug)]
pub struct Rigs {
    /// For the executor, clips as 16-bit numbers.
    pub rig: Rig,
    /// For the executor, clips as 32-bit numbers.
    pub full: Rig,
    /// For plain code.
    pub plain: PlainRig,
    /// Each clip's difference from its own first frame; as many as clips, in their order.
    pub additives: Vec<ClipId>,
}

impl Rigs {
    /// Makes the character with `clips` clips.
    ///
    /// # Errors
    /// Those of the skeleton and of the rig; none for a character that is in order.
    pub fn new(clips: u16) -> anyhow::Result<Self> {
        let (skeleton, sources) = workload::character(clips.into())?;
        let plain = PlainRig::new(&skeleton, &sources);
        let differences: Vec<_> = (0..clips).map(|c| (ClipId(c), Some((ClipId(c), 0.0)))).collect();
        let stored = |store: ClipStore| -> anyhow::Result<(Rig, Vec<ClipId>)> {
            let stores = vec![store; sources.len()];
            let options = RigOptions { stores: &stores, ..RigOptions::default() };
            let mut rig = Rig::with(skeleton.clone(), &sources, options)?;
            let additives = rig.add_additives(&differences).unwrap_or_default();
            Ok((rig, additives))
        };
        let (rig, additives) = stored(ClipStore::I16)?;
        let (full, _) = stored(ClipStore::F32)?;
        Ok(Self { rig, full, plain, additives })
    }

    /// The rig whose clips are stored so.
    pub fn stored(&self, store: ClipStore) -> &Rig {
        match store {
            ClipStore::F32 => &self.full,
            ClipStore::I16 => &self.rig,
        }
    }
}

/// What a pass through the executor took, in nanoseconds per character.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassTime {
    /// Recording the lists and sweeping them.
    pub record_ns: f64,
    /// From lists to palettes in memory. Nothing but this for [`Workload::Sample`].
    pub execute_ns: f64,
}

/// Characters that take turns, and the room that they need.
#[derive(Debug)]
pub struct Passes<'a> {
    rigs: &'a Rigs,
    parts: Vec<Part>,
    palettes: Vec<Mat3x4>,
    lists: Vec<TaskList>,
    /// Where samples go that nobody resolves; as many as wait in a batch.
    poses: Vec<Pose>,
}

impl<'a> Passes<'a> {
    /// `characters` of the rigs' character, each with its own [`Part`].
    pub fn new(rigs: &'a Rigs, characters: usize) -> Self {
        let clips = rigs.additives.len();
        // As the crowd keeps them; without room for it, `resize` says so and ends.
        let mut palettes = Vec::new();
        let _ = reserve_huge(&mut palettes, characters * BONES);
        palettes.resize(characters * BONES, Mat3x4::IDENTITY);
        let mut poses = vec![Pose::default(); 8];
        poses.iter_mut().for_each(|pose| pose.fit(rigs.rig.shape()));
        Self {
            rigs,
            parts: (0..characters).map(|c| Part::of(c, clips)).collect(),
            palettes,
            lists: vec![TaskList::default(); CHUNK],
            poses,
        }
    }

    /// The matrices of the last pass that made some, [`BONES`] per character.
    pub fn palettes(&self) -> &[Mat3x4] {
        &self.palettes
    }

    /// One pass of plain code, `frame` sixtieths of a second after the start. Gives nanoseconds per
    /// character.
    pub fn plain(&mut self, workload: Workload, frame: usize) -> f64 {
        let mut scratch = self.rigs.plain.scratch();
        let palettes = self.palettes.chunks_exact_mut(BONES);
        let start = Instant::now();
        for (part, palette) in self.parts.iter().zip(palettes) {
            let seconds = part.seconds(frame);
            let [first, second, third] = part.clips;
            self.rigs.plain.sample(first, seconds, &mut scratch);
            if matches!(workload, Workload::Blend2Resolve | Workload::Blend2AddResolve) {
                self.rigs.plain.blend(second, seconds, BLEND, &mut scratch);
            }
            if workload == Workload::Blend2AddResolve {
                self.rigs.plain.add(third, seconds, ADD, &mut scratch);
            }
            match workload {
                Workload::Sample => drop(std::hint::black_box(&mut scratch)),
                _ => self.rigs.plain.resolve(&mut scratch, palette),
            }
        }
        start.elapsed().as_nanos() as f64 / self.parts.len() as f64
    }

    /// One pass through task lists and `worker`, `frame` sixtieths of a second after the start, over
    /// 16-bit clips.
    ///
    /// # Errors
    /// Those of recording and executing; none for lists that are in order.
    pub fn ours(
        &mut self,
        workload: Workload,
        worker: &mut Worker,
        frame: usize,
    ) -> Result<PassTime, TaskError> {
        self.ours_stored(ClipStore::I16, workload, worker, frame)
    }

    /// As [`Self::ours`], over clips that are stored so.
    ///
    /// # Errors
    /// As for [`Self::ours`].
    pub fn ours_stored(
        &mut self,
        store: ClipStore,
        workload: Workload,
        worker: &mut Worker,
        frame: usize,
    ) -> Result<PassTime, TaskError> {
        let rig = self.rigs.stored(store);
        if workload == Workload::Sample {
            let execute_ns = self.sample(rig, worker.options().lanes, frame);
            return Ok(PassTime { record_ns: 0.0, execute_ns });
        }
        let (mut record_ns, mut execute_ns) = (0, 0);
        let palettes = self.palettes.chunks_mut(CHUNK * BONES);
        for (parts, palettes) in self.parts.chunks(CHUNK).zip(palettes) {
            let start = Instant::now();
            for (part, list) in parts.iter().zip(&mut self.lists) {
                list.clear();
                record(workload, part, &self.rigs.additives, part.seconds(frame), list)?;
            }
            record_ns += start.elapsed().as_nanos();
            let start = Instant::now();
            let mut batch = worker.batch();
            let palettes = palettes.chunks_exact_mut(BONES);
            for (list, palette) in self.lists.iter_mut().zip(palettes) {
                batch.execute(rig, list, palette)?;
            }
            batch.finish();
            execute_ns += start.elapsed().as_nanos();
        }
        let per_character = |ns: u128| ns as f64 / self.parts.len() as f64;
        Ok(PassTime { record_ns: per_character(record_ns), execute_ns: per_character(execute_ns) })
    }

    fn sample(&mut self, rig: &Rig, lanes: Lanes, frame: usize) -> f64 {
        let start = Instant::now();
        for (at, part) in self.parts.iter().enumerate() {
            if let Some(clip) = rig.clip(ClipId(part.clips[0] as u16)) {
                let pose = &mut self.poses[at % 8];
                sample::sample(lanes, clip, part.seconds(frame), BoneCount(BONES as u16), pose);
            }
        }
        start.elapsed().as_nanos() as f64 / self.parts.len() as f64
    }
}

/// Appends a character's tasks to a list and ends its recording.
pub(super) fn record(
    workload: Workload,
    part: &Part,
    additives: &[ClipId],
    seconds: f32,
    list: &mut TaskList,
) -> Result<(), TaskError> {
    let [first, second, third] = part.clips;
    let sample = |list: &mut TaskList, clip: usize| {
        list.push(Task::SampleClip { clip: ClipId(clip as u16), seconds })
    };
    let mut output = sample(list, first)?;
    if workload != Workload::SampleResolve {
        let b = sample(list, second)?;
        output = list.push(Task::Blend { a: output, b, alpha: BLEND })?;
    }
    if workload == Workload::Blend2AddResolve {
        let delta = match additives.get(third) {
            Some(clip) => list.push(Task::SampleClip { clip: *clip, seconds })?,
            None => TaskIndex::NONE,
        };
        let space = AdditiveSpace::Local;
        output = list.push(Task::ApplyAdditive { base: output, delta, alpha: ADD, space })?;
    }
    list.set_output(output)?;
    list.sweep();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::WorkerOptions;

    /// What a workload's palette must be, by the plain code; ours goes through the executor.
    #[test]
    fn the_plain_code_and_the_executor_agree_on_every_workload() {
        let rigs = Rigs::new(4).unwrap();
        let mut passes = Passes::new(&rigs, 19);
        for workload in &Workload::ALL[1..] {
            passes.plain(*workload, 7);
            let expected = passes.palettes.clone();
            let stores = [ClipStore::F32, ClipStore::I16];
            for (lanes, store) in Lanes::all().flat_map(|l| stores.map(|s| (l, s))) {
                passes.palettes.fill(Mat3x4::IDENTITY);
                let options = WorkerOptions { lanes, ..WorkerOptions::default() };
                passes.ours_stored(store, *workload, &mut Worker::new(options), 7).unwrap();
                for (a, b) in passes.palettes.iter().zip(&expected) {
                    assert!(
                        a.to_affine().abs_diff_eq(b.to_affine(), 2e-3),
                        "{}: {a:?} {b:?}",
                        workload.name()
                    );
                }
            }
        }
    }
}
