//! A run's closer look at its own tasks: `--capture`, `--dump-tasks`, `--validate-tasks`.

use super::cli::{CaptureTo, RunConfig};
use super::exit::Failure;
use super::output;
use crate::crowd::{CharacterCapture, CharacterHandle, Crowd, CrowdError, Validation, Watch};
use crate::index::CharacterId;
use crate::task::NamedCapture;
use std::fmt::Write;
use std::io::Write as _;
use std::path::Path;

/// What is looked at and what is told of it.
#[derive(Debug, Default)]
pub struct Inspector {
    capture: Option<CharacterId>,
    /// Who had that id first.
    captured: Option<CharacterHandle>,
    /// Frames from one dump to the next.
    dump_every: Option<u32>,
    validate: bool,
    dump: String,
}

impl Inspector {
    /// As the options say.
    pub fn new(config: &RunConfig) -> Self {
        Self {
            capture: config.capture.as_ref().map(|c| CharacterId(c.character)),
            captured: None,
            dump_every: config.dump_tasks,
            validate: config.validate_tasks,
            dump: String::new(),
        }
    }

    fn dumps(&self, frame: u64) -> bool {
        self.dump_every.is_some_and(|every| frame.is_multiple_of(u64::from(every)))
    }

    /// Before a tick: says what to look at in it.
    ///
    /// # Errors
    /// For a character that the crowd does not have.
    pub fn arm(&mut self, crowd: &mut Crowd) -> Result<(), Failure> {
        let places = crowd.capacity();
        if let Some(CharacterId(id)) = self.capture.filter(|id| id.0 >= places) {
            return Err(CrowdError::NoCharacter { id, count: places }.into());
        }
        self.captured = self.captured.or_else(|| crowd.handle(self.capture?));
        if self.captured.is_some_and(|who| !crowd.is_here(who)) {
            // It has gone, and what was seen of it last is what there is.
            return Ok(());
        }
        // Whoever names a character wants to read of that one.
        let one_of_each_kind = self.dumps(crowd.ticks()) && self.capture.is_none();
        let watch = Watch { character: self.captured, one_of_each_kind, validate: self.validate };
        Ok(crowd.watch(watch)?)
    }

    /// After a tick: writes down what is due to be told.
    pub fn look(&mut self, crowd: &Crowd) {
        let Some(frame) = crowd.ticks().checked_sub(1).filter(|frame| self.dumps(*frame)) else {
            return;
        };
        for seen in crowd.captures().filter(|seen| seen.frame == frame) {
            let CharacterCapture { id, kind, frame, seconds, list } = seen;
            // Writing to a string does not fail.
            let _ = writeln!(
                self.dump,
                "tasks of character {id} ({kind:?}), frame {frame}, {seconds:.3} s: {list}"
            );
        }
    }

    /// The lines that are to be logged.
    pub fn take_dump(&mut self) -> Option<String> {
        (!self.dump.is_empty()).then(|| std::mem::take(&mut self.dump))
    }

    /// What the second evaluations showed; `None` when nobody asked.
    pub fn validation(&self, crowd: &Crowd) -> Option<Validation> {
        self.validate.then(|| crowd.validation().clone())
    }
}

/// A capture as a file.
#[derive(serde::Serialize)]
struct CaptureFile<'a> {
    character: CharacterId,
    kind: &'a str,
    frame: u64,
    seconds: f64,
    #[serde(flatten)]
    list: NamedCapture<'a>,
}

/// Writes the last capture of a character as JSON, whole or not at all.
///
/// # Errors
/// Of the file system, and when the character was never evaluated or takes another one's pose.
pub fn write_capture(crowd: &Crowd, to: &CaptureTo) -> Result<(), Failure> {
    let id = CharacterId(to.character);
    let Some(seen) = crowd.captures().find(|seen| seen.id == id) else {
        if let Some(leader) = crowd.leader(id) {
            let line = "and executes nothing itself; capture that one's list";
            return Err(anyhow::anyhow!("--capture: character {id} follows {leader} {line}").into());
        }
        let line = "was never evaluated, so there is nothing to capture: nobody saw it \
                    (--visibility off evaluates everybody), or it never came (--spawn)";
        return Err(anyhow::anyhow!("--capture: character {id} {line}").into());
    };
    let CharacterCapture { id: character, kind, frame, seconds, list } = seen;
    write_json(&to.path, &CaptureFile { character, kind, frame, seconds, list })
}

fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), Failure> {
    output::write_whole(path, |file| {
        serde_json::to_writer_pretty(&mut *file, value)?;
        Ok(writeln!(file)?)
    })?;
    Ok(())
}

/// Tells of every divergence that was described, and fails when there was one.
///
/// # Errors
/// [`Failure::Diverged`] with the numbers.
pub fn judge(validation: &Validation) -> Result<(), Failure> {
    let Validation { checked, skipped, diverged, worst_mm, examples } = validation;
    if *checked == 0 && *skipped > 0 {
        output::say(format_args!(
            "--validate-tasks: nothing was checked, for none of {skipped} poses is of a single clip"
        ));
    }
    if *diverged == 0 {
        return Ok(());
    }
    examples.iter().for_each(|e| output::say(format_args!("--validate-tasks: {e}")));
    Err(Failure::Diverged(format!(
        "--validate-tasks: {diverged} of {checked} poses of a single clip are not what the direct \
         evaluation gives, by up to {worst_mm:.4} mm"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::Divergence;

    #[test]
    fn a_divergence_is_a_failure_of_its_own_with_the_numbers() {
        assert!(judge(&Validation { checked: 9, skipped: 3, ..Validation::default() }).is_ok());
        let example = Divergence {
            character: CharacterId(17),
            kind: "fox".into(),
            frame: 4,
            clip: "run".into(),
            seconds: 0.5,
            bone: "tail".into(),
            millimetres: 12.5,
            allowed_mm: 0.1,
        };
        let text = example.to_string();
        for part in ["17", "\"fox\"", "frame 4", "\"tail\"", "\"run\"", "0.5 s", "12.5000 mm"] {
            assert!(text.contains(part), "{text} lacks {part}");
        }
        let examples = vec![example];
        let found = Validation { checked: 9, skipped: 0, diverged: 2, worst_mm: 12.5, examples };
        let failure = judge(&found).unwrap_err();
        assert_eq!(failure.status(), 4);
        let line = failure.to_string();
        assert!(line.contains("2 of 9") && line.contains("12.5"), "{line}");
    }
}
