//! Instances by level of detail: each group becomes one group per level, in one pass over the
//! records that are to be copied to the GPU anyway.

use super::lod::{LEVELS, LevelPicker};
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

/// A [`DrawGroup`] of one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LevelGroup {
    pub(super) kind: CharacterKind,
    pub(super) page: u32,
    pub(super) level: usize,
    /// Into the sorted records.
    pub(super) camera: Range<u32>,
    /// Into the sorted records.
    pub(super) shadow: Range<u32>,
}

/// Sections of a group: what only the camera sees, what both see, what only the sun sees.
const SECTIONS: usize = 3;
/// The bucket of a record between two ranges, which nobody sees.
const UNSEEN: u8 = u8::MAX;

/// Sorted records and their groups; kept from frame to frame for its memory.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    pub(super) records: Vec<InstanceRecord>,
    pub(super) groups: Vec<LevelGroup>,
    /// Level and section of each record of a group.
    buckets: Vec<u8>,
}

impl Sorted {
    /// Sorts every group's records by level; within a level the order of sections, and within a
    /// section that of the records, stays. `kinds` are the levels of each kind; groups and ranges
    /// must have been checked. With `tints` each is coloured by its level.
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
                let all = group.camera.start..group.camera.end.max(group.shadow.end);
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

        let mut counts = [0u32; LEVELS * SECTIONS];
        self.buckets.clear();
        self.buckets.extend((all.start..).zip(records).map(|(index, record)| {
            let section = match (camera.contains(&index), shadow.contains(&index)) {
                (true, false) => 0,
                (true, true) => 1,
                (false, true) => 2,
                (false, false) => return UNSEEN,
            };
            let level = level_of(record, kind, picker);
            let bucket = level * SECTIONS + section;
            counts[bucket] += 1;
            bucket as u8
        }));

        let base = self.records.len() as u32;
        let mut next = [0u32; LEVELS * SECTIONS];
        let mut at = base;
        for level in 0..LEVELS {
            let first = level * SECTIONS;
            let [only_camera, both, only_shadow] =
                [counts[first], counts[first + 1], counts[first + 2]];
            for section in 0..SECTIONS {
                next[first + section] = at;
                at += counts[first + section];
            }
            if only_camera + both + only_shadow > 0 {
                let start = next[first];
                self.groups.push(LevelGroup {
                    kind: group.kind,
                    page: group.page,
                    level,
                    camera: start..start + only_camera + both,
                    shadow: start + only_camera..at,
                });
            }
        }
        self.records.resize(at as usize, bytemuck::Zeroable::zeroed());
        for (record, &bucket) in records.iter().zip(&self.buckets).filter(|(_, b)| **b != UNSEEN) {
            let slot = &mut next[usize::from(bucket)];
            self.records[*slot as usize] = *record;
            *slot += 1;
        }
    }
}

fn not_backwards(range: &Range<u32>) -> Range<u32> {
    range.start..range.end.max(range.start)
}

fn level_of(record: &InstanceRecord, kind: &KindLevels, picker: &LevelPicker) -> usize {
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
    fn empty_groups_leave_nothing() {
        let sorted = sort(&[record(0, 1.0)], &[group(0..0, 1..1)]);
        assert!(sorted.groups.is_empty() && sorted.records.is_empty());
    }
}
