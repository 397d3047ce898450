//! What is needed alone, beside everything: the same to the bit wherever anybody can tell.

use super::naive::{Extra, random_program_with};
use super::random_files::{self, CLIPS};
use super::*;
use crate::asset;
use crate::graph::plan::{Guard, Plan};
use crate::graph::wide::Lane;
use crate::motion::{Fired, GroundMotion};
use crate::pose::testing::Random;
use crate::task::TaskKind;

/// What random programs did, so that a test knows that it has seen what it is about.
#[derive(Debug, Default)]
struct Seen {
    /// Evaluations with a clock that stood still.
    rests: usize,
    /// With a machine that did.
    machines: usize,
    /// With tasks that were not recorded.
    fewer: usize,
    /// Spans that ended after what had opened them was left.
    ends: usize,
    /// States that were entered.
    entered: usize,
}

/// One instance twice: with everything recorded and with what is needed.
struct Twins<'a> {
    all: Player<'a>,
    few: Player<'a>,
    seen: Seen,
}

impl<'a> Twins<'a> {
    fn new(bound: &'a BoundProgram, c: &'a Character) -> Self {
        let (all, mut few) = (Player::new(bound, c), Player::new(bound, c));
        few.scratch.record_everything(false);
        Self { all, few, seen: Seen::default() }
    }

    fn set(&mut self, key: KeyId, value: f32) {
        for p in [&mut self.all, &mut self.few] {
            p.bound.set_key(&mut p.row, key, value);
        }
    }

    /// Evaluates and executes both, and compares them.
    fn step(&mut self, dt: f32) -> Vec<Mat3x4> {
        let before = self.states();
        let moved = [self.all.record(dt), self.few.record(dt)];
        let [all, few] = moved.map(|m| [m.x, m.z, m.yaw].map(f32::to_bits));
        assert_eq!(all, few, "{moved:?}");
        let told = [&self.all, &self.few].map(|p| p.scratch.fired().iter().map(bits).collect());
        let [all, few]: [Vec<_>; 2] = told;
        assert_eq!(all, few);
        self.count(&before);
        self.lists();
        self.control();
        let (all, _) = self.all.execute();
        let (few, capture) = self.few.execute();
        assert!(words(&all) == words(&few), "another pose");
        assert!(capture.tasks.iter().all(|task| task.order.is_some()), "all of it was needed");
        few
    }

    /// Which state each machine is in, of everything.
    fn states(&mut self) -> Vec<u16> {
        let control = self.all.bound.control(&mut self.all.row).unwrap();
        control.machines.iter().map(|machine| machine.state).collect()
    }

    /// The needed tasks are those of everything that its output depends on, with the same weights.
    fn lists(&self) {
        let of = |p: &Player| {
            let index = |at| crate::task::TaskIndex::new(at).unwrap();
            let needed = (0..p.list.len()).filter(|at| p.list.is_reachable(index(*at)));
            let row = |at: usize| {
                let task = &p.list.tasks()[at];
                let values = match *task {
                    crate::task::Task::SampleClip { clip, seconds } => (clip.0, seconds.to_bits()),
                    _ => (0, 0),
                };
                (task.kind(), values, p.list.weight(index(at)).to_bits())
            };
            needed.map(row).collect::<Vec<(TaskKind, (u16, u32), u32)>>()
        };
        assert_eq!(of(&self.all), of(&self.few));
        // The bind pose of an output without a task.
        assert_eq!(self.few.list.reachable_count(), self.few.list.len());
    }

