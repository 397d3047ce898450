//! Followers beside their leaders, frame by frame.

use super::*;
use crate::crowd::kind::Kind;
use crate::index::BoneIndex;
use crate::index::CharacterKind;
use glam::{DMat3, DQuat};

/// Everybody of the second kind follows one of the first, whose skeleton it has, some metres away.
fn twins(config: CrowdConfig, apart: f32) -> (Crowd, Vec<(CharacterId, CharacterId)>) {
    let mut crowd = Crowd::new(config, kinds()).unwrap();
    let (leaders, followers) = (of_kind(&crowd, 0), of_kind(&crowd, 1));
    // Two each: a leader may have several followers.
    let pairs = followers.into_iter().enumerate().map(|(n, f)| (f, leaders[n / 2]));
    let pairs: Vec<_> = pairs.collect();
    for (n, (follower, leader)) in pairs.iter().enumerate() {
        let z = if n % 2 == 0 { apart } else { -apart };
        let beside = Beside { z, ..LEFT };
        crowd.follow(*follower, *leader, beside).unwrap();
    }
    (crowd, pairs)
}

#[test]
fn followers_stay_within_a_hundredth_of_a_millimetre_under_rates_cuts_hiding_and_interpolation() {
    for (interpolate, gates) in
        [(false, Gates::OFF), (false, near_gates()), (true, near_gates()), (true, Gates::OFF)]
    {
        let (mut crowd, pairs) = twins(CrowdConfig { interpolate, gates, ..config() }, 3.0);
        let mut seen_before = vec![false; pairs.len()];
        // Evaluations in a row since a follower was given its slot.
        let mut rows = vec![0u32; pairs.len()];
        let (mut checked, mut skipped, mut came, mut cut, mut hidden) = (0, 0, 0, 0, 0);
        for frame in 0..1_000u32 {
            let view = if frame % 90 > 80 { away() } else { turned(frame as f32 * 0.03) };
            let stats = look(&mut crowd, &view);
            cut += stats.lod_cut;
            for (at, (follower, leader)) in pairs.iter().enumerate() {
                let seen = is_visible(&crowd, *follower);
                let appears = !std::mem::replace(&mut seen_before[at], seen) && seen;
                let Some([newer, older]) = palettes(&crowd, *follower) else {
                    assert!(!seen, "who is seen has a palette");
                    rows[at] = 0;
                    continue;
                };
                let [leading, led_before] = palettes(&crowd, *leader).unwrap();
                let when = evaluated_at(&crowd, *leader).unwrap();
                assert_eq!(evaluated_at(&crowd, *follower), Some(when));
                let off = furthest(&newer, &leading);
                assert!(off <= 1e-5, "frame {frame}: {follower} is {off} from {leader}");
                if appears {
                    assert_eq!(when, frame, "{follower} was drawn with a pose from before");
                    came += 1;
                }
                rows[at] += u32::from(when == frame);
                if interpolate && rows[at] > 1 {
                    assert!(furthest(&older, &led_before) <= 1e-5, "frame {frame}: {follower}");
                }
                checked += 1;
                skipped += u32::from(when != frame);
                hidden += u32::from(seen && !is_visible(&crowd, *leader));
            }
        }
        assert!(checked > 5_000 && came > 100 && hidden > 100, "{checked} {came} {hidden}");
        let gated = gates != Gates::OFF;
        assert_eq!((skipped > 1_000, cut > 1_000), (gated, gated), "{skipped} {cut}");
    }
}

#[test]
fn another_skeleton_turns_bone_for_bone_as_its_leader_does() {
    let mut crowd = Crowd::new(config(), kinds()).unwrap();
    let pairs: Vec<_> = of_kind(&crowd, 2).into_iter().zip(of_kind(&crowd, 0)).collect();
    for (follower, leader) in &pairs {
        crowd.follow(*follower, *leader, LEFT).unwrap();
    }
    let rigs = [0, 2].map(|kind| crowd.rig(CharacterKind(kind)).unwrap().clone());
    let model = |rig: &crate::pose::Rig, palette: &[Mat3x4], bone: u16| {
        let matrix = rig.model_from_bone(palette, BoneIndex(bone)).unwrap().matrix3;
        let matrix = DMat3::from_cols(
            matrix.x_axis.as_dvec3().normalize(),
            matrix.y_axis.as_dvec3().normalize(),
            matrix.z_axis.as_dvec3().normalize(),
        );
        DQuat::from_mat3(&matrix).normalize()
    };
    // They do not stand alike at rest, so home is how each stands.
    let (one, other) = (CharacterKind(0), CharacterKind(2));
    assert!(crowd.world.following.map(one, other).unwrap().uses_stances());
    let home = |kind: CharacterKind| {
        let Kind { standing, rig, .. } = &crowd.world.kinds[kind.get()];
        assert!(standing.iter().all(|(_, weight)| *weight == standing[0].1));
        rig.sample_palette(standing[0].0, 0.0)
    };
    let rest = [home(one), home(other)];
    let mut most = 0.0f64;
    for _ in 0..40 {
        look(&mut crowd, &above());
        for (follower, leader) in &pairs {
            let [theirs, ours] =
                [leader, follower].map(|id| palettes(&crowd, *id).unwrap()[0].clone());
            for bone in 0..13 {
                // Names are those of the bones' numbers in both.
                let turned =
                    model(&rigs[0], &theirs, bone) * model(&rigs[0], &rest[0], bone).conjugate();
                let own =
                    model(&rigs[1], &ours, bone) * model(&rigs[1], &rest[1], bone).conjugate();
                let off = turned.dot(own).abs().min(1.0).acos() * 2.0;
                assert!(off < 2e-3, "{follower} after {leader}: bone {bone} is {off} rad off");
                most = most.max(turned.dot(DQuat::IDENTITY).abs().min(1.0).acos() * 2.0);
            }
        }
    }
    assert!(most > 0.5, "leaders move: {most}");
}

