//! The crowd's state and one frame of it, phase by phase.

use super::budget::Budget;
use super::census::Census;
use super::characters::Characters;
use super::color::Colors;
use super::crew::{Crew, CrewStats};
use super::cull::{Cull, Frusta};
use super::draw::{DrawGroup, InstanceRecord};
use super::evaluate::Evaluation;
use super::follow::{Copying, Following};
use super::gate;
use super::gather::{self, Gather};
use super::hash;
use super::hold::Holds;
use super::kind::Kind;
use super::notify::Notifies;
use super::ragdoll::{FallCounts, Falls, Simulation, Surface};
use super::rate::{Distances, Gates, Turn};
use super::replay::Replay;
use super::ride::Ride;
use super::sequence::{OnStage, Sequences};
use super::serial::Serial;
use super::slots::Slots;
use super::spawn::Population;
use super::stand_in::{self, StandIn};
use super::stats::TickStats;
use super::watch::Watcher;
use crate::motion::Terrain;
use crate::profile::{Phase, PhaseTimes};
use glam::Vec3;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

/// All that a frame reads and writes; lent to the workers for the length of a tick.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub kinds: Vec<Kind>,
    pub characters: Characters,
    pub rides: Vec<Ride>,
    pub terrain: Terrain,
    /// Metres a second of anybody on any lane, at most.
    pub fastest: f32,
    pub slots: Slots,
    pub crew: Crew,
    pub instances: Vec<InstanceRecord>,
    pub groups: Vec<DrawGroup>,
    /// World clock, seconds.
    pub now: f64,
    /// Seconds that a character goes on evaluating after it was last seen.
    pub grace: f64,
    pub gates: Gates,
    pub budget: Option<Budget>,
    pub census: Census,
    pub notifies: Notifies,
    pub replay: Replay,
    /// This frame's.
    pub times: PhaseTimes,
    /// Chained over the frames that asked for it.
    pub hash: u64,
    /// Scratch of the hash: one per character once anybody asked.
    pub hashes: Vec<AtomicU64>,
    /// Scratch of the gate: one per kind.
    pub wanted: Vec<usize>,
    pub watcher: Watcher,
    pub sequences: Sequences,
    pub population: Population,
    pub following: Following,
    pub falls: Falls,
    /// Parameters that somebody holds.
    pub holds: Holds,
    /// Somebody shows an earlier frame of itself.
    pub stand_in: Option<StandIn>,
    /// Palettes that this tick has put back.
    pub put_back: Option<(u32, Vec<Range<u32>>)>,
    /// What characters are coloured by, while somebody asks.
    pub colors: Option<Colors>,
}

#[derive(Debug)]
/// One frame's input in a form that can be sent to the workers.
pub(crate) struct Step {
    pub dt: f64,
    /// `dt` was played, not jumped over.
    pub played: bool,
    pub frusta: Frusta,
    pub eye: Vec3,
    pub palette_hash: bool,
}

