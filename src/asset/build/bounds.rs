//! A box and a sphere that no posed vertex leaves, at any time of any clip.
//!
//! Poses are looked at on every frame and at steps between frames. Between two looks a vertex leaves
//! the chord by at most an eighth of its second difference (were its path a parabola); boxes grow by
//! twice that. Skinning is a weighted mean, so the second difference of any vertex is at most the
//! largest among the corners of the boxes around what each palette entry moves. Groups of vertices
//! whose hull lies inside what is known already are skipped, which leaves few of them to pose.

use super::super::error::object;
use super::clip_error::FramePair;
use super::clusters::Clusters;
use super::error::BuildError;
use super::rig::{LocalBox, compose, palette_of};
use crate::math::Bounds;
use crate::pose::{Skeleton, UniformClip};
use glam::{Affine3A, Vec3, Vec3A};
use rayon::prelude::*;

/// How much a chain of bones may change between two looks: radians, or parts of a scale.
const LOOK_CHANGE: f32 = 0.35;

/// Looks from one frame to the next, at least and at most.
const LOOKS: (f32, f32) = (2.0, 16.0);

/// With less change than this, frames alone are looked at: the path between them, whose second
/// derivative is at most `change * (change * reach + 2 * distance)`, is nearly straight.
const STILL: f32 = 0.01;

/// Box transforms that the groups of all poses may take; with more, each palette entry's own box has
/// to do.
const WORK_LIMIT: usize = 400_000_000;

/// Kernels round otherwise than this file does.
const ROUNDING: f32 = 2e-5;

/// What bounds are computed of.
pub(super) struct Posed<'a> {
    pub skeleton: &'a Skeleton,
    pub clips: &'a [UniformClip],
    /// From [`super::rig::influence_boxes`].
    pub influence: &'a [Option<LocalBox>],
    pub clusters: &'a Clusters,
    /// Largest extent of the rest pose.
    pub size: f32,
    /// How far the clips as they are kept may put a vertex from where `clips` have it, metres.
    pub slack: f32,
}

