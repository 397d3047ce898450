//! Reads Rust source as tokens, so that comments and strings are out of the way and the insides of
//! macro calls and of `use` groups are not.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::path::{Path, PathBuf};

/// One file of `src/`.
pub struct SourceFile {
    /// Relative to `src/`, with forward slashes.
    pub name: String,
    /// Its module, from the crate's root: `["pose", "clip"]` for `pose/clip.rs`.
    pub module: Vec<String>,
    pub lines: usize,
    tokens: TokenStream,
}

/// A path that begins with `crate`, `super`, `self` or the crate's own name.
#[derive(Debug)]
pub struct FoundPath {
    /// From the crate's root where it can be told, after `super` and `self` were followed.
    pub target: Vec<String>,
    /// As it is written, groups taken apart.
    pub written: String,
    pub line: usize,
}

impl SourceFile {
    pub fn parse(name: &str, text: &str) -> Self {
        let mut module: Vec<String> =
            name.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
            module.pop();
        }
        let tokens = text.parse().unwrap_or_else(|e| panic!("src/{name} is no Rust: {e}"));
        Self { name: name.to_owned(), module, lines: text.lines().count(), tokens }
    }

    /// Every path of the file, in use declarations, expressions, types and macro calls.
    pub fn paths(&self) -> Vec<FoundPath> {
        let mut found = Vec::new();
        scan_paths(&trees(&self.tokens), &self.module, &mut found);
        found
    }

    /// Every identifier with its line.
    pub fn idents(&self) -> Vec<(String, usize)> {
        let mut found = Vec::new();
        each(&trees(&self.tokens), &mut |list, i| {
            if let TokenTree::Ident(ident) = &list[i] {
                found.push((ident.to_string(), line(&list[i])));
            }
        });
        found
    }

    /// Names that the files of the modules declared here may have.
    pub fn declares(&self) -> Vec<String> {
        let (folder, stem) = self.name.rsplit_once('/').unwrap_or(("", &self.name));
        let beside = |name: &str| format!("{folder}/{name}").trim_start_matches('/').to_owned();
        let below = match stem {
            "mod.rs" | "lib.rs" | "main.rs" => String::new(),
            _ => format!("{}/", stem.trim_end_matches(".rs")),
        };
        let mut found = Vec::new();
        each(&trees(&self.tokens), &mut |list, i| match (&list[i], list.get(i + 1)) {
            (TokenTree::Ident(keyword), Some(TokenTree::Ident(name)))
                if keyword == "mod" && is_punct(list.get(i + 2), ';') =>
            {
                found.push(beside(&format!("{below}{name}.rs")));
                found.push(beside(&format!("{below}{name}/mod.rs")));
            }
            // `#[path = "name.rs"]`, also inside `cfg_attr`.
            (TokenTree::Ident(path), Some(_))
                if path == "path" && is_punct(list.get(i + 1), '=') =>
            {
                if let Some(TokenTree::Literal(name)) = list.get(i + 2) {
                    found.push(beside(name.to_string().trim_matches('"')));
                }
            }
            _ => {}
        });
        found
    }

    /// Inclusive line ranges of the items under `#[cfg(test)]`.
    pub fn test_lines(&self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        each(&trees(&self.tokens), &mut |list, i| {
            if !is_cfg_test(list, i) {
                return;
            }
            // The item ends with its braces or its semicolon, whichever comes first.
            let end = list[i + 2..].iter().find(|tree| match tree {
                TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                TokenTree::Punct(punct) => punct.as_char() == ';',
                _ => false,
            });
            if let Some(end) = end {
                found.push((line(&list[i]), end.span().end().line));
            }
        });
        found
    }

    /// Lines of the file that belong to no test.
    pub fn lines_without_tests(&self) -> usize {
        let tests: usize = self.test_lines().iter().map(|(start, end)| end - start + 1).sum();
        self.lines - tests
    }

    /// Lines outside tests where `wanted` holds for the tokens from some place on.
    pub fn places(&self, wanted: impl Fn(&[TokenTree]) -> bool) -> Vec<usize> {
        let tests = self.test_lines();
        let mut found = Vec::new();
        each(&trees(&self.tokens), &mut |list, i| {
            let line = line(&list[i]);
            let in_test = tests.iter().any(|&(start, end)| (start..=end).contains(&line));
            if !in_test && wanted(&list[i..]) {
                found.push(line);
            }
        });
        found
    }
}

