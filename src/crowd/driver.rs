//! What a character wants, when nobody else says so: it writes its graph's blackboard.
//!
//! | key | kind | what |
//! |---|---|---|
//! | `speed` | number | metres a second that it wants to go, negative backwards |
//! | `turn` | number | radians a second that the crowd turns it to the left as it goes |
//! | `spin` | number | it turns where it stands: 1 to the left, -1 to the right, 0 not at all |
//! | `jump` | trigger | now |
//! | `wave` | flag | it waves |
//! | `aim` | number | how much it aims, 0..1 |
//! | `sit` | flag | it sits |
//! | `look` | flag | it looks at something |
//! | `look_x`, `look_y`, `look_z` | numbers | where that is, model space |
//!
//! A graph without a key is driven by the others.

use super::graph::KindGraph;
use super::random::Random;
use crate::graph::{KeyId, Program};
use crate::motion::ground::rotate;
use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3, Vec3Swizzles};

/// The keys that a program has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    speed: Option<KeyId>,
    turn: Option<KeyId>,
    spin: Option<KeyId>,
    jump: Option<KeyId>,
    wave: Option<KeyId>,
    aim: Option<KeyId>,
    sit: Option<KeyId>,
    look: Option<KeyId>,
    look_at: [Option<KeyId>; 3],
}

impl Keys {
    pub fn of(program: &Program) -> Self {
        Self {
            speed: program.key("speed"),
            turn: program.key("turn"),
            spin: program.key("spin"),
            jump: program.key("jump"),
            wave: program.key("wave"),
            aim: program.key("aim"),
            sit: program.key("sit"),
            look: program.key("look"),
            look_at: ["look_x", "look_y", "look_z"].map(|key| program.key(key)),
        }
    }
}

/// What a character is up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    Idle,
    Walk,
    Run,
    Back,
    Wave,
    Turn,
}

/// Moods, how often each is chosen, the speed in metres a second, and how long it lasts in
/// seconds, at least and at most.
const MOODS: [(Mood, f32, f32, (f32, f32)); 6] = [
    (Mood::Idle, 3.0, 0.0, (2.0, 6.0)),
    (Mood::Walk, 4.0, 1.4, (4.0, 9.0)),
    (Mood::Run, 2.0, 3.4, (3.0, 6.0)),
    (Mood::Back, 0.5, -1.0, (1.5, 3.0)),
    (Mood::Wave, 1.0, 0.0, (2.5, 4.0)),
    (Mood::Turn, 1.5, 0.0, (1.0, 3.0)),
];
/// Speeds differ by up to this from one character and mood to the next. Nobody is slower: what is
/// mixed from standing and walking slides.
const SPEED_SPREAD: f32 = 0.15;
/// Jumps a second.
const JUMPS: f32 = 0.06;
/// Share of idling in which it aims.
const AIMS: f32 = 0.2;
/// Share of idling and waving in which it looks at something.
const LOOKS: f32 = 0.6;
/// How fast it may turn while it goes, radians a second.
const TURN: f32 = 1.2;
/// The most seconds of one step in which it may jump.
const LONGEST_STEP: f32 = 0.25;
/// How far it sees somebody to look at, metres.
const SIGHT: f32 = 8.0;

/// What it looks at.
const NOTHING: u16 = 0;
const CAMERA: u16 = 1;
const NEIGHBOUR: u16 = 2;

/// One character's driver; lies in its row behind the program's words.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Driver {
    random: [u32; 2],
    /// Seconds until the next mood.
    left: f32,
    mood: u8,
    /// 1 to the left, -1 to the right: turning where it stands.
    spin: i8,
    looks_at: u16,
    speed: f32,
    /// Radians a second that it likes to turn as it goes.
    turn: f32,
    /// Radians a second that it is turned until it is asked again.
    steers: f32,
    aims: u16,
    /// A sequence writes the blackboard instead.
    directed: u16,
    /// Seconds that have passed since it was asked.
    waited: f32,
}

