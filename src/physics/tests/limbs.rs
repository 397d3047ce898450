//! Legs and arms of the built-in characters and of the corpus.

use super::*;
use crate::motion::{Extremity, Physique};

fn names(falling: &Falling, limbs: &[Extremity]) -> Vec<[String; 3]> {
    let name = |bone: crate::index::BoneIndex| falling.rig.skeleton().names()[bone.get()].clone();
    let mut names: Vec<_> =
        limbs.iter().map(|e| [e.limb.root, e.limb.mid, e.limb.end].map(name)).collect();
    names.sort();
    names
}

#[test]
fn legs_and_arms_are_found_and_which_way_they_bend() {
    for (file, falling) in characters() {
        let Physique { hips, spine, legs, arms, hull, .. } = &falling.kind.physique;
        let [legs_named, arms_named] = [legs, arms].map(|limbs| names(&falling, limbs));
        eprintln!("{file}: {legs_named:?} {arms_named:?}");
        let limb = |names: [&str; 3], side: &str| names.map(|name| format!("{name}_{side}"));
        let pair = |names: [&str; 3]| ["l", "r"].map(|side| limb(names, side));
        match file.as_str() {
            "humanoid" => {
                assert_eq!(legs_named, pair(["thigh", "calf", "foot"]));
                assert_eq!(arms_named, pair(["upperarm", "lowerarm", "hand"]));
                assert!(spine.len() == 3 && legs.iter().all(|leg| leg.bend.z > 0.9), "{legs:?}");
                assert!(arms.iter().all(|arm| arm.bend.z < -0.4), "{arms:?}");
            }
            "quadruped" => {
                let [thighs, arms] =
                    [["thigh", "calf", "foot"], ["upperarm", "lowerarm", "hand"]].map(pair);
                assert_eq!(legs_named, [thighs, arms].concat());
                assert!(arms_named.is_empty() && spine.is_empty(), "{spine:?}");
                let paws =
                    legs.iter().filter(|leg| hull.iter().any(|shell| shell.bone == leg.limb.end));
                assert_eq!(paws.count(), 4, "every paw has a shell");
            }
            "kaykit_Knight/Knight.glb" | "sw_CesiumMan_glb" => {
                assert_eq!((legs.len(), arms.len()), (2, 2), "{file}");
            }
            "bevy_Fox/Fox.glb" => assert_eq!((legs.len(), arms.len()), (4, 0)),
            _ => {}
        }
        // Two at least, or none; below the hips, and with a direction.
        assert!(legs.len() != 1, "{file}");
        for leg in legs {
            assert!((leg.bend.length() - 1.0).abs() < 1e-3 && leg.height > 0.0, "{file}: {leg:?}");
            assert_ne!(leg.limb.root, *hips, "{file}");
        }
        assert!(hull.iter().all(|shell| shell.radius > 0.0), "{file}");
    }
}
