//! Fyrox's animation: tracks shared by all characters, an animation per character and clip, its
//! blending machine where two clips are blended.
//!
//! `fyrox-animation` ends at a pose, a table from node to values. What the engine does next (values
//! into nodes, the hierarchy, skinning matrices) cannot be had without its renderer; plain code of
//! this program stands in for it and is leaner, for Fyrox's nodes carry pivots and more. It has no
//! additive layer, so that [`Workload::Blend2AddResolve`] cannot be run.

use crate::channels::{Channels, channels};
use crate::runtime::Runtime;
use anyhow::Context;
use fyrox_animation::container::{TrackDataContainer, TrackValueKind};
use fyrox_animation::core::math::curve::{Curve, CurveKey, CurveKeyKind};
use fyrox_animation::core::pool::{ErasedHandle, Handle};
use fyrox_animation::machine::{BlendPose, Machine, PoseNode, State};
use fyrox_animation::track::{Track, TrackBinding};
use fyrox_animation::value::{TrackValue, ValueBinding};
use fyrox_animation::{Animation, AnimationContainer, AnimationPose};
use std::time::Instant;
use throng::app::bench::baseline::{PlainRig, PlainScratch};
use throng::app::bench::passes::{BLEND, Rigs, Workload};
use throng::app::bench::workload::{BONES, Part};
use throng::math::{Mat3x4, Trs};
use throng::pose::UniformClip;

/// Why Fyrox has no figure for a workload; `None` where it has one.
pub fn lacks(workload: Workload) -> Option<&'static str> {
    (workload == Workload::Blend2AddResolve).then_some("fyrox-animation has no additive layer")
}

struct Character {
    animations: AnimationContainer<ErasedHandle>,
    /// The one animation of a character that blends nothing.
    only: Handle<Animation<ErasedHandle>>,
    machine: Option<Machine<ErasedHandle>>,
}

impl Character {
    /// The pose as of the clock, which then moves on.
    fn advance(&mut self, dt: f32) -> &AnimationPose<ErasedHandle> {
        match &mut self.machine {
            Some(machine) => machine.evaluate_pose(&mut self.animations, dt),
            None => {
                let animation = self.animations.get_mut(self.only);
                animation.tick(dt);
                animation.pose()
            }
        }
    }

    /// The pose that the last [`Self::advance`] gave.
    fn pose(&self) -> &AnimationPose<ErasedHandle> {
        match &self.machine {
            Some(machine) => machine.pose(),
            None => self.animations.get(self.only).pose(),
        }
    }
}

/// Characters with their animations, and plain code for the hierarchy.
pub struct Fyrox<'a> {
    plain: &'a PlainRig,
    workload: Workload,
    characters: Vec<Character>,
    /// The rest pose, overwritten where clips move.
    scratch: PlainScratch,
    palettes: Vec<Mat3x4>,
}

impl<'a> Fyrox<'a> {
    /// `characters` that do `workload`, each at the time of its first frame.
    ///
    /// # Errors
    /// A workload that Fyrox lacks.
    pub fn new(
        rigs: &'a Rigs,
        sources: &[UniformClip],
        workload: Workload,
        characters: usize,
    ) -> anyhow::Result<Self> {
        if let Some(why) = lacks(workload) {
            anyhow::bail!("{}: {why}", workload.name());
        }
        let clips: Vec<_> = sources.iter().map(animation).collect();
        let mut scratch = rigs.plain.scratch();
        scratch.pose_mut().copy_from_slice(rigs.rig.skeleton().rest());
        let characters: Vec<Character> = (0..characters)
            .map(|character| {
                let part = Part::of(character, sources.len());
                let mut animations = AnimationContainer::new();
                let mut add = |clip: usize| {
                    let mut animation = clips[clip].clone();
                    animation.set_time_position(part.start);
                    animations.add(animation)
                };
                let only = add(part.clips[0]);
                let machine = (workload == Workload::Blend2Resolve)
                    .then(|| machine(only, add(part.clips[1])));
                Character { animations, only, machine }
            })
            .collect();
        let palettes = vec![Mat3x4::IDENTITY; characters.len() * BONES];
        Ok(Self { plain: &rigs.plain, workload, characters, scratch, palettes })
    }
}

