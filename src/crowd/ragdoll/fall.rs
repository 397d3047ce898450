//! One character's fall, from the pose that it begins in to standing again.

use crate::crowd::characters::{Characters, Place, SlotAddress, sphere_center, world_from_model};
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
    HistoryId, PoseState, SnapshotId, Stage, Task, TaskError, TaskIndex, TaskList, Transition,
};
use glam::{Affine3A, Vec2, Vec3, Vec3Swizzles};

/// Seconds of getting up.
pub(super) const RISE: f32 = 1.1;

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
    /// It lies as before, in the place that it will get up in.
    Turn,
    /// Its animation takes it up again, so many seconds in.
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
    pins: [Option<RootPin>; 2],
    lies: f32,
    push: Vec3,
}

/// The poses of a fall among those of its character.
#[derive(Clone, Copy, Debug)]
struct Ids {
    history: HistoryId,
    /// The pose of the frame before it fell.
    before: SnapshotId,
    /// The pose that it falls in; then that of its bodies.
    bodies: SnapshotId,
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
        let (history, before) = state.extend(1, 2, &of.rig);
        let bodies = SnapshotId(before.0.saturating_add(1));
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
            ids: Ids { history, before, bodies },
            stood: None,
            pins: [None; 2],
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
        matches!(self.step, Step::Down { .. } | Step::Turn)
    }

    /// Its list is executed in two halves.
    pub fn is_staged(&self) -> bool {
        self.is_down() || self.step == Step::Fall
    }

    /// It gets up; nobody hears it and its root moves nothing.
    pub fn rises(&self) -> bool {
        matches!(self.step, Step::Rise(_))
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

    /// Records the list of somebody who is down: the pose that its bodies will have, which its
    /// history keeps for getting up.
    pub fn record_down(&mut self, seconds: f32, list: &mut TaskList) -> Result<(), TaskError> {
        list.clear();
        if self.step == Step::Turn {
            list.set_root_pin(self.pin());
        }
        let snapshot = self.ids.bodies;
        let bodies = list.push_staged(Task::LoadPoseSnapshot { snapshot }, Stage::PostPhysics)?;
        self.remember(bodies, seconds, list)
    }

    /// Adds to what its animation recorded in this frame what falling and getting up make of it.
    pub fn record_on(&mut self, covered: Covered, list: &mut TaskList) -> Result<(), TaskError> {
        let source = list.output();
        let seconds = covered.seconds;
        let Ids { history, before, bodies } = self.ids;
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
                self.remember(whole, seconds, list)?;
            }
            Step::Rise(elapsed) => {
                let capture = elapsed == 0.0;
                list.set_root_pin(self.pin());
                let transition =
                    Transition { history, elapsed, duration: RISE, dt: seconds, capture };
                let up = list.push(Task::Inertialize { source, transition })?;
                list.set_output(up)?;
            }
            Step::Down { .. } | Step::Turn | Step::Over => {}
        }
        list.sweep();
        Ok(())
    }

    fn remember(
        &self,
        source: TaskIndex,
        seconds: f32,
        list: &mut TaskList,
    ) -> Result<(), TaskError> {
        // In another place than before, what it was like before tells no velocity.
        let dt = if self.step == Step::Turn { 0.0 } else { seconds };
        let transition = Transition { history: self.ids.history, dt, ..Transition::OVER };
        let output =
            list.push_staged(Task::Inertialize { source, transition }, Stage::PostPhysics)?;
        list.set_output(output)?;
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
        let pin = self.pin().filter(|_| self.step == Step::Turn);
        let Some(ragdoll) = &mut self.ragdoll else { return };
        if self.step != Step::Turn {
            ragdoll.step(seconds);
        }
        let footing = ragdoll.footing();
        let (_, heading, scale) = self.place.resolve(surface.rides, &[]);
        let heading = if self.step == Step::Turn { footing.heading } else { heading };
        let position = stands(&footing, heading, kind, scale);
        self.place = self.place.brought_to(position, heading, surface.rides);
        let mut model_from_world = surface.world_from_model(kind, &self.place).inverse();
        if let Some(motion) = pin.and_then(|pin| pin.motion()) {
            // What its animation's pin will take out while it gets up.
            model_from_world = motion * model_from_world;
        }
        if let Some(pose) = self.state.kept_mut(self.ids.bodies) {
            ragdoll.write(&kind.rig, &model_from_world, pose);
        }
    }

    /// What is taken out of the roots of its animation from when it fell until it is up: clips stand
    /// still meanwhile. Nothing where all of a root's motion is, which leaves no room for bodies.
    fn pin(&self) -> Option<RootPin> {
        self.pins[1].filter(|pin| pin.motion().is_some())
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
        self.list.clear();
        self.step = match self.step {
            // Of a frame without time no speed can be told.
            Step::Brace => {
                let kind = &surface.kinds[self.kind.get()];
                self.stood = Some(surface.world_from_model(kind, &self.place));
                Step::Fall
            }
            Step::Fall => Step::Down { left: self.lies },
            Step::Down { left } if at_rest && left <= seconds => Step::Turn,
            Step::Down { left } if at_rest => Step::Down { left: left - seconds },
            Step::Turn => {
                self.ragdoll = None;
                Step::Rise(0.0)
            }
            Step::Rise(elapsed) if elapsed + seconds >= RISE => Step::Over,
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
