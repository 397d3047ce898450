//! The clip as the sampling kernel reads it.

use super::UniformClip;
use super::basis::{Basis, BoneBasis, PoseTrs, RigClass};
use super::streams::{GROUP, GroupSet, LINE, Line, groups_for, lines_for};
use glam::{DQuat, DVec3};

/// Relative distance up to which a translation or scale counts as standing still.
const STILL_TOLERANCE: f64 = 1e-6;

/// A run of neighbouring lines of bones whose rotations are stored together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Run {
    /// First line of bones in the pose.
    pub pose_line: usize,
    /// First line in the stored stream.
    pub stored_line: usize,
    /// Number of lines.
    pub lines: usize,
}

/// Rotations of sixteen bones a line, `[qx | qy | qz | qw]` per frame; then groups of eight bones
/// of translations and of scales, `x8 y8 z8` each. Only lines and groups that move are in the
/// frames; those that stand still are stored once, and groups that stand where the reference pose
/// has them are not stored at all.
#[derive(Clone, Debug)]
pub struct RuntimeClip {
    pub(crate) name: String,
    pub(crate) rate_hz: f32,
    pub(crate) frame_count: usize,
    /// `frame_count` frames of `frame_lines` lines.
    pub(crate) frames: Vec<Line>,
    pub(crate) frame_lines: usize,
    /// Lines per rotation component in a frame.
    pub(crate) moving_lines: usize,
    pub(crate) moving: Vec<Run>,
    /// One frame of what stands still, laid out alike.
    pub(crate) still: Vec<Line>,
    pub(crate) still_lines: usize,
    pub(crate) still_runs: Vec<Run>,
    pub(crate) moving_translations: Vec<usize>,
    pub(crate) still_translations: Vec<usize>,
    pub(crate) moving_scales: Vec<usize>,
    pub(crate) still_scales: Vec<usize>,
    /// Groups whose translations, and groups whose scales, a sample holds.
    pub(crate) held: (GroupSet, GroupSet),
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
        (self.frames.capacity() + self.still.capacity()) * size_of::<Line>()
    }

    /// The frames around a time, which is clamped to the clip; not-a-number is its start.
    #[inline]
    pub(crate) fn cursor(&self, seconds: f32) -> Cursor {
        let last = self.frame_count - 1;
        let at = (seconds * self.rate_hz).max(0.0).min(last as f32);
        let first = (at as usize).min(last.saturating_sub(1));
        Cursor { first, second: (first + 1).min(last), weight: at - first as f32 }
    }

    /// One frame's lines.
    #[inline(always)]
    pub(crate) fn frame(&self, frame: usize) -> &[Line] {
        &self.frames[frame * self.frame_lines..][..self.frame_lines]
    }

    /// Lays a clip out; `reference` is the rig's reference pose. The clip must have been checked.
    pub(crate) fn new(clip: &UniformClip, basis: &Basis, reference: &[PoseTrs]) -> Self {
        let bones = reference.len();
        let table = Table::new(clip, basis, bones);
        let has_scale = basis.class == RigClass::General;

        let line_moves = |line: usize| {
            let turned = |a: &PoseTrs, b: &PoseTrs| !a.rotation.abs_diff_eq(b.rotation, 1e-8);
            table.differs(LINE, line, turned)
        };
        let (moving, moving_lines) = runs(lines_for(bones), line_moves);
        let (still_runs, still_rotation_lines) = runs(lines_for(bones), |l| !line_moves(l));

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
        let (moving_translations, still_translations) = sort(|p| p.translation, size);
        let (moving_scales, still_scales) =
            if has_scale { sort(|p| p.scale, 1.0) } else { (Vec::new(), Vec::new()) };

        let write = |frame, runs: &[Run], lines, translations: &[usize], scales: &[usize]| {
            frame_of(table.frame(frame), runs, lines, translations, scales)
        };
        let frames: Vec<Line> = (0..clip.frame_count)
            .flat_map(|f| write(f, &moving, moving_lines, &moving_translations, &moving_scales))
            .collect();
        let still = write(0, &still_runs, still_rotation_lines, &still_translations, &still_scales);
        let set = |a: &[usize], b: &[usize]| {
            let mut set = GroupSet::EMPTY;
            a.iter().chain(b).for_each(|&g| set.insert(g));
            set
        };
        let held =
            (set(&moving_translations, &still_translations), set(&moving_scales, &still_scales));
        Self {
            name: clip.name.clone(),
            rate_hz: clip.rate_hz,
            frame_count: clip.frame_count,
            frame_lines: frames.len() / clip.frame_count,
            frames,
            moving_lines,
            moving,
            still,
            still_lines: still_rotation_lines,
            still_runs,
            moving_translations,
            still_translations,
            moving_scales,
            still_scales,
            held,
        }
    }
}

/// The whole clip in pose space, rotations in one hemisphere per bone.
struct Table {
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
        Self { bones, values }
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

/// Groups neighbouring lines that `take` accepts; gives the runs and the lines they store.
fn runs(lines: usize, take: impl Fn(usize) -> bool) -> (Vec<Run>, usize) {
    let mut runs: Vec<Run> = Vec::new();
    let mut stored_line = 0;
    for pose_line in (0..lines).filter(|&l| take(l)) {
        match runs.last_mut() {
            Some(run) if run.pose_line + run.lines == pose_line => run.lines += 1,
            _ => runs.push(Run { pose_line, stored_line, lines: 1 }),
        }
        stored_line += 1;
    }
    (runs, stored_line)
}

fn frame_of(
    values: &[PoseTrs],
    runs: &[Run],
    lines: usize,
    translations: &[usize],
    scales: &[usize],
) -> Vec<Line> {
    let mut out = vec![Line::ZERO; 4 * lines];
    for run in runs {
        for at in 0..run.lines * LINE {
            let q = values
                .get(run.pose_line * LINE + at)
                .map_or([0.0, 0.0, 0.0, 1.0], |v| v.rotation.as_quat().to_array());
            for (component, value) in q.into_iter().enumerate() {
                let line = component * lines + run.stored_line + at / LINE;
                out[line].0[at % LINE] = value;
            }
        }
    }
    let mut groups: Vec<f32> = Vec::new();
    let mut push = |group: usize, value: fn(&PoseTrs) -> DVec3, pad: f32| {
        for component in 0..3 {
            groups.extend(
                (group * GROUP..(group + 1) * GROUP)
                    .map(|bone| values.get(bone).map_or(pad, |v| value(v)[component] as f32)),
            );
        }
    };
    translations.iter().for_each(|&g| push(g, |v| v.translation, 0.0));
    scales.iter().for_each(|&g| push(g, |v| v.scale, 1.0));
    out.extend(groups.chunks(LINE).map(|chunk| {
        let mut line = Line::ZERO;
        line.0[..chunk.len()].copy_from_slice(chunk);
        line
    }));
    out
}
