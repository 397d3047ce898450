use super::*;
use crate::index::ClipId;
use crate::math::Mat3x4;
use crate::pose::rig::RigOptions;
use crate::pose::skeleton::SkeletonParts;
use crate::pose::testing::{Shape, character};
use crate::pose::{PaletteEntry, Skeleton};
use glam::{Affine3A, DQuat, DVec3};

fn rig(shape: Shape, seed: u64) -> Rig {
    let (skeleton, clips) = character(shape, 3, seed);
    Rig::with(skeleton, &clips, RigOptions::default()).unwrap()
}

fn mapped(map: &PoseMap, leader: &Rig, pose: &Pose, follower: &Rig) -> Pose {
    let mut out = Pose::default();
    map.apply(leader, pose, follower, &mut out);
    out
}

#[test]
fn on_its_own_skeleton_a_pose_arrives_to_the_bit() {
    for shape in [1, 2, 17, 60].into_iter().flat_map(Shape::all) {
        let rig = rig(shape, 3);
        let map = PoseMap::new(&rig, &rig.clone(), None);
        assert_eq!((map.mapped(), map.uses_stances()), (shape.bones, false));
        for (clip, seconds) in [(0, 0.0), (1, 0.13), (2, 0.31), (0, 0.4)] {
            let pose = rig.sample_pose(ClipId(clip), seconds);
            let palette = rig.resolve_pose(&mapped(&map, &rig, &pose, &rig));
            let expected = rig.resolve_pose(&pose);
            let bits = |palette: &[Mat3x4]| bytemuck::cast_slice::<_, u32>(palette).to_vec();
            assert_eq!(bits(&palette), bits(&expected), "{shape:?}, clip {clip} at {seconds}");
        }
    }
}

/// Model rotations, and how large one unit of each bone's children is, from local transforms.
fn walk(skeleton: &Skeleton, locals: &[Trs]) -> (Vec<DQuat>, Vec<f64>, Vec<(DQuat, f64)>) {
    let size = |t: &Trs| t.scale.as_dvec3().abs().element_sum() / 3.0;
    let (mut rotations, mut sizes, mut above) = (Vec::new(), Vec::new(), Vec::new());
    for (bone, local) in locals.iter().enumerate() {
        let parent = match skeleton.parents()[bone] {
            Some(p) => (rotations[p.get()], sizes[p.get()]),
            None => {
                let root = skeleton.model_from_root_parent(BoneIndex(bone as u16));
                let root = Trs::from_affine(&root);
                (root.rotation.as_dquat(), size(&root))
            }
        };
        above.push(parent);
        rotations.push(parent.0 * local.rotation.as_dquat().normalize());
        sizes.push(parent.1 * size(local));
    }
    (rotations, sizes, above)
}

fn locals(rig: &Rig, pose: &Pose) -> Vec<Trs> {
    rig.bone_count().bones().map(|bone| rig.local(pose, bone)).collect()
}

fn ancestors(skeleton: &Skeleton, bone: usize) -> Vec<usize> {
    let mut line = vec![bone];
    while let Some(parent) = skeleton.parents()[line[line.len() - 1]] {
        line.push(parent.get());
    }
    line
}

