//! Falls of the built-in characters, of the corpus and of skeletons that nobody would model.

mod degenerate;
mod limbs;
mod rest;

use super::joints::Limits;
use super::*;
use crate::asset::{self, BUILTINS, CharacterAsset, builtin};
use crate::index::ClipId;
use crate::motion::{Bodies, Fall, Ragdoll, Terrain};
use crate::pose::{Pose, Rig};
use glam::{Affine3A, Quat, Vec2, Vec3};
use std::path::Path;

const DT: f32 = 1.0 / 60.0;

/// A character that falls.
struct Falling {
    rig: Rig,
    kind: Skeletal,
    /// World metres of the character's size.
    size: f32,
    scale: f32,
    ground_offset: f32,
}

impl Falling {
    fn new(asset: &CharacterAsset) -> Option<Self> {
        let rig = asset.rig().ok()?;
        let kind = Skeletal::new(asset, &rig)?;
        let bounds = asset::skinning::rest_bounds(asset);
        let largest = bounds.size().max_element();
        // To about a man's size, as the program does with what is out of all proportion.
        let scale = if (0.2..5.0).contains(&largest) { 1.0 } else { 1.8 / largest };
        let size = largest * scale;
        Some(Self { rig, kind, size, scale, ground_offset: -bounds.min.y })
    }

    /// How far a capsule may be in the ground for a frame: three millimetres of a man's size.
    fn deepest(&self) -> f32 {
        0.003 * self.size / STATURE
    }

    fn place(&self, terrain: Terrain, at: Vec2, heading: f32) -> Affine3A {
        let ground = Vec3::new(at.x, terrain.height(at), at.y);
        Affine3A::from_scale_rotation_translation(
            Vec3::splat(self.scale),
            Quat::from_rotation_y(heading),
            ground,
        ) * Affine3A::from_translation(Vec3::Y * self.ground_offset)
    }

    /// One that falls out of a clip, as it moves there.
    fn begin(
        &self,
        terrain: Terrain,
        clip: ClipId,
        number: u32,
    ) -> (Box<dyn Ragdoll>, Pose, Affine3A) {
        let (sin, cos) = (number as f32 * 2.4).sin_cos();
        let at = Vec2::new(30.0 * cos, 30.0 * sin);
        let place = self.place(terrain, at, number as f32);
        let seconds = self.rig.clip(clip).map_or(0.0, |c| c.seconds()) * 0.37;
        let pose = self.rig.sample_pose(clip, seconds);
        let before = self.rig.sample_pose(clip, (seconds - DT).max(0.0));
        let doll = self.kind.fall(&Fall {
            rig: &self.rig,
            pose: &pose,
            world_from_model: place,
            before: Some((&before, place, DT)),
            push: Vec3::new(sin, 0.0, cos) * 1.5,
            terrain,
        });
        (doll.unwrap(), pose, place)
    }

    fn clips(&self) -> impl Iterator<Item = ClipId> {
        (0..(self.rig.clip_count() as u16).clamp(1, 6)).map(ClipId)
    }
}

/// The built-in characters, and some of the corpus where it is.
fn characters() -> Vec<(String, Falling)> {
    let mut all = Vec::new();
    for (name, _) in BUILTINS {
        let asset = builtin(name).unwrap().unwrap();
        all.push(((*name).to_owned(), Falling::new(&asset).unwrap()));
    }
    if let Some(shared) = std::env::var_os("THRONG_SHARED") {
        let corpus = Path::new(&shared).join("corpus");
        for file in [
            "bevy_Fox/Fox.glb",
            "kaykit_Knight/Knight.glb",
            "three_RobotExpressive/RobotExpressive.glb",
            "bx_max_RiggedElf",
            "sw_CesiumMan_glb",
            "raylib_greenman",
        ] {
            let path = found(&corpus.join(file));
            let Some(path) = path else { continue };
            let asset = asset::load(&path).unwrap();
            if let Some(falling) = Falling::new(&asset) {
                all.push((file.to_owned(), falling));
            }
        }
        assert!(all.len() > 4, "the corpus has {} characters", all.len() - 2);
    }
    all
}

/// The file, or the first glTF file of the folder that it is in or is.
fn found(path: &Path) -> Option<std::path::PathBuf> {
    if path.is_file() {
        return Some(path.to_owned());
    }
    let folder = if path.is_dir() { path } else { path.parent()? };
    let mut files: Vec<_> = std::fs::read_dir(folder).ok()?.flatten().map(|e| e.path()).collect();
    files.sort();
    files.into_iter().find(|f| f.extension().is_some_and(|e| e == "glb" || e == "gltf"))
}

