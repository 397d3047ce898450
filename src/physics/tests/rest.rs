//! How falls end: when, and with how much of the skin where.

use super::*;
use crate::asset::skinning;

/// How one fall ended.
struct End {
    seconds: f32,
    /// How far the lowest point of any capsule was below the ground at the worst, metres.
    deep: f32,
    /// Share of the vertices that then lie deeper than 1.2 % of the size.
    sunk: f32,
    /// How deep the deepest of them lies, metres.
    skin: f32,
}

fn falls(falling: &Falling, asset: &CharacterAsset, seeds: u32) -> Vec<End> {
    let clips: Vec<ClipId> = falling.clips().collect();
    let mut ends = Vec::new();
    for terrain in [Terrain::FLAT, Terrain::uneven(11)] {
        for seed in 0..seeds {
            let clip = clips[seed as usize % clips.len()];
            let (mut doll, mut pose, place) = falling.begin(terrain, clip, seed * 7 + 1);
            let (mut frames, mut deep) = (0, 0.0f32);
            while !doll.at_rest() {
                doll.step(DT);
                deep = deep.max(-doll.clearance());
                frames += 1;
            }
            doll.write(&falling.rig, &place.inverse(), &mut pose);
            let palette = falling.rig.resolve_pose(&pose);
            let palette: Vec<Affine3A> = palette.iter().map(|m| place * m.to_affine()).collect();
            let skins = asset.primitives.iter().map(|p| skinning::skin_primitive(p, &palette));
            let under = |p: Vec3| terrain.height(Vec2::new(p.x, p.z)) - p.y;
            let depths: Vec<f32> = skins.flatten().map(|p| under(p.into())).collect();
            let sunk = depths.iter().filter(|d| **d > 0.012 * falling.size).count();
            ends.push(End {
                seconds: frames as f32 * DT,
                deep,
                sunk: sunk as f32 / depths.len() as f32,
                skin: depths.iter().copied().fold(0.0, f32::max),
            });
        }
    }
    ends
}

#[test]
fn falls_come_to_rest_by_themselves_on_the_ground_with_their_skin() {
    for (name, _) in BUILTINS {
        let asset = builtin(name).unwrap().unwrap();
        let falling = Falling::new(&asset).unwrap();
        let ends = falls(&falling, &asset, 40);
        let count = ends.len() as f32;
        let within = |s: f32| ends.iter().filter(|e| e.seconds <= s).count() as f32 / count;
        let worst = |of: fn(&End) -> f32| ends.iter().map(of).fold(0.0, f32::max);
        let (deep, skin, sunk) = (worst(|e| e.deep), worst(|e| e.skin), worst(|e| e.sunk));
        let mean = ends.iter().map(|e| e.sunk).sum::<f32>() / count;
        let shares = [2.0, 3.0, 4.0].map(within);
        eprintln!(
            "{name}: {shares:?} at rest, {} s, {deep} m deep, skin {skin} m, {sunk} {mean}",
            worst(|e| e.seconds)
        );
        assert!(shares[2] >= 0.95, "{name}: {shares:?} have come to rest after 2, 3 and 4 s");
        assert!(deep < falling.deepest(), "{name}: {deep} m in the ground");
        assert!(skin < 0.14 * falling.size, "{name}: skin is {skin} m in the ground");
        assert!(mean < 0.03, "{name}: {mean} of the skin is in the ground");
    }
}
