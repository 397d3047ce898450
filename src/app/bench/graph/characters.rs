//! Characters that a graph plays, one pass over all of them at a time.

use crate::asset::CharacterAsset;
use crate::graph::{
    BoundProgram, ClipBinding, Instance, KeyId, MovingClip, Target, VmScratch, compile,
};
use crate::index::{BoneIndex, ClipId};
use crate::math::Mat3x4;
use crate::math::huge::reserve_huge;
use crate::motion::{NotifyNames, RootLock, RootTrack};
use crate::pose::Rig;
use crate::task::{Context, PoseState, TaskList, Worker, WorkerOptions};
use std::sync::Arc;
use std::time::Instant;

/// Lists that are recorded before they are executed; a multiple of a resolve batch.
const CHUNK: usize = 64;
/// Seconds of a frame.
const DT: f32 = 1.0 / 60.0;
/// Frames that a character stays in a mood.
const STAY: usize = 90;
/// What characters are told by turns: speed (m/s), spin, wave, aim or sit, look.
const MOODS: [(f32, f32, f32, f32, f32); 8] = [
    (0.0, 0.0, 0.0, 0.0, 1.0),
    (1.4, 0.0, 0.0, 0.0, 0.0),
    (3.4, 0.0, 0.0, 0.0, 0.0),
    (1.2, 0.4, 0.0, 0.0, 0.0),
    (0.0, 0.0, 1.0, 0.0, 1.0),
    (1.4, -0.3, 0.0, 0.0, 0.0),
    (0.0, 0.8, 0.0, 1.0, 0.0),
    (-1.0, 0.0, 0.0, 0.0, 0.0),
];
/// The mood that begins with a jump.
const JUMPS: usize = 3;
/// Metres that a root must cover in a clip to move its character.
const TRAVEL: f32 = 0.2;

/// A graph that is bound to its character.
pub struct Subject {
    rig: Rig,
    bound: BoundProgram,
}

impl Subject {
    /// Compiles a graph and binds it. Clips whose root travels move the character.
    pub fn new(name: &str, text: &str, asset: &CharacterAsset) -> anyhow::Result<Self> {
        let program = Arc::new(compile(name, text)?.program);
        let mut rig = Rig::new(asset.skeleton.clone(), &asset.clips)?;
        let root = asset.skeleton.parents().iter().position(Option::is_none).unwrap_or(0);
        let root = BoneIndex::try_from(root)?;
        let mut clips = vec![ClipBinding::default(); rig.clip_count()];
        for (at, binding) in clips.iter_mut().enumerate() {
            binding.sync_markers.clone_from(&asset.sync_markers[at]);
            let clip = ClipId(at as u16);
            let lock = RootLock::default();
            let track = RootTrack::of_clip(&rig, clip, root, lock);
            if track.total().translation().length() > TRAVEL {
                let track = track.steady();
                let pin = |seconds: f32| lock.pin(root, track.taken(seconds));
                let in_place = rig.add_in_place(clip, pin);
                binding.moving = in_place.map(|in_place| MovingClip { track, in_place });
            }
        }
        let names = &mut NotifyNames::default();
        let bound = program.bind(Target { rig: &rig, clips: &clips, names })?;
        Ok(Self { rig, bound })
    }

    /// Opcodes of the program, all of which run in an evaluation.
    pub fn instructions(&self) -> usize {
        self.bound.program().code.len()
    }

    /// The program and what it is bound to.
    pub fn bound(&self) -> &BoundProgram {
        &self.bound
    }
}

/// What a pass took, per character.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pass {
    /// Nanoseconds of evaluating the program: clocks, transitions, the list and its sweep.
    pub record_ns: f64,
    /// Nanoseconds from lists to palettes.
    pub execute_ns: f64,
    /// Tasks in a list.
    pub recorded: f64,
    /// Tasks that ran.
    pub executed: f64,
}

/// Characters of one graph.
pub struct Characters<'a> {
    subject: &'a Subject,
    count: usize,
    /// One after the other, as a crowd keeps them.
    rows: Vec<u32>,
    states: Vec<PoseState>,
    lists: Vec<TaskList>,
    palettes: Vec<Mat3x4>,
    vm: VmScratch,
    worker: Worker,
    keys: Keys,
    frame: usize,
}

/// The keys that a mood sets, those that the graph has.
struct Keys {
    values: [Option<KeyId>; 6],
    jump: Option<KeyId>,
}