    /// What instances keep is the same but for what nobody needs: clocks and machines of states that
    /// are not current, and sync groups of none but such clocks.
    fn control(&mut self) {
        let plan = self.few.bound.plan();
        let guards = &plan.guards;
        let lane = Lane::default();
        let values = &self.few.scratch.values;
        let running: Vec<bool> = (0..guards.states.len() as u16)
            .map(|guard| values.is_active(Guard(guard), lane))
            .collect();
        let (a, b) = (&mut self.all, &mut self.few);
        let descs = &b.bound.program().clocks;
        let (a, b) = (a.bound.control(&mut a.row).unwrap(), b.bound.control(&mut b.row).unwrap());
        let same =
            |a: &[f32], b: &[f32]| a.iter().map(|v| v.to_bits()).eq(b.iter().map(|v| v.to_bits()));
        assert!(same(a.params, b.params) && same(a.keys, b.keys) && same(a.smooths, b.smooths));
        assert_eq!(a.heard, b.heard);
        assert_eq!(words(a.seams), words(b.seams));
        let states: Vec<_> = b.machines.iter().map(|machine| machine.state).collect();
        let needed = |guard: Guard| is_needed(plan, &states, guard);
        for (at, (a, b)) in a.clocks.iter().zip(&*b.clocks).enumerate() {
            let guard = guards.clocks[at];
            assert!(running[guard.get()] || !needed(guard), "clock {at} stands still");
            assert!(running[guard.get()] || !b.notifies.has_open_spans(), "clock {at} in a span");
            if needed(guard) {
                assert_eq!(words(&[*a]), words(&[*b]), "clock {at}");
            }
        }
        for at in 0..a.groups.len() {
            let is_member = |desc: &ClockDesc| desc.group == Some(GroupId(at as u16));
            let mut members = descs.iter().zip(&guards.clocks).filter(|(desc, _)| is_member(desc));
            if members.any(|(_, guard)| needed(*guard)) {
                assert_eq!(words(&a.groups[at..=at]), words(&b.groups[at..=at]), "group {at}");
            }
        }
        for at in 0..states.len() {
            if needed(guard_of(plan, MachineId(at as u16))) {
                assert_eq!(
                    words(&a.machines[at..=at]),
                    words(&b.machines[at..=at]),
                    "machine {at}"
                );
            }
        }
    }

    fn count(&mut self, before: &[u16]) {
        let now = self.states();
        let seen = &mut self.seen;
        seen.entered += usize::from(now != before);
        let p = &self.few;
        let guards = &p.bound.plan().guards;
        let rests = |guard: &Guard| !p.scratch.values.is_active(*guard, Lane::default());
        seen.rests += usize::from(guards.clocks.iter().any(rests));
        let ops = p.bound.plan().control.iter().zip(&guards.each);
        let selects = ops.filter(|(op, _)| matches!(op, Op::SelectState { .. }));
        seen.machines += usize::from(selects.map(|(_, guard)| guard).any(rests));
        seen.fewer += usize::from(p.list.len() < self.all.list.len());
        let ends =
            |fired: &&Fired| fired.moment == crate::motion::Moment::End && fired.weight == 0.0;
        seen.ends += p.scratch.fired().iter().filter(ends).count();
    }
}

fn words<T: bytemuck::NoUninit>(of: &[T]) -> &[u32] {
    bytemuck::cast_slice(of)
}

/// When a machine is selected.
fn guard_of(plan: &Plan, machine: MachineId) -> Guard {
    let selects = |op: &Op| *op == Op::SelectState { machine };
    plan.guards.each[plan.control.iter().position(selects).unwrap()]
}

/// Whether one of a guard's states is current, and its machine needed.
fn is_needed(plan: &Plan, states: &[u16], guard: Guard) -> bool {
    let current = |(machine, state): &(MachineId, StateId)| {
        states[machine.get()] == state.0 && is_needed(plan, states, guard_of(plan, *machine))
    };
    guard == Guard::ALWAYS || plan.guards.states[guard.get()].iter().any(current)
}

fn bits(fired: &Fired) -> (u16, crate::motion::Moment, u32, u32) {
    (fired.id.0, fired.moment, fired.seconds.to_bits(), fired.weight.to_bits())
}

/// Steps of time, with those that are none, lead back or are far too long.
const STEPS: [f32; 12] =
    [0.016, 0.016, 0.03, 0.05, 0.011, 0.2, 0.0, -0.0, -0.03, -0.3, 1e9, f32::NAN];

fn play(bound: &BoundProgram, c: &Character, r: &mut Random, frames: usize) -> Seen {
    const VALUES: [f32; 9] = [f32::NAN, 0.0, 1.0, 1.0, 0.3, -0.7, 2.5, -3.0, 1e9];
    let mut twins = Twins::new(bound, c);
    for _ in 0..frames {
        for key in 0..bound.program().keys.len() {
            if r.below(3) == 0 {
                twins.set(KeyId(key as u16), VALUES[r.below(VALUES.len())]);
            }
        }
        let most = if r.below(3) == 0 { STEPS.len() } else { 5 };
        let dt = STEPS[r.below(most)];
        twins.step(dt);
    }
    twins.seen
}

