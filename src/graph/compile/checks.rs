//! Numbers that could be read and can't be meant.

use super::ir::Point;
use super::resolve::Resolver;
use super::scalars::ScalarId;
use crate::graph::file::{GraphError, Scalar, Text, Vector};
use crate::graph::program::FASTEST;

impl<'a> Resolver<'_, 'a> {
    /// A clip's speed: where it is known, one that a clock can run at.
    pub(super) fn speed(
        &mut self,
        node: &Text<'a>,
        speed: &Scalar<'a>,
    ) -> Result<ScalarId, GraphError> {
        let id = self.scalar(speed)?;
        match self.scalars.constant(id).filter(|speed| speed.abs() > FASTEST) {
            Some(speed) => {
                let line =
                    format!("a speed of {speed:e}; a clip runs {FASTEST} times as fast at most");
                Err(self.meaning(node, line))
            }
            None => Ok(id),
        }
    }

    /// A vector that says where something points; where it is known, not one without length.
    pub(super) fn direction(
        &mut self,
        node: &Text<'a>,
        field: &str,
        vector: &Vector<'a>,
    ) -> Result<Point, GraphError> {
        let ids = self.vector(vector)?;
        if ids.iter().all(|id| self.scalars.constant(*id) == Some(0.0)) {
            return Err(
                self.meaning(node, format!("`{field}` is (0, 0, 0), which is no direction"))
            );
        }
        Ok(ids)
    }
}
