//! What has to hold of a program's tables.

use super::Program;
use super::fault::{Fault, within};
use super::program::*;
use crate::motion::{PlayMode, SyncTrack};
use std::collections::HashSet;
use std::hash::Hash;

/// The most rows of one table: all that an index can name.
const ROWS: usize = 1 << 16;

type Checked = Result<(), (String, Fault)>;

/// Checks every table; the code is checked elsewhere.
pub(super) fn check(p: &Program) -> Checked {
    let at = |place: String| move |fault| (place, fault);
    counts(p).map_err(at("its tables".into()))?;
    each("parameter", &p.params, parameter)?;
    names("parameter", p.params.iter().map(|p| &p.name))?;
    each("blackboard key", &p.keys, |key| within("parameter", key.param.get(), p.params.len()))?;
    names("blackboard key", p.keys.iter().map(|k| &k.name))?;
    each("constant", &p.consts, |value| number("its value", *value, is_finite()))?;
    each("mask", &p.masks, |mask| self::mask(p, mask))?;
    each("clock", &p.clocks, |clock| self::clock(p, clock))?;
    each("notify", &p.notifies, |notify| self::notify(p, notify))?;
    each("sync markers", &p.sync_markers, |markers| self::markers(p, markers))?;
    distinct("sync markers", p.sync_markers.iter().map(|m| m.clip), |clip| {
        p.clips[clip.get()].clone()
    })?;
    each("blend space (1D)", &p.spaces_1d, space_1d)?;
    each("blend space (2D)", &p.spaces_2d, space_2d)?;
    each("state machine", &p.machines, |machine| self::machine(p, machine))?;
    let root = |bone: super::BoneRef| within("bone", bone.get(), p.bones.len());
    p.root.bone.map_or(Ok(()), root).map_err(at("its root".into()))
}

/// Checks every row; a fault names the table and the row's number.
fn each<T>(table: &str, rows: &[T], check: impl Fn(&T) -> Result<(), Fault>) -> Checked {
    rows.iter().enumerate().try_for_each(|(row, value)| {
        check(value).map_err(|fault| (format!("{table} {row}"), fault))
    })
}

fn names<'a>(table: &str, names: impl Iterator<Item = &'a String>) -> Checked {
    distinct(table, names, |name| name.clone())
}

/// Checks that no two rows are of one thing; a fault says its name.
fn distinct<K: Copy + Eq + Hash>(
    table: &str,
    keys: impl Iterator<Item = K>,
    name: impl Fn(K) -> String,
) -> Checked {
    let mut seen = HashSet::new();
    keys.enumerate().try_for_each(|(row, key)| match seen.insert(key) {
        true => Ok(()),
        false => Err((format!("{table} {row}"), Fault::Name { name: name(key) })),
    })
}

fn counts(p: &Program) -> Result<(), Fault> {
    let most = |what, count: usize| match count {
        0..=ROWS => Ok(()),
        count => Err(Fault::Count { what, count, range: "at most 65536" }),
    };
    most("parameters", p.params.len())?;
    most("blackboard keys", p.keys.len())?;
    most("constants", p.consts.len())?;
    most("clips", p.clips.len())?;
    most("bones", p.bones.len())?;
    most("masks", p.masks.len())?;
    most("sync groups", p.sync_groups.len())?;
    most("clocks", p.clocks.len())?;
    most("notifies", p.notifies.len())?;
    most("clips with sync markers", p.sync_markers.len())?;
    most("blend spaces (1D)", p.spaces_1d.len())?;
    most("blend spaces (2D)", p.spaces_2d.len())?;
    most("snapshots", p.snapshots.len())?;
    most("state machines and transitions outside of them", p.histories())
}

