//! Expressions of graph files: `speed > 0.5 && !airborne`.
//!
//! ```text
//! any      = all  { "||" all }
//! all      = comparison { "&&" comparison }
//! comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! sum      = product { ("+" | "-") product }
//! product  = sign { ("*" | "/") sign }
//! sign     = { "-" | "!" } atom
//! atom     = number | "true" | "false" | name | function "(" any { "," any } ")" | "(" any ")"
//! ```
//!
//! A name is a letter or underscore followed by letters, digits, underscores and dots.

mod lexer;
mod parser;
#[cfg(test)]
mod tests;

pub use parser::parse;

/// An operator of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-a`
    Negative,
    /// `!a`
    Not,
}

/// An operator of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `a || b`
    Or,
    /// `a && b`
    And,
    /// `a < b`
    Less,
    /// `a <= b`
    LessEqual,
    /// `a > b`
    Greater,
    /// `a >= b`
    GreaterEqual,
    /// `a == b`
    Equal,
    /// `a != b`
    NotEqual,
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a / b`, 0 where `b` is 0
    Divide,
}

impl Binary {
    /// As it is written.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
        }
    }
}

/// A term of an expression; operands are positions of earlier terms.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A number.
    Number(f32),
    /// `true` or `false`.
    Truth(bool),
    /// A parameter or a value.
    Name(String),
    /// An operator before its operand.
    Unary(Unary, usize),
    /// An operator between its operands.
    Binary(Binary, usize, usize),
    /// A function of what stands in its brackets.
    Call(String, Vec<usize>),
}

/// An expression: terms whose operands come before them. The last term is the result.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Expression {
    /// The terms, each with the byte at which it stands; never empty.
    pub terms: Vec<(Term, usize)>,
}

/// Why a text is no expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// The byte at which it stops making sense.
    pub offset: usize,
    /// What is wrong there.
    pub message: String,
}

impl ExpressionError {
    pub(super) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into() }
    }
}
