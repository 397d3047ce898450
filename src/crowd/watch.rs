//! A closer look at what the executor does with some lists, while it does it. Nothing of it changes
//! a bit of any palette; without a watch a frame pays a test or two for each list.

use super::Crowd;
use super::characters::{Characters, bits};
use super::error::CrowdError;
use super::kind::Kind;
use super::leases::WORD;
use super::slots::Slots;
use super::spawn::CharacterHandle;
use crate::index::{CharacterId, CharacterKind};
use crate::pose::PaletteView;
use crate::task::validate::{Validator, Verdict};
use crate::task::{Capture, NamedCapture, TaskList};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What is looked at; see [`Crowd::watch`](super::Crowd::watch).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// The list of this character is captured whenever it is evaluated. When it has gone, the last
    /// capture stays; whoever has its id next is not looked at.
    pub character: Option<CharacterHandle>,
    /// So is that of the lowest id of each kind that is evaluated.
    pub one_of_each_kind: bool,
    /// Recipes of a single clip are evaluated a second time, the direct way. Slow.
    pub validate: bool,
}

/// A character's list as the executor ran it.
#[derive(Clone, Copy, Debug)]
pub struct CharacterCapture<'a> {
    /// Whose.
    pub id: CharacterId,
    /// The name of its kind.
    pub kind: &'a str,
    /// Ticks before the one in which it ran.
    pub frame: u64,
    /// World clock of that tick, seconds.
    pub seconds: f64,
    /// What ran, with the names of the kind's clips and bones.
    pub list: NamedCapture<'a>,
}

/// What evaluating recipes of a single clip a second time showed, since the crowd was made.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Validation {
    /// Characters whose recipe was a single clip, each in each frame.
    pub checked: u64,
    /// Those with another recipe, which is not validated.
    pub skipped: u64,
    /// Palettes further from the direct evaluation than [`Divergence::allowed_mm`].
    pub diverged: u64,
    /// The largest distance of all that were checked, world millimetres.
    pub worst_mm: f64,
    /// The first that diverged, by frame and character; at most [`Validation::EXAMPLES`].
    pub examples: Vec<Divergence>,
}

impl Validation {
    /// How many divergences are described.
    pub const EXAMPLES: usize = 10;

    fn add(&mut self, other: Self) {
        self.checked += other.checked;
        self.skipped += other.skipped;
        self.diverged += other.diverged;
        self.worst_mm = self.worst_mm.max(other.worst_mm);
        if !other.examples.is_empty() {
            self.examples.extend(other.examples);
            self.examples.sort_by_key(|d| (d.frame, d.character));
            self.examples.truncate(Self::EXAMPLES);
        }
    }
}

/// One palette that is not what the clip gives.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Divergence {
    /// Whose.
    pub character: CharacterId,
    /// The name of its kind.
    pub kind: String,
    /// Ticks before the one in which it was seen.
    pub frame: u64,
    /// The recipe's clip.
    pub clip: String,
    /// Seconds inside the clip.
    pub seconds: f32,
    /// The bone that is furthest away.
    pub bone: String,
    /// How far its joint, or a point a tenth of a metre from it, is away: world millimetres.
    pub millimetres: f64,
    /// How far it may be.
    pub allowed_mm: f64,
}

impl std::fmt::Display for Divergence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { character, kind, frame, clip, seconds, bone, millimetres, allowed_mm } = self;
        write!(
            f,
            "character {character} ({kind:?}), frame {frame}: bone {bone:?} of clip {clip:?} at \
             {seconds} s is {millimetres:.4} mm from where the direct evaluation has it; \
             {allowed_mm:.4} mm are rounding"
        )
    }
}

/// Metres from a joint at which a wrong turn is measured.
const NEAR: f64 = 0.1;
/// Rounding that is allowed, as a part of a kind's bounding radius: some thirty bones of single
/// precision, with a margin of ten.
const ROUNDING: f64 = 1e-4;

/// One character that is looked at.
#[derive(Debug)]
struct Look {
    who: CharacterHandle,
    kind: CharacterKind,
    frame: u64,
    seconds: f64,
    /// The one whole capture; the worker fills the other one.
    capture: Capture,
    filling: Mutex<Capture>,
    /// Nanoseconds that recording the list took.
    record_ns: AtomicU64,
}

/// A list that is being recorded: counts from when it is made to when it is dropped.
pub(crate) struct Recording<'a> {
    look: &'a Look,
    start: Instant,
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        self.look.record_ns.store(self.start.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }
}

