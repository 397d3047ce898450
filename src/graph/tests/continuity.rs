//! Bones do not jump when states change.

use super::assembler::*;
use super::machines::CLIPS;
use super::*;

/// How far any bone moves in a frame over random changes between still poses, at most, and how far
/// two of these poses are apart.
fn largest_move(duration: f32) -> (f64, f64) {
    let (skeleton, mut clips) = testing::character(Shape::plain(12), 4, 99);
    for (clip, name) in clips.iter_mut().zip(CLIPS) {
        clip.name = name.into();
        clip.locals.truncate(12);
        clip.frame_count = 1;
    }
    let rig = Rig::new(skeleton.clone(), &clips).unwrap();
    let c = Character { rig, skeleton, clip_bindings: vec![ClipBinding::default(); 4], clips };
    let mut a = Assembler::new("changes");
    let x = a.param("x", ParamKind::Float);
    let wanted: Vec<_> = (0..4)
        .map(|i| {
            let i = a.constant(i as f32);
            a.scalar(ScalarFn::Equal, x, i)
        })
        .collect();
    let machine = a.select("gait");
    for (i, clip) in CLIPS.into_iter().enumerate() {
        let pose = a.looped(clip);
        a.state(machine, clip, pose, &[]);
        a.transition(machine, TransitionDesc { duration, ..when(None, i as u16, wanted[i]) });
    }
    let pose = a.eval(machine);
    let bound = bind(a.output(pose), &c);
    let mut p = Player::new(&bound, &c);
    let apart = |a: &[Mat3x4], b: &[Mat3x4]| {
        let joints = c.skeleton.palette().iter().zip(a.iter().zip(b));
        let moved = joints.map(|(entry, (a, b))| {
            let joint = entry.bone_from_mesh.inverse().translation;
            f64::from(
                (a.to_affine().transform_point3a(joint) - b.to_affine().transform_point3a(joint))
                    .length(),
            )
        });
        moved.fold(0.0, f64::max)
    };
    let poses: Vec<_> =
        (0..4).map(|i| c.rig.sample_palette(crate::index::ClipId(i), 0.0)).collect();
    let mut widest = 0.0_f64;
    for (i, a) in poses.iter().enumerate() {
        widest = poses[..i].iter().map(|b| apart(a, b)).fold(widest, f64::max);
    }
    let r = &mut Random(4);
    let mut before = p.step(1.0 / 60.0);
    let (mut changes, mut largest) = (0, 0.0_f64);
    while changes < 1_000 {
        if r.below(8) == 0 {
            p.set("x", r.below(4) as f32);
        }
        let state = p.state_of("gait");
        let now = p.step(1.0 / 60.0);
        changes += usize::from(p.state_of("gait") != state);
        largest = largest.max(apart(&before, &now));
        before = now;
    }
    (largest, widest)
}

#[test]
fn over_a_thousand_changes_no_bone_jumps() {
    // The quintic's steepest is 15/8 of the offset per duration: 0.08 of it in a frame. An
    // interrupted one has what is left of two, and chains of bones add up.
    let (moved, apart) = largest_move(0.4);
    assert!(moved < 0.25 * apart, "{moved} of {apart}");
    let (moved, apart) = largest_move(0.0);
    assert!(moved > 0.9 * apart, "without a transition it jumps: {moved} of {apart}");
}
