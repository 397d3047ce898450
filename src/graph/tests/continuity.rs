//! Bones do not jump when states change: from a graph file to joints, frame by frame.

use super::*;
use crate::index::ClipId;
use glam::{Quat, Vec3};
use std::f32::consts::TAU;

const BONES: usize = 12;
const STATES: usize = 4;
const DT: f32 = 1.0 / 60.0;
/// Seconds of a transition.
const SECONDS: f32 = 0.3;
/// The steepest that the curves of both kinds get, over their duration: of a quintic without a
/// velocity at its ends, and more than the 3/2 of a smoothstep.
const STEEPEST: f64 = 15.0 / 8.0;

/// A character with four slow clips, each of which swings between two poses of its own. Nothing
/// but rotations moves it.
fn swinging() -> Character {
    let names: Vec<String> = (0..STATES).map(|i| format!("clip{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut c = character(Shape::plain(BONES), &names, 17);
    let r = &mut Random(23);
    let rest = c.skeleton.rest().to_vec();
    for (i, clip) in c.clips.iter_mut().enumerate() {
        clip.frame_count = 61 + 30 * i;
        let mut swing = || (r.quat(0.8), r.quat(0.3));
        let swings: Vec<_> = rest.iter().map(|_| swing()).collect();
        let frames = 0..clip.frame_count;
        let last = (clip.frame_count - 1) as f32;
        clip.locals = frames
            .flat_map(|frame| {
                let part = 0.5 - 0.5 * (TAU * frame as f32 / last).cos();
                let moved = rest.iter().zip(&swings).map(move |(rest, (at, by))| {
                    let rotation = rest.rotation * *at * Quat::IDENTITY.slerp(*by, part);
                    crate::math::Trs { rotation, ..*rest }
                });
                moved.collect::<Vec<_>>()
            })
            .collect();
    }
    c.rig = Rig::new(c.skeleton.clone(), &c.clips).unwrap();
    c
}

fn graph(blend: &str) -> String {
    let (mut nodes, mut states, mut transitions) = (String::new(), String::new(), String::new());
    for i in 0..STATES {
        nodes += &format!("\"n{i}\": Clip(clip: \"clip{i}\"),");
        states += &format!("\"s{i}\": (pose: \"n{i}\"),");
        transitions += &format!("(to: \"s{i}\", when: \"abs(x - {i}) < 0.5\"),");
    }
    format!(
        "(version: 1, parameters: {{\"x\": Float()}}, nodes: {{{nodes} \"m\": StateMachine(entry: \
         \"s0\", states: {{{states}}}, transitions: [{transitions}], blend: {blend})}}, \
         output: \"m\")"
    )
}

/// What a character's joints do.
struct Joints<'a> {
    c: &'a Character,
    /// How far each joint can be from each joint above it: the bones between, end to end.
    levers: Vec<Vec<(usize, f64)>>,
}

impl<'a> Joints<'a> {
    fn new(c: &'a Character) -> Self {
        let lever = |bone: usize| {
            let (mut at, mut length, mut levers) = (bone, 0.0, Vec::new());
            while let Some(parent) = c.skeleton.parents()[at] {
                length += f64::from(c.skeleton.rest()[at].translation.length());
                at = parent.get();
                levers.push((at, length));
            }
            levers
        };
        Self { c, levers: (0..BONES).map(lever).collect() }
    }

    /// Local rotations and joints of a palette.
    fn of(&self, palette: &[Mat3x4]) -> (Vec<Quat>, Vec<Vec3>) {
        let model: Vec<_> = palette
            .iter()
            .zip(self.c.skeleton.palette())
            .map(|(m, entry)| m.to_affine() * entry.bone_from_mesh.inverse())
            .collect();
        let rotation = |bone: usize| Quat::from_mat3a(&model[bone].matrix3).normalize();
        let local = |bone: usize| match self.c.skeleton.parents()[bone] {
            Some(parent) => rotation(parent.get()).conjugate() * rotation(bone),
            None => rotation(bone),
        };
        let joints = model.iter().map(|m| m.translation.into()).collect();
        ((0..BONES).map(local).collect(), joints)
    }

    /// Local rotations of a clip.
    fn sampled(&self, clip: usize, seconds: f32) -> Vec<Quat> {
        let locals = self.c.rig.sample_locals(ClipId(clip as u16), seconds);
        locals.iter().map(|l| l.rotation.normalize()).collect()
    }

    /// How far each joint can have moved when the joints above it have turned this far.
    fn travel(&self, from: &[Quat], to: &[Quat]) -> Vec<f64> {
        let angle: Vec<f64> =
            from.iter().zip(to).map(|(a, b)| f64::from(a.angle_between(*b))).collect();
        let travel = |levers: &Vec<(usize, f64)>| levers.iter().map(|(at, l)| angle[*at] * l).sum();
        self.levers.iter().map(travel).collect()
    }

    /// How far each joint can move in a frame of a clip, anywhere in it.
    fn own_speed(&self, clip: usize) -> Vec<f64> {
        let seconds = self.c.clips[clip].seconds();
        let mut most = vec![0.0_f64; BONES];
        let frames = (seconds / DT) as usize;
        for frame in 0..frames {
            let (a, b) = (frame as f32 * DT, (frame + 1) as f32 * DT);
            let step = self.travel(&self.sampled(clip, a), &self.sampled(clip, b));
            most.iter_mut().zip(step).for_each(|(most, step)| *most = most.max(step));
        }
        most
    }
}

/// Changes state a thousand times, often while a change is under way, and gives how many frames
/// moved a joint farther than the clips' own speeds and the decay of the offset allow.
fn frames_that_jump(blend: &str) -> usize {
    let c = swinging();
    let bound = bind(compile("graph.ron", &graph(blend)).unwrap().program.into_inner(), &c);
    let joints = Joints::new(&c);
    let own: Vec<_> = (0..STATES).map(|clip| joints.own_speed(clip)).collect();
    let dead = blend.starts_with("DeadBlend");
    let mut p = Player::new(&bound, &c);
    let r = &mut Random(4);
    p.step(DT);
    let mut before = joints.of(&p.step(DT));
    let mut step_before = vec![0.0; BONES];
    // What the transition under way allows beyond the clip's own speed, and until when.
    let mut allowed = [0.0; BONES];
    let (mut elapsed, mut changes, mut interrupted, mut jumps) = (f32::INFINITY, 0, 0, 0);
    while changes < 1_000 {
        if r.below(9) == 0 {
            p.set("x", r.below(STATES) as f32);
        }
        let state = p.state_of("m");
        let now = joints.of(&p.step(DT));
        let current = p.state_of("m");
        elapsed += DT;
        if current != state {
            changes += 1;
            interrupted += usize::from(elapsed < SECONDS);
            elapsed = 0.0;
            let offset = joints.travel(&before.0, &joints.sampled(current, 0.0));
            for (bone, allowed) in allowed.iter_mut().enumerate() {
                // The offset sets out as fast as what was shown leaves the new clip behind. A dead
                // blend lets what was shown go on: it gets farther away by both speeds for as long
                // as it is seen.
                let speed = step_before[bone] + own[current][bone];
                let drift = if dead { STEEPEST * speed } else { 0.0 };
                let decay = STEEPEST * f64::from(DT / SECONDS) * offset[bone];
                *allowed = speed + drift + decay;
            }
        }
        let over = elapsed > SECONDS + 1.5 * DT;
        let farther = |bone: usize| {
            let moved = f64::from(now.1[bone].distance(before.1[bone]));
            let extra = if over { 0.0 } else { allowed[bone] };
            moved > 1.02 * (own[current][bone] + extra) + 1e-4
        };
        jumps += usize::from((0..BONES).any(farther));
        step_before = joints.travel(&before.0, &now.0);
        before = now;
    }
    assert!(interrupted > 300, "{interrupted} of {changes} changes interrupt another");
    jumps
}

#[test]
fn over_a_thousand_changes_no_joint_moves_farther_than_clips_and_decay_allow() {
    assert_eq!(frames_that_jump("Inertialize(0.3)"), 0);
    assert_eq!(frames_that_jump("DeadBlend(0.3)"), 0);
}

#[test]
fn without_a_transition_the_same_joints_jump() {
    let jumps = frames_that_jump("Cut");
    assert!(jumps > 900, "{jumps}");
}
