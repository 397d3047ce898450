use super::*;
use crate::crowd::characters::{BLOCK, SlotAddress};
use crate::crowd::sequence::{SequenceConfig, SequenceId, SequenceState};
use crate::crowd::testing::{CROWD, SKY, crowd, crowd_with, tick};
use crate::crowd::{TickStats, UpdateMode};
use std::collections::{BTreeMap, BTreeSet};

mod model;
mod resize;

fn cycling(count: u32, threads: usize, per_second: f32) -> Crowd {
    crowd_with(count, threads, |config| config.spawning = Spawning::Cycle { per_second })
}

/// Everything that has to agree between a world's columns, slots, sequences and lists of places.
fn check(crowd: &Crowd) {
    let world = &crowd.world;
    let characters = &world.characters;
    let places = characters.kinds.len();
    let mut held: BTreeMap<usize, SlotAddress> = BTreeMap::new();
    for (p, leases) in world.slots.leases.iter().enumerate() {
        let mut used = 0;
        for (slot, owner) in leases.owners.iter().enumerate() {
            if leases.words[slot / 64].leased >> (slot % 64) & 1 == 1 {
                used += 1;
                let at = SlotAddress { page: p as u32, slot: slot as u32 };
                assert!(held.insert(owner.get(), at).is_none(), "two slots for {owner}");
                assert_eq!(leases.kind, characters.kinds[owner.get()]);
            }
        }
        assert_eq!(used, leases.used, "page {p}");
    }
    for (p, leases) in world.slots.ticking.iter().enumerate() {
        for (slot, owner) in leases.owners.iter().enumerate() {
            if leases.words[slot / 64].leased >> (slot % 64) & 1 == 1 {
                let page = p as u32 | SlotAddress::TICKING;
                let at = SlotAddress { page, slot: slot as u32 };
                assert!(held.insert(owner.get(), at).is_none(), "two slots for {owner}");
            }
        }
    }
    for at in 0..places {
        let (block, i) = (&characters.blocks[at / BLOCK], at % BLOCK);
        let bit = |bits: u64| bits >> i & 1 == 1;
        let present = bit(block.present);
        let slot = held.get(&at).copied().unwrap_or(SlotAddress::NONE);
        assert_eq!(characters.slots[at], slot, "character {at}");
        assert_eq!(bit(block.leased | block.ticking), slot != SlotAddress::NONE);
        assert_eq!(characters.spheres[at / BLOCK].radius[i] > 0.0, present, "character {at}");
        if !present {
            let left = block.camera | block.shadow | block.always | block.clocks | block.rates.cut;
            assert!(!bit(left | block.rates.due | block.leased | block.ticking), "place {at}");
        }
    }
    let here: u32 = crowd.kinds().map(|kind| crowd.count_of(kind)).sum();
    assert_eq!(here, crowd.count());
    let bits = characters.blocks.iter().map(|block| block.present.count_ones());
    assert_eq!(here, bits.sum::<u32>());
    assert_eq!(crowd.characters().count() as u32, here);
    for (_, info) in crowd.sequences() {
        assert!(info.cast.iter().all(|id| characters.is_present(*id)), "{info:?}");
    }
    for (id, force) in crowd.forced() {
        assert!(characters.is_present(id));
        for by in &force.by {
            let (_, info) = crowd.sequences().nth(by.get()).unwrap();
            assert!(info.cast.contains(&id), "{id} is forced by {info:?}");
        }
    }
}

fn totals(crowd: &Crowd) -> [u64; 4] {
    let world = &crowd.world;
    let held = world.slots.held_and_limit().0;
    let columns = world.characters.kinds.len() as u64;
    [held, world.slots.pages.len() as u64, columns, world.population.heap_bytes()]
}

#[test]
fn ten_thousand_frames_of_churn_leave_memory_as_it_was() {
    let mut crowd = cycling(150, 2, 60.0);
    let view = |frame: u32| if frame % 40 < 25 { CROWD } else { SKY };
    for frame in 0..400 {
        tick(&mut crowd, view(frame));
    }
    let before = totals(&crowd);
    let mut sum = TickStats::default();
    let bytes = tick(&mut crowd, CROWD).character_bytes;
    for frame in 0..10_000 {
        let stats = tick(&mut crowd, view(frame));
        assert_eq!((stats.count, stats.spawned), (150, stats.despawned), "frame {frame}");
        assert_eq!(stats.character_bytes, bytes);
        sum.spawned += stats.spawned;
        sum.entered += stats.entered;
        if frame % 500 == 0 {
            check(&crowd);
        }
    }
    assert_eq!(sum.spawned, 10_000 * 3, "60 a second, 3 in a twentieth");
    assert!(sum.entered > 30_000, "{}", sum.entered);
    assert_eq!(totals(&crowd), before);
    let generations = &crowd.world.characters.generations;
    assert!(generations.iter().all(|g| *g > 50), "everybody is replaced, again and again");
}

