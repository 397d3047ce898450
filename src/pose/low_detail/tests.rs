use super::*;
use crate::index::{BoneCount, ClipId};
use crate::math::{Lanes, Trs};
use crate::pose::kernels::resolve::{BATCH, ResolveScratch, resolve};
use crate::pose::skeleton::SkeletonParts;
use crate::pose::testing::{self, Shape};
use crate::pose::{PaletteEntry, Pose, Rig, UniformClip};
use glam::{Affine3A, Quat, Vec3};

/// A test character's parts, to be put together otherwise.
fn parts(skeleton: &Skeleton) -> SkeletonParts {
    let bones = skeleton.bone_count();
    SkeletonParts {
        names: skeleton.names().to_vec(),
        parents: skeleton.parents().to_vec(),
        rest: skeleton.rest().to_vec(),
        model_from_root_parent: bones.bones().map(|b| skeleton.model_from_root_parent(b)).collect(),
        palette: skeleton.palette().to_vec(),
        low_detail_bone_count: skeleton.low_detail_bone_count(),
    }
}

/// The same character, bound in its rest pose; palette entries beyond the bones' are left out.
fn bound_at_rest(skeleton: &Skeleton) -> SkeletonParts {
    let model = skeleton.model_from_bone(skeleton.rest());
    let entry = |(bone, m): (u16, &Affine3A)| PaletteEntry {
        bone: BoneIndex(bone),
        bone_from_mesh: m.inverse(),
    };
    SkeletonParts { palette: (0..).zip(&model).map(entry).collect(), ..parts(skeleton) }
}

fn cut(rig: &Rig, lanes: Lanes, poses: &[&Pose], active: BoneCount) -> Vec<Vec<Mat3x4>> {
    let count = rig.cut_rows().map_or(rig.palette_len(), |rows| rows.count());
    let mut palettes = vec![vec![Mat3x4::IDENTITY; count]; poses.len()];
    let mut out: Vec<&mut [Mat3x4]> = palettes.iter_mut().map(|p| &mut p[..]).collect();
    let scratch = &mut ResolveScratch::default();
    resolve(lanes, rig, poses, (active, Detail::Cut), scratch, &mut out).unwrap();
    palettes
}

fn whole(rig: &Rig, palette: &[Mat3x4]) -> Vec<Mat3x4> {
    let view = match rig.cut_rows() {
        Some(rows) => PaletteView::cut(palette, rows),
        None => PaletteView::whole(palette),
    };
    view.to_whole().into_owned()
}

/// Holds cut palettes against the naive evaluator, at every level, alone and in batches, cut where the
/// rig is and before. Gives the rows that are spared.
fn check(skeleton: &Skeleton, clips: &[UniformClip]) -> usize {
    let rig = Rig::new(skeleton.clone(), clips).unwrap();
    let low = skeleton.low_detail_bone_count();
    for active in [low, BoneCount(low.0 / 2)] {
        for lanes in Lanes::all() {
            for batch in [1, 3, BATCH] {
                let (clip, seconds) = (ClipId(1), |k: usize| 0.011 * k as f32);
                let poses: Vec<Pose> =
                    (0..batch).map(|k| rig.sample_pose(clip, seconds(k))).collect();
                let poses: Vec<&Pose> = poses.iter().collect();
                for (k, palette) in cut(&rig, lanes, &poses, active).iter().enumerate() {
                    let bones = skeleton.bone_count().get();
                    let pose = testing::sampled(&clips[clip.get()], bones, seconds(k));
                    let exact = testing::palette(skeleton, &pose, active.get());
                    let error = testing::difference(&whole(&rig, palette), &exact);
                    let level = lanes.level();
                    assert!(error < 2e-4, "{level} {batch} {active}: {error:e}");
                }
            }
        }
    }
    rig.palette_len() - rig.cut_rows().map_or(rig.palette_len(), |rows| rows.count())
}

#[test]
fn a_cut_palette_has_every_matrix_of_a_whole_one_whatever_the_binds() {
    for bones in [2, 3, 9, 16, 17, 40, 64] {
        for (at, shape) in Shape::all(bones).into_iter().enumerate() {
            let (skeleton, clips) = testing::character(shape, 3, 3 + at as u64);
            // Bound elsewhere: each has a row of its own, so nothing is spared.
            assert_eq!(check(&skeleton, &clips), 0, "{shape:?}");
            // One tail bone in four stands otherwise than it is bound.
            let mut parts = bound_at_rest(&skeleton);
            let low = parts.low_detail_bone_count.get();
            let turned = (low..bones).skip(1).step_by(4);
            for bone in turned.clone() {
                parts.rest[bone].rotation *= Quat::from_rotation_x(0.4);
            }
            let stands = |bone: &usize| {
                let up = |b: &usize| parts.parents[*b].map(BoneIndex::get).filter(|p| *p >= low);
                let mut line = std::iter::successors(Some(*bone), up);
                line.all(|b| !turned.clone().any(|t| t == b))
            };
            let as_bound = (low..bones).filter(stands).count();
            let mixed = Skeleton::new(parts).unwrap();
            let spared = check(&mixed, &clips);
            // Neighbours that stand otherwise together may share.
            assert!(
                spared >= as_bound && spared < bones - low + 1,
                "{shape:?} {spared} {as_bound}"
            );
        }
    }
}

