//! Precedence climbing, with limits on depth and length.

use super::lexer::{Token, next};
use super::{Binary, Expression, ExpressionError, Term, Unary};
use crate::graph::file::{DEPTH, TERMS};

/// Reads an expression.
///
/// # Errors
/// The first place where it stops being one.
pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
    let (token, start, end) = next(text, 0)?;
    let mut parser = Parser { text, token, start, end, depth: 0, terms: Vec::new() };
    parser.binary(0)?;
    match parser.token {
        Token::End => Ok(Expression { terms: parser.terms }),
        Token::Sign(sign @ ("<" | "<=" | ">" | ">=" | "==" | "!=")) => {
            Err(parser.fault(format!("`{sign}` after a comparison; join comparisons with `&&`")))
        }
        token => Err(parser.fault(format!("{token} where the expression could end"))),
    }
}

/// Operators by how tightly they bind, the loosest first.
const LEVELS: [&[Binary]; 5] = [
    &[Binary::Or],
    &[Binary::And],
    &[
        Binary::Less,
        Binary::LessEqual,
        Binary::Greater,
        Binary::GreaterEqual,
        Binary::Equal,
        Binary::NotEqual,
    ],
    &[Binary::Add, Binary::Subtract],
    &[Binary::Multiply, Binary::Divide],
];
/// The level that does not chain: `a < b < c` is a mistake.
const COMPARISON: usize = 2;

struct Parser<'a> {
    text: &'a str,
    /// What comes next, and the bytes it takes.
    token: Token<'a>,
    start: usize,
    end: usize,
    depth: usize,
    terms: Vec<(Term, usize)>,
}

impl Parser<'_> {
    fn fault(&self, message: impl Into<String>) -> ExpressionError {
        ExpressionError::new(self.start, message)
    }

    fn advance(&mut self) -> Result<(), ExpressionError> {
        (self.token, self.start, self.end) = next(self.text, self.end)?;
        Ok(())
    }

    fn push(&mut self, term: Term, offset: usize) -> Result<usize, ExpressionError> {
        if self.terms.len() == TERMS {
            let message = format!("more than {TERMS} terms; give a part of it a name in `values`");
            return Err(ExpressionError::new(offset, message));
        }
        self.terms.push((term, offset));
        Ok(self.terms.len() - 1)
    }

    fn deeper(&mut self) -> Result<(), ExpressionError> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.fault(format!("nested more than {DEPTH} deep")));
        }
        Ok(())
    }

    fn binary(&mut self, level: usize) -> Result<usize, ExpressionError> {
        let Some(operators) = LEVELS.get(level) else { return self.sign() };
        let mut left = self.binary(level + 1)?;
        loop {
            let Token::Sign(sign) = self.token else { return Ok(left) };
            let Some(operator) = operators.iter().find(|o| o.symbol() == sign) else {
                return Ok(left);
            };
            let at = self.start;
            self.advance()?;
            let right = self.binary(level + 1)?;
            left = self.push(Term::Binary(*operator, left, right), at)?;
            if level == COMPARISON {
                return Ok(left);
            }
        }
    }

    fn sign(&mut self) -> Result<usize, ExpressionError> {
        let operator = match self.token {
            Token::Sign("-") => Unary::Negative,
            Token::Sign("!") => Unary::Not,
            _ => return self.atom(),
        };
        let at = self.start;
        self.deeper()?;
        self.advance()?;
        let operand = self.sign()?;
        self.depth -= 1;
        self.push(Term::Unary(operator, operand), at)
    }

    fn atom(&mut self) -> Result<usize, ExpressionError> {
        let at = self.start;
        match self.token {
            Token::Number(number) => {
                self.advance()?;
                self.push(Term::Number(number), at)
            }
            Token::Word(word) => {
                self.advance()?;
                match word {
                    "true" | "false" => self.push(Term::Truth(word == "true"), at),
                    _ if self.token == Token::Sign("(") => self.call(word, at),
                    _ => self.push(Term::Name(word.into()), at),
                }
            }
            Token::Sign("(") => {
                self.deeper()?;
                self.advance()?;
                let inner = self.binary(0)?;
                self.close()?;
                self.depth -= 1;
                Ok(inner)
            }
            token => Err(self.fault(format!("a number or a name should stand here, not {token}"))),
        }
    }

    fn call(&mut self, function: &str, at: usize) -> Result<usize, ExpressionError> {
        self.deeper()?;
        let mut arguments = Vec::new();
        loop {
            self.advance()?;
            if arguments.is_empty() && self.token == Token::Sign(")") {
                break;
            }
            arguments.push(self.binary(0)?);
            if self.token != Token::Sign(",") {
                break;
            }
        }
        self.close()?;
        self.depth -= 1;
        self.push(Term::Call(function.into(), arguments), at)
    }

    fn close(&mut self) -> Result<(), ExpressionError> {
        match self.token {
            Token::Sign(")") => self.advance(),
            token => Err(self.fault(format!("`)` should stand here, not {token}"))),
        }
    }
}
