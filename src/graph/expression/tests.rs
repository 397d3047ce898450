use super::*;
use proptest::prelude::*;

/// The expression with all brackets.
fn shape(text: &str) -> String {
    fn written(e: &Expression, at: usize) -> String {
        match &e.terms[at].0 {
            Term::Number(n) => n.to_string(),
            Term::Truth(t) => t.to_string(),
            Term::Name(n) => n.clone(),
            Term::Unary(Unary::Negative, a) => format!("-{}", written(e, *a)),
            Term::Unary(Unary::Not, a) => format!("!{}", written(e, *a)),
            Term::Binary(o, a, b) => {
                format!("({} {} {})", written(e, *a), o.symbol(), written(e, *b))
            }
            Term::Call(f, args) => {
                let args: Vec<_> = args.iter().map(|a| written(e, *a)).collect();
                format!("{f}({})", args.join(", "))
            }
        }
    }
    match parse(text) {
        Ok(e) => written(&e, e.terms.len() - 1),
        Err(e) => format!("{}: {}", e.offset, e.message),
    }
}

#[test]
fn operators_bind_as_in_other_languages() {
    for (text, expected) in [
        ("speed > 0.5 && !airborne", "((speed > 0.5) && !airborne)"),
        ("a || b && c", "(a || (b && c))"),
        ("a && b || c", "((a && b) || c)"),
        ("1 + 2 * 3 - 4", "((1 + (2 * 3)) - 4)"),
        ("(1 + 2) * -x", "((1 + 2) * -x)"),
        ("8 / 4 / 2", "((8 / 4) / 2)"),
        ("a - b < c + d == e", "14: `==` after a comparison; join comparisons with `&&`"),
        ("- - 2", "--2"),
        ("!(a != b)", "!(a != b)"),
        ("clamp(x, min(0, y), 1e-3)", "clamp(x, min(0, y), 0.001)"),
        ("f()", "f()"),
        (" move.speed\n>= .5 ", "(move.speed >= 0.5)"),
        ("true", "true"),
        ("höhe", "höhe"),
        ("2.5e3", "2500"),
    ] {
        assert_eq!(shape(text), expected, "{text}");
    }
}

#[test]
fn a_mistake_is_named_with_its_place() {
    for (text, expected) in [
        ("", "0: a number or a name should stand here, not the end"),
        ("speed >", "7: a number or a name should stand here, not the end"),
        ("speed = 1", "6: `=` means nothing here; equality is `==`"),
        ("a & b", "2: `&` means nothing here; and is `&&`"),
        ("a | b", "2: `|` means nothing here; or is `||`"),
        ("(a", "2: `)` should stand here, not the end"),
        ("min(a, b", "8: `)` should stand here, not the end"),
        ("min(a,)", "6: a number or a name should stand here, not `)`"),
        ("a b", "2: `b` where the expression could end"),
        ("1.2.3", "0: `1.2.3` is no number"),
        ("1e99", "0: `1e99` is beyond 1e9, the largest number"),
        ("3 § 4", "2: `§` means nothing here"),
        ("a < b < c", "6: `<` after a comparison; join comparisons with `&&`"),
    ] {
        assert_eq!(shape(text), expected, "{text}");
    }
}

#[test]
fn depth_and_length_are_limited() {
    let deep = |n: usize| format!("{}1{}", "(".repeat(n), ")".repeat(n));
    assert!(parse(&deep(64)).is_ok());
    assert!(parse(&deep(65)).unwrap_err().message.contains("64 deep"));
    assert!(parse(&"-".repeat(100_000)).unwrap_err().message.contains("64 deep"));
    assert!(parse(&"f(".repeat(100_000)).unwrap_err().message.contains("64 deep"));
    let long = |n: usize| vec!["1"; n].join("+");
    assert!(parse(&long(256)).is_ok());
    assert!(parse(&long(257)).unwrap_err().message.contains("512 terms"));
}

proptest! {
    #[test]
    fn no_text_panics_and_operands_come_first(text in "[a-z0-9 .,+*/()!<>=&|§-]{0,60}") {
        match parse(&text) {
            Err(e) => prop_assert!(e.offset <= text.len() && !e.message.is_empty()),
            Ok(e) => for (at, (term, offset)) in e.terms.iter().enumerate() {
                prop_assert!(*offset < text.len());
                let operands = match term {
                    Term::Unary(_, a) => vec![*a],
                    Term::Binary(_, a, b) => vec![*a, *b],
                    Term::Call(_, args) => args.clone(),
                    _ => vec![],
                };
                prop_assert!(operands.iter().all(|o| *o < at));
            },
        }
    }
}
