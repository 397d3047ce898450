//! Which of a skeleton's chains are legs and arms.

use super::axes;
use super::capsule::Capsule;
use super::joints::direction;
use super::parts::{LEAST_RADIUS, Parts, above};
use super::skin::{Patch, Skin};
use crate::index::{BoneIndex, ClipId};
use crate::motion::{Extremity, Physique, Shell};
use crate::pose::kernels::ik::two_bone::Limb;
use crate::pose::{Rig, Skeleton};
use glam::{Affine3A, Quat, Vec3};

/// The lowest skin of a leg is so near to the ground at rest; share of the character's size.
const ON_GROUND: f32 = 0.06;
/// How much higher than its end a leg begins, as a share of its length.
const UPRIGHT: f32 = 0.5;
/// The shortest leg or arm, as a share of the character's size.
const LEAST: f32 = 0.1;
/// How unlike two arms may be in length, and in where they begin, as a share of that and of the
/// character's size.
const ALIKE: f32 = 0.15;
/// The shortest segment below a chain that is one of its limb's, as a share of the one before it.
const SEGMENT: f32 = 0.3;
/// Poses of each clip, and of all, that are looked at for the way that limbs bend.
const OF_ONE: usize = 8;
const OF_ALL: usize = 160;

/// What a character is to be measured with.
#[derive(Clone, Copy)]
pub struct Measured<'a> {
    pub rig: &'a Rig,
    pub parts: &'a Parts,
    pub skin: &'a Skin,
    /// Every bone's matrix at rest.
    pub model: &'a [Affine3A],
    /// Model y of its lowest skin at rest.
    pub floor: f32,
    /// The larger of its height and its breadth.
    pub size: f32,
}