/// World matrix of a bone, by way of the palette that would be drawn.
fn drawn(rig: &Rig, palette: &[crate::math::Mat3x4], bone: usize, place: &Affine3A) -> Affine3A {
    let entry = rig.skeleton().palette()[bone];
    *place * palette[bone].to_affine() * entry.bone_from_mesh.inverse()
}

#[test]
fn bones_match_their_bodies_and_nobody_sinks_and_all_come_to_rest() {
    let mut rests: Vec<u32> = Vec::new();
    for (name, falling) in characters() {
        for terrain in [Terrain::FLAT, Terrain::uneven(11)] {
            let (mut lowest, mut furthest, mut longest) = (0.0f32, 0.0f32, 0);
            for (number, clip) in falling.clips().enumerate() {
                let (mut doll, mut pose, place) = falling.begin(terrain, clip, number as u32);
                let back = place.inverse();
                let mut frames = 0;
                assert!(doll.clearance() > -1e-4 * falling.size, "{name} begins in the ground");
                while !doll.at_rest() {
                    doll.step(DT);
                    frames += 1;
                    doll.write(&falling.rig, &back, &mut pose);
                    let palette = falling.rig.resolve_pose(&pose);
                    assert!(palette.iter().all(|m| m.is_finite()), "{name} {clip:?} {frames}");
                    for (bone, body) in (0..).map_while(|n| doll.body(n)) {
                        let bone = drawn(&falling.rig, &palette, bone.get(), &place);
                        furthest = furthest.max(bone.translation.distance(body.translation));
                    }
                    lowest = lowest.min(doll.clearance());
                    assert!(frames < 400, "{name} {clip:?} never comes to rest");
                }
                longest = longest.max(frames);
                rests.push(frames);
            }
            eprintln!(
                "{name}: {furthest} m off, {lowest} m deep, {longest} frames, {} bodies",
                falling.kind.body_count()
            );
            assert!(furthest < 1e-3, "{name}: a bone is {furthest} m from its body");
            assert!(lowest > -falling.deepest(), "{name}: {lowest} m under the ground");
        }
    }
    let within = rests.iter().filter(|frames| **frames <= 240).count();
    assert!(within * 20 >= rests.len() * 19, "{within} of {} lie after 4 s", rests.len());
}

#[test]
fn limbs_stay_together_and_bend_as_they_do_in_clips() {
    for (name, falling) in characters().into_iter().take(2) {
        let parts = &falling.kind.parts.parts;
        // Where a joint turns about one axis alone, how far it does is one number. Knees and elbows
        // do; toes, at the end of a limb that lands on them, give way.
        let hinge = |k: usize| {
            let [_, y, z] = falling.kind.limits[k].ranges;
            let carries = parts.iter().any(|part| part.parent == Some(k));
            carries && [y, z].into_iter().all(|[low, high]| high - low < 0.3)
        };
        let hinges: Vec<usize> = (1..parts.len()).filter(|k| hinge(*k)).collect();
        // The feet of a fox are too short for bodies, so its shanks end its limbs.
        let knees = if name == "humanoid" { 2 } else { 0 };
        assert!(hinges.len() >= knees, "{name} has knees: {}", hinges.len());
        let (mut torn, mut bent) = (0.0f32, vec![0.0f32; parts.len()]);
        for (number, clip) in falling.clips().enumerate() {
            let (mut doll, mut pose, place) = falling.begin(Terrain::FLAT, clip, number as u32);
            let back = place.inverse();
            let lengths: Vec<Vec3> =
                parts.iter().map(|p| falling.rig.local(&pose, p.bone).translation).collect();
            while !doll.at_rest() {
                doll.step(DT);
                doll.write(&falling.rig, &back, &mut pose);
                for (k, part) in parts.iter().enumerate().skip(1) {
                    let now = falling.rig.local(&pose, part.bone).translation;
                    torn = torn.max(now.distance(lengths[k]));
                }
                for &k in &hinges {
                    let Limits { axes, rest, ranges } = falling.kind.limits[k];
                    let turn = rest.conjugate() * relative(&falling, &pose, k);
                    let [[low, high], ..] = ranges;
                    let angle = joints::about(axes, turn)[0];
                    bent[k] = bent[k].max(low - angle).max(angle - high);
                }
            }
        }
        let bone = |k: &usize| &falling.rig.skeleton().names()[parts[*k].bone.get()];
        let worst: Vec<_> = hinges.iter().map(|k| (bone(k), bent[*k])).collect();
        eprintln!("{name}: torn by {torn} m, bent too far by {worst:?}");
        assert!(torn < 0.06, "{name}: a joint is pulled {torn} m apart");
        assert!(worst.iter().all(|(_, bent)| *bent < 0.4), "{name}: {worst:?}");
    }
}

