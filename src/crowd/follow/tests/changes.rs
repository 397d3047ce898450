//! Who may follow whom, and what becomes of those who change.

use super::*;
use crate::crowd::UpdateMode;
use crate::crowd::sequence::{SequenceConfig, SequenceId};
use crate::crowd::world::World;
use crate::index::{CharacterId as Id, CharacterKind};

#[test]
fn chains_and_nonsense_are_refused_with_both_names() {
    let mut crowd = Crowd::new(config(), kinds()).unwrap();
    crowd.follow(Id(5), Id(7), LEFT).unwrap();
    let mut refused = |follower: u32, leader: u32, beside| {
        crowd.follow(Id(follower), Id(leader), beside).unwrap_err().to_string()
    };
    assert_eq!(refused(3, 3, LEFT), "character 3 can't follow itself");
    let chain = "character 3 can't follow 5, which follows 7: followers do not lead";
    assert_eq!(refused(3, 5, LEFT), chain);
    let chain = "character 7, which leads 5, can't follow 3: leaders do not follow";
    assert_eq!(refused(7, 3, LEFT), chain);
    assert_eq!(refused(120, 3, LEFT), "there is no character 120: 120 are numbered from 0");
    assert_eq!(refused(3, 4_000, LEFT), "there is no character 4000: 120 are numbered from 0");
    let nowhere = Beside { z: f32::NAN, ..LEFT };
    assert!(refused(3, 4, nowhere).starts_with("character 3 can't stand NaN beside"));
    assert_eq!(
        (crowd.leader(Id(5)), crowd.leader(Id(7)), crowd.leader(Id(3))),
        (Some(Id(7)), None, None)
    );
    // A leader whose last follower has left may follow.
    crowd.unfollow(Id(5)).unwrap();
    crowd.follow(Id(7), Id(5), LEFT).unwrap();
    crowd.unfollow(Id(99)).unwrap();
    assert!(crowd.unfollow(Id(120)).is_err() && crowd.leave_behind(Id(120)).is_err());
    crowd.record_frames();
    for error in
        [crowd.follow(Id(1), Id(2), LEFT), crowd.unfollow(Id(7)), crowd.leave_behind(Id(5))]
    {
        assert!(error.unwrap_err().to_string().contains("recorded"));
    }
}

#[test]
fn whoever_ceases_to_follow_goes_on_as_if_it_had_been_hidden_meanwhile() {
    for (follower_kind, leader_kind) in [(0, 0), (1, 0), (2, 0)] {
        let run = |follows: bool| {
            // Without grace whoever is hidden stops at once, as whoever follows does.
            let mut crowd = Crowd::new(CrowdConfig { grace: 0.0, ..config() }, kinds()).unwrap();
            let follower = of_kind(&crowd, follower_kind)[3];
            let leader = *of_kind(&crowd, leader_kind).iter().find(|id| **id != follower).unwrap();
            for frame in 0..60 {
                if frame == 10 && follows {
                    crowd.follow(follower, leader, LEFT).unwrap();
                }
                if frame == 40 && follows {
                    crowd.unfollow(follower).unwrap();
                }
                let hides = (10..40).contains(&frame) && !follows;
                look(&mut crowd, &if hides { away() } else { above() });
            }
            let clocks = {
                let at = address(&crowd, follower).unwrap();
                let of = &crowd.world.slots.leases[at.page as usize];
                format!("{:?}", of.playback[at.slot as usize])
            };
            let [at, leader] = [follower, leader].map(|id| crowd.character(id).unwrap().position);
            (clocks, at.distance(leader))
        };
        let ((clocks, apart), (expected, before)) = (run(true), run(false));
        assert_eq!(clocks, expected, "its clocks stood still and caught up");
        assert!(
            (apart - 0.8).abs() < 1e-3 && before.is_finite(),
            "it stands where it was let go: {apart}"
        );
    }
}