/// Holds a mapped pose against model rotations in double precision: every bone that the leader has
/// too has turned from home by what the leader's has, the others have not against their parents.
fn check(leader: &Rig, pose: &Pose, follower: &Rig, homes: (&[Trs], &[Trs]), what: &str) {
    let map = PoseMap::new(leader, follower, Some(homes));
    let ours = locals(follower, &mapped(&map, leader, pose, follower));
    let theirs = locals(leader, pose);
    let (ls, fs) = (leader.skeleton(), follower.skeleton());
    let (from, _, _) = walk(ls, &theirs);
    let (from_home, _, above_from) = walk(ls, homes.0);
    let (to, _, _) = walk(fs, &ours);
    let (to_home, _, above_to) = walk(fs, homes.1);
    let same = |bone: usize| ls.names().iter().position(|n| *n == fs.names()[bone]);
    let spread = |points: Vec<DVec3>| {
        let middle = points.iter().sum::<DVec3>() / points.len() as f64;
        points.iter().map(|p| p.distance_squared(middle)).sum::<f64>().sqrt()
    };
    let at = |s: &Skeleton, home: &[Trs], bone: usize| {
        s.model_from_bone(home)[bone].translation.as_dvec3()
    };
    let both: Vec<_> = (0..fs.names().len()).filter_map(|f| Some((f, same(f)?))).collect();
    let ratio = spread(both.iter().map(|(f, _)| at(fs, homes.1, *f)).collect())
        / spread(both.iter().map(|(_, l)| at(ls, homes.0, *l)).collect());
    assert_eq!(map.mapped(), both.len());
    for bone in 0..fs.names().len() {
        let Some(l) = same(bone) else {
            let (is, was) = (ours[bone].to_affine(), homes.1[bone].to_affine());
            assert!(is.abs_diff_eq(was, 2e-5), "{what}: bone {bone} keeps to its parent");
            continue;
        };
        let turned = from[l] * from_home[l].conjugate();
        let expected = turned * to_home[bone];
        let off = expected.angle_between(to[bone].normalize());
        let off = off.min(std::f64::consts::TAU - off);
        assert!(off < 2e-4, "{what}: bone {bone} is {off} rad off");
        // Where it is: its own place, and what lies on the way has moved.
        let anchor = ancestors(fs, bone).into_iter().skip(1).find_map(same);
        let stop = anchor.map_or(Vec::new(), |anchor| ancestors(ls, anchor));
        let way = ancestors(ls, l).into_iter().take_while(|at| !stop.contains(at));
        let away: DVec3 = way
            .map(|at| {
                let moved = theirs[at].translation.as_dvec3() - homes.0[at].translation.as_dvec3();
                above_from[at].0 * moved * above_from[at].1
            })
            .sum();
        let (above, size) = above_to[bone];
        let place = homes.1[bone].translation.as_dvec3() + above.conjugate() * away * ratio / size;
        let is = ours[bone].translation.as_dvec3();
        let allowed = 2e-5 * (1.0 + place.length());
        assert!(is.distance(place) < allowed, "{what}: bone {bone} is at {is}, not {place}");
    }
}

#[test]
fn another_skeleton_turns_as_the_leader_does_whatever_its_axes_parents_and_lengths() {
    let mut seed = 0;
    for (l, f) in [(12, 12), (17, 9), (9, 23), (40, 40)] {
        for (a, b) in [(0, 0), (0, 1), (1, 0), (2, 1), (1, 3)] {
            seed += 1;
            let (leader, follower) =
                (rig(Shape::all(l)[a], seed), rig(Shape::all(f)[b], seed + 90));
            let (home, own) = (leader.skeleton().rest(), follower.skeleton().rest());
            for clip in 0..3 {
                let pose = leader.sample_pose(ClipId(clip), 0.1 * f32::from(clip) + 0.07);
                let what = format!("{l} bones of shape {a} on {f} of {b}, clip {clip}");
                check(&leader, &pose, &follower, (home, own), &what);
                // Their rests are not alike, so any other two poses can be home.
                let (stand, other) = (ClipId(2), ClipId(1));
                let home = leader.sample_locals(stand, 0.0);
                let own = follower.sample_locals(other, 0.0);
                check(&leader, &pose, &follower, (&home, &own), &format!("{what}, from stances"));
            }
        }
    }
}

#[test]
fn scale_is_carried_over_where_both_have_it() {
    let (leader, follower) = (rig(Shape::all(14)[3], 5), rig(Shape::all(14)[3], 6));
    let map = PoseMap::new(&leader, &follower, None);
    let pose = leader.sample_pose(ClipId(2), 0.05);
    let (theirs, ours) =
        (locals(&leader, &pose), locals(&follower, &mapped(&map, &leader, &pose, &follower)));
    let mut scaled = 0;
    for bone in 0..14 {
        let more = theirs[bone].scale / leader.skeleton().rest()[bone].scale;
        let expected = follower.skeleton().rest()[bone].scale * more;
        assert!(ours[bone].scale.abs_diff_eq(expected, 1e-4), "bone {bone}");
        scaled += usize::from(more.distance(Vec3::ONE) > 0.01);
    }
    assert!(scaled > 3, "the test's clip scales bones");
}

