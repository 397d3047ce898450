//! Poses and differences between poses: who gives which, and who takes which.

use super::ir::{Ir, NodeId, Pose};
use super::order::topological;
use crate::graph::file::{FileFault, Graph, GraphError, Source};
use crate::task::AdditiveSpace;

/// The space of each node's difference; none for nodes that give a pose.
///
/// # Errors
/// A node that gets a difference where it needs a pose, or the other way round.
pub(super) fn check(
    source: &Source<'_>,
    graph: &Graph<'_>,
    ir: &Ir<'_>,
) -> Result<Vec<Option<AdditiveSpace>>, GraphError> {
    let mut spaces = vec![None; ir.nodes.len()];
    let inputs = |at: usize| ir.nodes[at].inputs().into_iter().map(NodeId::get).collect();
    // There are no cycles left to find.
    let order = topological(0..ir.nodes.len(), ir.nodes.len(), inputs).unwrap_or_default();
    let name = |node: usize| &graph.nodes.0[node].0;
    let fault = |at: usize, line: String| {
        let error = GraphError::at(source, name(at).as_str(), FileFault::Meaning(line));
        Err(error.within(|| format!("node `{}`", name(at))))
    };
    for at in order {
        let pose = &ir.nodes[at];
        let inputs = pose.inputs();
        spaces[at] = match pose {
            Pose::ApplyAdditive { base, delta, .. } => {
                if spaces[base.get()].is_some() {
                    let line = format!(
                        "`{}` is a difference; its `base` has to be a pose",
                        name(base.get())
                    );
                    return fault(at, line);
                }
                if spaces[delta.get()].is_none() {
                    let line = format!(
                        "`{}` is a pose; its `delta` has to be a difference, which MakeAdditive makes",
                        name(delta.get())
                    );
                    return fault(at, line);
                }
                None
            }
            Pose::Blend { .. }
            | Pose::BlendMasked { .. }
            | Pose::Space1D { .. }
            | Pose::Space2D { .. }
            | Pose::Machine(_) => {
                let kind = inputs.first().and_then(|first| spaces[first.get()]);
                if let Some(other) = inputs.iter().find(|input| spaces[input.get()] != kind) {
                    let first = inputs.first().map_or(at, |first| first.get());
                    let line = format!(
                        "`{}` is {} and `{}` is {}; they can't be blended",
                        name(first),
                        what(kind),
                        name(other.get()),
                        what(spaces[other.get()])
                    );
                    return fault(at, line);
                }
                kind
            }
            _ => {
                if let Some(delta) = inputs.iter().find(|input| spaces[input.get()].is_some()) {
                    let line = format!(
                        "`{}` is a difference and no pose; ApplyAdditive puts it on one",
                        name(delta.get())
                    );
                    return fault(at, line);
                }
                match pose {
                    Pose::MakeAdditive { space, .. } => Some(*space),
                    _ => None,
                }
            }
        };
    }
    if spaces[ir.output.get()].is_some() {
        let line = "the output is a difference and no pose; ApplyAdditive puts it on one";
        return fault(ir.output.get(), line.into());
    }
    Ok(spaces)
}

fn what(space: Option<AdditiveSpace>) -> &'static str {
    match space {
        None => "a pose",
        Some(AdditiveSpace::Local) => "a local difference",
        Some(AdditiveSpace::Mesh) => "a difference in mesh space",
    }
}
