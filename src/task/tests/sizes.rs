//! Skeletons of every awkward size, animated to every awkward length.

use super::*;

#[test]
fn every_kind_at_every_size_and_cut_agrees_with_the_naive_evaluator() {
    let mut executed = [0; TaskKind::COUNT];
    for bones in [0, 1, 7, 8, 9, 63, 64, 65, 1_000] {
        let count = if bones < 100 { 24 * FRAMES } else { 4 * FRAMES };
        // Along a thousand bones rounding adds up, so less of it is asked about.
        let noise = if bones < 100 { NOISE } else { 0.1 * NOISE };
        for shape in [Shape::plain(bones), Shape::all(bones)[3]] {
            let c = character(shape, 7);
            let mut lists = drawn(&c, 3 + bones as u64, count);
            for (at, list) in lists.iter_mut().enumerate() {
                let cuts = [Some(0), Some(1), Some(bones.saturating_sub(1)), Some(bones), None];
                list.set_cut(cuts[at % cuts.len()].map(|cut| BoneCount(cut as u16)));
            }
            let expected = exact(&c, &lists, naive::Noise::NONE);
            let steady = steady(&c, &lists, &expected, noise);
            for lanes in Lanes::all() {
                let options = WorkerOptions { lanes, ..WorkerOptions::default() };
                let palettes = execute(&c, &mut lists, options, How::default());
                let each = lists.iter().zip(palettes.iter().zip(&expected)).zip(&steady);
                for ((list, (ours, exact)), _) in each.filter(|(_, steady)| **steady) {
                    let error = testing::difference(ours, exact);
                    let level = lanes.level();
                    assert!(error < AGREES, "{level} {shape:?} {error:e} {list:?}");
                    let reached =
                        list.tasks().iter().zip(list.marks()).filter(|(_, m)| m.reachable);
                    reached.for_each(|(task, _)| executed[task.kind() as usize] += 1);
                }
            }
        }
    }
    for kind in TaskKind::ALL {
        assert!(executed[kind as usize] >= 30, "{kind:?} ran {}", executed[kind as usize]);
    }
}
