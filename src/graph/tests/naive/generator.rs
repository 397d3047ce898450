//! Random programs.

use super::*;

pub(super) struct Generator<'a> {
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
    pub(super) fn run(r: &mut Random, extra: Extra) -> Program {
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
        if r.below(2) == 0 {
            // Each clip has the same ones in the same order and begins with any of them.
            let count = 1 + r.below(4);
            a.0.sync_markers.extend((0..4).map(|clip| {
                let first = r.below(count);
                let mut at = 0.1 + 0.1 * r.signed();
                let markers = (0..count).map(|i| {
                    let name = format!("marker{}", (first + i) % count);
                    at += 0.12 + 0.07 * r.signed();
                    MarkerDesc { name, at: program::Moment::Fraction(at) }
                });
                MarkersDesc { clip: ClipRef(clip), markers: markers.collect() }
            }));
        }
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
        this.paces();
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

    /// Says how fast some of the sync groups run, by what was computed anywhere.
    fn paces(&mut self) {
        let [a, b] = [0.6, 1.7].map(|pace| self.a.constant(pace));
        for group in [0, 1].map(GroupId) {
            if self.r.below(2) == 0 {
                let (condition, dst) = (self.scalar(), self.a.scalar_out());
                self.a.0.code.push(Op::Choose { condition, a, b, dst });
                self.a.0.code.push(Op::PaceGroup { group, speed: dst.read() });
            }
        }
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
        let bone = BoneRef(self.r.below(BONES) as u16);
        let below_all = BoneRef(1 + self.r.below(BONES - 1) as u16);
        let [root, mid, end, toe] = [0, 1, 2, 3].map(BoneRef);
        let way = self.r.below(6);
        let seam = SeamId(self.a.0.seams);
        if way == 5 {
            self.a.0.seams += 1;
        }
        let pose = self.a.pose(|dst| match way {
            0 => Op::TwoBoneIk {
                source,
                limb: LimbRef { root, mid, end },
                target,
                pole: Some(target),
                soften: Some(alpha),
                alpha,
                dst,
            },
            1 => Op::Fabrik {
                source,
                root,
                end: below_all,
                target,
                iterations: 8,
                tolerance: alpha,
                weights: None,
                alpha,
                dst,
            },
            2 => {
                Op::LookAt { source, bone, forward: target, target, limit: Some(alpha), alpha, dst }
            }
            3 => {
                let leg = LimbRef { root: mid, mid: end, end: toe };
                Op::FootIk { source, hips: root, left: leg, right: leg, alpha, dst }
            }
            4 => Op::TranslateBone {
                source,
                bone,
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
