//! The clip as the sampling kernel reads it.

use super::UniformClip;
use super::basis::{Basis, BoneBasis, PoseTrs, RigClass};
use super::streams::{GROUP, GroupSet, LINE, Line, QuatBlock, Vec3Group, blocks_for, groups_for};
use glam::{DQuat, DVec3};

/// Relative distance up to which a translation or scale counts as standing still.
const STILL_TOLERANCE: f64 = 1e-6;

/// A run of neighbouring blocks of bones whose rotations are stored together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Run {
    /// First block of bones in the pose.
    pub pose: usize,
    /// First block in a stored frame.
    pub stored: usize,
    /// Number of blocks.
    pub blocks: usize,
}

/// Which bones a frame stores, in which order: blocks of rotations, then groups of translations,
/// then groups of scales.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channels {
    pub rotations: Vec<Run>,
    /// Number of rotation blocks.
    pub blocks: usize,
    pub translations: Vec<usize>,
    pub scales: Vec<usize>,
}

/// Frames, one after the other, of rotations of sixteen bones a block and of translations and
/// scales of eight bones a group. Only blocks and groups that move are in the frames; those that
/// stand still are stored once, and groups that stand where the reference pose has them are not
/// stored at all.
#[derive(Clone, Debug)]
pub struct RuntimeClip {
    pub(crate) name: String,
    pub(crate) rate_hz: f32,
    pub(crate) frame_count: usize,
    pub(crate) moving: Channels,
    /// `frame_count` frames of `frame_lines` lines.
    frames: Vec<Line>,
    frame_lines: usize,
    pub(crate) still: Channels,
    still_frame: Vec<Line>,
    /// The frames are differences to another pose.
    pub(crate) is_additive: bool,
    /// Groups whose translations, and groups whose scales, a sample holds.
    pub(crate) held: (GroupSet, GroupSet),
}

/// One frame as the kernels read it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub rotations: &'a [QuatBlock],
    /// Translations, then scales.
    pub groups: &'a [[[f32; GROUP]; 3]],
}

impl<'a> Frame<'a> {
    #[inline(always)]
    fn new(lines: &'a [Line], channels: &Channels) -> Self {
        let (rotations, groups) = lines.split_at(channels.blocks * 4);
        let components: &[[f32; GROUP]] = bytemuck::cast_slice(groups);
        Self { rotations: bytemuck::cast_slice(rotations), groups: components.as_chunks().0 }
    }
}

/// Where in a clip to sample: two frames and the weight of the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cursor {
    pub first: usize,
    pub second: usize,
    pub weight: f32,
}

impl RuntimeClip {
    /// Name, unique within its character.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Length in seconds; zero for a still.
    pub fn seconds(&self) -> f32 {
        (self.frame_count - 1) as f32 / self.rate_hz
    }

    /// Frames a second.
    pub fn rate_hz(&self) -> f32 {
        self.rate_hz
    }

    /// Bytes of heap memory of the frames.
    pub fn heap_bytes(&self) -> usize {
        (self.frames.capacity() + self.still_frame.capacity()) * size_of::<Line>()
    }

    /// The frames around a time, which is clamped to the clip; not-a-number is its start.
    #[inline]
    pub(crate) fn cursor(&self, seconds: f32) -> Cursor {
        let last = self.frame_count - 1;
        let at = (seconds * self.rate_hz).max(0.0).min(last as f32);
        // By way of i32, which a processor converts in one step.
        let first = (at as i32 as usize).min(last.saturating_sub(1));
        Cursor { first, second: (first + 1).min(last), weight: at - first as f32 }
    }