impl Seen {
    fn add(&mut self, other: &Self) {
        self.rests += other.rests;
        self.machines += other.machines;
        self.fewer += other.fewer;
        self.ends += other.ends;
        self.entered += other.entered;
    }
}

#[test]
fn of_random_programs_nothing_that_is_seen_is_left_out() {
    let mut seen = Seen::default();
    for seed in 1..=500 {
        let r = &mut Random(seed * 0x9e37 + 3);
        let extra = Extra { seams: true, bones: seed % 2 == 0 };
        let program = random_program_with(r, extra);
        let c = character(Shape::plain(9), &super::naive::CLIPS, seed % 40);
        let bound = bind(program, &c);
        seen.add(&play(&bound, &c, r, 24));
    }
    assert!(seen.rests > 500 && seen.fewer > 2_000 && seen.entered > 200, "{seen:?}");
}

#[test]
fn of_random_files_nothing_that_is_seen_is_left_out() {
    let mut seen = Seen::default();
    for seed in 1..=500 {
        let r = &mut Random(seed * 7_919 + 1);
        let text = random_files::file(r);
        let Ok(compiled) = compile("graph.ron", &text) else { continue };
        let mut c = character(Shape::plain(random_files::BONES), &CLIPS, seed % 40);
        if compiled.program.get().scaled_bone().is_some() {
            c.rig = Rig::general(c.skeleton.clone(), &c.clips).unwrap();
        }
        let bound = bind(compiled.program.into_inner(), &c);
        seen.add(&play(&bound, &c, r, 24));
    }
    assert!(seen.rests > 1_000 && seen.machines > 50 && seen.ends > 20, "{seen:?}");
}

/// Machines inside of machines, with everything that keeps clocks apart: sync groups within and
/// without, spans, states that resume, transitions at ends, into themselves and interrupted.
fn nested(r: &mut Random) -> String {
    let mut pick = |from: &[&str]| from[r.below(from.len())].to_owned();
    let mut clips = String::new();
    for i in 0..8 {
        let clip = pick(&["idle", "walk", "run", "wave"]);
        let how = pick(&[
            "",
            "",
            ", sync: \"feet\"",
            ", mode: Once",
            ", mode: PingPong",
            ", speed: \"1 + x\"",
        ]);
        clips += &format!("\"c{i}\": Clip(clip: {clip:?}{how}), ");
    }
    let mut inner = String::new();
    let conditions = ["x > 0.5", "x < 0.5", "y > 0", "y < 0.4", "go", "flag", "!flag", "x > y"];
    let mut machine = |pick: &mut dyn FnMut(&[&str]) -> String, name: &str, poses: [&str; 3]| {
        let states: String = (0..3)
            .map(|i| {
                let entry = pick(&["", "", "", ", on_entry: Resume"]);
                format!("\"s{i}\": (pose: {:?}{entry}), ", poses[i])
            })
            .collect();
        let mut ways = String::new();
        for (from, to) in [(0, 1), (1, 2), (2, 0), (1, 0), (0, 2), (1, 1)] {
            let when = pick(&conditions);
            let end = match poses[from].starts_with('c') {
                true => pick(&["", "", &format!(", at_end: {:?}, before_end: 0.05", poses[from])]),
                false => String::new(),
            };
            let how = pick(&["", ", blend: Cut", ", blend: DeadBlend(0.2)", ", interrupts: false"]);
            ways += &format!("(from: \"s{from}\", to: \"s{to}\", when: {when:?}{end}{how}), ");
        }
        inner += &format!(
            "{name:?}: StateMachine(entry: \"s0\", states: {{{states}}}, transitions: [{ways}]), "
        );
    };
    machine(&mut pick, "deep", ["c0", "c1", "c2"]);
    machine(&mut pick, "inner", ["deep", "c3", "c4"]);
    let shown = pick(&["c5", "c0", "mix"]);
    machine(&mut pick, "outer", ["inner", "c6", &shown]);
    let top = pick(&["1", "x", "clamp(y, 0, 1)"]);
    format!(
        r#"Graph(version: 1,
        parameters: {{"x": Float(), "y": Float(), "flag": Bool(), "go": Trigger()}},
        masks: {{"arm": [Subtree("bone1", 1), Others(0.2)]}},
        sync_groups: ["feet"],
        notifies: {{"walk": [AtPart(0.3, "step"), During(0.02, 0.4, "trail")],
                    "idle": [During(0.1, 0.5, "rest")], "run": [During(0, 0.3, "dash")]}},
        nodes: {{{clips}
            "mix": BlendSpace2D(x: "x", y: "y", points: [(0, 0, "c5"), (1, 0, "c6"), (0, 1, "c7")]),
            {inner}
            "out": BlendMasked(a: "outer", b: "c7", mask: "arm", alpha: "{top}"),
        }}, output: "out")"#
    )
}

