//! Damaged and very large files.

use super::*;
use proptest::prelude::*;

/// Words that a change may put anywhere.
const WORDS: [&str; 22] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\"",
    "\\",
    "/*",
    "//",
    "-",
    "1e39",
    "NaN",
    "\"idle\"",
    "\"locomotion\"",
    "Blend",
    "StateMachine(",
    "smooth(x, y)",
    "\u{e9}",
    "0",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn a_damaged_file_compiles_or_says_why(
        which in 0usize..3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0usize..40, 0usize..24), 1..6),
    ) {
        let mut text = match which {
            0 => worked_example(),
            1 => EXAMPLE.to_owned(),
            _ => crate::graph::BUILTINS[0].1.to_owned(),
        };
        for (at, cut, word) in changes {
            let places: Vec<usize> = text.char_indices().map(|(i, _)| i).collect();
            let from = places[at.index(places.len())];
            let to = places.get(at.index(places.len()) + cut).copied().unwrap_or(text.len());
            let word = WORDS.get(word).copied().unwrap_or_default();
            text.replace_range(from..to, word);
            if text.is_empty() { break; }
        }
        match compile("graph.ron", &text) {
            Ok(_) => {}
            Err(e) => {
                let line = e.to_string();
                prop_assert!(line.starts_with("graph.ron") && !line.contains("a fault of ours"), "{}", line);
            }
        }
    }

    #[test]
    fn nodes_and_names_swapped_compile_or_say_why(
        swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..8),
        which in 0usize..2,
    ) {
        // Every string of the file for any other: wrong kinds, cycles, names of nothing.
        let text = if which == 0 { worked_example() } else { crate::graph::BUILTINS[1].1.to_owned() };
        let mut parts: Vec<String> = text.split('"').map(str::to_owned).collect();
        let strings = parts.len() / 2;
        for (a, b) in swaps {
            let (a, b) = (2 * a.index(strings) + 1, 2 * b.index(strings) + 1);
            parts[a] = parts[b].clone();
        }
        if let Err(e) = compile("graph.ron", &parts.join("\"")) {
            prop_assert!(!e.to_string().contains("a fault of ours"), "{}", e);
        }
    }
}

#[test]
fn large_files_end_in_reasonable_time_and_memory() {
    // A chain of as many nodes as a table holds.
    let mut chain = String::from(r#""n0": Clip(clip: "a"),"#);
    for i in 1..4_000 {
        chain += &format!("\"n{i}\": Blend(a: \"n{}\", b: \"n{}\", alpha: \"x\"),", i - 1, i / 2);
    }
    chain += r#""out": Blend(a: "n3999", b: "n0", alpha: "y"),"#;
    assert!(said(&nodes(&chain)).starts_with("compiled"), "{}", said(&nodes(&chain)));

    // Machines inside of machines, twice each: every start would start all of them.
    let mut nest = String::from(r#""m0": Clip(clip: "a"), "k0": Clip(clip: "c"),"#);
    for i in 1..40 {
        for name in ["m", "k"] {
            nest += &format!(
                "\"{name}{i}\": StateMachine(entry: \"s\", states: {{\"s\": (pose: \"b{i}\")}}),"
            );
        }
        nest += &format!("\"b{i}\": Blend(a: \"m{0}\", b: \"k{0}\", alpha: \"x\"),", i - 1);
    }
    nest += r#""out": Blend(a: "m39", b: "k39", alpha: "y"),"#;
    let said_of = said(&nodes(&nest));
    assert!(
        said_of.contains("machines that start over at once are more than there may be"),
        "{said_of}"
    );

    // Very many transitions from very many states.
    let states: String = (0..200).map(|i| format!("\"s{i}\": (pose: \"a\"),")).collect();
    let names: String = (0..200).map(|i| format!("\"s{i}\",")).collect();
    let ways: String =
        (0..100).map(|i| format!("(from: [{names}], to: \"s{i}\", when: \"b\"),")).collect();
    let many = nodes(&format!(
        "\"a\": Bind, \"out\": StateMachine(entry: \"s0\", states: {{{states}}}, transitions: [{ways}])"
    ));
    assert!(
        said(&many).contains("20000 transitions are more than there may be (16384)"),
        "{}",
        said(&many)
    );
}