impl Posed<'_> {
    /// Bounds over the rest pose and all clips, in full and in low detail.
    ///
    /// # Errors
    /// [`BuildError::PosedOverflow`] names the pose whose vertices are not finite.
    pub fn bounds(&self) -> Result<Bounds, BuildError> {
        if self.clusters.groups.is_empty() {
            return Ok(Bounds::EMPTY);
        }
        let start = GrowingBox { min: Vec3A::INFINITY, max: Vec3A::NEG_INFINITY, finite: true };
        let grown = self.sweep(start)?;
        let (min, max) = (grown.min, grown.max);
        let center = (min + max) * 0.5;
        let sphere = self.sweep(GrowingSphere { center, radius: 0.0, finite: true })?;
        let rounding = ROUNDING * (max - min).length().max(center.length());
        let slack = rounding + self.slack;
        let (min, max) = (Vec3::from(min) - slack, Vec3::from(max) + slack);
        let radius = (sphere.radius + slack).min((max - min).length() * 0.5);
        // Coordinates may be finite where their squares are not.
        if !(min.is_finite() && max.is_finite() && radius.is_finite()) {
            return Err(BuildError::PosedOverflow { pose: "all poses together".into() });
        }
        Ok(Bounds { min, max, radius })
    }

    /// Shows every pose to `grow`.
    fn sweep<G: Grow>(&self, mut grow: G) -> Result<G, BuildError> {
        let work: usize = self.clips.iter().map(|c| c.frame_count).sum();
        let coarse = work.saturating_mul(2 * self.clusters.influence_count()) > WORK_LIMIT;
        let model = self.skeleton.model_from_bone(self.skeleton.rest());
        let mut palette = Vec::new();
        palette_of(self.skeleton, &model, &mut palette);
        self.look(&mut grow, &palette, 0.0, coarse, |_| true);
        if !grow.finite() {
            return Err(BuildError::PosedOverflow { pose: "rest pose".into() });
        }
        let grown: Vec<G> =
            self.clips.par_iter().map(|clip| self.sweep_clip(clip, grow.clone(), coarse)).collect();
        for (index, (other, clip)) in grown.iter().zip(self.clips).enumerate() {
            if !other.finite() {
                let pose = object("animation", index, Some(&clip.name));
                return Err(BuildError::PosedOverflow { pose });
            }
            grow.merge(other);
        }
        Ok(grow)
    }

    fn sweep_clip<G: Grow>(&self, clip: &UniformClip, mut grow: G, coarse: bool) -> G {
        let all = self.skeleton.parents().len();
        let cut = self.skeleton.low_detail_bone_count().get();
        self.sweep_variant(clip, all, &mut grow, coarse, |_| true);
        if cut < all {
            let tail = |entry: u16| self.skeleton.palette()[usize::from(entry)].bone.get() >= cut;
            self.sweep_variant(clip, cut, &mut grow, coarse, tail);
        }
        grow
    }

    /// Poses with bones from `cut` on at rest; looks at groups that follow some entry of `entries`.
    fn sweep_variant<G: Grow>(
        &self,
        clip: &UniformClip,
        cut: usize,
        grow: &mut G,
        coarse: bool,
        entries: impl Fn(u16) -> bool + Copy,
    ) {
        let mut scratch = Scratch::default();
        let mut looks: Vec<Vec<Affine3A>> = vec![Vec::new()];
        let mut sag_before = 0.0;
        self.pose(&FramePair::between(clip, 0, 0.0), cut, &mut scratch, &mut looks[0]);
        for frame in 0..clip.frame_count - 1 {
            let pair = |part: f32| FramePair::between(clip, frame, part);
            let change = self.change(&pair(0.0), cut, &mut scratch.changes);
            let count = looks_for(change);
            looks.resize_with(count + 1, Vec::new);
            for (i, palette) in looks.iter_mut().enumerate().skip(1) {
                self.pose(&pair(i as f32 / count as f32), cut, &mut scratch, palette);
            }
            let sag = if count == 1 {
                2.0 * change * (change * 2.0 * self.size + 2.0 * self.difference(&looks)) / 8.0
            } else {
                2.0 * self.difference(&looks) / 8.0
            };
            for (i, palette) in looks.iter().take(count).enumerate() {
                let margin = if i == 0 { sag.max(sag_before) } else { sag };
                self.look(grow, palette, margin, coarse, entries);
            }
            sag_before = sag;
            looks.swap(0, count);
        }
        self.look(grow, &looks[0], sag_before, coarse, entries);
    }

    /// Palette matrices with bones from `cut` on at rest.
    fn pose(
        &self,
        pair: &FramePair<'_>,
        cut: usize,
        scratch: &mut Scratch,
        palette: &mut Vec<Affine3A>,
    ) {
        let local = |b: usize| if b < cut { pair.local(b) } else { self.skeleton.rest()[b] };
        compose(self.skeleton, local, &mut scratch.model);
        palette_of(self.skeleton, &scratch.model, palette);
    }

    /// How much rotations and scales change between two frames: radians and ratios, added up along
    /// a chain of bones, for the chain where that is most.
    fn change(&self, pair: &FramePair<'_>, cut: usize, changes: &mut Vec<f32>) -> f32 {
        changes.clear();
        let mut most = 0.0_f32;
        for (bone, parent) in self.skeleton.parents()[..cut].iter().enumerate() {
            let above = parent.map_or(0.0, |p| changes[p.get()]);
            let change = pair.change(bone) + above;
            most = most.max(change);
            changes.push(change);
        }
        most
    }

    /// Largest difference (of two looks) or second difference (of more) of any corner of what a
    /// palette entry moves.
    fn difference(&self, looks: &[Vec<Affine3A>]) -> f32 {
        let mut largest = 0.0_f32;
        let mut add = |influence: &LocalBox, m: Affine3A| {
            let off = |corner| m.transform_point3a(corner).length_squared();
            largest = influence.corners().map(off).into_iter().fold(largest, f32::max);
        };
        for (entry, influence) in self.influence.iter().enumerate() {
            let Some(influence) = influence else { continue };
            if let [a, b] = looks {
                let (a, b) = (a[entry], b[entry]);
                let matrix3 = b.matrix3 - a.matrix3;
                add(influence, Affine3A { matrix3, translation: b.translation - a.translation });
            }
            for three in looks.windows(3) {
                let [a, b, c] = [0, 1, 2].map(|i| three[i][entry]);
                let matrix3 = a.matrix3 + c.matrix3 - b.matrix3 * 2.0;
                let translation = a.translation + c.translation - b.translation * 2.0;
                add(influence, Affine3A { matrix3, translation });
            }
        }
        largest.sqrt()
    }

    fn look<G: Grow>(
        &self,
        grow: &mut G,
        palette: &[Affine3A],
        margin: f32,
        coarse: bool,
        entries: impl Fn(u16) -> bool + Copy,
    ) {
        let boxes = self.influence.iter().zip(palette);
        let mut hulls = boxes.filter_map(|(local, m)| local.as_ref().map(|l| l.transformed(m)));
        if coarse {
            for hull in hulls {
                hull.corners().iter().for_each(|&corner| grow.add(corner, margin));
            }
            return;
        }
        if hulls.all(|hull| grow.holds(&hull, margin)) {
            return;
        }
        for group in &self.clusters.groups {
            if group.follows(entries) && !grow.holds(&group.hull(palette), margin) {
                for vertex in self.clusters.vertices(group) {
                    grow.add(vertex.posed(palette), margin);
                }
            }
        }
    }
}

