//! Branches that weigh nothing: what is executed, what is shown, what stands still.

use super::assembler::*;
use super::*;
use crate::pose::kernels::bone::{BoneMode, BoneSpace};
use crate::task::{Task, TaskIndex, TaskKind};

const CLIPS: [&str; 3] = ["base", "layer", "other"];

/// The operations that have a weight; `Blend` at both ends.
const OPERATIONS: [&str; 9] = [
    "Blend",
    "BlendMasked",
    "ApplyAdditive",
    "BoneTransform",
    "TranslateBone",
    "TwoBoneIk",
    "Fabrik",
    "LookAt",
    "FootIk",
];

/// One operation of a name on the clip `base` with the weight `x`; its other branch is a state
/// machine whose pose is kept as a snapshot.
fn program(name: &str) -> Program {
    let mut a = Assembler::new(name);
    a.0.snapshots.push("kept".into());
    let alpha = a.param("x", ParamKind::Float);
    let go = a.param("go", ParamKind::Bool);
    let [root, mid, end, toe] = ["bone0", "bone1", "bone2", "bone3"].map(|bone| a.bone(bone));
    a.0.masks.push(MaskDesc { name: "all".into(), others: 1.0, entries: Vec::new() });
    let at = a.vector([0.3, 0.4, 0.5]);
    let change: Vec<_> =
        [0.1, 0.2, 0.1, 0.1, 0.2, 0.3, 0.9, 1.0, 1.0, 1.0].map(|v| a.constant(v)).to_vec();
    let machine = a.select("inner");
    let (layer, other) = (a.looped("layer"), a.looped("other"));
    a.state(machine, "layer", layer, &[]);
    a.state(machine, "other", other, &[]);
    a.transition(machine, when(Some(0), 1, go));
    let source = a.eval(machine);
    let snapshot = SnapshotRef(0);
    let kept = a.pose(|dst| Op::SaveSnapshot { source, snapshot, dst });
    let base = a.looped("base");
    let (space, mask, source) = (BoneSpace::Local, MaskRef(0), base);
    let delta = a.pose(|dst| Op::MakeAdditive { source: kept, reference: None, space: LOCAL, dst });
    let pose = a.pose(|dst| match name {
        "Blend" => Op::Blend { a: base, b: kept, alpha, dst },
        "BlendMasked" => Op::BlendMasked { a: base, b: kept, alpha, mask, dst },
        "ApplyAdditive" => Op::ApplyAdditive { base, delta, alpha, space: LOCAL, dst },
        "BoneTransform" => {
            let (mode, change) = (BoneMode::Additive, Transform(change[0].0));
            Op::BoneTransform { source, bone: mid, space, mode, alpha, change, dst }
        }
        "TranslateBone" => Op::TranslateBone { source, bone: mid, space, alpha, offset: at, dst },
        "TwoBoneIk" => {
            let (limb, target, pole, soften) = (LimbRef { root, mid, end }, at, None, None);
            Op::TwoBoneIk { source, limb, target, pole, soften, alpha, dst }
        }
        "Fabrik" => {
            let (target, iterations, tolerance, weights) = (at, 8, change[0], None);
            Op::Fabrik { source, root, end, target, iterations, tolerance, weights, alpha, dst }
        }
        "LookAt" => {
            let (bone, forward, target, limit) = (mid, at, at, None);
            Op::LookAt { source, bone, forward, target, limit, alpha, dst }
        }
        _ => {
            let leg = LimbRef { root: mid, mid: end, end: toe };
            Op::FootIk { source, hips: root, left: leg, right: leg, alpha, dst }
        }
    });
    a.output(pose)
}

fn kinds_that_ran(p: &mut Player) -> (Vec<TaskKind>, Vec<Mat3x4>) {
    let (palette, capture) = p.execute();
    let tasks = p.list.tasks().iter().zip(&capture.tasks);
    (tasks.filter(|(_, t)| t.order.is_some()).map(|(t, _)| t.kind()).collect(), palette)
}

/// What the clip shows by itself at the time of a step.
fn alone(c: &Character, clip: &str) -> Vec<Mat3x4> {
    let mut a = Assembler::new("alone");
    let pose = a.looped(clip);
    let bound = bind(a.output(pose), c);
    let mut p = Player::new(&bound, c);
    p.step(0.1);
    p.step(0.1)
}

