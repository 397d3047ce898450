//! Lays the frames of clips out in memory.

use super::UniformClip;
use super::basis::{Basis, PoseTrs};
use super::clip_store::{ClipStore, Extent, Ranges, nearest};
use super::runtime_clip::{BLOCK_NUMBERS, Frames, GROUP_NUMBERS, RuntimeClip};
use super::streams::{GROUP, GroupSet, LINE, Line, QuatBlock, Vec3Group, blocks_for, groups_for};
use crate::math::huge::{OutOfMemory, reserve_huge};
use glam::DVec3;
use std::sync::Arc;

/// Relative distance up to which a translation or scale counts as standing still.
const STILL_TOLERANCE: f64 = 1e-6;
/// 16-bit numbers in a line.
const LINE_NUMBERS: usize = size_of::<Line>() / size_of::<i16>();

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

/// A clip to be laid out.
pub(crate) struct ClipPlan<'a> {
    pub name: String,
    pub rate_hz: f32,
    pub store: ClipStore,
    /// Asked for twice, which takes less memory than to keep what all clips answer.
    pub table: Box<dyn Fn() -> Table + 'a>,
}

/// How clips of one rig are laid out.
pub(crate) struct ClipLayout<'a> {
    /// What groups that are not stored stand for.
    pub reference: &'a [PoseTrs],
    pub has_scale: bool,
    /// The clips are differences.
    pub is_additive: bool,
}

/// Clips whose frames lie in one arena.
pub(crate) struct LaidOut {
    pub clips: Vec<RuntimeClip>,
    /// What those with 16-bit numbers share.
    pub ranges: Option<Arc<Ranges>>,
}

/// What is known of a clip before there is memory for it.
struct Outline {
    frame_count: usize,
    moving: Channels,
    still: Channels,
    still_frame: Vec<Line>,
}

impl ClipLayout<'_> {
    /// Lays clips out.
    ///
    /// # Errors
    /// [`OutOfMemory`] says how much was needed.
    pub fn lay_out(&self, plans: Vec<ClipPlan<'_>>) -> Result<LaidOut, OutOfMemory> {
        let mut extent: Option<Extent> = None;
        let mut outlines = Vec::with_capacity(plans.len());
        for plan in &plans {
            let table = (plan.table)();
            if plan.store == ClipStore::I16 {
                let extent = extent.get_or_insert_with(|| Extent::new(self.reference.len()));
                extent.add(&table.values);
            }
            outlines.push(self.outline(&table));
        }
        let ranges = extent.map(|extent| Arc::new(extent.ranges(self.has_scale)));

        let mut lines = 0;
        let mut places = Vec::with_capacity(plans.len());
        for (plan, outline) in plans.iter().zip(&outlines) {
            let stride = outline.moving.stride(plan.store);
            places.push((lines, stride));
            lines += match plan.store {
                ClipStore::F32 => outline.frame_count * stride,
                ClipStore::I16 => (outline.frame_count * stride).div_ceil(LINE_NUMBERS),
            };
        }
        let mut arena = Vec::new();
        reserve_huge(&mut arena, lines)?;
        arena.resize(lines, Line::ZERO);
        for ((plan, outline), &(first, stride)) in plans.iter().zip(&outlines).zip(&places) {
            if stride == 0 {
                continue;
            }
            let table = (plan.table)();
            let frames = (0..outline.frame_count).map(|frame| table.frame(frame));
            match ranges.as_deref().filter(|_| plan.store == ClipStore::I16) {
                None => {
                    for (to, values) in arena[first..].chunks_exact_mut(stride).zip(frames) {
                        to.copy_from_slice(&outline.moving.pack(values));
                    }
                }
                Some(ranges) => {
                    let numbers: &mut [i16] = bytemuck::cast_slice_mut(&mut arena[first..]);
                    for (to, values) in numbers.chunks_exact_mut(stride).zip(frames) {
                        outline.moving.pack_short(values, ranges, to);
                    }
                }
            }
        }
        let arena = Arc::new(arena);
        let bones = self.reference.len();
        let clips = plans.into_iter().zip(outlines).zip(places).map(|((plan, outline), place)| {
            let Outline { frame_count, moving, still, still_frame } = outline;
            let held = (
                GroupSet::of(bones, moving.translations.iter().chain(&still.translations)),
                GroupSet::of(bones, moving.scales.iter().chain(&still.scales)),
            );
            let ranges = ranges.clone().filter(|_| plan.store == ClipStore::I16);
            RuntimeClip {
                name: plan.name,
                rate_hz: plan.rate_hz,
                frame_count,
                moving,
                frames: Frames {
                    arena: Arc::clone(&arena),
                    first: place.0,
                    stride: place.1,
                    ranges,
                },
                still,
                still_frame,
                is_additive: self.is_additive,
                held,
            }
        });
        Ok(LaidOut { clips: clips.collect(), ranges })
    }

    fn outline(&self, table: &Table) -> Outline {
        let bones = self.reference.len();
        let block_moves = |block: usize| {
            let turned = |a: &PoseTrs, b: &PoseTrs| !a.rotation.abs_diff_eq(b.rotation, 1e-8);
            table.differs(LINE, block, turned)
        };
        let mut moving = Channels::of_rotations(blocks_for(bones), block_moves);
        let mut still = Channels::of_rotations(blocks_for(bones), |b| !block_moves(b));

        let size = self.reference.iter().map(|p| p.translation.length()).fold(0.0, f64::max);
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
                    .any(|b| far(value(&first[b]), value(&self.reference[b]), unit))
                {
                    still.push(group);
                }
            }
            (moving, still)
        };
        (moving.translations, still.translations) = sort(|p| p.translation, size);
        if self.has_scale {
            (moving.scales, still.scales) = sort(|p| p.scale, 1.0);
        }
        let still_frame = still.pack(table.frame(0));
        Outline { frame_count: table.frames, moving, still, still_frame }
    }
}

