//! The end of a run: screenshot, report, a few lines for people, and the limit.

use super::exit::Failure;
use super::output;
use super::replay::Written;
use super::report::{self, Report};
use super::show::Show;
use super::watch;
use crate::asset::ImageRgba8;
use crate::crowd::Bytes;
use std::fmt::Write;

/// Writes what the run was asked for and judges it.
///
/// # Errors
/// Of the file system, of reading the picture back, and whatever judges the run.
pub fn finish(
    show: &mut Show,
    picture: impl FnOnce(&mut Show) -> Result<Option<ImageRgba8>, Failure>,
) -> Result<(), Failure> {
    show.settle();
    let config = show.config().clone();
    let report = show.report();
    let mut written = Vec::new();
    if let Some(path) = &config.screenshot {
        match picture(show)? {
            Some(image) => output::write_png(path, &image)?,
            None => return Err(anyhow::anyhow!("no frame was drawn, so no screenshot").into()),
        }
        written.push(path);
    }
    if let Some(path) = &config.report {
        report::file::write(path, &report)?;
        written.push(path);
    }
    // Told at the end: what else was asked for is there first.
    let mut captured = Ok(());
    if let Some(to) = &config.capture {
        captured = watch::write_capture(show.crowd(), to);
        written.extend(captured.is_ok().then_some(&to.path));
    }
    written.extend(&config.frames_out);
    let recording = show.finish_recording()?;
    let mut text = report::text::summary(&report);
    if config.audit {
        text.push_str(&show.audit().text(show.crowd()));
    }
    // Writing to a string does not fail.
    for path in written {
        let _ = writeln!(text, "wrote {}", path.display());
    }
    if let Some((path, Written { frames, bytes })) = recording {
        let plural = if frames == 1 { "" } else { "s" };
        let size = Bytes(bytes);
        let _ = writeln!(text, "wrote {}: {frames} frame{plural}, {size}", path.display());
    }
    output::print(&text)?;
    captured?;
    report.validation.as_ref().map_or(Ok(()), watch::judge)?;
    if config.audit {
        show.audit().judge()?;
    }
    judge(&report, config.max_frame_ms)
}

/// Holds the 95th percentile of the frame time against the limit.
fn judge(report: &Report, limit: Option<f64>) -> Result<(), Failure> {
    let Some(limit) = limit else { return Ok(()) };
    match report.frame() {
        Some(frame) if frame.p95 <= limit => Ok(()),
        Some(frame) => Err(Failure::TooSlow(format!(
            "95 % of the frames took up to {:.3} ms; --max-frame-ms allows {limit} ms",
            frame.p95
        ))),
        None => Err(Failure::TooSlow("no frame was measured, so --max-frame-ms is not met".into())),
    }
}
