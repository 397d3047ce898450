//! Standing on uneven ground: how far a sole is from it.

use super::*;
use throng::graph::MachineId;
use throng::index::CharacterId;

/// Metres that a standing sole may be from the ground.
const NEAR: f32 = 0.01;

/// How far the vertices of standing soles are from the ground below them: of each sole the highest
/// and the lowest, as the largest of all, and how many were looked at.
///
/// Somebody stands who has been still for a second: neither a transition nor a turn is under way.
/// Who aims is left out: aiming is a difference on top of how legs stand, too, which takes soles a
/// centimetre from level ground already.
fn worst(actor: &Actor, terrain: Terrain, seed: u64, seconds: u32) -> (f32, f32, u32) {
    let count = 60;
    let mut crowd = actor.crowd(count, terrain, seed);
    let mut still = vec![0u32; count as usize];
    let (mut high, mut low, mut looked) = (f32::MIN, f32::MAX, 0);
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
            if *of < 60 || frame % 6 > 0 || actor.raises_left_hand(&palette) {
                continue;
            }
            for sole in &actor.soles {
                let placed = sole.placed(&palette, &world);
                let (least, most) = sole.off(&placed, |at| terrain.height(at));
                (high, low) = (high.max(most), low.min(least));
                looked += 1;
            }
        }
    }
    (high, low, looked)
}

#[test]
fn the_standing_sole_is_within_a_centimetre_of_uneven_ground() {
    let actor = Actor::new("humanoid");
    let (high, low, _) = worst(&actor, Terrain::FLAT, 1, 12);
    assert!(high < 0.2 * NEAR && low > -0.2 * NEAR, "level: {high} {low}");
    for seed in [1, 2, 3] {
        let (high, low, looked) = worst(&actor, Terrain::uneven(seed), u64::from(seed), 12);
        assert!(high < NEAR && low > -NEAR, "seed {seed}: {high} {low} of {looked}");
        assert!(looked > 1_500, "{looked}");
    }
}

#[test]
fn without_foot_ik_it_is_not() {
    let (graph, text) = graph::builtin_for("humanoid").unwrap();
    let text = text.replace("output: \"standing\"", "output: \"looking\"");
    let actor = Actor::with("humanoid", graph, &text);
    let (high, low, looked) = worst(&actor, Terrain::uneven(1), 1, 12);
    assert!(looked > 1_500 && high > 2.0 * NEAR && low < -2.0 * NEAR, "{high} {low} of {looked}");
}

#[test]
fn the_foxs_paws_are_near_uneven_ground_too() {
    let actor = Actor::new("quadruped");
    let (high, low, looked) = worst(&actor, Terrain::uneven(4), 4, 12);
    assert!(looked > 2_000 && high < NEAR && low > -NEAR, "{high} {low} of {looked}");
}
