//! A source's own keys and curves, evaluated in double precision.
//!
//! This is the reference that runtime clips are measured against. The rules are those of the
//! glTF 2.0 specification (§3.11 and appendix C): time is clamped to the keys, LINEAR rotations are
//! slerped along the shorter arc, CUBICSPLINE tangents are scaled by the key interval and rotations
//! normalized after it, STEP takes the new value at exactly its key's time.

use super::source::{
    Interpolation, NodeTransform, Source, SourceAnimation, SourceChannel, SourceValues,
};
use crate::index::NodeIndex;
use crate::math::Trs;
use glam::{Affine3A, DAffine3, DQuat, DVec3};
use std::collections::HashMap;

/// Translation, rotation and scale in double precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExactTrs {
    /// In the parent's space.
    pub translation: DVec3,
    /// Unit length.
    pub rotation: DQuat,
    /// Per axis.
    pub scale: DVec3,
}

impl ExactTrs {
    /// From the single-precision transform; its rotation is normalized (zero becomes identity).
    pub fn new(trs: &Trs) -> Self {
        Self {
            translation: trs.translation.as_dvec3(),
            rotation: unit(trs.rotation.to_array().map(f64::from)),
            scale: trs.scale.as_dvec3(),
        }
    }

    /// The matrix `parent_from_local`.
    pub fn to_affine(self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// Rounded to single precision.
    pub fn to_trs(self) -> Trs {
        Trs {
            translation: self.translation.as_vec3(),
            rotation: self.rotation.as_quat(),
            scale: self.scale.as_vec3(),
        }
    }
}

/// A node's local transform at rest as translation, rotation and scale; shear is dropped.
pub fn rest_trs(rest: &NodeTransform) -> ExactTrs {
    match rest {
        NodeTransform::Trs(trs) => ExactTrs::new(trs),
        NodeTransform::Matrix(m) => ExactTrs::new(&Trs::from_affine(&Affine3A::from_mat4(*m))),
    }
}

/// A node's local matrix at rest, shear included.
pub fn rest_matrix(rest: &NodeTransform) -> DAffine3 {
    match rest {
        NodeTransform::Trs(trs) => ExactTrs::new(trs).to_affine(),
        NodeTransform::Matrix(m) => DAffine3::from_mat4(m.as_dmat4()),
    }
}

/// The channels that drive one node in one animation.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeCurves<'a> {
    translation: Option<&'a SourceChannel>,
    rotation: Option<&'a SourceChannel>,
    scale: Option<&'a SourceChannel>,
}

impl<'a> NodeCurves<'a> {
    /// The channels of every node that `animation` drives; of two on one property the later counts.
    pub fn of_animation(animation: &'a SourceAnimation) -> HashMap<NodeIndex, Self> {
        let mut nodes: HashMap<NodeIndex, Self> = HashMap::new();
        for channel in &animation.channels {
            let curves = nodes.entry(channel.node).or_default();
            match channel.values {
                SourceValues::Translation(_) => curves.translation = Some(channel),
                SourceValues::Rotation(_) => curves.rotation = Some(channel),
                SourceValues::Scale(_) => curves.scale = Some(channel),
            }
        }
        nodes
    }

    /// The channels that there are.
    pub fn channels(&self) -> impl Iterator<Item = &'a SourceChannel> {
        [self.translation, self.rotation, self.scale].into_iter().flatten()
    }

    /// The node's local transform at `seconds`; a property without a channel keeps `rest`'s.
    pub fn sample(&self, rest: &ExactTrs, seconds: f64) -> ExactTrs {
        let mut trs = *rest;
        for channel in self.channels() {
            let at = Position::find(&channel.times, seconds);
            let mode = channel.interpolation;
            match &channel.values {
                SourceValues::Translation(v) => {
                    trs.translation = DVec3::from_array(interpolate(v, mode, at));
                }
                SourceValues::Scale(v) => trs.scale = DVec3::from_array(interpolate(v, mode, at)),
                SourceValues::Rotation(v) => trs.rotation = interpolate_rotation(v, mode, at),
            }
        }
        trs
    }
}

/// Evaluates all nodes of a source.
pub struct Evaluator<'a> {
    source: &'a Source,
    /// Every node, parents first.
    order: Vec<NodeIndex>,
}

impl<'a> Evaluator<'a> {
    /// Sorts the nodes once.
    pub fn new(source: &'a Source) -> Self {
        Self { source, order: parents_first(source) }
    }

    /// Every node, each after its parent.
    pub fn order(&self) -> &[NodeIndex] {
        &self.order
    }

    /// `model_from_node` of every node, in the file's order, at rest.
    pub fn rest(&self) -> Vec<DAffine3> {
        self.compose(|node| rest_matrix(&self.source.nodes[node.get()].rest))
    }

