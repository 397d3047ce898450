//! How a run ends when it does not end well.

use super::output;
use std::process::ExitCode;

/// Why the program stops, each with an exit status of its own.
#[derive(Debug)]
pub enum Failure {
    /// The command line asks for something that does not exist. Status 2.
    Usage(String),
    /// A file or the GPU. Status 1.
    Fault(anyhow::Error),
    /// Slower than it was allowed to be. Status 3.
    TooSlow(String),
    /// Poses are not what a second evaluation gives. Status 4.
    Diverged(String),
    /// Somebody was left waiting. Status 5.
    Starved(String),
}

impl Failure {
    /// The status the process ends with.
    pub fn status(&self) -> u8 {
        match self {
            Self::Fault(_) => 1,
            Self::Usage(_) => 2,
            Self::TooSlow(_) => 3,
            Self::Diverged(_) => 4,
            Self::Starved(_) => 5,
        }
    }

    /// Says on standard error what happened and gives the status.
    pub fn report(&self) -> ExitCode {
        output::say(self);
        ExitCode::from(self.status())
    }
}

impl std::fmt::Display for Failure {
    /// One line, causes included.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = match self {
            Self::Usage(line)
            | Self::TooSlow(line)
            | Self::Diverged(line)
            | Self::Starved(line) => line.clone(),
            Self::Fault(error) => format!("{error:#}"),
        };
        let mut words = text.split_whitespace();
        f.write_str(words.next().unwrap_or("unknown fault"))?;
        words.try_for_each(|word| write!(f, " {word}"))
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Fault(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_joined_into_one_line() {
        let e = anyhow::anyhow!("no such\n  file").context("a.glb");
        let failure = Failure::from(e);
        assert_eq!((failure.to_string().as_str(), failure.status()), ("a.glb: no such file", 1));
        assert_eq!(Failure::Usage("x".into()).status(), 2);
        assert_eq!(Failure::TooSlow("x".into()).status(), 3);
    }
}
