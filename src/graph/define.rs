//! What makes an opcode, and a choice among a few ways, out of one table.

/// Defines [`Op`] from one table: the variants with their bytecode numbers and operands, how they
/// are written and read, and what their operands mean.
macro_rules! ops {
    ($($(#[$doc:meta])* $code:literal $name:ident {
        $($(#[$field_doc:meta])* $field:ident: $ty:ty,)*
    })*) => {
        /// One instruction. A program has no jumps: what it means is that all of it runs in every
        /// evaluation, scalar work at once, while every pose opcode records a task. What cannot be
        /// told from the outside is left out: tasks that the output does not depend on, and clocks
        /// and machines that only states need which are not current.
        ///
        /// A *mask*, *clip* or *bone* is a row of the program's table, resolved when the program is
        /// bound to a rig. Spaces are those of [`Task`](crate::task::Task); an `alpha` counts as
        /// limited to 0..=1.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Op {
            $($(#[$doc])* $name { $($(#[$field_doc])* $field: $ty,)* },)*
        }

        impl Op {
            /// The names of all opcodes, in the order of their numbers.
            pub const NAMES: &[&str] = &[$(stringify!($name),)*];

            /// The opcode's name.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => stringify!($name),)*
                }
            }

            /// Every operand with its field's name, in order.
            pub fn operands(&self, mut visit: impl FnMut(&'static str, Operand)) {
                match self {
                    $(Self::$name { $($field,)* } => {
                        $(visit(stringify!($field), Field::operand($field));)*
                    })*
                }
            }

            /// Gives the registers other names, operand by operand in order.
            pub(super) fn rename(&mut self, names: &mut impl Rename) {
                match self {
                    $(Self::$name { $($field,)* } => {
                        $(Field::rename($field, names);)*
                    })*
                }
            }
        }

        impl Wire for Op {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$name { $($field,)* } => {
                        u8::put(&$code, out);
                        $($field.put(out);)*
                    })*
                }
            }

            fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
                match u8::take(from)? {
                    $($code => Ok(Self::$name { $($field: Wire::take(from)?,)* }),)*
                    other => Err(from.unknown("opcode", other)),
                }
            }
        }
    };
}
pub(super) use ops;

/// Defines an enum of plain choices whose bytecode numbers are their order in the table.
macro_rules! ways {
    ($($(#[$doc:meta])* $vis:vis enum $name:ident { $($(#[$way_doc:meta])* $way:ident,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            $vis enum $name { $($(#[$way_doc])* $way,)* }

            impl $name {
                /// All of them, in the order of their numbers.
                pub const ALL: &[Self] = &[$(Self::$way,)*];
            }

            ways_of!($name { $($way,)* });
        )*
    };
}

/// The same of an enum that is defined elsewhere.
macro_rules! ways_of {
    ($name:ident { $($way:ident),* $(,)? }) => {
        impl Field for $name {
            fn operand(&self) -> Operand {
                Operand::Way(match self { $(Self::$way => stringify!($way),)* })
            }
        }

        impl Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                const ALL: &[$name] = &[$($name::$way,)*];
                let number = ALL.iter().position(|way| way == self).unwrap_or(0);
                (number as u8).put(out);
            }

            fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
                const ALL: &[$name] = &[$($name::$way,)*];
                let number = u8::take(from)?;
                let way = ALL.get(usize::from(number)).copied();
                way.ok_or_else(|| from.unknown(stringify!($name), number))
            }
        }
    };
}
pub(super) use {ways, ways_of};
