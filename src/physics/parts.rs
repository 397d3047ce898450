//! Which bones of a skeleton have bodies.

use super::axes;
use super::capsule::Capsule;
use super::skin::{Patch, Skin};
use crate::index::BoneIndex;
use crate::pose::Skeleton;
use glam::{Affine3A, Vec3};

/// Share of the whole volume below which a bone's skin makes no body: a finger is below it, a hand
/// with its fingers above.
const LEAST_SHARE: f32 = 0.0025;
/// Bodies of one character, at most: each has a bit in a word of 32, and the ground has one.
pub const MOST: usize = 24;
/// Radius of a body next to without skin, as a share of the character's size.
const LEAST_RADIUS: f32 = 0.008;
/// How far what hangs on a body has to be from its joint to say which way it lies, as a share of the
/// character's size.
const TELLING: f32 = 0.03;
/// Half as thick as it is long: what is nearer to the middle of a limb than this is inside of it.
const THICK: f32 = 0.35;

/// A bone with a body.
#[derive(Clone, Debug)]
pub struct Part {
    pub bone: BoneIndex,
    /// Position in the list of what it hangs on; `None` for the first alone.
    pub parent: Option<usize>,
    /// Model space, at rest.
    pub capsule: Capsule,
    /// How far from the capsule's segment its skin reaches.
    pub reach: f32,
}

/// The bones with bodies, and who carries whom.
#[derive(Clone, Debug)]
pub struct Parts {
    /// What the others hang on comes first, and everybody's parent before it.
    pub parts: Vec<Part>,
    /// For each bone, the part that it is or rides with; `None` for what is above the first.
    pub carriers: Vec<Option<u16>>,
}

impl Parts {
    /// Gives a body to each bone with enough skin; what has less adds to the body above. `size` is the
    /// character's, model units. `None` where there is no skin.
    pub fn choose(skeleton: &Skeleton, skin: &Skin, model: &[Affine3A], size: f32) -> Option<Self> {
        let mut share = LEAST_SHARE;
        loop {
            let (bodies, groups) = grouped(skeleton, skin, model, size, share);
            match bodies.iter().filter(|b| **b).count() {
                0 => return None,
                n if n <= MOST => return assemble(skeleton, skin, model, size, &bodies, &groups),
                _ => share *= 1.5,
            }
        }
    }
}

fn joint(model: &[Affine3A], bone: usize) -> Vec3 {
    model[bone].translation.into()
}

/// Which bones have bodies, and the skin of each with that of its riders.
fn grouped(
    skeleton: &Skeleton,
    skin: &Skin,
    model: &[Affine3A],
    size: f32,
    share: f32,
) -> (Vec<bool>, Vec<Vec<Patch>>) {
    let volume = |bone: usize, points: &[Patch]| {
        let joint = joint(model, bone);
        let away = centroid(points) - joint;
        Capsule::fit(joint, away, points, LEAST_RADIUS * size).map_or(0.0, |c| c.volume())
    };
    let whole: f32 = skin.own.iter().enumerate().map(|(bone, points)| volume(bone, points)).sum();
    let mut groups = skin.own.clone();
    let mut bodies = vec![false; groups.len()];
    let mut largest = (0.0, 0);
    for bone in (0..groups.len()).rev() {
        let own = volume(bone, &groups[bone]);
        bodies[bone] = own > 0.0 && own >= share * whole;
        if own > largest.0 {
            largest = (own, bone);
        }
        if !bodies[bone]
            && let Some(parent) = skeleton.parents()[bone]
        {
            let points = std::mem::take(&mut groups[bone]);
            groups[parent.get()].extend(points);
        }
    }
    absorb(skeleton, model, size, &mut bodies, &mut groups);
    // Of much alike, each too little: the largest of them.
    if largest.0 > 0.0 && !bodies.contains(&true) {
        bodies[largest.1] = true;
        if groups[largest.1].is_empty() {
            groups[largest.1].clone_from(&skin.own[largest.1]);
        }
    }
    (bodies, groups)
}

