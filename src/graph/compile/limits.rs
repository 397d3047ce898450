//! Graphs that would be cheap to write and dear to run.

use super::ir::{Ir, NodeId, Pose};
use super::order::topological;
use super::schedule::Insides;
use crate::graph::file::{FileFault, Graph, GraphError, Source};

/// Transitions of all machines, one for each state they leave from.
const TRANSITIONS: usize = 1 << 14;
/// Machines that start over when one state is entered, those inside of machines included.
const STARTS: usize = 256;
/// Clocks and machines that states start over, over all states.
const RESETS: usize = 1 << 16;

/// Checks what a file may ask of a frame.
///
/// # Errors
/// The machine that asks too much.
pub(super) fn check(
    source: &Source<'_>,
    graph: &Graph<'_>,
    ir: &Ir<'_>,
    insides: &Insides,
) -> Result<(), GraphError> {
    let (mut transitions, mut resets) = (0, 0);
    // How many machines start over with one, itself included.
    let mut starts = vec![1_usize; ir.nodes.len()];
    let inputs = |at: usize| ir.nodes[at].inputs().into_iter().map(NodeId::get).collect();
    let order = topological(0..ir.nodes.len(), ir.nodes.len(), inputs).unwrap_or_default();
    for at in order {
        let Pose::Machine(machine) = &ir.nodes[at] else { continue };
        let limit = |what, count, limit| {
            if count <= limit {
                return Ok(());
            }
            let name = &graph.nodes.0[at].0;
            let fault = FileFault::TooMany { what, count, limit };
            Err(GraphError::at(source, name.as_str(), fault).within(|| format!("node `{name}`")))
        };
        transitions += machine.ways.len();
        limit("transitions", transitions, TRANSITIONS)?;
        for (i, state) in machine.states.iter().enumerate().filter(|(_, state)| state.resets) {
            let inside = insides.of(state.pose);
            resets += inside.clocks.len() + inside.machines.len();
            limit("clocks and machines that start over", resets, RESETS)?;
            let inner = inside.machines.iter().map(|m| starts[m.get()]);
            let sum = inner.fold(0_usize, usize::saturating_add);
            limit("machines that start over at once", sum, STARTS)?;
            if i == machine.initial {
                starts[at] = starts[at].saturating_add(sum);
            }
        }
    }
    Ok(())
}
