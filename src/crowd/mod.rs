//! Rank 6: instances, gates and the schedule of the phases.
//!
//! A [`Crowd`] is made of kinds of character and a seed, and ticked once a frame. A tick goes
//! through the phases of a frame in order: who is in view, who evaluates and with which palette
//! slot, clocks and task lists, poses into palettes, root motion, instance records. What a frame
//! draws is then borrowed from the crowd as plain slices ([`Crowd::draw`]).
//!
//! A character that nobody sees holds its columns ([`Crowd::BYTES_PER_CHARACTER`]) and costs a
//! test against the frusta. One that comes into view is leased a palette slot, which it keeps
//! until nobody has seen it for the grace time; its clocks then catch up in one step, and it is
//! always evaluated on the frame it appears. A distant one is evaluated every few frames
//! ([`Gates`]) and drawn as it was in between; the time that it skipped is its next step. Whoever
//! is to go on out of sight has another [`UpdateMode`].

mod budget;
mod census;
mod characters;
mod color;
pub mod config;
mod crew;
mod cull;
pub mod decisions;
pub mod draw;
mod drawn;
mod driver;
mod error;
mod evaluate;
mod feet;
pub mod follow;
mod gate;
mod gather;
mod graph;
mod hash;
mod hold;
mod kind;
mod layout;
mod leases;
mod lend;
mod live;
mod measure;
pub mod notify;
pub mod observe;
mod pick;
mod playback;
mod ragdoll;
mod random;
mod rate;
mod record;
mod reload;
pub mod replay;
mod ride;
pub mod sequence;
mod serial;
mod slots;
pub mod spawn;
mod stand_in;
pub mod stats;
#[cfg(test)]
mod testing;
mod tint;
mod update_mode;
pub mod watch;
mod world;

pub use budget::BudgetStats;
pub use color::{ColorBy, ColorKey, HEAT, color_tint};
pub use config::{ClipInfo, CrowdConfig, CrowdKind, Playing, RootMotion};
pub use decisions::{Decisions, FallStep, Idle, SlotKind};
pub use draw::{CrowdDraw, DrawGroup, InstanceRecord, Page};
pub use error::{Bytes, CrowdError};
pub use follow::{Beside, FollowError, Followers};
pub use layout::Layout;
pub use notify::{NotifyCounts, NotifyEvent, NotifyLog, NotifySink};
pub use observe::{CharacterFrame, LayerLook};
pub use ragdoll::Fallen;
pub use rate::Gates;
pub use replay::{
    FrameReader, ListContext, RecordedGraph, RecordedKind, ReplayError, ReplayHeader, ReplayReader,
    ReplayWriter,
};
pub use spawn::{CharacterHandle, PopulationStats, Spawning};
pub use stats::TickStats;
pub use update_mode::UpdateMode;
pub use watch::{CharacterCapture, Divergence, Validation, Watch};

use crate::index::{CharacterId, CharacterKind};
use crate::math::{Frustum, View};
use crate::motion::NotifyNames;
use crate::pose::Rig;
use crate::profile::PhaseTimes;
use crate::task::WorkerOptions;
use budget::Budget;
use characters::Characters;
use cull::Frusta;
use glam::{Mat4, Vec2, Vec3};
use kind::Kind;
use layout::{Cast, Plan};
use lend::Lender;
use notify::Notifies;
use ragdoll::{Falls, Wishes};
use ride::Ride;
use slots::Slots;
use spawn::Population;
use std::sync::Arc;
use world::{Step, World};

/// Thousands of characters and the workers that animate them.
#[derive(Debug)]
pub struct Crowd {
    world: World,
    workers: Lender<World, Step, TickStats>,
    half_extent: Vec2,
    largest_radius: f32,
}

/// What a tick is told.
#[derive(Clone, Copy, Debug)]
pub struct TickInput<'a> {
    /// World seconds since the last tick; zero when paused, negative to go back. Not-a-number is
    /// zero.
    pub dt: f64,
    /// The time was played. False for a jump: clocks and roots move on, notifies are not fired.
    pub played: bool,
    /// The camera.
    pub view: &'a View,
    /// The shadow map's projection, when there is one.
    pub shadow_clip_from_world: Option<Mat4>,
    /// Hash the palettes ([`TickStats::palette_hash`]). Reads all that was written, outside of the
    /// phases' times.
    pub palette_hash: bool,
}

/// Bytes that a crowd takes, before it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryEstimate {
    /// The characters' own columns.
    pub characters: u64,
    /// What kinds hold for their graphs, whoever is in view.
    pub kinds: u64,
    /// Palettes and instance records with every character in view.
    pub all_visible: u64,
    /// What is sure to be needed: columns and kinds, and what those hold who never rest.
    pub needed: u64,
}

