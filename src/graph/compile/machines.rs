//! State machines of the file: states, and the ways between them.

use super::ir::{Machine, NodeId, State, Way};
use super::resolve::Resolver;
use crate::graph::file::{
    self, GraphError, Names, Node, OnEntry, Passage, Table, Text, Transition,
};

impl<'s, 'a> Resolver<'s, 'a> {
    pub(super) fn machine(
        &mut self,
        name: &Text<'a>,
        entry: &Text<'a>,
        states: &'s Table<'a, file::State<'a>>,
        transitions: &'s [Transition<'a>],
        usual: Passage,
    ) -> Result<Machine<'s>, GraphError> {
        if states.is_empty() {
            return Err(self.meaning(name, "a state machine needs a state".into()));
        }
        let initial = self.position("state", states, entry)?;
        let mut resolved = Vec::with_capacity(states.len());
        for (name, state) in states.iter() {
            let pose = self.node(&state.pose)?;
            let resets = state.on_entry == OnEntry::Reset;
            resolved.push(State { name: name.as_str(), pose, resets });
        }
        let mut ways = Vec::new();
        for transition in transitions {
            self.transition(states, transition, usual, &mut ways)?;
        }
        let mut entered = vec![false; states.len()];
        entered[initial] = true;
        ways.iter().for_each(|way| entered[way.to] = true);
        for ((state, _), entered) in states.iter().zip(entered) {
            if !entered {
                self.warn(state, format!("no transition of `{name}` leads to its state `{state}`"));
            }
        }
        Ok(Machine { initial, states: resolved, ways })
    }

    fn transition(
        &mut self,
        states: &Table<'a, file::State<'a>>,
        transition: &'s Transition<'a>,
        usual: Passage,
        ways: &mut Vec<Way>,
    ) -> Result<(), GraphError> {
        let to = self.position("state", states, &transition.to)?;
        let Transition { when, after, at_end, before_end, .. } = transition;
        if when.is_none() && after.is_none() && at_end.is_none() {
            let line = format!(
                "the transition to `{}` says neither `when` nor `after` nor `at_end`, so it would \
                 be taken at once",
                transition.to
            );
            return Err(self.meaning(&transition.to, line));
        }
        let mut condition = None;
        if let Some(text) = when {
            let id = self.condition(text)?;
            match self.scalars.constant(id) {
                Some(known) if known > 0.5 => {}
                Some(_) => {
                    self.warn(
                        text,
                        format!("the transition to `{}` is never taken", transition.to),
                    );
                    return Ok(());
                }
                None => condition = Some(id),
            }
        }
        let at_end = match at_end {
            Some(node) => Some((self.ending(node)?, before_end.map_or(0.0, |s| s.0))),
            None if before_end.is_some() => {
                let line = "`before_end` says how near the end of `at_end` is near enough, and there \
                            is no `at_end`";
                return Err(self.meaning(&transition.to, line.into()));
            }
            None => None,
        };
        let way = |from| Way {
            from,
            to,
            condition,
            after: after.map_or(0.0, |s| s.0),
            at_end,
            interrupts: transition.interrupts,
            passage: transition.blend.unwrap_or(usual),
        };
        match &transition.from {
            None => ways.push(way(None)),
            Some(Names(names)) if names.is_empty() => {
                let line = "`from` is empty; leave it out for all states".to_owned();
                return Err(self.meaning(&transition.to, line));
            }
            Some(Names(names)) => {
                for name in names {
                    ways.push(way(Some(self.position("state", states, name)?)));
                }
            }
        }
        Ok(())
    }

    /// A clip node whose end somebody waits for.
    fn ending(&mut self, name: &Text<'a>) -> Result<NodeId, GraphError> {
        let node = self.node(name)?;
        match &self.graph.nodes.0[node.get()].1 {
            Node::Clip { .. } => {
                self.asked[node.get()] = true;
                Ok(node)
            }
            _ => {
                let clips = self.nodes_that(|node| matches!(node, Node::Clip { .. }));
                Err(self.unknown("clip node", name, clips))
            }
        }
    }
}