/// A line of bones that all point one way.
fn line(names: &[&str], step: Vec3) -> Rig {
    let n = names.len();
    let local =
        |b: usize| Trs { translation: if b == 0 { Vec3::ZERO } else { step }, ..Trs::IDENTITY };
    let entry = |b: usize| PaletteEntry {
        bone: BoneIndex(b as u16),
        bone_from_mesh: Affine3A::from_translation(-step * b as f32),
    };
    let skeleton = Skeleton::new(SkeletonParts {
        names: names.iter().map(|n| (*n).to_owned()).collect(),
        parents: (0..n).map(|b| b.checked_sub(1).map(|p| BoneIndex(p as u16))).collect(),
        rest: (0..n).map(local).collect(),
        model_from_root_parent: vec![Affine3A::IDENTITY; n],
        palette: (0..n).map(entry).collect(),
        ..SkeletonParts::default()
    });
    Rig::new(skeleton.unwrap(), &[]).unwrap()
}

#[test]
fn home_is_the_rest_where_both_stand_alike_in_it_and_their_stances_where_not() {
    let names = ["a", "b", "c"];
    let up = line(&names, Vec3::Y);
    let stance = |rig: &Rig| rig.skeleton().rest().to_vec();
    for (direction, alike) in
        [(Vec3::Y * 3.0, true), (Vec3::new(0.3, 1.0, 0.0), true), (Vec3::Z, false)]
    {
        let other = line(&names, direction);
        let (theirs, ours) = (stance(&up), stance(&other));
        let map = PoseMap::new(&up, &other, Some((&theirs, &ours)));
        assert_eq!(map.uses_stances(), !alike, "{direction}");
        assert!(!PoseMap::new(&up, &other, None).uses_stances());
        assert!(!PoseMap::new(&up, &other, Some((&theirs[1..], &ours))).uses_stances());
        let broken = [Trs { translation: Vec3::NAN, ..Trs::IDENTITY }; 3];
        assert!(!PoseMap::new(&up, &other, Some((&theirs, &broken))).uses_stances());
    }
}

#[test]
fn strangers_and_degenerate_skeletons_stay_as_they_are_at_home() {
    let up = line(&["a", "b", "c"], Vec3::Y);
    let turned = {
        let mut pose = up.reference().clone();
        let local = Trs { rotation: Quat::from_rotation_x(1.0), ..up.skeleton().rest()[1] };
        up.set_local(&mut pose, BoneIndex(1), &local);
        pose
    };
    // Nothing in common; one bone in common, so that there is no size; bones without length.
    let cases = [
        (line(&["x", "y"], Vec3::Y), 0),
        (line(&["b"], Vec3::Y), 1),
        (line(&["a", "b", "c"], Vec3::ZERO), 3),
        (line(&["b", "b", "b"], Vec3::X), 1),
    ];
    for (other, bones) in cases {
        let map = PoseMap::new(&up, &other, None);
        assert_eq!(map.mapped(), bones);
        let out = locals(&other, &mapped(&map, &up, &turned, &other));
        for (bone, local) in out.iter().enumerate() {
            assert!(local.is_finite());
            let turns = other.skeleton().names()[bone] == "b" && bones > 0;
            let first = other.skeleton().names().iter().position(|n| n == "b") == Some(bone);
            let angle = local.rotation.angle_between(Quat::IDENTITY);
            let expected = if turns && first { 1.0 } else { 0.0 };
            assert!((angle - expected).abs() < 1e-5, "bone {bone}: {angle}");
        }
    }
}

#[test]
fn rotations_that_are_none_leave_numbers() {
    let (leader, follower) = (rig(Shape::plain(12), 1), rig(Shape::plain(12), 2));
    let map = PoseMap::new(&leader, &follower, None);
    for wrong in [[0.0; 4], [f32::NAN; 4], [f32::INFINITY, 0.0, 0.0, 0.0]] {
        let mut pose = leader.sample_pose(ClipId(0), 0.1);
        pose.set_rotation(BoneIndex(3), wrong);
        let out = mapped(&map, &leader, &pose, &follower);
        assert!(locals(&follower, &out).iter().all(|local| local.is_finite()), "{wrong:?}");
    }
}