impl Runtime for Fyrox<'_> {
    fn frame(&mut self, _: usize) -> anyhow::Result<f64> {
        let palettes = self.palettes.chunks_exact_mut(BONES);
        let start = Instant::now();
        for (character, palette) in self.characters.iter_mut().zip(palettes) {
            let pose = character.advance(1.0 / 60.0);
            if self.workload != Workload::Sample {
                apply(pose, self.scratch.pose_mut());
                self.plain.resolve(&mut self.scratch, palette);
            }
        }
        Ok(start.elapsed().as_nanos() as f64 / self.characters.len() as f64)
    }

    fn matrices(&mut self, character: usize) -> anyhow::Result<Vec<Mat3x4>> {
        let missing = "a character that is not there";
        if self.workload == Workload::Sample {
            let character = self.characters.get(character).context(missing)?;
            let mut palette = vec![Mat3x4::IDENTITY; BONES];
            apply(character.pose(), self.scratch.pose_mut());
            self.plain.resolve(&mut self.scratch, &mut palette);
            return Ok(palette);
        }
        Ok(self.palettes.chunks_exact(BONES).nth(character).context(missing)?.to_vec())
    }
}

/// Values into local transforms; nodes are bone indices.
fn apply(pose: &AnimationPose<ErasedHandle>, locals: &mut [Trs]) {
    for (node, values) in pose.poses() {
        let Some(local) = locals.get_mut(node.index() as usize) else { continue };
        for bound in &values.values.values {
            match (&bound.binding, &bound.value) {
                (ValueBinding::Position, TrackValue::Vector3(v)) => {
                    local.translation = glam::Vec3::new(v.x, v.y, v.z);
                }
                (ValueBinding::Rotation, TrackValue::UnitQuaternion(q)) => {
                    local.rotation = glam::Quat::from_xyzw(q.i, q.j, q.k, q.w);
                }
                _ => {}
            }
        }
    }
}

/// One layer with one state, which blends two animations.
fn machine(
    a: Handle<Animation<ErasedHandle>>,
    b: Handle<Animation<ErasedHandle>>,
) -> Machine<ErasedHandle> {
    let mut machine = Machine::new();
    for layer in machine.layers_mut() {
        let [a, b] = [a, b].map(|clip| layer.add_node(PoseNode::make_play_animation(clip)));
        // The second pose is blended into the first by its own weight alone.
        let blended = layer.add_node(PoseNode::make_blend_animations(vec![
            BlendPose::with_constant_weight(1.0 - BLEND, a),
            BlendPose::with_constant_weight(BLEND, b),
        ]));
        let state = layer.add_state(State::new("blend", blended));
        layer.set_entry_state(state);
    }
    machine
}

/// A clip's tracks, bound to bone indices. Clones share the tracks.
fn animation(source: &UniformClip) -> Animation<ErasedHandle> {
    let mut animation = Animation::default();
    for (bone, Channels { rotations, translations }) in channels(source).into_iter().enumerate() {
        let node = ErasedHandle::new(bone as u32, 1);
        let rotations = rotations.iter().map(|r| r.to_array());
        let track =
            track(source, TrackValueKind::UnitQuaternion, ValueBinding::Rotation, rotations);
        animation.add_track_with_binding(TrackBinding::new(node), track);
        if let Some(translations) = translations {
            let keys = translations.iter().map(|t| t.to_array());
            let track = self::track(source, TrackValueKind::Vector3, ValueBinding::Position, keys);
            animation.add_track_with_binding(TrackBinding::new(node), track);
        }
    }
    animation.set_time_slice(0.0..source.seconds());
    animation.set_loop(true);
    animation
}

/// One curve per component, with linear keys.
fn track<const N: usize>(
    source: &UniformClip,
    kind: TrackValueKind,
    binding: ValueBinding,
    values: impl Iterator<Item = [f32; N]> + Clone,
) -> Track {
    let mut container = TrackDataContainer::new(kind);
    for (component, curve) in container.curves_mut().iter_mut().enumerate() {
        let keys = values.clone().enumerate().map(|(frame, value)| {
            CurveKey::new(frame as f32 / source.rate_hz, value[component], CurveKeyKind::Linear)
        });
        *curve = Curve::from(keys.collect::<Vec<_>>());
    }
    Track::new(container, binding)
}
