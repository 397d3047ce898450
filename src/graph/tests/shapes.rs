//! Lists of a known shape, beside lists whose shape is looked for each time.

use super::naive::{CLIPS, Extra, random_program, random_program_with};
use super::*;
use crate::pose::testing::Random;
use crate::task::TaskIndex;

/// Everything that there is to know of an evaluation, bit by bit.
fn seen(p: &Player<'_>) -> String {
    let tasks = p.list.tasks();
    let weights: Vec<(bool, u32)> = (0..tasks.len())
        .map(|at| TaskIndex::new(at).unwrap())
        .map(|at| (p.list.is_reachable(at), p.list.weight(at).to_bits()))
        .collect();
    let output = p.list.output();
    format!("{tasks:?} {weights:?} {output} {:?} {:?}", p.scratch.fired(), p.row)
}

fn needed<'a>(bound: &'a BoundProgram, c: &'a Character) -> Player<'a> {
    let mut p = Player::new(bound, c);
    p.scratch.record_everything(false);
    p
}

#[test]
fn a_list_of_a_known_shape_is_the_list_that_would_be_found() {
    let (mut known, mut forgot) = (0, 0);
    for seed in 1..=300 {
        let r = &mut Random(seed * 0x51ed + 7);
        let extra = Extra { seams: true, bones: seed % 2 == 0 };
        let program = random_program_with(r, extra);
        let c = character(Shape::plain(9), &CLIPS, seed % 40);
        let bound = bind(program, &c);
        let (mut keeps, mut forgets) = (needed(&bound, &c), needed(&bound, &c));
        for frame in 0..40 {
            for key in (0..bound.program().keys.len()).map(|key| KeyId(key as u16)) {
                if r.below(3) == 0 {
                    let value = [f32::NAN, 0.0, 1.0, 0.3, -0.7, 2.5][r.below(6)];
                    for p in [&mut keeps, &mut forgets] {
                        bound.set_key(&mut p.row, key, value);
                    }
                }
            }
            let dt = [0.016, 0.03, 0.0, 0.2, -0.03][r.below(5)];
            forgets.scratch = VmScratch::default();
            let before = keeps.scratch.shapes.current().map_or(0, |shapes| shapes.count());
            let moved = [keeps.record(dt), forgets.record(dt)];
            let [a, b] = moved.map(|m| [m.x, m.z, m.yaw].map(f32::to_bits));
            assert_eq!(a, b, "seed {seed}, frame {frame}");
            assert_eq!(seen(&keeps), seen(&forgets), "seed {seed}, frame {frame}");
            let after = keeps.scratch.shapes.current().map_or(0, |shapes| shapes.count());
            known += usize::from(after == before && frame > 0);
            forgot += usize::from(after < before);
        }
    }
    assert!(known > 2_000 && forgot > 0, "{known} {forgot}");
}

#[test]
fn plans_that_take_turns_on_one_thread_do_not_take_each_others_shapes() {
    let c = character(Shape::plain(9), &CLIPS, 1);
    let bound: Vec<_> =
        (1..=12).map(|seed| bind(random_program(&mut Random(seed * 77)), &c)).collect();
    let mut alone: Vec<_> = bound.iter().map(|bound| needed(bound, &c)).collect();
    let mut together: Vec<_> = bound.iter().map(|bound| needed(bound, &c)).collect();
    let mut scratch = VmScratch::default();
    for frame in 0..40 {
        // More plans than are kept, after a while.
        let count = if frame < 20 { 3 } else { bound.len() };
        for (alone, p) in alone[..count].iter_mut().zip(&mut together) {
            alone.record(0.02);
            std::mem::swap(&mut scratch, &mut p.scratch);
            p.record(0.02);
            let same = seen(alone) == seen(p);
            std::mem::swap(&mut scratch, &mut p.scratch);
            assert!(same, "frame {frame}");
        }
    }
}