#[test]
fn those_who_come_one_by_one_are_those_who_would_be_there_at_once() {
    let all = crowd(100, 1);
    let mut crowd = crowd_with(100, 1, |config| {
        config.spawning = Spawning::Gradual { per_second: 50.0 };
    });
    assert_eq!((crowd.count(), crowd.capacity()), (0, 100));
    for frame in 1..=60u32 {
        let stats = tick(&mut crowd, SKY);
        // Two and a half a frame.
        let here = (frame * 5 / 2).min(100);
        assert_eq!((stats.count, crowd.count()), (here, here), "frame {frame}");
        let [one, other] = [0, 1].map(|kind| crowd.count_of(CharacterKind(kind)));
        assert!(one.abs_diff(other) <= 1, "shares hold meanwhile: {one} and {other}");
        check(&crowd);
    }
    assert_eq!(crowd.population(), PopulationStats { here: 100, spawned: 100, despawned: 0 });
    for id in (0..100).map(CharacterId) {
        assert_eq!(crowd.character(id), all.character(id));
    }
    let (a, b) = (&crowd.world.characters, &all.world.characters);
    assert_eq!(a.tints, b.tints);
    // A second later nobody is owed who could not come.
    let gone = crowd.handle(CharacterId(7)).unwrap();
    (0..20).for_each(|_| _ = tick(&mut crowd, SKY));
    crowd.despawn(gone).unwrap();
    assert_eq!(tick(&mut crowd, SKY).count, 100, "it is filled up by the next two");
}

#[test]
fn a_crowd_keeps_its_shares_while_it_turns_over() {
    let mut crowd = crowd_with(203, 1, |config| {
        config.spawning = Spawning::Cycle { per_second: 90.0 };
    });
    let shares = [0, 1].map(|kind| crowd.count_of(CharacterKind(kind)));
    assert_eq!(shares, [102, 101]);
    assert_eq!(crowd.capacity(), 203 + 102 / 16 + 101 / 16);
    let mut seen: BTreeSet<_> = crowd.characters().collect();
    for _ in 0..400 {
        tick(&mut crowd, SKY);
        assert_eq!([0, 1].map(|kind| crowd.count_of(CharacterKind(kind))), shares);
        seen.extend(crowd.characters());
    }
    let PopulationStats { spawned, despawned, .. } = crowd.population();
    assert_eq!((spawned, despawned), (1_800, 1_800), "90 a second for 20 s");
    assert_eq!(seen.len(), 203 + 1_800, "everybody is somebody else");
}

#[test]
fn whoever_comes_takes_another_place_than_whoever_has_just_gone() {
    let mut crowd = cycling(64, 1, 20.0);
    let present = |crowd: &Crowd| crowd.characters().map(|c| c.id()).collect::<BTreeSet<_>>();
    let mut before = present(&crowd);
    for _ in 0..200 {
        tick(&mut crowd, SKY);
        let now = present(&crowd);
        let (gone, came) = (before.difference(&now).count(), now.difference(&before).count());
        assert_eq!((gone, came), (1, 1));
        before = now;
    }
}

#[test]
fn a_handle_outlives_nobody() {
    let mut crowd = crowd(3, 1);
    let handles: Vec<_> = crowd.characters().collect();
    crowd.despawn(handles[1]).unwrap();
    let error = crowd.despawn(handles[1]).unwrap_err();
    assert!(matches!(error, CrowdError::Gone { id: 1, generation: 0, now: 1 }), "{error}");
    assert!(!crowd.is_here(handles[1]) && crowd.is_here(handles[0]));
    assert_eq!(crowd.character(CharacterId(1)), None);
    assert_eq!(crowd.update_mode(CharacterId(1)), None);
    let absent = crowd.set_update_mode(CharacterId(1), UpdateMode::AlwaysTickPose).unwrap_err();
    assert!(matches!(absent, CrowdError::Absent { id: 1 }), "{absent}");
    let kind = crowd.kind_of(CharacterId(1)).unwrap();
    let next = crowd.spawn(Some(kind)).unwrap();
    assert_eq!((next.id(), next.generation()), (CharacterId(1), 1));
    let error = crowd.despawn(handles[1]).unwrap_err().to_string();
    assert!(error.contains("character 1 has gone"), "{error}");
    assert!(crowd.is_here(next));
    let full = crowd.spawn(None).unwrap_err();
    assert!(matches!(full, CrowdError::NoVacancy { kind: None, places: 3 }), "{full}");
    let full = crowd.spawn(Some(kind)).unwrap_err().to_string();
    assert!(full.contains("for kind \"one\"") || full.contains("for kind \"other\""), "{full}");
    let unknown = crowd.spawn(Some(CharacterKind(2))).unwrap_err();
    assert!(matches!(unknown, CrowdError::NoKind { kind: 2, kinds: 2 }), "{unknown}");
    let strange = CharacterHandle { id: CharacterId(3), generation: 0 };
    assert!(matches!(crowd.despawn(strange), Err(CrowdError::NoCharacter { id: 3, count: 3 })));
}

