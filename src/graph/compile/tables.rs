//! The tables of a program, filled by what its instructions name.

use super::ir::{Ir, NodeId, Pose};
use super::schedule::{Insides, Item};
use super::spaces::Plane;
use crate::graph::file::{Graph, Marker, MaskLine, Notify, Parameter, Passage, RootUse};
use crate::graph::{
    AtEnd, BoneRef, ClipRef, ClockDesc, ClockId, ConstId, GroupId, Key, MachineDesc, MachineId,
    MarkerDesc, MarkersDesc, MaskDesc, MaskEntry, MaskRef, Moment, NotifyDesc, Param, ParamId,
    ParamKind, PoseIn, Program, RootDesc, RootMode, Scalar, Space1D, Space2D, StateDesc, StateId,
    TransitionDesc, TransitionStyle,
};
use std::collections::HashMap;

/// Names that get a number when they are used first.
#[derive(Debug, Default)]
struct Numbers<'a>(HashMap<&'a str, u16>);

impl<'a> Numbers<'a> {
    /// The number of a name, and its row if it is new. There are fewer names than numbers.
    fn of(&mut self, name: &'a str, rows: &mut Vec<String>) -> u16 {
        *self.0.entry(name).or_insert_with(|| {
            rows.push(name.to_owned());
            (rows.len() - 1) as u16
        })
    }
}

/// Positions in the file of what is said about clips that nobody plays.
#[derive(Debug, Default)]
pub(super) struct Unheard {
    pub notifies: Vec<usize>,
    pub markers: Vec<usize>,
}

/// A program in the making.
#[derive(Debug)]
pub(super) struct Tables<'a> {
    pub program: Program,
    graph: &'a Graph<'a>,
    insides: &'a Insides,
    clips: Numbers<'a>,
    bones: Numbers<'a>,
    snapshots: Numbers<'a>,
    groups: Numbers<'a>,
    constants: HashMap<u32, u16>,
    masks: HashMap<usize, u16>,
    clocks: HashMap<NodeId, u16>,
    machines: HashMap<NodeId, u16>,
}

impl<'a> Tables<'a> {
    /// A program with its parameters and nothing else.
    pub fn new(name: &str, graph: &'a Graph<'a>, insides: &'a Insides) -> Self {
        let program = Program {
            name: name.to_owned(),
            params: graph.parameters.iter().map(|(name, p)| param(name.as_str(), p)).collect(),
            keys: graph
                .parameters
                .iter()
                .enumerate()
                .map(|(at, (name, parameter))| {
                    let name = parameter.key().unwrap_or(name).to_string();
                    Key { name, param: ParamId(at as u16) }
                })
                .collect(),
            ..Program::default()
        };
        Self {
            program,
            graph,
            insides,
            clips: Numbers::default(),
            bones: Numbers::default(),
            snapshots: Numbers::default(),
            groups: Numbers::default(),
            constants: HashMap::new(),
            masks: HashMap::new(),
            clocks: HashMap::new(),
            machines: HashMap::new(),
        }
    }

    /// Numbers clocks and machines in the order in which they are run.
    pub fn number(&mut self, ir: &'a Ir<'a>, items: &[Item]) {
        for item in items {
            match *item {
                Item::Advance(node) => {
                    if let Pose::Clip { clip, mode, speed, start, group, .. } =
                        &ir.nodes[node.get()]
                    {
                        let group = group.map(|at| self.group(at));
                        let desc = ClockDesc {
                            clip: self.clip(clip),
                            mode: *mode,
                            // A speed that changes is the instruction's factor.
                            speed: ir.scalars.constant(*speed).unwrap_or(1.0),
                            start: *start,
                            group,
                        };
                        self.clocks.insert(node, self.program.clocks.len() as u16);
                        self.program.clocks.push(desc);
                    }
                }
                Item::Select(node) => {
                    self.machines.insert(node, self.program.machines.len() as u16);
                    let name = self.graph.nodes.0[node.get()].0.to_string();
                    let initial = StateId(0);
                    let (states, transitions) = (Vec::new(), Vec::new());
                    self.program.machines.push(MachineDesc { name, states, initial, transitions });
                }
                _ => {}
            }
        }
    }