    /// `model_from_node` of every node, in the file's order, at `seconds` of an animation.
    pub fn at(&self, animation: &SourceAnimation, seconds: f64) -> Vec<DAffine3> {
        let curves = NodeCurves::of_animation(animation);
        self.compose(|node| {
            let rest = &self.source.nodes[node.get()].rest;
            match curves.get(&node) {
                Some(curves) => curves.sample(&rest_trs(rest), seconds).to_affine(),
                None => rest_matrix(rest),
            }
        })
    }

    fn compose(&self, parent_from_node: impl Fn(NodeIndex) -> DAffine3) -> Vec<DAffine3> {
        let mut model = vec![DAffine3::IDENTITY; self.source.nodes.len()];
        for &node in &self.order {
            let local = parent_from_node(node);
            model[node.get()] = match self.source.nodes[node.get()].parent {
                Some(parent) => model[parent.get()] * local,
                None => local,
            };
        }
        model
    }
}

/// All nodes, each after its parent, siblings in the file's order; without recursion, so that a
/// chain of any depth is fine.
fn parents_first(source: &Source) -> Vec<NodeIndex> {
    let mut order: Vec<NodeIndex> = (0..source.nodes.len() as u32)
        .map(NodeIndex)
        .filter(|n| source.nodes[n.get()].parent.is_none())
        .collect();
    let mut next = 0;
    while next < order.len() {
        order.extend_from_slice(&source.nodes[order[next].get()].children);
        next += 1;
    }
    order
}

/// Where a time falls among a channel's keys.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Position {
    /// On a key, or clamped to it.
    Key(usize),
    /// After key `key`: `fraction` of the way to the next one, which comes `interval` seconds later.
    After { key: usize, fraction: f64, interval: f64 },
}

impl Position {
    /// `times` are not decreasing and not empty.
    fn find(times: &[f32], seconds: f64) -> Self {
        let last = times.len() - 1;
        if last == 0 || seconds <= f64::from(times[0]) {
            return Self::Key(0);
        }
        if seconds >= f64::from(times[last]) {
            return Self::Key(last);
        }
        let key = times.partition_point(|&t| f64::from(t) <= seconds) - 1;
        let start = f64::from(times[key]);
        let interval = f64::from(times[key + 1]) - start;
        Self::After { key, fraction: (seconds - start) / interval, interval }
    }
}

fn key_value<const N: usize>(values: &[[f32; N]], mode: Interpolation, key: usize) -> [f64; N] {
    let index = if mode == Interpolation::CubicSpline { 3 * key + 1 } else { key };
    values[index].map(f64::from)
}

/// Componentwise interpolation; for a cubic spline glTF's Hermite form (appendix C.5).
fn interpolate<const N: usize>(values: &[[f32; N]], mode: Interpolation, at: Position) -> [f64; N] {
    let (key, u, interval) = match at {
        Position::Key(key) => return key_value(values, mode, key),
        Position::After { key, fraction, interval } => (key, fraction, interval),
    };
    let (a, b) = (key_value(values, mode, key), key_value(values, mode, key + 1));
    match mode {
        Interpolation::Step => a,
        Interpolation::Linear => std::array::from_fn(|i| a[i] * (1.0 - u) + b[i] * u),
        Interpolation::CubicSpline => {
            let out_tangent = values[3 * key + 2].map(f64::from);
            let in_tangent = values[3 * (key + 1)].map(f64::from);
            let (u2, u3) = (u * u, u * u * u);
            std::array::from_fn(|i| {
                (2.0 * u3 - 3.0 * u2 + 1.0) * a[i]
                    + interval * (u3 - 2.0 * u2 + u) * out_tangent[i]
                    + (3.0 * u2 - 2.0 * u3) * b[i]
                    + interval * (u3 - u2) * in_tangent[i]
            })
        }
    }
}

fn interpolate_rotation(values: &[[f32; 4]], mode: Interpolation, at: Position) -> DQuat {
    match (mode, at) {
        (Interpolation::Linear, Position::After { key, fraction, .. }) => slerp(
            unit(key_value(values, mode, key)),
            unit(key_value(values, mode, key + 1)),
            fraction,
        ),
        _ => unit(interpolate(values, mode, at)),
    }
}

/// Unit quaternion in the direction of `q`; a zero one is no rotation.
fn unit(q: [f64; 4]) -> DQuat {
    let q = DQuat::from_array(q);
    let length = q.length();
    if length > 1e-12 && length.is_finite() { q / length } else { DQuat::IDENTITY }
}

