//! Many instances evaluated together, beside each by itself without vector instructions: the same
//! to the bit, whoever else there is.

use super::naive::{CLIPS, Extra, random_program_with};
use super::random_files;
use super::*;
use crate::math::{Lanes, SimdLevel};
use crate::motion::GroundMotion;
use crate::pose::testing::Random;
use crate::task::TaskIndex;

/// Rows with their lists, and what was told of each.
struct Group {
    rows: Vec<Vec<u32>>,
    lists: Vec<TaskList>,
    scratch: VmScratch,
    told: Vec<String>,
}

impl Group {
    fn new(bound: &BoundProgram, count: usize, level: Lanes) -> Self {
        let row = |at: usize| {
            let mut row = vec![0; bound.words()];
            bound.start(&mut row, at as f32 * 0.37).unwrap();
            row
        };
        let mut scratch = VmScratch::default();
        scratch.set_lanes(level);
        Self {
            rows: (0..count).map(row).collect(),
            lists: vec![TaskList::default(); count],
            scratch,
            told: vec![String::new(); count],
        }
    }

    fn together(&mut self, bound: &BoundProgram, dts: &[f32]) {
        let rows = self.rows.iter_mut().zip(&mut self.lists).zip(dts).enumerate();
        let instances = rows.map(|(at, ((row, list), dt))| (Instance { row, dt: *dt, list }, at));
        let mut seen = vec![0; dts.len()];
        bound.evaluate_all(instances, &mut self.scratch, |_, at, result, fired| {
            seen[at] += 1;
            self.told[at] = words(result, fired);
        });
        assert!(seen.iter().all(|times| *times == 1), "{seen:?}");
    }

    fn one_by_one(&mut self, bound: &BoundProgram, dts: &[f32]) {
        for (at, dt) in dts.iter().enumerate() {
            let (row, list) = (&mut self.rows[at], &mut self.lists[at]);
            let result = bound.evaluate(row, *dt, &mut self.scratch, list);
            self.told[at] = words(result, self.scratch.fired());
        }
    }

    fn weights(&self, at: usize) -> Vec<u32> {
        let list = &self.lists[at];
        let tasks = (0..list.len()).filter_map(TaskIndex::new);
        tasks.map(|task| list.weight(task).to_bits()).collect()
    }
}

fn words(result: Result<GroundMotion, EvaluateError>, fired: &[crate::motion::Fired]) -> String {
    let motion = result.map(|m| [m.x, m.z, m.yaw].map(f32::to_bits));
    let told = fired.iter().map(|f| (f.id, f.moment, f.seconds.to_bits(), f.weight.to_bits()));
    format!("{motion:?} {:?}", told.collect::<Vec<_>>())
}

const STEPS: [f32; 8] = [0.016, 0.016, 0.016, 0.033, 0.0, 0.2, -0.03, f32::NAN];
const VALUES: [f32; 8] = [f32::NAN, 0.0, 1.0, 0.3, -0.7, 2.5, -3.0, 1e9];

fn compare(bound: &BoundProgram, r: &mut Random, frames: usize) {
    let count = 1 + r.below(40);
    let scalar = Lanes::new(SimdLevel::Scalar).unwrap();
    let mut twin = Group::new(bound, count, scalar);
    let mut groups: Vec<_> = Lanes::all().map(|level| Group::new(bound, count, level)).collect();
    for frame in 0..frames {
        for at in 0..count {
            for key in (0..bound.program().keys.len()).map(|key| KeyId(key as u16)) {
                if r.below(3) == 0 {
                    let value = VALUES[r.below(VALUES.len())];
                    for group in groups.iter_mut().chain([&mut twin]) {
                        bound.set_key(&mut group.rows[at], key, value);
                    }
                }
            }
        }
        // All with one step, or everybody with one of its own.
        let all = STEPS[r.below(4)];
        let mixed = r.below(2) == 0;
        let dts: Vec<f32> =
            (0..count).map(|_| if mixed { STEPS[r.below(STEPS.len())] } else { all }).collect();
        twin.one_by_one(bound, &dts);
        for (group, level) in groups.iter_mut().zip(SimdLevel::available()) {
            group.together(bound, &dts);
            for at in 0..count {
                assert_eq!(group.told[at], twin.told[at], "{level}, frame {frame}, {at}");
                assert_eq!(group.rows[at], twin.rows[at], "{level}, frame {frame}, {at}");
                let lists = [&*group, &twin].map(|group| format!("{:?}", group.lists[at].tasks()));
                assert_eq!(lists[0], lists[1], "{level}, frame {frame}, {at}");
                assert_eq!(group.weights(at), twin.weights(at), "{level}, frame {frame}, {at}");
            }
        }
    }
}

#[test]
fn instances_of_random_programs_do_not_see_one_another() {
    for seed in 1..=120 {
        let r = &mut Random(seed * 0x2545 + 11);
        let extra = Extra { seams: true, bones: seed % 2 == 0 };
        let program = random_program_with(r, extra);
        let c = character(Shape::plain(9), &CLIPS, seed % 40);
        compare(&bind(program, &c), r, 10);
    }
}

#[test]
fn instances_of_random_files_do_not_see_one_another() {
    for seed in 1..=120 {
        let r = &mut Random(seed * 6_151 + 5);
        let Ok(compiled) = compile("graph.ron", &random_files::file(r)) else { continue };
        let shape = Shape::plain(random_files::BONES);
        let mut c = character(shape, &random_files::CLIPS, seed % 40);
        if compiled.program.get().scaled_bone().is_some() {
            c.rig = Rig::general(c.skeleton.clone(), &c.clips).unwrap();
        }
        compare(&bind(compiled.program.into_inner(), &c), r, 10);
    }
}

