//! A GPU that is lost while the program runs: what is drawn with is made anew.

use super::exit::Failure;
use crate::render::{GpuError, GpuFault, RenderError};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How often a GPU may be lost within [`LATELY`]; one more ends the run.
const LOSSES: usize = 3;
const LATELY: Duration = Duration::from_secs(60);
/// A driver that restarts its GPU has none to give meanwhile.
const ATTEMPTS: u32 = 20;
const BETWEEN: Duration = Duration::from_millis(250);

/// Tells a lost GPU from other faults, and remembers.
#[derive(Debug, Default)]
pub struct Revival {
    lost: Option<String>,
    losses: VecDeque<Instant>,
}

impl Revival {
    /// True from the frame that found the GPU lost until there is another.
    pub fn due(&self) -> bool {
        self.lost.is_some()
    }

    /// What came of something that needs the GPU; `None` when that is lost.
    ///
    /// # Errors
    /// Any other fault, and a GPU that is lost again and again.
    pub fn heed<T>(&mut self, outcome: Result<T, Failure>) -> Result<Option<T>, Failure> {
        self.heed_at(outcome, Instant::now())
    }

    fn heed_at<T>(
        &mut self,
        outcome: Result<T, Failure>,
        now: Instant,
    ) -> Result<Option<T>, Failure> {
        let failure = match outcome {
            Ok(value) => return Ok(Some(value)),
            Err(failure) => failure,
        };
        if !is_loss(&failure) {
            return Err(failure);
        }
        if self.lost.is_some() {
            return Ok(None);
        }
        self.losses.retain(|before| now.duration_since(*before) < LATELY);
        if self.losses.len() == LOSSES {
            let context = format!("lost {} times within a minute", LOSSES + 1);
            return Err(anyhow::anyhow!("{failure}").context(context).into());
        }
        self.losses.push_back(now);
        self.lost = Some(failure.to_string());
        Ok(None)
    }

    /// There is a GPU again: the sentence to be told.
    pub fn done(&mut self, adapter: &str) -> String {
        let reason = self.lost.take().unwrap_or_default();
        format!("{reason}; drawing goes on with {adapter}")
    }
}

/// Asks for a device until there is one, for some seconds.
///
/// # Errors
/// Of the last attempt.
pub fn again<T>(mut make: impl FnMut() -> Result<T, GpuError>) -> Result<T, GpuError> {
    let mut outcome = make();
    for _ in 1..ATTEMPTS {
        let Err(error) = &outcome else { break };
        tracing::debug!("no GPU yet: {error}");
        std::thread::sleep(BETWEEN);
        outcome = make();
    }
    outcome
}

fn is_loss(failure: &Failure) -> bool {
    let Failure::Fault(error) = failure else { return false };
    let fault = match (error.downcast_ref(), error.downcast_ref()) {
        (Some(RenderError::Fault(fault)), _) | (_, Some(GpuError::Fault(fault))) => Some(fault),
        _ => error.downcast_ref(),
    };
    matches!(fault, Some(GpuFault::Lost(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost() -> Result<(), Failure> {
        Err(RenderError::Fault(GpuFault::Lost("reset".into())).into())
    }

    #[test]
    fn only_a_lost_gpu_is_answered_and_not_for_ever() {
        let (mut revival, start) = (Revival::default(), Instant::now());
        assert!(matches!(revival.heed(Ok(7)), Ok(Some(7))));
        let full = RenderError::Fault(GpuFault::OutOfMemory("all of it".into()));
        assert!(revival.heed::<()>(Err(full.into())).is_err());
        let other = Failure::Usage("no".into());
        assert!(revival.heed::<()>(Err(other)).is_err());
        assert!(!revival.due());
        for _ in 0..LOSSES {
            // Told several times before there is another.
            for _ in 0..2 {
                assert!(matches!(revival.heed_at(lost(), start), Ok(None)));
            }
            assert!(revival.due());
            let told = revival.done("a GPU");
            assert_eq!(told, "the GPU was lost: reset; drawing goes on with a GPU");
        }
        let later = start + LATELY;
        let surface: Failure = GpuError::Fault(GpuFault::Lost("gone".into())).into();
        assert!(matches!(revival.heed_at::<()>(Err(surface), later), Ok(None)));
        revival.done("a GPU");
        let error = (0..LOSSES).find_map(|_| {
            let outcome = revival.heed_at(lost(), later);
            revival.lost = None;
            outcome.err()
        });
        let text = "lost 4 times within a minute: the GPU was lost: reset";
        assert_eq!(error.map(|e| e.to_string()), Some(text.to_owned()));
    }
}
