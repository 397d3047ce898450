//! Time in larger steps, as the update rate cuts it, arrives where time in small ones does.

use super::motions::thing;
use super::*;
use crate::motion::{Fired, GroundMotion, Moment};
use crate::task::Task;
use proptest::prelude::*;

const DT: f32 = 1.0 / 60.0;

fn bound(text: &str, c: &Character) -> BoundProgram {
    bind(compile("graph.ron", text).unwrap_or_else(|e| panic!("{e}")).program.into_inner(), c)
}

/// What came of a run.
#[derive(Default)]
struct Outcome {
    ground: GroundMotion,
    /// Points and both ends of spans, in the order in which each name is heard.
    heard: Vec<Vec<Fired>>,
    /// Where clips are sampled in the end.
    seconds: Vec<f32>,
    /// Frames after which the machine was in another state, and the state.
    states: Vec<(usize, usize)>,
}

/// Plays so many frames; `tell` is told each frame before it is over, `cut` gives how many are
/// evaluated at once.
fn play(
    bound: &BoundProgram,
    c: &Character,
    frames: usize,
    mut tell: impl FnMut(&mut Player, usize),
    mut cut: impl FnMut() -> usize,
) -> Outcome {
    let mut p = Player::new(bound, c);
    let machine = bound.program().machine("m");
    let mut out = Outcome { heard: vec![Vec::new(); 4], ..Outcome::default() };
    p.record(0.0);
    let (mut done, mut next) = (0, cut());
    for frame in 0..frames {
        tell(&mut p, frame);
        if frame + 1 - done < next && frame + 1 < frames {
            continue;
        }
        out.ground = out.ground.then(p.record((frame + 1 - done) as f32 * DT));
        (done, next) = (frame + 1, cut());
        for fired in p.scratch.fired().iter().filter(|f| f.moment != Moment::Tick) {
            out.heard[usize::from(fired.id.0)].push(*fired);
        }
        if let Some(state) = machine.and_then(|m| bound.state(&p.row, m))
            && out.states.last().is_none_or(|(_, last)| *last != state.get())
        {
            out.states.push((frame, state.get()));
        }
    }
    let seconds = |task: &Task| match task {
        Task::SampleClip { seconds, .. } => Some(*seconds),
        _ => None,
    };
    out.seconds = p.list.tasks().iter().filter_map(seconds).collect();
    out
}