impl Measured<'_> {
    /// Legs and arms, and what they hang on.
    pub fn physique(&self) -> Physique {
        let chains = self.chains();
        let limbs = chains.iter().filter_map(|chain| self.limb(chain));
        let limbs: Vec<Extremity> = limbs.collect();
        let hull = self.hull(&limbs);
        let stands = |e: &&Extremity| {
            let Limb { root, end, .. } = e.limb;
            let down = self.joint(root).y - self.joint(end).y;
            self.lowest(end) - self.floor < ON_GROUND * self.size
                && down > UPRIGHT * self.length(&e.limb)
        };
        let legs: Vec<Extremity> = limbs.iter().filter(stands).copied().collect();
        let first = self.parts.parts[0].bone;
        let mut physique = Physique { hips: first, hull, size: self.size, ..Physique::default() };
        let Some(hips) =
            self.common(legs.iter().map(|leg| leg.limb.root)).filter(|_| legs.len() > 1)
        else {
            return physique;
        };
        physique.hips = hips;
        physique.legs = legs;
        if physique.legs.len() == 2 {
            let taken = |e: &Extremity| physique.legs.iter().any(|leg| leg.limb == e.limb);
            let others: Vec<Extremity> = limbs.iter().filter(|e| !taken(e)).copied().collect();
            let paired = |e: &&Extremity| others.iter().any(|other| self.are_arms(e, other));
            physique.arms = others.iter().filter(paired).copied().collect();
            (physique.spine, physique.head) = self.spine(&physique);
        }
        self.bend(&mut physique);
        physique
    }

    fn skeleton(&self) -> &Skeleton {
        self.rig.skeleton()
    }

    fn joint(&self, bone: BoneIndex) -> Vec3 {
        self.model[bone.get()].translation.into()
    }

    fn length(&self, limb: &Limb) -> f32 {
        let [a, b, c] = [limb.root, limb.mid, limb.end].map(|bone| self.joint(bone));
        a.distance(b) + b.distance(c)
    }

    fn hangs_at(&self, bone: BoneIndex, top: BoneIndex) -> bool {
        self.up(bone).any(|at| at == top)
    }

    /// A bone and all that it hangs on.
    fn up(&self, bone: BoneIndex) -> impl Iterator<Item = BoneIndex> {
        std::iter::successors(Some(bone), |at| self.skeleton().parents()[at.get()])
    }

    /// The lowest bone that all of some hang on, themselves not among them.
    fn common(&self, mut bones: impl Iterator<Item = BoneIndex>) -> Option<BoneIndex> {
        let first = bones.next()?;
        let rest: Vec<BoneIndex> = bones.collect();
        let mut above = self.up(first).skip(1);
        above.find(|at| rest.iter().all(|bone| bone != at && self.hangs_at(*bone, *at)))
    }

    /// What is about the bones. A limb's end may ride with what it hangs on when bodies fall, and be of
    /// its capsule; whoever gets up turns it.
    fn hull(&self, limbs: &[Extremity]) -> Vec<Shell> {
        let Self { parts, model, size, .. } = *self;
        let own = parts.pieces.iter().map(|piece| {
            let limb = limbs.iter().find(|e| e.limb.mid == piece.bone).map(|e| e.limb);
            let capsule = limb.map_or(piece.capsule, |limb| {
                let (start, end) = (self.joint(limb.mid), self.joint(limb.end));
                piece.capsule.ended(start, end)
            });
            (piece.bone, capsule)
        });
        let alone = limbs
            .iter()
            .map(|e| e.limb.end)
            .filter(|end| !parts.pieces.iter().any(|piece| self.hangs_at(piece.bone, *end)));
        let ends = alone.filter_map(|end| {
            let (joint, skin) = (self.joint(end), self.patches(end));
            let axes = axes::frame(skin.iter().map(|(p, area)| (*p - joint) * area.sqrt()));
            let ways = [axes * Vec3::X, axes * Vec3::Y, axes * Vec3::Z];
            Some((end, Capsule::fit_best(joint, ways, &skin, LEAST_RADIUS * size)?))
        });
        let shell = |(bone, capsule): (BoneIndex, Capsule)| {
            let entry = self.skeleton().palette()[bone.get()];
            let mesh_from_model = (model[bone.get()] * entry.bone_from_mesh).inverse();
            let ends = [capsule.a, capsule.b].map(|p| mesh_from_model.transform_point3(p));
            let finite = ends.iter().all(|p| p.is_finite());
            finite.then_some(Shell { bone, ends, radius: capsule.radius })
        };
        own.chain(ends).filter_map(shell).collect()
    }

    /// The skin of a bone and of what hangs on it, with what it stands for.
    fn patches(&self, bone: BoneIndex) -> Vec<Patch> {
        let own = self.skin.own.iter().enumerate();
        let own = own.filter(|(at, _)| self.hangs_at(BoneIndex(*at as u16), bone));
        own.flat_map(|(_, patches)| patches).copied().collect()
    }

    /// Model y of the lowest skin of a bone and of what hangs on it.
    fn lowest(&self, bone: BoneIndex) -> f32 {
        let skin = self.patches(bone);
        skin.iter().fold(self.joint(bone).y, |low, (place, _)| low.min(place.y))
    }

    /// How far it reaches from the bone's joint.
    fn tip(&self, bone: BoneIndex) -> f32 {
        let joint = self.joint(bone);
        let skin = self.patches(bone);
        skin.iter().fold(0.0, |far, (place, _)| far.max(place.distance(joint)))
    }

    /// From each bone that carries skin and has none below it that does, up to where others come in;
    /// the uppermost first.
    fn chains(&self) -> Vec<Vec<BoneIndex>> {
        let mut carries = vec![false; self.model.len()];
        self.parts.pieces.iter().for_each(|piece| carries[piece.bone.get()] = true);
        let above = |bone: usize| above(self.skeleton(), &carries, bone);
        let mut below = vec![0; carries.len()];
        for bone in (0..carries.len()).filter(|bone| carries[*bone]) {
            above(bone).into_iter().for_each(|parent| below[parent] += 1);
        }
        let leaves = (0..carries.len()).filter(|bone| carries[*bone] && below[*bone] == 0);
        let chain = |leaf: usize| {
            let up = std::iter::successors(Some(leaf), |at| above(*at).filter(|b| below[*b] == 1));
            let mut chain: Vec<BoneIndex> = up.map(|bone| BoneIndex(bone as u16)).collect();
            chain.reverse();
            chain
        };
        leaves.map(chain).collect()
    }

    /// The two longest neighbouring segments of a chain. Where a chain is too short, what hangs on
    /// its last bone makes it longer.
    fn limb(&self, chain: &[BoneIndex]) -> Option<Extremity> {
        let mut chain = chain.to_vec();
        while let [.., before, last] = chain[..] {
            let segment = self.joint(before).distance(self.joint(last));
            let Some(next) = self.skeleton().first_child(last).filter(|_| chain.len() < 4) else {
                break;
            };
            if self.joint(last).distance(self.joint(next)) < SEGMENT * segment {
                break;
            }
            chain.push(next);
        }
        let limb = |w: &[BoneIndex]| match *w {
            [root, mid, end] => Some(Limb { root, mid, end }),
            _ => None,
        };
        let limbs = chain.windows(3).filter_map(limb);
        let limb = limbs.max_by(|a, b| self.length(a).total_cmp(&self.length(b)))?;
        let (height, tip) = (self.joint(limb.end).y - self.floor, self.tip(limb.end));
        let extremity = Extremity { limb, bend: Vec3::ZERO, height, tip };
        (self.length(&limb) > LEAST * self.size).then_some(extremity)
    }

    /// True for two different limbs that are each other's mirror image, about.
    fn are_arms(&self, one: &Extremity, other: &Extremity) -> bool {
        let lengths = [one, other].map(|e| self.length(&e.limb));
        let [a, b] = [one, other].map(|e| self.joint(e.limb.root));
        let alike = (lengths[0] - lengths[1]).abs() < ALIKE * lengths[0].max(lengths[1]);
        one.limb != other.limb
            && alike
            && (a.y - b.y).abs() < ALIKE * self.size
            && (a.z - b.z).abs() < ALIKE * self.size
    }

    /// What is between hips and head, and the head: the highest of what is no limb.
    fn spine(&self, physique: &Physique) -> (Vec<BoneIndex>, Option<BoneIndex>) {
        let Physique { hips, legs, arms, .. } = physique;
        let in_limb =
            |bone: BoneIndex| legs.iter().chain(arms).any(|e| self.hangs_at(bone, e.limb.root));
        let bones = self.parts.pieces.iter().map(|piece| piece.bone);
        let free =
            bones.filter(|bone| *bone != *hips && self.hangs_at(*bone, *hips) && !in_limb(*bone));
        let head = free.max_by(|a, b| self.joint(*a).y.total_cmp(&self.joint(*b).y));
        let Some(head) = head else { return (Vec::new(), None) };
        let mut spine: Vec<BoneIndex> =
            self.up(head).skip(1).take_while(|bone| bone != hips).collect();
        spine.reverse();
        // Necks nod with their heads.
        let shoulders = self.common(arms.iter().map(|arm| arm.limb.root));
        let neck = shoulders.and_then(|s| spine.iter().position(|bone| *bone == s));
        let head = neck.and_then(|at| spine.get(at + 1)).copied().unwrap_or(head);
        spine.truncate(neck.map_or(spine.len(), |at| at + 1));
        (spine, Some(head))
    }

    /// The way that the middle joints stick out, of all that clips show.
    fn bend(&self, physique: &mut Physique) {
        let Physique { hips, legs, arms, .. } = physique;
        let rest = direction(&self.model[hips.get()]);
        let mut add = |model: &[Affine3A], turned: Quat| {
            for e in legs.iter_mut().chain(arms.iter_mut()) {
                let Limb { root, mid, end } = e.limb;
                let [a, b, c] =
                    [root, mid, end].map(|bone| Vec3::from(model[bone.get()].translation));
                let along = (c - a).normalize_or(Vec3::NEG_Y);
                let out = turned * (b - a).reject_from_normalized(along);
                e.bend += if out.is_finite() { out } else { Vec3::ZERO };
            }
        };
        add(self.model, Quat::IDENTITY);
        let mut left = OF_ALL;
        for clip in (0..self.rig.clip_count() as u16).map(ClipId) {
            let seconds = self.rig.clip(clip).map_or(0.0, |clip| clip.seconds());
            let count = if seconds > 0.0 { OF_ONE } else { 1 }.min(left);
            left -= count;
            for at in 0..count {
                let locals = self.rig.sample_locals(clip, seconds * at as f32 / count as f32);
                let model = self.skeleton().model_from_bone(&locals);
                let turned = rest * direction(&model[hips.get()]).conjugate();
                add(&model, turned);
            }
        }
        for e in legs.iter_mut().chain(arms.iter_mut()) {
            e.bend = e.bend.normalize_or_zero();
        }
    }
}