/// The crowd's own watch.
#[derive(Debug, Default)]
pub(crate) struct Watcher {
    watch: Watch,
    /// One more character whose list is captured.
    also: Option<CharacterHandle>,
    /// Ticks that are over.
    ticks: u64,
    looks: Vec<Look>,
    found: Mutex<Validation>,
    total: Validation,
}

impl Watcher {
    /// Changes what is looked at, from the next tick on.
    pub fn set(&mut self, watch: Watch) {
        self.watch = watch;
    }

    /// Drops what was captured.
    pub fn forget(&mut self) {
        self.looks.clear();
    }

    /// Decides who is looked at in this tick. `None` when there is nothing to look at.
    pub fn prepare(
        &mut self,
        characters: &Characters,
        slots: &Slots,
        seconds: f64,
    ) -> Option<&Self> {
        let Watch { character, one_of_each_kind, validate } = self.watch;
        let named = [character, self.also];
        self.looks.retain(|look| named.contains(&Some(look.who)));
        let due = |who: &CharacterHandle| is_due(*who, characters, slots);
        for who in named.into_iter().flatten().filter(due) {
            self.look_at(who, characters.kinds[who.id.get()], seconds);
        }
        if one_of_each_kind {
            for (kind, id) in first_of_each_kind(slots) {
                let generation = characters.generations[id.get()];
                self.look_at(CharacterHandle { id, generation }, kind, seconds);
            }
        }
        let looking = self.looks.iter().any(|look| look.frame == self.ticks);
        (looking || validate).then_some(self)
    }

    fn look_at(&mut self, who: CharacterHandle, kind: CharacterKind, seconds: f64) {
        let known = self.looks.iter().position(|look| look.who == who);
        let at = known.unwrap_or_else(|| {
            let (capture, filling, record_ns) = Default::default();
            self.looks.push(Look { who, kind, frame: 0, seconds, capture, filling, record_ns });
            self.looks.len() - 1
        });
        (self.looks[at].frame, self.looks[at].seconds) = (self.ticks, seconds);
    }

    /// Where the executor is to note what it does with a character's list.
    pub fn capture(&self, id: CharacterId) -> Option<MutexGuard<'_, Capture>> {
        let look = self.looks.iter().find(|look| look.who.id == id && look.frame == self.ticks)?;
        Some(look.filling.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Times the recording of a character's list, if that is looked at.
    pub fn recording(&self, id: CharacterId) -> Option<Recording<'_>> {
        Some(Recording { look: self.look_of(id)?, start: Instant::now() })
    }

    /// Whether a character's list is looked at, so that it has to be recorded by itself.
    pub fn looks_at(&self, id: CharacterId) -> bool {
        self.look_of(id).is_some()
    }

    fn look_of(&self, id: CharacterId) -> Option<&Look> {
        self.looks.iter().find(|look| look.who.id == id && look.frame == self.ticks)
    }

    /// What the executor did with a character's list in the last tick, and how long recording it
    /// took, nanoseconds. `None` for one that is not looked at or was not evaluated.
    pub fn seen(&self, who: CharacterHandle) -> Option<(&Capture, u64)> {
        let of = |look: &&Look| look.who == who && look.frame + 1 == self.ticks;
        let look = self.looks.iter().find(of)?;
        Some((&look.capture, look.record_ns.load(Ordering::Relaxed)))
    }

    /// Whether recipes are to be evaluated a second time.
    pub fn validates(&self) -> bool {
        self.watch.validate
    }

