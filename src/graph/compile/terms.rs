//! Expressions of the file as scalars: names looked up, kinds checked, functions written out.

use super::ir::{NodeId, Point};
use super::resolve::Resolver;
use super::scalars::{ScalarId, Term};
use crate::graph::expression::{self, Binary, Expression, Term as Written, Unary};
use crate::graph::file::{FileFault, GraphError, Known, Node, Parameter, Scalar, Text, Vector};
use crate::graph::{ParamId, ScalarFn};

/// What a scalar stands for. A truth counts as 1 or 0 where a number is needed; the other way
/// round somebody has to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Truth,
}

/// A scalar and what it stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Typed {
    pub id: ScalarId,
    pub kind: Kind,
}

/// Functions with the number of their arguments.
pub(super) const FUNCTIONS: [(&str, usize); 15] = [
    ("abs", 1),
    ("atan2", 2),
    ("clamp", 3),
    ("clip_time", 1),
    ("cos", 1),
    ("ended", 1),
    ("floor", 1),
    ("if", 3),
    ("lerp", 3),
    ("max", 2),
    ("min", 2),
    ("sin", 1),
    ("smooth", 2),
    ("sqrt", 1),
    ("state_time", 1),
];
/// Names that neither a parameter nor a value can have.
pub(super) const RESERVED: [&str; 3] = ["dt", "true", "false"];

/// An expression that is being read.
struct Reading<'r, 'a> {
    text: &'r Text<'a>,
    expression: &'r Expression,
}