/// A test of a number and what it asks for.
type Range = (fn(f32) -> bool, &'static str);

fn is_finite() -> Range {
    (f32::is_finite, "finite")
}

fn not_negative() -> Range {
    (|v| v.is_finite() && v >= 0.0, "finite and not negative")
}

fn share() -> Range {
    (|v| (0.0..=1.0).contains(&v), "from 0 to 1")
}

fn number(what: &'static str, value: f32, (ok, range): Range) -> Result<(), Fault> {
    if ok(value) { Ok(()) } else { Err(Fault::Number { what, value, range }) }
}

fn count(what: &'static str, count: usize, least: usize, range: &'static str) -> Result<(), Fault> {
    match (least..=ROWS).contains(&count) {
        true => Ok(()),
        false => Err(Fault::Count { what, count, range }),
    }
}

fn parameter(param: &Param) -> Result<(), Fault> {
    number("its least value", param.min, is_finite())?;
    number("its largest value", param.max, is_finite())?;
    let range = "finite and from its least to its largest value";
    let ok = param.min <= param.default && param.default <= param.max;
    number("its default", if ok { param.default } else { f32::NAN }, (f32::is_finite, range))
        .map_err(|_| Fault::Number { what: "its default", value: param.default, range })
}

fn mask(p: &Program, mask: &MaskDesc) -> Result<(), Fault> {
    number("the weight of its other bones", mask.others, share())?;
    mask.entries.iter().try_for_each(|entry| {
        within("bone", entry.bone.get(), p.bones.len())?;
        number("a weight", entry.weight, share())
    })
}

fn clock(p: &Program, clock: &ClockDesc) -> Result<(), Fault> {
    within("clip", clock.clip.get(), p.clips.len())?;
    let speed: Range = (|v| v.abs() <= FASTEST, "from -1000 to 1000");
    number("its speed", clock.speed, speed)?;
    number("its start", clock.start, not_negative())?;
    let Some(group) = clock.group else { return Ok(()) };
    within("sync group", group.get(), p.sync_groups.len())?;
    if clock.mode == PlayMode::Loop { Ok(()) } else { Err(Fault::SyncMode) }
}

fn moment(what: &'static str, moment: Moment) -> Result<(), Fault> {
    match moment {
        Moment::Seconds(value) => number(what, value, not_negative()),
        Moment::Fraction(value) => number(what, value, share()),
    }
}

fn notify(p: &Program, notify: &NotifyDesc) -> Result<(), Fault> {
    within("clip", notify.clip.get(), p.clips.len())?;
    moment("its time", notify.at)?;
    notify.until.map_or(Ok(()), |until| moment("its end", until))
}

fn markers(p: &Program, markers: &MarkersDesc) -> Result<(), Fault> {
    within("clip", markers.clip.get(), p.clips.len())?;
    let count = markers.markers.len();
    if count > SyncTrack::MOST {
        return Err(Fault::Count { what: "markers", count, range: "at most 8" });
    }
    markers.markers.iter().try_for_each(|marker| moment("a marker's time", marker.at))
}

fn space_1d(space: &Space1D) -> Result<(), Fault> {
    count("points", space.points.len(), 1, "1 to 65536")?;
    space.points.iter().try_for_each(|x| number("a point", *x, is_finite()))?;
    match space.points.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => {
            let range = "above the one before it";
            Err(Fault::Number { what: "a point", value: pair[1], range })
        }
        None => Ok(()),
    }
}

fn space_2d(space: &Space2D) -> Result<(), Fault> {
    count("points", space.points.len(), 3, "3 to 65536")?;
    count("triangles", space.triangles.len(), 1, "1 to 65536")?;
    space.points.iter().flatten().try_for_each(|v| number("a point", *v, is_finite()))?;
    space.triangles.iter().try_for_each(|triangle| {
        triangle.iter().try_for_each(|&i| within("point", i.into(), space.points.len()))?;
        // In double precision, as places in the triangle are found.
        let [a, b, c] = triangle.map(|i| space.points[usize::from(i)].map(f64::from));
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
        let range: Range = (|area| area.is_finite() && area != 0.0, "finite and not zero");
        number("twice a triangle's area", area as f32, range)
    })
}

fn machine(p: &Program, machine: &MachineDesc) -> Result<(), Fault> {
    let states = machine.states.len();
    count("states", states, 1, "1 to 65536")?;
    within("state", machine.initial.get(), states)?;
    let mut seen = HashSet::new();
    for state in &machine.states {
        if !seen.insert(&state.name) {
            return Err(Fault::Name { name: state.name.clone() });
        }
        within("pose register", state.pose.get(), p.pose_registers.into())?;
        state.clocks.iter().try_for_each(|c| within("clock", c.get(), p.clocks.len()))?;
        let inner = |m: &super::MachineId| within("state machine", m.get(), p.machines.len());
        state.machines.iter().try_for_each(inner)?;
    }
    for transition in &machine.transitions {
        transition.from.map_or(Ok(()), |from| within("state", from.get(), states))?;
        within("state", transition.to.get(), states)?;
        number("a time in state", transition.min_time, not_negative())?;
        number("a transition's duration", transition.duration, not_negative())?;
        if let Some(end) = transition.at_end {
            within("clock", end.clock.get(), p.clocks.len())?;
            number("a time before a clip's end", end.before, not_negative())?;
        }
    }
    Ok(())
}