    /// Holds lists of one kind that were executed against the direct evaluation.
    pub fn validate<'a>(
        &self,
        kind: &Kind,
        validator: &mut Validator,
        executed: impl Iterator<Item = (CharacterId, &'a TaskList, PaletteView<'a>)>,
    ) {
        let scale = f64::from(kind.scale);
        let allowed_mm = ROUNDING * f64::from(kind.radius) * 1e3;
        let mut found = Validation::default();
        for (character, list, palette) in executed {
            let verdict = validator.check(&kind.rig, list, &palette.to_whole(), NEAR / scale);
            let Verdict::Compared { clip, seconds, furthest } = verdict else {
                found.skipped += 1;
                continue;
            };
            found.checked += 1;
            let millimetres = furthest.distance * scale * 1e3;
            found.worst_mm = found.worst_mm.max(millimetres);
            if millimetres <= allowed_mm {
                continue;
            }
            found.diverged += 1;
            if found.examples.len() < Validation::EXAMPLES {
                let bone = kind.rig.skeleton().names().get(furthest.bone.get());
                found.examples.push(Divergence {
                    character,
                    kind: kind.name.clone(),
                    frame: self.ticks,
                    clip: kind.rig.clip(clip).map_or_else(String::new, |c| c.name().to_owned()),
                    seconds,
                    bone: bone.cloned().unwrap_or_default(),
                    millimetres,
                    allowed_mm,
                });
            }
        }
        self.found.lock().unwrap_or_else(PoisonError::into_inner).add(found);
    }

    /// The tick is over: what was seen becomes what is known.
    pub fn finish(&mut self) {
        for look in self.looks.iter_mut().filter(|look| look.frame == self.ticks) {
            let filled = look.filling.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut look.capture, filled);
        }
        let found = self.found.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.total.add(std::mem::take(found));
        self.ticks += 1;
    }

    /// The last capture of everybody who is looked at.
    pub fn captures<'a>(&'a self, kinds: &'a [Kind]) -> impl Iterator<Item = CharacterCapture<'a>> {
        self.looks.iter().map(|look| {
            let kind = &kinds[look.kind.get()];
            let Look { who: CharacterHandle { id, .. }, frame, seconds, .. } = *look;
            let list = look.capture.named(kind.names());
            CharacterCapture { id, kind: &kind.name, frame, seconds, list }
        })
    }

    /// Ticks that are over.
    pub fn ticks(&self) -> u64 {
        self.ticks
    }

    /// What the second evaluations showed so far.
    pub fn validation(&self) -> &Validation {
        &self.total
    }
}

impl Crowd {
    /// Looks closer at some characters' lists from the next tick on; see [`Watch`].
    ///
    /// # Errors
    /// [`CrowdError::Gone`] for a character that has gone, [`CrowdError::NoCharacter`] for an id
    /// that the crowd never has. The watch is as it was.
    pub fn watch(&mut self, watch: Watch) -> Result<(), CrowdError> {
        watch.character.map_or(Ok(()), |who| self.world.resolve(who).map(|_| ()))?;
        self.world.watcher.set(watch);
        Ok(())
    }

    /// Looks closer at one more character's list, whatever else is looked at, and times how long it
    /// takes to record; or no longer. [`Crowd::observe`] tells.
    ///
    /// # Errors
    /// As [`Crowd::watch`].
    pub fn watch_also(&mut self, who: Option<CharacterHandle>) -> Result<(), CrowdError> {
        who.map_or(Ok(()), |who| self.world.resolve(who).map(|_| ()))?;
        self.world.watcher.also = who;
        Ok(())
    }

    /// The lists that a [`Watch`] asked for, each as it was executed last; the character that it
    /// names may have been evaluated some ticks ago ([`CharacterCapture::frame`]), or not yet.
    pub fn captures(&self) -> impl Iterator<Item = CharacterCapture<'_>> {
        self.world.watcher.captures(&self.world.kinds)
    }

    /// Ticks so far.
    pub fn ticks(&self) -> u64 {
        self.world.watcher.ticks()
    }

    /// What a [`Watch`] that validates has found so far.
    pub fn validation(&self) -> &Validation {
        self.world.watcher.validation()
    }
}

fn is_due(who: CharacterHandle, characters: &Characters, slots: &Slots) -> bool {
    let CharacterHandle { id, generation } = who;
    if characters.generations.get(id.get()) != Some(&generation) {
        return false;
    }
    let address = characters.slots.get(id.get());
    let leases = address.and_then(|a| slots.leases.get(a.page as usize).zip(Some(a.slot as usize)));
    leases.is_some_and(|(leases, slot)| leases.words[slot / WORD].due >> (slot % WORD) & 1 == 1)
}

