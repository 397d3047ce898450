//! What each kind of node means.

use super::ir::{NodeId, Pose};
use super::resolve::Resolver;
use super::scalars::{ScalarId, Term};
use super::spaces::{self, Layout};
use crate::graph::ScalarFn;
use crate::graph::file::{
    BoneFrame, Change, FileFault, GraphError, Mode, Node, POINTS, Space, Text, Vector,
};
use crate::motion::PlayMode;
use crate::pose::kernels::bone::{BoneMode, BoneSpace};
use crate::task::AdditiveSpace;

/// What becomes of a node.
#[derive(Clone, Debug)]
pub(super) enum Built<'a> {
    Pose(Pose<'a>),
    /// It is the same as another one.
    Same(NodeId),
}

impl Built<'_> {
    pub fn inputs(&self) -> Vec<NodeId> {
        match self {
            Self::Pose(pose) => pose.inputs(),
            Self::Same(node) => vec![*node],
        }
    }
}

/// Every node with what its inputs really are. There must be no cycles.
pub(super) fn without_detours(built: Vec<Built<'_>>, output: NodeId) -> (Vec<Pose<'_>>, NodeId) {
    let same: Vec<Option<NodeId>> = built
        .iter()
        .map(|built| match built {
            Built::Pose(_) => None,
            Built::Same(node) => Some(*node),
        })
        .collect();
    let real = |mut node: NodeId| {
        while let Some(next) = same[node.get()] {
            node = next;
        }
        node
    };
    let poses = built.into_iter().map(|built| match built {
        Built::Pose(pose) => pose.reading(real),
        // Nobody reads it any more.
        Built::Same(_) => Pose::Bind,
    });
    (poses.collect(), real(output))
}

