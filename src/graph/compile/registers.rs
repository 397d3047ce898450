//! Which register holds what, and from when to when.

/// A set of registers that are handed out lowest first, and taken back.
#[derive(Debug, Default)]
pub(super) struct Registers {
    taken: Vec<bool>,
    /// All below are taken.
    full: usize,
}

impl Registers {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.taken.len()
    }

    /// A register that nobody has.
    pub fn take(&mut self) -> usize {
        self.take_row(1)
    }

    /// The first of so many registers in a row that nobody has.
    pub fn take_row(&mut self, length: usize) -> usize {
        let mut run = 0;
        for at in self.full..self.taken.len() {
            run = if self.taken[at] { 0 } else { run + 1 };
            if run == length {
                let first = at + 1 - length;
                self.taken[first..=at].fill(true);
                if first == self.full {
                    self.full = at + 1;
                }
                return first;
            }
        }
        let first = self.taken.len() - run;
        self.taken.truncate(first);
        self.taken.resize(first + length, true);
        first
    }

    /// The first of so many registers in a row that nobody ever had.
    pub fn take_fresh_row(&mut self, length: usize) -> usize {
        let first = self.taken.len();
        self.taken.resize(first + length, true);
        first
    }

    /// Takes a register back.
    pub fn give(&mut self, register: usize) {
        self.taken[register] = false;
        self.full = self.full.min(register);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_register_is_taken_and_rows_fit_into_gaps() {
        let mut r = Registers::default();
        assert_eq!([r.take(), r.take(), r.take(), r.take()], [0, 1, 2, 3]);
        r.give(1);
        assert_eq!(r.take_row(2), 4, "a gap of one is too small");
        r.give(2);
        assert_eq!(r.take_row(2), 1);
        r.give(5);
        assert_eq!(r.take_row(3), 5, "a gap at the end grows");
        assert_eq!(r.count(), 8);
        r.give(6);
        r.give(7);
        assert_eq!(r.take_fresh_row(2), 8);
    }
}
