//! What a run has to tell, meanwhile and at its end.

use super::Show;
use crate::app::audit::Audit;
use crate::app::exit::Failure;
use crate::app::replay::Written;
use crate::app::report::{CrowdReport, KindReport, Machine, Report, machine};
use crate::motion::Moment;
use std::path::PathBuf;

impl Show {
    /// Lines that `--dump-tasks` has for the log.
    pub fn take_dump(&mut self) -> Option<String> {
        self.inspector.take_dump()
    }

    /// Sentences about the run that nobody has been told yet.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Ends the recording, if there is one: its file, its frames and its size.
    ///
    /// # Errors
    /// Of the file system.
    pub fn finish_recording(&mut self) -> Result<Option<(PathBuf, Written)>, Failure> {
        let Some(recording) = self.recording.take() else { return Ok(None) };
        let path = recording.path().to_owned();
        Ok(Some((path, recording.finish()?)))
    }

    /// What `--audit` tells.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// Everything measured so far.
    pub fn report(&self) -> Report {
        let summary = self.picture.as_ref().map(|p| p.gpu.summary());
        let machine = Machine {
            cpu: machine::cpu_name(),
            threads: self.threads,
            simd: self.config.simd.to_string(),
            adapter: summary.map(|s| s.name.clone()),
            backend: summary.map(|s| s.backend.clone()),
        };
        let (names, counts) = (self.crowd.notify_names(), self.crowd.notify_counts());
        let fired = |id| counts.of(id, Moment::Point) + counts.of(id, Moment::Begin);
        let notifies = names.iter().map(|(id, name)| (name.to_owned(), fired(id)));
        let notifies = notifies.filter(|(_, count)| *count > 0).collect();
        let report = self.recorder.report(machine, self.config.clone(), self.hash, notifies);
        let kinds = self.crowd.kinds().zip(&self.config.weights).map(|(kind, weight)| KindReport {
            name: self.crowd.kind_name(kind).unwrap_or_default().to_owned(),
            weight: *weight,
            count: self.crowd.count_of(kind),
        });
        Report {
            switched: self.switched.clone(),
            validation: self.inspector.validation(&self.crowd),
            crowd: CrowdReport { kinds: kinds.collect(), ..report.crowd },
            ..report
        }
    }
}
