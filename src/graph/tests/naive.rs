//! Random programs, and a recursive interpreter in double precision that computes poses where the
//! real one records tasks.

mod generator;
mod groups;
mod operations;
mod poses;

use super::assembler::*;
use super::*;
use crate::motion::PlayMode;
use crate::task::AdditiveSpace;
use generator::Generator;
use glam::DVec3;
use groups::Group;
use testing::DTrs;

pub(super) const CLIPS: [&str; 4] = ["clip0", "clip1", "clip2", "clip3"];
const BONES: usize = 9;

/// What a random program may hold beyond what the naive interpreter knows.
#[derive(Clone, Copy)]
pub(super) struct Extra {
    /// Transitions that last.
    pub seams: bool,
    /// Inverse kinematics and bone transforms.
    pub bones: bool,
}

/// A random program with everything.
pub(super) fn random_program(r: &mut Random) -> Program {
    random_program_with(r, Extra { seams: true, bones: true })
}

/// A random program with what may be in it.
pub(super) fn random_program_with(r: &mut Random, extra: Extra) -> Program {
    Generator::run(r, extra)
}

/// What a pose register stands for.
#[derive(Clone)]
enum Node {
    Rest,
    Sample { clip: usize, seconds: f64, clock: Option<usize> },
    Blend { a: usize, b: usize, t: f64 },
    Masked { a: usize, b: usize, t: f64, mask: usize },
    Difference { a: usize, reference: Option<usize>, mesh: bool },
    Add { a: usize, delta: usize, t: f64, mesh: bool },
    Save(usize),
    Load,
    Move { a: usize, bone: usize, offset: DVec3 },
    Mix(Vec<(usize, f64)>),
    Same(usize),
}

impl Node {
    /// What it reads, and how much of its weight each carries on.
    fn reads(&self) -> Vec<(usize, f64)> {
        let mut reads = match self {
            Self::Rest | Self::Sample { .. } | Self::Load => vec![],
            Self::Blend { a, b, t } if a == b => vec![(*a, 1.0 - t), (*b, *t)],
            Self::Blend { a, b, t } => vec![(*a, 1.0 - t), (*b, *t)],
            Self::Masked { a, b, t, .. } | Self::Add { a, delta: b, t, .. } => {
                vec![(*a, 1.0), (*b, *t)]
            }
            Self::Difference { a, reference, .. } => {
                let mut reads = vec![(*a, 1.0)];
                reads.extend(reference.map(|r| (r, 0.0)));
                reads
            }
            Self::Save(a) | Self::Move { a, .. } | Self::Same(a) => vec![(*a, 1.0)],
            Self::Mix(parts) => parts.clone(),
        };
        // What weighs nothing is not read; the yardstick of a difference has no weight.
        let yardstick = matches!(self, Self::Difference { .. });
        reads.retain(|(_, share)| *share > 0.0 || yardstick);
        reads
    }
}

#[derive(Clone, Copy, Default)]
struct Clock {
    shows: f64,
    fresh: bool,
    passed: bool,
    heard: bool,
}

#[derive(Clone, Copy, Default)]
struct Machine {
    state: usize,
    seconds: f64,
    fresh: bool,
}

/// An instance of the naive interpreter.
struct Naive<'a> {
    p: &'a Program,
    c: &'a Character,
    keys: Vec<Option<f32>>,
    params: Vec<f64>,
    clocks: Vec<Clock>,
    groups: Vec<Group>,
    machines: Vec<Machine>,
    smooths: Vec<Option<f64>>,
    kept: Option<Vec<DTrs>>,
}

impl<'a> Naive<'a> {
    fn new(p: &'a Program, c: &'a Character) -> Self {
        let machines = p.machines.iter().map(|_| Machine { fresh: true, ..Machine::default() });
        let clocks = p.clocks.iter().map(|_| Clock { fresh: true, ..Clock::default() });
        Self {
            p,
            c,
            keys: vec![None; p.keys.len()],
            params: p.params.iter().map(|p| f64::from(p.default)).collect(),
            clocks: clocks.collect(),
            groups: vec![Group::default(); p.sync_groups.len()],
            machines: machines.collect(),
            smooths: vec![None; p.smooths.into()],
            kept: None,
        }
    }

