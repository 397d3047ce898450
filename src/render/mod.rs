//! Placeholder until its owner lands it.