impl World {
    /// One frame, from culling to instance records.
    pub fn step(&mut self, step: Step) -> TickStats {
        self.times.clear();
        self.colors.iter_mut().for_each(Colors::begin);
        let recorded = self.replay.plays().then(|| self.replay.time());
        let (dt, played) = recorded.unwrap_or((step.dt, step.played));
        self.put_back();
        self.turnover().step(dt, played);
        if !self.holds.is_empty() {
            self.holds.write(&mut self.characters, &mut self.slots, &self.kinds);
        }
        let Self { kinds, characters, rides, slots, crew, times, watcher, .. } = self;
        let before = self.now;
        let frame = watcher.ticks() as u32;
        self.now += dt;
        rides.iter_mut().for_each(|ride| ride.advance(dt));

        times.time(Phase::Cull, || {
            let moved = self.fastest * dt.abs() as f32;
            let budget = self.budget.as_ref();
            let gates = budget.map_or(self.gates, |budget| budget.gates(&self.gates));
            let distances = Distances::new(&gates, step.eye, self.terrain.max_height());
            let census = budget.map(|_| &self.census);
            let frusta = &step.frusta;
            Cull { kinds, rides, frusta, distances, census, moved, times }.run(characters);
        });
        let changes = times.time(Phase::Gate, || {
            self.following.settle(characters.kinds.len());
            self.following.look(&characters.blocks, times);
            self.sequences.forced.hurry(&mut characters.blocks);
            let lift = self.terrain.max_height();
            let recorded = self.replay.records() || self.replay.plays();
            if !recorded && !self.falls.is_idle() {
                self.falls.begin(dt as f32, played, (characters, slots, kinds), lift);
            }
            // What time jumps over is nobody's to skip.
            let turn = Turn { frame: u64::from(frame), all: !played };
            let clock = gate::Clock { now: self.now, grace: self.grace, turn };
            let (replay, following) = (&self.replay, &self.following);
            let rules = gate::Rules { clock, replay, following, times };
            let changes = gate::gate(characters, slots, kinds, &mut self.wanted, rules);
            if !self.falls.is_empty() {
                self.falls.mark(characters, slots, kinds, lift);
            }
            changes
        });
        let watched = watcher.prepare(characters, slots, self.now);
        let (evaluated, ticked) = times.time_interleaved([Phase::Record, Phase::Execute], || {
            let (replay, terrain, now) = (&self.replay, self.terrain, self.now);
            let places = &characters.places;
            let jumped = (!played).then_some(before);
            let (falls, colors) = (&self.falls, self.colors.as_ref());
            let evaluation = Evaluation {
                kinds,
                crew,
                now,
                jumped,
                places,
                terrain,
                replay,
                falls,
                times,
                watched,
                colors,
            };
            evaluation.run(slots)
        });
        let surface = Surface { kinds, rides, terrain: self.terrain };
        // What time jumps over nobody falls in; it has ended all falls.
        let seconds = if played { dt as f32 } else { 0.0 };
        if !self.falls.is_empty() {
            times.time_interleaved([Phase::Physics, Phase::Execute], || {
                Simulation { surface, crew, watched, times, seconds }.run(&mut self.falls);
                self.falls.land(characters, slots, &surface);
            });
        }
        watcher.finish();
        let following = &self.following;
        let mut followed = 0;
        if !following.is_empty() {
            followed = times.time(Phase::Follow, || {
                Copying { kinds, crew, characters, following, times }.run(slots)
            });
        }
        if let Some(budget) = &mut self.budget {
            let spent = [Phase::Record, Phase::Execute].map(|phase| times.main_ns(phase));
            let ms = spent.iter().sum::<u64>() as f32 * 1e-6;
            budget.learn(ms, evaluated, &self.census.take(), &self.gates);
        }
        let mut sequence_ns = 0;
        let notifies = times.time(Phase::Serial, || {
            times.worker(Phase::Serial, || {
                let (falls, terrain) = (&self.falls, self.terrain);
                let serial = Serial { kinds, rides, terrain, falls, eye: step.eye };
                serial.run(characters, slots);
                if !self.replay.plays() {
                    let (now, eye) = (self.now, step.eye);
                    let stage = OnStage { characters, slots, kinds, rides, following, now, eye };
                    sequence_ns = self.sequences.step(dt, stage);
                }
                if self.replay.records() {
                    self.replay.assemble((dt, played), characters, crew.spools());
                }
                self.notifies.dispatch(crew.heard())
            })
        });
        self.replay.done();
        let mut falls = FallCounts::default();
        if !self.falls.is_empty() {
            falls = self.falls.next(seconds, (characters, slots), &surface);
        }
        self.falls.spread(characters, following, &surface);
        times.time(Phase::Gather, || {
            let (terrain, colors) = (self.terrain, self.colors.as_ref());
            let gather =
                Gather { characters, following, kinds, rides, terrain, frame, times, colors };
            gather.run(slots, &mut self.instances, &mut self.groups);
            gather::mark_dirty(slots);
        });
        if let Some(put_back) = self.put_back.take() {
            stand_in::touch(slots, put_back);
        }
        let hash_start = Instant::now();
        let palette_hash = step.palette_hash.then(|| {
            self.hashes.resize_with(characters.kinds.len(), AtomicU64::default);
            self.hash = {
                let following = (&characters.masks[..], &characters.slots[..]);
                hash::chain(self.hash, &characters.blocks, slots, following, &self.hashes)
            };
            self.hash
        });
        let hash_ns = palette_hash.map_or(0, |_| hash_start.elapsed().as_nanos() as u64);

        let CrewStats { tasks, pose_bytes, cut } = crew.take_stats();
        let [spawned, despawned] = self.population.take_changes();
        if spawned + despawned > 0 {
            characters.blocks.iter_mut().for_each(|block| (block.came, block.gone) = (0, 0));
        }
        TickStats {
            count: self.population.stats().here,
            spawned,
            despawned,
            visible: changes.visible,
            in_camera: changes.in_camera,
            evaluated,
            ticked,
            by_rate: changes.by_rate,
            skipped: (slots.used() as u32).saturating_sub(evaluated + changes.following),
            followers: self.following.settled,
            followed,
            longest_gap: changes.longest_gap.0,
            waited_longest: changes.longest_gap.1,
            lod_cut: cut,
            notifies,
            forced: self.sequences.forced.iter().len() as u32,
            fallen: falls.down,
            bodies_moving: falls.moving,
            risen: falls.risen,
            sequence_ns,
            budget: self.budget.as_ref().map(Budget::stats),
            entered: changes.entered,
            left: changes.left,
            waiting: changes.waiting,
            leased: slots.used() as u32,
            pages: slots.pages.len() as u32,
            tasks,
            pose_pool_bytes: pose_bytes,
            palette_bytes: slots.palette_bytes(),
            character_bytes: (characters.kinds.len() * Characters::BYTES) as u64
                + characters.rows.heap_bytes()
                + self.population.heap_bytes()
                + self.following.heap_bytes(),
            palette_hash,
            hash_ns,
        }
    }
}