#[test]
fn another_leader_and_none_at_all_are_followed_from_the_next_frame_on() {
    let mut crowd = Crowd::new(config(), kinds()).unwrap();
    let (ones, twins) = (of_kind(&crowd, 0), of_kind(&crowd, 1));
    let (follower, leaders) = (twins[0], [ones[0], ones[1], twins[1]]);
    for leader in leaders.into_iter().chain(leaders) {
        crowd.follow(follower, leader, LEFT).unwrap();
        for _ in 0..3 {
            look(&mut crowd, &above());
            let theirs = palettes(&crowd, leader).unwrap()[0].to_vec();
            match palettes(&crowd, follower) {
                Some([own, _]) => assert!(furthest(&own, &theirs) <= 1e-5),
                None => assert_eq!(kind_of(&crowd, leader), 1, "a double"),
            }
        }
    }
    assert_eq!(crowd.followers(), Followers { shared: 1, mapped: 0, left_behind: 0 });
    crowd.unfollow(follower).unwrap();
    assert_eq!(crowd.followers(), Followers::default());
    let alone = look(&mut crowd, &above());
    assert_eq!((alone.followers, alone.evaluated), (Followers::default(), COUNT));
}

#[test]
fn a_leader_that_is_gone_leaves_the_bind_pose_where_its_followers_stand() {
    let mut crowd = Crowd::new(CrowdConfig { gates: near_gates(), ..config() }, kinds()).unwrap();
    let (ones, twins) = (of_kind(&crowd, 0), of_kind(&crowd, 1));
    let (leader, double, twin) = (ones[0], ones[1], twins[0]);
    crowd.follow(double, leader, LEFT).unwrap();
    crowd.follow(twin, leader, Beside { x: -0.8, ..LEFT }).unwrap();
    for _ in 0..5 {
        look(&mut crowd, &above());
    }
    let places = [double, twin].map(|id| crowd.character(id).unwrap().position);
    crowd.leave_behind(leader).unwrap();
    assert_eq!(crowd.followers(), Followers { left_behind: 2, ..Followers::default() });
    let rig = crowd.rig(CharacterKind(0)).unwrap().clone();
    let bind = rig.resolve_pose(rig.reference());
    for frame in 0..20 {
        // Hidden and back, too: who keeps the bind pose is no starving character.
        let stats = look(&mut crowd, &if frame == 9 { away() } else { above() });
        assert!(stats.longest_gap <= 4, "{}", stats.longest_gap);
        assert_eq!(stats.followed, if frame == 0 { 2 } else { 0 });
        for (id, place) in [double, twin].into_iter().zip(places) {
            assert_eq!(palettes(&crowd, id).unwrap()[0], bind[..], "frame {frame}");
            assert_eq!(crowd.character(id).unwrap().position, place);
        }
    }
    let error = crowd.follow(ones[2], double, LEFT).unwrap_err();
    assert!(matches!(error, FollowError::LeaderFollows { .. }));
    // They can find another leader, or themselves.
    crowd.follow(double, ones[2], LEFT).unwrap();
    crowd.unfollow(twin).unwrap();
    let stats = look(&mut crowd, &above());
    assert_eq!(stats.followers, Followers { shared: 1, ..Followers::default() });
    assert_ne!(palettes(&crowd, twin).unwrap()[0], bind[..]);
}

