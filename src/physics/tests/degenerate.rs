//! Skeletons that nobody would model, poses that are none, and sizes from mites to mountains.

use super::*;
use crate::math::Trs;
use crate::pose::{PaletteEntry, Skeleton, skeleton::SkeletonParts};

/// The humanoid with other rest transforms and without clips.
fn altered(change: impl Fn(usize, &mut Trs)) -> CharacterAsset {
    let mut asset = builtin("humanoid").unwrap().unwrap();
    let old = &asset.skeleton;
    let bones = old.bone_count();
    let mut rest = old.rest().to_vec();
    rest.iter_mut().enumerate().for_each(|(bone, local)| change(bone, local));
    asset.skeleton = Skeleton::new(SkeletonParts {
        names: old.names().to_vec(),
        parents: old.parents().to_vec(),
        rest,
        model_from_root_parent: bones.bones().map(|b| old.model_from_root_parent(b)).collect(),
        palette: old.palette().to_vec(),
        low_detail_bone_count: old.low_detail_bone_count(),
    })
    .unwrap();
    asset.clips.clear();
    asset
}

/// Falls for a few seconds; every palette has to be finite.
fn survives(what: &str, asset: &CharacterAsset, place: Affine3A) {
    let rig = asset.rig().unwrap();
    let Some(kind) = Skeletal::new(asset, &rig) else { return };
    for terrain in [Terrain::FLAT, Terrain::uneven(4)] {
        let mut pose = rig.sample_pose(ClipId(0), 0.1);
        let fall = Fall {
            rig: &rig,
            pose: &pose,
            world_from_model: place,
            before: Some((rig.reference(), place, DT)),
            push: Vec3::X,
            terrain,
        };
        let Some(mut doll) = kind.fall(&fall) else { continue };
        for _ in 0..180 {
            doll.step(DT);
            doll.write(&rig, &place.inverse(), &mut pose);
            let palette = rig.resolve_pose(&pose);
            assert!(palette.iter().all(|m| m.is_finite()), "{what}: a palette is no number");
            let (center, radius) = doll.sphere();
            assert!(center.is_finite() && radius.is_finite(), "{what}: {center} {radius}");
            let footing = doll.footing();
            assert!(footing.position.is_finite() && footing.heading.is_finite(), "{what}");
        }
    }
}

#[test]
fn broken_skeletons_fall_in_finite_numbers() {
    let place = Affine3A::from_translation(Vec3::new(3.0, 0.0, 4.0));
    survives("as it is", &altered(|_, _| ()), place);
    survives("no lengths", &altered(|_, local| local.translation = Vec3::ZERO), place);
    survives(
        "some lengths",
        &altered(|b, l| {
            if b % 3 == 0 {
                l.translation = Vec3::ZERO
            }
        }),
        place,
    );
    survives(
        "no volume",
        &altered(|b, l| {
            if b == 4 {
                l.scale = Vec3::ZERO
            }
        }),
        place,
    );
    survives("a plane", &altered(|_, l| l.scale.z = 0.0), place);
    survives(
        "mirrored",
        &altered(|b, l| {
            if b % 5 == 1 {
                l.scale.x = -1.0
            }
        }),
        place,
    );
    survives(
        "sheared",
        &altered(|b, l| {
            if b == 2 {
                l.scale = Vec3::new(1.0, 3.0, 0.5)
            }
        }),
        place,
    );
    survives("long", &altered(|_, local| local.translation *= 1e4), place);
    let mut bare = altered(|_, _| ());
    bare.primitives.clear();
    assert!(Skeletal::new(&bare, &bare.rig().unwrap()).is_none(), "without skin no bodies");
    let mut point = altered(|_, _| ());
    for vertex in point.primitives.iter_mut().flat_map(|p| &mut p.vertices) {
        vertex.position = [1.0; 3];
    }
    survives("one point", &point, place);
}

#[test]
fn one_bone_falls_like_a_sack() {
    let mut asset = altered(|_, _| ());
    let entry =
        PaletteEntry { bone: crate::index::BoneIndex(0), bone_from_mesh: Affine3A::IDENTITY };
    asset.skeleton = Skeleton::new(SkeletonParts {
        names: vec!["all".into()],
        parents: vec![None],
        rest: vec![Trs::IDENTITY],
        model_from_root_parent: vec![Affine3A::IDENTITY],
        palette: vec![entry],
        low_detail_bone_count: crate::index::BoneCount(1),
    })
    .unwrap();
    for vertex in asset.primitives.iter_mut().flat_map(|p| &mut p.vertices) {
        (vertex.joints, vertex.weights) = ([0; 4], [1.0, 0.0, 0.0, 0.0]);
    }
    let kind = Skeletal::new(&asset, &asset.rig().unwrap()).unwrap();
    assert_eq!(kind.body_count(), 1);
    survives("one bone", &asset, Affine3A::from_translation(Vec3::Y));
}

#[test]
fn mites_and_mountains_come_to_rest_and_what_is_no_place_has_no_bodies() {
    let asset = builtin("humanoid").unwrap().unwrap();
    let rig = asset.rig().unwrap();
    let kind = Skeletal::new(&asset, &rig).unwrap();
    let pose = rig.sample_pose(ClipId(0), 0.3);
    let fall = |place: Affine3A| {
        let (before, push, terrain) = (None, Vec3::ZERO, Terrain::FLAT);
        let fall = Fall { rig: &rig, pose: &pose, world_from_model: place, before, push, terrain };
        kind.fall(&fall)
    };
    for size in [1e-4, 0.02, 1.0, 30.0, 1e4] {
        let mut doll = fall(Affine3A::from_scale(Vec3::splat(size))).unwrap();
        for _ in 0..500 {
            doll.step(DT);
        }
        assert!(doll.at_rest(), "{size}");
        let clearance = doll.clearance();
        assert!(clearance.abs() < 0.02 * size, "{size}: {clearance}");
    }
    for nowhere in [
        Affine3A::from_scale(Vec3::ZERO),
        Affine3A::from_translation(Vec3::NAN),
        Affine3A::from_translation(Vec3::INFINITY),
    ] {
        assert!(fall(nowhere).is_none(), "{nowhere:?}");
    }
}
