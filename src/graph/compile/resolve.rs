//! From names to numbers: every name of a file looked up, every expression read.

use super::ir::{Ir, NodeId};
use super::scalars::{ScalarId, Scalars};
use super::terms::{RESERVED, Typed};
use super::{Warning, nodes};
use crate::graph::file::{
    FileFault, Graph, GraphError, Known, Node, Notify, Parameter, Scalar, Seconds, Share, Source,
    Table, Text,
};
use crate::motion::SyncTrack;
use std::collections::HashMap;

/// What is known while names are looked up.
pub(super) struct Resolver<'s, 'a> {
    pub source: &'s Source<'a>,
    pub graph: &'s Graph<'a>,
    pub scalars: Scalars,
    /// The values above the place that is being read.
    pub values: HashMap<&'s str, Typed>,
    pub used_parameters: Vec<bool>,
    pub used_masks: Vec<bool>,
    pub used_groups: Vec<bool>,
    /// Nodes that expressions and transitions ask about.
    pub asked: Vec<bool>,
    pub warnings: Vec<Warning>,
}

/// Looks up every name of a file.
pub(super) fn resolve<'s, 'a>(
    source: &'s Source<'a>,
    graph: &'s Graph<'a>,
) -> Result<(Ir<'s>, Vec<Warning>), GraphError> {
    let mut this = Resolver {
        source,
        graph,
        scalars: Scalars::default(),
        values: HashMap::new(),
        used_parameters: vec![false; graph.parameters.len()],
        used_masks: vec![false; graph.masks.len()],
        used_groups: vec![false; graph.sync_groups.len()],
        asked: vec![false; graph.nodes.len()],
        warnings: Vec::new(),
    };
    this.read_values()?;
    let group_speeds = this.group_speeds()?;
    let output = this.node(&graph.output).map_err(|e| e.within(|| "output".into()))?;
    let mut built = Vec::with_capacity(graph.nodes.len());
    for (at, (name, node)) in graph.nodes.iter().enumerate() {
        let pose = this
            .pose((NodeId(at as u16), name), node)
            .map_err(|e| e.within(|| format!("node `{name}`")).near(source, name.as_str()))?;
        built.push(pose);
    }
    this.cycles(&built)?;
    this.unused();
    this.dead(&built, output);
    let (nodes, output) = nodes::without_detours(built, output);
    let zero = this.scalars.number(0.0);
    Ok((Ir { scalars: this.scalars, zero, nodes, group_speeds, output }, this.warnings))
}

impl<'s, 'a> Resolver<'s, 'a> {
    fn read_values(&mut self) -> Result<(), GraphError> {
        let graph = self.graph;
        let mut keys = HashMap::new();
        for (name, parameter) in graph.parameters.iter() {
            self.identifier("parameter", name)?;
            let within = |e: GraphError| e.within(|| format!("parameter `{name}`"));
            self.parameter(name, parameter).map_err(within)?;
            let key = parameter.key().unwrap_or(name);
            if let Some(other) = keys.insert(key.as_str(), name) {
                let line = format!("the parameter `{other}` has the blackboard's `{key}` already");
                return Err(within(self.meaning(key, line)));
            }
        }
        for (clip, notifies) in graph.notifies.iter() {
            for notify in notifies {
                if let Notify::During(Seconds(from), Seconds(to), name)
                | Notify::DuringPart(Share(from), Share(to), name) = notify
                    && from > to
                {
                    let line = format!("`{name}` ends at {to}, before it begins at {from}");
                    let error = self.meaning(name, line);
                    return Err(error.within(|| format!("notifies of `{clip}`")));
                }
            }
        }
        for (clip, markers) in graph.sync_markers.iter() {
            let (count, most) = (markers.len(), SyncTrack::MOST);
            if count > most {
                let line = format!("`{clip}` has {count} sync markers; {most} is the most");
                return Err(self.meaning(clip, line));
            }
        }
        for (name, value) in graph.values.iter() {
            self.identifier("value", name)?;
            if graph.parameters.position(name.as_str()).is_some() {
                let line = format!("`{name}` is a parameter already");
                return Err(self.at(name, FileFault::Meaning(line)));
            }
            let typed = match value {
                Scalar::Number(number) => {
                    let id = self.scalars.number(*number);
                    Typed { id, kind: super::terms::Kind::Number }
                }
                Scalar::Expression(text) => {
                    self.expression(text).map_err(|e| e.within(|| format!("value `{name}`")))?
                }
            };
            self.values.insert(name.as_str(), typed);
        }
        Ok(())
    }

    /// How fast sync groups run, by their places in the file; none where it is their clips' speed.
    fn group_speeds(&mut self) -> Result<Vec<Option<ScalarId>>, GraphError> {
        let graph = self.graph;
        let mut speeds = vec![None; graph.sync_groups.len()];
        let names = || graph.sync_groups.iter().map(Text::as_str);
        for (group, speed) in graph.sync_speeds.iter() {
            let Some(at) = names().position(|name| name == group.as_str()) else {
                return Err(self.unknown("sync group", group, names()));
            };
            let speed = self
                .speed(group, speed)
                .map_err(|e| e.within(|| format!("the speed of the sync group `{group}`")))?;
            speeds[at] = Some(speed).filter(|speed| self.scalars.constant(*speed) != Some(1.0));
        }
        Ok(speeds)
    }

