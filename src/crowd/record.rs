//! What a chunk's recording is: everybody's list. Those whom a graph just plays on are recorded
//! together; who comes into view, falls, is jumped in time or replayed, and who has no graph, by
//! itself.

use super::characters::{Place, bits, walked};
use super::evaluate::{Evaluation, Run};
use super::feet::ground_patch;
use super::graph::{GraphStep, KindGraph};
use super::kind::Kind;
use super::leases::{Covered, CutWord, SlotWord, WORD};
use super::notify::NotifyEvent;
use super::playback::Playback;
use super::ragdoll::still;
use super::replay::Spool;
use crate::graph::{Instance, VmScratch};
use crate::index::CharacterId;
use crate::math::Mat3x4;
use crate::motion::{Fired, GroundMotion};
use crate::pose::{CutRows, GroundPatch, PaletteView};
use crate::task::TaskList;

/// World seconds for which somebody has to have been seen before it turns about the foot that it
/// stands on. Where that is depends on the pose, and a pose on transitions that whose clocks alone
/// ran begins anew when it is seen: it must not come to be elsewhere for that. Longer than any
/// transition of the built-in graphs.
const SETTLED: f32 = 0.5;

/// Whether a slot's bit is set.
pub(super) fn is(bits: u64, slot: usize) -> bool {
    bits >> (slot % WORD) & 1 == 1
}

/// The slots of some words that are due.
pub(super) fn due(words: &[SlotWord]) -> impl Iterator<Item = (usize, &SlotWord)> {
    let words = words.iter().enumerate();
    words.flat_map(|(w, word)| bits(word.due).map(move |bit| (w * WORD + bit, word)))
}

/// What a worker has for it.
pub(super) struct Tools<'w> {
    pub vm: &'w mut VmScratch,
    pub heard: &'w mut Vec<NotifyEvent>,
    pub spool: &'w mut Spool,
}

/// A chunk under way: what is done about a character whose list was recorded.
struct Chunk<'c, 'e> {
    on: &'c Evaluation<'e>,
    kind: &'c Kind,
    ticking: bool,
    owners: &'c [CharacterId],
    roots: &'c mut [Covered],
    /// Of the last palettes, by slot: where the newest begins that nobody writes to.
    matrices: &'c [Mat3x4],
    /// Which of them are cut, and to which rows.
    cut: &'c [CutWord],
    rows: Option<&'c CutRows>,
    palette_len: usize,
    stride: usize,
    heard: &'c mut Vec<NotifyEvent>,
    spool: &'c mut Spool,
    /// Lists that are whole, and lists that are cut.
    numbers: [u32; 2],
}

/// A slot, its bits, and the world seconds since its last evaluation.
#[derive(Clone, Copy)]
struct Turn<'w> {
    slot: usize,
    word: &'w SlotWord,
    seconds: f32,
}

