//! Standing on uneven ground: how far a sole is from it.

use super::*;
use throng::graph::MachineId;
use throng::index::CharacterId;

/// Metres that a standing sole may be from the ground.
const NEAR: f32 = 0.01;

/// What was seen of standing soles.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// How far their vertices are from the ground below them: the highest and the lowest of all.
    high: f32,
    low: f32,
    /// How many were looked at, and how many of those were somebody's who aims.
    looked: u32,
    aiming: u32,
}

impl Seen {
    fn within(&self, metres: f32) -> bool {
        self.high < metres && self.low > -metres
    }
}

/// Looks at the soles of a crowd that stands.
///
/// Somebody stands who has been still for a second: neither a transition nor a turn is under way.
fn worst(actor: &Actor, terrain: Terrain, seed: u64, seconds: u32) -> Seen {
    let count = 60;
    let mut crowd = actor.crowd(count, terrain, seed);
    let mut still = vec![0u32; count as usize];
    let mut seen = Seen { high: f32::MIN, low: f32::MAX, looked: 0, aiming: 0 };
    for frame in 0..60 * seconds {
        let before: Vec<_> =
            (0..count).map(|id| crowd.character(CharacterId(id)).unwrap()).collect();
        tick(&mut crowd);
        for (id, palette, world) in drawn(&crowd) {
            let at = crowd.character(CharacterId(id)).unwrap();
            let stays = (at.position, at.heading)
                == (before[id as usize].position, before[id as usize].heading);
            let in_state =
                |(at, _): (usize, &_)| crowd.state(CharacterId(id), MachineId(at as u16));
            let mut states = actor.program.get().machines.iter().enumerate().filter_map(in_state);
            let stands = states.all(|state| ["idle", "still", "stand"].contains(&state));
            let of = &mut still[id as usize];
            *of = if stays && stands { *of + 1 } else { 0 };
            if *of < 60 || frame % 6 > 0 {
                continue;
            }
            for sole in &actor.soles {
                let placed = sole.placed(&palette, &world);
                let (least, most) = sole.off(&placed, |at| terrain.height(at));
                (seen.high, seen.low) = (seen.high.max(most), seen.low.min(least));
                seen.looked += 1;
                seen.aiming += u32::from(actor.aims(&palette));
            }
        }
    }
    seen
}

#[test]
fn the_standing_sole_is_within_a_centimetre_of_uneven_ground() {
    let actor = Actor::new("humanoid");
    let level = worst(&actor, Terrain::FLAT, 1, 12);
    assert!(level.within(0.1 * NEAR) && level.aiming > 100, "level: {level:?}");
    for seed in [1, 2, 3] {
        let seen = worst(&actor, Terrain::uneven(seed), u64::from(seed), 12);
        assert!(seen.within(NEAR), "seed {seed}: {seen:?}");
        assert!(seen.looked > 1_500 && seen.aiming > 100, "{seen:?}");
    }
}

#[test]
fn without_foot_ik_it_is_not() {
    let (graph, text) = graph::builtin_for("humanoid").unwrap();
    let text = text.replace("output: \"standing\"", "output: \"looking\"");
    let actor = Actor::with("humanoid", graph, &text);
    let seen = worst(&actor, Terrain::uneven(1), 1, 12);
    assert!(seen.looked > 1_500 && seen.high > 2.0 * NEAR && seen.low < -2.0 * NEAR, "{seen:?}");
}

#[test]
fn aiming_that_moves_the_legs_is_noticed() {
    let (graph, text) = graph::builtin_for("humanoid").unwrap();
    let frame = "Frame(clip: \"idle\"";
    assert!(text.contains(frame));
    // The difference is no longer to how idling begins, whose legs aiming has.
    let text = text.replace(frame, &format!("{frame}, at: 3"));
    let actor = Actor::with("humanoid", graph, &text);
    let seen = worst(&actor, Terrain::FLAT, 1, 12);
    assert!(seen.aiming > 100 && !seen.within(0.3 * NEAR), "{seen:?}");
}

#[test]
fn the_foxs_paws_are_near_uneven_ground_too() {
    let actor = Actor::new("quadruped");
    let seen = worst(&actor, Terrain::uneven(4), 4, 12);
    assert!(seen.looked > 2_000 && seen.within(NEAR), "{seen:?}");
}
