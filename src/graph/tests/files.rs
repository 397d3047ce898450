//! Graph files all the way to palettes.

use super::*;
use crate::asset;
use crate::graph::compile::EXAMPLE;
use crate::pose::GroundPatch;

fn bind_file(text: &str, c: &Character) -> BoundProgram {
    let program = compile("graph.ron", text).unwrap_or_else(|e| panic!("{e}")).program;
    bind(program.into_inner(), c)
}

#[test]
fn the_example_runs_eight_of_thirteen_tasks_in_two_buffers_from_its_file_on() {
    let clips = ["idle", "walk_fwd", "walk_back", "run_fwd", "run_back", "jump", "aim_pose"];
    let c = character(Shape::plain(20), &clips, 5);
    let mut text = EXAMPLE.replace("pelvis", "bone0");
    for leg in ["l", "r"] {
        for (at, part) in ["thigh", "calf", "foot"].iter().enumerate() {
            text = text.replace(&format!("{part}_{leg}"), &format!("bone{}", 1 + at));
        }
    }
    let bound = bind_file(&text, &c);
    let mut p = Player::new(&bound, &c);
    p.set("speed", 4.0);
    p.record(1.0 / 60.0);
    assert_eq!(p.state_of("locomotion"), 2);
    assert_eq!((p.list.len(), p.list.output().get()), (13, Some(12)));
    let (_, capture) = p.execute();
    // Task, kind, which of the two buffers, taken over from its dependency, live buffers after it:
    // the table of the seed's example, in the order of execution.
    let expected = [
        (4, "SampleClip", 0, false, 1),
        (5, "SampleClip", 1, false, 2),
        (6, "Blend", 0, true, 1),
        (8, "Inertialize", 0, true, 1),
        (9, "SampleClip", 1, false, 2),
        (10, "MakeAdditive", 1, true, 2),
        (11, "ApplyAdditive", 0, true, 1),
        (12, "FootIk", 0, true, 1),
    ];
    let mut ran: Vec<_> = (0..13).filter(|i| capture.tasks[*i].order.is_some()).collect();
    ran.sort_by_key(|i| capture.tasks[*i].order);
    let buffers = [capture.tasks[4].buffer, capture.tasks[5].buffer];
    let row = |at: usize| {
        let task = &capture.tasks[at];
        let buffer = buffers.iter().position(|b| *b == task.buffer).unwrap();
        (at, p.list.tasks()[at].kind().name(), buffer, task.stole, task.live_buffers)
    };
    assert_eq!(ran.into_iter().map(row).collect::<Vec<_>>(), expected);
    let stats = p.worker.take_stats();
    assert_eq!((stats.recorded, stats.reachable), (13, 8));
    assert_eq!((stats.copied_bytes, stats.buffers_peak), (0, 2));
}

#[test]
fn built_in_graphs_give_finite_palettes_whatever_their_inputs_do() {
    for (name, graph) in MADE_FOR {
        let asset = asset::builtin(name).unwrap().unwrap();
        let rig = Rig::new(asset.skeleton.clone(), &asset.clips).unwrap();
        let clip_bindings = vec![ClipBinding::default(); asset.clips.len()];
        let c = Character { rig, skeleton: asset.skeleton, clips: asset.clips, clip_bindings };
        let bound = bind_file(builtin_text(graph).unwrap(), &c);
        let mut p = Player::new(&bound, &c);
        let mut random = Random(11);
        let odd = [f32::MAX, f32::MIN, f32::INFINITY, f32::NAN, f32::MIN_POSITIVE, 0.0];
        for frame in 0..400 {
            for key in 0..bound.program().keys.len() {
                let value = match random.below(20) {
                    0 => odd[random.below(odd.len())],
                    1..6 => random.signed() * 5.0,
                    _ => continue,
                };
                bound.set_key(&mut p.row, KeyId(key as u16), value);
            }
            let mut number = || match random.below(10) {
                0 => odd[random.below(odd.len())],
                _ => random.signed(),
            };
            let (origin, bend) = ([(); 3].map(|()| number()), [(); 3].map(|()| number()));
            let ground = GroundPatch {
                origin: origin.into(),
                slope: [number(), number()].into(),
                bend: bend.into(),
            };
            let dt = if frame % 50 == 0 { 1e4 } else { random.signed().abs() * 0.1 };
            p.record(dt);
            p.list.set_ground(Some(ground));
            let palette = p.execute().0;
            assert!(palette.iter().all(Mat3x4::is_finite), "{name}, frame {frame}");
        }
    }
}
