//! What a crowd answers when it can't have or do what it is asked for.

use crate::graph::BindError;

/// Why a crowd can't be made, or can't do something.
#[derive(Debug, thiserror::Error)]
pub enum CrowdError {
    /// No worker thread.
    #[error("a crowd needs at least 1 worker thread, 0 were asked for")]
    NoThreads,
    /// The system refused the threads.
    #[error("{threads} worker threads can't be started: {reason}")]
    Threads {
        /// How many.
        threads: usize,
        /// The system's message.
        reason: String,
    },
    /// Characters but nothing that they could be.
    #[error("{count} characters were asked for and no kind of character has a weight above 0")]
    NoKinds {
        /// How many.
        count: u32,
    },
    /// More kinds than an index can name.
    #[error("{kinds} kinds of character are over the limit of {limit}")]
    TooManyKinds {
        /// How many.
        kinds: usize,
        /// The limit.
        limit: usize,
    },
    /// An id that nobody has.
    #[error("there is no character {id}: {count} are numbered from 0")]
    NoCharacter {
        /// The id.
        id: u32,
        /// How many there are.
        count: u32,
    },
    /// An id that nobody has at the moment.
    #[error("character {id} is not there: it has gone, or nobody has come to its place yet")]
    Absent {
        /// The id.
        id: u32,
    },
    /// A character that was there once.
    #[error(
        "character {id} has gone: it was holder {generation} of that number, and {now} is next or there"
    )]
    Gone {
        /// Its id.
        id: u32,
        /// How many had that before it.
        generation: u32,
        /// How many have had it by now.
        now: u32,
    },
    /// No place for another character.
    #[error(
        "no place is free{}: the crowd has {places}",
        kind.as_ref().map(|kind| format!(" for kind \"{kind}\"")).unwrap_or_default()
    )]
    NoVacancy {
        /// The kind's name, if one was asked for.
        kind: Option<String>,
        /// Places of all kinds.
        places: u32,
    },
    /// A kind that there is not.
    #[error("there is no kind {kind}: {kinds} are numbered from 0")]
    NoKind {
        /// Its number.
        kind: u16,
        /// How many there are.
        kinds: usize,
    },
    /// A number of the configuration or of a kind out of its range.
    #[error("{what} is {value}; it must be {range}")]
    OutOfRange {
        /// Which number.
        what: String,
        /// Its value.
        value: f32,
        /// What would be right.
        range: &'static str,
    },
    /// Clip infos that don't match the clips.
    #[error("kind \"{kind}\" has {infos} clip infos for {clips} clips")]
    ClipInfos {
        /// The kind's name.
        kind: String,
        /// Number of infos.
        infos: usize,
        /// Number of clips.
        clips: usize,
    },
    /// Lists of something that don't match the clips.
    #[error("kind \"{kind}\" has {lists} lists of {what} for {clips} clips")]
    Lists {
        /// Of what.
        what: &'static str,
        /// The kind's name.
        kind: String,
        /// Number of lists.
        lists: usize,
        /// Number of clips.
        clips: usize,
    },
    /// A kind with nothing to draw.
    #[error("kind \"{kind}\" has no palette matrix, so there is nothing to pose")]
    EmptyPalette {
        /// The kind's name.
        kind: String,
    },
    /// A graph that can't play its kind.
    #[error("kind \"{kind}\": {error}")]
    Graph {
        /// The kind's name.
        kind: String,
        /// Why.
        error: Box<BindError>,
    },
    /// A kind that is not what it was when it was recorded.
    #[error("kind \"{kind}\" is not as it was recorded: {what}")]
    Recording {
        /// The kind's name.
        kind: String,
        /// What differs.
        what: String,
    },
    /// Another graph for a kind that is not there, or that no graph plays.
    #[error("no graph plays kind {kind}, so no other one can take its place")]
    NoGraph {
        /// The kind's number.
        kind: u16,
    },
    /// A sequence that can't be played.
    #[error("sequence \"{name}\": {what}")]
    Sequence {
        /// Its name.
        name: String,
        /// Why not.
        what: String,
    },
    /// A sequence that there is not.
    #[error("there is no sequence {id}: {count} are numbered from 0")]
    NoSequence {
        /// The number.
        id: u32,
        /// How many there are.
        count: u32,
    },
    /// A fall in the middle of a recording.
    #[error("nobody falls while a run is recorded or played from a recording: bodies are in none")]
    NoFalls,
    /// Another graph in the middle of a recording, or comings and goings other than recorded ones.
    #[error(
        "graphs and interpolation stay as they are while a run is recorded or played from a \
         recording, and in the latter only those come and go who did"
    )]
    Recorded,
    /// One character's palette is more than a page holds.
    #[error(
        "one character of kind \"{kind}\" has {palette} palette matrices; a page holds {page} at most"
    )]
    PageTooSmall {
        /// The kind's name.
        kind: String,
        /// Matrices of one character.
        palette: usize,
        /// Matrices of a page.
        page: u32,
    },
    /// More memory than there is.
    #[error(
        "{count} characters need about {} ({} each); {} are free. About {fits} would fit",
        Bytes(*.needed), Bytes(.needed / u64::from(*.count).max(1)), Bytes(*.limit)
    )]
    DoesNotFit {
        /// How many characters.
        count: u32,
        /// Estimate in bytes.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
        /// How many characters would fit.
        fits: u64,
    },
}

/// Bytes for people: a number below 1024 and its unit.
#[derive(Clone, Copy, Debug)]
pub struct Bytes(pub u64);

impl std::fmt::Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
        let mut value = self.0 as f64;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < units.len() {
            (value, unit) = (value / 1024.0, unit + 1);
        }
        let decimals = usize::from(unit > 0 && value < 100.0);
        write!(f, "{value:.decimals$} {}", units[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_numbers() {
        let error = CrowdError::DoesNotFit {
            count: 1_000_000,
            needed: 3 << 30,
            limit: 512 << 20,
            fits: 166_666,
        };
        assert_eq!(
            error.to_string(),
            "1000000 characters need about 3.0 GiB (3.1 KiB each); 512 MiB are free. About 166666 would fit"
        );
        assert_eq!(Bytes(1_000).to_string(), "1000 bytes");
    }
}