/// What a driver knows of the world; world metres.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    pub eye: Vec3,
    /// Where the head of somebody near is; `None` where nobody is.
    pub neighbour: &'a dyn Fn() -> Option<Vec3>,
    /// World (x, z).
    pub position: Vec2,
    /// How high the ground is there.
    pub ground: &'a dyn Fn() -> f32,
    /// Radians about +Y.
    pub heading: f32,
    pub home: Vec2,
    /// How far it may stray from home.
    pub stray: f32,
    /// World metres per model unit, and the model's point that stands on `position`.
    pub scale: f32,
    pub pivot: Vec3,
}

impl Driver {
    /// Words in a row.
    pub const WORDS: usize = size_of::<Self>() / size_of::<u32>();

    /// A new driver, whose first mood ends at any time, so that not all change at once.
    pub fn start(row: &mut [u32], random: Random) {
        let Some(driver) = Self::of(row) else { return };
        *driver = Self::zeroed();
        let mut random = random;
        driver.choose(&mut random);
        driver.left *= random.unit();
        driver.keep(random);
    }

    /// Seconds have passed in its row. Gives how fast it is turned meanwhile, radians a second to
    /// the left.
    pub fn wait(row: &mut [u32], seconds: f32) -> f32 {
        let Some(driver) = Self::of(row) else { return 0.0 };
        driver.waited += seconds.max(0.0);
        driver.steers
    }

    /// The driver in a row chooses anew the next time that it is asked.
    pub fn hurry(row: &mut [u32]) {
        if let Some(driver) = Self::of(row) {
            driver.left = 0.0;
        }
    }

    /// The driver in a row leaves the blackboard to a sequence, or takes it back with another mood.
    pub fn direct(row: &mut [u32], directed: bool) {
        if let Some(driver) = Self::of(row) {
            driver.directed = u16::from(directed);
            (driver.left, driver.steers) = (0.0, 0.0);
        }
    }

    /// True where a sequence writes the blackboard instead.
    pub fn is_directed(row: &mut [u32]) -> bool {
        Self::of(row).is_some_and(|driver| driver.directed != 0)
    }

    /// The driver in a row stands for so many seconds before it chooses.
    pub fn stand(row: &mut [u32], seconds: f32) {
        if let Some(driver) = Self::of(row) {
            let Self { random, waited, .. } = *driver;
            *driver = Self { random, waited, left: seconds, ..Self::zeroed() };
        }
    }

    /// A lot that the driver in a row would draw next, 0..1; it still will.
    pub fn lot(row: &mut [u32]) -> f32 {
        Self::of(row).map_or(0.0, |driver| driver.random().unit())
    }

    fn of(row: &mut [u32]) -> Option<&mut Self> {
        bytemuck::cast_slice_mut::<u32, Self>(row.get_mut(..Self::WORDS)?).first_mut()
    }

    /// Rows are words, and a generator is two of them.
    fn keep(&mut self, random: Random) {
        self.random = bytemuck::cast(random);
    }

    fn random(&self) -> Random {
        bytemuck::cast(self.random)
    }

    fn mood(&self) -> Mood {
        MOODS.get(usize::from(self.mood)).map_or(Mood::Idle, |m| m.0)
    }

    fn choose(&mut self, random: &mut Random) {
        let mood = random.weighted(MOODS.iter().map(|m| m.1)).unwrap_or(0);
        let (kind, _, speed, (least, most)) = MOODS[mood];
        self.mood = mood as u8;
        self.left = random.range(least, most);
        self.speed = speed * random.range(1.0, 1.0 + SPEED_SPREAD);
        self.turn = random.range(-0.4, 0.4);
        self.aims = u16::from(kind == Mood::Idle && random.unit() < AIMS);
        let left = if random.unit() < 0.5 { 1 } else { -1 };
        self.spin = if kind == Mood::Turn { left } else { 0 };
        let stands = matches!(kind, Mood::Idle | Mood::Wave);
        self.looks_at = match stands && random.unit() < LOOKS {
            false => NOTHING,
            true if random.unit() < 0.5 => CAMERA,
            true => NEIGHBOUR,
        };
    }
}

