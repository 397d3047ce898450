//! What has gone wrong on the GPU, kept where the program can ask for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// A fault that wgpu reported outside any call's own result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpuFault {
    /// The device is gone: unplugged, reset by its driver, or taken away.
    #[error("the GPU was lost: {0}")]
    Lost(String),
    /// An allocation failed.
    #[error("the GPU is out of memory: {0}")]
    OutOfMemory(String),
    /// Anything else; a fault of this program or of the driver.
    #[error("the GPU refused a command: {0}")]
    Refused(String),
}

impl GpuFault {
    /// What an error of wgpu's is.
    pub(super) fn of(error: &wgpu::Error) -> Self {
        match error {
            wgpu::Error::OutOfMemory { source } => Self::OutOfMemory(source.to_string()),
            wgpu::Error::Validation { description, .. }
            | wgpu::Error::Internal { description, .. } => Self::Refused(description.clone()),
        }
    }

    fn gravity(&self) -> u8 {
        match self {
            Self::Refused(_) => 0,
            Self::OutOfMemory(_) => 1,
            Self::Lost(_) => 2,
        }
    }
}

/// The gravest fault so far. Shared with wgpu's callbacks.
#[derive(Debug, Default)]
pub(super) struct Health {
    fault: Mutex<Option<GpuFault>>,
    /// The device is being given up: what happens to it is no fault.
    given_up: AtomicBool,
}

impl Health {
    /// Keeps `fault` unless one at least as grave is known. Whoever draws is told of it, and says
    /// so; the log has all of them.
    pub(super) fn report(&self, fault: GpuFault) {
        if self.given_up.load(Ordering::Relaxed) {
            return;
        }
        let mut known = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        let keep = known.as_ref().is_none_or(|k| k.gravity() < fault.gravity());
        if keep {
            tracing::debug!("{fault}");
            *known = Some(fault);
        } else {
            tracing::debug!("after an earlier fault: {fault}");
        }
    }

    /// From now on nothing is a fault.
    pub(super) fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    pub(super) fn fault(&self) -> Option<GpuFault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn report_error(&self, error: &wgpu::Error) {
        self.report(GpuFault::of(error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_fault_stays() {
        let health = Health::default();
        assert_eq!(health.fault(), None);
        health.report(GpuFault::Refused("first".into()));
        health.report(GpuFault::Refused("second".into()));
        assert_eq!(health.fault(), Some(GpuFault::Refused("first".into())));
        health.report(GpuFault::Lost("reset".into()));
        health.report(GpuFault::OutOfMemory("late".into()));
        assert_eq!(health.fault(), Some(GpuFault::Lost("reset".into())));
    }

    #[test]
    fn what_happens_to_a_device_that_is_given_up_is_no_fault() {
        let health = Health::default();
        health.give_up();
        health.report(GpuFault::Lost("dropped".into()));
        assert_eq!(health.fault(), None);
    }
}