impl Evaluation<'_> {
    /// Records the lists of all who are due, in their order. Gives how many of those that are to be
    /// executed are whole, and how many are cut.
    pub(super) fn record(
        &self,
        kind: &Kind,
        run: &mut Run<'_>,
        lists: &mut [TaskList],
        tools: Tools<'_>,
    ) -> [u32; 2] {
        let Tools { vm, heard, spool } = tools;
        let mut chunk = Chunk {
            on: self,
            kind,
            ticking: run.ticking,
            owners: run.owners,
            roots: &mut *run.roots,
            matrices: &*run.matrices,
            cut: &*run.cut,
            rows: kind.rig.cut_rows().map(|rows| &**rows),
            palette_len: run.palette_len,
            stride: run.stride,
            heard,
            spool,
            numbers: [0; 2],
        };
        let (words, owners) = (run.words, run.owners);
        if let Some(graph) = &kind.graph {
            let rows = run.rows.chunks_exact_mut(run.row).zip(run.playback.iter_mut()).enumerate();
            let is_due = |slot: usize| is(words[slot / WORD].due, slot);
            let some = rows.filter(|(slot, _)| is_due(*slot)).zip(lists.iter_mut());
            let some = some.filter_map(|((slot, (row, playback)), list)| {
                let word = &words[slot / WORD];
                let goes_on = self.goes_on(word, slot, owners[slot]);
                goes_on.then(|| {
                    let dt = self.now - std::mem::replace(&mut playback.now, self.now);
                    let turn = Turn { slot, word, seconds: dt as f32 };
                    let (row, steering) = graph.begin(row, turn.seconds);
                    (Instance { row, dt: turn.seconds, list }, (turn, steering))
                })
            });
            chunk.record_together(graph, some, vm);
        }
        for ((slot, word), list) in due(words).zip(lists.iter_mut()) {
            if kind.graph.is_none() || !self.goes_on(word, slot, owners[slot]) {
                let row = &mut run.rows[slot * run.row..][..run.row];
                chunk.record_one((slot, word), (row, &mut run.playback[slot]), list, vm);
            }
        }
        chunk.numbers
    }

    /// Whether a graph's character just plays on, and nobody wants to know how long that takes.
    fn goes_on(&self, word: &SlotWord, slot: usize, id: CharacterId) -> bool {
        let apart = word.entered | word.fallen;
        let looked_at = || self.watched.is_some_and(|watcher| watcher.looks_at(id));
        !is(apart, slot) && self.jumped.is_none() && !self.replay.plays() && !looked_at()
    }

    /// The ground where a character will be when this frame is drawn.
    fn ground(&self, kind: &Kind, id: CharacterId, motion: GroundMotion) -> Option<GroundPatch> {
        let Place::Standing { position, heading, scale, .. } = *self.places.get(id.get())? else {
            return None;
        };
        let step = motion.scaled(kind.scale * scale);
        let (position, heading) = walked((position, heading), step);
        Some(ground_patch(kind, self.terrain, (position, heading, scale)))
    }
}

