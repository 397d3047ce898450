//! Instances by level of detail: each group becomes one group per level, in one pass over the
//! records that are to be copied to the GPU anyway.

use super::lod::{LEVELS, LevelPicker, Picked, finer};
use crate::crowd::{DrawGroup, InstanceRecord};
use crate::index::CharacterKind;
use glam::Vec3;
use std::ops::Range;

/// What sorting has to know of a kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KindLevels {
    /// How far each level's surface lies from the full one's, metres of model space.
    pub(super) errors: [f32; LEVELS],
    /// Of a sphere around the model's origin that holds it at rest, metres of model space.
    pub(super) radius: f32,
}

impl KindLevels {
    /// Leaves the full mesh alone, near or far: an infinite error is never small enough.
    pub(super) fn forgo(&mut self) {
        self.errors[1..].fill(f32::INFINITY);
    }

    /// True when no level but the full mesh is ever drawn.
    pub(super) fn are_one(&self) -> bool {
        self.errors[1..].iter().all(|error| *error <= self.errors[0] || error.is_infinite())
    }
}

/// A [`DrawGroup`] of one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LevelGroup {
    pub(super) kind: CharacterKind,
    pub(super) page: u32,
    pub(super) level: usize,
    /// The level that this one is taking the place of: both are drawn, each where the other is not.
    pub(super) finer: Option<usize>,
    /// Into the sorted records.
    pub(super) camera: Range<u32>,
    /// Into the sorted records.
    pub(super) shadow: Range<u32>,
}

/// Sections of a group: what only the camera sees, what both see, what only the sun sees.
const SECTIONS: usize = 3;
/// Ranks of a group, from near to far: each level, and before each but the first those who are
/// fading into it.
const RANKS: usize = 2 * LEVELS - 1;
const BUCKETS: usize = RANKS * SECTIONS;
/// The bucket of a record between two ranges, which nobody sees.
const UNSEEN: u8 = u8::MAX;

/// Sorted records and their groups; kept from frame to frame for its memory.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    pub(super) records: Vec<InstanceRecord>,
    pub(super) groups: Vec<LevelGroup>,
    /// Rank and section of each record of a group, and its fade.
    buckets: Vec<(u8, f32)>,
}

impl Sorted {
    /// Sorts every group's records by level; within a level the order of sections, and within a
    /// section that of the records, stays. Sections come in turned order in every other rank, so
    /// that what one view sees of neighbours is one range more often. `kinds` are the levels of each
    /// kind; groups and ranges must have been checked. With `tints` each is coloured by its level.
    pub(super) fn sort(
        &mut self,
        records: &[InstanceRecord],
        groups: &[DrawGroup],
        kinds: &[KindLevels],
        picker: &LevelPicker,
        tints: Option<[u32; LEVELS]>,
    ) {
        self.records.clear();
        self.groups.clear();
        for group in groups {
            let Some(kind) = kinds.get(group.kind.get()) else { continue };
            self.sort_group(records, group, kind, picker);
        }
        if let Some(tints) = tints {
            for group in &self.groups {
                let start = group.camera.start.min(group.shadow.start);
                let all = start..group.camera.end.max(group.shadow.end);
                let records = &mut self.records[all.start as usize..all.end as usize];
                records.iter_mut().for_each(|record| record.tint = tints[group.level]);
            }
        }
    }

