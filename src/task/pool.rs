//! Pose buffers of one worker.

use crate::pose::{Pose, PoseShape};

/// Buffers that tasks borrow: grows on demand, never shrinks. Its size follows the depth of the
/// recipes, not the number of characters.
#[derive(Debug, Default)]
pub(crate) struct PosePool {
    poses: Vec<Pose>,
    free: Vec<u32>,
    /// The most that were lent at once since it was last set.
    pub high_water: usize,
}

/// A buffer of a [`PosePool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buffer(u32);

impl Buffer {
    /// Its number, for people to read.
    pub fn number(self) -> u32 {
        self.0
    }
}

impl PosePool {
    /// Lends a buffer that fits a rig. The one that came back last goes out first: it is warm.
    #[inline]
    pub fn acquire(&mut self, shape: PoseShape) -> Buffer {
        let at = self.free.pop().unwrap_or_else(|| self.grow());
        self.poses[at as usize].fit(shape);
        self.high_water = self.high_water.max(self.live());
        Buffer(at)
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        self.poses.push(Pose::default());
        // Room to return every buffer, so that a release never allocates.
        self.free.reserve(self.poses.len());
        (self.poses.len() - 1) as u32
    }

    /// Takes a buffer back.
    #[inline]
    pub fn release(&mut self, buffer: Buffer) {
        self.free.push(buffer.0);
    }

    /// Buffers that are lent.
    pub fn live(&self) -> usize {
        self.poses.len() - self.free.len()
    }

    /// A lent buffer.
    pub fn get(&self, buffer: Buffer) -> &Pose {
        &self.poses[buffer.0 as usize]
    }

    /// A lent buffer.
    pub fn get_mut(&mut self, buffer: Buffer) -> &mut Pose {
        &mut self.poses[buffer.0 as usize]
    }

    /// One buffer to write and another to read; `None` for the second when they are the same.
    pub fn pair(&mut self, write: Buffer, read: Buffer) -> (&mut Pose, Option<&Pose>) {
        let (w, r) = (write.0 as usize, read.0 as usize);
        match w.cmp(&r) {
            std::cmp::Ordering::Equal => (&mut self.poses[w], None),
            std::cmp::Ordering::Less => {
                let (low, high) = self.poses.split_at_mut(r);
                (&mut low[w], Some(&high[0]))
            }
            std::cmp::Ordering::Greater => {
                let (low, high) = self.poses.split_at_mut(w);
                (&mut high[0], Some(&low[r]))
            }
        }
    }

    /// Bytes of heap memory of all buffers.
    pub fn heap_bytes(&self) -> usize {
        self.poses.iter().map(Pose::heap_bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::BoneCount;

    #[test]
    fn buffers_come_back_and_are_lent_again() {
        let shape = PoseShape { bones: BoneCount(3), has_scale: false };
        let mut pool = PosePool::default();
        let (a, b) = (pool.acquire(shape), pool.acquire(shape));
        assert_eq!(pool.live(), 2);
        assert!(pool.pair(a, b).1.is_some() && pool.pair(b, a).1.is_some());
        assert!(pool.pair(a, a).1.is_none());
        pool.release(a);
        assert_eq!((pool.acquire(shape), pool.live()), (a, 2));
    }
}
