//! What a map is made of, once for each pair of rigs.

use super::{MappedBone, PoseMap, Step};
use crate::index::BoneIndex;
use crate::math::Trs;
use crate::pose::{Pose, Rig};
use glam::{DMat3, DQuat, DVec3};
use std::collections::HashMap;

/// Radians by which bones may point elsewhere in skeletons that stand alike.
const ALIKE: f64 = 0.5;
/// What counts as no turn, as a quaternion's vector; and as no difference between matrices.
const NOTHING: f64 = 1e-7;

/// A skeleton in the pose in which it is compared.
struct Home<'a> {
    rig: &'a Rig,
    locals: Vec<Trs>,
    /// Of each bone's parent: model rotation, and how large one of its units is.
    parents: Vec<(DQuat, f64)>,
    /// Model space.
    positions: Vec<DVec3>,
}

impl<'a> Home<'a> {
    fn new(rig: &'a Rig, locals: &[Trs]) -> Self {
        let skeleton = rig.skeleton();
        let mut models: Vec<(DQuat, f64)> = Vec::with_capacity(locals.len());
        let mut parents = Vec::with_capacity(locals.len());
        for (bone, local) in rig.bone_count().bones().zip(locals) {
            let (rotation, scale) = match skeleton.parents()[bone.get()] {
                Some(parent) => models[parent.get()],
                None => {
                    let above = Trs::from_affine(&skeleton.model_from_root_parent(bone));
                    (above.rotation.as_dquat(), size(&above))
                }
            };
            parents.push((rotation, scale));
            let rotation = (rotation * local.rotation.as_dquat().normalize()).normalize();
            models.push((rotation, scale * size(local)));
        }
        let positions = skeleton.model_from_bone(locals);
        let positions = positions.iter().map(|m| m.translation.as_dvec3()).collect();
        Self { rig, locals: locals.to_vec(), parents, positions }
    }

    fn parent(&self, bone: BoneIndex) -> Option<BoneIndex> {
        self.rig.skeleton().parents()[bone.get()]
    }

    /// From a bone up to its root, the bone first.
    fn line(&self, bone: BoneIndex) -> impl Iterator<Item = BoneIndex> + '_ {
        std::iter::successors(Some(bone), |at| self.parent(*at))
    }

    /// What a leader's stored rotation has on its left and on its right in what it turns.
    fn turned(&self, bone: BoneIndex) -> (DQuat, DQuat) {
        let (left, right, _) = self.rig.basis_of(bone).factors();
        let parent = self.parents[bone.get()].0;
        let home = self.locals[bone.get()].rotation.as_dquat().normalize();
        (parent * left.conjugate(), right.conjugate() * home.conjugate() * parent.conjugate())
    }

    /// What a turn has on its left and on its right in a follower's stored rotation.
    fn stored(&self, bone: BoneIndex) -> (DQuat, DQuat) {
        let (left, right, _) = self.rig.basis_of(bone).factors();
        let parent = self.parents[bone.get()].0;
        let home = self.locals[bone.get()].rotation.as_dquat().normalize();
        (left * parent.conjugate(), parent * home * right)
    }

    /// Model space from a difference in pose space.
    fn model_from_pose(&self, bone: BoneIndex) -> DMat3 {
        let (left, _, unit) = self.rig.basis_of(bone).factors();
        let (parent, size) = self.parents[bone.get()];
        DMat3::from_quat(parent * left.conjugate()) * (size / unit)
    }

    /// A bone's place at home, pose space.
    fn place(&self, bone: BoneIndex) -> DVec3 {
        self.rig.basis_of(bone).to_pose(&self.locals[bone.get()]).translation
    }
}

/// The mean scale of a transform, which is near one number wherever that is all there is.
fn size(local: &Trs) -> f64 {
    let size = local.scale.abs().as_dvec3().element_sum() / 3.0;
    if size > 0.0 { size } else { 1.0 }
}

pub(super) fn build(leader: &Rig, follower: &Rig, stances: Option<(&[Trs], &[Trs])>) -> PoseMap {
    let mut named: HashMap<&str, BoneIndex> = HashMap::new();
    for (bone, name) in leader.bone_count().bones().zip(leader.skeleton().names()) {
        named.entry(name).or_insert(bone);
    }
    let mut pairs: Vec<Option<BoneIndex>> = Vec::new();
    for name in follower.skeleton().names() {
        // A second bone of a name would be led by a bone that has led already.
        pairs.push(named.remove(name.as_str()));
    }
    let rests = (Home::new(leader, leader.skeleton().rest()), follower.skeleton().rest());
    let rests = (rests.0, Home::new(follower, rests.1));
    let fits = |rig: &Rig, locals: &[Trs]| {
        locals.len() == rig.bone_count().get() && locals.iter().all(|l| l.is_finite())
    };
    let stances = stances.filter(|(l, f)| fits(leader, l) && fits(follower, f));
    let stances = stances.filter(|_| !alike(&rests.0, &rests.1, &pairs));
    let homes = match stances {
        Some((l, f)) => (Home::new(leader, l), Home::new(follower, f)),
        None => rests,
    };
    let mut map = PoseMap {
        bones: Vec::new(),
        steps: Vec::new(),
        home: home_pose(&homes.1),
        scales: leader.has_scale() && follower.has_scale(),
        stances: stances.is_some(),
    };
    let ratio = sizes(&homes, &pairs);
    for (bone, from) in follower.bone_count().bones().zip(&pairs) {
        if let Some(from) = *from {
            push(&mut map, &homes, (bone, from), &pairs, ratio);
        }
    }
    map
}