#[test]
fn who_has_gone_is_not_drawn_and_who_has_come_is_drawn_with_a_pose_of_its_own() {
    let mut crowd = crowd(130, 2);
    for _ in 0..5 {
        tick(&mut crowd, CROWD);
    }
    let gone: Vec<_> = crowd.characters().step_by(3).collect();
    for who in &gone {
        crowd.despawn(*who).unwrap();
    }
    // What was drawn last still is.
    assert_eq!(crowd.draw().instances.len(), 130);
    let kinds: Vec<_> = gone.iter().map(|who| crowd.kind_of(who.id())).collect();
    // Poison what slots hold: whoever is drawn has to be written anew.
    for (leases, page) in world_slots(&mut crowd) {
        for slot in 0..leases.owners.len() {
            if leases.words[slot / 64].leased >> (slot % 64) & 1 == 0 {
                let len = leases.palette_len;
                page.matrices[slot * len..][..len].fill(crate::math::Mat3x4::IDENTITY);
            }
        }
    }
    let stats = tick(&mut crowd, CROWD);
    assert_eq!(stats.count, 130 - gone.len() as u32);
    assert_eq!((stats.despawned, stats.spawned), (gone.len() as u32, 0));
    let drawn = |crowd: &Crowd| -> BTreeSet<u32> {
        crowd.draw().instances.iter().map(|record| record.id).collect()
    };
    let here: BTreeSet<u32> = crowd.characters().map(|who| who.id().0).collect();
    assert_eq!(drawn(&crowd), here);
    for kind in kinds {
        crowd.spawn(kind).unwrap();
    }
    let stats = tick(&mut crowd, CROWD);
    assert_eq!((stats.entered, stats.evaluated), (gone.len() as u32, 130));
    assert_eq!(drawn(&crowd), (0..130).collect());
    let draw = crowd.draw();
    for group in draw.groups {
        let page = &draw.pages[group.page as usize];
        for record in &draw.instances[group.camera.start as usize..group.camera.end as usize] {
            let palette = page.palette(record).unwrap().to_whole();
            assert!(palette.iter().any(|m| *m != crate::math::Mat3x4::IDENTITY), "{}", record.id);
        }
    }
    check(&crowd);
}

fn world_slots(
    crowd: &mut Crowd,
) -> impl Iterator<Item = (&crate::crowd::leases::Leases, &mut crate::crowd::Page)> {
    let slots = &mut crowd.world.slots;
    slots.leases.iter().zip(&mut slots.pages)
}

#[test]
fn a_second_character_of_an_id_is_not_the_first() {
    let mut crowd = crowd(60, 1);
    let before: Vec<_> = (0..60).map(|id| crowd.character(CharacterId(id)).unwrap()).collect();
    let tints = crowd.world.characters.tints.clone();
    for who in crowd.characters().collect::<Vec<_>>() {
        crowd.despawn(who).unwrap();
    }
    while crowd.spawn(None).is_ok() {}
    let after: Vec<_> = (0..60).map(|id| crowd.character(CharacterId(id)).unwrap()).collect();
    let same = |a: &[f32], b: &[f32]| a.iter().zip(b).filter(|(a, b)| a == b).count();
    for (a, b) in before.iter().zip(&after) {
        assert_eq!((a.kind, a.position, a.heading), (b.kind, b.position, b.heading));
    }
    let scales = |all: &[crate::crowd::CharacterState]| -> Vec<f32> {
        all.iter().map(|state| state.scale).collect()
    };
    assert!(same(&scales(&before), &scales(&after)) < 3);
    let tints = tints.iter().zip(&crowd.world.characters.tints).filter(|(a, b)| a == b).count();
    assert!(tints < 15, "{tints} wear the same");
}

fn hash(threads: usize, seed: u64, mode: UpdateMode) -> u64 {
    let mut crowd = crowd_with(220, threads, |config| {
        config.spawning = Spawning::Cycle { per_second: 300.0 };
        (config.seed, config.update_mode) = (seed, mode);
    });
    let mut hash = 0;
    for frame in 0..120 {
        hash = tick(&mut crowd, if frame % 30 < 18 { CROWD } else { SKY }).palette_hash.unwrap();
    }
    hash
}

