//! Working out how somebody gets up, when it begins to.

use super::crouch::Crouch;
use super::curve::{Curve, STEPS, between};
use super::paths::{bent, driven, leaning, raise, share_of, sits, too_short, tucked, way};
use super::{Path, Rise, Sole, Stations, gathered, straight};
use crate::index::BoneIndex;
use crate::math::{Mat3x4, Trs};
use crate::motion::{Extremity, Physique, Terrain};
use crate::pose::Rig;
use crate::pose::kernels::ik::two_bone::Limb;
use crate::task::{Context, NO_MASKS, PoseState, Task, TaskError, TaskList, Worker, WorkerOptions};
use glam::{Affine3A, Vec3, Vec3Swizzles};

/// When the first foot begins to be put down, how long that takes, and how much later the others
/// begin altogether; shares of getting up.
const FIRST_STEP: f32 = 0.05;
const STEP: f32 = 0.26;
const STAGGER: f32 = 0.12;
/// From when on feet go from where they were put down to where the animation has them.
const HANDS_OVER: (f32, f32) = (0.72, 1.0);
/// How high a foot is lifted, of how far it goes, and of the character's size at most.
const LIFTED: (f32, f32) = (0.2, 0.08);
/// A foot of a standing pose is on the ground that is so near to it, as a share of the size.
const ON_GROUND: f32 = 0.02;
/// How deep in the ground what is about a bone may be before it is raised, as a share of the size.
const DEEP: f32 = 0.004;
/// Rounds of looking what is in the ground and raising it.
const ROUNDS: usize = 4;
/// How many steps before and after one that has to be raised are raised with it: of a body, and of a
/// limb.
const EASE: (usize, usize) = (6, 3);

/// Somebody who lies and is to stand.
pub struct Site<'a> {
    pub rig: &'a Rig,
    pub physique: &'a Physique,
    pub world_from_model: Affine3A,
    pub terrain: Terrain,
    pub stations: Stations,
    pub options: WorkerOptions,
}

/// Executes lists ahead of time.
struct Rehearsal<'s> {
    rig: &'s Rig,
    state: &'s mut PoseState,
    worker: Worker,
    list: TaskList,
    palette: Vec<Mat3x4>,
}

impl Rehearsal<'_> {
    fn run(&mut self, record: impl FnOnce(&mut TaskList) -> Result<(), TaskError>) {
        self.list.clear();
        let recorded = record(&mut self.list);
        debug_assert_eq!(recorded, Ok(()), "a few tasks fit a list");
        self.list.sweep();
        let mut context =
            Context { masks: &NO_MASKS, state: self.state, capture: None, kept: None };
        let mut batch = self.worker.batch();
        let executed =
            batch.execute_with(self.rig, &mut self.list, &mut context, &mut self.palette);
        debug_assert_eq!(executed, Ok(()), "a palette of the rig's length");
    }

    fn joint(&self, bone: BoneIndex) -> Vec3 {
        let bone = self.rig.model_from_bone(&self.palette, bone);
        bone.map_or(Vec3::ZERO, |bone| bone.translation.into())
    }

    fn joints(&self, limb: &Limb) -> [Vec3; 3] {
        [limb.root, limb.mid, limb.end].map(|bone| self.joint(bone))
    }
}

/// What has to be raised, by step.
struct Depths {
    body: Vec<f32>,
    limbs: Vec<Vec<f32>>,
}

