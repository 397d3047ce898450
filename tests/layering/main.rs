//! Holds the source to the layers that `src/lib.rs` and `docs/ARCHITECTURE.md` describe, and to a
//! few rules of the house that the compiler does not know.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test's helpers end with the fault that they find"
)]

mod scan;

use proc_macro2::TokenTree;
use scan::{SourceFile, read_all};
use std::collections::HashSet;
use std::path::Path;

/// The layers. A file uses layers of lower rank, or its own.
const RANKS: &[(&str, u32)] = &[
    ("index", 0),
    ("profile", 0),
    ("math", 0),
    ("pose", 1),
    ("asset", 2),
    ("motion", 3),
    ("task", 4),
    ("graph", 5),
    ("physics", 6),
    ("crowd", 6),
    ("render", 7),
    ("app", 8),
];

/// Crates, by the beginning of their names, and the only layers that may name them.
const CONFINED: &[(&str, &[&str])] = &[
    ("wgpu", &["render", "app"]),
    ("rapier3d", &["physics"]),
    ("winit", &["app"]),
    ("egui", &["app"]),
    ("clap", &["app"]),
    ("anyhow", &["app"]),
    ("tracy_client", &["profile"]),
    ("tracing_tracy", &["profile"]),
    ("tracing_subscriber", &["profile"]),
];

/// Lines that a file may have beside its tests.
const MAX_LINES: usize = 400;

fn rank(layer: &str) -> Option<u32> {
    RANKS.iter().find(|(name, _)| *name == layer).map(|&(_, rank)| rank)
}

fn source() -> Vec<SourceFile> {
    let files = read_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(files.len() > 10, "only {} files were found", files.len());
    files
}

/// Panics with all complaints, one a line.
fn report(complaints: impl IntoIterator<Item = String>) {
    let all: Vec<_> = complaints.into_iter().collect();
    assert!(all.is_empty(), "\n{}\n", all.join("\n"));
}

/// What is wrong with the paths of `file`.
fn climbs(file: &SourceFile) -> Vec<String> {
    let Some(own) = file.module.first() else {
        // The root: main.rs hands over to `app`, lib.rs declares the layers.
        return file
            .paths()
            .iter()
            .filter(|path| file.name != "main.rs" || path.target.first().is_none_or(|t| t != "app"))
            .map(|path| format!("src/{}:{}: `{}` at the root", file.name, path.line, path.written))
            .collect();
    };
    let Some(own_rank) = rank(own) else {
        return vec![format!("src/{}: the layer `{own}` has no rank", file.name)];
    };
    let complain = |path: &scan::FoundPath, why: String| {
        format!("src/{}:{}: `{}` {why}", file.name, path.line, path.written)
    };
    file.paths()
        .iter()
        .filter_map(|path| match path.target.first() {
            None => Some(complain(path, "takes the whole crate".into())),
            Some(layer) if layer == own => None,
            Some(layer) => match rank(layer) {
                None => Some(complain(path, "is no layer".into())),
                Some(rank) if rank >= own_rank => Some(complain(
                    path,
                    format!("climbs from `{own}` (rank {own_rank}) to `{layer}` (rank {rank})"),
                )),
                Some(_) => None,
            },
        })
        .collect()
}

/// Crates that `file` names and may not.
fn strangers(file: &SourceFile) -> Vec<String> {
    let own = file.module.first().map_or("the root", String::as_str);
    file.idents()
        .iter()
        .filter_map(|(ident, line)| {
            let (name, allowed) = CONFINED.iter().find(|(name, _)| {
                ident
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
            })?;
            (!allowed.contains(&own)).then(|| {
                let allowed = allowed.join(" and ");
                format!("src/{}:{line}: `{name}` belongs to {allowed} alone", file.name)
            })
        })
        .collect()
}

/// Lints that say what code outside tests may not do; `Cargo.toml` denies them, and no file may
/// switch them off.
const LINTS: &[&str] = &[
    "unwrap_used",
    "expect_used",
    "panic",
    "todo",
    "unimplemented",
    "dbg_macro",
    "print_stdout",
    "undocumented_unsafe_blocks",
];

