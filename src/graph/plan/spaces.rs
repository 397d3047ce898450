//! Blend spaces, whose places are looked for once it is known who needs them.

use super::guards::{Guard, Guards};
use crate::graph::Op;
use crate::graph::operand::*;
use crate::graph::program::Program;
use crate::graph::space::Triangle;

/// A node that is a blend space.
#[derive(Clone, Debug)]
pub struct Placed {
    /// When it is needed.
    pub guard: Guard,
    pub points: Points,
}

/// What it is over, and where the place in it comes from.
#[derive(Clone, Debug)]
pub(in crate::graph) enum Points {
    Line { x: Scalar, points: Vec<f32> },
    Plane { x: Scalar, y: Scalar, triangles: Vec<Triangle> },
}

/// The blend spaces among some nodes, and by node which of them it is.
pub fn placed(program: &Program, nodes: &[Op], guards: &Guards) -> (Vec<Placed>, Vec<u16>) {
    let (mut placed, mut which) = (Vec::new(), vec![0; nodes.len()]);
    for (node, op) in nodes.iter().enumerate() {
        let points = match *op {
            Op::BlendSpace1D { space, x, .. } => {
                Points::Line { x, points: program.spaces_1d[space.get()].points.clone() }
            }
            Op::BlendSpace2D { space, x, y, .. } => {
                let triangles = program.spaces_2d[space.get()].made_ready();
                Points::Plane { x, y, triangles }
            }
            _ => continue,
        };
        which[node] = placed.len() as u16;
        placed.push(Placed { guard: guards.nodes[node], points });
    }
    (placed, which)
}
