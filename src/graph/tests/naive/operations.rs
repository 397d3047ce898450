//! What opcodes do to scalars at once, and what they leave to be posed.

use super::*;

impl Naive<'_> {
    pub(super) fn op(
        &mut self,
        op: &Op,
        dt: f64,
        s: &mut [f64],
        poses: &mut [usize],
        nodes: &mut Vec<Node>,
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
                let near = (next - value).abs() <= 1e-4 * value.abs().max(1.0);
                let next = if near { value } else { next };
                self.smooths[slot.get()] = Some(next);
                s[dst.get()] = next;
            }
            Op::AdvanceClock { clock, time, .. } => {
                let (row, length) = (&self.p.clocks[clock.get()], self.length(clock.get()));
                let grouped = row.group.map(|group| self.in_group(clock.get(), group.get()));
                let state = &mut self.clocks[clock.get()];
                let fresh = std::mem::take(&mut state.fresh);
                if let Some((shows, passed)) = grouped {
                    (state.shows, state.passed) = (shows, passed);
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
            Op::SelectState { machine } => self.select(machine.get(), dt, s),
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
            Op::PaceGroup { group, speed } => {
                self.groups[group.get()].speed = Some(s[speed.get()]);
            }
            Op::Output { .. } => {}
            _ => unreachable!("not drawn for the naive interpreter"),
        }
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