proptest! {
    #[test]
    fn without_changes_of_state_nothing_depends_on_how_time_is_cut(
        seed in 1u64.., share in 0.05f32..0.95, other in 0.05f32..0.95, speed in -1.5f32..1.5,
        marked in any::<bool>(),
    ) {
        let markers = if marked {
            r#"sync_markers: {
                "walk": [AtPart(0.13, "left"), AtPart(0.5, "right")],
                "run": [AtPart(0.33, "right"), AtPart(0.83, "left")],
            },"#
        } else {
            ""
        };
        let text = format!(
            r#"(version: 1, sync_groups: ["gait"], {markers}
            notifies: {{
                "idle": [AtPart(0.31, "a")],
                "walk": [AtPart(0.13, "b"), AtPart(0.61, "b"), DuringPart(0.3, 0.7, "c")],
                "run": [AtPart(0.27, "d")],
                "wave": [AtPart(0.5, "a")],
            }},
            nodes: {{
                "idle": Clip(clip: "idle", speed: {speed:.5}),
                "walk": Clip(clip: "walk", sync: "gait"),
                "run": Clip(clip: "run", sync: "gait"),
                "move": Blend(a: "walk", b: "run", alpha: {share:.5}),
                "once": Clip(clip: "wave", mode: Once, speed: 0.7),
                "back": Clip(clip: "idle", mode: PingPong, speed: 1.3),
                "two": Blend(a: "once", b: "back", alpha: 0.5),
                "three": Blend(a: "idle", b: "two", alpha: {other:.5}),
                "out": Blend(a: "move", b: "three", alpha: {other:.5}),
            }}, output: "out")"#
        );
        let c = thing();
        let bound = bound(&text, &c);
        let r = &mut Random(seed);
        let full = play(&bound, &c, 241, |_, _| {}, || 1);
        let cut = play(&bound, &c, 241, |_, _| {}, || 1 + r.below(4));
        for (a, b) in full.seconds.iter().zip(&cut.seconds) {
            prop_assert!((a - b).abs() < 1e-3, "{:?} {:?}", full.seconds, cut.seconds);
        }
        let (a, b) = (full.ground, cut.ground);
        prop_assert!((a.x - b.x).hypot(a.z - b.z) < 1e-3 && (a.yaw - b.yaw).abs() < 1e-3);
        for (a, b) in full.heard.iter().zip(&cut.heard) {
            // Names of one clip are heard in their order; of two clips in one step, clip by clip.
            let sorted = |heard: &[Fired]| {
                let mut heard = heard.to_vec();
                let key = |f: &Fired| (f.seconds.to_bits(), f.weight.to_bits());
                heard.sort_by_key(key);
                heard
            };
            prop_assert_eq!(a.len(), b.len());
            for (a, b) in sorted(a).iter().zip(&sorted(b)) {
                prop_assert_eq!((a.id, a.moment), (b.id, b.moment));
                prop_assert!((a.seconds - b.seconds).abs() < 1e-4);
                prop_assert!((a.weight - b.weight).abs() < 1e-5);
            }
        }
        for name in [1, 2, 3] {
            // Clips that are heard alone by their names keep the order.
            let order = |heard: &[Fired]| heard.iter().map(|f| (f.moment, f.id)).collect::<Vec<_>>();
            prop_assert_eq!(order(&full.heard[name]), order(&cut.heard[name]));
        }
    }

    #[test]
    fn states_change_in_the_same_order_and_at_most_one_evaluation_later(seed in 1u64..) {
        let text = r#"(version: 1,
            parameters: {"x": Float(range: (0, 2)), "go": Trigger()},
            notifies: {"walk": [AtPart(0.3, "a"), AtPart(0.8, "b")], "run": [AtPart(0.4, "c")]},
            nodes: {
                "idle": Clip(clip: "idle"), "walk": Clip(clip: "walk"), "run": Clip(clip: "run"),
                "wave": Clip(clip: "wave", mode: Once),
                "m": StateMachine(entry: "idle",
                    states: {
                        "idle": (pose: "idle"), "walk": (pose: "walk"), "run": (pose: "run"),
                        "wave": (pose: "wave"),
                    },
                    transitions: [
                        (from: ["idle", "walk"], to: "run", when: "x > 1.5"),
                        (from: ["idle", "run"], to: "walk", when: "x > 0.5 && x < 1.5"),
                        (from: ["walk", "run"], to: "idle", when: "x < 0.5", after: 0.5),
                        (from: "idle", to: "wave", when: "go"),
                        (from: "wave", to: "idle", at_end: "wave", blend: DeadBlend(0.2)),
                    ]),
            }, output: "m")"#;
        let c = thing();
        let bound = bound(text, &c);
        let wishes: Vec<f32> = {
            let r = &mut Random(seed);
            (0..12).map(|_| r.below(4) as f32).collect()
        };
        // A wish lasts three seconds, which every rate divides; a wave is over by then.
        const WISH: usize = 180;
        let tell = |p: &mut Player, frame: usize| {
            let wish = wishes[frame / WISH];
            p.set("x", if wish > 2.5 { 0.0 } else { wish });
            if wish > 2.5 && frame.is_multiple_of(WISH) {
                p.set("go", 1.0);
            }
        };
        let frames = WISH * wishes.len();
        let full = play(&bound, &c, frames, tell, || 1);
        let changes = full.states.len();
        for every in [2, 3, 4] {
            let cut = play(&bound, &c, frames, tell, || every);
            let order = |states: &[(usize, usize)]| states.iter().map(|s| s.1).collect::<Vec<_>>();
            prop_assert_eq!(order(&full.states), order(&cut.states));
            for (a, b) in full.states.iter().zip(&cut.states) {
                // What is asked for is seen by the next evaluation. The clip of a state that is
                // entered stands for one, so what waits for its end comes up to another one later.
                let most = if a.0.is_multiple_of(WISH) { every - 1 } else { 2 * every };
                prop_assert!(b.0.abs_diff(a.0) <= most, "{:?} {:?}", full.states, cut.states);
            }
            let late = (2 * every) as f32 * DT;
            let (a, b) = (full.ground, cut.ground);
            let off = (a.x - b.x).hypot(a.z - b.z);
            prop_assert!(off <= changes as f32 * late * 3.75, "{off} m after {changes} changes");
            for (a, b) in full.heard.iter().zip(&cut.heard) {
                prop_assert!(a.len().abs_diff(b.len()) <= changes);
            }
            if let [.., a] = full.states[..] {
                // The state at the end has run for as long, less what it came later.
                prop_assert!(frames - a.0 >= 1);
                let of = |out: &Outcome| out.seconds[a.1];
                let seconds = c.clips[a.1].seconds();
                let apart = (of(&full) - of(&cut)).abs();
                let apart = apart.min((seconds - apart).abs());
                prop_assert!(apart <= late + 1e-3, "{apart} s apart, {late} allowed");
            }
        }
    }
}

#[test]
fn a_difference_added_to_what_it_was_made_from_is_the_pose() {
    for (shape, space) in [
        (Shape::plain(20), "Local"),
        (Shape::plain(20), "Mesh"),
        (Shape { scaled: true, ..Shape::plain(20) }, "Local"),
    ] {
        let c = character(shape, &["idle", "walk", "run"], 12);
        let text = |output: &str| {
            format!(
                r#"(version: 1, parameters: {{"x": Float()}}, nodes: {{
                "rest": Bind, "s": Clip(clip: "run"),
                "delta": MakeAdditive(source: "s", space: {space}),
                "back": ApplyAdditive(base: "rest", delta: "delta", alpha: "x"),
                }}, output: "{output}")"#
            )
        };
        let (back, alone) = (bound(&text("back"), &c), bound(&text("s"), &c));
        let (mut p, mut q) = (Player::new(&back, &c), Player::new(&alone, &c));
        p.set("x", 1.0);
        for _ in 0..20 {
            let off = p.step(0.013);
            let on = q.step(0.013);
            let exact: Vec<_> = on.iter().map(|m| m.to_affine()).collect();
            let farthest = off.iter().zip(&exact).map(|(a, b)| {
                let (a, b) = (a.to_affine().to_cols_array(), b.to_cols_array());
                a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
            });
            let farthest = farthest.fold(0.0, f32::max);
            assert!(farthest < 1e-4, "{space}: {farthest}");
        }
        assert_eq!(p.list.reachable_count(), 4);
    }
}
