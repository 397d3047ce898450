//! What a thread interprets programs with.

use super::bind::BoundProgram;
use super::finish::{Sample, Seam};
use super::operand::*;
use super::shapes::{Answer, ShapesOfPlans, Step};
use super::wide::Values;
use crate::math::Lanes;
use crate::motion::Fired;
use crate::task::{Known, Split, TaskIndex, weights_of};

/// What one thread needs to interpret programs. Kept from one evaluation to the next, so that it
/// allocates no more once it has seen the largest.
#[derive(Debug, Default)]
pub struct VmScratch {
    /// What is not needed is computed and recorded too.
    pub(super) everything: bool,
    /// The plan that all of this is laid out for.
    plan: u64,
    /// Of the instances that are evaluated together.
    pub(super) values: Values,
    /// What lists came to before.
    pub(super) shapes: ShapesOfPlans,
    /// The task that each node has recorded.
    pub(super) poses: Vec<TaskIndex>,
    /// Nodes that the output depends on, as bits and in falling order, with what they decided.
    pub(super) needed: Vec<u64>,
    pub(super) order: Vec<Answer>,
    /// Those of them that ask; what was recorded, and what is to be known of its tasks.
    pub(super) answers: Vec<Answer>,
    pub(super) recorded: Vec<Step>,
    pub(super) known: Vec<Known>,
    pub(super) splits: Vec<Split>,
    /// The samples of clocks, and the tasks of transitions.
    pub(super) samples: Vec<Sample>,
    pub(super) seams: Vec<Seam>,
    /// How much of each task's root motion is the character's.
    pub(super) motion: Vec<f32>,
    /// While a list is weighed that is known.
    pub(super) weights: Vec<f32>,
    /// Each clock's part in the pose, of those that have one.
    pub(super) heard: Vec<(ClockId, f32)>,
    pub(super) fired: Vec<Fired>,
    /// Notifies while others are looked for.
    pub(super) kept: Vec<Fired>,
}

impl VmScratch {
    /// Room for so many notifies of one evaluation, so that those who hear some late, and workers
    /// that come to them late, do not allocate then.
    pub fn with_room(notifies: usize) -> Self {
        let room = || Vec::with_capacity(notifies);
        let values = Values::with_room(notifies);
        Self { values, fired: room(), kept: room(), ..Self::default() }
    }

    /// The notifies that the last evaluation fired, in the order of the program's clocks.
    pub fn fired(&self) -> &[Fired] {
        &self.fired
    }

    /// Whether lists also get the tasks that their output does not depend on: what states that are
    /// not current show, and what weighs nothing. Clocks and machines that only such states need
    /// and start over when they are entered run meanwhile, too. What is shown, told and moved is
    /// the same to the bit.
    pub fn record_everything(&mut self, everything: bool) {
        self.everything = everything;
    }

    /// Which vector instructions compute what is computed for many instances at once; what comes
    /// out is the same to the bit.
    pub fn set_lanes(&mut self, lanes: Lanes) {
        self.values.set_simd(lanes);
    }

    /// Makes room for a plan's evaluations.
    pub(super) fn fit(&mut self, bound: &BoundProgram) {
        let (program, plan) = (bound.program(), bound.plan());
        // Values are written before they are read, and so are a node's task and a clock's step by
        // those who ask for them: what another evaluation has left of these is never seen.
        if std::mem::replace(&mut self.plan, plan.id) == plan.id {
            return;
        }
        self.shapes.turn_to(plan.id);
        self.values.fit(bound);
        self.poses.resize(plan.nodes.len(), TaskIndex::NONE);
        self.needed.resize(plan.nodes.len().div_ceil(u64::BITS as usize), 0);
        // Not every evaluation needs as much.
        self.order.reserve(plan.nodes.len().saturating_sub(self.order.len()));
        self.answers.reserve(plan.nodes.len().saturating_sub(self.answers.len()));
        self.recorded.reserve(plan.nodes.len().saturating_sub(self.recorded.len()));
        let (tasks, nodes) = (bound.most_tasks(), plan.nodes.len());
        self.known.reserve(tasks.saturating_sub(self.known.len()));
        self.splits.reserve(tasks.saturating_sub(self.splits.len()));
        self.samples.reserve(nodes.saturating_sub(self.samples.len()));
        self.seams.reserve(program.histories().saturating_sub(self.seams.len()));
        self.motion.reserve(tasks.saturating_sub(self.motion.len()));
        self.weights.resize(weights_of(tasks).max(self.weights.len()), 0.0);
        self.heard.reserve(program.clocks.len().saturating_sub(self.heard.len()));
    }
}
