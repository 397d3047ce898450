//! Feet that stand stay where they are, on flat ground.
//!
//! What is measured are the vertices of the skinned soles, in the world, with root motion applied:
//! how far each gets from where it touched the ground, for as long as it touches it. All of a
//! step counts, from the heel's first touch to the toes' last. Gaits are played at steady speed
//! after they have settled, straight on or turning with steps; transitions are left out, because a
//! foot in the middle of a change from one gait to another has two footholds to choose from.

use super::*;
use glam::{Vec2, Vec3Swizzles};
use throng::graph::{BoundProgram, VmScratch};
use throng::index::{CharacterId, ClipId};
use throng::motion::GroundMotion;
use throng::motion::ground::rotate;
use throng::task::{Context, PoseState, Task, TaskIndex, TaskList, Worker, WorkerOptions};

/// Metres over the ground at which a sole touches it; the clips press into it by a millimetre.
const TOUCH: f32 = 0.002;
/// Metres that it may slide in one step.
const SLIDE: f32 = 0.02;

/// One instance of the actor's program, bound as the crowd binds it, and where it is.
pub struct Solo<'a> {
    actor: &'a Actor,
    rig: Arc<Rig>,
    bound: BoundProgram,
    row: Vec<u32>,
    vm: VmScratch,
    list: TaskList,
    state: PoseState,
    worker: Worker,
    position: Vec2,
    heading: f32,
    /// Factor on the root's motion: a planted fault.
    pace: f32,
}

impl<'a> Solo<'a> {
    pub fn new(actor: &'a Actor) -> Self {
        let crowd = actor.crowd(1, Terrain::FLAT, 1);
        let kind = throng::index::CharacterKind(0);
        let (rig, bound) = (crowd.rig(kind).unwrap(), crowd.program(kind).unwrap());
        let mut row = vec![0; bound.words()];
        bound.start(&mut row, 0.0).unwrap();
        let program = bound.program();
        let state = PoseState::new(program.histories() as u16, program.snapshots.len() as u16);
        Self {
            actor,
            rig: rig.clone(),
            bound: bound.clone(),
            row,
            vm: VmScratch::default(),
            list: TaskList::default(),
            state,
            worker: Worker::new(WorkerOptions::default()),
            position: Vec2::ZERO,
            heading: 0.0,
            pace: 1.0,
        }
    }

    pub fn set(&mut self, key: &str, value: f32) {
        let key = self.bound.program().key(key).unwrap();
        self.bound.set_key(&mut self.row, key, value);
    }

    pub fn rig(&self) -> &Rig {
        &self.rig
    }

    /// The clips that were part of the last frame's pose, with the times that they were sampled at.
    pub fn heard(&self) -> Vec<(ClipId, f32)> {
        let tasks = self.list.tasks().iter().enumerate();
        let heard = tasks.filter_map(|(at, task)| match task {
            Task::SampleClip { clip, seconds } => {
                (self.list.weight(TaskIndex::new(at)?) > 0.0).then_some((*clip, *seconds))
            }
            _ => None,
        });
        heard.collect()
    }

    /// One frame; gives the vertices of each sole in the world.
    pub fn step(&mut self) -> Vec<Vec<Vec3>> {
        let motion =
            self.bound.evaluate(&mut self.row, DT as f32, &mut self.vm, &mut self.list).unwrap();
        let GroundMotion { yaw, .. } = motion;
        self.position += rotate(self.pace * motion.translation(), self.heading);
        self.heading += yaw;
        let mut palette = vec![Mat3x4::IDENTITY; self.rig.palette_len()];
        let mut context = Context {
            masks: self.bound.masks(),
            state: &mut self.state,
            capture: None,
            kept: None,
        };
        let mut batch = self.worker.batch();
        batch.execute_with(&self.rig, &mut self.list, &mut context, &mut palette).unwrap();
        batch.finish();
        let world = glam::Affine3A::from_rotation_translation(
            glam::Quat::from_rotation_y(self.heading),
            Vec3::new(self.position.x, 0.0, self.position.y),
        );
        let world = Mat3x4::from_affine(&world);
        self.actor.soles.iter().map(|sole| sole.placed(&palette, &world)).collect()
    }