/// How often to look from one frame to the next for a change as from [`Posed::change`].
fn looks_for(change: f32) -> usize {
    if change < STILL { 1 } else { (change / LOOK_CHANGE).ceil().clamp(LOOKS.0, LOOKS.1) as usize }
}

#[derive(Default)]
struct Scratch {
    model: Vec<Affine3A>,
    changes: Vec<f32>,
}

/// A volume that grows until it holds all that it was shown.
trait Grow: Clone + Send + Sync {
    /// True when a box grown by `margin` is inside already; false when its numbers are not finite.
    fn holds(&self, hull: &LocalBox, margin: f32) -> bool;
    /// Takes in a ball of radius `margin`.
    fn add(&mut self, point: Vec3A, margin: f32);
    /// Takes in another volume.
    fn merge(&mut self, other: &Self);
    /// False once a point was not finite.
    fn finite(&self) -> bool;
}

#[derive(Clone)]
struct GrowingBox {
    min: Vec3A,
    max: Vec3A,
    finite: bool,
}

impl Grow for GrowingBox {
    fn holds(&self, hull: &LocalBox, margin: f32) -> bool {
        let half = hull.half + margin;
        (hull.center - half).cmpge(self.min).all() && (hull.center + half).cmple(self.max).all()
    }

    fn add(&mut self, point: Vec3A, margin: f32) {
        self.finite &= point.is_finite() && margin.is_finite();
        self.min = self.min.min(point - margin);
        self.max = self.max.max(point + margin);
    }

    fn merge(&mut self, other: &Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    fn finite(&self) -> bool {
        self.finite && (self.max - self.min).length().is_finite()
    }
}

#[derive(Clone)]
struct GrowingSphere {
    center: Vec3A,
    radius: f32,
    finite: bool,
}

impl Grow for GrowingSphere {
    fn holds(&self, hull: &LocalBox, margin: f32) -> bool {
        let farthest = (hull.center - self.center).abs() + hull.half;
        farthest.length() + margin <= self.radius
    }

    fn add(&mut self, point: Vec3A, margin: f32) {
        let distance = point.distance(self.center) + margin;
        self.finite &= distance.is_finite();
        self.radius = self.radius.max(distance);
    }

    fn merge(&mut self, other: &Self) {
        self.radius = self.radius.max(other.radius);
    }

