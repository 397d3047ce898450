//! Bevy's animation: a headless app with its animation and transform plugins, one entity per bone,
//! one player per character, one animation graph per combination of clips.
//!
//! A frame is `App::update`: the players' clocks, graph evaluation per bone
//! (`AnimationPlugin`), propagation down the hierarchy (`TransformPlugin`), and then one system of
//! this program that multiplies each bone's global transform with its inverse bind, which in Bevy
//! belongs to the renderer. For [`Workload::Sample`] the transform plugin and that system are left
//! out. Whatever can spare Bevy work without changing the result does:
//!
//! - no channel that stands still has a curve, nor does scale;
//! - curves are evenly spaced samples, so that no key is searched for;
//! - the first bone is the root of its hierarchy and carries the player, so that a character has no
//!   entity but its bones;
//! - the optimization for scenes that stand still, which would only cost here, is switched off.

use crate::channels::{Channels, channels};
use crate::runtime::Runtime;
use anyhow::Context;
use bevy_animation::graph::{AnimationGraph, AnimationGraphHandle, AnimationNodeIndex};
use bevy_animation::prelude::{AnimatableCurve, AnimationClip, AnimationPlayer};
use bevy_animation::{AnimatedBy, AnimationPlugin, AnimationTargetId, animated_field};
use bevy_app::{App, PostUpdate, TaskPoolPlugin};
use bevy_asset::{AssetPlugin, Assets, Handle};
use bevy_curve::{Interval, SampleAutoCurve};
use bevy_ecs::prelude::{
    ChildOf, Component, Entity, IntoScheduleConfigs, Query, Res, ResMut, Resource, World,
};
use bevy_math::{Affine3A, Quat, Vec3};
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use bevy_transform::prelude::{GlobalTransform, Transform};
use bevy_transform::{StaticTransformOptimizations, TransformPlugin, TransformSystems};
use std::time::{Duration, Instant};
use throng::app::bench::baseline::{PlainRig, difference};
use throng::app::bench::passes::{ADD, BLEND, Rigs, Workload};
use throng::app::bench::workload::{BONES, Part};
use throng::math::{Mat3x4, Trs};
use throng::pose::{Skeleton, UniformClip};

/// Updates after which graphs that were added are known to the systems that evaluate them.
const SETTLING: usize = 3;

/// A character's bones, and where its matrices go.
#[derive(Component)]
struct Skin {
    row: usize,
    joints: Vec<Entity>,
}

#[derive(Resource)]
struct InverseBinds(Vec<Affine3A>);

#[derive(Resource)]
struct Palettes(Vec<Mat3x4>);

/// A headless app and the entities of its bones.
pub struct Bevy<'a> {
    app: App,
    plain: &'a PlainRig,
    workload: Workload,
    bones: Vec<Entity>,
}