impl<'c> Chunk<'c, '_> {
    /// Records those who just play on.
    fn record_together<'i>(
        &mut self,
        graph: &KindGraph,
        some: impl Iterator<Item = (Instance<'i>, (Turn<'i>, f32))>,
        vm: &mut VmScratch,
    ) {
        graph.bound.evaluate_all(some, vm, |one, (turn, steering), result, fired| {
            debug_assert!(result.is_ok(), "{result:?}");
            fired.iter().for_each(|fired| self.hear(turn.slot, *fired));
            let before = self.before(turn);
            let step = GraphStep { dt: turn.seconds, entered: false, before };
            let motion = result.unwrap_or_default();
            let ground = graph.end(self.kind, &step, steering, motion);
            self.cover(turn, ground);
            self.end(turn, ground, one.list);
        });
    }

    /// Records somebody by itself.
    fn record_one(
        &mut self,
        (slot, word): (usize, &SlotWord),
        (row, playback): (&mut [u32], &mut Playback),
        list: &mut TaskList,
        vm: &mut VmScratch,
    ) {
        let (on, kind) = (self.on, self.kind);
        let entered = is(word.entered, slot);
        let owner = self.owners[slot];
        let _timed = on.watched.and_then(|watcher| watcher.recording(owner));
        let was = playback.now;
        let turn = Turn { slot, word, seconds: (on.now - was) as f32 };
        if let Some(ground) = on.replay.take(owner, list) {
            playback.now = on.now;
            self.cover(turn, ground);
            list.sweep();
            self.count(list);
            return;
        }
        let mut fall = on.fall(word, slot, owner);
        if let Some(fall) = fall.as_deref_mut().filter(|fall| fall.waits()) {
            // Nothing is played that anybody could see.
            playback.now = on.now;
            self.roots[slot] = still(turn.seconds);
            let recorded = fall.record_alone(list);
            debug_assert_eq!(recorded, Ok(()), "a few tasks fit a list");
            if !list.is_staged() {
                self.count(list);
            }
            return;
        }
        let rises = fall.as_ref().is_some_and(|fall| fall.rises());
        match &kind.graph {
            Some(graph) if rises => graph.get_up(row),
            // Where its clips have taken its root meanwhile would be where it gets up.
            None if rises => playback.now = on.now,
            _ => {}
        }
        let before = self.before(turn);
        let mut bring = |until: f64, played: bool| {
            let heard = &mut *self.heard;
            let mut fire = |fired| heard.push(NotifyEvent::new(owner, fired, heard.len()));
            // What was jumped over is not told.
            let fire: Option<&mut dyn FnMut(_)> = if played { Some(&mut fire) } else { None };
            match &kind.graph {
                None => simple(kind, playback, until, entered, fire, list),
                Some(graph) => {
                    let dt = until - std::mem::replace(&mut playback.now, until);
                    let step = GraphStep { dt: dt as f32, entered, before };
                    let recorded = graph.record(kind, row, &step, fire, vm, list);
                    debug_assert!(recorded.is_ok(), "{recorded:?}");
                    recorded.unwrap_or_default()
                }
            }
        };
        let ground = match on.jumped {
            None => bring(on.now, !rises),
            // Whoever skipped frames has not yet played the time before the jump.
            Some(jumped) if !entered && jumped != was => {
                bring(jumped, true).then(bring(on.now, false))
            }
            Some(_) => bring(on.now, false),
        };
        self.cover(turn, ground);
        let Some(fall) = &mut fall else {
            return self.end(turn, ground, list);
        };
        let covered = self.roots[slot];
        if fall.holds() {
            self.roots[slot] = still(turn.seconds);
        }
        self.stand(turn, GroundMotion::IDENTITY, list);
        let recorded = fall.record_on(covered, list);
        debug_assert_eq!(recorded, Ok(()), "a few more tasks fit a list");
        if !list.is_staged() {
            self.count(list);
        }
    }

    /// The palette of somebody's last evaluation; nothing where nobody has seen it for long, for
    /// nobody sees the others' feet slide.
    fn before(&self, Turn { slot, word, .. }: Turn<'_>) -> PaletteView<'c> {
        if self.roots[slot].seen <= SETTLED {
            return PaletteView::default();
        }
        let by_turns = self.stride > self.palette_len;
        let last = usize::from(by_turns && !is(word.second, slot));
        let at = slot * self.stride + last * self.palette_len;
        let matrices = &self.matrices[at..][..self.palette_len];
        match self.rows {
            Some(rows) if is(self.cut[slot / WORD][last], slot) => PaletteView::cut(matrices, rows),
            _ => PaletteView::whole(matrices),
        }
    }

    fn hear(&mut self, slot: usize, fired: Fired) {
        self.heard.push(NotifyEvent::new(self.owners[slot], fired, self.heard.len()));
    }

    fn count(&mut self, list: &TaskList) {
        self.numbers[usize::from(list.cut().is_some())] += 1;
    }

    /// A root has covered some ground.
    fn cover(&mut self, Turn { slot, word, seconds }: Turn<'_>, ground: GroundMotion) {
        let seen = is(word.camera | word.shadow, slot);
        self.roots[slot] = self.roots[slot].next(ground, seconds, seen);
    }

    /// Puts the ground into a list whose feet ask for it.
    fn stand(&self, Turn { slot, .. }: Turn<'_>, ground: GroundMotion, list: &mut TaskList) {
        if let Some(graph) = &self.kind.graph
            && !graph.feet.is_empty()
            && !self.on.terrain.is_flat()
        {
            list.set_ground(self.on.ground(self.kind, self.owners[slot], ground));
        }
    }

    /// What is left to say of a list that was recorded.
    fn end(&mut self, turn: Turn<'_>, ground: GroundMotion, list: &mut TaskList) {
        let Turn { slot, word, .. } = turn;
        let (on, kind, owner) = (self.on, self.kind, self.owners[slot]);
        if self.ticking {
            if on.replay.records() {
                self.spool.push_ticked(owner, ground);
            }
            return;
        }
        self.stand(turn, ground, list);
        if is(word.cut, slot) {
            list.set_cut(kind.low_detail);
        }
        self.count(list);
        if on.replay.records() {
            self.spool.push(owner, ground, list);
        }
    }
}

/// Brings simple playback to the present and records it. Gives the ground that was covered.
fn simple(
    kind: &Kind,
    playback: &mut Playback,
    now: f64,
    entered: bool,
    fire: Option<&mut dyn FnMut(Fired)>,
    list: &mut TaskList,
) -> GroundMotion {
    // What happened out of sight is not told.
    let motion = playback.advance_to(kind, now, fire.filter(|_| !entered));
    list.clear();
    let recorded = playback.record(kind, list);
    debug_assert_eq!(recorded, Ok(()), "a stack of clips fits a list");
    list.sweep();
    // Whoever comes into view goes on from where it was left.
    if entered { GroundMotion::IDENTITY } else { motion }
}
