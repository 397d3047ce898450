//! Scalar work as a graph without duplicates: equal terms are one term, and what is known now is
//! computed now.

use super::ir::NodeId;
use crate::graph::{ParamId, ScalarFn};
use std::collections::HashMap;

/// A term of a [`Scalars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ScalarId(u32);

impl ScalarId {
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

/// What a term computes; operands are earlier terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Term {
    /// The bits of a finite `f32`.
    Const(u32),
    Param(ParamId),
    /// Seconds since the last evaluation.
    Delta,
    /// Seconds in a machine's state.
    StateTime(NodeId),
    /// Seconds inside a clip node's clip.
    ClipTime(NodeId),
    /// Whether a clip node's clip has ended.
    Ended(NodeId),
    Op(ScalarFn, ScalarId, ScalarId),
    /// Condition, if so, if not.
    Choose(ScalarId, ScalarId, ScalarId),
    /// Value, half-life.
    Smooth(ScalarId, ScalarId),
}

impl Term {
    /// The terms it reads.
    pub fn operands(&self) -> impl Iterator<Item = ScalarId> {
        let [a, b, c] = match *self {
            Self::Op(op, a, _) if is_unary(op) => [Some(a), None, None],
            Self::Op(_, a, b) | Self::Smooth(a, b) => [Some(a), Some(b), None],
            Self::Choose(a, b, c) => [Some(a), Some(b), Some(c)],
            _ => [None; 3],
        };
        [a, b, c].into_iter().flatten()
    }
}

fn is_unary(op: ScalarFn) -> bool {
    use ScalarFn as F;
    matches!(op, F::Neg | F::Abs | F::Floor | F::Sqrt | F::Sin | F::Cos | F::Not)
}

/// All terms of a graph.
#[derive(Debug, Default)]
pub(super) struct Scalars {
    terms: Vec<Term>,
    known: HashMap<Term, ScalarId>,
}

impl Scalars {
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// The id of a term that is there.
    pub fn find(&self, term: Term) -> Option<ScalarId> {
        self.known.get(&term).copied()
    }

    pub fn get(&self, id: ScalarId) -> Term {
        self.terms[id.get()]
    }

    /// The id of the term at a position.
    pub fn id(at: usize) -> ScalarId {
        ScalarId(at as u32)
    }

    /// The value of a term that is known now.
    pub fn constant(&self, id: ScalarId) -> Option<f32> {
        match self.get(id) {
            Term::Const(bits) => Some(f32::from_bits(bits)),
            _ => None,
        }
    }

    pub fn number(&mut self, value: f32) -> ScalarId {
        // Minus zero would be a constant of its own for no difference that anybody sees.
        self.term(Term::Const((value + 0.0).to_bits()))
    }

    /// A term that reads no other.
    pub fn term(&mut self, term: Term) -> ScalarId {
        if let Some(id) = self.known.get(&term) {
            return *id;
        }
        // As many as there are bytes in a file, which is far fewer than an index can name.
        let id = ScalarId(self.terms.len() as u32);
        self.terms.push(term);
        self.known.insert(term, id);
        id
    }

    pub fn unary(&mut self, op: ScalarFn, a: ScalarId) -> ScalarId {
        self.op(op, a, a)
    }

    pub fn op(&mut self, op: ScalarFn, a: ScalarId, b: ScalarId) -> ScalarId {
        let (left, right) = (self.constant(a), self.constant(b));
        if let (Some(left), Some(right)) = (left, right) {
            return self.number(op.eval(left, right));
        }
        match (op, left, right) {
            (ScalarFn::Add, Some(0.0), _) | (ScalarFn::Mul, Some(1.0), _) => b,
            (ScalarFn::Add | ScalarFn::Sub, _, Some(0.0)) => a,
            (ScalarFn::Mul | ScalarFn::Div, _, Some(1.0)) => a,
            (ScalarFn::Mul, Some(0.0), _) => a,
            (ScalarFn::Mul, _, Some(0.0)) => b,
            _ => self.term(Term::Op(op, a, b)),
        }
    }

    pub fn choose(&mut self, condition: ScalarId, a: ScalarId, b: ScalarId) -> ScalarId {
        match self.constant(condition) {
            Some(truth) => {
                if truth > 0.5 {
                    a
                } else {
                    b
                }
            }
            None if a == b => a,
            None => self.term(Term::Choose(condition, a, b)),
        }
    }

    pub fn smooth(&mut self, value: ScalarId, half_life: ScalarId) -> ScalarId {
        match self.constant(value) {
            Some(_) => value,
            None => self.term(Term::Smooth(value, half_life)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_terms_are_one_term() {
        let mut s = Scalars::default();
        let (x, y) = (s.term(Term::Param(ParamId(0))), s.term(Term::Param(ParamId(1))));
        let sum = s.op(ScalarFn::Add, x, y);
        assert_eq!(s.op(ScalarFn::Add, x, y), sum);
        assert_ne!(s.op(ScalarFn::Add, y, x), sum, "the order of operands is kept");
        let half = s.number(0.5);
        assert_eq!(s.smooth(x, half), s.smooth(x, half), "one memory for one expression");
        assert_eq!(s.number(-0.0), s.number(0.0));
    }

    #[test]
    fn what_is_known_is_computed() {
        let mut s = Scalars::default();
        let x = s.term(Term::Param(ParamId(0)));
        let [zero, one, two, three] = [0.0, 1.0, 2.0, 3.0].map(|n| s.number(n));
        assert_eq!(s.op(ScalarFn::Add, one, two), three);
        assert_eq!(s.op(ScalarFn::Less, one, two), one);
        assert_eq!(s.op(ScalarFn::Div, one, zero), zero, "as the interpreter does it");
        for (op, a, b, expected) in [
            (ScalarFn::Add, x, zero, x),
            (ScalarFn::Add, zero, x, x),
            (ScalarFn::Sub, x, zero, x),
            (ScalarFn::Mul, one, x, x),
            (ScalarFn::Mul, x, zero, zero),
            (ScalarFn::Div, x, one, x),
        ] {
            assert_eq!(s.op(op, a, b), expected, "{op:?}");
        }
        assert_eq!(s.choose(one, x, two), x);
        assert_eq!(s.choose(zero, x, two), two);
        assert_eq!(s.smooth(two, x), two, "what never changes needs no memory");
        let huge = s.number(f32::MAX);
        let over = s.op(ScalarFn::Mul, huge, huge);
        assert_eq!(s.constant(over), Some(f32::MAX), "as the interpreter does it");
    }
}
