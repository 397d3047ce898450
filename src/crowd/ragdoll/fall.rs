//! One character's fall, from the pose that it begins in to standing again.

use super::rise::{Rise, Site, Stations};
use crate::crowd::characters::{
    Characters, Place, SlotAddress, sphere_center, world_from_model, wrapped,
};
use crate::crowd::kind::Kind;
use crate::crowd::leases::Covered;
use crate::crowd::ride::Ride;
use crate::crowd::serial::moved;
use crate::index::{CharacterId, CharacterKind};
use crate::math::Mat3x4;
use crate::motion::ground::rotate;
use crate::motion::{Fall as FallFrom, Footing, Ragdoll, Terrain};
use crate::pose::{Pose, RootPin};
use crate::task::{
    HistoryId, PoseState, SnapshotId, Stage, Task, TaskError, TaskList, WorkerOptions,
};
use glam::{Affine3A, Vec2, Vec3, Vec3Swizzles};

/// How much of the way to where its bodies face its place turns in a second, while it is down.
const FACES: f32 = 8.0;

/// How far a fall has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    /// It plays as before, and its pose is kept to tell how it moves.
    Brace,
    /// Its bodies begin in this frame's pose.
    Fall,
    /// Its bodies fall or lie, so many seconds of lying left.
    Down {
        /// Counted from when nothing moves any more.
        left: f32,
    },
    /// It gets up into the pose that its animation begins with, so many seconds in.
    Rise(f32),
    /// There is nothing more to it.
    Over,
}

/// A character that falls, lies or gets up. While it does its poses are kept here and not in its
/// slot: a list in two halves needs one more history and two more snapshots than its program.
#[derive(Debug)]
pub(crate) struct Fall {
    pub id: CharacterId,
    pub kind: CharacterKind,
    /// Which holder of its id it is.
    pub generation: u32,
    /// Its slot.
    pub at: SlotAddress,
    pub step: Step,
    /// Its first half is executed, and the rest waits for its bodies.
    pub list: TaskList,
    pub state: PoseState,
    /// What the second half resolves into.
    pub palette: Vec<Mat3x4>,
    /// What it came to as a pose, while another kind follows.
    pub kept: Option<Pose>,
    /// Where it will be drawn; what its bodies say from when it has any.
    pub place: Place,
    /// What its root does in the frame that its bodies begin in.
    pub covered: Covered,
    ragdoll: Option<Box<dyn Ragdoll>>,
    /// How far it reaches, of how far it does when it stands: as far as its bodies last did.
    reach: f32,
    ids: Ids,
    /// Where it stood a frame ago.
    stood: Option<Affine3A>,
    /// What is taken out of the roots of the kept poses.
    pins: [Option<RootPin>; 3],
    /// Where it lies, world position (x, z) and heading.
    lies_at: (Vec2, f32),
    rise: Option<Box<Rise>>,
    lies: f32,
    push: Vec3,
}

/// The poses of a fall among those of its character.
#[derive(Clone, Copy, Debug)]
struct Ids {
    history: HistoryId,
    /// The pose of the frame before it fell; on its way up, the one in between.
    before: SnapshotId,
    /// The pose that it falls in; then that of its bodies.
    bodies: SnapshotId,
    /// The pose that it gets up into.
    stands: SnapshotId,
}

/// What a fall is to be like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub id: CharacterId,
    /// Metres a second that its top is pushed by.
    pub push: Vec3,
    /// Seconds that it lies.
    pub lies: f32,
}

/// What the world is, to somebody who falls.
#[derive(Clone, Copy)]
pub(crate) struct Surface<'a> {
    pub kinds: &'a [Kind],
    pub rides: &'a [Ride],
    pub terrain: Terrain,
}

impl Surface<'_> {
    /// Where a character's model is in the world.
    pub fn world_from_model(&self, kind: &Kind, place: &Place) -> Affine3A {
        // Nobody falls who follows somebody.
        let place = place.resolve(self.rides, &[]);
        world_from_model(kind, place, self.terrain.height(place.0)).to_affine()
    }
}

impl Fall {
    /// The beginning. `state` is what its slot keeps.
    pub fn new(
        wish: Wish,
        (kind, of): (CharacterKind, &Kind),
        (at, generation): (SlotAddress, u32),
        place: Place,
        mut state: PoseState,
    ) -> Self {
        let (history, before) = state.extend(0, 3, &of.rig);
        let [bodies, stands] = [1, 2].map(|at| SnapshotId(before.0.saturating_add(at)));
        Self {
            id: wish.id,
            kind,
            generation,
            at,
            step: Step::Brace,
            list: TaskList::default(),
            state,
            kept: None,
            palette: vec![Mat3x4::IDENTITY; of.rig.palette_len()],
            place,
            covered: Covered::NOTHING,
            ragdoll: None,
            reach: 1.0,
            ids: Ids { history, before, bodies, stands },
            stood: None,
            pins: [None; 3],
            lies_at: (Vec2::ZERO, 0.0),
            rise: None,
            lies: wish.lies,
            push: wish.push,
        }
    }

