//! Words, numbers and signs of an expression.

use super::ExpressionError;
use crate::graph::file::NUMBER;

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Number(f32),
    Word(&'a str),
    /// One of [`SIGNS`].
    Sign(&'static str),
    End,
}

impl std::fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "`{number}`"),
            Self::Word(word) => write!(f, "`{word}`"),
            Self::Sign(sign) => write!(f, "`{sign}`"),
            Self::End => f.write_str("the end"),
        }
    }
}

/// Longer ones first.
const SIGNS: [&str; 15] =
    ["||", "&&", "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "!", "(", ")"];
const COMMA: &str = ",";

/// Reads the piece at the beginning of `text[at..]` after blanks: the piece, where it begins, where
/// it ends.
pub(super) fn next(text: &str, at: usize) -> Result<(Token<'_>, usize, usize), ExpressionError> {
    let rest = &text[at..];
    let rest = rest.trim_start();
    let start = text.len() - rest.len();
    let Some(first) = rest.chars().next() else { return Ok((Token::End, start, start)) };
    if first.is_ascii_digit() || first == '.' {
        let length = number_length(rest);
        return match rest[..length].parse::<f32>() {
            Ok(number) if number <= NUMBER => Ok((Token::Number(number), start, start + length)),
            Ok(_) => {
                let written = &rest[..length];
                let message = format!("`{written}` is beyond {NUMBER:e}, the largest number");
                Err(ExpressionError::new(start, message))
            }
            Err(_) => {
                let message = format!("`{}` is no number", &rest[..length]);
                Err(ExpressionError::new(start, message))
            }
        };
    }
    if first.is_alphabetic() || first == '_' {
        let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let length = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        return Ok((Token::Word(&rest[..length]), start, start + length));
    }
    match SIGNS.into_iter().chain([COMMA]).find(|sign| rest.starts_with(sign)) {
        Some(sign) => Ok((Token::Sign(sign), start, start + sign.len())),
        None => {
            let hint = match first {
                '=' => "; equality is `==`",
                '&' => "; and is `&&`",
                '|' => "; or is `||`",
                _ => "",
            };
            Err(ExpressionError::new(start, format!("`{first}` means nothing here{hint}")))
        }
    }
}

/// Digits with a point and an exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        from + bytes[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count()
    };
    let end = digits(0);
    if !matches!(bytes.get(end), Some(b'e' | b'E')) {
        return end;
    }
    let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
    let exponent = digits(end + 1 + sign);
    if exponent > end + 1 + sign { exponent } else { end }
}