    /// A range that has a beginning and an end, with the default between them.
    fn parameter(&self, name: &Text<'a>, parameter: &Parameter<'a>) -> Result<(), GraphError> {
        let Parameter::Float { default, range: Some((least, most)), .. } = parameter else {
            return Ok(());
        };
        let (default, least, most) = (default.0, least.0, most.0);
        if least > most {
            let line = format!("the range ({least}, {most}) has its end below its beginning");
            return Err(self.meaning(name, line));
        }
        if !(least..=most).contains(&default) {
            let line = format!("the default {default} is not in the range ({least}, {most})");
            return Err(self.meaning(name, line));
        }
        Ok(())
    }

    /// A name that expressions can use.
    fn identifier(&self, what: &str, name: &Text<'a>) -> Result<(), GraphError> {
        let text = name.as_str();
        let first = text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
        let rest = text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
        if first && rest && !RESERVED.contains(&text) {
            return Ok(());
        }
        let line = format!(
            "`{text}` can't name a {what}: a letter first, then letters, digits, `_` and `.`; and \
             {} mean something already",
            RESERVED.join(", ")
        );
        Err(self.at(name, FileFault::Meaning(line)))
    }

    pub(super) fn at(&self, name: &Text<'a>, fault: FileFault) -> GraphError {
        GraphError::at(self.source, name.as_str(), fault)
    }

    pub(super) fn meaning(&self, name: &Text<'a>, line: String) -> GraphError {
        self.at(name, FileFault::Meaning(line))
    }

    /// The position of a name, or a fault that lists what there is.
    pub(super) fn position<T>(
        &self,
        what: &'static str,
        table: &Table<'a, T>,
        name: &Text<'a>,
    ) -> Result<usize, GraphError> {
        table.position(name.as_str()).ok_or_else(|| self.unknown(what, name, table.names()))
    }

    pub(super) fn unknown<'n>(
        &self,
        what: &'static str,
        name: &Text<'a>,
        right: impl IntoIterator<Item = &'n str>,
    ) -> GraphError {
        let known = Known::new(name.as_str(), right);
        self.at(name, FileFault::Unknown { what, name: name.to_string(), known })
    }

    /// The node of a name.
    pub(super) fn node(&self, name: &Text<'a>) -> Result<NodeId, GraphError> {
        // A table holds fewer entries than an index can name.
        self.position("node", &self.graph.nodes, name).map(|at| NodeId(at as u16))
    }

    /// Names of the nodes that a test picks.
    pub(super) fn nodes_that(
        &self,
        is: impl Fn(&Node<'a>) -> bool,
    ) -> impl Iterator<Item = &'s str> {
        self.graph.nodes.iter().filter(move |(_, node)| is(node)).map(|(name, _)| name.as_str())
    }

    pub(super) fn warn(&mut self, name: &Text<'a>, line: String) {
        let place = self.source.place_of(name.as_str());
        self.warnings.push(Warning { file: self.source.name.into(), place, line });
    }

    /// Nodes that need themselves, by whatever way.
    fn cycles(&self, built: &[nodes::Built<'_>]) -> Result<(), GraphError> {
        let inputs = |at: usize| built[at].inputs().into_iter().map(NodeId::get).collect();
        super::order::topological(0..built.len(), built.len(), inputs).map(drop).map_err(|cycle| {
            let name = |at: &usize| self.graph.nodes.0[*at].0.clone();
            let path = cycle.iter().map(|at| name(at).to_string()).collect();
            match cycle.first() {
                Some(first) => self.at(&name(first), FileFault::Cycle { path }),
                None => GraphError::whole(self.source, FileFault::Cycle { path }),
            }
        })
    }

    fn unused(&mut self) {
        let graph = self.graph;
        let parameters = graph.parameters.iter().map(|(name, _)| name);
        let masks = graph.masks.iter().map(|(name, _)| name);
        let unused = parameters
            .zip(&self.used_parameters)
            .map(|(name, used)| ("parameter", name, *used))
            .chain(masks.zip(&self.used_masks).map(|(name, used)| ("mask", name, *used)))
            .chain(
                graph
                    .sync_groups
                    .iter()
                    .zip(&self.used_groups)
                    .map(|(name, used)| ("sync group", name, *used)),
            )
            .filter(|(_, _, used)| !used)
            .map(|(what, name, _)| (name, format!("nothing uses the {what} `{name}`")))
            .collect::<Vec<_>>();
        for (name, line) in unused {
            self.warn(name, line);
        }
    }

    /// Warns of nodes that the output does not depend on, and nobody asks about.
    fn dead(&mut self, built: &[nodes::Built<'_>], output: NodeId) {
        let inputs = |at: usize| built[at].inputs().into_iter().map(NodeId::get).collect();
        let asked = (0..built.len()).filter(|at| self.asked[*at]);
        let roots = asked.chain([output.get()]);
        let mut alive = vec![false; built.len()];
        let order = super::order::topological(roots, built.len(), inputs).unwrap_or_default();
        order.into_iter().for_each(|at| alive[at] = true);
        let graph = self.graph;
        for ((name, _), _) in graph.nodes.iter().zip(alive).filter(|(_, alive)| !alive) {
            self.warn(name, format!("the output does not depend on the node `{name}`"));
        }
    }
}
