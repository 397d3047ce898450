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
/// Capsules of one character, at most: each has a bit in a word of 32, and the ground has one.
const MOST_PIECES: usize = 24;
/// Bodies of one character, at most: what a step costs is in proportion to them.
const MOST: usize = 18;
/// What is shorter has no body of its own but is a capsule of the one that it hangs on; so is what
/// has its joint inside of that one's capsule and is shorter than the second. Shares of the
/// character's size: toes and the neck, and every other link of a spine.
const SHORT: f32 = 0.07;
const SHORT_INSIDE: f32 = 0.2;
/// Radius of a body next to without skin, as a share of the character's size.
pub const LEAST_RADIUS: f32 = 0.008;
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
    /// Of its own skin; model space, at rest.
    pub capsule: Capsule,
    /// How far from the capsule's segment its skin reaches.
    pub reach: f32,
}

/// A capsule of a body.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub bone: BoneIndex,
    /// Position in the list of the body's part.
    pub part: usize,
    /// Model space, at rest.
    pub capsule: Capsule,
}

/// The bones with bodies, and who carries whom.
#[derive(Clone, Debug)]
pub struct Parts {
    /// What the others hang on comes first, and everybody's parent before it.
    pub parts: Vec<Part>,
    /// In the order of parts, the capsule of each before those of what rides with it.
    pub pieces: Vec<Piece>,
    /// For each bone, the part that it is or rides with; `None` for what is above the first.
    pub carriers: Vec<Option<u16>>,
}

impl Parts {
    /// Gives a capsule to each bone with enough skin, what has less adding to the one above, and a body
    /// to each of those that is long enough. `size` is the character's, model units. `None` where
    /// there is no skin.
    pub fn choose(skeleton: &Skeleton, skin: &Skin, model: &[Affine3A], size: f32) -> Option<Self> {
        let mut share = LEAST_SHARE;
        loop {
            let (pieces, groups) = grouped(skeleton, skin, model, size, share);
            match pieces.iter().filter(|b| **b).count() {
                0 => return None,
                n if n <= MOST_PIECES => {
                    return assemble(skeleton, skin, model, size, &pieces, &groups);
                }
                _ => share *= 1.5,
            }
        }
    }
}

fn joint(model: &[Affine3A], bone: usize) -> Vec3 {
    model[bone].translation.into()
}

/// Which bones have capsules, and the skin of each with that of its riders.
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
pub fn above(skeleton: &Skeleton, bodies: &[bool], bone: usize) -> Option<usize> {
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
    pieces: &[bool],
    groups: &[Vec<Patch>],
) -> Option<Parts> {
    let of_pieces = || (0..pieces.len()).filter(|bone| pieces[*bone]);
    let direction = |bone: usize| {
        let here = joint(model, bone);
        let below = of_pieces().filter(|b| above(skeleton, pieces, *b) == Some(bone));
        let (sum, count) =
            below.fold((Vec3::ZERO, 0), |(sum, n), b| (sum + joint(model, b), n + 1));
        let away = if count > 0 { sum / count as f32 } else { centroid(&groups[bone]) } - here;
        if away.length() > TELLING * size { away } else { spread(&groups[bone]) }
    };
    let fit = |bone: usize| {
        let points = &groups[bone];
        let middle = centroid(points);
        let axes = axes::frame(points.iter().map(|(p, area)| (*p - middle) * area.sqrt()));
        let ways = [direction(bone), axes * Vec3::X, axes * Vec3::Y, axes * Vec3::Z];
        Capsule::fit_best(joint(model, bone), ways, points, LEAST_RADIUS * size)
    };
    let capsules: Vec<Option<Capsule>> =
        (0..pieces.len()).map(|bone| if pieces[bone] { fit(bone) } else { None }).collect();
    let bodies = bodies(skeleton, model, size, pieces, &capsules);
    let above = |bone: usize| above(skeleton, &bodies, bone);
    let of_bodies = || (0..bodies.len()).filter(|bone| bodies[*bone]);
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
    let parents = skeleton.parents();
    let mut carriers: Vec<Option<u16>> = Vec::with_capacity(bodies.len());
    for (bone, touched) in skin.touched.iter().enumerate() {
        let carrier = number[bone].or_else(|| carriers[parents[bone]?.get()]);
        carriers.push(carrier);
        if let Some(part) = carrier.and_then(|k| parts.get_mut(usize::from(k))) {
            let far = touched.iter().map(|p| part.capsule.distance(*p));
            part.reach = far.fold(part.reach, f32::max);
        }
    }
    let own =
        parts.iter().enumerate().map(|(part, p)| Piece { bone: p.bone, part, capsule: p.capsule });
    let riders = of_pieces().filter(|bone| !bodies[*bone]);
    let riders = riders.filter_map(|bone| {
        let (part, capsule) = (carriers[bone]?.into(), capsules[bone]?);
        Some(Piece { bone: BoneIndex(bone as u16), part, capsule })
    });
    let mut pieces: Vec<Piece> = own.chain(riders).collect();
    pieces.sort_by_key(|piece| piece.part);
    Some(Parts { parts, pieces, carriers })
}

/// Which of the bones with capsules have a body of their own.
fn bodies(
    skeleton: &Skeleton,
    model: &[Affine3A],
    size: f32,
    pieces: &[bool],
    capsules: &[Option<Capsule>],
) -> Vec<bool> {
    let mut bodies = pieces.to_vec();
    let length = |bone: usize| capsules[bone].map_or(0.0, |capsule| capsule.length());
    for bone in 0..bodies.len() {
        let Some(limb) = above(skeleton, &bodies, bone).filter(|_| bodies[bone]) else { continue };
        let apart = joint(model, bone).distance(joint(model, limb));
        let inside = capsules[limb].is_some_and(|capsule| apart < capsule.radius);
        let short = if inside { SHORT_INSIDE } else { SHORT };
        bodies[bone] = length(bone) >= short * size;
    }
    while bodies.iter().filter(|b| **b).count() > MOST {
        let rides = |bone: &usize| bodies[*bone] && above(skeleton, &bodies, *bone).is_some();
        let shortest =
            (0..bodies.len()).filter(rides).min_by(|a, b| length(*a).total_cmp(&length(*b)));
        let Some(shortest) = shortest else { break };
        bodies[shortest] = false;
    }
    bodies
}
