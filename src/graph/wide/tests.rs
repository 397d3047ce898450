//! The vector source beside its twin, bit by bit.

use super::*;
use crate::graph::ScalarFn;
use crate::graph::operand::*;
use crate::graph::plan::{Ahead, Compute, Smoothed};
use crate::pose::testing::Random;

/// Places that are computed from, and the one that is computed.
const FROM: usize = 3;

/// Numbers of every size and sign, all that values can be.
fn number(r: &mut Random) -> f32 {
    let edges = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-45, -1e-45, f32::MAX, f32::MIN, 1e-38, 16_777_216.5];
    match r.below(4) {
        0 => edges[r.below(edges.len())],
        1 => r.signed() * 1e9,
        2 => r.signed(),
        _ => Some(f32::from_bits(r.next() as u32)).filter(|v| v.is_finite()).unwrap_or(0.0),
    }
}

/// Values whose lanes are random; the first word is what a smoothed value was.
fn values(simd: Lanes, seed: u64) -> Values {
    let r = &mut Random(seed);
    let mut wide = || Wide(std::array::from_fn(|_| number(r)));
    Values {
        simd,
        all: (0..=FROM).map(|_| wide()).collect(),
        words: vec![wide()],
        decays: vec![Decay::UNKNOWN],
        dt: wide(),
        count: LANES,
        ..Values::default()
    }
}

fn run(values: &mut Values, op: &Ahead) {
    let twin = |values: &mut Values| (0..LANES).for_each(|lane| scalar::op_of(values, op, lane));
    enter!(values.simd, twin(values), simd => vector::op_of(simd, values, op));
}

fn bits(wide: &[Wide]) -> Vec<[u32; LANES]> {
    wide.iter().map(|wide| wide.0.map(f32::to_bits)).collect()
}

#[test]
fn every_function_has_the_scalars_bits_at_every_level() {
    let dst = ScalarOut(FROM as u16);
    let compute =
        |function| Compute { function, a: Scalar(0), b: Scalar(1), condition: Scalar(2), dst };
    for function in ScalarFn::ALL.iter().copied().map(Some).chain([None]) {
        let op = Ahead::Compute(compute(function));
        for seed in 1..=400 {
            let mut twin = values(Lanes::new(crate::math::SimdLevel::Scalar).unwrap(), seed);
            run(&mut twin, &op);
            for simd in Lanes::all() {
                let mut wide = values(simd, seed);
                run(&mut wide, &op);
                assert_eq!(bits(&wide.all), bits(&twin.all), "{function:?} {seed} {simd:?}");
            }
        }
    }
}

#[test]
fn smoothed_values_have_the_scalars_bits_at_every_level() {
    let op = Smoothed {
        value: Scalar(0),
        half_life: Scalar(1),
        slot: SmoothId(0),
        dst: ScalarOut(FROM as u16),
    };
    let op = Ahead::Smooth(op);
    let mut arrived = 0;
    for seed in 1..=400 {
        let r = &mut Random(seed);
        let steps = [0.016, 0.016, 0.033, 0.0, -0.02, 1e6];
        let half_lives = [0.1, 0.1, 0.25, 0.0, -1.0, 1e-30];
        let dts = Wide(std::array::from_fn(|_| steps[r.below(steps.len())]));
        let half_life = Wide(std::array::from_fn(|_| half_lives[r.below(half_lives.len())]));
        let begin = |simd| {
            let mut values = values(simd, seed);
            values.all[1] = half_life;
            values.words[0].0[3] = f32::NAN;
            values.words[0].0[4] = -0.0;
            values.all[0].0[4] = 0.0;
            values
        };
        let mut twin = begin(Lanes::new(crate::math::SimdLevel::Scalar).unwrap());
        let mut wides: Vec<_> = Lanes::all().map(begin).collect();
        for step in 0..40 {
            // Mostly the same steps as before, with decays that are kept.
            let dt = if step % 10 < 8 { dts } else { Wide::splat(0.02) };
            for values in wides.iter_mut().chain([&mut twin]) {
                values.dt = dt;
                run(values, &op);
            }
            for wide in &wides {
                assert_eq!(bits(&wide.all), bits(&twin.all), "{seed} {step} {:?}", wide.simd);
                assert_eq!(bits(&wide.words), bits(&twin.words), "{seed} {step} {:?}", wide.simd);
            }
        }
        arrived += twin.words[0].0.iter().zip(twin.all[0].0).filter(|(a, b)| **a == *b).count();
    }
    assert!(arrived > 1_000, "{arrived}");
}

#[test]
fn a_full_set_has_no_next_lane_and_a_new_one_begins_with_the_first() {
    let mut values = Values::default();
    for _ in 0..2 {
        for at in 0..LANES + 3 {
            assert_eq!(values.take(0.1).get(), at.min(LANES - 1));
        }
        assert_eq!(values.count, LANES);
        values.clear();
    }
}
