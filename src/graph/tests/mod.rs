//! Programs by hand and at random: what they record, what is refused, what becomes of a pose.

mod assembler;
mod continuity;
mod cut_time;
mod encoding;
mod example;
mod files;
mod guards;
mod machines;
mod markers;
mod motions;
mod naive;
mod needed;
mod paces;
mod random_files;
mod refused;
mod shapes;
mod silent;
mod together;

use super::*;
use crate::math::Mat3x4;
use crate::motion::NotifyNames;
use crate::pose::testing::{self, Random, Shape};
use crate::pose::{Rig, Skeleton, UniformClip};
use crate::task::{Capture, Context, PoseState, TaskList, Worker, WorkerOptions};
use std::sync::Arc;

/// A rig with its source, its clips renamed. Its first four bones are a chain.
struct Character {
    rig: Rig,
    skeleton: Skeleton,
    clips: Vec<UniformClip>,
    clip_bindings: Vec<ClipBinding>,
}

fn character(shape: Shape, names: &[&str], seed: u64) -> Character {
    let of = |seed| testing::character(shape, names.len(), seed);
    let follows = |bone: usize, skeleton: &Skeleton| {
        skeleton.parents().get(bone).is_none_or(|p| p.is_some_and(|p| p.get() + 1 == bone))
    };
    let is_chain = |skeleton: &Skeleton| (1..4).all(|bone| follows(bone, skeleton));
    let found = (seed..).step_by(1_000).map(of).find(|(skeleton, _)| is_chain(skeleton));
    let (skeleton, mut clips) = found.unwrap();
    clips.iter_mut().zip(names).for_each(|(clip, name)| clip.name = (*name).into());
    let rig = Rig::new(skeleton.clone(), &clips).unwrap();
    Character { rig, skeleton, clip_bindings: vec![ClipBinding::default(); clips.len()], clips }
}

fn bind(program: Program, c: &Character) -> BoundProgram {
    let valid = Arc::new(program.validate().unwrap());
    let names = &mut NotifyNames::default();
    valid.bind(Target { rig: &c.rig, clips: &c.clip_bindings, names }).unwrap()
}

/// One instance that is evaluated and executed.
struct Player<'a> {
    bound: &'a BoundProgram,
    c: &'a Character,
    row: Vec<u32>,
    scratch: VmScratch,
    list: TaskList,
    state: PoseState,
    worker: Worker,
}

impl<'a> Player<'a> {
    fn new(bound: &'a BoundProgram, c: &'a Character) -> Self {
        let mut row = vec![0; bound.words()];
        bound.start(&mut row, 0.0).unwrap();
        let program = bound.program();
        let state = PoseState::new(program.histories() as u16, program.snapshots.len() as u16);
        let worker = Worker::new(WorkerOptions::default());
        let mut scratch = VmScratch::default();
        scratch.record_everything(true);
        Self { bound, c, row, scratch, list: TaskList::default(), state, worker }
    }

    fn set(&mut self, key: &str, value: f32) {
        let key = self.bound.program().key(key).unwrap();
        self.bound.set_key(&mut self.row, key, value);
    }

    fn record(&mut self, dt: f32) -> crate::motion::GroundMotion {
        let motion = self.bound.evaluate(&mut self.row, dt, &mut self.scratch, &mut self.list);
        assert!(self.list.output().get().is_some(), "there is always an output");
        motion.unwrap()
    }

    fn execute(&mut self) -> (Vec<Mat3x4>, Capture) {
        let mut palette = vec![Mat3x4::IDENTITY; self.c.rig.palette_len()];
        let mut capture = Capture::default();
        let mut context = Context {
            masks: self.bound.masks(),
            state: &mut self.state,
            capture: Some(&mut capture),
            kept: None,
        };
        let mut batch = self.worker.batch();
        batch.execute_with(&self.c.rig, &mut self.list, &mut context, &mut palette).unwrap();
        batch.finish();
        (palette, capture)
    }

    fn step(&mut self, dt: f32) -> Vec<Mat3x4> {
        self.record(dt);
        self.execute().0
    }

    fn state_of(&self, machine: &str) -> usize {
        let machine = self.bound.program().machine(machine).unwrap();
        self.bound.state(&self.row, machine).unwrap().get()
    }
}