    fn length(&self, clock: usize) -> f64 {
        self.clip_length(self.p.clocks[clock].clip.get())
    }

    fn clip_length(&self, clip: usize) -> f64 {
        let clip = &self.c.clips[clip];
        (clip.frame_count - 1) as f64 / f64::from(clip.rate_hz)
    }

    fn step(&mut self, dt: f64) -> Vec<DTrs> {
        for (key, value) in self.p.keys.iter().zip(&self.keys) {
            if let Some(value) = value {
                let param = &self.p.params[key.param.get()];
                let flag = param.kind != ParamKind::Float;
                let value = if flag { f32::from(*value > 0.5) } else { *value };
                self.params[key.param.get()] = f64::from(value.clamp(param.min, param.max));
            }
        }
        (0..self.groups.len()).for_each(|group| self.run_group(group, dt));
        let mut s = vec![0.0; self.p.scalar_registers.into()];
        let mut poses = vec![0; self.p.pose_registers.into()];
        let mut nodes = Vec::new();
        for op in &self.p.code {
            self.op(op, dt, &mut s, &mut poses, &mut nodes);
        }
        for (at, param) in self.p.params.iter().enumerate() {
            if param.kind == ParamKind::Trigger {
                self.params[at] = 0.0;
                let keys = self.p.keys.iter().zip(&mut self.keys);
                keys.filter(|(k, _)| k.param.get() == at).for_each(|(_, v)| *v = None);
            }
        }
        let Some(Op::Output { source }) = self.p.code.last() else { unreachable!() };
        let output = poses[source.get()];
        let mut weights = vec![None; nodes.len()];
        carry(&nodes, output, 1.0, &mut weights);
        self.weigh(&nodes, &weights);
        let mut results: Vec<Vec<DTrs>> = vec![Vec::new(); nodes.len()];
        for (at, node) in nodes.iter().enumerate().filter(|(at, _)| weights[*at].is_some()) {
            results[at] = self.pose(node, &results);
        }
        results.swap_remove(output)
    }

    fn weigh(&mut self, nodes: &[Node], weights: &[Option<f64>]) {
        let mut heard = vec![0.0; self.clocks.len()];
        for (node, weight) in nodes.iter().zip(weights) {
            if let Node::Sample { clock: Some(clock), .. } = node {
                heard[*clock] += weight.unwrap_or(0.0);
            }
        }
        for (clock, heard) in self.clocks.iter_mut().zip(&heard) {
            clock.heard = *heard > 0.0;
        }
        (0..self.groups.len()).for_each(|group| self.weigh_group(group, &heard));
    }

    fn enter(&mut self, machine: usize, state: usize) {
        self.machines[machine].state = state;
        let state = &self.p.machines[machine].states[state];
        for clock in &state.clocks {
            let clock = clock.get();
            let heard = self.clocks[clock].heard;
            self.clocks[clock] = Clock { fresh: true, heard, ..Clock::default() };
            if let Some(group) = self.p.clocks[clock].group
                && !self.members(group.get()).iter().any(|c| self.clocks[*c].heard)
            {
                self.groups[group.get()].restart();
            }
        }
        for inner in &state.machines {
            self.machines[inner.get()] = Machine { fresh: true, ..Machine::default() };
            self.enter(inner.get(), 0);
        }
    }

