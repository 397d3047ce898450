//! What the low-detail skeleton costs in accuracy.

use super::clip_error::FramePair;
use super::clusters::Clusters;
use super::rig::{compose, palette_of};
use crate::pose::{Skeleton, UniformClip};
use rayon::prelude::*;

/// Vertices that may be posed in all.
const WORK_LIMIT: usize = 20_000_000;

/// Mean distance in metres between the vertices of full and of low-detail poses, over all vertices
/// and the frames of all clips (over every n-th frame when all would take too long). Zero without
/// clips.
pub(super) fn mean_error(skeleton: &Skeleton, clips: &[UniformClip], clusters: &Clusters) -> f32 {
    let cut = skeleton.low_detail_bone_count().get();
    let entries = skeleton.palette();
    let tail: Vec<_> = clusters
        .groups
        .iter()
        .filter(|g| g.follows(|entry| entries[usize::from(entry)].bone.get() >= cut))
        .map(|g| clusters.vertices(g))
        .collect();
    let all: usize = clusters.groups.iter().map(|g| clusters.vertices(g).len()).sum();
    let moved: usize = tail.iter().map(|v| v.len()).sum();
    let frames: usize = clips.iter().map(|c| c.frame_count).sum();
    if moved == 0 || frames == 0 {
        return 0.0;
    }
    let per_frame = moved + skeleton.parents().len();
    let stride = frames.saturating_mul(per_frame).div_ceil(WORK_LIMIT).max(1);
    let (sum, looks) = clips
        .par_iter()
        .map(|clip| {
            let mut sum = 0.0_f64;
            let (mut model, mut full, mut low) = (Vec::new(), Vec::new(), Vec::new());
            let chosen = (0..clip.frame_count).step_by(stride);
            for frame in chosen.clone() {
                let pair = FramePair::between(clip, frame, 0.0);
                compose(skeleton, |b| pair.local(b), &mut model);
                palette_of(skeleton, &model, &mut full);
                let local = |b| if b < cut { pair.local(b) } else { skeleton.rest()[b] };
                compose(skeleton, local, &mut model);
                palette_of(skeleton, &model, &mut low);
                let vertices = tail.iter().copied().flatten();
                sum += vertices
                    .map(|v| f64::from(v.posed(&full).distance(v.posed(&low))))
                    .sum::<f64>();
            }
            (sum, chosen.len())
        })
        .collect::<Vec<_>>()
        .into_iter()
        .fold((0.0, 0), |(sum, looks), (s, l)| (sum + s, looks + l));
    (sum / (looks as f64 * all as f64)) as f32
}

#[cfg(test)]
mod tests {
    use super::super::super::source::Interpolation;
    use super::super::testing::{Tree, animation, turns};
    use super::super::{BuildOptions, character};
    use crate::asset::{BUILTINS, builtin};
    use glam::{Quat, Vec3};

    #[test]
    fn the_built_in_person_is_cut_to_its_low_detail_bones() {
        for (name, _) in BUILTINS {
            let rig = builtin(name).unwrap().unwrap().rig().unwrap();
            let low = rig.skeleton().low_detail_bone_count();
            match rig.cut_rows() {
                Some(rows) => assert_eq!(rows.count(), low.get(), "{name}"),
                None => assert_eq!(low, rig.bone_count(), "{name}"),
            }
        }
    }

    #[test]
    fn the_error_is_the_mean_distance_that_freezing_the_tail_makes() {
        // A wide ribbon on two bones and a tiny one on a third, which alone is cut and turns.
        let mut source =
            Tree::chain(3).root().joints(&[0, 1, 2]).ribbon(3, &[60.0, 60.0, 1.0]).source();
        let clip = animation("wag", 2, Interpolation::Linear, &[0.0, 1.0], turns(&[0.0, 0.0]));
        source.animations = vec![clip];
        assert_eq!(character(&source, &BuildOptions::default()).unwrap().low_detail_error_m, 0.0);
        let clip = animation("held", 2, Interpolation::Linear, &[0.0, 1.0], turns(&[0.3, 0.3]));
        source.animations = vec![clip];
        let asset = character(&source, &BuildOptions::default()).unwrap();
        assert_eq!(asset.skeleton.low_detail_bone_count().0, 2);
        let corners =
            [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y)| Vec3::new(x, y, 0.0));
        let turn = Quat::from_rotation_z(0.3);
        let sum: f32 = corners.iter().map(|&c| (turn * c).distance(c)).sum();
        let off = asset.low_detail_error_m - sum / 12.0;
        assert!(off.abs() < 1e-5, "{} and {}", asset.low_detail_error_m, sum / 12.0);
    }
}
