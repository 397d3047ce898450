//! A run as the command line has it: what everybody gets to do, and when footsteps are told.

use super::*;
use std::collections::BTreeMap;
use std::sync::Mutex;
use throng::crowd::{NotifyEvent, NotifySink};
use throng::graph::MachineId;
use throng::index::CharacterId;

const COUNT: u32 = 300;
const FRAMES: u32 = 600;
/// Frames that a footstep may be told before or after the sole lands. A sole counts as landed a bit
/// over the ground, which is a frame or two before it is there, and a clip's notify lies on one of
/// the clip's own frames, of which there are 30 a second; what is blended lands in between.
const NEAR: i64 = 3;
/// Metres over the ground below which a sole has landed, and above which it was in the air.
pub const LANDED: f32 = 0.012;
pub const LIFTED: f32 = 0.025;
/// Frames that somebody has to be in a state for its steps to count: transitions last 0.3 s.
const SETTLED: u32 = 24;

#[derive(Clone, Debug, Default)]
struct Heard(Arc<Mutex<Vec<(NotifyEvent, String)>>>);

impl NotifySink for Heard {
    fn notify(&mut self, name: &str, event: &NotifyEvent) {
        self.0.lock().unwrap().push((*event, name.to_owned()));
    }
}

/// What one foot does.
#[derive(Clone, Debug, Default)]
struct Track {
    airborne: bool,
    /// Frames in which it landed, and in which a footstep was told; true while its owner went
    /// steadily.
    landed: Vec<(i64, bool)>,
    told: Vec<(i64, bool)>,
}

/// What a run showed.
#[derive(Debug, Default)]
struct Seen {
    /// Evaluations by machine and state.
    states: BTreeMap<(String, String), u32>,
    /// Poses with a hand over the head, both hands held out, and a head that is turned far.
    waves: u32,
    aims: u32,
    looks: u32,
    /// Footsteps with a landing near them, and without; and the other way round.
    right: usize,
    wrong: usize,
    silent: usize,
    /// Those that would have one near them if they were told a tenth of a second later: a planted
    /// fault.
    late: usize,
}

fn play(actor: &Actor) -> Seen {
    let mut crowd = actor.crowd(COUNT, Terrain::FLAT, 1);
    let heard = Heard::default();
    crowd.add_notify_sink(Box::new(heard.clone()));
    let mut seen = Seen::default();
    let machines: Vec<String> =
        actor.program.get().machines.iter().map(|machine| machine.name.clone()).collect();
    for (name, machine) in machines.iter().zip(&actor.program.get().machines) {
        for state in &machine.states {
            seen.states.insert((name.clone(), state.name.clone()), 0);
        }
    }
    let mut tracks: BTreeMap<(u32, usize), Track> = BTreeMap::new();
    let mut settled: BTreeMap<u32, (String, u32)> = BTreeMap::new();
    for frame in 0..i64::from(FRAMES) {
        tick(&mut crowd);
        for id in 0..COUNT {
            for (at, name) in machines.iter().enumerate() {
                let state = crowd.state(CharacterId(id), MachineId(at as u16)).unwrap();
                *seen.states.get_mut(&(name.clone(), state.into())).unwrap() += 1;
                if name == "locomotion" {
                    let of = settled.entry(id).or_default();
                    if of.0 == state {
                        of.1 += 1;
                    } else {
                        *of = (state.into(), 0);
                    }
                }
            }
        }
        let goes = |id: u32| {
            let (state, frames) = &settled[&id];
            (state == "walk" || state == "run") && *frames > SETTLED
        };
        for (id, palette, world) in drawn(&crowd) {
            actor.look(&palette, &mut seen);
            for (foot, sole) in actor.soles.iter().enumerate() {
                let heights = sole.placed(&palette, &world).into_iter().map(|p| p.y);
                let lowest = heights.fold(f32::MAX, f32::min);
                let track = tracks.entry((id, foot)).or_default();
                if track.airborne && lowest < LANDED {
                    track.airborne = false;
                    track.landed.push((frame, goes(id)));
                }
                track.airborne |= lowest > LIFTED;
            }
        }
        for (event, name) in heard.0.lock().unwrap().drain(..) {
            let id = event.character.0;
            let foot = name
                .strip_prefix("footstep_")
                .and_then(|foot| actor.soles.iter().position(|sole| sole.name == foot));
            if let Some(foot) = foot {
                tracks.entry((id, foot)).or_default().told.push((frame, goes(id)));
            }
        }
    }
    let steady = |all: &[(i64, bool)]| {
        // What happens at the ends of the run may have its other half outside.
        let inside = |frame: &i64| (10..i64::from(FRAMES) - 10).contains(frame);
        let all = all.iter().filter(|(_, steady)| *steady).map(|(frame, _)| *frame);
        all.filter(inside).collect::<Vec<i64>>()
    };
    for track in tracks.values() {
        let near =
            |frame: i64, all: &[(i64, bool)]| all.iter().any(|(f, _)| (f - frame).abs() <= NEAR);
        for told in steady(&track.told) {
            let count = if near(told, &track.landed) { &mut seen.right } else { &mut seen.wrong };
            *count += 1;
            seen.late += usize::from(near(told + 6, &track.landed));
        }
        let silent = steady(&track.landed).into_iter().filter(|l| !near(*l, &track.told));
        seen.silent += silent.count();
    }
    seen
}

impl Actor {
    fn look(&self, palette: &[Mat3x4], seen: &mut Seen) {
        if self.soles.len() > 2 {
            return;
        }
        let bone = |name: &str| {
            let at = throng::index::BoneIndex(self.bone(name) as u16);
            self.rig.model_from_bone(palette, at).unwrap()
        };
        let (head, left, right) = (bone("head"), bone("hand_l"), bone("hand_r"));
        let [l, r] = [left.translation, right.translation];
        seen.waves += u32::from(r.y > head.translation.y);
        let held_out = |p: glam::Vec3A| p.z > 0.3 && (1.2..1.6).contains(&p.y);
        seen.aims += u32::from(held_out(l) && held_out(r));
        let rest = self.rig.skeleton().model_from_bone(self.rig.skeleton().rest());
        let turned = head.matrix3 * rest[self.bone("head")].matrix3.inverse();
        let forward = turned * glam::Vec3A::Z;
        // Idling turns it by a quarter of that.
        seen.looks += u32::from(forward.x.atan2(forward.z).abs() > 0.8);
    }
}

#[test]
fn a_crowd_gets_through_every_state_and_its_steps_are_told_when_feet_land() {
    let seen = CHARACTERS.map(|name| (name, play(&Actor::new(name))));
    for (name, seen) in &seen {
        let least = seen.states.iter().min_by_key(|(_, count)| **count).unwrap();
        assert!(*least.1 > 200, "{name}: {least:?}");
        if *name == "humanoid" {
            assert!(seen.waves > 500 && seen.aims > 500 && seen.looks > 500, "{seen:?}");
        }
        assert!(seen.right > 1_000 && seen.late < seen.right / 10, "{seen:?}");
        let most = seen.right / 50;
        assert!(seen.wrong <= most && seen.silent <= most, "{name}: {seen:?}");
    }
}
