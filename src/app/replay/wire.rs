//! What a recording's lists take, and what the wire's form of them costs in millimetres: each
//! character that is followed keeps poses of its own in both forms, from frame to frame.

use super::FileReader;
use crate::crowd::{Crowd, FrameReader, ListContext};
use crate::index::CharacterId;
use crate::math::Mat3x4;
use crate::task::serial::{self, ListError, WireScale};
use crate::task::{Context, PoseState, TaskList, Worker, WorkerOptions};
use std::collections::BTreeMap;

/// Lists that are executed in both forms, about.
const MEASURED: u64 = 20_000;
/// Characters that are followed, at most.
const FOLLOWED: u64 = 512;
/// Bytes that their poses may take.
const MEMORY: u64 = 256 << 20;

/// What a kind's lists are executed with.
pub struct Bench<'a> {
    context: ListContext<'a>,
    scale: WireScale,
    /// World millimetres in a model unit.
    millimetres: f64,
    palettes: [Vec<Mat3x4>; 2],
}

impl<'a> Bench<'a> {
    /// For a kind of this size, model units, and so many world metres in one.
    pub fn new(context: ListContext<'a>, size: f32, metres: f32) -> Self {
        let palette = vec![Mat3x4::IDENTITY; context.rig.palette_len()];
        Self {
            scale: WireScale::new(context.rig, size),
            millimetres: f64::from(metres) * 1e3,
            palettes: [palette.clone(), palette],
            context,
        }
    }
}

/// Sums over a recording.
#[derive(Default)]
pub struct Totals {
    /// World seconds.
    pub seconds: f64,
    pub lists: u64,
    pub tasks: u64,
    /// Characters that came and that went.
    pub spawned: u64,
    pub despawned: u64,
    /// Bytes in each form.
    pub exact: u64,
    pub wire: u64,
    /// Lists that were executed in both, and bones in them.
    pub measured: u64,
    pub bones: u64,
    /// Of the distances of all bones, and the largest, millimetres.
    pub squares: f64,
    pub max: f64,
}

/// What one character keeps when it plays the exact form, and the wire's.
type States = [PoseState; 2];

/// Buffers of one list.
#[derive(Default)]
struct Scratch {
    wire: Vec<u8>,
    lists: [TaskList; 2],
}

impl Totals {
    /// Goes through a recording; one bench for each kind.
    ///
    /// # Errors
    /// Of the file and of what is in it.
    pub fn of(
        reader: &mut FileReader,
        crowd: &Crowd,
        benches: &mut [Bench<'_>],
    ) -> anyhow::Result<Self> {
        let mut this = Self::default();
        let mut worker = Worker::new(WorkerOptions::default());
        let (mut frame, mut frames) = (Vec::new(), FrameReader::default());
        let mut scratch = Scratch::default();
        let largest = benches.iter().map(|b| b.context.state_bytes() as u64).max().unwrap_or(0);
        let most = (MEASURED / reader.frames().max(1)).min(FOLLOWED);
        let most = most.min(MEMORY / (2 * largest).max(1)).max(1) as usize;
        let mut followed: BTreeMap<CharacterId, States> = BTreeMap::new();
        while reader.frame(&mut frame)? {
            this.seconds += frames.read(&frame, crowd.capacity())?;
            this.spawned += frames.came().len() as u64;
            this.despawned += frames.gone().len() as u64;
            follow(&mut followed, frames.entered(), most, |id| {
                let context = &benches.get(crowd.kind_of(id)?.get())?.context;
                Some([context.blank_state(), context.blank_state()])
            });
            for (id, bytes) in frames.lists(&frame) {
                let kind = crowd.kind_of(id).and_then(|kind| benches.get_mut(kind.get()));
                let Some(bench) = kind else { continue };
                let states = followed.get_mut(&id);
                this.add(bench, bytes, (&mut worker, &mut scratch), states)?;
            }
        }
        Ok(this)
    }

    fn add(
        &mut self,
        bench: &mut Bench<'_>,
        bytes: &[u8],
        (worker, scratch): (&mut Worker, &mut Scratch),
        states: Option<&mut States>,
    ) -> Result<(), ListError> {
        let Scratch { wire, lists: [exact, rounded] } = scratch;
        serial::decode(bytes, exact)?;
        serial::check(exact, &bench.context.extents)?;
        wire.clear();
        serial::encode_wire(exact, &bench.scale, wire);
        self.lists += 1;
        self.tasks += exact.len() as u64;
        self.exact += bytes.len() as u64;
        self.wire += wire.len() as u64;
        if let Some(states) = states {
            serial::decode_wire(wire, &bench.scale, rounded)?;
            self.compare(worker, bench, [exact, rounded], states);
        }
        Ok(())
    }

    /// Executes a list and what the wire makes of it.
    fn compare(
        &mut self,
        worker: &mut Worker,
        bench: &mut Bench<'_>,
        lists: [&mut TaskList; 2],
        states: &mut States,
    ) {
        let Bench { context: ListContext { rig, masks, .. }, palettes, millimetres, .. } = bench;
        let mut batch = worker.batch();
        for ((list, state), palette) in lists.into_iter().zip(states).zip(palettes.iter_mut()) {
            let mut context = Context { masks, state, capture: None, kept: None };
            let done = batch.execute_with(rig, list, &mut context, palette);
            debug_assert_eq!(done, Ok(()), "palettes are as long as their rig's");
        }
        batch.finish();
        self.measured += 1;
        let [exact, rounded] = palettes;
        for bone in rig.bone_count().bones() {
            let at = |palette: &[Mat3x4]| rig.model_from_bone(palette, bone).map(|m| m.translation);
            if let (Some(a), Some(b)) = (at(exact), at(rounded)) {
                let off = f64::from(a.distance(b)) * *millimetres;
                self.bones += 1;
                self.squares += off * off;
                self.max = self.max.max(off);
            }
        }
    }
}

/// Who has just been given a slot keeps no pose; up to `most` of them are followed from here on.
fn follow(
    followed: &mut BTreeMap<CharacterId, States>,
    entered: &[CharacterId],
    most: usize,
    blank: impl Fn(CharacterId) -> Option<States>,
) {
    for id in entered {
        if let Some(states) = followed.get_mut(id) {
            states.iter_mut().for_each(PoseState::clear);
        }
    }
    let free = most - followed.len();
    let apart = (entered.len() / free.max(1)).max(1);
    for id in entered.iter().step_by(apart).take(free) {
        if let Some(states) = blank(*id) {
            followed.entry(*id).or_insert(states);
        }
    }
}
