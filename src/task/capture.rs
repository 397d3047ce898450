//! What the executor decided for one list, recorded as it decides it.

use super::describe::{Line, Named, Names, Parameters, positions};
use super::state::Masks;
use super::{Task, TaskIndex, TaskList};
use crate::index::BoneCount;
use crate::pose::{GroundPatch, RootPin};
use serde::ser::{Serialize, Serializer};
use std::fmt;

/// One task of a captured list.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRecord {
    /// What was recorded.
    pub task: Task,
    /// Its share of the output; see [`TaskList::weight`].
    pub weight: f32,
    /// It ran, or would have run, after the physics step.
    pub after_physics: bool,
    /// The output depends on it.
    pub reachable: bool,
    /// It wrote into its first dependency's buffer.
    pub stole: bool,
    /// Position among the tasks that ran; `None` when it did not.
    pub order: Option<u32>,
    /// The buffer of its result.
    pub buffer: Option<u32>,
    /// Length of the longest chain of dependencies below it; tasks of one level are independent.
    pub level: u32,
    /// Buffers in use right after it ran.
    pub live_buffers: u32,
    /// For a masked blend, how many bones its mask weighs at all.
    pub masked_bones: Option<u32>,
    /// How long it took.
    pub ns: u64,
}

/// One list as it was executed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capture {
    /// In recording order.
    pub tasks: Vec<TaskRecord>,
    /// Position of the output.
    pub output: Option<usize>,
    /// Bones that were animated.
    pub active_bones: BoneCount,
    /// The level of detail that the list asked for.
    pub cut: Option<BoneCount>,
    /// What was taken out of the root.
    pub root_pin: Option<RootPin>,
    /// What feet were put on.
    pub ground: Option<GroundPatch>,
    executed: u32,
}

impl Capture {
    /// Starts over, or goes on with the second half of a list whose first half it has seen.
    pub(super) fn begin(
        &mut self,
        list: &TaskList,
        active: BoneCount,
        masks: &Masks,
        second_half: bool,
    ) {
        self.output = list.output().get();
        self.active_bones = active;
        self.cut = list.cut();
        self.root_pin = list.root_pin();
        self.ground = list.ground();
        if second_half && self.tasks.len() == list.len() {
            return;
        }
        self.executed = 0;
        self.tasks.clear();
        for (task, mark) in list.tasks().iter().zip(list.marks()) {
            let dependencies = task.dependencies().into_iter().filter_map(TaskIndex::get);
            let level = dependencies.map(|d| self.tasks[d].level + 1).max();
            let masked_bones = match task {
                Task::BlendMasked { mask, .. } => {
                    masks.get(*mask).map(|m| m.weighted_bones(active) as u32)
                }
                _ => None,
            };
            self.tasks.push(TaskRecord {
                task: *task,
                weight: mark.weight,
                after_physics: mark.late,
                reachable: mark.reachable,
                stole: false,
                order: None,
                buffer: None,
                level: level.unwrap_or(0),
                live_buffers: 0,
                masked_bones,
                ns: 0,
            });
        }
    }

    pub(super) fn ran(&mut self, at: usize, stole: bool, buffer: u32, live: usize, ns: u64) {
        if let Some(record) = self.tasks.get_mut(at) {
            record.order = Some(self.executed);
            record.stole = stole;
            record.buffer = Some(buffer);
            record.live_buffers = live as u32;
            record.ns = ns;
            self.executed += 1;
        }
    }

    /// Tasks that the output depends on.
    pub fn reachable(&self) -> usize {
        self.tasks.iter().filter(|t| t.reachable).count()
    }

    /// Tasks that ran.
    pub fn executed(&self) -> usize {
        self.executed as usize
    }

    /// For people: as JSON by way of serde, or as text with one line per task.
    pub fn named<'a>(&'a self, names: Names<'a>) -> NamedCapture<'a> {
        NamedCapture { capture: self, names }
    }
}

/// A [`Capture`] with the names of clips, bones and masks.
#[derive(Clone, Copy, Debug)]
pub struct NamedCapture<'a> {
    capture: &'a Capture,
    names: Names<'a>,
}

/// The fields of the object.
#[derive(serde::Serialize)]
struct Object<'a> {
    bones: u16,
    active_bones: u16,
    cut: Option<u16>,
    output: Option<usize>,
    pinned_root: Option<PinObject<'a>>,
    ground: Option<GroundObject>,
    recorded: usize,
    reachable: usize,
    executed: usize,
    stolen: usize,
    ns: u64,
    tasks: Vec<TaskObject<'a>>,
}