#[test]
fn whoever_is_despawned_leaves_its_followers_behind_and_its_leader_alone() {
    let mut crowd = Crowd::new(config(), kinds()).unwrap();
    let (ones, twins) = (of_kind(&crowd, 0), of_kind(&crowd, 1));
    let (leader, double, twin, other) = (ones[0], ones[1], twins[0], ones[2]);
    for follower in [double, twin, other] {
        crowd.follow(follower, leader, LEFT).unwrap();
    }
    look(&mut crowd, &above());
    let home = {
        let untouched = Crowd::new(config(), kinds()).unwrap();
        untouched.character(double).unwrap().position
    };
    assert_ne!(crowd.character(double).unwrap().position, home);
    // A follower goes; whoever has its id next follows nobody and stands where its place is.
    let gone = crowd.handle(double).unwrap();
    crowd.despawn(gone).unwrap();
    let stats = look(&mut crowd, &above());
    assert_eq!((stats.followers.shared, stats.followers.mapped, stats.count), (1, 1, COUNT - 1));
    let next = crowd.spawn(None).unwrap();
    assert_eq!((next.id(), crowd.leader(double)), (double, None));
    let stats = look(&mut crowd, &above());
    assert_eq!(stats.evaluated, COUNT - 2);
    assert!(crowd.character(double).unwrap().position.distance(home) < 0.1);
    // The leader goes.
    let gone = crowd.handle(leader).unwrap();
    crowd.despawn(gone).unwrap();
    let error = crowd.follow(twin, leader, LEFT).unwrap_err().to_string();
    assert_eq!(error, format!("there is no character {leader} any more, or not yet"));
    let rig = crowd.rig(CharacterKind(0)).unwrap().clone();
    let bind = rig.resolve_pose(rig.reference());
    for _ in 0..3 {
        let stats = look(&mut crowd, &above());
        assert_eq!(stats.followers, Followers { left_behind: 2, ..Followers::default() });
        for id in [twin, other] {
            assert_eq!(palettes(&crowd, id).unwrap()[0], bind[..]);
        }
    }
    // Whoever has its id next leads nobody.
    let next = crowd.spawn(None).unwrap();
    assert_eq!(next.id(), leader);
    crowd.follow(next.id(), ones[5], LEFT).unwrap();
    let gone = crowd.handle(twin).unwrap();
    crowd.despawn(gone).unwrap();
    let stats = look(&mut crowd, &above());
    assert_eq!(stats.followers, Followers { left_behind: 1, shared: 1, mapped: 0 });
}

/// The last hash of a run.
fn hash(crowd: &mut Crowd, view: impl Fn(f32) -> View) -> u64 {
    let hashes = (0..60).map(|frame| look(crowd, &view(frame as f32 * 0.05)).palette_hash);
    hashes.last().flatten().unwrap()
}

#[test]
fn the_hash_has_mapped_palettes_in_it_is_the_same_on_any_threads_and_nothing_without_followers() {
    let run = |threads: usize, followers: u32, interpolate: bool| {
        let config = CrowdConfig { threads, interpolate, gates: near_gates(), ..config() };
        let mut crowd = Crowd::new(config, kinds()).unwrap();
        crowd.follow_some(followers, 3).unwrap();
        hash(&mut crowd, turned)
    };
    for interpolate in [false, true] {
        let one = run(1, 50, interpolate);
        assert_eq!(one, run(2, 50, interpolate));
        assert_eq!(one, run(8, 50, interpolate));
        assert_ne!(one, run(1, 51, interpolate));
    }
    // Somebody who followed once and does not any more leaves no trace.
    let mut crowds = [(); 2].map(|()| Crowd::new(config(), kinds()).unwrap());
    crowds[1].follow(Id(3), Id(4), LEFT).unwrap();
    assert_ne!(crowds[0].places_checksum(), crowds[1].places_checksum());
    crowds[1].unfollow(Id(3)).unwrap();
    let [never, once] = crowds.each_mut().map(|crowd| hash(crowd, |_| above()));
    assert_eq!(never, once);
    // One bit of one mapped palette is another hash.
    let mut crowd = Crowd::new(config(), kinds()).unwrap();
    let (follower, leader) = (of_kind(&crowd, 2)[0], of_kind(&crowd, 0)[0]);
    crowd.follow(follower, leader, LEFT).unwrap();
    let right = look(&mut crowd, &above()).palette_hash.unwrap();
    let world = &mut crowd.world;
    let hash = |world: &World| {
        let (characters, each) = (&world.characters, &world.hashes);
        let following = (&characters.masks[..], &characters.slots[..]);
        crate::crowd::hash::chain(0, &characters.blocks, &world.slots, following, each)
    };
    assert_eq!(hash(world), right);
    let at = world.characters.slots[follower.get()];
    let (leases, page) =
        (&world.slots.leases[at.page as usize], &mut world.slots.pages[at.page as usize]);
    let row = &mut page.matrices[leases.palette_at(at.slot as usize)].rows[0][0];
    *row = f32::from_bits(row.to_bits() ^ 1);
    assert_ne!(hash(world), right);
}