/// The nearest ancestor of a follower's bone that the leader has too: its own and the leader's.
fn anchor(
    follower: &Home<'_>,
    bone: BoneIndex,
    pairs: &[Option<BoneIndex>],
) -> Option<(BoneIndex, BoneIndex)> {
    follower.line(bone).skip(1).find_map(|at| pairs[at.get()].map(|from| (at, from)))
}

/// Whether what lies between two names points the same way in both.
fn alike(leader: &Home<'_>, follower: &Home<'_>, pairs: &[Option<BoneIndex>]) -> bool {
    follower.rig.bone_count().bones().zip(pairs).all(|(bone, from)| {
        let ends = from.and_then(|from| Some((from, anchor(follower, bone, pairs)?)));
        let Some((from, (own, anchor))) = ends else { return true };
        let theirs = leader.positions[from.get()] - leader.positions[anchor.get()];
        let ours = follower.positions[bone.get()] - follower.positions[own.get()];
        let short = |v: DVec3, home: &Home<'_>| v.length() < 1e-3 * reach(&home.positions);
        short(theirs, leader) || short(ours, follower) || theirs.angle_between(ours) <= ALIKE
    })
}

/// How far points are from the first of them, at most.
fn reach(points: &[DVec3]) -> f64 {
    let first = points.first().copied().unwrap_or(DVec3::ZERO);
    points.iter().map(|p| p.distance(first)).fold(0.0, f64::max)
}

/// The follower's size over the leader's: how far bones that both have are spread.
fn sizes((leader, follower): &(Home<'_>, Home<'_>), pairs: &[Option<BoneIndex>]) -> f64 {
    let spread = |points: &dyn Fn() -> Vec<DVec3>| {
        let points = points();
        let middle = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
        points.iter().map(|p| p.distance_squared(middle)).sum::<f64>().sqrt()
    };
    let theirs = spread(&|| pairs.iter().flatten().map(|b| leader.positions[b.get()]).collect());
    let both = || pairs.iter().zip(&follower.positions);
    let ours = spread(&|| both().filter_map(|(pair, p)| pair.map(|_| *p)).collect());
    let ratio = ours / theirs;
    if ratio.is_finite() && ratio > 0.0 { ratio } else { 1.0 }
}

fn home_pose(home: &Home<'_>) -> Pose {
    let mut pose = Pose::default();
    pose.fit(home.rig.shape());
    pose.copy_from(home.rig.reference(), home.rig.bone_count());
    for (bone, local) in home.rig.bone_count().bones().zip(&home.locals) {
        if *local != home.rig.skeleton().rest()[bone.get()] {
            home.rig.set_local(&mut pose, bone, local);
        }
    }
    pose
}

/// Adds a bone: the leader's bones from its anchor to it, and the constants between them.
fn push(
    map: &mut PoseMap,
    (leader, follower): &(Home<'_>, Home<'_>),
    (bone, from): (BoneIndex, BoneIndex),
    pairs: &[Option<BoneIndex>],
    ratio: f64,
) {
    let above: Vec<BoneIndex> = match anchor(follower, bone, pairs) {
        Some((_, anchor)) => leader.line(anchor).collect(),
        None => Vec::new(),
    };
    // Up from the anchor to where the two lines meet, then down to the bone.
    let mut down: Vec<BoneIndex> = leader.line(from).collect();
    let mut up = above;
    while let (Some(a), Some(b)) = (up.last(), down.last())
        && a == b
    {
        up.pop();
        down.pop();
    }
    let up = up.into_iter().map(|bone| (bone, true));
    let path: Vec<_> = up.chain(down.into_iter().rev().map(|bone| (bone, false))).collect();
    let (mut pending, last) = follower.stored(bone);
    let first = map.steps.len();
    let mut before = DQuat::IDENTITY;
    let pose_from_model = follower.model_from_pose(bone).inverse();
    for (at, &(from, inverse)) in path.iter().enumerate() {
        let (left, right) = leader.turned(from);
        let (left, right) =
            if inverse { (right.conjugate(), left.conjugate()) } else { (left, right) };
        let between = pending * left;
        match at {
            0 => before = between,
            _ => map.steps[first + at - 1].after = between.normalize().as_quat(),
        }
        pending = right;
        let shift = pose_from_model * leader.model_from_pose(from) * ratio;
        map.steps.push(Step {
            from,
            inverse,
            after: (right * last).normalize().as_quat(),
            shift: shift.as_mat3(),
            unit: shift.abs_diff_eq(DMat3::IDENTITY, NOTHING),
            home: leader.place(from).as_vec3(),
        });
    }
    if path.is_empty() {
        // Two names of the follower on one line end where they began: it keeps to its parent.
        return;
    }
    let none = |q: DQuat| q.normalize().xyz().length() < NOTHING;
    let end = pending * last;
    let scale = follower.locals[bone.get()].scale / leader.locals[from.get()].scale;
    map.bones.push(MappedBone {
        bone,
        from,
        before: before.normalize().as_quat(),
        steps: (first as u32, map.steps.len() as u32),
        copied: path.len() == 1 && !path[0].1 && none(before) && none(end),
        home: follower.place(bone).as_vec3(),
        scale: if scale.is_finite() { scale } else { glam::Vec3::ONE },
    });
}