#[test]
fn bones_that_stand_as_bound_have_their_ancestors_matrix_to_the_bit() {
    for shape in [Shape::plain(40), Shape { units: true, ..Shape::plain(40) }] {
        let (skeleton, clips) = testing::character(shape, 3, 8);
        let skeleton = Skeleton::new(bound_at_rest(&skeleton)).unwrap();
        assert_eq!(check(&skeleton, &clips), 20);
        let rig = Rig::new(skeleton, &clips).unwrap();
        let rows = rig.cut_rows().unwrap();
        assert_eq!(rows.count(), 20);
        for (bone, row) in rows.row_of().iter().enumerate().skip(20) {
            let mut above = rig.skeleton().parents()[bone].unwrap();
            while above.get() >= 20 {
                above = rig.skeleton().parents()[above.get()].unwrap();
            }
            assert_eq!(*row, above.0, "bone {bone}");
        }
        // The first rows are those of a whole palette.
        let pose = rig.sample_pose(ClipId(2), 0.03);
        for lanes in Lanes::all() {
            let cut = &cut(&rig, lanes, &[&pose], BoneCount(20))[0];
            let mut all = vec![Mat3x4::IDENTITY; rig.palette_len()];
            let scratch = &mut ResolveScratch::default();
            let detail = (BoneCount(20), Detail::Whole);
            resolve(lanes, &rig, &[&pose], detail, scratch, &mut [&mut all]).unwrap();
            assert_eq!(cut[..], all[..20], "{}", lanes.level());
        }
    }
}

#[test]
fn rigs_of_odd_shapes_are_cut_or_are_not() {
    let (skeleton, clips) = testing::character(Shape::plain(12), 2, 4);
    let rows = |change: &dyn Fn(&mut SkeletonParts)| {
        let mut parts = bound_at_rest(&skeleton);
        change(&mut parts);
        let skeleton = Skeleton::new(parts).unwrap();
        let spared = check(&skeleton, &clips);
        let rig = Rig::new(skeleton, &clips).unwrap();
        (spared, rig.cut_rows().map(|rows| rows.row_of().to_vec()))
    };
    // Nothing to cut, all cut, and all cut of several roots.
    assert_eq!(rows(&|p| p.low_detail_bone_count = BoneCount(12)), (0, None));
    let (spared, all) = rows(&|p| p.low_detail_bone_count = BoneCount(0));
    assert_eq!((spared, all), (11, Some(vec![0; 12])), "they ride with the first");
    let (spared, all) = rows(&|p| {
        p.low_detail_bone_count = BoneCount(0);
        p.parents[6] = None;
        p.rest[6] = Trs::from_affine(&skeleton.model_from_bone(skeleton.rest())[6]);
    });
    assert_eq!((spared, all.map(|rows| rows[6])), (10, Some(1)), "two roots");
    // A sword in a hand that is cut, and a second skin on one that is not.
    let (spared, all) = rows(&|p| {
        let sword = Affine3A::from_rotation_translation(Quat::from_rotation_y(1.0), Vec3::ONE);
        p.palette.push(PaletteEntry { bone: BoneIndex(11), bone_from_mesh: sword });
        p.palette.push(p.palette[2]);
    });
    let all = all.unwrap();
    assert_eq!((spared, all[12], all[13]), (7, 6, 2));
    // A bone that flattens what it carries has a row.
    let (_, all) =
        rows(&|p| p.palette[9].bone_from_mesh = Affine3A::from_scale(Vec3::new(1.0, 1.0, 0.0)));
    assert_eq!(all.unwrap()[9], 6);
}

#[test]
fn noise_of_exporters_shares_a_row_and_a_visible_turn_does_not() {
    let (skeleton, clips) = testing::character(Shape::plain(12), 2, 4);
    let count = |angle: f32| {
        let mut parts = bound_at_rest(&skeleton);
        parts.rest[11].rotation *= Quat::from_rotation_z(angle);
        let rig = Rig::new(Skeleton::new(parts).unwrap(), &clips).unwrap();
        rig.cut_rows().unwrap().count()
    };
    assert_eq!([0.0, 1e-6, 1e-5, 1e-3, 0.1].map(count), [6, 6, 6, 7, 7]);
}

#[test]
fn a_palettes_length_says_what_it_holds() {
    let (skeleton, clips) = testing::character(Shape::plain(12), 2, 4);
    let rig = Rig::new(Skeleton::new(bound_at_rest(&skeleton)).unwrap(), &clips).unwrap();
    let of = |len, active| rig.detail_of(len, BoneCount(active));
    assert_eq!([of(12, 12), of(12, 6), of(12, 0)], [Some(Detail::Whole); 3]);
    assert_eq!([of(6, 6), of(6, 0)], [Some(Detail::Cut); 2]);
    assert_eq!([of(6, 7), of(5, 5), of(13, 12), of(0, 0)], [None; 4]);
}