    /// Lets it settle, then measures for some seconds: the farthest that a vertex slides, and how
    /// many touches there were.
    fn slide(&mut self, seconds: u32) -> (f32, u32) {
        (0..90).for_each(|_| drop(self.step()));
        let mut anchors: Vec<Vec<Option<Vec2>>> = Vec::new();
        let (mut worst, mut touches) = (0.0_f32, 0);
        for _ in 0..60 * seconds {
            let soles = self.step();
            anchors.resize_with(soles.len(), Vec::new);
            for (sole, anchors) in soles.iter().zip(&mut anchors) {
                anchors.resize(sole.len(), None);
                for (vertex, anchor) in sole.iter().zip(anchors) {
                    match (vertex.y < TOUCH, *anchor) {
                        (false, _) => *anchor = None,
                        (true, None) => (*anchor, touches) = (Some(vertex.xz()), touches + 1),
                        (true, Some(at)) => worst = worst.max(vertex.xz().distance(at)),
                    }
                }
            }
        }
        (worst, touches)
    }
}

/// What is steady: values of keys.
type Steady = &'static [(&'static str, f32)];

const PERSON: [Steady; 11] = [
    &[("speed", 0.0)],
    &[("speed", 1.4)],
    &[("speed", 1.61)],
    &[("speed", -1.0)],
    &[("speed", -1.15)],
    &[("speed", 3.75)],
    &[("speed", 3.4)],
    &[("speed", 2.89)],
    &[("speed", -2.2)],
    &[("spin", 1.0)],
    &[("spin", -1.0)],
];
const FOX: [Steady; 7] = [
    &[("speed", 0.0)],
    &[("speed", 0.8)],
    &[("speed", 1.4)],
    &[("speed", 4.2)],
    &[("speed", 3.4)],
    &[("spin", 1.0)],
    &[("spin", -1.0)],
];

