//! When a character ticks.

/// When a character is evaluated beside what gates say of those who are seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TickMode {
    /// While it is seen, and for the grace time after.
    #[default]
    WhenRendered,
    /// Always: clocks and pose.
    AlwaysPose,
    /// Its clocks always, its pose while it is seen.
    AlwaysClocks,
}