/// The lowest id of each kind among those who are evaluated.
fn first_of_each_kind(slots: &Slots) -> Vec<(CharacterKind, CharacterId)> {
    let mut first: Vec<(CharacterKind, CharacterId)> = Vec::new();
    for leases in &slots.leases {
        let due = leases.words.iter().zip(leases.owners.chunks(WORD));
        let due = due.flat_map(|(word, owners)| bits(word.due).map(|bit| owners[bit]));
        let Some(id) = due.min() else { continue };
        match first.iter_mut().find(|(kind, _)| *kind == leases.kind) {
            Some((_, lowest)) => *lowest = id.min(*lowest),
            None => first.push((leases.kind, id)),
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::testing::{CROWD, SKY, crowd, tick};
    use crate::crowd::{CrowdError, Watch};
    use crate::task::tests::{MOVED, Plant};

    fn validated(threads: usize, plant: Plant) -> (Validation, Option<u64>) {
        let mut crowd = crowd(150, threads);
        crowd.watch(Watch { validate: true, ..Watch::default() }).unwrap();
        crowd.world.crew.all().for_each(|s| s.worker.plant = plant);
        let hash = (0..60).map(|_| tick(&mut crowd, CROWD).palette_hash).last().flatten();
        (crowd.validation().clone(), hash)
    }

    #[test]
    fn what_is_right_is_validated_in_silence_and_changes_no_bit() {
        let (found, hash) = validated(2, Plant::None);
        assert_eq!(found.checked + found.skipped, 150 * 60);
        assert!(found.checked > 3_000 && found.skipped > 100, "{found:?}");
        assert_eq!((found.diverged, found.examples.len()), (0, 0), "{found:?}");
        assert!(found.worst_mm > 0.0 && found.worst_mm < 0.1, "{found:?}");
        let mut unwatched = crowd(150, 2);
        let expected = (0..60).map(|_| tick(&mut unwatched, CROWD).palette_hash).last().flatten();
        assert_eq!(hash, expected);
        assert_eq!(*unwatched.validation(), Validation::default());
    }

    #[test]
    fn a_planted_fault_is_reported_with_its_numbers_whatever_the_threads() {
        let (found, _) = validated(1, Plant::MovedBone);
        assert_eq!(found.diverged, found.checked);
        assert_eq!(found.examples.len(), Validation::EXAMPLES);
        // Model units to world millimetres; a bone may be given in centimetres by what is above it.
        let moved = f64::from(MOVED.1) * 1.5 * 1e3;
        for example in &found.examples {
            assert!((0.9 * moved..1.2 * moved).contains(&example.millimetres), "{example:?}");
            assert!(example.millimetres > example.allowed_mm && example.frame == 0);
            assert!(["one", "other"].contains(&example.kind.as_str()));
            assert!(example.bone.starts_with("bone") && example.clip.starts_with("clip"));
        }
        assert!(found.examples.is_sorted_by_key(|e| e.character));
        assert_eq!(validated(4, Plant::MovedBone).0, found);
    }

    #[test]
    fn a_capture_is_what_the_executor_counted_and_waits_while_nobody_looks() {
        let mut crowd = crowd(1, 1);
        let id = CharacterId(0);
        let character = crowd.handle(id);
        crowd.watch(Watch { character, ..Watch::default() }).unwrap();
        tick(&mut crowd, SKY);
        assert_eq!(crowd.captures().count(), 0, "nobody has seen it");
        let mut most = 0;
        for frame in 1..200 {
            let tasks = tick(&mut crowd, CROWD).tasks;
            let world = &crowd.world;
            let seen = crowd.captures().next().unwrap();
            assert_eq!((seen.id, seen.frame, seen.seconds), (id, frame, crowd.now()));
            assert_eq!(seen.kind, world.kinds[world.characters.kinds[0].get()].name);
            let json = serde_json::to_value(seen.list).unwrap();
            for (name, count) in [
                ("recorded", tasks.recorded),
                ("reachable", tasks.reachable),
                ("executed", tasks.executed_total()),
                ("stolen", tasks.stolen),
            ] {
                assert_eq!(json[name], count, "{name} in {json}");
            }
            most = most.max(tasks.recorded);
        }
        assert!(most > 1, "it never changes its clip");
        for _ in 0..20 {
            tick(&mut crowd, SKY);
        }
        let last = crowd.captures().next().unwrap().frame;
        assert!((199..210).contains(&last), "the grace time is over: {last}");
        crowd.watch(Watch::default()).unwrap();
        tick(&mut crowd, CROWD);
        assert_eq!(crowd.captures().count(), 0, "disarmed");
    }

    #[test]
    fn one_of_each_kind_is_the_lowest_id_that_was_evaluated() {
        let mut crowd = crowd(300, 3);
        crowd.watch(Watch { one_of_each_kind: true, ..Watch::default() }).unwrap();
        tick(&mut crowd, CROWD);
        let kinds = &crowd.world.characters.kinds;
        let lowest = |k: u16| kinds.iter().position(|kind| kind.0 == k).unwrap() as u32;
        let mut seen: Vec<_> = crowd.captures().map(|c| (c.id.0, c.kind.to_owned())).collect();
        seen.sort_unstable();
        let mut expected = vec![(lowest(0), "one".to_owned()), (lowest(1), "other".to_owned())];
        expected.sort_unstable();
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_character_that_is_not_there_is_refused_by_its_number() {
        let mut crowd = crowd(5, 1);
        let character = Some(CharacterHandle { id: CharacterId(5), generation: 0 });
        let error = crowd.watch(Watch { character, ..Watch::default() });
        assert!(matches!(error, Err(CrowdError::NoCharacter { id: 5, count: 5 })), "{error:?}");
    }
}