/// Where one character is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CharacterState {
    /// Which kind it is.
    pub kind: CharacterKind,
    /// The point of the ground that it stands on, world metres.
    pub position: Vec3,
    /// Radians about +Y; 0 faces +Z.
    pub heading: f32,
    /// Its size beside others of its kind.
    pub scale: f32,
    /// Centre of its bounding sphere, world metres.
    pub center: Vec3,
    /// Radius of its bounding sphere, metres.
    pub radius: f32,
}

impl Crowd {
    /// Bytes that a character holds which nobody sees.
    pub const BYTES_PER_CHARACTER: usize = Characters::BYTES;

    /// Places a crowd.
    ///
    /// # Errors
    /// [`CrowdError`], with the numbers: no threads, no kinds, a number out of its range, a page
    /// that does not hold one character, or more characters than memory.
    pub fn new(config: CrowdConfig, kinds: Vec<CrowdKind>) -> Result<Self, CrowdError> {
        let not_negative = |what: &str, value: f32| {
            let (what, range) = (what.to_owned(), "finite and not negative");
            let ok = value.is_finite() && value >= 0.0;
            if ok { Ok(()) } else { Err(CrowdError::OutOfRange { what, value, range }) }
        };
        not_negative("the grace time", config.grace)?;
        not_negative("the fade time", config.fade)?;
        config.gates.check()?;
        config.spawning.check()?;
        config.budget_ms.map_or(Ok(()), Budget::check)?;
        let threads = config.threads;
        if threads == 0 {
            return Err(CrowdError::NoThreads);
        }
        let limit = usize::from(u16::MAX);
        if kinds.len() > limit {
            return Err(CrowdError::TooManyKinds { kinds: kinds.len(), limit });
        }
        if config.count > 0 && kinds.iter().all(|k| k.weight.is_nan() || k.weight <= 0.0) {
            return Err(CrowdError::NoKinds { count: config.count });
        }
        let estimate = Self::estimate(&config, &kinds);
        if estimate.needed > config.memory_limit {
            let (count, needed, limit) = (config.count, estimate.needed, config.memory_limit);
            let fits = (u128::from(limit) * u128::from(count) / u128::from(needed)) as u64;
            return Err(CrowdError::DoesNotFit { count, needed, limit, fits });
        }
        let (wanted, places) = spawn::places(&config, &kinds);
        let mut names = NotifyNames::default();
        let kinds: Vec<Kind> = kinds
            .iter()
            .map(|k| {
                let page = config.page_matrices >> u32::from(config.interpolate);
                let mut kind = Kind::new(k, config.fade, page, &mut names)?;
                kind.slot.interpolates = config.interpolate;
                match &k.playing {
                    Playing::Simple => {}
                    Playing::Graph(program) => kind.bind(program, k, &mut names)?,
                    Playing::Recorded(graph) => kind.bind_recorded(graph)?,
                }
                Ok(kind)
            })
            .collect::<Result<_, CrowdError>>()?;
        let bodies = kinds.iter().map(|k| k.body.clone()).collect();
        let plan = Plan::new(config.layout, Cast::new(bodies, places, config.seed));
        let terrain = config.terrain;
        let mut characters = Characters::new(&plan, &kinds, config.seed, config.update_mode);
        let (population, first) = Population::new(config.spawning, wanted, &characters);
        for id in first {
            characters.appear(id, &kinds, &plan.rides, terrain, 0.0);
        }
        let options =
            WorkerOptions { prune: config.prune, steal: config.steal, lanes: config.lanes };
        let palette_limit =
            config.memory_limit.saturating_sub(estimate.characters.saturating_add(estimate.kinds));
        let largest_radius =
            kinds.iter().map(|k| k.radius * layout::SCALE_SPREAD).fold(0.0, f32::max);
        let mut world = World {
            wanted: vec![0; kinds.len()],
            kinds,
            characters,
            population,
            fastest: plan.rides.iter().map(Ride::fastest).fold(0.0, f32::max),
            rides: plan.rides,
            terrain,
            slots: Slots::new(config.page_matrices, palette_limit),
            notifies: Notifies::new(names),
            grace: f64::from(config.grace),
            gates: config.gates,
            budget: config.budget_ms.map(Budget::new),
            falls: Falls::new(Wishes::new(config.ragdolls, config.count, config.seed)),
            ..World::default()
        };
        world.crew = world.crew_of(threads, options);
        let workers = Lender::new(threads, World::step)
            .map_err(|reason| CrowdError::Threads { threads, reason })?;
        Ok(Self { world, workers, half_extent: plan.half_extent, largest_radius })
    }

