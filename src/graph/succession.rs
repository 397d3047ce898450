//! What an instance keeps when another program takes its program's place: a file was saved anew
//! while characters play it.

use super::bind::BoundProgram;
use super::control::{ClockState, Control, MachineState};
use super::program::ClockDesc;
use super::vm::EvaluateError;
use crate::motion::{Fired, NotifyCursor, PlayMode};
use std::collections::HashMap;
use std::hash::Hash;

/// Which parts of one program's instances live on in another's.
///
/// Parameters, blackboard keys, sync groups, machines and their states are the same where their
/// names are (of sync groups those of their markers too); clocks, where they run the same clip in the same way, in the order of the program.
/// One that stood still, because no current state needed it, is passed on as it stands.
/// What has no counterpart begins as it does in a new instance. Kept poses do not live on, so a
/// transition that is under way ends.
#[derive(Debug)]
pub struct Succession<'a> {
    old: &'a BoundProgram,
    new: &'a BoundProgram,
    params: Pairs,
    keys: Pairs,
    groups: Pairs,
    clocks: Pairs,
    /// With the states of the new one's machine by the old one's, where both have one of a name.
    machines: Vec<(usize, usize, Vec<Option<u16>>)>,
    /// As many smoothed values; they have no names.
    smooths: bool,
}

/// Indices in the old and in the new program.
type Pairs = Vec<(usize, usize)>;

/// Pairs of equal keys; the nth of several equal ones goes with the nth.
fn pairs<K: Eq + Hash>(
    old: impl Iterator<Item = K>,
    new: impl Iterator<Item = K>,
) -> Vec<(usize, usize)> {
    let mut places: HashMap<K, Vec<usize>> = HashMap::new();
    old.enumerate().for_each(|(at, key)| places.entry(key).or_default().push(at));
    places.values_mut().for_each(|places| places.reverse());
    let pair = |(at, key): (usize, K)| Some((places.get_mut(&key)?.pop()?, at));
    new.enumerate().filter_map(pair).collect()
}

fn clock_key<'b>(of: &'b BoundProgram, clock: &ClockDesc) -> (&'b str, PlayMode, Option<&'b str>) {
    let program = of.program();
    let group = clock.group.map(|group| program.sync_groups[group.get()].as_str());
    (&program.clips[clock.clip.get()], clock.mode, group)
}

impl<'a> Succession<'a> {
    /// Compares two programs of one rig.
    pub fn new(old: &'a BoundProgram, new: &'a BoundProgram) -> Self {
        let (a, b) = (old.program(), new.program());
        let machine = |(from, to): (usize, usize)| {
            let states = &b.machines[to].states;
            let named = |name: &String| states.iter().position(|s| s.name == *name);
            let state = |name| named(name).and_then(|at| u16::try_from(at).ok());
            (from, to, a.machines[from].states.iter().map(|s| state(&s.name)).collect())
        };
        let machines =
            pairs(a.machines.iter().map(|m| &m.name), b.machines.iter().map(|m| &m.name));
        Self {
            old,
            new,
            params: pairs(a.params.iter().map(|p| &p.name), b.params.iter().map(|p| &p.name)),
            keys: pairs(a.keys.iter().map(|k| &k.name), b.keys.iter().map(|k| &k.name)),
            groups: pairs(a.sync_groups.iter(), b.sync_groups.iter()),
            clocks: pairs(
                a.clocks.iter().map(|clock| clock_key(old, clock)),
                b.clocks.iter().map(|clock| clock_key(new, clock)),
            ),
            machines: machines.into_iter().map(machine).collect(),
            smooths: a.smooths == b.smooths,
        }
    }

    /// Puts a row of the new program to where one of the old program is; what begins anew does so
    /// at `phase` of a round ([`BoundProgram::start`]). Spans of notifies that are open end.
    ///
    /// # Errors
    /// [`EvaluateError::Row`] when a row is another program's.
    pub fn pass_on(
        &self,
        old_row: &mut [u32],
        new_row: &mut [u32],
        phase: f32,
        fire: impl FnMut(Fired),
    ) -> Result<(), EvaluateError> {
        self.old.stop(old_row, fire)?;
        self.new.start(new_row, phase)?;
        let (old, new) = (self.old.control(old_row)?, self.new.control(new_row)?);
        let params = &self.new.program().params;
        for (from, to) in &self.params {
            new.params[*to] = params[*to].limited(old.params[*from]);
        }
        self.keys.iter().for_each(|(from, to)| new.keys[*to] = old.keys[*from]);
        for (from, to) in &self.groups {
            let ((of_old, before), (of_new, after)) =
                (self.old.groups.markers(*from), self.new.groups.markers(*to));
            // Other markers make another phase of the same number.
            if before == after {
                new.groups[*to] = old.groups[*from];
                if !self.new.groups.is_paced(*to) {
                    new.groups[*to].set_speed(1.0);
                }
                new.pieces[of_new].copy_from_slice(&old.pieces[of_old]);
            }
        }
        if self.smooths {
            new.smooths.copy_from_slice(old.smooths);
        }
        for (from, to) in &self.clocks {
            let clock = &old.clocks[*from];
            let flags = clock.flags & (ClockState::FRESH | ClockState::PASSED);
            new.clocks[*to] =
                ClockState { shows: clock.shows, flags, notifies: NotifyCursor::default() };
        }
        for (from, to, states) in &self.machines {
            machine(&old.machines[*from], &mut new.machines[*to], states);
        }
        pass_on_motion(old, new);
        Ok(())
    }
}

fn machine(old: &MachineState, new: &mut MachineState, states: &[Option<u16>]) {
    if let Some(state) = states.get(usize::from(old.state)).copied().flatten() {
        let flags = old.flags & MachineState::FRESH;
        *new = MachineState { state, flags, seconds: old.seconds, ..*new };
    }
}

/// The character goes on at the pace that it has.
fn pass_on_motion(mut old: Control<'_>, mut new: Control<'_>) {
    if let (Some(old), Some(new)) = (old.motion(), new.motion()) {
        *new = *old;
    }
}