/// Attributes outside tests that silence a lint of [`LINTS`] or one against code nobody uses.
fn silenced(file: &SourceFile) -> Vec<String> {
    let silences = |list: &[TokenTree]| {
        let (Some(TokenTree::Ident(level)), Some(TokenTree::Group(lints))) =
            (list.first(), list.get(1))
        else {
            return false;
        };
        let lints = lints.stream().to_string();
        let mut names = lints.split(|c: char| !c.is_alphanumeric() && c != '_');
        (level == "allow" || level == "expect")
            && names.any(|n| n == "dead_code" || n.starts_with("unused") || LINTS.contains(&n))
    };
    file.places(silences)
        .into_iter()
        .map(|line| format!("src/{}:{line}: a lint of the house is switched off", file.name))
        .collect()
}

#[test]
fn no_file_uses_a_layer_of_its_own_rank_or_above() {
    report(source().iter().flat_map(climbs));
}

#[test]
fn crates_stay_in_their_layers() {
    report(source().iter().flat_map(strangers));
}

#[test]
fn lints_against_shortcuts_stay_on() {
    report(source().iter().flat_map(silenced));
    let manifest = include_str!("../../Cargo.toml");
    report(LINTS.iter().filter_map(|lint| {
        let line = format!("{lint} = \"deny\"");
        (!manifest.lines().any(|l| l == line)).then(|| format!("Cargo.toml lacks `{line}`"))
    }));
}

#[test]
fn files_stay_short() {
    report(source().iter().filter(|f| f.lines_without_tests() > MAX_LINES).map(|file| {
        let lines = file.lines_without_tests();
        format!("src/{}: {lines} lines without tests; split it below {MAX_LINES}", file.name)
    }));
}

/// Files that no file declares as a module; the compiler never sees them.
fn orphans(files: &[SourceFile]) -> Vec<String> {
    let declared: HashSet<String> = files.iter().flat_map(SourceFile::declares).collect();
    let roots = ["lib.rs", "main.rs"];
    files
        .iter()
        .filter(|file| !roots.contains(&file.name.as_str()) && !declared.contains(&file.name))
        .map(|file| format!("src/{}: no file declares it", file.name))
        .collect()
}

#[test]
fn every_file_is_part_of_the_crate() {
    report(orphans(&source()));
}

/// The rows `| rank | names | ...` of the Markdown table in `text`, as (name, rank), sorted.
fn rows(text: &str) -> Vec<(String, u32)> {
    let mut rows = Vec::new();
    for line in text.lines() {
        let mut cells = line.trim_start_matches("//!").trim().split('|').skip(1);
        let Some(Ok(rank)) = cells.next().map(|cell| cell.trim().parse::<u32>()) else { continue };
        // A name stands in backticks; `[`name`]` links to its documentation.
        let names = cells.next().unwrap_or_default().split('`').skip(1).step_by(2);
        rows.extend(names.map(|name| (name.trim_end_matches('/').to_owned(), rank)));
    }
    rows.sort();
    rows
}

#[test]
fn the_documented_ranks_are_the_tested_ones() {
    let mut ranks: Vec<_> = RANKS.iter().map(|&(name, rank)| (name.to_owned(), rank)).collect();
    ranks.sort();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["src/lib.rs", "docs/ARCHITECTURE.md"] {
        let text = std::fs::read_to_string(root.join(name)).expect(name);
        assert_eq!(rows(&text), ranks, "{name}");
    }
}

#[test]
fn every_layer_is_declared_and_every_declared_module_is_a_layer() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs"))
        .expect("lib.rs");
    let mut declared: Vec<_> =
        text.lines().filter_map(|l| l.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    let mut layers: Vec<_> = RANKS.iter().map(|&(name, _)| name).collect();
    declared.sort_unstable();
    layers.sort_unstable();
    assert_eq!(declared, layers);
}

/// The scanner and the rules, held against faults.
mod planted {
    use super::*;

    fn complaints(name: &str, text: &str) -> usize {
        let file = SourceFile::parse(name, text);
        climbs(&file).len() + strangers(&file).len() + silenced(&file).len()
    }

    #[test]
    fn what_is_allowed_is_not_complained_about() {
        for (name, text) in [
            ("pose/clip.rs", "use crate::math::Trs; pub(crate) fn f() {}"),
            ("pose/ik/reach.rs", "use super::super::Rig; use super::{a, b::*}; use self::c::d;"),
            ("math/mod.rs", "mod tests { use super::*; pub(in crate::math) fn f() {} }"),
            ("app/mod.rs", "use crate::{crowd, render::{Gpu, Renderer}}; use anyhow::Context;"),
            ("main.rs", "fn main() { throng::app::main() }"),
            ("task/mod.rs", "/// Not [`crate::render`].\nfn f() { let s = \"crate::render\"; }"),
            ("task/mod.rs", "#[cfg(test)]\nmod tests { #[allow(dead_code)] fn f() {} }"),
            ("task/mod.rs", "#[allow(clippy::too_many_arguments)] fn f() { a.expect(b, |x| x); }"),
            ("render/mod.rs", "use wgpu::Device;"),
        ] {
            assert_eq!(complaints(name, text), 0, "{name}: {text}");
        }
    }