/// Spherical interpolation along the shorter arc; nearly equal rotations are blended linearly, where
/// the sines would lose their digits.
fn slerp(a: DQuat, b: DQuat, u: f64) -> DQuat {
    let dot = a.dot(b);
    let (b, dot) = if dot < 0.0 { (-b, -dot) } else { (b, dot) };
    let (wa, wb) = if dot > 1.0 - 1e-9 {
        (1.0 - u, u)
    } else {
        let angle = dot.acos();
        let sin = angle.sin();
        (((1.0 - u) * angle).sin() / sin, (u * angle).sin() / sin)
    };
    unit((a * wa + b * wb).to_array())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    fn channel(mode: Interpolation, times: &[f32], values: SourceValues) -> SourceChannel {
        SourceChannel { node: NodeIndex(0), interpolation: mode, times: times.to_vec(), values }
    }

    fn sample(c: &SourceChannel, t: f64) -> ExactTrs {
        let animation = SourceAnimation {
            name: String::new(),
            seconds: 1.0,
            channels: vec![c.clone()],
            notifies: Vec::new(),
            sync_markers: Vec::new(),
        };
        let rest = ExactTrs::new(&Trs::IDENTITY);
        NodeCurves::of_animation(&animation)[&NodeIndex(0)].sample(&rest, t)
    }

    #[test]
    fn step_changes_at_exactly_its_key_and_time_is_clamped() {
        let v = SourceValues::Translation(vec![[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [3.0, 0.0, 0.0]]);
        let c = channel(Interpolation::Step, &[0.25, 0.5, 1.0], v);
        for (t, x) in
            [(-1.0, 1.0), (0.4999999, 1.0), (0.5, 2.0), (0.99, 2.0), (1.0, 3.0), (9.0, 3.0)]
        {
            assert_eq!(sample(&c, t).translation.x, x, "at {t}");
        }
    }

    #[test]
    fn a_linear_rotation_moves_evenly_along_the_shorter_arc_even_between_unnormalized_keys() {
        let h = (FRAC_PI_2 / 2.0).sin() as f32;
        // 90 degrees about z, written with the opposite sign and twice as long.
        let v = SourceValues::Rotation(vec![[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, -2.0 * h, -2.0 * h]]);
        let c = channel(Interpolation::Linear, &[0.0, 1.0], v);
        for u in [0.1, 0.25, 0.5, 0.9] {
            let want = DQuat::from_rotation_z(u * FRAC_PI_2);
            assert!(sample(&c, u).rotation.dot(want).abs() > 1.0 - 1e-9, "at {u}");
        }
    }

    #[test]
    fn a_cubic_spline_follows_the_cubic_that_its_tangents_were_taken_from() {
        // x(t) = t^3 - 2 t over keys 0 and 2, derivative 3 t^2 - 2.
        let f = |t: f64| t * t * t - 2.0 * t;
        let d = |t: f32| 3.0 * t * t - 2.0;
        let key = |t: f32| [[d(t), 0.0, 0.0], [f(t.into()) as f32, 0.0, 0.0], [d(t), 0.0, 0.0]];
        let v = SourceValues::Scale([key(0.0), key(2.0)].concat());
        let c = channel(Interpolation::CubicSpline, &[0.0, 2.0], v);
        for t in [0.0, 0.3, 1.0, 1.7, 2.0] {
            assert!((sample(&c, t).scale.x - f(t)).abs() < 1e-6, "at {t}");
        }
    }

    #[test]
    fn zero_quaternions_and_doubled_keys_stay_finite() {
        let v = SourceValues::Rotation(vec![[0.0; 4], [0.0; 4], [0.0, 0.0, 1.0, 0.0]]);
        let c = channel(Interpolation::Linear, &[0.0, 0.5, 0.5], v);
        for t in [0.0, 0.25, 0.5, 0.75] {
            let q = sample(&c, t).rotation;
            assert!(q.is_finite() && (q.length() - 1.0).abs() < 1e-12, "at {t}: {q}");
        }
    }

    #[test]
    fn a_deep_chain_is_composed_without_recursion() {
        let node = |i: u32, n: u32| crate::asset::source::SourceNode {
            name: String::new(),
            parent: (i > 0).then(|| NodeIndex(i - 1)),
            children: if i + 1 < n { vec![NodeIndex(i + 1)] } else { vec![] },
            rest: NodeTransform::Trs(Trs { translation: glam::Vec3::Y, ..Trs::IDENTITY }),
            mesh: None,
            skin: None,
        };
        let n = 200_000;
        let source = Source { nodes: (0..n).map(|i| node(i, n)).collect(), ..Source::default() };
        let model = Evaluator::new(&source).rest();
        assert_eq!(model[n as usize - 1].translation.y, f64::from(n));
    }
}