/// A whole clip in pose space, rotations in one hemisphere per bone.
pub(crate) struct Table {
    frames: usize,
    bones: usize,
    values: Vec<PoseTrs>,
}

impl Table {
    /// A table without frames yet, for so many of them.
    pub fn with_capacity(frames: usize, bones: usize) -> Self {
        Self { frames: 0, bones, values: Vec::with_capacity(frames * bones) }
    }

    /// The frames of a clip, which must have been checked.
    pub fn of(clip: &UniformClip, basis: &Basis, reference: &[PoseTrs]) -> Self {
        let bones = reference.len();
        let mut table = Self::with_capacity(clip.frame_count, bones);
        for frame in 0..clip.frame_count {
            let locals = &clip.locals[frame * bones..][..bones];
            table.push(locals.iter().zip(&basis.bones).map(|(l, b)| b.to_pose(l)), reference);
        }
        table
    }

    /// Appends a frame. Its rotations are put into the hemisphere of the frame before, those of the
    /// first frame into the reference's: so do the clips of a rig share their ranges.
    pub fn push(&mut self, frame: impl Iterator<Item = PoseTrs>, reference: &[PoseTrs]) {
        let before = self.values.len().checked_sub(self.bones);
        for (bone, mut value) in frame.enumerate().take(self.bones) {
            let near =
                before.map_or(reference[bone].rotation, |at| self.values[at + bone].rotation);
            if near.dot(value.rotation) < 0.0 {
                value.rotation = -value.rotation;
            }
            self.values.push(value);
        }
        self.frames += 1;
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

    /// From one frame to the next: whole lines of floats, or 16-bit numbers without padding.
    fn stride(&self, store: ClipStore) -> usize {
        let groups = self.translations.len() + self.scales.len();
        match store {
            ClipStore::F32 => self.blocks * 4 + (groups * GROUP_NUMBERS).div_ceil(LINE),
            ClipStore::I16 => self.blocks * BLOCK_NUMBERS + groups * GROUP_NUMBERS,
        }
    }

    /// The blocks of the pose whose rotations are stored, in the order in which they are.
    fn stored_blocks(&self) -> impl Iterator<Item = usize> {
        self.rotations.iter().flat_map(|r| r.pose..r.pose + r.blocks)
    }

    /// Lays out one frame, padded to whole lines.
    fn pack(&self, values: &[PoseTrs]) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for block in self.stored_blocks() {
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

    /// Lays out one frame as the numbers nearest to its values; `out` is a stride long and zero.
    fn pack_short(&self, values: &[PoseTrs], ranges: &Ranges, out: &mut [i16]) {
        let (blocks, groups) = out.split_at_mut(self.blocks * BLOCK_NUMBERS);
        let blocks = blocks.as_chunks_mut::<BLOCK_NUMBERS>().0;
        for (block, out) in self.stored_blocks().zip(blocks) {
            let range = &ranges.rotations[block];
            for (lane, value) in values.iter().skip(block * LINE).take(LINE).enumerate() {
                let (middle, unit) = (range.middle.get(lane), range.unit.get(lane));
                for (at, value) in value.rotation.to_array().into_iter().enumerate() {
                    out[at * LINE + lane] = nearest(value, middle[at], unit[at]);
                }
            }
        }
        let translations = self.translations.iter().map(|&g| (g, &ranges.translations[g]));
        let scales = self.scales.iter().map(|&g| (g, &ranges.scales[g]));
        let values_of: [fn(&PoseTrs) -> DVec3; 2] = [|v| v.translation, |v| v.scale];
        let stored = translations
            .map(|(group, range)| (group, range, values_of[0]))
            .chain(scales.map(|(group, range)| (group, range, values_of[1])));
        for ((group, range, value), out) in stored.zip(groups.as_chunks_mut::<GROUP_NUMBERS>().0) {
            for (lane, of) in values.iter().skip(group * GROUP).take(GROUP).enumerate() {
                let (middle, unit) = (range.middle.get(lane), range.unit.get(lane));
                for (at, value) in value(of).to_array().into_iter().enumerate() {
                    out[at * GROUP + lane] = nearest(value, middle[at], unit[at]);
                }
            }
        }
    }
}
