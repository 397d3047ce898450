//! Getting up: where bones, bodies and feet are from lying to standing.

use super::DT;
use super::ragdoll::{Cast, GROUNDS, bones, config, near, tick};
use glam::{Affine3A, Vec3, Vec3Swizzles};
use std::collections::BTreeMap;
use throng::crowd::{Crowd, FallStep};
use throng::motion::{Bodies, Physique, Terrain};
use throng::physics::Skeletal;

/// One frame of one who gets up.
struct Frame {
    bones: Vec<Affine3A>,
    world_from_model: Affine3A,
}

/// Everybody's way up, frame by frame, the last one standing; with its kind.
fn rises(cast: &Cast, crowd: &mut Crowd, frames: u32) -> Vec<(usize, Vec<Frame>)> {
    let (mut rising, mut done) = (BTreeMap::<u32, (usize, Vec<Frame>)>::new(), Vec::new());
    let view = near();
    for _ in 0..frames {
        tick(crowd, &view, DT);
        let mut drawn = bones(crowd, cast);
        for who in crowd.characters().collect::<Vec<_>>() {
            let frame = crowd.observe(who, view.eye).unwrap();
            let id = who.id().0;
            let rises = frame.decisions.fall == Some(FallStep::Rises);
            if !rises && !rising.contains_key(&id) {
                continue;
            }
            let frames = rising.entry(id).or_insert((frame.kind().get(), Vec::new()));
            let (bones, world_from_model) =
                (drawn.remove(&id).unwrap(), frame.world_from_model().unwrap());
            frames.1.push(Frame { bones, world_from_model });
            if !rises {
                done.extend(rising.remove(&id));
            }
        }
    }
    done
}

/// How deep the deepest bone is in the ground, and the deepest capsule; metres.
fn depths(
    physique: &Physique,
    cast: &Cast,
    kind: usize,
    frame: &Frame,
    ground: Terrain,
) -> [f32; 2] {
    let under = |p: Vec3| ground.height(p.xz()) - p.y;
    let skeleton = &cast.assets()[kind].skeleton;
    let carries = |bone: usize| physique.hull.iter().any(|shell| shell.bone.get() == bone);
    // What carries no skin is nowhere to be seen.
    let bones = frame.bones.iter().enumerate().filter(|(bone, _)| carries(*bone));
    let bone = bones.map(|(_, bone)| under(bone.translation.into())).fold(f32::MIN, f32::max);
    let size = frame.world_from_model.matrix3.y_axis.length();
    let shells = physique.hull.iter().flat_map(|shell| {
        let entry = skeleton.palette()[shell.bone.get()];
        let world_from_mesh = frame.bones[shell.bone.get()] * entry.bone_from_mesh;
        shell.ends.map(|end| under(world_from_mesh.transform_point3(end)) + shell.radius * size)
    });
    [bone, shells.fold(f32::MIN, f32::max)]
}

#[test]
fn who_gets_up_goes_through_no_ground_and_stands_on_its_feet_half_way() {
    let cast = Cast::new();
    let physiques: Vec<Physique> = cast
        .assets()
        .iter()
        .map(|asset| Skeletal::new(asset, &asset.rig().unwrap()).unwrap().physique().clone())
        .collect();
    let mut worst = Vec::new();
    for (what, ground) in
        ["graphs", "clips", "starters"].into_iter().flat_map(|w| GROUNDS.map(|g| (w, g)))
    {
        let config = config(16, 16, ground);
        let mut crowd = match what {
            "starters" => cast.starters(config),
            _ => cast.crowd(what == "graphs", config),
        };
        let rises = rises(&cast, &mut crowd, 900);
        assert!(rises.len() > 12, "{} got up", rises.len());
        let mut kinds = [0; 2];
        let (mut deepest, mut fastest, mut lifted, mut slid) =
            ([f32::MIN; 2], 0.0f32, 0.0f32, 0.0f32);
        for (kind, frames) in &rises {
            let physique = &physiques[*kind];
            kinds[*kind] += 1;
            assert!((115..=125).contains(&frames.len()), "two seconds: {} frames", frames.len());
            let last = frames.last().unwrap();
            let stands = depths(physique, &cast, *kind, last, ground);
            for (at, frame) in frames.iter().enumerate() {
                let deep = depths(physique, &cast, *kind, frame, ground);
                for k in 0..2 {
                    // A pose of a clip may stand in uneven ground itself.
                    deepest[k] = deepest[k].max(deep[k] - stands[k].max(0.0));
                }
                let Some(before) = at.checked_sub(1).map(|at| &frames[at]) else { continue };
                let moved = frame.bones.iter().zip(&before.bones);
                // What lies above all bodies turns where nobody sees it.
                let moved = moved.skip(1).map(|(b, a)| b.translation.distance(a.translation));
                fastest = fastest.max(moved.fold(0.0, f32::max) / DT as f32);
                if 2 * at < frames.len() || what != "graphs" {
                    continue;
                }
                let size = frame.world_from_model.matrix3.y_axis.length();
                for leg in &physique.legs {
                    let [now, then, stands] = [frame, before, last]
                        .map(|f| Vec3::from(f.bones[leg.limb.end.get()].translation));
                    let above = now.y - ground.height(now.xz()) - leg.height * size;
                    let stands = stands.y - ground.height(stands.xz()) - leg.height * size;
                    lifted = lifted.max((above - stands).abs());
                    slid = slid.max(now.xz().distance(then.xz()));
                }
            }
        }
        eprintln!(
            "{what} {ground:?}: {kinds:?} got up, {deepest:?} deep, {fastest} m/s, feet {lifted} {slid}"
        );
        assert!(kinds.iter().all(|count| *count > 3), "{kinds:?}");
        worst.push((what, ground, deepest, fastest, lifted, slid));
    }
    for (what, ground, [joint, body], fastest, lifted, slid) in worst {
        let which = format!("{what} {ground:?}");
        // A pose of a clip that somebody gets up into may have hands or feet lower than the ground.
        let most = if what == "starters" { 0.08 } else { 0.015 };
        assert!(joint < -0.005, "{which}: a joint is {joint} m in the ground");
        assert!(body < most, "{which}: a body is {body} m in the ground");
        assert!(fastest < 10.0, "{which}: a bone moves at {fastest} m/s");
        assert!(lifted < 0.02, "{which}: a foot is {lifted} m off the ground");
        assert!(slid < 0.004, "{which}: a foot slides {slid} m in a frame");
    }
}
