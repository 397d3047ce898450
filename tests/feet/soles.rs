//! The soles of a built-in character: the vertices that touch the ground when it stands at rest.

use glam::{Affine3A, Vec2, Vec3, Vec3Swizzles};
use throng::asset::{CharacterAsset, Vertex, skinning};
use throng::math::{Mat3x4, Trs};
use throng::pose::Rig;

/// Metres over the lowest vertex at rest that still belong to a sole.
const SOLE: f32 = 0.006;

/// What touches the ground of one foot.
#[derive(Debug)]
pub struct Sole {
    pub name: &'static str,
    vertices: Vec<Vertex>,
    /// How far each is over the lowest at rest.
    over: Vec<f32>,
}

impl Sole {
    /// Of bones of a character: the foot and what moves with it.
    pub fn new(asset: &CharacterAsset, name: &'static str, bones: &[&str]) -> Self {
        let skeleton = &asset.skeleton;
        let rest = skinning::palette(skeleton, &skeleton.model_from_bone(skeleton.rest()));
        let lowest = skinning::rest_bounds(asset).min.y;
        let ours = |vertex: &&Vertex| {
            let share = vertex.joints.iter().zip(vertex.weights).map(|(joint, weight)| {
                let bone = skeleton.palette()[usize::from(*joint)].bone;
                if bones.contains(&skeleton.names()[bone.get()].as_str()) { weight } else { 0.0 }
            });
            share.sum::<f32>() > 0.95 && skinning::skin(vertex, &rest).y < lowest + SOLE
        };
        let vertices: Vec<Vertex> =
            asset.primitives.iter().flat_map(|p| &p.vertices).filter(ours).copied().collect();
        assert!(vertices.len() > 8, "{name} has {} vertices", vertices.len());
        let over = vertices.iter().map(|v| skinning::skin(v, &rest).y - lowest).collect();
        Self { name, vertices, over }
    }

    /// How far its vertices are from where they would be on the ground, whose height is given at
    /// a point (x, z): the least and the most.
    pub fn off(&self, placed: &[Vec3], ground: impl Fn(Vec2) -> f32) -> (f32, f32) {
        let off = placed.iter().zip(&self.over).map(|(p, over)| p.y - over - ground(p.xz()));
        off.fold((f32::MAX, f32::MIN), |(least, most), o| (least.min(o), most.max(o)))
    }

    /// How high its lowest vertex is over the ground of a pose's own space.
    pub fn height(&self, asset: &CharacterAsset, locals: &[Trs]) -> f32 {
        let skeleton = &asset.skeleton;
        let palette = skinning::palette(skeleton, &skeleton.model_from_bone(locals));
        let lowest = self.vertices.iter().map(|v| skinning::skin(v, &palette).y);
        lowest.fold(f32::MAX, f32::min)
    }

    /// Where its vertices are in the world.
    pub fn placed(&self, palette: &[Mat3x4], world_from_model: &Mat3x4) -> Vec<Vec3> {
        let palette: Vec<Affine3A> = palette.iter().map(|m| m.to_affine()).collect();
        let at = |v: &Vertex| world_from_model.transform_point(skinning::skin(v, &palette).into());
        self.vertices.iter().map(at).collect()
    }
}

/// Feet of the built-in characters, and what hangs on each.
pub fn soles(asset: &CharacterAsset, rig: &Rig) -> Vec<Sole> {
    let has = |bone: &str| rig.skeleton().names().iter().any(|name| name == bone);
    let feet: &[(&'static str, &[&str])] = if has("paw_l") {
        &[
            ("hl", &["foot_l", "ball_l"]),
            ("hr", &["foot_r", "ball_r"]),
            ("fl", &["hand_l", "paw_l"]),
            ("fr", &["hand_r", "paw_r"]),
        ]
    } else {
        &[("l", &["foot_l", "ball_l"]), ("r", &["foot_r", "ball_r"])]
    };
    feet.iter().map(|(name, bones)| Sole::new(asset, name, bones)).collect()
}
