//! Which skin moves with which bone.

use crate::asset::{CharacterAsset, skinning};
use glam::{Affine3A, Vec3};

/// A point of a skin, and how much of the skin it stands for.
pub type Patch = (Vec3, f32);

/// The skin of a character at rest, model space, by the bones that move it.
#[derive(Clone, Debug)]
pub struct Skin {
    /// For each bone, what it moves more than any other does: as many points as the file has, each
    /// with a third of the area around it.
    pub own: Vec<Vec<Patch>>,
    /// For each bone, what it moves at all.
    pub touched: Vec<Vec<Vec3>>,
}

impl Skin {
    /// Of an asset's vertices; `model` are its bones at rest.
    pub fn of(asset: &CharacterAsset, model: &[Affine3A]) -> Self {
        let palette = skinning::palette(&asset.skeleton, model);
        let mut skin =
            Self { own: vec![Vec::new(); model.len()], touched: vec![Vec::new(); model.len()] };
        let entries = asset.skeleton.palette();
        for primitive in &asset.primitives {
            let places = skinning::skin_primitive(primitive, &palette);
            let mut areas = vec![0.0; places.len()];
            for corners in primitive.indices.chunks_exact(3) {
                let [a, b, c] = [0, 1, 2].map(|i| corners[i] as usize);
                let area = (places[b] - places[a]).cross(places[c] - places[a]).length() / 6.0;
                [a, b, c].into_iter().for_each(|corner| areas[corner] += area);
            }
            for ((vertex, place), area) in primitive.vertices.iter().zip(places).zip(areas) {
                let place = Vec3::from(place);
                if !(place.is_finite() && area.is_finite()) {
                    continue;
                }
                // The strongest comes first.
                let joints = vertex.joints.iter().zip(vertex.weights).filter(|(_, w)| *w > 0.0);
                for (number, (joint, _)) in joints.enumerate() {
                    let Some(entry) = entries.get(usize::from(*joint)) else { continue };
                    if number == 0 {
                        skin.own[entry.bone.get()].push((place, area));
                    }
                    skin.touched[entry.bone.get()].push(place);
                }
            }
        }
        skin
    }
}