/// The root, and the motion that was taken out of it; none where it stands as at rest.
#[derive(serde::Serialize)]
struct PinObject<'a> {
    #[serde(flatten)]
    bone: Named<'a>,
    motion: Option<Motion>,
}

/// See [`GroundPatch`].
#[derive(serde::Serialize)]
struct GroundObject {
    origin: [f32; 3],
    slope: [f32; 2],
    bend: [f32; 3],
}

impl GroundObject {
    fn new(patch: GroundPatch) -> Self {
        let GroundPatch { origin, slope, bend } = patch;
        Self { origin: origin.to_array(), slope: slope.to_array(), bend: bend.to_array() }
    }
}

/// Model units along +X and +Z, and radians about +Y.
#[derive(serde::Serialize)]
struct Motion {
    x: f32,
    z: f32,
    yaw: f32,
}

impl<'a> PinObject<'a> {
    fn new(pin: &RootPin, names: Names<'a>) -> Self {
        let motion = match *pin {
            RootPin::Reference(_) => None,
            RootPin::Motion { x, z, yaw, .. } => Some(Motion { x, z, yaw }),
        };
        Self { bone: names.bone(pin.bone()), motion }
    }
}

#[derive(serde::Serialize)]
struct TaskObject<'a> {
    index: usize,
    kind: &'static str,
    /// Null is the bind pose.
    dependencies: Vec<Option<usize>>,
    parameters: Parameters<'a>,
    weight: f32,
    after_physics: bool,
    reachable: bool,
    stole: bool,
    order: Option<u32>,
    buffer: Option<u32>,
    level: u32,
    live_buffers: u32,
    masked_bones: Option<u32>,
    ns: u64,
}

impl Serialize for NamedCapture<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { capture, names } = *self;
        let tasks = &capture.tasks;
        let object = |(index, record): (usize, &'_ TaskRecord)| TaskObject {
            index,
            kind: record.task.kind().name(),
            dependencies: positions(&record.task),
            parameters: Parameters { task: record.task, names },
            weight: record.weight,
            after_physics: record.after_physics,
            reachable: record.reachable,
            stole: record.stole,
            order: record.order,
            buffer: record.buffer,
            level: record.level,
            live_buffers: record.live_buffers,
            masked_bones: record.masked_bones,
            ns: record.ns,
        };
        Object {
            bones: names.rig.bone_count().0,
            active_bones: capture.active_bones.0,
            cut: capture.cut.map(|cut| cut.0),
            output: capture.output,
            pinned_root: capture.root_pin.map(|pin| PinObject::new(&pin, names)),
            ground: capture.ground.map(GroundObject::new),
            recorded: tasks.len(),
            reachable: capture.reachable(),
            executed: capture.executed(),
            stolen: tasks.iter().filter(|t| t.stole).count(),
            ns: tasks.iter().map(|t| t.ns).sum(),
            tasks: tasks.iter().enumerate().map(object).collect(),
        }
        .serialize(serializer)
    }
}

/// Lines of one list, at most: nobody reads more, and a log is not to be flooded.
const LINES: usize = 200;

impl fmt::Display for NamedCapture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { capture, names } = *self;
        let tasks = &capture.tasks;
        write!(
            f,
            "{} tasks, {} reachable, {} run; {} of {} bones; output ",
            tasks.len(),
            capture.reachable(),
            capture.executed(),
            capture.active_bones,
            names.rig.bone_count(),
        )?;
        match capture.output {
            Some(output) => write!(f, "{output}")?,
            None => f.write_str("none, the bind pose")?,
        }
        if let Some(pin) = capture.root_pin {
            write!(f, "; root {} pinned", names.bone(pin.bone()))?;
            if let RootPin::Motion { x, z, yaw, .. } = pin {
                write!(f, " against x={x:?} z={z:?} yaw={yaw:?}")?;
            }
        }
        if let Some(GroundPatch { slope, bend, .. }) = capture.ground {
            write!(f, "; ground slopes {slope} and bends {bend}")?;
        }
        for (at, record) in tasks.iter().enumerate().take(LINES) {
            write!(f, "\n{at:>5} {}", Line { task: &record.task, names })?;
            match (record.buffer, record.stole) {
                (Some(buffer), true) => write!(f, " -> buffer {buffer}, taken over")?,
                (Some(buffer), false) => write!(f, " -> buffer {buffer}")?,
                (None, _) => f.write_str(" -> not run")?,
            }
        }
        match tasks.len().saturating_sub(LINES) {
            0 => Ok(()),
            more => write!(f, "\n      and {more} more"),
        }
    }
}