impl<'a> Characters<'a> {
    /// So many, at different places of their clips.
    pub fn new(subject: &'a Subject, count: usize) -> anyhow::Result<Self> {
        let Subject { rig, bound } = subject;
        let program = bound.program();
        let mut rows = vec![0; bound.words() * count];
        for (at, row) in rows.chunks_exact_mut(bound.words()).enumerate() {
            bound.start(row, at as f32 * 0.618_034)?;
        }
        let kept = || {
            let mut state =
                PoseState::new(program.histories() as u16, program.snapshots.len() as u16);
            state.reserve(rig);
            state
        };
        let mut palettes = Vec::new();
        let _ = reserve_huge(&mut palettes, count * rig.palette_len());
        palettes.resize(count * rig.palette_len(), Mat3x4::IDENTITY);
        let key = |name| program.key(name);
        let values = ["speed", "spin", "wave", "aim", "sit", "look"].map(key);
        Ok(Self {
            subject,
            count,
            rows,
            states: (0..count).map(|_| kept()).collect(),
            lists: vec![TaskList::default(); CHUNK],
            palettes,
            vm: VmScratch::default(),
            worker: Worker::new(WorkerOptions::default()),
            keys: Keys { values, jump: key("jump") },
            frame: 0,
        })
    }

    /// One frame of everybody: each is told what to do, recorded and executed, a chunk at a time.
    pub fn pass(&mut self) -> anyhow::Result<Pass> {
        let Subject { rig, bound } = self.subject;
        let (mut record_ns, mut execute_ns) = (0, 0);
        self.worker.take_stats();
        let words = bound.words();
        let chunks = self.rows.chunks_mut(CHUNK * words).zip(self.states.chunks_mut(CHUNK));
        let palettes = self.palettes.chunks_mut(CHUNK * rig.palette_len());
        for (chunk, ((rows, states), palettes)) in chunks.zip(palettes).enumerate() {
            for (at, row) in rows.chunks_exact_mut(words).enumerate() {
                self.keys.tell(bound, row, chunk * CHUNK + at, self.frame);
            }
            let start = Instant::now();
            let mut recorded = Ok(());
            let some = rows.chunks_exact_mut(words).zip(&mut self.lists);
            let some = some.map(|(row, list)| (Instance { row, dt: DT, list }, ()));
            bound.evaluate_all(some, &mut self.vm, |_, (), result, _| {
                if let Err(error) = result {
                    recorded = Err(error);
                }
            });
            recorded?;
            record_ns += start.elapsed().as_nanos();
            let start = Instant::now();
            let mut batch = self.worker.batch();
            let palettes = palettes.chunks_exact_mut(rig.palette_len());
            for ((list, state), palette) in self.lists.iter_mut().zip(states).zip(palettes) {
                let mut context =
                    Context { masks: bound.masks(), state, capture: None, kept: None };
                batch.execute_with(rig, list, &mut context, palette)?;
            }
            batch.finish();
            execute_ns += start.elapsed().as_nanos();
        }
        self.frame += 1;
        let (stats, count) = (self.worker.take_stats(), self.count.max(1) as f64);
        Ok(Pass {
            record_ns: record_ns as f64 / count,
            execute_ns: execute_ns as f64 / count,
            recorded: stats.recorded as f64 / count,
            executed: stats.executed_total() as f64 / count,
        })
    }

    /// The current states of a machine of the graph, by their numbers.
    #[cfg(test)]
    pub fn states(&self, machine: &str) -> Vec<u16> {
        let bound = &self.subject.bound;
        let machine = bound.program().machine(machine);
        let state = |row: &[u32]| Some(bound.state(row, machine?)?.0);
        self.rows.chunks_exact(bound.words()).filter_map(state).collect()
    }
}

impl Keys {
    /// Writes a character's blackboard for a frame: moods begin at different times.
    fn tell(&self, bound: &BoundProgram, row: &mut [u32], character: usize, frame: usize) {
        let time = frame + character * 37;
        let mood = (time / STAY + character) % MOODS.len();
        let (speed, spin, wave, calm, look) = MOODS[mood];
        for (key, value) in self.values.iter().zip([speed, spin, wave, calm, calm, look]) {
            if let Some(key) = key {
                bound.set_key(row, *key, value);
            }
        }
        if let Some(jump) = self.jump.filter(|_| mood == JUMPS && time.is_multiple_of(STAY)) {
            bound.set_key(row, jump, 1.0);
        }
    }
}