    fn sort_group(
        &mut self,
        records: &[InstanceRecord],
        group: &DrawGroup,
        kind: &KindLevels,
        picker: &LevelPicker,
    ) {
        let [camera, shadow] = [&group.camera, &group.shadow].map(not_backwards);
        let all = if camera.is_empty() {
            shadow.clone()
        } else if shadow.is_empty() {
            camera.clone()
        } else {
            camera.start.min(shadow.start)..camera.end.max(shadow.end)
        };
        let records = records.get(all.start as usize..all.end as usize).unwrap_or_default();

        let mut counts = [0u32; BUCKETS];
        self.buckets.clear();
        self.buckets.extend((all.start..).zip(records).map(|(index, record)| {
            let section = match (camera.contains(&index), shadow.contains(&index)) {
                (true, false) => 0,
                (true, true) => 1,
                (false, true) => 2,
                (false, false) => return (UNSEEN, 0.0),
            };
            let Picked { level, fade } = level_of(record, kind, picker);
            let rank = 2 * level - usize::from(fade < 1.0);
            let bucket = rank * SECTIONS + section;
            counts[bucket] += 1;
            (bucket as u8, fade)
        }));

        let mut next = [0u32; BUCKETS];
        let mut at = self.records.len() as u32;
        for rank in 0..RANKS {
            let first = rank * SECTIONS;
            let start = at;
            let turned = rank % 2 == 1;
            for place in 0..SECTIONS {
                let section = if turned { SECTIONS - 1 - place } else { place };
                next[first + section] = at;
                at += counts[first + section];
            }
            if at > start {
                let [only_camera, _, only_shadow] =
                    [counts[first], counts[first + 1], counts[first + 2]];
                let (camera, shadow) = match turned {
                    false => (start..at - only_shadow, start + only_camera..at),
                    true => (start + only_shadow..at, start..at - only_camera),
                };
                let level = rank.div_ceil(2);
                let finer = turned.then(|| finer(&kind.errors, level));
                let (kind, page) = (group.kind, group.page);
                self.groups.push(LevelGroup { kind, page, level, finer, camera, shadow });
            }
        }
        self.records.resize(at as usize, bytemuck::Zeroable::zeroed());
        let seen = records.iter().zip(&self.buckets).filter(|(_, (bucket, _))| *bucket != UNSEEN);
        for (record, &(bucket, fade)) in seen {
            let slot = &mut next[usize::from(bucket)];
            self.records[*slot as usize] = InstanceRecord { fade, ..*record };
            *slot += 1;
        }
    }
}

