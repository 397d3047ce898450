//! Random lists: against the naive evaluator, and against themselves with the switches off.

use super::*;

/// Lists drawn for each of the twelve kinds of character; more with `THRONG_TEST_LISTS`.
fn lists_each() -> usize {
    let asked = std::env::var("THRONG_TEST_LISTS").ok().and_then(|n| n.parse::<usize>().ok());
    asked.unwrap_or(0).max(900).next_multiple_of(FRAMES)
}

/// What random lists had in them.
#[derive(Debug, Default)]
struct Tally {
    lists: usize,
    unsteady: usize,
    executed: [usize; TaskKind::COUNT],
    /// Lists in which somebody's result has several readers.
    fan_out: usize,
    /// Tasks that read the same result twice.
    twice: usize,
    /// Lists that animate some bones, or none.
    cut: usize,
    cut_to_nothing: usize,
    /// Lists with tasks before the physics step and after it.
    both_stages: usize,
    /// Tasks that run during a transition.
    transitions: usize,
    /// Blends that are neither the one nor the other pose.
    between: usize,
}

impl Tally {
    fn add(&mut self, list: &TaskList, bones: BoneCount) {
        let reached = || list.tasks().iter().zip(list.marks()).filter(|(_, mark)| mark.reachable);
        self.lists += 1;
        for (task, _) in reached() {
            self.executed[task.kind() as usize] += 1;
            let [a, b] = task.dependencies();
            self.twice += usize::from(a == b && a != TaskIndex::NONE);
            if let Task::Inertialize { transition, .. } | Task::DeadBlend { transition, .. } = task
            {
                let Transition { elapsed, duration, .. } = transition;
                self.transitions += usize::from(*elapsed >= 0.0 && elapsed < duration);
            }
            if let Task::Blend { a, b, alpha } = task {
                self.between += usize::from(*alpha > 0.0 && *alpha < 1.0 && a != b);
            }
        }
        self.fan_out += usize::from(reached().any(|(_, mark)| mark.readers > 1));
        let active = list.active(bones);
        self.cut += usize::from(active < bones);
        self.cut_to_nothing += usize::from(active.0 == 0);
        let late = |late: bool| reached().any(|(_, mark)| mark.late == late);
        self.both_stages += usize::from(late(true) && late(false));
    }

    /// A generator that hardly draws something proves nothing about it.
    fn assert_quotas(&self) {
        assert!(self.lists >= 10_000, "{self:?}");
        for kind in TaskKind::ALL {
            let ran = self.executed[kind as usize];
            assert!(ran >= 300, "{kind:?} ran {ran} times: {self:?}");
        }
        let quotas = [
            (self.fan_out, 1_500),
            (self.twice, 500),
            (self.cut, 3_000),
            (self.cut_to_nothing, 100),
            (self.both_stages, 1_000),
            (self.transitions, 600),
            (self.between, 700),
        ];
        for (at, (count, quota)) in quotas.into_iter().enumerate() {
            assert!(count >= quota, "quota {at}: {count} of {quota}: {self:?}");
        }
        assert!(self.unsteady * 50 <= self.lists, "{self:?}");
    }
}

#[test]
fn random_lists_agree_with_the_naive_evaluator_at_every_level_whole_and_in_halves() {
    let mut tally = Tally::default();
    for (seed, shape) in [8, 13, 40].into_iter().flat_map(Shape::all).enumerate() {
        let c = character(shape, 40 + seed as u64);
        let mut lists = drawn(&c, 99 + seed as u64, lists_each());
        lists.iter().for_each(|list| tally.add(list, c.skeleton.bone_count()));
        let expected = exact(&c, &lists, Noise::NONE);
        let steady = steady(&c, &lists, &expected, NOISE);
        tally.unsteady += steady.iter().filter(|s| !**s).count();
        let best = (Lanes::best(), How { halves: true, ..How::default() });
        for (lanes, how) in Lanes::all().map(|l| (l, How::default())).chain([best]) {
            let options = WorkerOptions { lanes, ..WorkerOptions::default() };
            let palettes = execute(&c, &mut lists, options, how);
            let each = lists.iter().zip(palettes.iter().zip(&expected)).zip(&steady);
            for ((list, (ours, exact)), _) in each.filter(|(_, steady)| **steady) {
                let error = testing::difference(ours, exact);
                assert!(error < AGREES, "{:?} {how:?} {shape:?} {error:e} {list:?}", lanes.level());
            }
        }
    }
    tally.assert_quotas();
}

#[test]
fn a_planted_wrong_steal_is_caught() {
    let c = character(Shape::plain(40), 4);
    let mut lists = drawn(&c, 5, 900);
    let expected = exact(&c, &lists, Noise::NONE);
    let steady = steady(&c, &lists, &expected, NOISE);
    let mut wrong = |plant| {
        let how = How { plant, ..How::default() };
        let palettes = execute(&c, &mut lists, WorkerOptions::default(), how);
        let each = palettes.iter().zip(&expected).zip(&steady).filter(|(_, steady)| **steady);
        let off = each.filter(|((ours, exact), _)| testing::difference(ours, exact) >= AGREES);
        (off.count(), palettes)
    };
    let (none, right) = wrong(Plant::None);
    let (some, stolen) = wrong(Plant::EarlySteal);
    assert_eq!(none, 0);
    assert!(some > 20, "only {some} of 900 lists are wrong");
    assert_ne!(right, stolen, "and bits differ from those of a run that steals rightly");
}

#[test]
fn stealing_pruning_halves_neighbours_and_threads_change_no_bit() {
    for shape in Shape::all(33) {
        let c = character(shape, 4);
        let mut lists = drawn(&c, 17, 210);
        for lanes in Lanes::all() {
            let options = WorkerOptions { lanes, prune: true, steal: true };
            let expected = execute(&c, &mut lists, options, How::default());
            for (prune, steal) in [(true, true), (false, true), (true, false), (false, false)] {
                let options = WorkerOptions { lanes, prune, steal };
                for halves in [false, true] {
                    let how = How { halves, ..How::default() };
                    let other = execute(&c, &mut lists, options, how);
                    assert_eq!(expected, other, "prune {prune} steal {steal} halves {halves}");
                }
            }
            let alone = How { alone: true, ..How::default() };
            assert_eq!(expected, execute(&c, &mut lists, options, alone), "batches of one");
            for threads in 2..=4 {
                let other = in_threads(&c, &lists, options, threads);
                assert_eq!(expected, other, "{threads} threads");
            }
        }
    }
}

/// Every thread plays the characters that fall to it.
fn in_threads(
    c: &Character,
    lists: &[TaskList],
    options: WorkerOptions,
    threads: usize,
) -> Vec<Vec<Mat3x4>> {
    let characters = lists.len() / FRAMES;
    let falls_to = |thread| move |at: &usize| at % characters % threads == thread;
    let mut palettes = vec![Vec::new(); lists.len()];
    std::thread::scope(|scope| {
        let play = |thread| {
            let own = (0..lists.len()).filter(falls_to(thread));
            let mut own: Vec<_> = own.map(|at| lists[at].clone()).collect();
            scope.spawn(move || execute(c, &mut own, options, How::default()))
        };
        let running: Vec<_> = (0..threads).map(play).collect();
        for (thread, running) in running.into_iter().enumerate() {
            let own = (0..lists.len()).filter(falls_to(thread));
            own.zip(running.join().unwrap()).for_each(|(at, palette)| palettes[at] = palette);
        }
    });
    palettes
}