    /// What a crowd would take.
    pub fn estimate(config: &CrowdConfig, kinds: &[CrowdKind]) -> MemoryEstimate {
        let (wanted, places) = spawn::places(config, kinds);
        let (mut characters, mut all_visible, mut ticking, mut kept) = (0u64, 0u64, 0u64, 0u64);
        let add = |sum: &mut u64, count: u32, bytes: usize| {
            *sum = sum.saturating_add(u64::from(count).saturating_mul(bytes as u64));
        };
        for ((k, wanted), places) in kinds.iter().zip(wanted).zip(places) {
            let slot = Slots::bytes_per_slot(k.rig.palette_len(), config.interpolate)
                + size_of::<InstanceRecord>();
            let (row, poses) = graph::kept_bytes(k);
            add(&mut characters, places, Characters::BYTES + row + config.spawning.list_bytes());
            add(&mut all_visible, wanted, slot.saturating_add(row).saturating_add(poses));
            add(&mut ticking, wanted, Slots::bytes_per_slot(0, false) + row);
            // Each kind and its pages hold a set of poses that slots begin as.
            add(&mut kept, 2, poses);
        }
        let held = match config.update_mode {
            UpdateMode::TickWhenRendered => 0,
            UpdateMode::AlwaysTickPose => all_visible,
            UpdateMode::AlwaysTickClocks => ticking,
        };
        let kinds = kept;
        let needed = characters.saturating_add(kinds).saturating_add(held);
        MemoryEstimate { characters, kinds, all_visible, needed }
    }

    /// One frame: culls, evaluates and gathers. The phases' times are added to `times`.
    pub fn tick(&mut self, input: &TickInput<'_>, times: &PhaseTimes) -> TickStats {
        let step = Step {
            played: input.played,
            dt: if input.dt.is_finite() { input.dt } else { 0.0 },
            frusta: Frusta {
                camera: input.view.frustum(),
                shadow: input.shadow_clip_from_world.map(|m| Frustum::from_clip_from_world(&m)),
            },
            eye: input.view.eye,
            palette_hash: input.palette_hash,
        };
        let stats = self.workers.run(&mut self.world, step);
        times.absorb(&self.world.times);
        stats
    }

    /// What the last tick left to draw.
    pub fn draw(&self) -> CrowdDraw<'_> {
        CrowdDraw {
            instances: &self.world.instances,
            groups: &self.world.groups,
            pages: &self.world.slots.pages,
        }
    }

    /// The worker threads, for whoever has work for several between two ticks. One of them waits
    /// for the next tick and takes part in nothing else; where it is the only one there is nobody.
    pub fn spare_workers(&self) -> Option<&rayon::ThreadPool> {
        Some(self.workers.pool()).filter(|pool| pool.current_num_threads() > 1)
    }

    /// Number of characters that are there.
    pub fn count(&self) -> u32 {
        self.world.population.stats().here
    }

    /// World clock, seconds.
    pub fn now(&self) -> f64 {
        self.world.now
    }

    /// Half the width (x) and depth (z), in metres, of the ground around the origin that the crowd
    /// covers.
    pub fn half_extent(&self) -> Vec2 {
        self.half_extent
    }

    /// The largest character's bounding radius, metres.
    pub fn largest_radius(&self) -> f32 {
        self.largest_radius
    }

    /// Where a character is. `None` for an id that nobody has.
    pub fn character(&self, id: CharacterId) -> Option<CharacterState> {
        let World { characters, kinds, rides, terrain, .. } = &self.world;
        characters.is_present(id).then_some(())?;
        let kind = characters.kinds[id.get()];
        let place = characters.places[id.get()].resolve(rides, &characters.places);
        let (position, heading, scale) = place;
        let ground = terrain.height(position);
        let of = &kinds[kind.get()];
        let stands = || {
            let radius = self.world.falls.reach(id).unwrap_or(of.radius * scale);
            (characters::sphere_center(of, place, ground), radius)
        };
        let (center, radius) = self.world.falls.sphere(id).unwrap_or_else(stands);
        let position = Vec3::new(position.x, ground, position.y);
        Some(CharacterState { kind, position, heading, scale, center, radius })
    }

    /// Everybody who plays one clip after the other goes on to the next one, and everybody who is
    /// driven gets other ideas.
    pub fn next_clip(&mut self) {
        self.world.hurry_drivers();
        let resting = self.world.characters.playback.iter_mut();
        let leased = self.world.slots.all().flat_map(|l| &mut l.playback);
        resting.chain(leased).for_each(playback::Playback::hurry);
    }

    /// The kinds of character, in the order in which they were given.
    pub fn kinds(&self) -> impl Iterator<Item = CharacterKind> + use<> {
        (0..self.world.kinds.len() as u16).map(CharacterKind)
    }

    /// A kind's skeleton and clips.
    pub fn rig(&self, kind: CharacterKind) -> Option<&Arc<Rig>> {
        self.world.kinds.get(kind.get()).map(|kind| &kind.rig)
    }
}