#[test]
fn instances_of_the_built_in_graphs_do_not_see_one_another() {
    for (name, graph) in MADE_FOR {
        let asset = crate::asset::builtin(name).unwrap().unwrap();
        let rig = Rig::new(asset.skeleton.clone(), &asset.clips).unwrap();
        let clip_bindings = vec![ClipBinding::default(); asset.clips.len()];
        let c = Character { rig, skeleton: asset.skeleton, clips: asset.clips, clip_bindings };
        let program = compile(graph, builtin_text(graph).unwrap()).unwrap().program;
        compare(&bind(program.into_inner(), &c), &mut Random(9), 60);
    }
}

#[test]
fn a_row_of_another_program_is_refused_and_the_others_are_evaluated() {
    let r = &mut Random(77);
    let c = character(Shape::plain(9), &CLIPS, 3);
    let bound = bind(random_program_with(r, Extra { seams: true, bones: true }), &c);
    let level = Lanes::best();
    let (mut group, mut alone) = (Group::new(&bound, 20, level), Group::new(&bound, 20, level));
    for rows in [&mut group.rows, &mut alone.rows] {
        rows[0].push(0);
        rows[17].pop();
    }
    for _ in 0..3 {
        group.together(&bound, &[0.02; 20]);
        alone.one_by_one(&bound, &[0.02; 20]);
        assert_eq!(group.told, alone.told);
        assert!(group.told[17].starts_with("Err") && group.told[16].starts_with("Ok"));
        assert_eq!(group.rows, alone.rows);
    }
    let nobody: [(Instance<'_>, ()); 0] = [];
    bound.evaluate_all(nobody, &mut group.scratch, |_, (), _, _| unreachable!("nobody is there"));
}

#[test]
fn sync_groups_with_and_without_markers_do_not_see_one_another() {
    let text = r#"(version: 1, sync_groups: ["gait", "even"], sync_speeds: {"gait": "pace"},
        parameters: {"x": Float(range: (0, 1)), "pace": Float(range: (-2, 2), default: 1)},
        sync_markers: {
            "walk": [At(0.3, "left"), AtPart(0.6, "lift"), AtPart(0.75, "right")],
            "run": [AtPart(0.9, "left"), At(0.1, "lift"), At(0.2, "right")],
        },
        nodes: {
            "walk": Clip(clip: "walk", sync: "gait"),
            "run": Clip(clip: "run", sync: "gait"),
            "idle": Clip(clip: "idle", sync: "even"),
            "wave": Clip(clip: "wave", sync: "even"),
            "go": Blend(a: "walk", b: "run", alpha: "x"),
            "stand": Blend(a: "idle", b: "wave", alpha: "1 - x"),
            "out": Blend(a: "go", b: "stand", alpha: "x * x"),
        }, output: "out")"#;
    let program = compile("graph.ron", text).unwrap().program;
    let bound = bind(program.into_inner(), &motions::thing());
    for seed in 1..=12 {
        compare(&bound, &mut Random(seed), 120);
    }
}

#[test]
fn clocks_of_every_mode_and_places_in_blend_spaces_do_not_see_one_another() {
    let text = r#"(version: 1, sync_groups: ["gait"],
        parameters: {
            "x": Float(range: (-2, 2)), "y": Float(range: (-2, 2)),
            "pace": Float(range: (-2, 2), default: 1),
        },
        values: {"end": "ended(outside)"},
        nodes: {
            "loop": Clip(clip: "walk", speed: "pace"),
            "once": Clip(clip: "run", mode: Once, speed: "pace"),
            "clamp": Clip(clip: "idle", mode: Clamp, speed: -0.5),
            "back": Clip(clip: "wave", mode: PingPong, speed: "pace * 3"),
            "even": Clip(clip: "walk", sync: "gait"),
            "gait": Clip(clip: "run", sync: "gait"),
            "again": Clip(clip: "walk", mode: Once),
            "outside": Clip(clip: "run", mode: Once, speed: "pace"),
            "line": BlendSpace1D(x: "x", points: [
                (-1, "loop"), (0, "once"), (0.5, "clamp"), (1.5, "back"),
            ]),
            "plane": BlendSpace2D(x: "x", y: "y", points: [
                (0, 0, "even"), (1, 0, "gait"), (0, 1, "clamp"), (1, 1, "back"),
            ]),
            "machine": StateMachine(
                entry: "line",
                states: {
                    "line": (pose: "line"), "plane": (pose: "plane"), "again": (pose: "again"),
                },
                transitions: [
                    (from: "line", to: "plane", at_end: "loop", when: "x > 0"),
                    (from: "line", to: "again", when: "end > 0.5", interrupts: false),
                    (from: "plane", to: "again", after: 0.1, when: "x < 0.5"),
                    (from: "again", to: "line", at_end: "again", before_end: 0.1),
                ],
                blend: Inertialize(0.2),
            ),
            "out": Blend(a: "machine", b: "outside", alpha: 0.2),
        }, output: "out")"#;
    let program = compile("graph.ron", text).unwrap().program;
    let bound = bind(program.into_inner(), &motions::thing());
    for seed in 1..=12 {
        compare(&bound, &mut Random(seed), 120);
    }
}
