use super::*;
use crate::crowd::characters::bits;
use crate::crowd::random::Random;

/// Spheres of radius 2 along x, at these distances over radius from the origin.
fn spheres(distances: &[f32; BLOCK]) -> Spheres {
    Spheres {
        x: distances.map(|d| 2.0 * d),
        y: [0.0; BLOCK],
        z: [0.0; BLOCK],
        radius: [2.5; BLOCK],
    }
}

fn distances() -> Distances {
    Distances::new(&Gates::default(), Vec3::ZERO, 0.5)
}

fn measure(rates: &mut Rates, spheres: &Spheres, distances: &Distances, leased: u64) {
    rates.measure(&distances.ratios(spheres), distances, leased);
}

fn interval(rates: &Rates, i: usize) -> usize {
    1 + rates.far.iter().filter(|far| *far >> i & 1 == 1).count()
}

#[test]
fn rates_go_by_distance_over_radius_and_cling_to_what_they_were() {
    let mut rates = Rates::default();
    // Out, and back, past every distance.
    for (at, out, back) in [
        (26.9, 1, 1),
        (27.1, 1, 2),
        (30.1, 2, 2),
        (55.0, 2, 3),
        (60.1, 3, 3),
        (109.0, 3, 4),
        (120.1, 4, 4),
        (1e6, 4, 4),
    ] {
        let spheres = spheres(&[at; BLOCK]);
        measure(&mut rates, &spheres, &distances(), u64::MAX);
        assert_eq!(interval(&rates, 5), out, "{at}");
        let mut far = Rates { far: [u64::MAX; 3], ..Rates::default() };
        measure(&mut far, &spheres, &distances(), !1);
        assert_eq!(interval(&far, 5), back, "back to {at}");
        assert_eq!(interval(&far, 0), out, "{at}, without a slot");
    }
    for (at, out, back) in [(53.9, false, false), (54.1, false, true), (60.1, true, true)] {
        let spheres = spheres(&[at; BLOCK]);
        let (mut near, mut far) = (Rates::default(), Rates { cut: u64::MAX, ..Rates::default() });
        measure(&mut near, &spheres, &distances(), u64::MAX);
        measure(&mut far, &spheres, &distances(), !1);
        assert_eq!([near.cut >> 5 & 1 == 1, far.cut >> 5 & 1 == 1], [out, back], "{at}");
        assert_eq!(far.cut & 1 == 1, out, "{at}, without a slot");
    }
    let mixed: [f32; BLOCK] = std::array::from_fn(|i| 3.0 * i as f32);
    rates = Rates::default();
    measure(&mut rates, &spheres(&mixed), &distances(), 0);
    for (i, at) in mixed.iter().enumerate() {
        let expected = 1 + [30.0, 60.0, 120.0].iter().filter(|d| at > d).count();
        assert_eq!(interval(&rates, i), expected, "{at}");
    }
    assert_eq!(rates.counts(u64::MAX), [11, 10, 20, 23]);
    measure(&mut rates, &spheres(&mixed), &Distances::new(&Gates::OFF, Vec3::ZERO, 0.5), u64::MAX);
    assert_eq!(rates.counts(u64::MAX), [64, 0, 0, 0]);
    assert_eq!(rates.cut, 0);
    // Nobody there, nobody far.
    let nobody = Spheres { radius: [f32::NEG_INFINITY; BLOCK], ..spheres(&mixed) };
    measure(&mut rates, &nobody, &distances(), 0);
    assert_eq!(rates.far, [0; 3]);
    let points = Spheres { radius: [0.5; BLOCK], ..spheres(&[0.0; BLOCK]) };
    measure(&mut rates, &points, &distances(), 0);
    assert_eq!(rates.far, [0; 3], "a point that the camera is in");
}

/// Sets the interval of each character.
fn set(rates: &mut Rates, intervals: &[usize; BLOCK]) {
    for (k, far) in rates.far.iter_mut().enumerate() {
        *far = intervals.iter().enumerate().fold(0, |m, (i, n)| m | u64::from(*n > k + 1) << i);
    }
}