    pub fn clip(&mut self, name: &'a str) -> ClipRef {
        ClipRef(self.clips.of(name, &mut self.program.clips))
    }

    /// A sync group, by its place in the file.
    pub fn group(&mut self, at: usize) -> GroupId {
        let name = self.graph.sync_groups[at].as_str();
        GroupId(self.groups.of(name, &mut self.program.sync_groups))
    }

    pub fn bone(&mut self, name: &'a str) -> BoneRef {
        BoneRef(self.bones.of(name, &mut self.program.bones))
    }

    pub fn snapshot(&mut self, name: &'a str) -> u16 {
        self.snapshots.of(name, &mut self.program.snapshots)
    }

    pub fn constant(&mut self, bits: u32) -> ConstId {
        let consts = &mut self.program.consts;
        ConstId(*self.constants.entry(bits).or_insert_with(|| {
            consts.push(f32::from_bits(bits));
            (consts.len() - 1) as u16
        }))
    }

    pub fn mask(&mut self, at: usize) -> MaskRef {
        if let Some(known) = self.masks.get(&at) {
            return MaskRef(*known);
        }
        let graph = self.graph;
        let (name, lines) = &graph.masks.0[at];
        let mut mask = MaskDesc { name: name.to_string(), others: 0.0, entries: Vec::new() };
        for line in lines {
            let (bone, weight, subtree) = match line {
                MaskLine::Bone(bone, weight) => (bone, weight.0, false),
                MaskLine::Subtree(bone, weight) => (bone, weight.0, true),
                MaskLine::Others(weight) => {
                    mask.others = weight.0;
                    continue;
                }
            };
            let bone = self.bone(bone.as_str());
            mask.entries.push(MaskEntry { bone, weight, subtree });
        }
        let number = self.program.masks.len() as u16;
        self.program.masks.push(mask);
        self.masks.insert(at, number);
        MaskRef(number)
    }

    pub fn clock(&self, node: NodeId) -> ClockId {
        ClockId(self.clocks.get(&node).copied().unwrap_or_default())
    }

    pub fn machine(&self, node: NodeId) -> MachineId {
        MachineId(self.machines.get(&node).copied().unwrap_or_default())
    }

    fn node_name(&self, node: NodeId) -> String {
        self.graph.nodes.0[node.get()].0.to_string()
    }

    pub fn space_1d(&mut self, node: NodeId, places: &[f32]) -> u16 {
        let (name, points) = (self.node_name(node), places.to_vec());
        self.program.spaces_1d.push(Space1D { name, points });
        (self.program.spaces_1d.len() - 1) as u16
    }

    pub fn space_2d(&mut self, node: NodeId, plane: &Plane) -> u16 {
        let name = self.node_name(node);
        let (points, triangles) = (plane.points.clone(), plane.triangles.clone());
        self.program.spaces_2d.push(Space2D { name, points, triangles });
        (self.program.spaces_2d.len() - 1) as u16
    }

    /// The transitions of a machine; `conditions` are the registers of its ways' conditions.
    pub fn ways(&mut self, ir: &Ir<'_>, node: NodeId, conditions: &[Option<Scalar>]) {
        let Pose::Machine(machine) = &ir.nodes[node.get()] else { return };
        let ways = machine.ways.iter().zip(conditions);
        let transitions = ways.map(|(way, condition)| {
            let (style, duration) = match way.passage {
                Passage::Cut => (TransitionStyle::Inertialize, 0.0),
                Passage::Inertialize(seconds) => (TransitionStyle::Inertialize, seconds.0),
                Passage::DeadBlend(seconds) => (TransitionStyle::DeadBlend, seconds.0),
            };
            TransitionDesc {
                from: way.from.map(|from| StateId(from as u16)),
                to: StateId(way.to as u16),
                condition: *condition,
                min_time: way.after,
                at_end: way.at_end.map(|(clip, before)| AtEnd { clock: self.clock(clip), before }),
                interrupts: way.interrupts,
                duration,
                style,
            }
        });
        let transitions = transitions.collect();
        let row = self.machine(node).get();
        self.program.machines[row].transitions = transitions;
    }