    /// What its slot kept, without what the fall added.
    pub fn into_state(mut self) -> PoseState {
        self.state.truncate(self.ids.history, self.ids.before);
        self.state
    }

    /// Its bodies say where its bones are, and nothing is played.
    pub fn is_down(&self) -> bool {
        matches!(self.step, Step::Down { .. })
    }

    /// Its list is executed in two halves.
    pub fn is_staged(&self) -> bool {
        self.is_down() || self.step == Step::Fall
    }

    /// It gets up; nobody hears it and its root moves nothing.
    pub fn rises(&self) -> bool {
        matches!(self.step, Step::Rise(_))
    }

    /// Its clocks stand still: it is down, or on its way up to where they wait.
    pub fn waits(&self) -> bool {
        self.is_down() || (self.rises() && !self.begins_to_rise())
    }

    /// It begins to get up in this frame.
    pub fn begins_to_rise(&self) -> bool {
        self.step == Step::Rise(0.0)
    }

    /// Nobody else has its id.
    pub fn is_there(&self, characters: &Characters) -> bool {
        let generation = characters.generations.get(self.id.get());
        characters.is_present(self.id) && generation == Some(&self.generation)
    }

    /// It has the slot that it fell with, and its own poses in it.
    pub fn holds_slot(&self, characters: &Characters) -> bool {
        let own = self.is_there(characters) && !characters.follows(self.id);
        own && characters.slots.get(self.id.get()) == Some(&self.at)
    }

    /// There is nothing more to it.
    pub fn is_over(&self) -> bool {
        self.step == Step::Over
    }

    /// Its root moves it no more.
    pub fn holds(&self) -> bool {
        self.step != Step::Brace
    }

    /// Its bodies move.
    pub fn moves(&self) -> bool {
        self.is_staged() && self.ragdoll.as_ref().is_some_and(|ragdoll| !ragdoll.at_rest())
    }

    pub fn ragdoll(&self) -> Option<&dyn Ragdoll> {
        self.ragdoll.as_deref().filter(|_| self.is_staged())
    }

    /// How far it reaches from where its sphere has its centre, of how far it does when it stands.
    pub fn reach(&mut self, surface: &Surface<'_>) -> f32 {
        if let Some(ragdoll) = self.ragdoll.as_ref().filter(|_| self.is_staged()) {
            let kind = &surface.kinds[self.kind.get()];
            let place = self.place.resolve(surface.rides, &[]);
            let center = sphere_center(kind, place, surface.terrain.height(place.0));
            let (middle, radius) = ragdoll.sphere();
            let stands = kind.radius * self.place.scale();
            self.reach = ((center.distance(middle) + radius) / stands).max(1.0);
        }
        self.reach
    }

    /// Records the list of somebody who is down, the pose that its bodies will have, or who gets up.
    pub fn record_alone(&self, list: &mut TaskList) -> Result<(), TaskError> {
        list.clear();
        if let (Step::Rise(elapsed), Some(rise)) = (self.step, &self.rise) {
            return rise.record(elapsed, list);
        }
        let snapshot = self.ids.bodies;
        let bodies = list.push_staged(Task::LoadPoseSnapshot { snapshot }, Stage::PostPhysics)?;
        list.set_output(bodies)?;
        list.sweep();
        Ok(())
    }

    /// Adds to what its animation recorded in this frame what falling and getting up make of it.
    pub fn record_on(&mut self, covered: Covered, list: &mut TaskList) -> Result<(), TaskError> {
        let source = list.output();
        let Ids { before, bodies, stands, .. } = self.ids;
        match self.step {
            Step::Brace => {
                self.pins[0] = list.root_pin();
                let snapshot = before;
                let kept = list.push(Task::SavePoseSnapshot { source, snapshot })?;
                list.set_output(kept)?;
            }
            Step::Fall => {
                self.covered = covered;
                self.pins[1] = list.root_pin();
                list.set_root_pin(None);
                list.set_ground(None);
                let save = Task::SavePoseSnapshot { source, snapshot: bodies };
                let kept = list.push_staged(save, Stage::PrePhysics)?;
                let load = Task::LoadPoseSnapshot { snapshot: bodies };
                let moved = list.push_staged(load, Stage::PostPhysics)?;
                // From here on its bodies alone say how it stands; the pose that they began in is
                // what they are blended over.
                let blend = Task::Blend { a: kept, b: moved, alpha: 1.0 };
                let whole = list.push_staged(blend, Stage::PostPhysics)?;
                list.set_output(whole)?;
            }
            Step::Rise(_) => {
                // What the animation begins with is kept, and what is drawn is still how it lies.
                self.pins[2] = list.root_pin();
                list.set_root_pin(None);
                let a = list.push(Task::SavePoseSnapshot { source, snapshot: stands })?;
                let b = list.push(Task::LoadPoseSnapshot { snapshot: bodies })?;
                let lies = list.push(Task::Blend { a, b, alpha: 1.0 })?;
                list.set_output(lies)?;
            }
            Step::Down { .. } | Step::Over => {}
        }
        list.sweep();
        Ok(())
    }

