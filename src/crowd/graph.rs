//! Characters that an animation graph plays.

use super::Crowd;
use super::characters::SlotAddress;
use super::config::{CrowdKind, Playing};
use super::driver::{Driver, Keys};
use super::error::CrowdError;
use super::feet::Feet;
use super::kind::{Kind, numbered};
use super::playback::STACK;
use super::random::Random;
use super::slots::SlotShape;
use super::world::World;
use crate::graph::{
    BoundProgram, ClipBinding, EvaluateError, MachineId, MovingClip, Target, ValidProgram,
    VmScratch,
};
use crate::index::{CharacterId, CharacterKind, ClipId};
use crate::motion::{Fired, GroundMotion, NotifyNames};
use crate::pose::{PaletteView, Rig};
use crate::task::{PoseState, TaskList};
use glam::{Vec2, Vec3Swizzles};
use std::sync::Arc;

/// Metres that a character which a graph moves may stray from where it belongs.
pub(crate) const STRAY: f32 = 1.2;
/// Metres around it that are kept free for that when a crowd is placed: less, because not all go the
/// same way, and a crowd is to be one.
pub(crate) const ROOM: f32 = 0.2;

/// A program bound to a kind, and what drives it.
#[derive(Clone, Debug)]
pub(crate) struct KindGraph {
    pub bound: BoundProgram,
    pub keys: Keys,
    pub feet: Feet,
    /// What any program is told of the kind's clips.
    clips: Vec<ClipBinding>,
}

impl Kind {
    /// The most tasks that one of its lists holds.
    pub fn most_tasks(&self) -> usize {
        // Of simple playback: its samples and their blends.
        self.graph.as_ref().map_or(2 * STACK - 1, |graph| graph.bound.most_tasks())
    }

    /// Lets a program play this kind. Clips whose root moves the character are kept in place beside
    /// their originals.
    pub fn bind(
        &mut self,
        program: &Arc<ValidProgram>,
        of: &CrowdKind,
        names: &mut NotifyNames,
    ) -> Result<(), CrowdError> {
        let moving = self.keep_in_place();
        let mut clips = Vec::with_capacity(self.clips.len());
        for (at, moving) in moving.into_iter().enumerate() {
            let notifies = of.notifies.get(at).map_or(Vec::new(), |of| numbered(of, names));
            let sync_markers = of.sync_markers.get(at).cloned().unwrap_or_default();
            clips.push(ClipBinding { moving, notifies, sync_markers });
        }
        let graph = KindGraph::new(program, &self.name, &self.rig, clips, names)?;
        self.walks_freely(if graph.bound.moves() { ROOM } else { 0.0 });
        self.play(graph);
        Ok(())
    }

    /// Adds a copy without the motion of each clip whose root moves the character, in a rig of the
    /// kind's own. Gives one entry for each clip.
    pub fn keep_in_place(&mut self) -> Vec<Option<MovingClip>> {
        let mut rig = Rig::clone(&self.rig);
        let clips = self.clips.iter().zip(0u16..).map(|(clip, at)| {
            let (root, track) = self.root.zip(clip.root.as_ref())?;
            let pin = |seconds: f32| self.root_lock.pin(root, track.taken(seconds));
            let in_place = rig.add_in_place(ClipId(at), pin)?;
            Some(MovingClip { track: track.clone(), in_place })
        });
        let clips = clips.collect();
        self.rig = Arc::new(rig);
        clips
    }

    /// Nobody is carried by a lane: a graph's characters go where they want, and have `room` metres
    /// more around them than they reach.
    pub fn walks_freely(&mut self, room: f32) {
        self.body.stand_reach += room;
        self.body.gaits.clear();
        self.body.can_stand = true;
    }

    /// Another program for a kind that one plays already; nothing changes yet.
    pub fn rebind(
        &self,
        graph: &KindGraph,
        program: &Arc<ValidProgram>,
        names: &mut NotifyNames,
    ) -> Result<KindGraph, CrowdError> {
        KindGraph::new(program, &self.name, &self.rig, graph.clips.clone(), names)
    }

    /// Has a graph that is bound to this kind play it. Gives the one that did.
    pub fn play(&mut self, graph: KindGraph) -> Option<KindGraph> {
        let interpolates = self.slot.interpolates;
        self.slot = SlotShape { interpolates, ..graph.slot(&self.rig) };
        self.graph.replace(graph)
    }
}

impl KindGraph {
    fn new(
        program: &Arc<ValidProgram>,
        kind: &str,
        rig: &Rig,
        clips: Vec<ClipBinding>,
        names: &mut NotifyNames,
    ) -> Result<Self, CrowdError> {
        let bound = program.bind(Target { rig, clips: &clips, names });
        let bound = bound
            .map_err(|error| CrowdError::Graph { kind: kind.to_owned(), error: Box::new(error) })?;
        let (keys, feet) = (Keys::of(bound.program()), Feet::of(&bound, rig));
        Ok(Self { bound, keys, feet, clips })
    }