    #[test]
    fn every_way_to_climb_is_seen() {
        for (name, text) in [
            ("pose/clip.rs", "use crate::asset::CharacterAsset;"),
            ("pose/clip.rs", "use crate::{math::Trs, asset};"),
            ("pose/clip.rs", "use crate::{math::{Trs, Mat3x4}, asset::{self, Source}};"),
            ("pose/clip.rs", "pub use super::super::asset::Source;"),
            ("pose/clip.rs", "use super::super::{asset::*};"),
            ("pose/clip.rs", "fn f() { let x = crate::task::Task::default(); }"),
            ("pose/clip.rs", "fn f(x: Vec<crate::task::Task>) {}"),
            ("pose/clip.rs", "fn f() { println!(\"{}\", crate::task::NAME); }"),
            ("pose/clip.rs", "macro_rules! m { () => { $crate::task::f() } }"),
            ("pose/clip.rs", "mod inner { use super::super::super::task::Task; }"),
            ("pose/clip.rs", "use throng::task::Task;"),
            ("pose/clip.rs", "use crate as all;"),
            ("pose/clip.rs", "use crate::*;"),
            ("pose/mod.rs", "use super as all;"),
            ("pose/mod.rs", "use crate::{self as all};"),
            ("math/trs.rs", "use crate::index::BoneIndex;"),
            ("crowd/mod.rs", "use crate::hidden::Thing;"),
            ("lib.rs", "pub use crate::render::Gpu;"),
            ("main.rs", "fn main() { throng::render::Gpu::new(); }"),
            ("extra.rs", "fn f() {}"),
        ] {
            assert_ne!(complaints(name, text), 0, "{name}: {text}");
        }
    }

    #[test]
    fn strangers_and_silenced_lints_are_seen() {
        for (name, text) in [
            ("crowd/mod.rs", "fn f(d: &wgpu::Device) {}"),
            ("render/mod.rs", "use winit::window::Window;"),
            ("render/mod.rs", "use egui_wgpu::Renderer;"),
            ("asset/mod.rs", "fn f() -> anyhow::Result<()> { Ok(()) }"),
            ("task/mod.rs", "fn f() { let _ = tracy_client::Client::running(); }"),
            ("task/mod.rs", "#[allow(dead_code)] fn f() {}"),
            ("task/mod.rs", "#[allow(clippy::unwrap_used)] fn f() {}"),
            ("task/mod.rs", "#[expect(clippy::panic, reason = \"no\")] fn f() {}"),
            ("task/mod.rs", "#![allow(unused_imports)]"),
        ] {
            assert_ne!(complaints(name, text), 0, "{name}: {text}");
        }
    }

    #[test]
    fn files_outside_the_module_tree_are_seen() {
        let files = [
            SourceFile::parse("lib.rs", "pub mod pose;"),
            SourceFile::parse("pose/mod.rs", "mod ik; #[cfg_attr(unix, path = \"b.rs\")] mod c;"),
            SourceFile::parse("pose/ik.rs", "mod reach;"),
            SourceFile::parse("pose/ik/reach.rs", "use a; mod inline {}"),
            SourceFile::parse("pose/b.rs", ""),
        ];
        assert_eq!(orphans(&files), [""; 0]);
        let lost = [SourceFile::parse("lib.rs", "mod a;"), SourceFile::parse("b.rs", "")];
        assert_eq!(orphans(&lost), ["src/b.rs: no file declares it"]);
    }

    #[test]
    fn tests_do_not_count_as_lines_of_the_file() {
        let text = "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n}\nfn g() {}\n";
        assert_eq!(SourceFile::parse("pose/mod.rs", text).lines_without_tests(), 3);
        let text = "#[cfg(test)]\nmod tests;\nfn g() {}\n";
        assert_eq!(SourceFile::parse("pose/mod.rs", text).lines_without_tests(), 1);
    }
}