    /// Lets so many seconds of its bodies pass, and brings its pose and its place to them.
    pub fn simulate(&mut self, seconds: f32, surface: &Surface<'_>) {
        let kind = &surface.kinds[self.kind.get()];
        if self.step == Step::Fall && !self.begin(kind, surface) {
            // Whoever has no bodies stands as it stood.
            self.step = Step::Over;
            return;
        }
        let Some(ragdoll) = &mut self.ragdoll else { return };
        ragdoll.step(seconds);
        let footing = ragdoll.footing();
        let (_, heading, scale) = self.place.resolve(surface.rides, &[]);
        let turns = -(-FACES * seconds.max(0.0)).exp_m1();
        let heading = heading + turns * wrapped(footing.heading - heading);
        let position = stands(&footing, heading, kind, scale);
        self.lies_at = (position, heading);
        self.place = self.place.brought_to(position, heading, surface.rides);
        let model_from_world = surface.world_from_model(kind, &self.place).inverse();
        if let Some(pose) = self.state.kept_mut(self.ids.bodies) {
            ragdoll.write(&kind.rig, &model_from_world, pose);
        }
    }

    /// Stays where it lies, whatever carries it.
    pub fn hold(&mut self, surface: &Surface<'_>) {
        let (position, heading) = self.lies_at;
        self.place = self.place.brought_to(position, heading, surface.rides);
    }

    /// Works out how it gets up, when it has just begun to.
    pub fn plan(&mut self, options: WorkerOptions, surface: &Surface<'_>) {
        let kind = &surface.kinds[self.kind.get()];
        let Some(bodies) = kind.bodies.as_ref().filter(|_| self.rise.is_none()) else { return };
        let Ids { before, bodies: lies, stands, .. } = self.ids;
        let bones = kind.rig.bone_count();
        if let (Some(pin), Some(pose)) = (self.pins[2], self.state.kept_mut(stands)) {
            pin.apply(&kind.rig, pose, bones);
        }
        let site = Site {
            rig: &kind.rig,
            physique: bodies.physique(),
            world_from_model: surface.world_from_model(kind, &self.place),
            terrain: surface.terrain,
            stations: Stations { lies, crouches: before, stands },
            options,
        };
        self.rise = Some(Box::new(site.plan(&mut self.state)));
    }

    /// Makes its bodies. False where it has none.
    fn begin(&mut self, kind: &Kind, surface: &Surface<'_>) -> bool {
        self.place = moved(kind, self.place, self.covered, surface.rides);
        let bones = kind.rig.bone_count();
        for (id, pin) in [self.ids.before, self.ids.bodies].into_iter().zip(self.pins) {
            if let (Some(pin), Some(pose)) = (pin, self.state.kept_mut(id)) {
                pin.apply(&kind.rig, pose, bones);
            }
        }
        let (Some(bodies), Some(pose)) = (&kind.bodies, self.state.kept(self.ids.bodies)) else {
            return false;
        };
        let before = self.state.kept(self.ids.before).zip(self.stood);
        let fall = FallFrom {
            rig: &kind.rig,
            pose,
            world_from_model: surface.world_from_model(kind, &self.place),
            before: before.map(|(pose, place)| (pose, place, self.covered.seconds)),
            push: self.push,
            terrain: surface.terrain,
        };
        self.ragdoll = bodies.fall(&fall);
        self.ragdoll.is_some()
    }

    /// A frame of so many seconds is over.
    pub fn next(&mut self, seconds: f32, surface: &Surface<'_>) {
        let at_rest = self.ragdoll.as_ref().is_none_or(|ragdoll| ragdoll.at_rest());
        let takes = self.rise.as_ref().map_or(0.0, |rise| rise.seconds());
        self.list.clear();
        self.step = match self.step {
            // Of a frame without time no speed can be told.
            Step::Brace => {
                let kind = &surface.kinds[self.kind.get()];
                self.stood = Some(surface.world_from_model(kind, &self.place));
                Step::Fall
            }
            Step::Fall => Step::Down { left: self.lies },
            Step::Down { left } if at_rest && left <= seconds => {
                self.ragdoll = None;
                Step::Rise(0.0)
            }
            Step::Down { left } if at_rest => Step::Down { left: left - seconds },
            Step::Rise(elapsed) if elapsed + seconds >= takes => Step::Over,
            Step::Rise(elapsed) => Step::Rise(elapsed + seconds.max(f32::MIN_POSITIVE)),
            step => step,
        };
    }
}

/// Where its place is for its bodies to be above it.
fn stands(footing: &Footing, heading: f32, kind: &Kind, scale: f32) -> Vec2 {
    let off = (footing.joint - kind.pivot).xz() * (kind.scale * scale);
    footing.position - rotate(off, heading)
}

/// No ground covered in so many seconds.
pub(crate) fn still(seconds: f32) -> Covered {
    Covered { seconds, ..Covered::NOTHING }
}