/// Ranges of neighbouring groups of one kind, one page and one `key`, those that meet made one,
/// each with the first group of its run. Empty ranges are left out.
pub(super) fn runs<'a, K: PartialEq + 'a>(
    groups: &'a [LevelGroup],
    range: impl Fn(&LevelGroup) -> &Range<u32> + 'a,
    key: impl Fn(&LevelGroup) -> K + 'a,
) -> impl Iterator<Item = (&'a LevelGroup, K, Range<u32>)> + 'a {
    let mut rest = groups.iter().filter(move |g| !g.camera.is_empty() || !g.shadow.is_empty());
    let mut held: Option<(&LevelGroup, K, Range<u32>)> = None;
    std::iter::from_fn(move || {
        loop {
            let Some(group) = rest.next() else { return held.take() };
            let (key, piece) = (key(group), range(group).clone());
            if piece.is_empty() {
                continue;
            }
            match &mut held {
                Some((first, known, run))
                    if (first.kind, first.page) == (group.kind, group.page)
                        && *known == key
                        && run.end == piece.start =>
                {
                    run.end = piece.end;
                }
                _ => {
                    if let Some(done) = held.replace((group, key, piece)) {
                        return Some(done);
                    }
                }
            }
        }
    })
}

fn not_backwards(range: &Range<u32>) -> Range<u32> {
    range.start..range.end.max(range.start)
}

fn level_of(record: &InstanceRecord, kind: &KindLevels, picker: &LevelPicker) -> Picked {
    let [x, y, z] = record.world_from_model.rows;
    let scale = Vec3::new(x[0], y[0], z[0]).length();
    picker.pick(&kind.errors, Vec3::new(x[3], y[3], z[3]), kind.radius, scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Mat3x4, View};

    fn record(id: u32, z: f32) -> InstanceRecord {
        let mut world_from_model = Mat3x4::IDENTITY;
        world_from_model.rows[2][3] = z;
        let zero = bytemuck::Zeroable::zeroed();
        InstanceRecord { world_from_model, palette_offset: id, id, ..zero }
    }

    fn group(camera: Range<u32>, shadow: Range<u32>) -> DrawGroup {
        DrawGroup { kind: CharacterKind(0), page: 0, camera, shadow }
    }

    const KIND: KindLevels = KindLevels { errors: [0.0, 0.01, 0.02, 0.04, 0.08], radius: 1.0 };

    fn sort(records: &[InstanceRecord], groups: &[DrawGroup]) -> Sorted {
        let view = View::look_at(Vec3::ZERO, Vec3::Z, 1.0, 1000.0, (800, 600));
        let mut sorted = Sorted::default();
        sorted.sort(records, groups, &[KIND], &LevelPicker::new(&view), None);
        sorted
    }

    #[test]
    fn every_view_sees_the_same_characters_as_before() {
        let mut records = Vec::new();
        for id in 0..500 {
            records.push(record(id, (id * 37 % 211) as f32));
        }
        let groups = [group(0..120, 80..200), group(200..260, 270..300), group(300..300, 300..500)];
        let sorted = sort(&records, &groups);
        let ids = |range: &Range<u32>| {
            sorted.records[range.start as usize..range.end as usize].iter().map(|r| r.id)
        };
        let seen = |pick: fn(&LevelGroup) -> &Range<u32>| {
            let mut seen: Vec<u32> = sorted.groups.iter().flat_map(|g| ids(pick(g))).collect();
            seen.sort_unstable();
            seen
        };
        assert_eq!(seen(|g| &g.camera), (0..120).chain(200..260).collect::<Vec<_>>());
        assert_eq!(seen(|g| &g.shadow), (80..200).chain(270..500).collect::<Vec<_>>());
        let levels: Vec<_> = sorted.groups.iter().map(|g| g.level).collect();
        assert!(levels.contains(&0) && levels.contains(&(LEVELS - 1)), "{levels:?}");
    }

    #[test]
    fn nearer_characters_have_finer_levels() {
        let records: Vec<_> = (0..100).map(|id| record(id, 100.0 - id as f32)).collect();
        let sorted = sort(&records, &[group(0..100, 0..0)]);
        assert!(sorted.groups.is_sorted_by_key(|g| g.level));
        let nearest = |g: &LevelGroup| {
            let of = &sorted.records[g.camera.start as usize..g.camera.end as usize];
            of.iter().map(|r| r.world_from_model.rows[2][3]).fold(f32::MAX, f32::min)
        };
        assert!(sorted.groups.iter().map(nearest).is_sorted());
        assert!(sorted.groups.iter().all(|g| g.shadow.is_empty()));
    }

    #[test]
    fn whoever_fades_is_drawn_with_both_levels_and_shares_grow_with_distance() {
        let records: Vec<_> = (0..4000).map(|id| record(id, 2.0 + id as f32 * 0.02)).collect();
        let sorted = sort(&records, &[group(0..3000, 1000..4000)]);
        let fading: Vec<_> = sorted.groups.iter().filter(|g| g.finer.is_some()).collect();
        assert!(fading.len() >= 3, "{fading:?}");
        for group in &sorted.groups {
            let of = |range: &Range<u32>| {
                sorted.records[range.start as usize..range.end as usize].iter()
            };
            let faded = group.finer.is_some();
            assert!(of(&group.camera).chain(of(&group.shadow)).all(|r| (r.fade < 1.0) == faded));
            let sorted = |range| of(range).is_sorted_by(|a, b| a.id > b.id || a.fade <= b.fade);
            assert!(sorted(&group.camera) && sorted(&group.shadow));
            if let Some(finer) = group.finer {
                assert_eq!(finer + 1, group.level);
            }
        }
        // A level without triangles of its own takes nobody's place.
        assert_eq!(finer(&[0.0, 0.01, 0.01, 0.04, 0.08], 3), 2);
        assert_eq!(finer(&[0.0, 0.01, 0.01, 0.04, 0.08], 2), 0);
    }

    #[test]
    fn ranges_that_meet_are_one_run() {
        let records: Vec<_> = (0..4000).map(|id| record(id, 2.0 + id as f32 * 0.02)).collect();
        let groups = [group(0..3000, 1000..3500), group(3500..4000, 3500..3500)];
        let sorted = sort(&records, &groups);
        let camera: Vec<_> = runs(&sorted.groups, |g| &g.camera, |_| ()).collect();
        assert!(camera.len() < sorted.groups.len(), "{camera:?}");
        let total: u32 = camera.iter().map(|(.., run)| run.end - run.start).sum();
        assert_eq!(total, 3500);
        let each = runs(&sorted.groups, |g| &g.shadow, |g| g.level);
        let shadow: Vec<_> = each.collect();
        assert_eq!(shadow.iter().map(|(.., run)| run.end - run.start).sum::<u32>(), 2500);
        assert!(shadow.iter().all(|(first, level, _)| first.level == *level));
    }

    #[test]
    fn empty_groups_leave_nothing() {
        let sorted = sort(&[record(0, 1.0)], &[group(0..0, 1..1)]);
        assert!(sorted.groups.is_empty() && sorted.records.is_empty());
    }
}
