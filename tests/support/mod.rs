//! What several tests share.

mod files;
pub mod promises;

pub use files::shared;