    fn select(&mut self, machine: usize, dt: f64, s: &[f64]) {
        let desc = &self.p.machines[machine];
        let m = &mut self.machines[machine];
        if !std::mem::take(&mut m.fresh) {
            m.seconds = (m.seconds + dt).max(0.0);
        }
        let m = *m;
        let taken = desc.transitions.iter().find(|t| {
            let from = t.from.map_or(t.to.get() != m.state, |from| from.get() == m.state);
            let condition = t.condition.is_none_or(|c| s[c.get()] > 0.5);
            let end = t.at_end.is_none_or(|end| {
                let (clock, row) = (self.clocks[end.clock.get()], &self.p.clocks[end.clock.get()]);
                let length = self.length(end.clock.get());
                let left = if row.speed < 0.0 { clock.shows } else { length - clock.shows };
                match row.mode {
                    PlayMode::Loop => clock.passed,
                    _ => !clock.fresh && left <= f64::from(end.before),
                }
            });
            from && condition && end && m.seconds >= f64::from(t.min_time)
        });
        if let Some(t) = taken {
            self.machines[machine].seconds = 0.0;
            self.enter(machine, t.to.get());
        }
    }
}

/// Adds up each node's part in the output over all ways to it.
fn carry(nodes: &[Node], at: usize, weight: f64, weights: &mut [Option<f64>]) {
    *weights[at].get_or_insert(0.0) += weight;
    for (read, share) in nodes[at].reads() {
        carry(nodes, read, weight * share, weights);
    }
}

#[test]
fn random_programs_show_what_the_naive_interpreter_computes() {
    let mut seen = std::collections::HashSet::new();
    for seed in 1..=400 {
        let r = &mut Random(seed * 0x9e37_79b9 + 5);
        let program = Generator::run(r, Extra { seams: false, bones: false });
        let shape = [Shape::plain(BONES), Shape { scaled: true, ..Shape::plain(BONES) }];
        let c = character(shape[(seed % 2) as usize], &CLIPS, seed);
        seen.extend(program.code.iter().map(Op::name));
        let bound = bind(program.clone(), &c);
        let mut p = Player::new(&bound, &c);
        let mut naive = Naive::new(&program, &c);
        for frame in 0..12 {
            let key = r.below(4);
            let value = 1.3 * r.signed();
            naive.keys[key] = Some(value);
            p.bound.set_key(&mut p.row, KeyId(key as u16), value);
            // Not one sum of them is near a clip's end.
            let dt = [0.011_372_9, 0.027_418_4, 0.071_329_1, 0.0][r.below(4)];
            let ours = p.step(dt);
            let exact = naive.step(f64::from(dt));
            let exact = testing::palette(&c.skeleton, &exact, BONES);
            let error = testing::difference(&ours, &exact);
            assert!(error < 2e-3, "seed {seed} frame {frame}: {error:e}\n{program:#?}");
        }
    }
    let known = Op::NAMES.iter().filter(|name| !UNKNOWN.contains(name));
    known.for_each(|name| assert!(seen.contains(name), "{name} was not drawn"));
}

/// Opcodes that the naive interpreter does not know, or that show in no pose.
const UNKNOWN: [&str; 9] = [
    "LoadDelta",
    "StateTime",
    "Inertialize",
    "DeadBlend",
    "BoneTransform",
    "TwoBoneIk",
    "Fabrik",
    "LookAt",
    "FootIk",
];

#[test]
fn whatever_the_parameters_are_the_palette_is_finite() {
    let c = character(Shape::plain(BONES), &CLIPS, 77);
    for seed in 1..=300 {
        let r = &mut Random(seed * 77 + 1);
        let program = random_program(r);
        let bound = bind(program, &c);
        let mut p = Player::new(&bound, &c);
        for _ in 0..10 {
            let values = [f32::NAN, f32::INFINITY, -1e30, 1.0, 0.3, -0.7];
            let key = KeyId(r.below(5) as u16);
            p.bound.set_key(&mut p.row, key, values[r.below(6)]);
            p.bound.set_param(&mut p.row, ParamId(r.below(5) as u16), values[r.below(6)]);
            let dt = [0.016, 0.0, -0.3, 1e9, f32::NAN, 0.2][r.below(6)];
            let palette = p.step(dt);
            assert!(palette.iter().all(|m| m.to_affine().is_finite()), "seed {seed}");
        }
    }
}