    /// One frame of what moves.
    #[inline(always)]
    pub(crate) fn frame(&self, frame: usize) -> Frame<'_> {
        let lines = &self.frames[frame * self.frame_lines..][..self.frame_lines];
        Frame::new(lines, &self.moving)
    }

    /// What stands still.
    #[inline(always)]
    pub(crate) fn still_frame(&self) -> Frame<'_> {
        Frame::new(&self.still_frame, &self.still)
    }

    /// Lays a clip out; `reference` is the rig's reference pose. The clip must have been checked.
    pub(crate) fn new(clip: &UniformClip, basis: &Basis, reference: &[PoseTrs]) -> Self {
        let table = Table::new(clip, basis, reference.len());
        let has_scale = basis.class == RigClass::General;
        Self::lay_out(clip.name.clone(), clip.rate_hz, &table, reference, has_scale)
    }

    /// The differences between this clip and one pose, as a clip; see
    /// [`super::kernels::additive`] for what a difference is. `locals` gives a frame's bones.
    pub(crate) fn relative_to(
        &self,
        against: &[PoseTrs],
        has_scale: bool,
        frame: impl Fn(usize) -> Vec<PoseTrs>,
    ) -> Self {
        let mut values: Vec<PoseTrs> = Vec::with_capacity(self.frame_count * against.len());
        for at in 0..self.frame_count {
            for (value, other) in frame(at).iter().zip(against) {
                let mut delta = value.difference(other);
                let before = values.len().checked_sub(against.len());
                if before.is_some_and(|b| values[b].rotation.dot(delta.rotation) < 0.0) {
                    delta.rotation = -delta.rotation;
                }
                values.push(delta);
            }
        }
        let table = Table { frames: self.frame_count, bones: against.len(), values };
        let none = vec![PoseTrs::NO_DIFFERENCE; against.len()];
        let name = format!("{} (additive)", self.name);
        let clip = Self::lay_out(name, self.rate_hz, &table, &none, has_scale);
        Self { is_additive: true, ..clip }
    }

    fn lay_out(
        name: String,
        rate_hz: f32,
        table: &Table,
        reference: &[PoseTrs],
        has_scale: bool,
    ) -> Self {
        let bones = reference.len();
        let block_moves = |block: usize| {
            let turned = |a: &PoseTrs, b: &PoseTrs| !a.rotation.abs_diff_eq(b.rotation, 1e-8);
            table.differs(LINE, block, turned)
        };
        let mut moving = Channels::of_rotations(blocks_for(bones), block_moves);
        let mut still = Channels::of_rotations(blocks_for(bones), |b| !block_moves(b));

        let size = reference.iter().map(|p| p.translation.length()).fold(0.0, f64::max);
        let far =
            |a: DVec3, b: DVec3, unit: f64| (a - b).abs().max_element() > STILL_TOLERANCE * unit;
        let sort = |value: fn(&PoseTrs) -> DVec3, unit: f64| {
            let (mut moving, mut still) = (Vec::new(), Vec::new());
            for group in 0..groups_for(bones) {
                let first = table.frame(0);
                let range = group * GROUP..(group * GROUP + GROUP).min(bones);
                if table.differs(GROUP, group, |a, b| far(value(a), value(b), unit)) {
                    moving.push(group);
                } else if range
                    .into_iter()
                    .any(|b| far(value(&first[b]), value(&reference[b]), unit))
                {
                    still.push(group);
                }
            }
            (moving, still)
        };
        (moving.translations, still.translations) = sort(|p| p.translation, size);
        if has_scale {
            (moving.scales, still.scales) = sort(|p| p.scale, 1.0);
        }
        let frames: Vec<Line> =
            (0..table.frames).flat_map(|f| moving.pack(table.frame(f))).collect();
        let held = (
            GroupSet::of(bones, moving.translations.iter().chain(&still.translations)),
            GroupSet::of(bones, moving.scales.iter().chain(&still.scales)),
        );
        Self {
            name,
            rate_hz,
            frame_count: table.frames,
            frame_lines: frames.len() / table.frames,
            frames,
            still_frame: still.pack(table.frame(0)),
            moving,
            still,
            is_additive: false,
            held,
        }
    }
}

/// The whole clip in pose space, rotations in one hemisphere per bone.
struct Table {
    frames: usize,
    bones: usize,
    values: Vec<PoseTrs>,
}

impl Table {
    fn new(clip: &UniformClip, basis: &Basis, bones: usize) -> Self {
        let mut values: Vec<PoseTrs> = Vec::with_capacity(clip.frame_count * bones);
        for frame in clip.locals.chunks_exact(bones.max(1)).take(clip.frame_count) {
            for (local, bone) in frame.iter().zip(&basis.bones) {
                let mut value = BoneBasis::to_pose(*bone, local);
                let before = values.len().checked_sub(bones).map(|at| values[at].rotation);
                if before.is_some_and(|q: DQuat| q.dot(value.rotation) < 0.0) {
                    value.rotation = -value.rotation;
                }
                values.push(value);
            }
        }
        Self { frames: clip.frame_count, bones, values }
    }

    fn frame(&self, frame: usize) -> &[PoseTrs] {
        &self.values[frame * self.bones..][..self.bones]
    }

    /// True when any bone of a block of `width` bones differs between a frame and the first.
    fn differs(
        &self,
        width: usize,
        block: usize,
        differ: impl Fn(&PoseTrs, &PoseTrs) -> bool,
    ) -> bool {
        let range = block * width..((block + 1) * width).min(self.bones);
        self.values
            .chunks_exact(self.bones.max(1))
            .any(|frame| range.clone().any(|bone| differ(&frame[bone], &self.values[bone])))
    }
}

impl Channels {
    /// The blocks that `take` accepts, neighbours in one run.
    fn of_rotations(blocks: usize, take: impl Fn(usize) -> bool) -> Self {
        let mut out = Self::default();
        for pose in (0..blocks).filter(|&block| take(block)) {
            match out.rotations.last_mut() {
                Some(run) if run.pose + run.blocks == pose => run.blocks += 1,
                _ => out.rotations.push(Run { pose, stored: out.blocks, blocks: 1 }),
            }
            out.blocks += 1;
        }
        out
    }

    /// Lays out one frame, padded to whole lines.
    fn pack(&self, values: &[PoseTrs]) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for block in self.rotations.iter().flat_map(|r| r.pose..r.pose + r.blocks) {
            let mut out = QuatBlock::IDENTITY;
            for (lane, value) in values.iter().skip(block * LINE).take(LINE).enumerate() {
                out.set(lane, value.rotation.as_quat().to_array());
            }
            lines.extend(out.0);
        }
        let group = |group: usize, value: fn(&PoseTrs) -> DVec3, mut out: Vec3Group| {
            for (lane, v) in values.iter().skip(group * GROUP).take(GROUP).enumerate() {
                out.set(lane, value(v).as_vec3().to_array());
            }
            out.0
        };
        let translations =
            self.translations.iter().map(|&g| group(g, |v| v.translation, Vec3Group::ZERO));
        let scales = self.scales.iter().map(|&g| group(g, |v| v.scale, Vec3Group::ONE));
        let floats: Vec<f32> = translations.chain(scales).flatten().flatten().collect();
        lines.extend(floats.chunks(LINE).map(|chunk| {
            let mut line = Line::ZERO;
            line.0[..chunk.len()].copy_from_slice(chunk);
            line
        }));
        lines
    }
}