/// Takes the bodies away that lie inside of the limb that they hang on, as bones do which spread its
/// twist: their skin is the limb's.
fn absorb(
    skeleton: &Skeleton,
    model: &[Affine3A],
    size: f32,
    bodies: &mut [bool],
    groups: &mut [Vec<Patch>],
) {
    for bone in (0..bodies.len()).rev().filter(|bone| bodies[*bone]).collect::<Vec<_>>() {
        let above = |b: usize| above(skeleton, bodies, b);
        let of_bodies = || (0..bodies.len()).filter(|b| bodies[*b]);
        let Some(limb) = above(bone).filter(|_| of_bodies().all(|b| above(b) != Some(bone))) else {
            continue;
        };
        let start = joint(model, limb);
        let skin = centroid(&groups[bone]) - start;
        let within = |other: usize| {
            let way = joint(model, other) - start;
            let share = skin.dot(way) / way.length_squared();
            let aside = (skin - way * share).length();
            let long = way.length() > TELLING * size;
            long && (0.0..1.0).contains(&share) && aside < THICK * way.length()
        };
        if of_bodies().any(|b| b != bone && above(b) == Some(limb) && within(b)) {
            bodies[bone] = false;
            let skin = std::mem::take(&mut groups[bone]);
            groups[limb].extend(skin);
        }
    }
}

/// The nearest bone above another that has a body.
fn above(skeleton: &Skeleton, bodies: &[bool], bone: usize) -> Option<usize> {
    let up = |b: &usize| skeleton.parents()[*b].map(BoneIndex::get);
    std::iter::successors(up(&bone), up).find(|b| bodies[*b])
}

/// The direction in which points are spread most.
fn spread(points: &[Patch]) -> Vec3 {
    let middle = centroid(points);
    axes::principal(points.iter().map(|(p, area)| (*p - middle) * area.sqrt()))
}

fn centroid(points: &[Patch]) -> Vec3 {
    let whole: f32 = points.iter().map(|(_, area)| area).sum();
    points.iter().map(|(p, area)| *p * *area).sum::<Vec3>() / whole.max(f32::MIN_POSITIVE)
}

fn assemble(
    skeleton: &Skeleton,
    skin: &Skin,
    model: &[Affine3A],
    size: f32,
    bodies: &[bool],
    groups: &[Vec<Patch>],
) -> Option<Parts> {
    let parents = skeleton.parents();
    let above = |bone: usize| above(skeleton, bodies, bone);
    let of_bodies = || (0..bodies.len()).filter(|bone| bodies[*bone]);
    let direction = |bone: usize| {
        let here = joint(model, bone);
        let below = of_bodies().filter(|b| above(*b) == Some(bone));
        let (sum, count) =
            below.fold((Vec3::ZERO, 0), |(sum, n), b| (sum + joint(model, b), n + 1));
        let away = if count > 0 { sum / count as f32 } else { centroid(&groups[bone]) } - here;
        if away.length() > TELLING * size { away } else { spread(&groups[bone]) }
    };
    let fit = |bone: usize| {
        let points = &groups[bone];
        Capsule::fit(joint(model, bone), direction(bone), points, LEAST_RADIUS * size)
    };
    let capsules: Vec<Option<Capsule>> =
        (0..bodies.len()).map(|bone| if bodies[bone] { fit(bone) } else { None }).collect();
    let volume = |bone: usize| capsules[bone].map_or(0.0, |c| c.volume());
    // What hangs on nothing hangs on the largest of these.
    let top = of_bodies()
        .filter(|bone| above(*bone).is_none())
        .max_by(|a, b| volume(*a).total_cmp(&volume(*b)).then(b.cmp(a)))?;
    let order = std::iter::once(top).chain(of_bodies().filter(|bone| *bone != top));
    let mut parts: Vec<Part> = Vec::new();
    let mut number = vec![None; bodies.len()];
    for bone in order {
        number[bone] = Some(parts.len() as u16);
        let parent = above(bone).and_then(|b| number[b]).map_or(0, usize::from);
        let parent = (bone != top).then_some(parent);
        parts.push(Part {
            bone: BoneIndex(bone as u16),
            parent,
            capsule: capsules[bone]?,
            reach: 0.0,
        });
    }
    let mut carriers: Vec<Option<u16>> = Vec::with_capacity(bodies.len());
    for (bone, touched) in skin.touched.iter().enumerate() {
        let carrier = number[bone].or_else(|| carriers[parents[bone]?.get()]);
        carriers.push(carrier);
        if let Some(part) = carrier.and_then(|k| parts.get_mut(usize::from(k))) {
            let far = touched.iter().map(|p| part.capsule.distance(*p));
            part.reach = far.fold(part.reach, f32::max);
        }
    }
    Some(Parts { parts, carriers })
}