/// All `.rs` files under `root`, sorted by name.
pub fn read_all(root: &Path) -> Vec<SourceFile> {
    let mut folders = vec![root.to_owned()];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
        .iter()
        .map(|path| {
            let parts = path.strip_prefix(root).expect("it lies below").iter();
            let name = parts.map(|p| p.to_str().expect("UTF-8")).collect::<Vec<_>>().join("/");
            SourceFile::parse(&name, &std::fs::read_to_string(path).expect("readable"))
        })
        .collect()
}

fn is_ident(tree: Option<&TokenTree>, name: &str) -> bool {
    matches!(tree, Some(TokenTree::Ident(ident)) if ident == name)
}

fn is_punct(tree: Option<&TokenTree>, sign: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

fn trees(tokens: &TokenStream) -> Vec<TokenTree> {
    tokens.clone().into_iter().collect()
}

fn line(tree: &TokenTree) -> usize {
    tree.span().start().line
}

/// Calls `visit` with every token as a list and a place in it, groups inside out of order.
fn each(list: &[TokenTree], visit: &mut impl FnMut(&[TokenTree], usize)) {
    for (i, tree) in list.iter().enumerate() {
        visit(list, i);
        if let TokenTree::Group(group) = tree {
            each(&trees(&group.stream()), visit);
        }
    }
}

fn is_cfg_test(list: &[TokenTree], i: usize) -> bool {
    let Some(TokenTree::Group(attribute)) = list.get(i + 1) else { return false };
    is_punct(list.get(i), '#') && attribute.stream().to_string().replace(' ', "") == "cfg(test)"
}

fn is_separator(list: &[TokenTree], i: usize) -> bool {
    is_punct(list.get(i), ':') && is_punct(list.get(i + 1), ':')
}

fn scan_paths(list: &[TokenTree], module: &[String], found: &mut Vec<FoundPath>) {
    let mut i = 0;
    while i < list.len() {
        match &list[i] {
            TokenTree::Ident(keyword) if keyword == "mod" => {
                if let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(body))) =
                    (list.get(i + 1), list.get(i + 2))
                {
                    let inner = [module, &[name.to_string()]].concat();
                    scan_paths(&trees(&body.stream()), &inner, found);
                    i += 3;
                    continue;
                }
            }
            TokenTree::Ident(ident) => {
                let first = ident.to_string();
                let roots = ["crate", "super", "self", env!("CARGO_PKG_NAME")];
                let inside = i >= 2 && is_separator(list, i - 2);
                let renamed = first != "self" && is_ident(list.get(i + 1), "as");
                if roots.contains(&first.as_str())
                    && !inside
                    && (is_separator(list, i + 1) || renamed)
                {
                    follow(&list[i..], &[], module, found);
                }
            }
            TokenTree::Group(group) => scan_paths(&trees(&group.stream()), module, found),
            _ => {}
        }
        i += 1;
    }
}

/// Follows one path, `prefix` being what stood before the group it is in, into `found`.
fn follow(list: &[TokenTree], prefix: &[String], module: &[String], found: &mut Vec<FoundPath>) {
    let mut segments = prefix.to_vec();
    let mut i = 0;
    loop {
        match list.get(i) {
            Some(TokenTree::Ident(ident)) => segments.push(ident.to_string()),
            Some(TokenTree::Punct(punct)) if punct.as_char() == '*' => segments.push("*".into()),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner = trees(&group.stream());
                for part in inner.split(|tree| is_punct(Some(tree), ',')) {
                    if !part.is_empty() {
                        follow(part, &segments, module, found);
                    }
                }
                return;
            }
            _ => break,
        }
        if !is_separator(list, i + 1) {
            break;
        }
        i += 3;
    }
    found.push(FoundPath {
        target: resolve(&segments, module),
        written: segments.join("::"),
        line: line(&list[0]),
    });
}

/// `segments` from the crate's root; empty where they name the root itself.
fn resolve(segments: &[String], module: &[String]) -> Vec<String> {
    let mut target = Vec::new();
    for (i, segment) in segments.iter().enumerate() {
        match segment.as_str() {
            "crate" => target.clear(),
            name if i == 0 && name == env!("CARGO_PKG_NAME") => target.clear(),
            "self" if i == 0 => target = module.to_vec(),
            "self" => {}
            "super" => {
                if i == 0 {
                    target = module.to_vec();
                }
                target.pop();
            }
            name => target.push(name.to_owned()),
        }
    }
    target
}