impl<'a> Bevy<'a> {
    /// `characters` that do `workload`, each at the time of its first frame.
    ///
    /// # Errors
    /// Clips that Bevy refuses.
    pub fn new(
        rigs: &'a Rigs,
        sources: &[UniformClip],
        workload: Workload,
        characters: usize,
    ) -> anyhow::Result<Self> {
        let skeleton = rigs.rig.skeleton();
        let mut app = App::new();
        app.add_plugins((
            TaskPoolPlugin::default(),
            TimePlugin,
            AssetPlugin::default(),
            AnimationPlugin,
        ));
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(
            1.0 / 60.0,
        )));
        if workload != Workload::Sample {
            let inverse_binds = skeleton.palette().iter().map(|p| affine(&p.bone_from_mesh));
            app.add_plugins(TransformPlugin)
                .insert_resource(StaticTransformOptimizations::Disabled)
                .insert_resource(InverseBinds(inverse_binds.collect()))
                .insert_resource(Palettes(vec![Mat3x4::IDENTITY; characters * BONES]))
                .add_systems(PostUpdate, skin.after(TransformSystems::Propagate));
        }
        let graphs = graphs(&mut app, sources, workload)?;
        let mut bones = Vec::with_capacity(characters * BONES);
        for character in 0..characters {
            let part = Part::of(character, sources.len());
            let (graph, clips) = graphs.get(part.clips[0]).context("a clip without a graph")?;
            let joints = spawn(app.world_mut(), skeleton);
            let mut player = AnimationPlayer::default();
            for clip in clips {
                player.play(*clip).repeat();
            }
            if let Some(root) = joints.first() {
                app.world_mut().entity_mut(*root).insert((
                    player,
                    AnimationGraphHandle(graph.clone()),
                    Skin { row: character, joints: joints.clone() },
                ));
            }
            bones.extend(joints);
        }
        app.finish();
        app.cleanup();
        (0..SETTLING).for_each(|_| app.update());
        let mut players = app.world_mut().query::<(&mut AnimationPlayer, &Skin)>();
        for (mut player, skin) in players.iter_mut(app.world_mut()) {
            // The first update moves the clock on before it samples.
            let before = Part::of(skin.row, sources.len()).start - 1.0 / 60.0;
            for (_, clip) in player.playing_animations_mut() {
                clip.set_seek_time(before);
            }
        }
        Ok(Self { app, plain: &rigs.plain, workload, bones })
    }
}

impl Runtime for Bevy<'_> {
    fn frame(&mut self, _: usize) -> anyhow::Result<f64> {
        let start = Instant::now();
        self.app.update();
        Ok(start.elapsed().as_nanos() as f64 * BONES as f64 / self.bones.len() as f64)
    }

    fn matrices(&mut self, character: usize) -> anyhow::Result<Vec<Mat3x4>> {
        let world = self.app.world();
        if self.workload == Workload::Sample {
            let bones = self.bones.chunks_exact(BONES).nth(character);
            let mut scratch = self.plain.scratch();
            let locals = scratch.pose_mut().iter_mut();
            for (local, bone) in locals.zip(bones.context("a character that is not there")?) {
                *local =
                    trs(world.get::<Transform>(*bone).context("a bone without a transform")?);
            }
            let mut palette = vec![Mat3x4::IDENTITY; BONES];
            self.plain.resolve(&mut scratch, &mut palette);
            return Ok(palette);
        }
        let row = world.resource::<Palettes>().0.chunks_exact(BONES).nth(character);
        Ok(row.context("a character that is not there")?.to_vec())
    }
}

/// Multiplies global transforms with inverse binds, for the part of Bevy's renderer that does.
fn skin(
    skins: Query<&Skin>,
    joints: Query<&GlobalTransform>,
    inverse_binds: Res<InverseBinds>,
    mut palettes: ResMut<Palettes>,
) {
    for skin in &skins {
        let row = palettes.0.chunks_exact_mut(BONES).nth(skin.row).unwrap_or_default();
        let matrices = joints.iter_many(&skin.joints).matched().zip(&inverse_binds.0);
        for (out, (joint, inverse_bind)) in row.iter_mut().zip(matrices) {
            let m = joint.affine() * *inverse_bind;
            let (c, t) = (m.matrix3, m.translation);
            out.rows = [
                [c.x_axis.x, c.y_axis.x, c.z_axis.x, t.x],
                [c.x_axis.y, c.y_axis.y, c.z_axis.y, t.y],
                [c.x_axis.z, c.y_axis.z, c.z_axis.z, t.z],
            ];
        }
    }
}