    /// What a palette slot of its characters holds where nothing is interpolated.
    pub fn slot(&self, rig: &Rig) -> SlotShape {
        let program = self.bound.program();
        let poses = kept_poses(program.histories(), program.snapshots.len(), rig);
        SlotShape {
            palette_len: rig.palette_len(),
            cut: rig.cut_rows().cloned(),
            row: row_words(self.bound.words()),
            poses: Some(poses),
            interpolates: false,
        }
    }
}

/// Words of a row: a program's control state, and a driver.
const fn row_words(control: usize) -> usize {
    control + Driver::WORDS
}

/// Room for the poses that a character of a graph keeps while it evaluates.
pub(super) fn kept_poses(histories: usize, snapshots: usize, rig: &Rig) -> PoseState {
    // A validated program's counts fit.
    let mut poses = PoseState::new(histories as u16, snapshots as u16);
    poses.reserve(rig);
    poses
}

/// Bytes that a character keeps for its graph: always, and while it evaluates.
pub(super) fn kept_bytes(kind: &CrowdKind) -> (usize, usize) {
    let (row, histories, snapshots) = match &kind.playing {
        Playing::Simple => return (0, 0),
        Playing::Graph(program) => {
            let valid = program.get();
            (row_words(program.most_words()), valid.histories(), valid.snapshots.len())
        }
        Playing::Recorded(graph) => (0, graph.histories.into(), graph.snapshots.into()),
    };
    // Of one, and times as many: what does not fit is not to be tried.
    let of = |histories, snapshots| kept_poses(histories, snapshots, &kind.rig).heap_bytes();
    let poses = histories * of(1, 0) + snapshots * of(0, 1);
    (row * size_of::<u32>(), poses)
}

impl KindGraph {
    /// A row's beginning: its program's, somewhere in its clips, and a driver with a goal.
    pub fn start(&self, row: &mut [u32], mut random: Random) {
        let (control, driver) = row.split_at_mut(self.bound.words());
        let started = self.bound.start(control, random.unit());
        debug_assert_eq!(started, Ok(()), "a row is as long as its program's");
        Driver::start(driver, random);
    }

    /// Who gets up begins anew, and stands for a while. Whom a sequence directs is told by that how to
    /// go on.
    pub fn get_up(&self, row: &mut [u32]) {
        const STANDS: f32 = 1.0;
        let (control, driver) = row.split_at_mut(self.bound.words());
        if Driver::is_directed(driver) {
            return;
        }
        Driver::stand(driver, STANDS);
        let started = self.bound.start(control, Driver::lot(driver));
        debug_assert_eq!(started, Ok(()), "a row is as long as its program's");
    }

    /// Brings a row to the present and records what it shows. Gives the ground that was covered,
    /// model units about the kind's pivot. Who comes into view catches up with the time that
    /// nobody saw: it has not moved meanwhile, and only spans of notifies end that were open.
    pub fn record(
        &self,
        kind: &Kind,
        row: &mut [u32],
        step: &GraphStep<'_>,
        mut fire: Option<&mut dyn FnMut(Fired)>,
        vm: &mut VmScratch,
        list: &mut TaskList,
    ) -> Result<GroundMotion, EvaluateError> {
        let (control, steering) = self.begin(row, step.dt);
        let mut tell = |vm: &VmScratch| {
            if let Some(fire) = &mut fire {
                vm.fired().iter().for_each(|fired| fire(*fired));
            }
        };
        if step.entered {
            self.bound.catch_up(control, step.dt, vm, list)?;
            tell(vm);
        }
        let dt = if step.entered { 0.0 } else { step.dt };
        let motion = self.bound.evaluate(control, dt, vm, list)?;
        tell(vm);
        Ok(if step.entered {
            GroundMotion::IDENTITY
        } else {
            self.end(kind, step, steering, motion)
        })
    }

    /// A row's control state as it is to be evaluated after so many seconds, and how fast its
    /// driver turns it meanwhile, radians a second.
    pub fn begin<'r>(&self, row: &'r mut [u32], seconds: f32) -> (&'r mut [u32], f32) {
        let (control, driver) = row.split_at_mut(self.bound.words());
        let steering = Driver::wait(driver, seconds);
        (control, steering)
    }

    /// The ground that was covered about the kind's pivot, when an evaluation has given its motion.
    pub fn end(
        &self,
        kind: &Kind,
        step: &GraphStep<'_>,
        steering: f32,
        motion: GroundMotion,
    ) -> GroundMotion {
        let motion = motion.about(kind.pivot.xz());
        // Nobody turns on the spot by wanting to.
        if steering == 0.0 || motion.translation() == Vec2::ZERO {
            return motion;
        }
        self.feet.turned(motion, steering * step.dt, kind, step.before)
    }
}

impl KindGraph {
    /// Spans of notifies that are open in a row end.
    pub fn stop(&self, row: &mut [u32], fire: impl FnMut(Fired)) {
        let stopped = self.bound.stop(&mut row[..self.bound.words()], fire);
        debug_assert_eq!(stopped, Ok(()), "a row is as long as its program's");
    }

    /// A sequence takes a row's blackboard from its driver, or gives it back.
    pub fn direct(&self, row: &mut [u32], directed: bool) {
        Driver::direct(&mut row[self.bound.words()..], directed);
    }

