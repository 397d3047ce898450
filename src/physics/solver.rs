//! How bodies are kept together and out of the ground.

use super::SUBSTEP;
use rapier3d::prelude::{IntegrationParameters, SpringCoefficients};

/// Small steps that the solver divides a substep into: with fewer, joints give way when a body lands.
const ITERATIONS: usize = 4;
/// Hertz at which the ground pushes out what is in it: hard, as far as a small step goes.
const GROUND_HERTZ: f32 = 3000.0;
/// Units per second that anything is pushed out with at most. What is more turns into jitter.
const MOST_PUSH: f32 = 0.3;
/// Units from the ground at which bodies begin to be kept from it: further than any moves in a
/// substep, the end of a limb that swings down as well.
const AHEAD: f32 = 0.1;

/// How the solver goes about a substep.
pub fn parameters() -> IntegrationParameters {
    IntegrationParameters {
        dt: SUBSTEP,
        num_solver_iterations: ITERATIONS,
        static_contact_softness: SpringCoefficients::new(GROUND_HERTZ, 1.0),
        normalized_max_corrective_velocity: MOST_PUSH,
        normalized_prediction_distance: AHEAD,
        // A capsule that tips over touches the ground with another end than it did before.
        contact_recycling: false,
        // Nothing gets through a half space, and what is stopped alone is torn off.
        max_ccd_substeps: 0,
        ..IntegrationParameters::default()
    }
}