/// The record of everybody who is drawn.
fn records(crowd: &Crowd) -> Vec<(u32, crate::crowd::InstanceRecord)> {
    let draw = crowd.draw();
    let of = |group: &crate::crowd::DrawGroup| {
        let last = group.camera.end.max(group.shadow.end);
        let page = group.page;
        draw.instances[group.camera.start as usize..last as usize].iter().map(move |r| (page, *r))
    };
    draw.groups.iter().flat_map(of).collect()
}

#[test]
fn a_double_is_drawn_from_its_leaders_rows_and_wakes_it_in_the_very_frame() {
    for interpolate in [false, true] {
        let mut crowd =
            Crowd::new(CrowdConfig { gates: near_gates(), interpolate, ..config() }, kinds())
                .unwrap();
        let of_one = of_kind(&crowd, 0);
        let (leaders, followers) = of_one.split_at(of_one.len() / 3);
        // Far from their leaders, so that often only one of the two is seen.
        let beside = Beside { x: 12.0, z: 5.0, yaw: 0.5 };
        let pairs: Vec<_> =
            followers.iter().enumerate().map(|(n, f)| (*f, leaders[n % leaders.len()])).collect();
        for (follower, leader) in &pairs {
            crowd.follow(*follower, *leader, beside).unwrap();
        }
        let mut seen_before = vec![false; pairs.len()];
        let (mut alone, mut came, mut held) = (0, 0, 0);
        for frame in 0..400u32 {
            let view = if frame % 60 > 50 { away() } else { turned(frame as f32 * 0.05) };
            let stats = look(&mut crowd, &view);
            held = held.max(stats.leased);
            let drawn = records(&crowd);
            let mut ids: Vec<_> = drawn.iter().map(|(_, record)| record.id).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), drawn.len(), "nobody is drawn twice");
            assert_eq!(stats.visible as usize, drawn.len(), "whoever is visible is drawn");
            let of = |id: CharacterId| drawn.iter().find(|(_, record)| record.id == id.0);
            for (at, (follower, leader)) in pairs.iter().enumerate() {
                assert_eq!(address(&crowd, *follower), None, "a double holds no slot");
                let seen = is_visible(&crowd, *follower);
                let appears = !std::mem::replace(&mut seen_before[at], seen) && seen;
                let Some((page, record)) = of(*follower) else {
                    assert!(!seen);
                    continue;
                };
                let slot = address(&crowd, *leader).unwrap();
                let leases = &crowd.world.slots.leases[slot.page as usize];
                assert_eq!(*page, slot.page);
                assert_eq!(record.palette_offset as usize, leases.palette_at(slot.slot as usize));
                assert_eq!(
                    record.before_offset as usize,
                    leases.palette_before(slot.slot as usize)
                );
                if appears {
                    assert_eq!(evaluated_at(&crowd, *leader), Some(frame));
                    came += 1;
                }
                match of(*leader) {
                    Some((_, leading)) => {
                        assert_eq!(record.weight, leading.weight);
                        // Its own size, at its place as seen from its leader.
                        let leading = leading.world_from_model.to_affine();
                        let scale = leading.matrix3.x_axis.length();
                        let world = record.world_from_model.to_affine();
                        let own = world.matrix3.x_axis.length();
                        let pivot = crowd.world.kinds[0].pivot;
                        let foot = |m: glam::Affine3A| m.transform_point3(pivot);
                        let turn = glam::Mat3A::from_cols(
                            leading.matrix3.x_axis / scale,
                            leading.matrix3.y_axis / scale,
                            leading.matrix3.z_axis / scale,
                        );
                        let expected = foot(leading) + turn * Vec3::new(beside.x, 0.0, beside.z);
                        assert!(foot(world).distance(expected) < 1e-3, "frame {frame}");
                        let ahead =
                            (world.matrix3.z_axis / own).dot(leading.matrix3.z_axis / scale);
                        assert!((ahead - beside.yaw.cos()).abs() < 1e-4);
                        assert!(
                            (own - crowd.character(*follower).unwrap().scale * 1.5).abs() < 1e-4
                        );
                    }
                    None => alone += 1,
                }
            }
        }
        assert!(alone > 100 && came > 100, "{alone} {came}");
        assert!(held <= COUNT - followers.len() as u32);
    }
}