    /// Writes a key of a row's blackboard, if the program has it: another one may have taken the
    /// place of that which a sequence was made for.
    pub fn set(&self, row: &mut [u32], key: &str, value: f32) {
        if let Some(key) = self.bound.program().key(key) {
            self.bound.set_key(row, key, value);
        }
    }
}

impl World {
    /// Every driver chooses anew the next time that it is asked.
    pub fn hurry_drivers(&mut self) {
        let Self { kinds, characters, slots, .. } = self;
        let words = |kind: CharacterKind| Some(kinds[kind.get()].graph.as_ref()?.bound.words());
        for (id, kind) in characters.kinds.iter().enumerate() {
            if let Some(words) = words(*kind) {
                Driver::hurry(&mut characters.rows.of_mut(id)[words..]);
            }
        }
        for leases in slots.all() {
            let Some(words) = words(leases.kind) else { continue };
            leases.rows.chunks_mut(leases.row).for_each(|row| Driver::hurry(&mut row[words..]));
        }
    }
}

impl Crowd {
    /// The program that plays a kind, bound to its rig; `None` for one that no graph plays.
    pub fn program(&self, kind: CharacterKind) -> Option<&BoundProgram> {
        let kind = self.world.kinds.get(kind.get())?;
        kind.graph.as_ref().map(|graph| &graph.bound)
    }

    /// The current state of a machine of a character's graph; `None` for a character without a
    /// graph, and for one or a machine that there is not.
    pub fn state(&self, id: CharacterId, machine: MachineId) -> Option<&str> {
        let World { characters, kinds, slots, .. } = &self.world;
        characters.is_present(id).then_some(())?;
        let graph = kinds[characters.kinds.get(id.get())?.get()].graph.as_ref()?;
        let row = match characters.slots[id.get()] {
            SlotAddress::NONE => characters.rows.of(id.get()),
            at => slots.row(at),
        };
        let state = graph.bound.state(row.get(..graph.bound.words())?, machine)?;
        let states = &graph.bound.program().machines[machine.get()].states;
        states.get(state.get()).map(|state| state.name.as_str())
    }
}

/// The rows of characters that a graph plays, one after the other; those that hold a palette slot
/// have left a stale copy here.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    words: Vec<u32>,
    /// Where each character's begins, and where the last one's ends. Empty without graphs.
    begins: Vec<u32>,
}

impl Rows {
    /// A row of zeros for every place of these kinds.
    pub fn new(kinds: &[Kind], of: &[CharacterKind]) -> Self {
        let mut this = Self::default();
        if kinds.iter().all(|kind| kind.graph.is_none()) {
            return this;
        }
        let length = |kind: &CharacterKind| kinds[kind.get()].slot.row;
        this.words = vec![0; of.iter().map(length).sum()];
        this.begins.reserve(of.len() + 1);
        let mut end = 0;
        for kind in of {
            this.begins.push(end);
            end += length(kind) as u32;
        }
        this.begins.push(end);
        this
    }

    fn range(&self, id: usize) -> std::ops::Range<usize> {
        match self.begins.get(id..id + 2) {
            Some(&[begin, end]) => begin as usize..end as usize,
            _ => 0..0,
        }
    }

    /// A character's row; empty for one without a graph.
    pub fn of(&self, id: usize) -> &[u32] {
        &self.words[self.range(id)]
    }

    /// A character's row, to be written.
    pub fn of_mut(&mut self, id: usize) -> &mut [u32] {
        let range = self.range(id);
        &mut self.words[range]
    }

    /// Gives the rows of the characters that are `of` another length; `pass_on` gets an id, its old
    /// row and its new one, which is zero.
    pub fn reshape(
        &mut self,
        of: impl Fn(usize) -> bool,
        length: usize,
        mut pass_on: impl FnMut(usize, &mut [u32], &mut [u32]),
    ) {
        let count = self.begins.len().saturating_sub(1);
        let length_of = |id| if of(id) { length } else { self.range(id).len() };
        let mut words = vec![0; (0..count).map(length_of).sum()];
        let mut begins = Vec::with_capacity(self.begins.len());
        let mut rest = &mut words[..];
        let mut end = 0;
        for id in 0..count {
            begins.push(end);
            let old = self.range(id);
            let length = if of(id) { length } else { old.len() };
            end += length as u32;
            let (new, after) = rest.split_at_mut(length);
            rest = after;
            let old = &mut self.words[old];
            if of(id) { pass_on(id, old, new) } else { new.copy_from_slice(old) }
        }
        begins.push(end);
        (self.words, self.begins) = (words, begins);
    }

    /// Bytes that all of them take.
    pub fn heap_bytes(&self) -> u64 {
        size_of_val(&self.words[..]) as u64 + size_of_val(&self.begins[..]) as u64
    }
}

/// What a row is evaluated for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GraphStep<'a> {
    /// World seconds since its last evaluation.
    pub dt: f32,
    /// It comes into view.
    pub entered: bool,
    /// The palette of its last evaluation; empty where nobody has seen it for long.
    pub before: PaletteView<'a>,
}