#[test]
fn machines_inside_of_machines_go_on_where_they_would_have() {
    let mut seen = Seen::default();
    let mut compiled = 0;
    for seed in 1..=600 {
        let r = &mut Random(seed * 104_729 + 7);
        let text = nested(r);
        let program = match compile("graph.ron", &text) {
            Ok(compiled) => compiled.program.into_inner(),
            Err(error) => {
                assert!(random_files::is_a_tangle(&error), "{error}\n{text}");
                continue;
            }
        };
        compiled += 1;
        let c = motions::thing();
        let bound = bind(program, &c);
        seen.add(&play(&bound, &c, r, 60));
    }
    assert!(compiled > 300, "{compiled}");
    assert!(seen.rests > 5_000 && seen.machines > 1_000 && seen.ends > 200, "{seen:?}");
}

#[test]
fn built_in_graphs_rest_what_their_states_do_not_need() {
    for (name, graph) in MADE_FOR {
        let asset = asset::builtin(name).unwrap().unwrap();
        let rig = Rig::new(asset.skeleton.clone(), &asset.clips).unwrap();
        let clip_bindings = vec![ClipBinding::default(); asset.clips.len()];
        let c = Character { rig, skeleton: asset.skeleton, clips: asset.clips, clip_bindings };
        let program = compile(graph, builtin_text(graph).unwrap()).unwrap().program;
        let bound = bind(program.into_inner(), &c);
        let seen = play(&bound, &c, &mut Random(3), 600);
        assert!(seen.rests == 600 && seen.machines > 200 && seen.entered > 40, "{seen:?}");
        assert_eq!(seen.fewer, 600);
    }
}

#[test]
fn a_scratch_serves_programs_by_turns() {
    let c = motions::thing();
    let bounds: Vec<_> = (1..=6)
        .map(|seed| loop_until(&mut Random(seed * 31), |r| compile("g", &nested(r)).ok()))
        .map(|compiled| bind(compiled.program.into_inner(), &c))
        .collect();
    let mut alone: Vec<_> = bounds.iter().map(|bound| Player::new(bound, &c)).collect();
    let mut rows: Vec<_> = alone.iter().map(|p| p.row.clone()).collect();
    let (mut scratch, mut list) = (VmScratch::default(), TaskList::default());
    let mut r = Random(5);
    for _ in 0..40 {
        for ((bound, p), row) in bounds.iter().zip(&mut alone).zip(&mut rows) {
            p.scratch.record_everything(false);
            let value = r.signed() * 2.0;
            p.bound.set_key(&mut p.row, KeyId(0), value);
            bound.set_key(row, KeyId(0), value);
            let motion = bound.evaluate(row, 0.03, &mut scratch, &mut list).unwrap();
            assert_eq!(motion, p.record(0.03));
            assert!(list.tasks().len() == p.list.tasks().len() && *row == p.row);
            assert_eq!(scratch.fired(), p.scratch.fired());
        }
    }
    assert_ne!(GroundMotion::IDENTITY, alone[0].record(0.1).plus(alone[1].record(0.1)));
}

/// What comes of the first random numbers that something comes of.
fn loop_until<T>(r: &mut Random, mut from: impl FnMut(&mut Random) -> Option<T>) -> T {
    loop {
        if let Some(found) = from(r) {
            return found;
        }
    }
}