#[test]
fn a_sole_that_touches_flat_ground_slides_by_two_centimetres_at_most() {
    let mut faults = Vec::new();
    for (name, gaits) in CHARACTERS.iter().zip([&PERSON[..], &FOX[..]]) {
        let actor = Actor::new(name);
        for steady in gaits {
            let mut solo = Solo::new(&actor);
            steady.iter().for_each(|(key, value)| solo.set(key, *value));
            let (slide, touches) = solo.slide(6);
            if slide > SLIDE || touches == 0 {
                faults.push(format!("{name} {steady:?}: {slide} m in {touches} touches"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Speeds that a character can be asked for, but standing and what is hardly a walk: 0.3 and more.
fn speeds(actor: &Actor) -> impl Iterator<Item = f32> {
    let speed = actor.program.get().param("speed").unwrap();
    let (least, most) = {
        let param = &actor.program.get().params[speed.get()];
        (param.min, param.max)
    };
    // Not on round numbers, which thresholds are.
    let all = (0..).map(move |i| least + 0.0837 * i as f32).take_while(move |s| *s <= most);
    all.filter(|speed| speed.abs() >= 0.3).chain([0.3, most])
}

#[test]
fn at_any_speed_a_sole_slides_by_two_centimetres_in_a_step_at_most() {
    let mut faults = Vec::new();
    for name in CHARACTERS {
        let actor = Actor::new(name);
        for speed in speeds(&actor) {
            let mut solo = Solo::new(&actor);
            solo.set("speed", speed);
            let (slide, touches) = solo.slide(8);
            if slide > SLIDE || touches < 40 {
                faults.push(format!("{name} at {speed}: {slide} m in {touches} touches"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_person_is_as_fast_as_it_is_asked_to_be() {
    let actor = Actor::new("humanoid");
    for speed in speeds(&actor) {
        let mut solo = Solo::new(&actor);
        solo.set("speed", speed);
        (0..180).for_each(|_| drop(solo.step()));
        let from = solo.position;
        (0..300).for_each(|_| drop(solo.step()));
        let pace = (solo.position.y - from.y) / 5.0;
        assert!((pace - speed).abs() < 0.06 * speed.abs(), "{speed}: {pace} m/s");
    }
}

#[test]
fn a_walk_that_is_mixed_with_standing_slides() {
    let (graph, text) = graph::builtin_for("humanoid").unwrap();
    let (place, speeds) = ("y: \"going\"", "sync_speeds: {\"gait\": \"cadence\"},");
    assert!(text.contains(place) && text.contains(speeds));
    let text = text.replace(place, "y: \"pace / 1.4\"").replace(speeds, "");
    let actor = Actor::with("humanoid", graph, &text);
    let mut solo = Solo::new(&actor);
    solo.set("speed", 0.7);
    let (slide, _) = solo.slide(8);
    assert!(slide > 1.5 * SLIDE, "{slide}");
}

/// Where a vertex came to touch the ground, and how far it has been from there since.
type Anchor = (Vec2, f32);

/// Drivers steer: how far each vertex slides in each touch of the ground while its owner goes in
/// curves, ascending, and the radians that all of them were turned.
fn steered(actor: &Actor, seed: u64) -> (Vec<f32>, f32) {
    let count = 60;
    let mut crowd = actor.crowd(count, Terrain::FLAT, seed);
    let machine = actor.program.get().machine("locomotion").unwrap();
    let mut settled: Vec<(String, u32)> = vec![Default::default(); count as usize];
    let mut anchors: Vec<Vec<Vec<Option<Anchor>>>> = vec![Vec::new(); count as usize];
    let (mut slides, mut turned) = (Vec::new(), 0.0);
    for _ in 0..60 * 20 {
        let of = |crowd: &Crowd, id| crowd.character(CharacterId(id)).unwrap();
        let before: Vec<_> = (0..count).map(|id| of(&crowd, id)).collect();
        tick(&mut crowd);
        for (id, palette, world) in drawn(&crowd) {
            let (from, to) = (before[id as usize], of(&crowd, id));
            let back = rotate((to.position - from.position).xz(), -from.heading).y < 0.0;
            let state = crowd.state(CharacterId(id), machine).unwrap();
            let gait = format!("{state} {back}");
            let of = &mut settled[id as usize];
            *of = if of.0 == gait { (gait, of.1 + 1) } else { (gait, 0) };
            let anchors = &mut anchors[id as usize];
            // A change of gait or of speed has two footholds to choose from.
            if of.1 < 90 || !["walk", "run"].contains(&state) {
                anchors.clear();
                continue;
            }
            turned += (to.heading - from.heading).sin().abs();
            anchors.resize_with(actor.soles.len(), Vec::new);
            for (sole, anchors) in actor.soles.iter().zip(anchors) {
                let placed = sole.placed(&palette, &world);
                anchors.resize(placed.len(), None);
                for (vertex, anchor) in placed.iter().zip(anchors) {
                    match (vertex.y < TOUCH, anchor.as_mut()) {
                        (true, None) => *anchor = Some((vertex.xz(), 0.0)),
                        (true, Some((at, most))) => *most = most.max(vertex.xz().distance(*at)),
                        (false, _) => slides.extend(anchor.take().map(|(_, most)| most)),
                    }
                }
            }
        }
    }
    slides.sort_by(f32::total_cmp);
    (slides, turned)
}

#[test]
fn who_is_steered_turns_about_one_foot_and_the_others_slide_as_far_as_they_are_turned() {
    // Metres: of half of the touches, of nine in ten, of all. Four paws stand where two feet do.
    for (name, bounds) in [("humanoid", [0.015, 0.06, 0.10]), ("quadruped", [0.01, 0.07, 0.30])] {
        let (slides, turned) = steered(&Actor::new(name), 1);
        assert!(slides.len() > 5_000 && turned > 100.0, "{} {turned}", slides.len());
        let last = slides.len() - 1;
        let most = [last / 2, last * 9 / 10, last].map(|at| slides[at]);
        let within = most.iter().zip(bounds).all(|(most, bound)| *most < bound);
        assert!(within, "{name}: {most:?} of {bounds:?}");
    }
}

#[test]
fn a_root_that_is_a_tenth_too_fast_lets_every_gait_slide() {
    let actor = Actor::new("humanoid");
    for speed in [1.4, -1.0, 3.75] {
        let mut solo = Solo::new(&actor);
        solo.set("speed", speed);
        solo.pace = 1.1;
        let (slide, _) = solo.slide(6);
        assert!(slide > 1.5 * SLIDE, "{speed}: {slide}");
    }
}