impl<'a> Resolver<'_, 'a> {
    /// A scalar where a number is needed.
    pub(super) fn scalar(&mut self, scalar: &Scalar<'a>) -> Result<ScalarId, GraphError> {
        match scalar {
            Scalar::Number(number) => Ok(self.scalars.number(*number)),
            Scalar::Expression(text) => Ok(self.expression(text)?.id),
        }
    }

    /// Three of them.
    pub(super) fn vector(&mut self, (x, y, z): &Vector<'a>) -> Result<Point, GraphError> {
        Ok([self.scalar(x)?, self.scalar(y)?, self.scalar(z)?])
    }

    /// An expression that has to be true or false.
    pub(super) fn condition(&mut self, text: &Text<'a>) -> Result<ScalarId, GraphError> {
        let typed = self.expression(text)?;
        if typed.kind == Kind::Number {
            let message = "this is a number; compare it to say when, as in `speed > 0.5`";
            return Err(self.in_expression(text, 0, message.into()));
        }
        Ok(typed.id)
    }

    /// An expression of either kind.
    pub(super) fn expression(&mut self, text: &Text<'a>) -> Result<Typed, GraphError> {
        let parsed = expression::parse(text.as_str())
            .map_err(|e| self.in_expression(text, e.offset, e.message))?;
        let reading = Reading { text, expression: &parsed };
        let mut typed: Vec<Option<Typed>> = Vec::with_capacity(parsed.terms.len());
        // Names that are arguments of functions of nodes mean nodes; their terms stand for nothing.
        let mut nodes = vec![false; parsed.terms.len()];
        for (term, _) in &parsed.terms {
            if let Written::Call(function, arguments) = term
                && is_of_node(function)
            {
                arguments.iter().for_each(|at| nodes[*at] = true);
            }
        }
        for (at, (term, offset)) in parsed.terms.iter().enumerate() {
            let value = match term {
                Written::Name(_) if nodes[at] => None,
                _ => Some(self.term(&reading, term, *offset, &typed)?),
            };
            typed.push(value);
        }
        match typed.last().copied().flatten() {
            Some(result) => Ok(result),
            None => Err(self.in_expression(text, 0, "this gives no value".into())),
        }
    }

    fn term(
        &mut self,
        reading: &Reading<'_, 'a>,
        term: &Written,
        offset: usize,
        typed: &[Option<Typed>],
    ) -> Result<Typed, GraphError> {
        let number = |id| Typed { id, kind: Kind::Number };
        let truth = |id| Typed { id, kind: Kind::Truth };
        let fault =
            |this: &Self, message: String| this.in_expression(reading.text, offset, message);
        // A term whose operand is a node's name is a function of nodes, which looks for itself.
        let operand = |this: &Self, at: usize| {
            typed.get(at).copied().flatten().ok_or_else(|| fault(this, "no value here".into()))
        };
        let needs_truth = |this: &Self, at: usize, sign: &str| match operand(this, at)? {
            Typed { id, kind: Kind::Truth } => Ok(id),
            _ => Err(fault(this, format!("`{sign}` joins conditions; compare the number first"))),
        };
        Ok(match term {
            Written::Number(value) => number(self.scalars.number(*value)),
            Written::Truth(value) => truth(self.scalars.number(f32::from(*value))),
            Written::Name(name) => self.named(reading.text, name, offset)?,
            Written::Unary(Unary::Negative, a) => {
                let a = operand(self, *a)?.id;
                number(self.scalars.unary(ScalarFn::Neg, a))
            }
            Written::Unary(Unary::Not, a) => {
                let a = needs_truth(self, *a, "!")?;
                truth(self.scalars.unary(ScalarFn::Not, a))
            }
            Written::Binary(operator @ (Binary::And | Binary::Or), a, b) => {
                let a = needs_truth(self, *a, operator.symbol())?;
                let b = needs_truth(self, *b, operator.symbol())?;
                truth(self.scalars.op(function_of(*operator), a, b))
            }
            Written::Binary(operator, a, b) => {
                let (a, b) = (operand(self, *a)?.id, operand(self, *b)?.id);
                let id = self.scalars.op(function_of(*operator), a, b);
                match operator {
                    Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide => {
                        number(id)
                    }
                    _ => truth(id),
                }
            }
            Written::Call(function, arguments) => {
                let expected = FUNCTIONS.iter().find(|(name, _)| name == function);
                let Some((_, count)) = expected else {
                    let known = Known::new(function, FUNCTIONS.iter().map(|(name, _)| *name));
                    return Err(fault(self, format!("no function `{function}`{known}")));
                };
                if *count != arguments.len() {
                    let found = arguments.len();
                    let line = format!("`{function}` takes {count} arguments, not {found}");
                    return Err(fault(self, line));
                }
                if is_of_node(function) {
                    return self.of_node(reading, function, arguments[0]);
                }
                let mut given = Vec::with_capacity(arguments.len());
                for at in arguments {
                    given.push(operand(self, *at)?);
                }
                self.call(function, &given).map_err(|message| fault(self, message))?
            }
        })
    }

    /// A parameter or a value by its name.
    fn named(&mut self, text: &Text<'a>, name: &str, offset: usize) -> Result<Typed, GraphError> {
        if name == "dt" {
            return Ok(Typed { id: self.scalars.term(Term::Delta), kind: Kind::Number });
        }
        if let Some(value) = self.values.get(name) {
            return Ok(*value);
        }
        let Some(at) = self.graph.parameters.position(name) else {
            if self.graph.values.position(name).is_some() {
                let line =
                    format!("the value `{name}` stands further down; values use those above");
                return Err(self.in_expression(text, offset, line));
            }
            let names = self.graph.parameters.names().chain(self.graph.values.names());
            let known = Known::new(name, names);
            let line = format!("no parameter or value `{name}`{known}");
            return Err(self.in_expression(text, offset, line));
        };
        self.used_parameters[at] = true;
        let kind = match self.graph.parameters.0[at].1 {
            Parameter::Float { .. } => Kind::Number,
            Parameter::Bool { .. } | Parameter::Trigger { .. } => Kind::Truth,
        };
        Ok(Typed { id: self.scalars.term(Term::Param(ParamId(at as u16))), kind })
    }

    /// What a function gives that asks for a node.
    fn of_node(
        &mut self,
        reading: &Reading<'_, 'a>,
        function: &str,
        argument: usize,
    ) -> Result<Typed, GraphError> {
        let (term, offset) = &reading.expression.terms[argument];
        let Written::Name(name) = term else {
            let line = format!("`{function}` takes the name of a node");
            return Err(self.in_expression(reading.text, *offset, line));
        };
        let position = self.graph.nodes.position(name);
        let node = position.map(|at| (NodeId(at as u16), &self.graph.nodes.0[at].1));
        let (term, kind) = match (function, node) {
            ("state_time", Some((id, Node::StateMachine { .. }))) => {
                (Term::StateTime(id), Kind::Number)
            }
            ("clip_time", Some((id, Node::Clip { .. }))) => (Term::ClipTime(id), Kind::Number),
            ("ended", Some((id, Node::Clip { .. }))) => (Term::Ended(id), Kind::Truth),
            _ => {
                let machines = function == "state_time";
                let what = if machines { "state machine" } else { "clip node" };
                let known = Known::new(
                    name,
                    self.nodes_that(|node| match node {
                        Node::StateMachine { .. } => machines,
                        Node::Clip { .. } => !machines,
                        _ => false,
                    }),
                );
                let line = format!("no {what} `{name}`{known}");
                return Err(self.in_expression(reading.text, *offset, line));
            }
        };
        self.asked.iter_mut().skip(position.unwrap_or(usize::MAX)).take(1).for_each(|a| *a = true);
        Ok(Typed { id: self.scalars.term(term), kind })
    }

    /// A function of scalars; the number of arguments is right.
    fn call(&mut self, function: &str, given: &[Typed]) -> Result<Typed, String> {
        let s = &mut self.scalars;
        let ids: Vec<ScalarId> = given.iter().map(|t| t.id).collect();
        let number = |id| Ok(Typed { id, kind: Kind::Number });
        match (function, &ids[..]) {
            ("abs", &[a]) => number(s.unary(ScalarFn::Abs, a)),
            ("floor", &[a]) => number(s.unary(ScalarFn::Floor, a)),
            ("sqrt", &[a]) => number(s.unary(ScalarFn::Sqrt, a)),
            ("sin", &[a]) => number(s.unary(ScalarFn::Sin, a)),
            ("cos", &[a]) => number(s.unary(ScalarFn::Cos, a)),
            ("min", &[a, b]) => number(s.op(ScalarFn::Min, a, b)),
            ("max", &[a, b]) => number(s.op(ScalarFn::Max, a, b)),
            ("atan2", &[a, b]) => number(s.op(ScalarFn::Atan2, a, b)),
            ("smooth", &[value, half_life]) => number(s.smooth(value, half_life)),
            ("clamp", &[value, low, high]) => {
                let above = s.op(ScalarFn::Max, value, low);
                number(s.op(ScalarFn::Min, above, high))
            }
            ("lerp", &[a, b, share]) => {
                let way = s.op(ScalarFn::Sub, b, a);
                let part = s.op(ScalarFn::Mul, way, share);
                number(s.op(ScalarFn::Add, a, part))
            }
            ("if", &[condition, a, b]) => {
                if given[0].kind != Kind::Truth {
                    return Err("the first argument of `if` is a condition".into());
                }
                let both = given[1].kind == Kind::Truth && given[2].kind == Kind::Truth;
                let kind = if both { Kind::Truth } else { Kind::Number };
                Ok(Typed { id: s.choose(condition, a, b), kind })
            }
            _ => Err(format!("`{function}` can't be used here")),
        }
    }

    /// A fault of an expression at a byte of it.
    pub(super) fn in_expression(
        &self,
        text: &Text<'a>,
        offset: usize,
        message: String,
    ) -> GraphError {
        let written: String = text.as_str().chars().take(SHOWN).collect();
        let cut = text.as_str().len() > written.len();
        let expression = written + if cut { "..." } else { "" };
        let place =
            self.source.offset_of(text.as_str()).map(|at| self.source.place_at(at + offset));
        GraphError {
            place,
            ..GraphError::whole(self.source, FileFault::Expression { expression, message })
        }
    }
}

/// Characters of an expression that a message repeats.
const SHOWN: usize = 60;

fn is_of_node(function: &str) -> bool {
    matches!(function, "state_time" | "clip_time" | "ended")
}

fn function_of(operator: Binary) -> ScalarFn {
    match operator {
        Binary::Or => ScalarFn::Or,
        Binary::And => ScalarFn::And,
        Binary::Less => ScalarFn::Less,
        Binary::LessEqual => ScalarFn::LessEqual,
        Binary::Greater => ScalarFn::Greater,
        Binary::GreaterEqual => ScalarFn::GreaterEqual,
        Binary::Equal => ScalarFn::Equal,
        Binary::NotEqual => ScalarFn::NotEqual,
        Binary::Add => ScalarFn::Add,
        Binary::Subtract => ScalarFn::Sub,
        Binary::Multiply => ScalarFn::Mul,
        Binary::Divide => ScalarFn::Div,
    }
}