impl<'s, 'a> Resolver<'s, 'a> {
    /// Looks up everything that a node names.
    pub(super) fn pose(
        &mut self,
        (id, name): (NodeId, &'s Text<'a>),
        node: &'s Node<'a>,
    ) -> Result<Built<'s>, GraphError> {
        Ok(Built::Pose(match node {
            Node::Bind => Pose::Bind,
            Node::Clip { clip, mode, speed, sync, start } => {
                let mode = play_mode(*mode);
                let group = match sync {
                    Some(group) => Some(self.sync_group(group, mode)?),
                    None => None,
                };
                let (clip, speed) = (clip.as_str(), self.speed(name, speed)?);
                let time = self.scalars.term(Term::ClipTime(id));
                Pose::Clip { clip, mode, speed, start: start.0, group, time }
            }
            Node::Frame { clip, at } => Pose::Frame { clip: clip.as_str(), at: self.scalar(at)? },
            Node::Blend { a, b, alpha } => {
                let (a, b) = (self.node(a)?, self.node(b)?);
                let alpha = self.scalar(alpha)?;
                match self.scalars.constant(alpha) {
                    Some(known) if known <= 0.0 => return Ok(Built::Same(a)),
                    Some(known) if known >= 1.0 => return Ok(Built::Same(b)),
                    _ if a == b => return Ok(Built::Same(a)),
                    _ => Pose::Blend { a, b, alpha },
                }
            }
            Node::BlendMasked { a, b, mask, alpha } => {
                let (a, b) = (self.node(a)?, self.node(b)?);
                let mask = self.mask(mask)?;
                let alpha = self.scalar(alpha)?;
                match self.scalars.constant(alpha) {
                    Some(known) if known <= 0.0 => return Ok(Built::Same(a)),
                    _ => Pose::BlendMasked { a, b, alpha, mask },
                }
            }
            Node::MakeAdditive { source, reference, space } => {
                let source = self.node(source)?;
                let reference = match reference {
                    Some(reference) => Some(self.node(reference)?),
                    None => None,
                };
                Pose::MakeAdditive { source, reference, space: additive_space(*space) }
            }
            Node::ApplyAdditive { base, delta, alpha } => {
                let (base, delta) = (self.node(base)?, self.node(delta)?);
                let alpha = self.scalar(alpha)?;
                match self.scalars.constant(alpha) {
                    Some(known) if known <= 0.0 => return Ok(Built::Same(base)),
                    _ => Pose::ApplyAdditive { base, delta, alpha },
                }
            }
            Node::BlendSpace1D { x, points } => {
                let x = self.scalar(x)?;
                let mut poses = Vec::with_capacity(points.len());
                for (_, pose) in points {
                    poses.push(self.node(pose)?);
                }
                let places = points.iter().map(|(place, _)| place.0).collect();
                self.line(name, x, places, poses)?
            }
            Node::BlendSpace2D { x, y, points } => {
                let at = [self.scalar(x)?, self.scalar(y)?];
                let mut poses = Vec::with_capacity(points.len());
                for (_, _, pose) in points {
                    poses.push(self.node(pose)?);
                }
                let points: Vec<_> = points.iter().map(|(x, y, _)| [x.0, y.0]).collect();
                return self.plane(name, at, &points, poses);
            }
            Node::StateMachine { entry, states, transitions, blend } => {
                Pose::Machine(self.machine(name, entry, states, transitions, *blend)?)
            }
            Node::Inertialize { source, trigger, duration }
            | Node::DeadBlend { source, trigger, duration } => Pose::Seam {
                source: self.node(source)?,
                trigger: self.scalar(trigger)?,
                duration: self.scalar(duration)?,
                dead: matches!(node, Node::DeadBlend { .. }),
            },
            Node::SaveSnapshot { source, snapshot } => {
                let source = self.node(source)?;
                let others = self.graph.nodes.iter().take_while(|(n, _)| n != name);
                let saved = |node: &Node<'a>| matches!(node, Node::SaveSnapshot { snapshot: s, .. } if s == snapshot);
                if let Some((other, _)) = others.into_iter().find(|(_, node)| saved(node)) {
                    let line =
                        format!("the node `{other}` saves the snapshot `{snapshot}` already");
                    return Err(self.meaning(snapshot, line));
                }
                Pose::Save { source, snapshot: snapshot.as_str() }
            }
            Node::LoadSnapshot { snapshot } => {
                let saved = self.graph.nodes.iter().filter_map(|(_, node)| match node {
                    Node::SaveSnapshot { snapshot, .. } => Some(snapshot.as_str()),
                    _ => None,
                });
                if !saved.clone().any(|name| name == snapshot.as_str()) {
                    return Err(self.unknown("snapshot", snapshot, saved));
                }
                Pose::Load { snapshot: snapshot.as_str() }
            }
            Node::BoneTransform {
                source,
                bone,
                space,
                mode,
                translation,
                rotation,
                scale,
                alpha,
            } => {
                let change = self.change(translation, rotation, scale)?;
                let mode = match mode {
                    Change::Additive => BoneMode::Additive,
                    Change::Override => BoneMode::Override,
                };
                Pose::BoneTransform {
                    source: self.node(source)?,
                    bone: bone.as_str(),
                    how: (bone_space(*space), mode),
                    alpha: self.scalar(alpha)?,
                    change,
                }
            }
            Node::TranslateBone { source, bone, space, offset, alpha } => Pose::TranslateBone {
                source: self.node(source)?,
                bone: bone.as_str(),
                space: bone_space(*space),
                alpha: self.scalar(alpha)?,
                offset: self.vector(offset)?,
            },
            Node::TwoBoneIk { source, root, mid, end, target, pole, soften, alpha } => {
                let pole = match pole {
                    Some(pole) => Some(self.vector(pole)?),
                    None => None,
                };
                Pose::TwoBoneIk {
                    source: self.node(source)?,
                    limb: [root.as_str(), mid.as_str(), end.as_str()],
                    target: self.vector(target)?,
                    pole,
                    soften: self.scalar(soften)?,
                    alpha: self.scalar(alpha)?,
                }
            }
            Node::Fabrik { source, root, end, target, iterations, tolerance, weights, alpha } => {
                let weights = match weights {
                    Some(mask) => Some(self.mask(mask)?),
                    None => None,
                };
                Pose::Fabrik {
                    weights,
                    source: self.node(source)?,
                    ends: [root.as_str(), end.as_str()],
                    target: self.vector(target)?,
                    iterations: *iterations,
                    tolerance: self.scalar(tolerance)?,
                    alpha: self.scalar(alpha)?,
                }
            }
            Node::LookAt { source, bone, forward, target, limit, alpha } => {
                let limit = match limit {
                    Some(limit) => Some(self.scalar(limit)?),
                    None => None,
                };
                Pose::LookAt {
                    source: self.node(source)?,
                    bone: bone.as_str(),
                    forward: self.direction(name, "forward", forward)?,
                    target: self.vector(target)?,
                    limit,
                    alpha: self.scalar(alpha)?,
                }
            }
            Node::FootIk { source, hips, left, right, alpha } => Pose::FootIk {
                source: self.node(source)?,
                hips: hips.as_str(),
                legs: [left, right].map(|leg| leg.each_ref().map(Text::as_str)),
                alpha: self.scalar(alpha)?,
            },
        }))
    }

    fn mask(&mut self, name: &Text<'a>) -> Result<usize, GraphError> {
        let mask = self.position("mask", &self.graph.masks, name)?;
        self.used_masks[mask] = true;
        Ok(mask)
    }

    fn sync_group(&mut self, group: &Text<'a>, mode: PlayMode) -> Result<usize, GraphError> {
        let names = || self.graph.sync_groups.iter().map(Text::as_str);
        let Some(at) = names().position(|name| name == group.as_str()) else {
            return Err(self.unknown("sync group", group, names()));
        };
        if mode != PlayMode::Loop {
            let line = format!("a clip in a sync group has to loop; this one plays {mode:?}");
            return Err(self.meaning(group, line));
        }
        self.used_groups[at] = true;
        Ok(at)
    }

    /// A blend space along a line; its points in the order of their places.
    fn line(
        &mut self,
        name: &Text<'a>,
        x: ScalarId,
        places: Vec<f32>,
        poses: Vec<NodeId>,
    ) -> Result<Pose<'s>, GraphError> {
        self.count_points(name, places.len())?;
        let mut points: Vec<(usize, f32, NodeId)> = places
            .into_iter()
            .zip(poses)
            .enumerate()
            .map(|(i, (at, pose))| (i, at, pose))
            .collect();
        points.sort_by(|a, b| a.1.total_cmp(&b.1));
        if let Some([a, b]) =
            points.windows(2).find_map(|w| (w[0].1 >= w[1].1).then_some([w[0].0, w[1].0]))
        {
            return Err(self.same_place(name, a, b));
        }
        let (places, poses) = points.into_iter().map(|(_, at, pose)| (at, pose)).unzip();
        Ok(Pose::Space1D { x, places, poses })
    }

    /// A blend space over a plane, or over what its points make of it.
    fn plane(
        &mut self,
        name: &Text<'a>,
        at: [ScalarId; 2],
        points: &[[f32; 2]],
        poses: Vec<NodeId>,
    ) -> Result<Built<'s>, GraphError> {
        self.count_points(name, points.len())?;
        match spaces::layout(points) {
            Err([a, b]) => Err(self.same_place(name, a, b)),
            Ok(Layout::Point) => Ok(Built::Same(poses[0])),
            Ok(Layout::Line { origin, along, places }) => {
                let line = format!("the points of `{name}` lie on a line; it is blended along it");
                self.warn(name, line);
                let mut x = self.scalars.number(0.0);
                for axis in 0..2 {
                    let (from, factor) =
                        (self.scalars.number(origin[axis]), self.scalars.number(along[axis]));
                    let way = self.scalars.op(ScalarFn::Sub, at[axis], from);
                    let part = self.scalars.op(ScalarFn::Mul, way, factor);
                    x = self.scalars.op(ScalarFn::Add, x, part);
                }
                self.line(name, x, places, poses).map(Built::Pose)
            }
            Ok(Layout::Plane(plane)) => Ok(Built::Pose(Pose::Space2D { at, plane, poses })),
        }
    }

    fn count_points(&self, name: &Text<'a>, count: usize) -> Result<(), GraphError> {
        match count {
            0 => Err(self.meaning(name, "a blend space needs a point".into())),
            1..=POINTS => Ok(()),
            _ => {
                let fault = FileFault::TooMany { what: "points", count, limit: POINTS };
                Err(self.at(name, fault))
            }
        }
    }

    fn same_place(&self, name: &Text<'a>, a: usize, b: usize) -> GraphError {
        let (a, b) = (a.min(b) + 1, a.max(b) + 1);
        self.meaning(name, format!("points {a} and {b} are at the same place"))
    }

    /// Translation, rotation as a quaternion, and scale, in a row.
    ///
    /// The rotation about x, then y, then z of a fixed frame is the product qz * qy * qx.
    fn change(
        &mut self,
        translation: &Option<Vector<'a>>,
        rotation: &Option<Vector<'a>>,
        scale: &Option<Vector<'a>>,
    ) -> Result<[ScalarId; 10], GraphError> {
        let (zero, one, half) =
            (self.scalars.number(0.0), self.scalars.number(1.0), self.scalars.number(0.5));
        let vector = |this: &mut Self, given: &Option<Vector<'a>>, absent: ScalarId| match given {
            Some(given) => this.vector(given),
            None => Ok([absent; 3]),
        };
        let [tx, ty, tz] = vector(self, translation, zero)?;
        let angles = vector(self, rotation, zero)?;
        let [kx, ky, kz] = vector(self, scale, one)?;
        let s = &mut self.scalars;
        let halves = angles.map(|angle| s.op(ScalarFn::Mul, angle, half));
        let [(sx, cx), (sy, cy), (sz, cz)] =
            halves.map(|angle| (s.unary(ScalarFn::Sin, angle), s.unary(ScalarFn::Cos, angle)));
        let mut product = |a, b, c| {
            let ab = s.op(ScalarFn::Mul, a, b);
            s.op(ScalarFn::Mul, ab, c)
        };
        let terms = [
            (product(sx, cy, cz), product(cx, sy, sz), ScalarFn::Sub),
            (product(cx, sy, cz), product(sx, cy, sz), ScalarFn::Add),
            (product(cx, cy, sz), product(sx, sy, cz), ScalarFn::Sub),
            (product(cx, cy, cz), product(sx, sy, sz), ScalarFn::Add),
        ];
        let [qx, qy, qz, qw] = terms.map(|(a, b, op)| s.op(op, a, b));
        Ok([tx, ty, tz, qx, qy, qz, qw, kx, ky, kz])
    }
}

fn play_mode(mode: Mode) -> PlayMode {
    match mode {
        Mode::Loop => PlayMode::Loop,
        Mode::Once => PlayMode::Once,
        Mode::Clamp => PlayMode::Clamp,
        Mode::PingPong => PlayMode::PingPong,
    }
}

fn additive_space(space: Space) -> AdditiveSpace {
    match space {
        Space::Local => AdditiveSpace::Local,
        Space::Mesh => AdditiveSpace::Mesh,
    }
}

fn bone_space(space: BoneFrame) -> BoneSpace {
    match space {
        BoneFrame::Local => BoneSpace::Local,
        BoneFrame::Component => BoneSpace::Component,
    }
}