/// How a part stands in its parent in a pose.
fn relative(falling: &Falling, pose: &Pose, part: usize) -> Quat {
    let parts = &falling.kind.parts.parts;
    let model = |part: usize| {
        let bone = parts[part].bone;
        let above = falling.rig.model_from_parent(pose, bone);
        joints::direction(&(above * falling.rig.local(pose, bone).to_affine()))
    };
    parts[part].parent.map_or(Quat::IDENTITY, |parent| model(parent).conjugate() * model(part))
}

/// Every bit of where bodies are.
fn bits(doll: &dyn Ragdoll) -> Vec<u32> {
    let bodies = (0..).map_while(|number| doll.body(number));
    bodies.flat_map(|(_, place)| place.to_cols_array().map(f32::to_bits)).collect()
}

#[test]
fn two_runs_agree_bit_for_bit_whatever_the_thread() {
    let asset = builtin("humanoid").unwrap().unwrap();
    let falling = Falling::new(&asset).unwrap();
    for terrain in [Terrain::FLAT, Terrain::uneven(2)] {
        let run = || {
            let (mut doll, ..) = falling.begin(terrain, ClipId(1), 3);
            (0..240).for_each(|_| doll.step(DT));
            bits(&*doll)
        };
        let expected = run();
        std::thread::scope(|scope| {
            let others: Vec<_> = (0..3).map(|_| scope.spawn(run)).collect();
            for other in others {
                assert_eq!(other.join().unwrap(), expected);
            }
        });
    }
}

#[test]
fn frames_of_any_length_are_whole_substeps_and_none_is_lost() {
    let asset = builtin("humanoid").unwrap().unwrap();
    let falling = Falling::new(&asset).unwrap();
    let after = |steps: &[f32]| {
        let (mut doll, ..) = falling.begin(Terrain::FLAT, ClipId(0), 1);
        steps.iter().for_each(|dt| doll.step(*dt));
        bits(&*doll)
    };
    let half_a_second = after(&[DT; 30]);
    assert_eq!(after(&[0.5 * DT; 60]), half_a_second);
    assert_eq!(after(&[2.0 * DT; 15]), half_a_second);
    let uneven: Vec<f32> = (0..30).flat_map(|_| [0.25 * DT, 0.75 * DT]).collect();
    assert_eq!(after(&uneven), half_a_second);
    // Time that stands still or is no time changes nothing.
    let still: Vec<f32> = (0..30).flat_map(|_| [DT, 0.0, f32::NAN, -1.0]).collect();
    assert_eq!(after(&still), half_a_second);
    assert_ne!(after(&[DT; 31]), half_a_second);
}

#[test]
fn fingers_and_twists_ride_and_hands_and_limbs_have_bodies() {
    let asset = builtin("humanoid").unwrap().unwrap();
    let rig = asset.rig().unwrap();
    let kind = Skeletal::new(&asset, &rig).unwrap();
    let name = |bone: usize| rig.skeleton().names()[bone].as_str();
    let bodies: Vec<&str> = kind.parts.parts.iter().map(|p| name(p.bone.get())).collect();
    for limb in ["pelvis", "head", "hand_l", "foot_r", "thigh_l", "calf_l", "upperarm_r"] {
        assert!(bodies.contains(&limb), "{limb}: {bodies:?}");
    }
    for bone in 0..rig.bone_count().get() {
        let rides = ["index", "thumb", "pinky", "middle", "ring", "twist"];
        if rides.iter().any(|part| name(bone).contains(part)) {
            assert!(!bodies.contains(&name(bone)), "{}", name(bone));
            let carrier = kind.parts.carriers[bone].unwrap();
            let side = &name(bone)[name(bone).len() - 2..];
            let above = bodies[usize::from(carrier)];
            assert!(above.ends_with(side) || above.starts_with("spine"), "{} {above}", name(bone));
        }
    }
}
