//! Random programs, and a recursive interpreter in double precision that computes poses where the
//! real one records tasks.

use super::assembler::*;
use super::*;
use crate::motion::PlayMode;
use crate::task::AdditiveSpace;
use glam::DVec3;
use testing::DTrs;

const CLIPS: [&str; 4] = ["clip0", "clip1", "clip2", "clip3"];
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
    Generator::run(r, Extra { seams: true, bones: true })
}

struct Generator<'a> {
    r: &'a mut Random,
    a: Assembler,
    extra: Extra,
    /// Values that are the same to the bit in both interpreters, to be compared.
    plain: Vec<Scalar>,
    scalars: Vec<Scalar>,
    poses: Vec<PoseIn>,
    deltas: Vec<(PoseIn, AdditiveSpace)>,
    /// Clocks of the machine's state that is being written.
    clocks: Vec<ClockId>,
}

impl Generator<'_> {
    fn run(r: &mut Random, extra: Extra) -> Program {
        let mut a = Assembler::new("random");
        a.0.sync_groups = vec!["feet".into(), "arms".into()];
        a.0.snapshots = vec!["kept".into()];
        for i in 0..BONES {
            a.bone(&format!("bone{i}"));
        }
        for clip in CLIPS {
            a.clip(clip);
        }
        for others in [0.0, 0.7] {
            let entry = |r: &mut Random| MaskEntry {
                bone: BoneRef(r.below(BONES) as u16),
                weight: 0.5 + 0.5 * r.signed(),
                subtree: r.below(2) == 0,
            };
            let entries = vec![entry(r), entry(r)];
            a.0.masks.push(MaskDesc { name: "mask".into(), others, entries });
        }
        let step = NotifyDesc {
            name: "step".into(),
            clip: ClipRef(r.below(4) as u16),
            at: program::Moment::Fraction(0.5),
            until: (r.below(2) == 0).then_some(program::Moment::Seconds(0.1)),
        };
        a.0.notifies.push(step);
        let plain = vec![
            a.param("x", ParamKind::Float),
            a.param("y", ParamKind::Float),
            a.param("flag", ParamKind::Bool),
            a.param("go", ParamKind::Trigger),
            a.constant(r.signed()),
            a.constant(2.0 * r.signed()),
        ];
        let (poses, deltas, clocks) = (Vec::new(), Vec::new(), Vec::new());
        let scalars = plain.clone();
        let mut this = Generator { r, a, extra, plain, scalars, poses, deltas, clocks };
        let output = this.some(12, 2);
        this.a.output(output)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.r.below(from.len())]
    }

    fn plain(&mut self) -> Scalar {
        let at = self.r.below(self.plain.len());
        self.plain[at]
    }

    fn scalar(&mut self) -> Scalar {
        let at = self.r.below(self.scalars.len());
        self.scalars[at]
    }

    fn pose(&mut self) -> PoseIn {
        if self.poses.is_empty() {
            let pose = self.a.pose(|dst| Op::RefPose { dst });
            self.poses.push(pose);
        }
        let at = self.r.below(self.poses.len());
        self.poses[at]
    }

    /// A few random instructions; gives a pose.
    fn some(&mut self, count: usize, depth: usize) -> PoseIn {
        for _ in 0..1 + self.r.below(count) {
            self.one(depth);
        }
        self.pose();
        self.poses[self.poses.len() - 1]
    }

    fn one(&mut self, depth: usize) {
        let space = self.pick(&[AdditiveSpace::Local, AdditiveSpace::Mesh]);
        match self.r.below(if self.extra.bones { 22 } else { 18 }) {
            0 | 1 => self.compute(),
            2..=5 => {
                let clock = self.clock();
                let pose = self.a.play(clock);
                self.poses.push(pose);
            }
            6 => {
                let (time, clip) = (self.scalar(), self.pick(&CLIPS));
                let pose = self.a.held(clip, time);
                self.poses.push(pose);
            }
            7 | 8 => {
                let (a, b, alpha) = (self.pose(), self.pose(), self.scalar());
                let pose = self.a.blend(a, b, alpha);
                self.poses.push(pose);
            }
            9 => {
                let (a, b, alpha) = (self.pose(), self.pose(), self.scalar());
                let mask = MaskRef(self.r.below(2) as u16);
                let pose = self.a.pose(|dst| Op::BlendMasked { a, b, alpha, mask, dst });
                self.poses.push(pose);
            }
            10 => {
                let source = self.pose();
                let reference = (self.r.below(2) == 0).then(|| self.pose());
                let delta = self.a.pose(|dst| Op::MakeAdditive { source, reference, space, dst });
                self.deltas.push((delta, space));
            }
            11 if !self.deltas.is_empty() => {
                let at = self.r.below(self.deltas.len());
                let (delta, space) = self.deltas[at];
                let (base, alpha) = (self.pose(), self.scalar());
                let pose = self.a.pose(|dst| Op::ApplyAdditive { base, delta, alpha, space, dst });
                self.poses.push(pose);
            }
            12 | 13 if depth > 0 => self.machine(depth),
            14 => self.line(),
            15 => self.plane(),
            16 => {
                let (source, snapshot) = (self.pose(), SnapshotRef(0));
                let pose = match self.r.below(2) {
                    0 => self.a.pose(|dst| Op::SaveSnapshot { source, snapshot, dst }),
                    _ => self.a.pose(|dst| Op::LoadSnapshot { snapshot, dst }),
                };
                self.poses.push(pose);
            }
            17 => {
                let offset = [(); 3].map(|()| self.r.signed() * 0.2);
                let (source, alpha, offset) = (self.pose(), self.scalar(), self.a.vector(offset));
                let bone = BoneRef(self.r.below(BONES) as u16);
                let space = crate::pose::kernels::bone::BoneSpace::Local;
                let pose = self.a.pose(|dst| Op::TranslateBone {
                    source,
                    bone,
                    space,
                    alpha,
                    offset,
                    dst,
                });
                self.poses.push(pose);
            }
            18.. => self.solver(),
            _ => {}
        }
    }

    fn compute(&mut self) {
        use ScalarFn::*;
        let scalar = match self.r.below(8) {
            0 | 1 => {
                let op = self.pick(&[Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual]);
                let (a, b) = (self.plain(), self.plain());
                self.a.scalar(op, a, b)
            }
            2 => {
                let (a, b, condition) = (self.scalar(), self.scalar(), self.scalar());
                let dst = self.a.scalar_out();
                self.a.0.code.push(Op::Choose { condition, a, b, dst });
                dst.read()
            }
            3 => {
                let (value, half_life) = (self.scalar(), self.a.constant(0.05));
                let (dst, slot) = (self.a.scalar_out(), SmoothId(self.a.0.smooths));
                self.a.0.smooths += 1;
                self.a.0.code.push(Op::Smooth { value, half_life, slot, dst });
                dst.read()
            }
            _ => {
                let op = self.pick(&[Add, Sub, Mul, Div, Min, Max, Neg, Abs, Sin, Cos, And, Not]);
                let (a, b) = (self.scalar(), self.scalar());
                self.a.scalar(op, a, b)
            }
        };
        self.scalars.push(scalar);
    }

    fn clock(&mut self) -> ClockId {
        let group = [None, None, Some(GroupId(0)), Some(GroupId(1))];
        let group = self.pick(&group);
        let mode = match group {
            Some(_) => PlayMode::Loop,
            None => self.pick(&[PlayMode::Loop, PlayMode::Once, PlayMode::Clamp]),
        };
        let clip = self.pick(&CLIPS);
        let clock = self.a.clock(clip, mode, group);
        self.a.0.clocks[clock.get()].speed = self.pick(&[1.0, 0.37, -0.81]);
        self.clocks.push(clock);
        clock
    }

    fn machine(&mut self, depth: usize) {
        let outer_clocks = std::mem::take(&mut self.clocks);
        let number = self.a.0.machines.len();
        let machine = self.a.select(&format!("machine{number}"));
        let states = 1 + self.r.below(3) as u16;
        let conditions: Vec<_> = (0..4).map(|_| self.scalar()).collect();
        for i in 0..states {
            let first_machine = self.a.0.machines.len() as u16;
            self.clocks.clear();
            let pose = self.some(4, depth - 1);
            let clocks = std::mem::take(&mut self.clocks);
            self.a.state(machine, &format!("state{i}"), pose, &clocks);
            let inner = (first_machine..self.a.0.machines.len() as u16).map(MachineId).collect();
            if self.r.below(2) == 0 {
                self.a.0.machines[machine.get()].states[usize::from(i)].machines = inner;
            }
        }
        for condition in conditions {
            let from = (self.r.below(2) == 0).then(|| self.r.below(states.into()) as u16);
            let mut transition = when(from, self.r.below(states.into()) as u16, condition);
            transition.min_time = self.pick(&[0.0, 0.05]);
            transition.interrupts = self.r.below(2) == 0;
            transition.duration = if self.extra.seams { self.pick(&[0.0, 0.1, 0.3]) } else { 0.0 };
            transition.style =
                self.pick(&[TransitionStyle::Inertialize, TransitionStyle::DeadBlend]);
            if !self.a.0.clocks.is_empty() && self.r.below(3) == 0 {
                let clock = ClockId(self.r.below(self.a.0.clocks.len()) as u16);
                transition.at_end = Some(AtEnd { clock, before: self.pick(&[0.0, 0.03]) });
            }
            self.a.transition(machine, transition);
        }
        let pose = self.a.eval(machine);
        self.poses.push(pose);
        self.clocks = outer_clocks;
    }

    /// So many clips in neighbouring registers.
    fn row(&mut self, count: usize) -> PosesIn {
        let clocks: Vec<_> = (0..count).map(|_| self.clock()).collect();
        let poses: Vec<_> = clocks.into_iter().map(|clock| self.a.play(clock)).collect();
        PosesIn(poses[0].0)
    }

    fn line(&mut self) {
        let points = self.row(3);
        let space = Space1DId(self.a.0.spaces_1d.len() as u16);
        self.a.0.spaces_1d.push(Space1D { name: "line".into(), points: vec![-1.0, 0.1, 0.8] });
        let x = self.scalar();
        let pose = self.a.pose(|dst| Op::BlendSpace1D { space, x, points, dst });
        self.poses.push(pose);
    }

    fn plane(&mut self) {
        let points = self.row(4);
        let space = Space2DId(self.a.0.spaces_2d.len() as u16);
        self.a.0.spaces_2d.push(Space2D {
            name: "plane".into(),
            points: vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
            triangles: vec![[0, 1, 2], [1, 3, 2]],
        });
        let (zero, one) = (self.a.constant(0.0), self.a.constant(1.0));
        let mut inside = || {
            let at = self.r.below(self.scalars.len());
            let value = self.a.scalar(ScalarFn::Max, self.scalars[at], zero);
            self.a.scalar(ScalarFn::Min, value, one)
        };
        let (x, y) = (inside(), inside());
        let pose = self.a.pose(|dst| Op::BlendSpace2D { space, x, y, points, dst });
        self.poses.push(pose);
    }

    fn solver(&mut self) {
        let (source, alpha) = (self.pose(), self.scalar());
        let values: [_; 3] = [(); 3].map(|()| self.r.signed());
        let target = self.a.vector(values);
        let mut bone = || BoneRef(self.r.below(BONES) as u16);
        let (root, mid, end) = (bone(), bone(), bone());
        let way = self.r.below(6);
        let seam = SeamId(self.a.0.seams);
        if way == 5 {
            self.a.0.seams += 1;
        }
        let pose = self.a.pose(|dst| match way {
            0 => Op::TwoBoneIk {
                source,
                root,
                mid,
                end,
                target,
                pole: Some(target),
                soften: Some(alpha),
                alpha,
                dst,
            },
            1 => Op::Fabrik {
                source,
                root,
                end,
                target,
                iterations: 8,
                tolerance: alpha,
                weights: None,
                alpha,
                dst,
            },
            2 => Op::LookAt {
                source,
                bone: root,
                forward: target,
                target,
                limit: Some(alpha),
                alpha,
                dst,
            },
            3 => Op::FootIk { source, root, mid, end, offset: target, normal: target, alpha, dst },
            4 => Op::TranslateBone {
                source,
                bone: root,
                space: crate::pose::kernels::bone::BoneSpace::Component,
                alpha,
                offset: target,
                dst,
            },
            _ => Op::Inertialize { source, seam, trigger: alpha, duration: alpha, dst },
        });
        self.poses.push(pose);
    }
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
        match self {
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
        }
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
    /// Phase, and rounds a second if it was ever heard.
    groups: Vec<(f64, Option<f64>)>,
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
            groups: vec![(0.0, None); p.sync_groups.len()],
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

    fn members(&self, group: usize) -> Vec<usize> {
        let of = |clock: &usize| self.p.clocks[*clock].group.is_some_and(|g| g.get() == group);
        (0..self.clocks.len()).filter(of).collect()
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
        let mut group_passed = vec![false; self.groups.len()];
        for (group, passed) in group_passed.iter_mut().enumerate() {
            let rates: Vec<f64> = self.members(group).iter().map(|c| self.length(*c)).collect();
            let rates: Vec<f64> = rates.iter().filter(|l| **l > 0.0).map(|l| 1.0 / l).collect();
            let first = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
            let (phase, rate) = &mut self.groups[group];
            // A group keeps the pace that it had, also one that it had by itself.
            let next = *phase + dt * *rate.get_or_insert(first);
            *passed = !(0.0..1.0).contains(&next);
            *phase = next.rem_euclid(1.0);
        }
        let mut s = vec![0.0; self.p.scalar_registers.into()];
        let mut poses = vec![0; self.p.pose_registers.into()];
        let mut nodes = Vec::new();
        for op in &self.p.code {
            self.op(op, dt, &mut s, &mut poses, &mut nodes, &mut group_passed);
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
        for group in 0..self.groups.len() {
            let (mut sum, mut rates) = (0.0, 0.0);
            for clock in self.members(group) {
                if self.length(clock) > 0.0 {
                    sum += heard[clock];
                    rates += heard[clock] / self.length(clock);
                }
            }
            if sum > 0.0 {
                self.groups[group].1 = Some(rates / sum);
            }
        }
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
                self.groups[group.get()].0 = 0.0;
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

    fn op(
        &mut self,
        op: &Op,
        dt: f64,
        s: &mut [f64],
        poses: &mut [usize],
        nodes: &mut Vec<Node>,
        passed: &mut [bool],
    ) {
        let mut put = |poses: &mut [usize], dst: PoseOut, node: Node| {
            poses[dst.get()] = nodes.len();
            nodes.push(node);
        };
        let mesh = |space| space == AdditiveSpace::Mesh;
        let share = |v: f64| v.clamp(0.0, 1.0);
        match *op {
            Op::LoadConst { constant, dst } => {
                s[dst.get()] = f64::from(self.p.consts[constant.get()]);
            }
            Op::LoadParam { param, dst } => s[dst.get()] = self.params[param.get()],
            Op::ScalarOp { op, a, b, dst } => {
                s[dst.get()] = function(op, s[a.get()], s[b.get()]);
            }
            Op::Choose { condition, a, b, dst } => {
                s[dst.get()] = if s[condition.get()] > 0.5 { s[a.get()] } else { s[b.get()] };
            }
            Op::Smooth { value, half_life, slot, dst } => {
                let value = s[value.get()];
                let left = 0.5_f64.powf(dt / s[half_life.get()]).min(1.0);
                let before = self.smooths[slot.get()].unwrap_or(value);
                let next = value + (before - value) * left;
                self.smooths[slot.get()] = Some(next);
                s[dst.get()] = next;
            }
            Op::AdvanceClock { clock, time, .. } => {
                let (row, length) = (&self.p.clocks[clock.get()], self.length(clock.get()));
                let state = &mut self.clocks[clock.get()];
                let fresh = std::mem::take(&mut state.fresh);
                if let Some(group) = row.group {
                    state.passed = passed[group.get()] && length > 0.0;
                    state.shows = self.groups[group.get()].0 * length;
                } else {
                    let step = if fresh { 0.0 } else { dt * f64::from(row.speed) };
                    let next = state.shows + step;
                    state.passed = length > 0.0 && !(0.0..length).contains(&next);
                    state.shows = match row.mode {
                        _ if length == 0.0 => 0.0,
                        PlayMode::Loop => next.rem_euclid(length),
                        _ => next.clamp(0.0, length),
                    };
                }
                s[time.get()] = state.shows;
            }
            Op::SampleAnim { clip, time, clock, dst } => {
                let (seconds, clock) = (s[time.get()], clock.map(ClockId::get));
                put(poses, dst, Node::Sample { clip: clip.get(), seconds, clock });
            }
            Op::RefPose { dst } => put(poses, dst, Node::Rest),
            Op::Blend { a, b, alpha, dst } => {
                let (a, b, t) = (poses[a.get()], poses[b.get()], share(s[alpha.get()]));
                put(poses, dst, Node::Blend { a, b, t });
            }
            Op::BlendMasked { a, b, alpha, mask, dst } => {
                let (a, b, t) = (poses[a.get()], poses[b.get()], share(s[alpha.get()]));
                put(poses, dst, Node::Masked { a, b, t, mask: mask.get() });
            }
            Op::MakeAdditive { source, reference, space, dst } => {
                let reference = reference.map(|r| poses[r.get()]);
                let a = poses[source.get()];
                put(poses, dst, Node::Difference { a, reference, mesh: mesh(space) });
            }
            Op::ApplyAdditive { base, delta, alpha, space, dst } => {
                let (a, delta, t) = (poses[base.get()], poses[delta.get()], share(s[alpha.get()]));
                put(poses, dst, Node::Add { a, delta, t, mesh: mesh(space) });
            }
            Op::SaveSnapshot { source, dst, .. } => {
                put(poses, dst, Node::Save(poses[source.get()]));
            }
            Op::LoadSnapshot { dst, .. } => put(poses, dst, Node::Load),
            Op::TranslateBone { source, bone, alpha, offset, dst, .. } => {
                let at = offset.get();
                let offset = DVec3::new(s[at], s[at + 1], s[at + 2]) * share(s[alpha.get()]);
                let (a, bone) = (poses[source.get()], bone.get());
                put(poses, dst, Node::Move { a, bone, offset });
            }
            Op::SelectState { machine } => {
                self.select(machine.get(), dt, s);
                for (group, passed) in passed.iter_mut().enumerate() {
                    // A group that was put to its start has passed nothing.
                    *passed &= self.groups[group].0 != 0.0;
                }
            }
            Op::EvalStateMachine { machine, dst } => {
                let machine = machine.get();
                let state = &self.p.machines[machine].states[self.machines[machine].state];
                put(poses, dst, Node::Same(poses[state.pose.get()]));
            }
            Op::BlendSpace1D { space, x, points, dst } => {
                let places = &self.p.spaces_1d[space.get()].points;
                let pose = |i: usize| poses[points.get() + i];
                let x = s[x.get()];
                let last = places.len() - 1;
                let mut mix = vec![(pose(if x < f64::from(places[0]) { 0 } else { last }), 1.0)];
                for (i, pair) in places.windows(2).enumerate() {
                    let (a, b) = (f64::from(pair[0]), f64::from(pair[1]));
                    if x >= a && x < b {
                        let t = (x - a) / (b - a);
                        mix = vec![(pose(i), 1.0 - t), (pose(i + 1), t)];
                    }
                }
                put(poses, dst, Node::Mix(mix));
            }
            Op::BlendSpace2D { x, y, points, dst, .. } => {
                let pose = |i: usize| poses[points.get() + i];
                let (x, y) = (s[x.get()], s[y.get()]);
                let mix = match x + y <= 1.0 {
                    true => vec![(pose(0), 1.0 - x - y), (pose(1), x), (pose(2), y)],
                    false => vec![(pose(1), 1.0 - y), (pose(3), x + y - 1.0), (pose(2), 1.0 - x)],
                };
                put(poses, dst, Node::Mix(mix));
            }
            Op::Output { .. } => {}
            _ => unreachable!("not drawn for the naive interpreter"),
        }
    }

    fn pose(&mut self, node: &Node, results: &[Vec<DTrs>]) -> Vec<DTrs> {
        let skeleton = &self.c.skeleton;
        let rest = testing::rest_pose(skeleton);
        match node {
            Node::Rest => rest,
            Node::Sample { clip, seconds, .. } => {
                testing::sampled(&self.c.clips[*clip], rest.len(), *seconds as f32)
            }
            Node::Blend { a, b, .. } | Node::Masked { a, b, .. } if a == b => results[*a].clone(),
            Node::Blend { a, b, t } => testing::blended(&results[*a], &results[*b], *t),
            Node::Masked { a, b, t, mask } => {
                let weights = self.weights(*mask);
                testing::blended_masked(&results[*a], &results[*b], *t, &weights)
            }
            Node::Difference { a, reference, mesh } => {
                let reference = reference.map_or(&rest, |r| &results[r]);
                testing::difference_of(skeleton, &results[*a], reference, *mesh)
            }
            Node::Add { a, delta, t, mesh } => {
                testing::added(skeleton, &results[*a], &results[*delta], *t, *mesh)
            }
            Node::Save(a) => {
                self.kept = Some(results[*a].clone());
                results[*a].clone()
            }
            Node::Load => self.kept.clone().unwrap_or(rest),
            Node::Move { a, bone, offset } => {
                let mut pose = results[*a].clone();
                pose[*bone].translation += *offset;
                pose
            }
            Node::Mix(parts) => {
                let mut mixed: Option<(Vec<DTrs>, f64)> = None;
                for (pose, weight) in parts.iter().filter(|(_, w)| *w > 0.0) {
                    let pose = &results[*pose];
                    mixed = Some(match mixed {
                        None => (pose.clone(), *weight),
                        Some((so_far, sum)) => {
                            let sum = sum + weight;
                            (testing::blended(&so_far, pose, weight / sum), sum)
                        }
                    });
                }
                mixed.unwrap().0
            }
            Node::Same(a) => results[*a].clone(),
        }
    }

    fn weights(&self, mask: usize) -> Vec<f32> {
        let mask = &self.p.masks[mask];
        let is_under = |mut bone: usize, top: usize| {
            while let Some(parent) = self.c.skeleton.parents()[bone] {
                if parent.get() == top {
                    return true;
                }
                bone = parent.get();
            }
            false
        };
        let weight = |bone: usize| {
            let names = |e: &&MaskEntry| {
                let top = e.bone.get();
                top == bone || e.subtree && is_under(bone, top)
            };
            mask.entries.iter().rev().find(names).map_or(mask.others, |e| e.weight)
        };
        (0..BONES).map(weight).collect()
    }
}

/// Adds up each node's part in the output over all ways to it.
fn carry(nodes: &[Node], at: usize, weight: f64, weights: &mut [Option<f64>]) {
    *weights[at].get_or_insert(0.0) += weight;
    for (read, share) in nodes[at].reads() {
        carry(nodes, read, weight * share, weights);
    }
}

fn function(op: ScalarFn, a: f64, b: f64) -> f64 {
    let truth = |v: bool| if v { 1.0 } else { 0.0 };
    let (x, y) = (a > 0.5, b > 0.5);
    match op {
        ScalarFn::Add => a + b,
        ScalarFn::Sub => a - b,
        ScalarFn::Mul => a * b,
        ScalarFn::Div if b == 0.0 => 0.0,
        ScalarFn::Div => a / b,
        ScalarFn::Min => a.min(b),
        ScalarFn::Max => a.max(b),
        ScalarFn::Neg => -a,
        ScalarFn::Abs => a.abs(),
        ScalarFn::Sin => a.sin(),
        ScalarFn::Cos => a.cos(),
        ScalarFn::Less => truth(a < b),
        ScalarFn::LessEqual => truth(a <= b),
        ScalarFn::Greater => truth(a > b),
        ScalarFn::GreaterEqual => truth(a >= b),
        ScalarFn::Equal => truth(a == b),
        ScalarFn::NotEqual => truth(a != b),
        ScalarFn::And => truth(x && y),
        ScalarFn::Not => truth(!x),
        _ => unreachable!("not drawn"),
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