/// A graph for each first clip, and the nodes that its players play.
fn graphs(
    app: &mut App,
    sources: &[UniformClip],
    workload: Workload,
) -> anyhow::Result<Vec<(Handle<AnimationGraph>, Vec<AnimationNodeIndex>)>> {
    let clips = sources.iter().map(|source| add_clip(app, source));
    let clips: Vec<_> = clips.collect::<anyhow::Result<_>>()?;
    let differences = sources.iter().map(|source| add_clip(app, &difference(source, BONES)));
    let differences: Vec<_> = differences.collect::<anyhow::Result<_>>()?;
    let mut graphs = Vec::new();
    for first in 0..sources.len() {
        let [a, b, c] = Part::of(first, sources.len()).clips;
        let mut graph = AnimationGraph::new();
        let root = graph.root;
        let nodes = match workload {
            Workload::Sample | Workload::SampleResolve => {
                vec![graph.add_clip(clips[a].clone(), 1.0, root)]
            }
            Workload::Blend2Resolve => blend(&mut graph, root, &clips[a], &clips[b]),
            Workload::Blend2AddResolve => {
                let add = graph.add_additive_blend(1.0, root);
                let both = graph.add_blend(1.0, add);
                let mut nodes = blend(&mut graph, both, &clips[a], &clips[b]);
                nodes.push(graph.add_clip(differences[c].clone(), ADD, add));
                nodes
            }
        };
        graphs.push((app.world_mut().resource_mut::<Assets<AnimationGraph>>().add(graph), nodes));
    }
    Ok(graphs)
}

fn blend(
    graph: &mut AnimationGraph,
    under: AnimationNodeIndex,
    a: &Handle<AnimationClip>,
    b: &Handle<AnimationClip>,
) -> Vec<AnimationNodeIndex> {
    vec![graph.add_clip(a.clone(), 1.0 - BLEND, under), graph.add_clip(b.clone(), BLEND, under)]
}

fn add_clip(app: &mut App, source: &UniformClip) -> anyhow::Result<Handle<AnimationClip>> {
    let span = Interval::new(0.0, source.seconds())?;
    let mut clip = AnimationClip::default();
    for (bone, Channels { rotations, translations }) in channels(source).into_iter().enumerate() {
        let rotations = rotations.iter().map(|r| Quat::from_array(r.to_array()));
        clip.add_curve_to_target(
            target(bone),
            AnimatableCurve::new(
                animated_field!(Transform::rotation),
                SampleAutoCurve::new(span, rotations)?,
            ),
        );
        if let Some(translations) = translations {
            let translations = translations.iter().map(|t| Vec3::from_array(t.to_array()));
            clip.add_curve_to_target(
                target(bone),
                AnimatableCurve::new(
                    animated_field!(Transform::translation),
                    SampleAutoCurve::new(span, translations)?,
                ),
            );
        }
    }
    Ok(app.world_mut().resource_mut::<Assets<AnimationClip>>().add(clip))
}

fn target(bone: usize) -> AnimationTargetId {
    AnimationTargetId::from_iter([format!("bone{bone}")])
}

/// Spawns a character's bones in the rest pose, parents first. Their first one is the player's.
fn spawn(world: &mut World, skeleton: &Skeleton) -> Vec<Entity> {
    let mut joints: Vec<Entity> = Vec::with_capacity(BONES);
    for (bone, (local, parent)) in skeleton.rest().iter().zip(skeleton.parents()).enumerate() {
        let mut entity = world.spawn((transform(local), target(bone)));
        let id = entity.id();
        entity.insert(AnimatedBy(joints.first().copied().unwrap_or(id)));
        if let Some(parent) = parent.and_then(|parent| joints.get(parent.get())) {
            entity.insert(ChildOf(*parent));
        }
        joints.push(id);
    }
    joints
}

fn transform(local: &Trs) -> Transform {
    Transform {
        translation: Vec3::from_array(local.translation.to_array()),
        rotation: Quat::from_array(local.rotation.to_array()),
        scale: Vec3::from_array(local.scale.to_array()),
    }
}

fn trs(local: &Transform) -> Trs {
    Trs {
        translation: glam::Vec3::from_array(local.translation.to_array()),
        rotation: glam::Quat::from_array(local.rotation.to_array()),
        scale: glam::Vec3::from_array(local.scale.to_array()),
    }
}

fn affine(m: &glam::Affine3A) -> Affine3A {
    Affine3A::from_cols_array(&m.to_cols_array())
}
