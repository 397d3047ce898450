//! What was wrong with a command line, as one line: the option and what was given, then what would
//! be right.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error as _;

/// One line for whatever clap found, in the words of the program's own refusals where it knows
/// better ones than clap's.
pub fn one_line(error: &Error) -> String {
    let fault = Fault { error, text: error.render().to_string() };
    fault.line().unwrap_or_else(|| fault.as_clap_says_it())
}

struct Fault<'a> {
    error: &'a Error,
    /// As clap prints it, with usage and tips.
    text: String,
}

impl Fault<'_> {
    fn line(&self) -> Option<String> {
        match self.error.kind() {
            ErrorKind::InvalidValue | ErrorKind::ValueValidation => self.value(),
            ErrorKind::TooManyValues => {
                let (option, value) = (self.option()?, self.first(ContextKind::InvalidValue)?);
                Some(format!("{option} takes no value, but was given {}", shown(value)))
            }
            ErrorKind::UnknownArgument => {
                let given = self.first(ContextKind::InvalidArg)?;
                let hint = self.meant(ContextKind::SuggestedArg).unwrap_or_else(|| self.lists());
                let what = if given.starts_with('-') { "option" } else { "place for" };
                Some(format!("there is no {what} {}; {hint}", shown(given)))
            }
            ErrorKind::InvalidSubcommand => {
                let given = self.first(ContextKind::InvalidSubcommand)?;
                let hint = self.meant(ContextKind::SuggestedSubcommand);
                Some(self.no_command(given, &hint.unwrap_or_else(|| self.lists())))
            }
            ErrorKind::MissingSubcommand => {
                let commands = self.all(ContextKind::ValidSubcommand).join(", ");
                Some(format!("{} needs a command: {commands}", self.command()))
            }
            ErrorKind::MissingRequiredArgument => {
                let missing = self.all(ContextKind::InvalidArg).join(" and ");
                Some(format!("{} needs {missing}; {}", self.command(), self.explains()))
            }
            ErrorKind::ArgumentConflict => self.conflict(),
            _ => None,
        }
    }

    /// A value that an option can't have, or none where it needs one.
    fn value(&self) -> Option<String> {
        let (option, value) = (self.option()?, self.first(ContextKind::InvalidValue)?);
        if let Some(reason) = self.error.source() {
            return Some(format!("{option} {}: {reason}", shown(value)));
        }
        let choices = self.all(ContextKind::ValidValue).join(", ");
        Some(match (value, choices.as_str()) {
            ("", "") => {
                let like = self.first(ContextKind::InvalidArg)?;
                format!("{option} needs a value: {like}; {}", self.explains())
            }
            ("", choices) => format!("{option} needs a value: one of {choices}"),
            (value, choices) => {
                let hint = self.meant(ContextKind::SuggestedValue);
                let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                format!("{option} {}: has to be one of {choices}{hint}", shown(value))
            }
        })
    }

    /// Two things that do not go together. The word that clap takes for a command after options of
    /// a run may be none.
    fn conflict(&self) -> Option<String> {
        let others = self.all(ContextKind::PriorArg);
        if let Some(word) = self.first(ContextKind::InvalidSubcommand) {
            let options: Vec<_> = others.iter().map(|other| name(other)).collect();
            let known = <super::Cli as clap::CommandFactory>::command();
            if known.get_subcommands().any(|c| c.get_name() == word) {
                let options = options.join(", ");
                return Some(format!("{word} takes no options of a run: drop {options}"));
            }
            let with_equals = others.iter().find(|other| other.contains("[="));
            return Some(match with_equals {
                Some(other) => {
                    let option = name(other);
                    format!("unexpected {word}; a value of {option} follows a =: {option}={word}")
                }
                None => self.no_command(word, &self.lists()),
            });
        }
        let (first, second) = (self.option()?, name(others.first()?));
        Some(if first == second {
            format!("{first} is given twice")
        } else {
            format!("{first} and {second} do not go together; drop one")
        })
    }

    fn no_command(&self, word: &str, hint: &str) -> String {
        let ending = word.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        match ending.as_deref() {
            Some("glb" | "gltf" | "vrm") => {
                format!("{} is no command; for a crowd of it: --character {word}", shown(word))
            }
            _ => format!("there is no command {}; {hint}", shown(word)),
        }
    }

    /// What is left where nothing above fits: the first paragraph of clap's.
    fn as_clap_says_it(&self) -> String {
        let fault = self.text.split("\n\n").next().unwrap_or_default();
        fault.trim_start_matches("error: ").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The option at fault without its placeholder.
    fn option(&self) -> Option<&str> {
        self.first(ContextKind::InvalidArg).map(name)
    }

    fn first(&self, kind: ContextKind) -> Option<&str> {
        self.all(kind).into_iter().next()
    }

    fn all(&self, kind: ContextKind) -> Vec<&str> {
        match self.error.get(kind) {
            Some(ContextValue::String(one)) => vec![one.as_str()],
            Some(ContextValue::Strings(some)) => some.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    fn meant(&self, kind: ContextKind) -> Option<String> {
        let words = self.all(kind);
        (!words.is_empty()).then(|| format!("did you mean {}?", words.join(" or ")))
    }

    /// `throng`, or `throng` and the command that was given, from the line that shows its usage;
    /// nothing where clap shows none.
    fn command(&self) -> String {
        let usage = self.text.lines().find_map(|line| line.trim().strip_prefix("Usage: "));
        let words = usage.unwrap_or_default().split(' ');
        words.take_while(|w| !w.starts_with(['[', '<', '-'])).collect::<Vec<_>>().join(" ")
    }

    fn help(&self) -> String {
        format!("`{}`", format!("{} --help", self.command()).trim_start())
    }

    fn lists(&self) -> String {
        format!("{} lists what there is", self.help())
    }

    fn explains(&self) -> String {
        format!("{} explains it", self.help())
    }
}

/// `--count` of `--count <N>`, `--dump-tasks` of `--dump-tasks[=<FRAMES>]`.
fn name(argument: &str) -> &str {
    argument.split([' ', '[', '=']).next().unwrap_or(argument)
}

/// A value as it was given, in quotes where it would be mistaken for the words around it.
fn shown(value: &str) -> String {
    if value.is_empty() || value.contains(|c: char| c.is_whitespace() || c.is_control()) {
        format!("{value:?}")
    } else {
        value.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use std::ffi::OsString;

    /// What follows the program's name for these words.
    #[track_caller]
    fn said(words: &str) -> String {
        let args = std::iter::once("throng").chain(words.split(' ')).map(OsString::from);
        let line = Cli::read(args).expect_err("refused").to_string();
        assert!(!line.contains('\n'), "{line}");
        line
    }

    #[test]
    fn values_are_named_with_their_option_and_what_would_be_right() {
        let count = "a count is a whole number from 0 to 10000000, such as 5000";
        for value in ["abc", "-1", "1.5", "1,000", "10000001", "99999999999999999999"] {
            assert_eq!(said(&format!("--count {value}")), format!("--count {value}: {count}"));
        }
        assert_eq!(said("--count "), format!("--count \"\": {count}"));
        assert_eq!(said("-n abc"), format!("--count abc: {count}"));
        let cases = [
            (
                "--layout discs",
                "--layout discs: has to be one of grid, disc, street; did you mean disc?",
            ),
            ("--shadows 1", "--shadows 1: has to be one of on, off"),
            ("--steal", "--steal needs a value: one of on, off"),
            ("--report", "--report needs a value: --report <PATH>; `--help` explains it"),
            ("--headless=yes", "--headless takes no value, but was given yes"),
            ("bench pose --passes", "--passes needs a value: --passes <N>; `--help` explains it"),
        ];
        for (words, line) in cases {
            assert_eq!(said(words), line, "{words}");
        }
    }

    #[test]
    fn what_is_not_there_is_said_with_what_is() {
        let cases = [
            ("--cuont 3", "there is no option --cuont; did you mean --count?"),
            ("--bogus", "there is no option --bogus; `throng --help` lists what there is"),
            (
                "inspect a.glb --bogus",
                "there is no option --bogus; `throng inspect --help` lists what there is",
            ),
            (
                "inspect a.glb b.glb",
                "there is no place for b.glb; `throng inspect --help` lists what there is",
            ),
            ("inspekt a.glb", "there is no command inspekt; did you mean inspect?"),
            ("xyz", "there is no command xyz; `throng --help` lists what there is"),
            ("Fox.GLB", "Fox.GLB is no command; for a crowd of it: --character Fox.GLB"),
            ("--headless fox.glb", "fox.glb is no command; for a crowd of it: --character fox.glb"),
            ("--headless yes", "there is no command yes; `throng --help` lists what there is"),
            (
                "bench",
                "throng bench needs a command: pose, tasks, graph, dark, scaling, crowd, ablation",
            ),
            ("inspect", "throng inspect needs <FILE>; `throng inspect --help` explains it"),
        ];
        for (words, line) in cases {
            assert_eq!(said(words), line, "{words}");
        }
    }

    #[test]
    fn what_does_not_go_together_is_said_with_what_to_drop() {
        let cases = [
            ("--headless --headless", "--headless is given twice"),
            ("--replay a --count 5", "--replay and --count do not go together; drop one"),
            ("--count 5 adapters", "adapters takes no options of a run: drop --count"),
            ("--dump-tasks 5", "unexpected 5; a value of --dump-tasks follows a =: --dump-tasks=5"),
        ];
        for (words, line) in cases {
            assert_eq!(said(words), line, "{words}");
        }
    }
}