    fn finite(&self) -> bool {
        self.finite
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::source::{Interpolation, Source};
    use super::super::{BuildOptions, character, testing};
    use super::*;
    use crate::asset::{CharacterAsset, skinning};
    use crate::math::Trs;

    fn build(source: &Source) -> CharacterAsset {
        character(source, &BuildOptions::default()).unwrap()
    }

    /// Every vertex at many times of every clip, in full and in low detail.
    fn posed(asset: &CharacterAsset) -> Vec<Vec3> {
        let mut points = Vec::new();
        let cut = asset.skeleton.low_detail_bone_count().get();
        for clip in &asset.clips {
            for step in 0..=3000 {
                let pair = FramePair::at(clip, clip.seconds() * step as f32 / 3000.0);
                for cut in [cut, asset.bone_nodes.len()] {
                    let local =
                        |b: usize| if b < cut { pair.local(b) } else { asset.skeleton.rest()[b] };
                    let locals: Vec<Trs> = (0..asset.bone_nodes.len()).map(local).collect();
                    let model = asset.skeleton.model_from_bone(&locals);
                    let palette = skinning::palette(&asset.skeleton, &model);
                    let vertices = asset.primitives.iter().flat_map(|p| &p.vertices);
                    points.extend(vertices.map(|v| Vec3::from(skinning::skin(v, &palette))));
                }
            }
        }
        points
    }

    #[test]
    fn bounds_hold_what_happens_between_frames_and_are_not_loose() {
        // So slow that frames are enough, smooth, fast, and frames nearly half a turn apart.
        for (seconds, slack) in [(90.0, 0.001), (4.0, 0.01), (0.4, 0.05), (0.07, 0.6)] {
            let (times, angles) = ([0.0, seconds * 0.5, seconds], [0.0, 2.9, 5.8]);
            let asset = build(&testing::bending("spin", Interpolation::Linear, &times, &angles));
            let points = posed(&asset);
            let tight = Bounds::of_points(points.iter().copied());
            assert!(points.iter().all(|&p| asset.bounds.contains(p, 0.0)), "{seconds} s");
            let loose = (asset.bounds.size() - tight.size()).max_element();
            assert!(loose < slack * 10.0, "{seconds} s: {:?} around {tight:?}", asset.bounds);
            assert!(asset.bounds.radius < tight.radius + slack * 10.0, "{seconds} s");
        }
    }

    #[test]
    fn too_many_poses_are_bounded_by_boxes_of_bones() {
        let times = [0.0, 0.5, 1.0];
        let asset =
            build(&testing::bending("bend", Interpolation::Linear, &times, &[0.0, 1.5, 0.0]));
        let influence = super::super::rig::influence_boxes(&asset.skeleton, &asset.primitives);
        let clusters = Clusters::new(&asset.primitives);
        let posed_by = Posed {
            skeleton: &asset.skeleton,
            clips: &asset.clips,
            influence: &influence,
            clusters: &clusters,
            slack: 0.0,
            size: 4.0,
        };
        let start = GrowingBox { min: Vec3A::INFINITY, max: Vec3A::NEG_INFINITY, finite: true };
        let coarse = posed_by.sweep_clip(&asset.clips[0], start, true);
        for p in posed(&asset) {
            let p = Vec3A::from(p);
            assert!(p.cmpge(coarse.min - 1e-4).all() && p.cmple(coarse.max + 1e-4).all());
        }
    }

    #[test]
    fn vertices_that_overflow_are_an_error_that_names_the_clip() {
        let mut source = testing::bending("bend", Interpolation::Linear, &[0.0, 1.0], &[0.0, 1.0]);
        for node in 0..4 {
            let keys = super::super::super::source::SourceValues::Scale(vec![[1.0; 3], [1e12; 3]]);
            let grow = testing::animation("grow", node, Interpolation::Linear, &[0.0, 1.0], keys);
            source.animations[0].channels.extend(grow.channels);
        }
        let e = character(&source, &BuildOptions::default()).unwrap_err().to_string();
        assert!(e.contains("animation 0 \"bend\": posed vertices overflow"), "{e}");
    }

    #[test]
    fn nothing_to_draw_has_empty_bounds() {
        let source = testing::Tree::chain(2).joints(&[0, 1]).source();
        assert_eq!(build(&source).bounds, Bounds::EMPTY);
    }
}
