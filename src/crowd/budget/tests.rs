use super::*;
use crate::crowd::census::Census;
use crate::crowd::random::Random;

/// Distances over radius like those of a crowd on a plane before a camera.
fn crowd(count: usize) -> Vec<f32> {
    let mut random = Random::new(7, 0);
    (0..count).map(|_| 2.0 + 60.0 * random.unit().sqrt()).collect()
}

fn counted(distances: &[f32]) -> Counted {
    let mut census = Census::default();
    for distances in distances.chunks(64) {
        let squares: Vec<f32> = distances.iter().map(|d| d * d).collect();
        census.add(&squares, u64::MAX >> (64 - squares.len()));
    }
    census.take()
}

/// What an evaluation of the first bones takes of a whole one.
const SHORT: f32 = 0.6;

/// Evaluations of a frame, and how many whole ones they are worth.
fn load(distances: &[f32], gates: &Gates) -> (f32, f32) {
    let mut load = (0.0, 0.0);
    for d in distances {
        let past = gates.rate_distances.iter().filter(|far| *d > **far).count();
        let often = 1.0 / (1 + if gates.update_rate { past } else { 0 }) as f32;
        let short = gates.skeleton_lod && *d > gates.lod_distance;
        load = (load.0 + often, load.1 + if short { SHORT * often } else { often });
    }
    load
}

/// A machine on which a whole evaluation takes `each` ms and a frame a little more than those
/// together, noisy by a tenth, and in every thirtieth frame by much more.
struct Machine {
    each: f32,
    fixed: f32,
    random: Random,
    frame: usize,
}

impl Machine {
    fn ms(&mut self, whole: f32) -> f32 {
        self.frame += 1;
        let noise = self.random.range(0.95, 1.05);
        let spike = if self.frame.is_multiple_of(30) { 4.0 } else { 1.0 };
        (self.fixed + self.each * whole) * noise * spike
    }
}

struct Run {
    budget: Budget,
    own: Gates,
    distances: Vec<f32>,
    machine: Machine,
}

impl Run {
    /// A crowd whose own rates take so many times what they may.
    fn over(times: f32, own: Gates) -> Self {
        let distances = crowd(5_000);
        let (_, wanted) = load(&distances, &own);
        let each = times * 2.0 / (1.05 * wanted);
        let fixed = 0.05 * each * wanted;
        let machine = Machine { each, fixed, random: Random::new(1, 1), frame: 0 };
        Self { budget: Budget::new(2.0), own, distances, machine }
    }

    /// Runs some frames; gives what each takes on a quiet machine, and the scale.
    fn frames(&mut self, frames: usize) -> Vec<(f32, f32)> {
        let counted = counted(&self.distances);
        (0..frames)
            .map(|_| {
                let (evaluated, whole) = load(&self.distances, &self.budget.gates(&self.own));
                let ms = self.machine.ms(whole);
                self.budget.learn(ms, evaluated as u32, &counted, &self.own);
                (self.machine.fixed + self.machine.each * whole, self.budget.octaves)
            })
            .collect()
    }

    fn full_rate(&self) -> usize {
        let first = self.budget.gates(&self.own).rate_distances[0];
        self.distances.iter().filter(|d| **d <= first).count()
    }
}

#[test]
fn three_times_too_much_is_within_a_tenth_of_the_budget_after_sixty_frames_and_stays() {
    // Without rates of their own everybody is at full rate, and there is as much to spare as can be.
    for own in [
        Gates::OFF,
        Gates { rate_distances: [300.0, 301.0, 302.0], lod_distance: 300.0, ..Gates::default() },
    ] {
        let mut run = Run::over(3.0, own);
        run.frames(60);
        let after = run.frames(400);
        for (ms, _) in &after {
            assert!((1.8..2.2).contains(ms), "{ms}");
        }
        let scales = after.iter().map(|(_, octaves)| *octaves);
        let (low, high) = scales.fold((f32::MAX, f32::MIN), |(l, h), o| (l.min(o), h.max(o)));
        assert!(high - low < 0.35, "scales from {low} to {high} octaves");
        let changes = after.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
        assert!(changes < 100, "{changes} changes of plan in 400 frames");
        assert!(run.full_rate() >= run.distances.len() / 10, "{}", run.full_rate());
        let stats = run.budget.stats();
        assert!((0.28..0.5).contains(&stats.quality()), "{}", stats.quality());
        assert!(stats.slower > 3_000 && stats.from.is_finite());
    }
}

#[test]
fn what_fits_is_left_alone_and_what_fits_again_comes_back() {
    let mut run = Run::over(0.7, Gates::default());
    run.frames(100);
    assert_eq!(run.budget.gates(&run.own), run.own);
    let stats = run.budget.stats();
    assert_eq!((stats.quality(), stats.slower, stats.shorter), (1.0, 0, 0));
    assert_eq!(stats.from, f32::INFINITY);
    run.machine.each *= 2.0;
    run.frames(60);
    assert!(run.budget.stats().slower > 500);
    let (ms, _) = run.frames(1)[0];
    assert!((1.7..2.1).contains(&ms), "{ms}");
    run.machine.each /= 2.0;
    run.frames(200);
    assert_eq!(run.budget.gates(&run.own), run.own);
}

#[test]
fn more_than_can_be_spared_spares_all_but_the_nearest_tenth() {
    let mut run = Run::over(50.0, Gates::default());
    run.frames(100);
    let gates = run.budget.gates(&run.own);
    assert_eq!(gates.rate_distances, [gates.lod_distance; 3]);
    let nearest = run.full_rate();
    assert!((500..600).contains(&nearest), "{nearest}");
}

#[test]
fn frames_without_evaluations_or_characters_teach_nothing() {
    let mut budget = Budget::new(1.0);
    let nobody = counted(&[]);
    for ms in [0.0, 5.0, f32::NAN] {
        budget.learn(ms, 0, &nobody, &Gates::default());
        assert_eq!(budget.gates(&Gates::default()), Gates::default());
    }
    let stats = budget.stats();
    assert_eq!((stats.ms_each, stats.quality()), (0.0, 1.0));
}
