//! `--audit`: who ticks because somebody says so, how evenly evaluations are spread, and whether
//! anybody waited longer than a rate allows.

use super::exit::Failure;
use super::report::text::grouped;
use crate::crowd::{Crowd, Gates, TickStats};
use crate::index::CharacterId;
use std::fmt::Write;

/// Lines about characters, at most.
const LINES: usize = 20;

/// What a run's measured frames showed.
#[derive(Debug, Default)]
pub struct Audit {
    frames: u64,
    evaluated: u64,
    most: u32,
    /// Frames, and whose they were.
    longest_gap: (u32, CharacterId),
    unplaced: u32,
}

impl Audit {
    /// Adds a frame.
    pub fn add(&mut self, tick: &TickStats) {
        self.frames += 1;
        self.evaluated += u64::from(tick.evaluated);
        self.most = self.most.max(tick.evaluated);
        if tick.longest_gap > self.longest_gap.0 {
            self.longest_gap = (tick.longest_gap, tick.waited_longest);
        }
        self.unplaced = self.unplaced.max(tick.waiting);
    }

    /// For people.
    pub fn text(&self, crowd: &Crowd) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.lines(crowd, &mut text);
        text
    }

    fn lines(&self, crowd: &Crowd, out: &mut String) -> std::fmt::Result {
        let mean = self.evaluated as f64 / self.frames.max(1) as f64;
        let peak = if mean > 0.0 { f64::from(self.most) / mean } else { 1.0 };
        let (gap, who) = self.longest_gap;
        writeln!(
            out,
            "audit: {} evaluated a frame on average, {} at most ({peak:.3} times that); longest gap \
             {gap} frames, first of character {who}",
            grouped(mean),
            grouped(self.most.into()),
        )?;
        let forced = crowd.forced();
        let count = forced.len();
        if count == 0 {
            return writeln!(out, "audit: everybody ticks as it would by itself");
        }
        writeln!(out, "audit: {} do not tick as they would by themselves", grouped(count as f64))?;
        let names: Vec<_> = crowd.sequences().map(|(_, info)| (info.name, info.state)).collect();
        for (id, force) in forced.take(LINES) {
            let by: Vec<_> = force.by.iter().filter_map(|by| names.get(by.get())).collect();
            let by: Vec<_> =
                by.iter().map(|(name, state)| format!("{name:?} ({})", state.name())).collect();
            let mode = crowd.update_mode(id).unwrap_or_default();
            writeln!(
                out,
                "  character {}{}: {}, by itself {}; forced by {}",
                CharacterId(id.0),
                crowd.leader(id).map_or_else(String::new, |l| format!(", who follows {l}")),
                mode.name(),
                force.own.name(),
                by.join(", ")
            )?;
        }
        if count > LINES {
            writeln!(out, "  and {} more", grouped((count - LINES) as f64))?;
        }
        Ok(())
    }

    /// Refuses a run in which somebody who is drawn was left waiting.
    ///
    /// # Errors
    /// [`Failure::Starved`].
    pub fn judge(&self) -> Result<(), Failure> {
        let longest = Gates::RATES as u32 + 1;
        let (gap, who) = self.longest_gap;
        if gap > longest {
            let line =
                format!("character {who} waited {gap} frames; no rate is slower than {longest}");
            return Err(Failure::Starved(line));
        }
        match self.unplaced {
            0 => Ok(()),
            n => Err(Failure::Starved(format!(
                "up to {n} characters in view had no palette: the memory limit is reached"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_longer_than_the_slowest_rate_is_starved() {
        let tick = |longest_gap, evaluated| TickStats {
            longest_gap,
            waited_longest: CharacterId(10 * longest_gap),
            evaluated,
            ..TickStats::default()
        };
        let mut audit = Audit::default();
        audit.add(&tick(4, 90));
        audit.add(&tick(2, 110));
        assert!(audit.judge().is_ok());
        assert_eq!((audit.most, audit.evaluated), (110, 200));
        audit.add(&tick(5, 1));
        let failure = audit.judge().unwrap_err();
        assert_eq!(failure.status(), 5);
        assert!(failure.to_string().contains("character 50 waited 5 frames"));
        let mut audit = Audit::default();
        audit.add(&TickStats { waiting: 3, ..TickStats::default() });
        assert!(audit.judge().unwrap_err().to_string().contains("up to 3 characters"));
    }
}
