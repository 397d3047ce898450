//! Where a transition set out from, in the blocks and groups that poses lie in.

use super::history::BonePose;
use super::quat::{self, Quats};
use crate::index::{BoneCount, BoneIndex};
use crate::pose::buffer::Rest;
use crate::pose::streams::{GROUP, GroupSet, LINE, Line, Vec3Group, blocks_for, groups_for};
use crate::pose::{Pose, Rig};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x8};
use glam::Vec3;

/// A magnitude along a unit direction and its change a second. Zero directions carry nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Channel {
    pub direction: Vec3,
    pub x0: f32,
    pub v0: f32,
}

/// One bone's rotation vector, translation and scale, each as a channel: offsets and their
/// velocities for inertialization, velocities alone for dead blending.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seam {
    pub turn: Channel,
    pub shift: Channel,
    pub stretch: Channel,
}

/// Channels of sixteen bones, `[x | y | z | x0 | v0]`.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct ChannelBlock([Line; 5]);

/// Channels of eight bones, `[x | y | z | x0 | v0]`.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct ChannelGroup([[f32; GROUP]; 5]);

/// The seam of a transition, bone by bone. Lanes behind its last bone carry nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Seams {
    /// Bones that it covers; none when there was nothing to set out from.
    pub bones: BoneCount,
    pub turns: Vec<ChannelBlock>,
    pub shifts: Vec<ChannelGroup>,
    /// None for a rig without scale.
    pub stretches: Vec<ChannelGroup>,
    /// Groups with a bone that shifts, or stretches.
    shifted: GroupSet,
    stretched: GroupSet,
    /// The pose at the seam, its rotations of unit length (dead blending only), and how many bones
    /// it covers.
    pub pose: Pose,
    pub posed: BoneCount,
}

impl Channel {
    fn to_array(self) -> [f32; 5] {
        let [x, y, z] = self.direction.to_array();
        [x, y, z, self.x0, self.v0]
    }

    fn from_array([x, y, z, x0, v0]: [f32; 5]) -> Self {
        Self { direction: Vec3::new(x, y, z), x0, v0 }
    }
}

impl ChannelBlock {
    const NONE: Self = Self([Line::ZERO; 5]);

    /// One bone's channel.
    pub fn get(&self, lane: usize) -> Channel {
        Channel::from_array(self.0.each_ref().map(|line| line.0[lane % LINE]))
    }

    fn set(&mut self, lane: usize, channel: Channel) {
        for (line, value) in self.0.iter_mut().zip(channel.to_array()) {
            line.0[lane % LINE] = value;
        }
    }

    /// The rotations that one vector's width of channels, from lane `at` on, stand for where
    /// `magnitude(x0, v0)` radians are left of them; their signs are left open.
    #[inline(always)]
    pub fn rotations<S: Simd>(
        &self,
        simd: S,
        at: usize,
        magnitude: impl Fn(S::f32s, S::f32s) -> S::f32s,
    ) -> Quats<S> {
        let end = at + S::f32s::LEN;
        let [x, y, z, x0, v0] =
            self.0.each_ref().map(|line| S::f32s::from_slice(simd, &line.0[at..end]));
        quat::about_axis(simd, [x, y, z], magnitude(x0, v0))
    }
}

impl ChannelGroup {
    const NONE: Self = Self([[0.0; GROUP]; 5]);

    /// One bone's channel.
    pub fn get(&self, lane: usize) -> Channel {
        Channel::from_array(self.0.each_ref().map(|component| component[lane % GROUP]))
    }

    fn set(&mut self, lane: usize, channel: Channel) {
        for (component, value) in self.0.iter_mut().zip(channel.to_array()) {
            component[lane % GROUP] = value;
        }
    }

    /// The vectors that the channels stand for where `magnitude(x0, v0)` is left of them.
    #[inline(always)]
    pub fn vectors<S: Simd>(
        &self,
        simd: S,
        magnitude: impl Fn(f32x8<S>, f32x8<S>) -> f32x8<S>,
    ) -> [f32x8<S>; 3] {
        let [x, y, z, x0, v0] = self.0.each_ref().map(|c| f32x8::load_array_ref(simd, c));
        let magnitude = magnitude(x0, v0);
        [x * magnitude, y * magnitude, z * magnitude]
    }
}