fn begin(crowd: &mut Crowd, cast: &[Id]) -> SequenceId {
    let id = crowd.add_sequence(SequenceConfig {
        name: "scene".into(),
        cast: cast.to_vec(),
        seconds: 2.0,
        looping: true,
        ..SequenceConfig::default()
    });
    let id = id.unwrap();
    crowd.play_sequence(id).unwrap();
    id
}

#[test]
fn a_sequence_binds_and_restores_followers_with_their_leader_in_whatever_order() {
    for order in [[0, 1], [1, 0]] {
        let mut crowd = Crowd::new(config(), kinds()).unwrap();
        let (ones, twins) = (of_kind(&crowd, 0), of_kind(&crowd, 1));
        let (leader, double, twin, other) = (ones[0], ones[1], twins[0], ones[5]);
        crowd.follow(double, leader, LEFT).unwrap();
        crowd.follow(twin, leader, LEFT).unwrap();
        crowd.set_update_mode(twin, UpdateMode::AlwaysTickClocks).unwrap();
        // One binds the leader, one a follower: either has the whole party, as far as poses need it.
        let scenes = [begin(&mut crowd, &[leader]), begin(&mut crowd, &[twin, other])];
        let forced = |crowd: &Crowd| crowd.forced().map(|(id, _)| id).collect::<Vec<_>>();
        let mut all = vec![leader, double, twin, other];
        all.sort_unstable();
        assert_eq!(forced(&crowd), all);
        for _ in 0..5 {
            let stats = look(&mut crowd, &away());
            assert_eq!((stats.evaluated, stats.followed, stats.forced), (2, 1, 4));
            let [own, theirs] = [twin, leader].map(|id| palettes(&crowd, id).unwrap()[0].clone());
            assert!(furthest(&own, &theirs) <= 1e-5);
        }
        crowd.unbind_sequence(scenes[order[0]]).unwrap();
        // The other one still needs them.
        let left: &[Id] =
            if order[0] == 0 { &[leader, twin, other] } else { &[leader, double, twin] };
        let mut left = left.to_vec();
        left.sort_unstable();
        assert_eq!(forced(&crowd), left);
        // Whoever goes its own way meanwhile is given back all the same.
        crowd.unfollow(twin).unwrap();
        crowd.follow(twin, other, LEFT).unwrap();
        crowd.unbind_sequence(scenes[order[1]]).unwrap();
        assert!(forced(&crowd).is_empty());
        let modes = [leader, double, twin, other].map(|id| crowd.update_mode(id).unwrap());
        let own = UpdateMode::TickWhenRendered;
        assert_eq!(modes, [own, own, UpdateMode::AlwaysTickClocks, own]);
        for _ in 0..20 {
            look(&mut crowd, &away());
        }
        assert_eq!(look(&mut crowd, &away()).evaluated, 0, "nobody needs anybody");
    }
}

#[test]
fn a_leader_ticks_unseen_for_a_follower_that_is_told_to() {
    let mut crowd = Crowd::new(config(), kinds()).unwrap();
    let (ones, twins) = (of_kind(&crowd, 0), of_kind(&crowd, 1));
    crowd.follow(twins[0], ones[0], LEFT).unwrap();
    crowd.follow(ones[2], ones[1], LEFT).unwrap();
    for id in [twins[0], ones[2]] {
        crowd.set_update_mode(id, UpdateMode::AlwaysTickPose).unwrap();
    }
    let stats = look(&mut crowd, &away());
    assert_eq!((stats.evaluated, stats.followed), (2, 1));
    // Clocks that a follower has none of do not run.
    for id in [twins[0], ones[2]] {
        crowd.set_update_mode(id, UpdateMode::AlwaysTickClocks).unwrap();
    }
    for _ in 0..20 {
        look(&mut crowd, &away());
    }
    let stats = look(&mut crowd, &away());
    assert_eq!((stats.evaluated, stats.ticked, stats.followed), (0, 0, 0));
}
