//! A report for people: a few lines at the end of a run.

use super::{Report, Summary};
use crate::app::cli::TimeStep;
use std::fmt::Write;

/// Who, how many, on what, and a table of milliseconds.
pub fn summary(report: &Report) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = lines(report, &mut text);
    text
}

/// The columns of [`row`].
const HEADER: &str = "ms             p50        p95        p99        max       mean";

/// A phase's milliseconds, apart from one another up to a quarter of an hour.
fn row(name: &str, summary: &Summary) -> String {
    let Summary { p50, p95, p99, max, mean } = summary;
    format!("{name:8}{p50:>10.3}{p95:>11.3}{p99:>11.3}{max:>11.3}{mean:>11.3}")
}

fn lines(report: &Report, out: &mut String) -> std::fmt::Result {
    let (crowd, frames) = (&report.crowd, &report.frames);
    let step = match report.config.time_step {
        TimeStep::Real if report.config.replay.is_some() => "of a run in real time".to_owned(),
        TimeStep::Real => "in real time".to_owned(),
        TimeStep::Fixed(seconds) => format!("of {:.4} s", seconds),
    };
    writeln!(
        out,
        "{} character{}, {} visible, {} evaluated; {} frame{} {step}, {} before them to warm up",
        grouped(f64::from(crowd.count)),
        if crowd.count == 1 { "" } else { "s" },
        grouped(crowd.visible.mean),
        grouped(crowd.evaluated.mean),
        frames.measured,
        if frames.measured == 1 { "" } else { "s" },
        frames.warmup,
    )?;
    if crowd.spawned + crowd.despawned > 0 {
        let [came, went] = [crowd.spawned, crowd.despawned].map(|n| grouped(n as f64));
        let here = grouped(crowd.population.mean);
        writeln!(out, "{came} came and {went} went; {here} were there on average")?;
    }
    if crowd.kinds.len() > 1 {
        let kinds = crowd
            .kinds
            .iter()
            .map(|kind| format!("{} {}", grouped(f64::from(kind.count)), kind.name));
        writeln!(out, "{}", kinds.collect::<Vec<_>>().join(", "))?;
    }
    if let Some(v) = &report.validation {
        let (checked, skipped) = (grouped(v.checked as f64), grouped(v.skipped as f64));
        writeln!(
            out,
            "{checked} poses of a single clip evaluated twice ({skipped} others not): {} differ, the \
             worst by {:.4} mm",
            grouped(v.diverged as f64),
            v.worst_mm
        )?;
    }
    let machine = &report.machine;
    let adapter = match (&machine.adapter, &machine.backend) {
        (Some(name), Some(backend)) => format!("{name} ({backend}), "),
        _ => String::new(),
    };
    writeln!(
        out,
        "{adapter}{} worker{}, {}, {}",
        machine.threads,
        if machine.threads == 1 { "" } else { "s" },
        machine.simd,
        machine.cpu
    )?;
    let Some(frame) = report.frame() else { return Ok(()) };
    writeln!(out, "{:.1} frames a second", 1000.0 / frame.mean.max(1e-9))?;
    writeln!(out, "{HEADER}  workers' mean")?;
    for (name, summary) in &report.ms.0 {
        write!(out, "{}", row(name, summary))?;
        match report.worker_ms.get(name) {
            Some(worker) => writeln!(out, "{:>15.3}", worker.mean)?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

/// A whole number with commas between thousands.
pub fn grouped(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if number <= -0.5 {
        text.push('-');
    }
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(0.0), "0");
        assert_eq!(grouped(999.4), "999");
        assert_eq!(grouped(1_234_567.0), "1,234,567");
        assert_eq!(grouped(-1000.0), "-1,000");
    }

    #[test]
    fn slow_frames_do_not_run_into_one_another() {
        let slow = 60_000.0;
        let row =
            row("execute", &Summary { p50: slow, p95: slow, p99: slow, max: slow, mean: slow });
        assert_eq!(row.split_whitespace().count(), 6, "{row}");
        assert_eq!(row.len(), HEADER.len(), "columns end below their names");
    }
}