impl Seams {
    /// Starts over, for the first `bones` bones of a rig, with channels that carry nothing. Room is
    /// made for the whole rig: levels of detail come and go.
    pub fn reset(&mut self, rig: &Rig, bones: BoneCount) {
        let whole = rig.bone_count().get();
        self.forget();
        self.bones = bones;
        self.turns.clear();
        self.turns.resize(blocks_for(whole), ChannelBlock::NONE);
        self.shifts.clear();
        self.shifts.resize(groups_for(whole), ChannelGroup::NONE);
        self.stretches.clear();
        if rig.has_scale() {
            self.stretches.resize(groups_for(whole), ChannelGroup::NONE);
        }
        self.shifted = GroupSet::new(whole);
        self.stretched = GroupSet::new(whole);
    }

    /// Allocates now what a seam over a rig takes; there is nothing to set out from then.
    pub fn reserve(&mut self, rig: &Rig) {
        self.reset(rig, BoneCount(0));
        self.pose.fit(rig.shape());
    }

    /// Has as much room as another seam.
    pub fn reserve_as(&mut self, other: &Self) {
        fn grow<T>(to: &mut Vec<T>, like: &Vec<T>) {
            to.reserve(like.capacity().saturating_sub(to.len()));
        }
        grow(&mut self.turns, &other.turns);
        grow(&mut self.shifts, &other.shifts);
        grow(&mut self.stretches, &other.stretches);
    }

    /// Nothing to set out from.
    pub fn forget(&mut self) {
        (self.bones, self.posed) = (BoneCount(0), BoneCount(0));
    }

    /// Stores one bone's channels.
    pub fn set(&mut self, bone: BoneIndex, seam: &Seam) {
        let (bone, group) = (bone.get(), bone.get() / GROUP);
        self.turns[bone / LINE].set(bone, seam.turn);
        if seam.shift.direction != Vec3::ZERO {
            self.shifts[group].set(bone, seam.shift);
            self.shifted.insert(group);
        }
        if seam.stretch.direction != Vec3::ZERO && !self.stretches.is_empty() {
            self.stretches[group].set(bone, seam.stretch);
            self.stretched.insert(group);
        }
    }

    /// Keeps the pose too: what `value` gives for each bone. Groups of translations and scales are
    /// held where `held` holds them or they move.
    pub fn keep_pose(&mut self, rig: &Rig, held: &Pose, value: impl Fn(BoneIndex) -> BonePose) {
        let bones = self.bones.get();
        let end = groups_for(bones);
        self.posed = self.bones;
        self.pose.fit(rig.shape());
        self.pose.is_delta = held.is_delta;
        self.pose.moved.clear();
        self.pose.scaled.clear();
        held.moved.each_of_either(&self.shifted, end, |group| self.pose.moved.insert(group));
        held.scaled.each_of_either(&self.stretched, end, |group| self.pose.scaled.insert(group));
        for lane in 0..blocks_for(bones) * LINE {
            let bone = BoneIndex(lane as u16);
            let value = if lane < bones { value(bone) } else { BonePose::IDENTITY };
            self.pose.set_rotation(bone, value.rotation.to_array());
            if self.pose.moved.contains(lane / GROUP) {
                self.pose.set_translation(bone, value.translation.to_array());
            }
            if self.pose.scaled.contains(lane / GROUP) {
                self.pose.set_scale(bone, value.scale.to_array());
            }
        }
    }

    /// Calls `add(to, channels)` for every group of translations or scales with an offset, which
    /// the pose holds from then on.
    #[inline(always)]
    pub fn each_offset(
        &self,
        rest: Rest<'_>,
        pose: &mut Pose,
        active: BoneCount,
        mut add: impl FnMut(&mut Vec3Group, &ChannelGroup),
    ) {
        let end = groups_for(active.get());
        self.shifted.each_below(end, |group| {
            pose.hold_translation(rest, BoneIndex((group * GROUP) as u16));
            add(&mut pose.translations[group], &self.shifts[group]);
        });
        self.stretched.each_below(end, |group| {
            pose.hold_scale(rest, BoneIndex((group * GROUP) as u16));
            add(&mut pose.scales[group], &self.stretches[group]);
        });
    }

    /// Bytes of heap memory.
    pub fn heap_bytes(&self) -> usize {
        self.turns.capacity() * size_of::<ChannelBlock>()
            + (self.shifts.capacity() + self.stretches.capacity()) * size_of::<ChannelGroup>()
            + self.pose.heap_bytes()
    }
}
