//! The order of the bones, and where the low-detail skeleton ends.

use crate::math::Bounds;
use glam::Vec3;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The share of the skin's area that may stop moving on its own in low detail.
pub const LOW_DETAIL_AREA: f64 = 0.04;

/// How far from its origin a bone may move skin and still stop moving on its own in low detail,
/// relative to the largest extent of the rest pose. A finger of a body is 5 % long, a hand 11 %.
pub const LOW_DETAIL_REACH: f32 = 0.1;

/// The share of the last kept bone's area from which on the next one is kept with it.
pub const LOW_DETAIL_PAIR: f64 = 0.9;

/// A bone whose parent has been emitted.
struct Ready {
    area: f64,
    bone: Reverse<usize>,
}

impl Ord for Ready {
    fn cmp(&self, other: &Self) -> Ordering {
        self.area.total_cmp(&other.area).then(self.bone.cmp(&other.bone))
    }
}

impl PartialOrd for Ready {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ready {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ready {}

/// Positions of the bones in a new order: parents first, and otherwise the bone whose subtree moves
/// the largest area; of equal ones the earlier. `parents[i] < i`, one `own_area` per bone.
pub(super) fn by_moved_area(parents: &[Option<usize>], own_area: &[f64]) -> Vec<usize> {
    let subtree = subtree_areas(parents, own_area);
    let mut children = vec![Vec::new(); parents.len()];
    let mut ready = BinaryHeap::new();
    for (bone, parent) in parents.iter().enumerate() {
        if let Some(parent) = *parent {
            children[parent].push(bone);
        }
    }
    let item = |bone: usize| Ready { area: subtree[bone], bone: Reverse(bone) };
    ready.extend((0..parents.len()).filter(|&b| parents[b].is_none()).map(item));
    let mut order = Vec::with_capacity(parents.len());
    while let Some(Ready { bone: Reverse(bone), .. }) = ready.pop() {
        order.push(bone);
        ready.extend(children[bone].iter().copied().map(item));
    }
    order
}

/// For each bone the distance from its origin to the farthest skin that its subtree moves. All in
/// the rest pose; `own_box` is the box of what a bone moves itself.
pub(super) fn reach(
    parents: &[Option<usize>],
    origin: &[Vec3],
    own_box: &[Option<Bounds>],
) -> Vec<f32> {
    let mut reach = vec![0.0_f32; parents.len()];
    for (bone, own) in own_box.iter().enumerate() {
        let Some(own) = own else { continue };
        for ancestor in std::iter::successors(Some(bone), |&b| parents[b]) {
            let farthest =
                (own.max - origin[ancestor]).abs().max((own.min - origin[ancestor]).abs());
            reach[ancestor] = reach[ancestor].max(farthest.length());
        }
    }
    reach
}

/// How many bones stay animated in low detail: the shortest prefix beyond which at most
/// [`LOW_DETAIL_AREA`] of the skin's area follows, and no bone that moves skin farther away than
/// [`LOW_DETAIL_REACH`] of `size`; then longer by what moves as much as its last bone within
/// [`LOW_DETAIL_PAIR`], so that a left side does not lose what the right one keeps. So fingers and toes
/// are lost, never an arm. All bones when there is no skin; never none of some.
pub(super) fn low_detail_bone_count(
    parents: &[Option<usize>],
    own_area: &[f64],
    reach: &[f32],
    size: f32,
) -> usize {
    let subtree = subtree_areas(parents, own_area);
    let total: f64 = own_area.iter().sum();
    if total <= 0.0 {
        return own_area.len();
    }
    let mut lost = 0.0;
    for (bone, (area, reach)) in own_area.iter().zip(reach).enumerate().rev() {
        lost += area;
        if lost > LOW_DETAIL_AREA * total || *reach > LOW_DETAIL_REACH * size {
            let pairs = |b: &&f64| **b > 0.0 && **b >= LOW_DETAIL_PAIR * subtree[bone];
            return bone + 1 + subtree[bone + 1..].iter().take_while(pairs).count();
        }
    }
    own_area.len().min(1)
}

/// The area that follows each bone or one below it; `parents[i] < i`.
fn subtree_areas(parents: &[Option<usize>], own_area: &[f64]) -> Vec<f64> {
    let mut subtree = own_area.to_vec();
    for bone in (0..parents.len()).rev() {
        if let Some(parent) = parents[bone] {
            subtree[parent] += subtree[bone];
        }
    }
    subtree
}

#[cfg(test)]
mod tests {
    use super::*;

    // 0 hips, 1 spine, 2 arm, 3 finger, 4 leg, 5 foot, 6 helper
    const PARENTS: [Option<usize>; 7] =
        [None, Some(0), Some(1), Some(2), Some(0), Some(4), Some(0)];
    const AREA: [f64; 7] = [20.0, 30.0, 14.0, 2.0, 25.0, 9.0, 0.0];

    #[test]
    fn the_larger_subtree_comes_first_and_parents_always_do() {
        assert_eq!(by_moved_area(&PARENTS, &AREA), [0, 1, 4, 2, 5, 3, 6]);
        let two_roots = by_moved_area(&[None, None, Some(0)], &[0.0, 1.0, 3.0]);
        assert_eq!(two_roots, [0, 2, 1]);
    }

    #[test]
    fn equal_areas_keep_the_files_order() {
        assert_eq!(by_moved_area(&[None, Some(0), Some(0), Some(0)], &[0.0; 4]), [0, 1, 2, 3]);
    }

    #[test]
    fn the_cut_loses_the_finger_and_the_helper_but_neither_arm_nor_foot() {
        let order = by_moved_area(&PARENTS, &AREA);
        let area: Vec<f64> = order.iter().map(|&b| AREA[b]).collect();
        let place = |old: usize| order.iter().position(|&o| o == old);
        let parents: Vec<_> = order.iter().map(|&b| PARENTS[b].and_then(place)).collect();
        let cut =
            |area: &[f64; 7], reach: &[f32; 7]| low_detail_bone_count(&parents, area, reach, 1.0);
        let area: [f64; 7] = area.try_into().unwrap();
        assert_eq!(cut(&area, &[0.0; 7]), 5);
        // The foot is within the area that may be lost, but too far from its ankle to freeze.
        let thin = [90.0, 5.0, 2.0, 2.0, 0.5, 0.5, 0.0];
        assert_eq!(cut(&thin, &[0.0; 7]), 4, "the arm stays beside the leg");
        assert_eq!(cut(&thin, &[1.0, 0.5, 0.3, 0.3, 0.2, 0.01, 0.0]), 6, "the finger is as large");
    }

    #[test]
    fn reach_goes_to_the_farthest_skin_of_the_subtree() {
        let point = |x| Some(Bounds::of_points(std::iter::once(Vec3::new(x, 0.0, 0.0))));
        let origin = [Vec3::ZERO, Vec3::X, Vec3::X * 2.0];
        let own = [point(0.5), None, point(4.0)];
        assert_eq!(reach(&[None, Some(0), Some(1)], &origin, &own), [4.0, 3.0, 2.0]);
        assert_eq!(reach(&[None, Some(0), Some(0)], &origin, &[point(0.5), None, None])[1], 0.0);
    }

    #[test]
    fn no_skin_keeps_all_bones_and_one_bone_stays() {
        assert_eq!(low_detail_bone_count(&[None; 5], &[0.0; 5], &[0.0; 5], 1.0), 5);
        assert_eq!(low_detail_bone_count(&[None], &[1.0], &[0.0], 1.0), 1);
        assert_eq!(low_detail_bone_count(&[], &[], &[], 1.0), 0);
    }
}
