//! Followers, as a crowd's users see them.

use super::{DT, LAYOUTS, away, config, drawn, furthest, looking, overview, rig, tick, walker};
use std::collections::BTreeSet;
use throng::crowd::{Crowd, CrowdConfig, CrowdKind, Gates, Layout, Spawning, UpdateMode};
use throng::index::CharacterId;

const COUNT: u32 = 300;
const FOLLOWERS: u32 = 140;

fn kinds() -> Vec<CrowdKind> {
    vec![rig::person(), rig::stander()]
}

fn crowd(config: CrowdConfig, kinds: Vec<CrowdKind>) -> Crowd {
    let mut crowd = Crowd::new(config, kinds).unwrap();
    crowd.follow_some(FOLLOWERS, 7).unwrap();
    crowd
}

fn ids() -> impl Iterator<Item = CharacterId> {
    (0..COUNT).map(CharacterId)
}

#[test]
fn half_share_and_half_are_mapped_and_nobody_but_leaders_is_evaluated() {
    for layout in LAYOUTS {
        let mut crowd = crowd(config(COUNT, layout), kinds());
        let stats = tick(&mut crowd, &overview(), DT);
        let half = FOLLOWERS / 2;
        assert_eq!((stats.followers.shared, stats.followers.mapped), (half, half));
        assert_eq!((stats.followed, stats.evaluated), (half, COUNT - FOLLOWERS));
        assert_eq!((stats.visible, stats.leased), (COUNT, COUNT - half));
        let shown = drawn(crowd.draw());
        assert_eq!(shown.len() as u32, COUNT);
        for id in ids() {
            let Some(leader) = crowd.leader(id) else { continue };
            let off = furthest(&shown[&id.0].0, &shown[&leader.0].0);
            assert!(off <= 1e-5, "{layout:?}: {id} is {off} from {leader}, whose skeleton it has");
        }
    }
}

#[test]
fn whoever_is_in_view_is_drawn_wherever_its_leader_takes_it() {
    // Walkers on lanes, and walkers whom a graph steers; some tick unseen.
    for (layout, kinds) in [
        (Layout::Street, kinds()),
        (Layout::Disc, kinds()),
        (Layout::Grid, vec![walker::walker(), rig::stander()]),
    ] {
        let mut crowd = crowd(config(COUNT, layout), kinds);
        for id in ids().step_by(3) {
            crowd.set_update_mode(id, UpdateMode::AlwaysTickPose).unwrap();
        }
        let (mut seen, mut moved) = (0, 0.0f32);
        let begin: Vec<_> = ids().map(|id| crowd.character(id).unwrap().position).collect();
        for frame in 0..400 {
            let view = if frame % 120 > 60 { away() } else { looking(frame as f32 * 0.03) };
            // Characters step at the end of a tick, so they are in view at its beginning.
            let frustum = view.frustum();
            let inside = |id: &CharacterId| {
                let state = crowd.character(*id).unwrap();
                frustum.sphere_may_be_visible(state.center, state.radius - 0.1)
            };
            let standing: Vec<_> = ids().filter(|id| crowd.leader(*id).is_some()).collect();
            let inside: Vec<_> = standing.into_iter().filter(inside).collect();
            tick(&mut crowd, &view, DT);
            let shown: BTreeSet<_> = drawn(crowd.draw()).into_keys().collect();
            for id in &inside {
                assert!(shown.contains(&id.0), "{layout:?}, frame {frame}: {id} is in view");
            }
            seen += inside.len();
        }
        for (id, begin) in ids().zip(begin) {
            let now = crowd.character(id).unwrap().position;
            if crowd.leader(id).is_some() {
                moved = moved.max(now.distance(begin));
            }
        }
        assert!(seen > 3_000 && moved > 1.0, "{layout:?}: {seen} seen, {moved} m");
    }
}

#[test]
fn a_recording_shows_followers_again() {
    let gates = Gates { rate_distances: [4.0, 8.0, 12.0], lod_distance: 6.0, ..Gates::default() };
    let cycle = Spawning::Cycle { per_second: 60.0 };
    for (layout, spawning) in LAYOUTS
        .map(|l| (l, Spawning::Instant))
        .into_iter()
        .chain([(Layout::Grid, cycle), (Layout::Street, cycle)])
    {
        let config = |count, layout| CrowdConfig { spawning, ..config(count, layout) };
        let mut original = crowd(CrowdConfig { gates, ..config(COUNT, layout) }, kinds());
        original.record_frames();
        let mut frames = Vec::new();
        for i in 0..90 {
            let view = if i % 40 > 30 { away() } else { looking(i as f32 * 0.13) };
            let hash = tick(&mut original, &view, DT).palette_hash;
            frames.push((original.recorded_frame().to_vec(), hash));
        }
        let mut again = crowd(CrowdConfig { threads: 3, ..config(COUNT, layout) }, kinds());
        assert_eq!(
            again.places_checksum(),
            crowd(config(COUNT, layout), kinds()).places_checksum()
        );
        again.replay_frames();
        for (frame, (bytes, hash)) in frames.iter().enumerate() {
            again.load_frame(&mut bytes.clone()).unwrap();
            // Whoever looks on may see more than the recording's camera did.
            assert_eq!(tick(&mut again, &overview(), 9.0).palette_hash, *hash, "frame {frame}");
        }
        let (now, then) = (drawn(again.draw()), drawn(original.draw()));
        assert!(then.len() > 5);
        for (id, shown) in then {
            assert_eq!(now[&id], shown, "{layout:?}, character {id}");
        }
        if spawning == cycle {
            assert!(original.followers().left_behind > 10, "{:?}", original.followers());
            assert_eq!(original.followers(), again.followers());
            continue;
        }
        // A crowd in which nobody follows has evaluated what followers do not.
        let mut alone = Crowd::new(config(COUNT, layout), kinds()).unwrap();
        alone.record_frames();
        tick(&mut alone, &overview(), DT);
        let mut other = crowd(config(COUNT, layout), kinds());
        other.replay_frames();
        let error = other.load_frame(&mut alone.recorded_frame().to_vec()).unwrap_err();
        assert!(error.to_string().contains("does by itself what its leader does"), "{error}");
    }
}