    /// The states of a machine with the registers of their poses.
    pub fn states(&mut self, ir: &Ir<'_>, node: NodeId, poses: &[PoseIn]) {
        let Pose::Machine(machine) = &ir.nodes[node.get()] else { return };
        let states = machine.states.iter().zip(poses).map(|(state, pose)| {
            let (mut clocks, mut machines) = (Vec::new(), Vec::new());
            if state.resets {
                let inside = self.insides.of(state.pose);
                clocks = inside.clocks.iter().map(|clip| self.clock(*clip)).collect();
                machines = inside.machines.iter().map(|inner| self.machine(*inner)).collect();
            }
            StateDesc { name: state.name.to_owned(), pose: *pose, clocks, machines }
        });
        let states = states.collect();
        let row = self.machine(node).get();
        let desc = &mut self.program.machines[row];
        (desc.states, desc.initial) = (states, StateId(machine.initial as u16));
    }

    /// Notifies and sync markers of clips that are played, and what becomes of the root. Gives what
    /// there is of clips that nobody plays.
    pub fn finish(&mut self) -> Unheard {
        let graph = self.graph;
        let mut unheard = Unheard::default();
        for (at, (clip, notifies)) in graph.notifies.iter().enumerate() {
            let Some(clip) = self.clips.0.get(clip.as_str()).copied().map(ClipRef) else {
                unheard.notifies.push(at);
                continue;
            };
            self.program.notifies.extend(notifies.iter().map(|notify| {
                let (at, until, name) = match notify {
                    Notify::At(at, name) => (Moment::Seconds(at.0), None, name),
                    Notify::AtPart(at, name) => (Moment::Fraction(at.0), None, name),
                    Notify::During(from, to, name) => {
                        (Moment::Seconds(from.0), Some(Moment::Seconds(to.0)), name)
                    }
                    Notify::DuringPart(from, to, name) => {
                        (Moment::Fraction(from.0), Some(Moment::Fraction(to.0)), name)
                    }
                };
                NotifyDesc { name: name.to_string(), clip, at, until }
            }));
        }
        for (at, (clip, markers)) in graph.sync_markers.iter().enumerate() {
            let Some(clip) = self.clips.0.get(clip.as_str()).copied().map(ClipRef) else {
                unheard.markers.push(at);
                continue;
            };
            let markers = markers.iter().map(|marker| {
                let (at, name) = match marker {
                    Marker::At(at, name) => (Moment::Seconds(at.0), name),
                    Marker::AtPart(at, name) => (Moment::Fraction(at.0), name),
                };
                MarkerDesc { name: name.to_string(), at }
            });
            self.program.sync_markers.push(MarkersDesc { clip, markers: markers.collect() });
        }
        let bone = graph.root_motion.bone.as_ref().map(|bone| self.bone(bone.as_str()));
        let mode = match graph.root_motion.mode {
            RootUse::Clips => RootMode::Clips,
            RootUse::Always => RootMode::Always,
            RootUse::Never => RootMode::Never,
        };
        self.program.root = RootDesc { bone, mode };
        unheard
    }
}

fn param(name: &str, parameter: &Parameter<'_>) -> Param {
    let (default, (min, max), kind) = match parameter {
        Parameter::Float { default, range, .. } => {
            let range = range.map_or((f32::MIN, f32::MAX), |(min, max)| (min.0, max.0));
            (default.0, range, ParamKind::Float)
        }
        Parameter::Bool { default, .. } => (f32::from(*default), (0.0, 1.0), ParamKind::Bool),
        Parameter::Trigger { .. } => (0.0, (0.0, 1.0), ParamKind::Trigger),
    };
    Param { name: name.to_owned(), default, min, max, kind }
}
