//! A validated source made into a character: bones chosen and ordered, curves resampled, vertices
//! bound to the palette, bounds measured.

mod bones;
mod bounds;
mod clip_error;
mod clips;
mod clusters;
pub mod error;
mod frames;
mod low_detail;
mod meshes;
mod order;
mod palette;
mod rig;
mod stores;
#[cfg(test)]
mod testing;

use super::character::CharacterAsset;
use super::source::Source;
use crate::index::{BoneCount, BoneIndex};
use crate::math::Bounds;
use crate::pose::skeleton::SkeletonParts;
use crate::pose::{ClipStore, PaletteEntry, Skeleton};
use bones::BoneSet;
use bounds::Posed;
use clip_error::Measure;
use clusters::Clusters;
use error::BuildError;
use glam::Vec3;
use meshes::DraftMeshes;
use rig::SourceRig;

pub use order::{LOW_DETAIL_AREA, LOW_DETAIL_PAIR, LOW_DETAIL_REACH};

/// How a character is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BuildOptions {
    /// Lowest frame rate of clips, hertz; the highest is eight times that.
    pub rate_hz: f32,
    /// Distance that a bone's tip may be off the source's curves, relative to the largest extent of
    /// the rest pose, before the rate is raised.
    pub tolerance: f32,
    /// How clips are kept.
    pub clip_store: StoreChoice,
    /// Distance that 16-bit numbers may put a bone's tip off, relative to the same extent, before
    /// [`StoreChoice::Auto`] keeps a clip in full: a tenth of a millimetre of 1.8 m.
    pub store_tolerance: f32,
}

/// How clips are kept; see [`crate::pose::ClipStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StoreChoice {
    /// As 16-bit numbers where [`BuildOptions::store_tolerance`] allows it.
    #[default]
    Auto,
    /// All as 32-bit numbers.
    F32,
    /// All as 16-bit numbers, whatever that costs.
    I16,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            rate_hz: 30.0,
            tolerance: 5e-4,
            clip_store: StoreChoice::Auto,
            store_tolerance: 1.0 / 18_000.0,
        }
    }
}

/// Makes a character.
///
/// # Errors
/// See [`BuildError`]: limits, and numbers that overflow.
pub(super) fn character(
    source: &Source,
    options: &BuildOptions,
) -> Result<CharacterAsset, BuildError> {
    let clip_limit = usize::from(u16::MAX);
    if source.animations.len() > clip_limit {
        return Err(BuildError::TooManyClips { clips: source.animations.len(), limit: clip_limit });
    }
    let mut warnings = source.warnings.clone();
    let set = BoneSet::choose(source, &mut warnings)?;
    let mut meshes = meshes::draft_meshes(source, &set, &mut warnings)?;
    let order = order::by_moved_area(&set.parents, &meshes.own_area);
    let palette = meshes.palette.finish(&order, |bone| set.bone_from_model(bone));
    for vertex in meshes.primitives.iter_mut().flat_map(|p| &mut p.vertices) {
        for (joint, weight) in vertex.joints.iter_mut().zip(vertex.weights) {
            let used = weight > 0.0;
            *joint = if used { palette.final_of_draft[usize::from(*joint)] } else { 0 };
        }
    }
    let size = size_at_rest(&set, &meshes);
    let skeleton = skeleton(source, &set, &meshes, &order, palette.entries, size)?;
    let rig = SourceRig::new(source, &set, &order, &skeleton);
    let influence = rig::influence_boxes(&skeleton, &meshes.primitives);
    let measure = Measure::new(&rig, &influence, size, source.animations.len());
    let tolerance = f64::from(options.tolerance * size);
    let mut clips = clips::resample_all(source, &rig, &measure, options, tolerance, &mut warnings)?;
    let store_tolerance = options.store_tolerance * size;
    let kept = stores::choose(source, &rig, &measure, options, store_tolerance, &mut clips)?;
    let short = kept.iter().filter(|k| k.store == ClipStore::I16);
    let clusters = Clusters::new(&meshes.primitives);
    let posed = Posed {
        skeleton: &skeleton,
        clips: &clips,
        influence: &influence,
        clusters: &clusters,
        size,
        slack: short.filter_map(|k| k.i16_error_m).fold(0.0, f32::max),
    };
    let bounds = posed.bounds()?;
    let low_detail_error_m = low_detail::mean_error(&skeleton, &clips, &clusters);
    let name = source.file.file_stem().map(|s| s.to_string_lossy().into_owned());
    Ok(CharacterAsset {
        name: name.unwrap_or_default(),
        bone_nodes: order.iter().map(|&old| set.nodes[old]).collect(),
        skins: source.skins.iter().map(|s| s.joints.clone()).collect(),
        clips,
        notifies: source.animations.iter().map(|a| a.notifies.clone()).collect(),
        sync_markers: source.animations.iter().map(|a| a.sync_markers.clone()).collect(),
        kept,
        primitives: meshes.primitives,
        materials: source.materials.clone(),
        images: source.images.clone(),
        bounds,
        low_detail_error_m,
        warnings,
        skeleton,
    })
}

/// Largest extent of the rest pose: of its vertices, or of its bones when nothing is drawn.
fn size_at_rest(set: &BoneSet, meshes: &DraftMeshes) -> f32 {
    let skin = meshes.own_box.iter().flatten().flat_map(|b| [b.min, b.max]);
    let mut size = Bounds::of_points(skin).size();
    if size == Vec3::ZERO {
        size = Bounds::of_points((0..set.nodes.len()).map(|bone| set.origin(bone))).size();
    }
    let size = size.max_element();
    if size > 0.0 && size.is_finite() { size } else { 1.0 }
}

fn skeleton(
    source: &Source,
    set: &BoneSet,
    meshes: &DraftMeshes,
    order: &[usize],
    palette: Vec<PaletteEntry>,
    size: f32,
) -> Result<Skeleton, BuildError> {
    let mut new_of_old = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        new_of_old[old] = new;
    }
    let parents: Vec<Option<usize>> =
        order.iter().map(|&old| set.parents[old].map(|p| new_of_old[p])).collect();
    let origin: Vec<Vec3> = order.iter().map(|&old| set.origin(old)).collect();
    let own_box: Vec<Option<Bounds>> = order.iter().map(|&old| meshes.own_box[old]).collect();
    let own_area: Vec<f64> = order.iter().map(|&old| meshes.own_area[old]).collect();
    let reach = order::reach(&parents, &origin, &own_box);
    let cut = order::low_detail_bone_count(&parents, &own_area, &reach, size);
    let name = |&old: &usize| source.nodes[set.nodes[old].get()].name.clone();
    let above = |&old: &usize| set.model_from_root_parent[old].as_affine3a();
    Ok(Skeleton::new(SkeletonParts {
        names: order.iter().map(name).collect(),
        parents: parents.iter().map(|p| p.map(|p| BoneIndex(p as u16))).collect(),
        rest: order.iter().map(|&old| set.rest[old]).collect(),
        model_from_root_parent: order.iter().map(above).collect(),
        palette,
        low_detail_bone_count: BoneCount(cut as u16),
    })?)
}