#[test]
fn churn_is_the_same_on_any_number_of_threads_and_another_for_another_seed() {
    use UpdateMode::{AlwaysTickClocks, AlwaysTickPose, TickWhenRendered};
    for mode in [TickWhenRendered, AlwaysTickPose, AlwaysTickClocks] {
        let one = hash(1, 1, mode);
        assert_eq!([hash(2, 1, mode), hash(8, 1, mode)], [one; 2], "{mode:?}");
        assert_ne!(hash(1, 2, mode), one);
    }
}

#[test]
fn time_that_is_jumped_over_or_goes_back_brings_nobody() {
    let mut crowd = cycling(50, 1, 1_000.0);
    let view = crate::math::View::look_at(glam::Vec3::Y, CROWD, 1.0, 9.0, (4, 4));
    let mut step = |dt, played| {
        let input = crate::crowd::TickInput {
            dt,
            played,
            view: &view,
            shadow_clip_from_world: None,
            palette_hash: false,
        };
        let stats = crowd.tick(&input, &Default::default());
        (stats.spawned, stats.despawned)
    };
    for (dt, played) in [(0.0, true), (-1.0, true), (5.0, false), (-5.0, false)] {
        assert_eq!(step(dt, played), (0, 0), "{dt}");
    }
    // Everybody once at most, whatever the step.
    assert_eq!(step(1e9, true), (50, 50));
    assert_eq!(step(0.01, true), (10, 10), "what was too much is not owed");
}

fn bound(crowd: &mut Crowd, cast: &[u32]) -> SequenceId {
    let cast: Vec<_> = cast.iter().copied().map(CharacterId).collect();
    let config = SequenceConfig {
        name: "scene".into(),
        cast,
        seconds: 9.0,
        looping: true,
        ..SequenceConfig::default()
    };
    let id = crowd.add_sequence(config).unwrap();
    crowd.play_sequence(id).unwrap();
    id
}

#[test]
fn a_member_that_goes_leaves_every_cast_and_its_successor_is_free() {
    let mut crowd = crowd(40, 1);
    let (a, b) = (bound(&mut crowd, &[3, 4, 5]), bound(&mut crowd, &[4]));
    tick(&mut crowd, SKY);
    assert_eq!(crowd.forced().count(), 3);
    let four = crowd.handle(CharacterId(4)).unwrap();
    crowd.despawn(four).unwrap();
    check(&crowd);
    let info = |crowd: &Crowd, id: SequenceId| {
        let (_, info) = crowd.sequences().nth(id.get()).unwrap();
        (info.state, info.cast.to_vec())
    };
    let left = vec![CharacterId(3), CharacterId(5)];
    assert_eq!(info(&crowd, a), (SequenceState::Playing, left.clone()), "it goes on");
    assert_eq!(info(&crowd, b), (SequenceState::Stopped, vec![]), "nobody is left");
    assert_eq!(tick(&mut crowd, SKY).evaluated, 2);
    crowd.spawn(crowd.kind_of(CharacterId(4))).unwrap();
    assert_eq!(crowd.update_mode(CharacterId(4)), Some(UpdateMode::TickWhenRendered));
    assert_eq!(tick(&mut crowd, SKY).evaluated, 2, "it is nobody's member");
    crowd.stop_sequence(a).unwrap();
    assert_eq!((tick(&mut crowd, SKY).evaluated, crowd.forced().count()), (0, 0));
    assert_eq!(info(&crowd, a).1, left);
    let refused = crowd.add_sequence(SequenceConfig {
        cast: vec![CharacterId(39), CharacterId(40)],
        seconds: 1.0,
        ..SequenceConfig::default()
    });
    assert!(refused.unwrap_err().to_string().contains("character 40; 40 are"));
    let last = crowd.handle(CharacterId(39)).unwrap();
    crowd.despawn(last).unwrap();
    let refused = crowd.add_sequence(SequenceConfig {
        cast: vec![CharacterId(39)],
        seconds: 1.0,
        ..SequenceConfig::default()
    });
    assert!(refused.unwrap_err().to_string().contains("character 39, which is not there"));
}

#[test]
fn a_capture_ends_with_its_character() {
    let mut crowd = crowd(20, 1);
    let seven = crowd.handle(CharacterId(7));
    crowd.watch(crate::crowd::Watch { character: seven, ..Default::default() }).unwrap();
    for _ in 0..3 {
        tick(&mut crowd, CROWD);
    }
    crowd.despawn(seven.unwrap()).unwrap();
    crowd.spawn(None).unwrap();
    for _ in 0..3 {
        tick(&mut crowd, CROWD);
        let seen: Vec<_> = crowd.captures().map(|seen| (seen.id.0, seen.frame)).collect();
        assert_eq!(seen, [(7, 2)], "the last of who had the id when it was asked for");
    }
    let refused = crowd.watch(crate::crowd::Watch { character: seven, ..Default::default() });
    assert!(matches!(refused, Err(CrowdError::Gone { id: 7, .. })));
}
