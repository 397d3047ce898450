//! `throng adapters`: what --adapter can name.

use super::exit::Failure;
use super::output;
use crate::render::{AdapterSummary, Gpu};
use std::fmt::Write;

/// Prints the list.
///
/// # Errors
/// When there is none.
pub fn print() -> Result<(), Failure> {
    let adapters = Gpu::list();
    if adapters.is_empty() {
        let advice = "install a Vulkan driver (Mesa's lavapipe draws without a GPU), or use \
                      --adapter noop or --no-render";
        return Err(anyhow::anyhow!("no adapter was found; {advice}").into());
    }
    Ok(output::print(&table(&adapters))?)
}

fn table(adapters: &[AdapterSummary]) -> String {
    let width = |f: fn(&AdapterSummary) -> usize| adapters.iter().map(f).max().unwrap_or(0);
    let (names, backends) = (width(|a| a.name.len()), width(|a| a.backend.len()));
    let mut text = String::new();
    for a in adapters {
        let timestamps = if a.timestamps { "times passes" } else { "no timestamps" };
        let binding = a.max_storage_binding_bytes >> 20;
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{:>2}  {:names$}  {:backends$}  {:10}  {timestamps:13}  bindings of {binding} MiB  {}",
            a.index, a.name, a.backend, a.device_type, a.driver
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_adapter_has_a_line_that_starts_with_its_index() {
        let adapter = |index, name: &str| AdapterSummary {
            index,
            name: name.into(),
            backend: "vulkan".into(),
            device_type: "cpu",
            driver: "Mesa 1".into(),
            max_storage_binding_bytes: 128 << 20,
            timestamps: index == 0,
        };
        let text = table(&[adapter(0, "a"), adapter(1, "longer")]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with(" 0  a ") && lines[0].contains("times passes"));
        assert!(lines[1].starts_with(" 1  longer") && lines[1].contains("128 MiB"));
        assert_eq!(lines[0].find("vulkan"), lines[1].find("vulkan"));
    }
}