impl Site<'_> {
    /// Works it out. The poses of lying and standing are kept; the one between them is from now on.
    pub fn plan(&self, state: &mut PoseState) -> Rise {
        let mut on = Rehearsal {
            rig: self.rig,
            state,
            worker: Worker::new(self.options),
            list: TaskList::default(),
            palette: vec![Mat3x4::IDENTITY; self.rig.palette_len()],
        };
        let Physique { legs, arms, hips, .. } = self.physique;
        let load = |snapshot, on: &mut Rehearsal<'_>| {
            on.run(|list| {
                let pose = list.push(Task::LoadPoseSnapshot { snapshot })?;
                list.set_output(pose)
            });
            let limbs = self.limbs().map(|e| on.joints(&e.limb)).collect::<Vec<_>>();
            (limbs, on.palette.clone())
        };
        let (lying, lying_palette) = load(self.stations.lies, &mut on);
        let (standing, standing_palette) = load(self.stations.stands, &mut on);
        let bone_stands = |bone: BoneIndex| self.bone(&standing_palette, bone);
        let hips_lie = self.bone(&lying_palette, *hips);
        let [lie, stand] =
            [hips_lie, bone_stands(*hips)].map(|hips| Trs::from_affine(&hips).rotation);
        let turned = lie * stand.conjugate();
        let feet: Vec<Vec3> =
            legs.iter().zip(&standing).map(|(leg, [.., end])| self.foothold(leg, *end)).collect();
        let crouch = Crouch { physique: self.physique, stands: &bone_stands, feet: &feet };
        let mut hands: Vec<Vec3> = Vec::new();
        let mut lift = Curve::still(Vec3::ZERO);
        if !legs.is_empty() {
            on.run(|list| crouch.record(self.stations, &[], list));
            let hand =
                |arm: &Extremity| crouch.hand(arm, on.joint(arm.limb.root), |p| self.ground(p));
            hands = arms.iter().map(hand).collect();
            on.run(|list| crouch.record(self.stations, &hands, list));
            if legs.len() == 2 {
                let way = on.joint(*hips) - Vec3::from(hips_lie.translation);
                lift = sits((turned * crouch.ahead()).y, way);
            }
        }
        let mut rise = Rise { stations: self.stations, hips: *hips, lift, paths: Vec::new() };
        let moves = |number: usize| {
            let from = FIRST_STEP + STAGGER * number as f32 / (legs.len() - 1) as f32;
            (from, from + STEP)
        };
        let place = |number: usize| {
            let (lies, stands) = (lying[number][2], standing[number][2]);
            self.step(lies, feet[number], stands, moves(number))
        };
        let steps: Vec<Curve> = (0..legs.len()).map(place).collect();
        let short = too_short(&self.trunk(&rise, &mut on), &steps);
        raise(&mut rise.lift, &short, EASE.0);
        let trunk = self.trunk(&rise, &mut on);
        for (number, (leg, ends)) in legs.iter().zip(steps).enumerate() {
            let (lies, stands) = (lying[number], standing[number]);
            let bend = crouch.bend(leg);
            let lying_bend = bent(&lies, turned * bend);
            let aside = lies[0] - Vec3::from(hips_lie.translation);
            let keys = [lying_bend, tucked(lying_bend, aside), bend, bent(&stands, bend)];
            let wanted = |step: usize, _: &[Vec3; 3]| way(keys, share_of(step));
            let path = driven(leg.limb, &trunk[number], ends, wanted);
            let ends = [&lying_palette, &standing_palette].map(|p| self.bone(p, leg.limb.end));
            let sole = Sole::new(ends.each_ref(), (0.0, moves(number).1));
            rise.paths.push(Path { sole: Some(sole), ..path });
        }
        for (arm, (hand, trunk)) in arms.iter().zip(hands.iter().zip(&trunk[legs.len()..])) {
            let ends = leaning(trunk, *hand);
            rise.paths.push(driven(arm.limb, trunk, ends, |_, [a, b, _]| *b - *a));
        }
        let calm = [lying_palette, standing_palette].map(|palette| self.depths_of(&palette));
        for _ in 0..ROUNDS {
            let deep = self.rehearse(&rise, &mut on, &calm);
            raise(&mut rise.lift, &deep.body, EASE.0);
            for (path, deep) in rise.paths.iter_mut().zip(&deep.limbs) {
                raise(&mut path.ends, deep, EASE.1);
            }
        }
        rise
    }

    fn bone(&self, palette: &[Mat3x4], bone: BoneIndex) -> Affine3A {
        self.rig.model_from_bone(palette, bone).unwrap_or(Affine3A::IDENTITY)
    }

    /// Model y of the ground above or below a point.
    fn ground(&self, at: Vec3) -> f32 {
        let world = self.world_from_model.transform_point3(at);
        let size = self.world_from_model.matrix3.y_axis.y;
        at.y + (self.terrain.height(world.xz()) - world.y) / size
    }

    /// Where a foot is put down that stands at a place, or is in the air above it.
    fn foothold(&self, leg: &Extremity, stands: Vec3) -> Vec3 {
        let level = self.ground(stands) + leg.height;
        let near = (stands.y - level).abs() < ON_GROUND * self.physique.size;
        if near { stands } else { stands.with_y(level) }
    }

    /// The way of a foot over the ground from where it lies to where it is put down, and to where it
    /// stands.
    fn step(&self, lies: Vec3, foot: Vec3, stands: Vec3, moves: (f32, f32)) -> Curve {
        let high = (LIFTED.0 * lies.distance(foot)).min(LIFTED.1 * self.physique.size);
        let above = |at: Vec3| at.y - self.ground(at);
        let at = |step: usize| {
            let share = share_of(step);
            let gone = between(moves, share);
            let height = above(lies) + (above(foot) - above(lies)) * gone;
            let over = height + high * 4.0 * gone * (1.0 - gone);
            let down = lies.lerp(foot, gone);
            let down = down.with_y(self.ground(down) + over);
            down.lerp(stands, between(HANDS_OVER, share))
        };
        Curve((0..=STEPS).map(at).collect())
    }

    /// Where the joints of each leg and arm are at each step if they are merely blended.
    fn trunk(&self, rise: &Rise, on: &mut Rehearsal<'_>) -> Vec<Vec<[Vec3; 3]>> {
        let limbs: Vec<Limb> = self.limbs().map(|e| e.limb).collect();
        let mut joints = vec![Vec::with_capacity(STEPS + 1); limbs.len()];
        for step in 0..=STEPS {
            on.run(|list| {
                let trunk = rise.trunk(share_of(step), list)?;
                list.set_output(trunk)
            });
            for (joints, limb) in joints.iter_mut().zip(&limbs) {
                joints.push(on.joints(limb));
            }
        }
        joints
    }

    fn limbs(&self) -> impl Iterator<Item = &Extremity> {
        self.physique.legs.iter().chain(&self.physique.arms)
    }

    /// How deep each capsule is in the ground, model units; negative above it.
    fn depths_of(&self, palette: &[Mat3x4]) -> Vec<f32> {
        let shells = &self.physique.hull;
        let depth = |shell: &crate::motion::Shell| {
            let Some(matrix) = palette.get(shell.bone.get()) else { return f32::NEG_INFINITY };
            let ends = shell.ends.map(|end| {
                let end = matrix.transform_point(end);
                self.ground(end) + shell.radius - end.y
            });
            ends[0].max(ends[1])
        };
        shells.iter().map(depth).collect()
    }

    /// Goes through all steps and sees what is in the ground that is not when it lies or stands.
    fn rehearse(
        &self,
        rise: &Rise,
        on: &mut Rehearsal<'_>,
        [lies, stands]: &[Vec<f32>; 2],
    ) -> Depths {
        let Physique { hull, legs, arms, size, .. } = self.physique;
        let mut deep = Depths {
            body: vec![0.0; STEPS + 1],
            limbs: vec![vec![0.0; STEPS + 1]; rise.paths.len()],
        };
        // Legs move with their feet below the knee, arms all along.
        let tops = legs.iter().map(|leg| leg.limb.end).chain(arms.iter().map(|arm| arm.limb.root));
        let tops: Vec<BoneIndex> = tops.collect();
        let parents = self.rig.skeleton().parents();
        let up = |bone: BoneIndex| std::iter::successors(Some(bone), |at| parents[at.get()]);
        let limb = |bone| tops.iter().position(|top| up(bone).any(|at| at == *top));
        let limbs: Vec<Option<usize>> = hull.iter().map(|shell| limb(shell.bone)).collect();
        for step in 1..STEPS {
            let share = share_of(step);
            on.run(|list| rise.record(share * rise.seconds(), list));
            let depths = self.depths_of(&on.palette);
            for (shell, depth) in depths.into_iter().enumerate() {
                let allowed =
                    lies[shell] * (1.0 - gathered(share)) + stands[shell] * straight(share);
                let depth = depth - allowed.max(DEEP * size);
                let of = limbs[shell].and_then(|limb| deep.limbs.get_mut(limb));
                let of = of.unwrap_or(&mut deep.body);
                of[step] = of[step].max(depth);
            }
        }
        deep
    }
}