impl KindGraph {
    /// Lets a character decide what it wants and writes that into its row's blackboard, for its next
    /// evaluation. All the time since it was asked last is one step.
    pub fn drive(&self, row: &mut [u32], around: &Surroundings<'_>) {
        let (control, driver) = row.split_at_mut(self.bound.words());
        let Some(driver) = Driver::of(driver) else { return };
        if driver.directed != 0 {
            driver.waited = 0.0;
            return;
        }
        let mut random = driver.random();
        let waited = std::mem::take(&mut driver.waited);
        driver.left -= waited;
        if driver.left <= 0.0 {
            driver.choose(&mut random);
        }
        driver.steers = driver.heads(around);
        // Nobody jumps as soon as it is seen because it was not for long.
        let chance = JUMPS * waited.min(LONGEST_STEP);
        let jumps = !matches!(driver.mood(), Mood::Wave | Mood::Turn) && random.unit() < chance;
        driver.keep(random);

        let mut set = |key: Option<KeyId>, value: f32| {
            if let Some(key) = key {
                self.bound.set_key(control, key, value);
            }
        };
        set(self.keys.speed, driver.speed);
        set(self.keys.turn, driver.steers);
        set(self.keys.spin, f32::from(driver.spin));
        set(self.keys.wave, f32::from(u8::from(driver.mood() == Mood::Wave)));
        if jumps {
            set(self.keys.jump, 1.0);
        }
        // What has arms aims, what has none may sit down.
        for key in [self.keys.aim, self.keys.sit] {
            set(key, f32::from(u8::from(driver.aims != 0)));
        }
        // Most look at nothing, and then nobody's height is looked up.
        let target = match driver.looks_at {
            CAMERA => Some((around.eye, f32::INFINITY)),
            NEIGHBOUR => (around.neighbour)().map(|head| (head, SIGHT)),
            _ => None,
        };
        let seen = target.and_then(|(target, sight)| {
            let position = around.position.extend((around.ground)()).xzy();
            let place = || around.model_from_world(target, position);
            (target.distance(position) < sight).then(place)
        });
        set(self.keys.look, f32::from(u8::from(seen.is_some())));
        if let Some(place) = seen {
            self.keys.look_at.iter().zip(place.to_array()).for_each(|(key, v)| set(*key, v));
        }
    }
}

impl Driver {
    /// How fast it turns: back home when it has strayed, else as it likes; not where it stands.
    fn heads(&self, around: &Surroundings<'_>) -> f32 {
        if self.speed == 0.0 {
            return 0.0;
        }
        let home = around.home - around.position;
        if home.length() < around.stray {
            return self.turn;
        }
        // Somebody who goes backwards turns his back to where he wants to be.
        let way = if self.speed < 0.0 { -home } else { home };
        let wanted = way.x.atan2(way.y);
        let off = (wanted - around.heading + std::f32::consts::PI)
            .rem_euclid(std::f32::consts::TAU)
            - std::f32::consts::PI;
        // To what is right behind it one way round is as good as the other: it goes on as it began.
        let behind = off.abs() > 0.8 * std::f32::consts::PI && self.steers != 0.0;
        if behind { TURN.copysign(self.steers) } else { (2.0 * off).clamp(-TURN, TURN) }
    }
}

impl Surroundings<'_> {
    fn model_from_world(&self, point: Vec3, position: Vec3) -> Vec3 {
        let flat = rotate((point - position).xz(), -self.heading);
        let size = if self.scale > 0.0 { self.scale } else { 1.0 };
        Vec3::new(flat.x, point.y - position.y, flat.y) / size + self.pivot
    }
}