#[test]
fn what_weighs_nothing_is_not_executed_and_changes_no_bit() {
    let c = character(Shape::plain(20), &CLIPS, 31);
    for name in OPERATIONS {
        let bound = bind(program(name), &c);
        let shown = |x: f32, prune: bool| {
            let mut p = Player::new(&bound, &c);
            p.worker = Worker::new(WorkerOptions { prune, ..WorkerOptions::default() });
            p.set("x", x);
            p.step(0.1);
            p.record(0.1);
            p.worker.take_stats();
            let (kinds, palette) = kinds_that_ran(&mut p);
            assert_eq!(p.worker.take_stats().executed_total() as usize, kinds.len());
            if !prune {
                assert_eq!(kinds.len(), p.list.len(), "{name}: all of the list runs");
                assert!(kinds.contains(&TaskKind::SavePoseSnapshot));
            }
            (kinds, palette)
        };
        for x in [0.0, -1.0] {
            let (kinds, palette) = shown(x, true);
            assert_eq!(kinds, [TaskKind::SampleClip], "{name} at {x}");
            assert!(palette == alone(&c, "base"), "{name} at {x}");
            assert!(palette == shown(x, false).1, "{name} at {x}, nothing pruned");
        }
        let (kinds, palette) = shown(0.5, true);
        assert!(kinds.iter().any(|k| k.name() == name), "{name}: {kinds:?}");
        assert!(palette == shown(0.5, false).1, "{name}");
        // Feet stay where they are while nobody gives the list a ground.
        assert!((palette != alone(&c, "base")) == (name != "FootIk"), "{name}");
    }
    // At its other end a plain blend reads what it goes to.
    let bound = bind(program("Blend"), &c);
    let mut p = Player::new(&bound, &c);
    p.set("x", 1.0);
    p.step(0.1);
    p.record(0.1);
    let (kinds, palette) = kinds_that_ran(&mut p);
    use TaskKind::{Inertialize, SampleClip, SavePoseSnapshot};
    assert_eq!(kinds, [SampleClip, Inertialize, SavePoseSnapshot]);
    assert!(palette == alone(&c, "layer"));
}

#[test]
fn behind_no_weight_snapshots_are_not_kept_and_histories_stand_still() {
    let c = character(Shape::plain(20), &CLIPS, 32);
    let bound = bind(program("BlendMasked"), &c);
    let mut p = Player::new(&bound, &c);
    let seam = |p: &mut Player| {
        p.record(0.1);
        let of = |task: &Task| match task {
            Task::Inertialize { transition, .. } => Some(*transition),
            _ => None,
        };
        let transition = p.list.tasks().iter().find_map(of).unwrap();
        p.execute();
        transition
    };
    let keeps = |p: &Player| {
        let saves = |task: &Task| matches!(task, Task::SavePoseSnapshot { .. });
        let at = p.list.tasks().iter().position(saves).and_then(TaskIndex::new);
        p.list.is_reachable(at.unwrap())
    };
    (0..3).for_each(|_| assert!(seam(&mut p).dt.is_nan()));
    assert!(!keeps(&p));
    p.set("x", 0.4);
    assert!(seam(&mut p).dt.is_nan(), "nobody knows how it moved before");
    assert!(keeps(&p));
    assert_eq!(seam(&mut p).dt, 0.1);
    // Its machine decides while it is not heard, and comes back without a velocity.
    p.set("x", 0.0);
    seam(&mut p);
    p.set("go", 1.0);
    seam(&mut p);
    assert_eq!(p.state_of("inner"), 1);
    p.set("x", 0.4);
    let back = seam(&mut p);
    assert!(back.dt.is_nan() && !back.capture, "{back:?}");
    assert!(p.step(0.1).iter().all(Mat3x4::is_finite));
}

#[test]
fn a_layer_that_fades_out_ends() {
    let c = character(Shape::plain(20), &CLIPS, 33);
    let mut a = Assembler::new("fading");
    let value = a.param("x", ParamKind::Float);
    let (half_life, dst) = (a.constant(0.1), a.scalar_out());
    a.0.smooths = 1;
    a.0.code.push(Op::Smooth { value, half_life, slot: SmoothId(0), dst });
    let (base, layer) = (a.looped("base"), a.looped("layer"));
    let pose = a.blend(base, layer, dst.read());
    let bound = bind(a.output(pose), &c);
    let mut p = Player::new(&bound, &c);
    let executed = |p: &mut Player, seconds: f32| {
        for _ in 0..(seconds * 60.0) as usize {
            p.record(1.0 / 60.0);
        }
        p.list.reachable_count()
    };
    p.set("x", 1.0);
    assert_eq!(executed(&mut p, 0.1), 1, "it starts where it is to be");
    p.set("x", 0.0);
    assert_eq!(executed(&mut p, 0.5), 3);
    assert_eq!(executed(&mut p, 1.0), 1);
    p.set("x", 1.0);
    assert_eq!(executed(&mut p, 0.5), 3);
    assert_eq!(executed(&mut p, 1.0), 1);
}
