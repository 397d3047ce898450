//! Whether what a list names is there.

use super::fields::{Code, Index, Quantity};
use super::{ListError, write_with};
use crate::task::{MaskId, TaskIndex, TaskList};

/// How many there are of what a list's indices name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    /// Of the skeleton.
    pub bones: usize,
    /// Of the rig.
    pub clips: usize,
    /// That its program has.
    pub masks: usize,
    /// That its character keeps.
    pub histories: usize,
    /// That its character keeps.
    pub snapshots: usize,
}

/// Holds every index of a list against what there is.
///
/// # Errors
/// [`ListError::Index`] for the first that names nothing.
pub fn check(list: &TaskList, extents: &Extents) -> Result<(), ListError> {
    write_with(list, &mut Checker(extents))
}

/// Looks at indices and at nothing else.
struct Checker<'a>(&'a Extents);

impl Code for Checker<'_> {
    type Error = ListError;

    fn unsigned(&mut self, _: &mut u32) -> Result<(), ListError> {
        Ok(())
    }

    fn choice(&mut self, _: &mut u32, _: u32) -> Result<(), ListError> {
        Ok(())
    }

    fn index(&mut self, value: &mut u16, of: Index) -> Result<(), ListError> {
        let (what, count) = match of {
            Index::Bone => ("bone", self.0.bones),
            Index::Clip => ("clip", self.0.clips),
            Index::Mask if *value == MaskId::NONE.0 => return Ok(()),
            Index::Mask => ("mask", self.0.masks),
            Index::History => ("history", self.0.histories),
            Index::Snapshot => ("snapshot", self.0.snapshots),
        };
        let index = *value;
        if usize::from(index) < count {
            Ok(())
        } else {
            Err(ListError::Index { what, index, count })
        }
    }

    fn dependency(&mut self, _: &mut TaskIndex, _: usize) -> Result<(), ListError> {
        Ok(())
    }

    fn float(&mut self, _: &mut f32, _: Quantity) -> Result<(), ListError> {
        Ok(())
    }

    fn rotation(&mut self, _: &mut [f32; 4]) -> Result<(), ListError> {
        Ok(())
    }
}