#[test]
fn nobody_waits_longer_than_its_interval_whatever_it_was_before() {
    let mut random = Random::new(3, 1);
    let mut rates = Rates::default();
    let mut intervals = [1; BLOCK];
    // The longest interval since the last evaluation, and how long that is ago.
    let (mut longest, mut waited) = ([0; BLOCK], [0; BLOCK]);
    for frame in 0..4_000 {
        for interval in &mut intervals {
            if random.unit() < 0.1 {
                *interval = 1 + (random.unit() * 4.0) as usize;
            }
        }
        set(&mut rates, &intervals);
        rates.decide((u64::MAX, u64::MAX, 0), 7, Turn { frame, all: false });
        for i in 0..BLOCK {
            (longest[i], waited[i]) = (intervals[i].max(longest[i]), waited[i] + 1);
            assert!(waited[i] <= longest[i], "{i} in frame {frame}: {}", waited[i]);
            if rates.due >> i & 1 == 1 {
                (longest[i], waited[i]) = (0, 0);
            }
        }
    }
}

#[test]
fn turns_are_even_after_one_interval_even_if_all_change_at_once() {
    let mut blocks = [Rates::default(); 12];
    let mut frame = 0;
    for every in [1, 4, 2, 3, 1, 3, 4, 3, 2, 4, 1, 2] {
        blocks.iter_mut().for_each(|rates| set(rates, &[every; BLOCK]));
        for since in 0..24 {
            let mut due = 0;
            for (b, rates) in blocks.iter_mut().enumerate() {
                rates.decide((u64::MAX, u64::MAX, 0), b, Turn { frame, all: false });
                due += rates.due.count_ones() as usize;
            }
            assert!(since < 4 || due * every == 12 * BLOCK, "every {every}: {due}");
            frame += 1;
        }
    }
}

#[test]
fn who_comes_into_view_is_due_and_keeps_its_turn() {
    let turn = |frame| Turn { frame, all: false };
    let (mut shy, mut seen) = (Rates::default(), Rates::default());
    for rates in [&mut shy, &mut seen] {
        set(rates, &[4; BLOCK]);
    }
    for frame in 0..100 {
        // Every seventh frame it is out of sight; it still has its slot.
        let visible = if frame % 7 == 3 { 0 } else { u64::MAX };
        shy.decide((u64::MAX, visible, 0), 0, turn(frame));
        seen.decide((u64::MAX, u64::MAX, 0), 0, turn(frame));
        if frame % 7 == 4 || frame == 0 {
            assert_eq!(shy.due, u64::MAX, "frame {frame}");
        } else {
            assert_eq!(shy.due, seen.due, "frame {frame}");
            assert_eq!(bits(shy.due).count(), 16);
        }
    }
    // Given a slot, or time was jumped over.
    shy.decide((0xFF, u64::MAX, 0xF0), 0, turn(100));
    assert_eq!(shy.due & 0xF0, 0xF0);
    assert_eq!(shy.due & !0xFF, 0, "nobody without a slot");
    shy.decide((0xFF, u64::MAX, 0), 0, Turn { frame: 101, all: true });
    assert_eq!(shy.due, 0xFF);
}

#[test]
fn distances_that_are_none_are_refused() {
    for rate_distances in [[30.0, 30.0, 120.0], [0.0, 1.0, 2.0], [1.0, 2.0, f32::INFINITY]] {
        let gates = Gates { rate_distances, ..Gates::default() };
        assert!(gates.check().unwrap_err().to_string().contains("update rate"));
    }
    for lod_distance in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let gates = Gates { lod_distance, ..Gates::default() };
        assert!(gates.check().unwrap_err().to_string().contains("level of detail"));
    }
    assert!(Gates::default().check().is_ok() && Gates::OFF.check().is_ok());
}
