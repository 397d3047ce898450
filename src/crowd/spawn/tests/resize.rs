//! Another number of characters.

use super::*;

#[test]
fn another_count_keeps_shares_and_refuses_what_has_no_place() {
    let mut crowd = crowd(100, 1);
    let of = |crowd: &Crowd| [0, 1].map(|kind| crowd.count_of(CharacterKind(kind)));
    for count in [100, 31, 0, 80, 100] {
        crowd.set_count(count).unwrap();
        assert_eq!(tick(&mut crowd, CROWD).count, count);
        assert_eq!(of(&crowd), [count.div_ceil(2), count / 2]);
        check(&crowd);
    }
    crowd.set_count(60).unwrap();
    let refused = crowd.set_count(101);
    assert!(matches!(refused, Err(CrowdError::NoVacancy { places: 50, .. })), "{refused:?}");
    assert_eq!(of(&crowd), [30, 30], "nobody came");
    // Who comes one by one goes on to come, up to the new count.
    let mut slow = crowd_with(100, 1, |config| {
        config.spawning = Spawning::Gradual { per_second: 50.0 };
    });
    slow.set_count(20).unwrap();
    assert_eq!(slow.count(), 20, "those who are asked for do not wait");
    (0..60).for_each(|_| assert_eq!(tick(&mut slow, SKY).count, 20));
    // Who come and go are as many as are asked for.
    let mut cycle = cycling(100, 1, 60.0);
    cycle.set_count(40).unwrap();
    (0..60).for_each(|_| assert_eq!(tick(&mut cycle, SKY).count, 40));
    check(&cycle);
}
