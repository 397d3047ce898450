//! Shapes and number formats of accessors (glTF 2.0 specification, §3.6.2).

/// The number format of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    /// `None` for a number that glTF doesn't know.
    pub(super) fn from_gl(value: u64) -> Option<Self> {
        Some(match value {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    /// Bytes.
    pub(super) const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::F32 => "f32",
        }
    }
}

/// An accessor's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Elements; not yet known to fit anywhere.
    pub count: u64,
    /// One for everything but matrices.
    pub columns: usize,
    /// Components of a column.
    pub rows: usize,
    pub component: Component,
    pub normalized: bool,
}

impl Layout {
    /// Columns and rows of a type; `None` for one that glTF doesn't know.
    pub(super) fn shape(kind: &str) -> Option<(usize, usize)> {
        Some(match kind {
            "SCALAR" => (1, 1),
            "VEC2" => (1, 2),
            "VEC3" => (1, 3),
            "VEC4" => (1, 4),
            "MAT2" => (2, 2),
            "MAT3" => (3, 3),
            "MAT4" => (4, 4),
            _ => return None,
        })
    }

    /// Where a component starts in an element, in bytes.
    pub(super) const fn component_offset(self, component: usize) -> usize {
        component / self.rows * self.column_bytes() + component % self.rows * self.component.size()
    }

    /// Numbers of one element.
    pub(super) const fn components(self) -> usize {
        self.columns * self.rows
    }

    pub(super) const fn is_matrix(self) -> bool {
        self.columns > 1
    }

    /// Bytes from one column to the next: a matrix's columns start at multiples of four.
    pub(super) const fn column_bytes(self) -> usize {
        let bytes = self.rows * self.component.size();
        if self.columns > 1 { bytes.next_multiple_of(4) } else { bytes }
    }

    /// Bytes from an element's start to its last byte; padding after the last column isn't needed.
    pub(super) const fn used_bytes(self) -> usize {
        (self.columns - 1) * self.column_bytes() + self.rows * self.component.size()
    }

    /// Bytes from one element to the next when a view has no stride.
    pub(super) const fn element_bytes(self) -> usize {
        self.columns * self.column_bytes()
    }

    /// For messages.
    pub(super) fn describe(self) -> String {
        let kind = match (self.columns, self.rows) {
            (1, 1) => "SCALAR".to_owned(),
            (1, rows) => format!("VEC{rows}"),
            (columns, _) => format!("MAT{columns}"),
        };
        let normalized = if self.normalized { " normalized" } else { "" };
        format!("{kind} of{normalized} {}", self.component.name())
    }
}

/// The little-endian number at the start of `bytes`, which holds at least its size.
pub(super) fn integer(bytes: &[u8], component: Component) -> u32 {
    match (component, bytes) {
        (Component::U8 | Component::I8, &[a, ..]) => a.into(),
        (Component::U16 | Component::I16, &[a, b, ..]) => u16::from_le_bytes([a, b]).into(),
        (Component::U32 | Component::F32, &[a, b, c, d, ..]) => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    }
}

/// The number at the start of `bytes`; normalized integers by the equations of §3.6.2.2.
pub(super) fn float(bytes: &[u8], component: Component, normalized: bool) -> f32 {
    let raw = integer(bytes, component);
    let (value, largest) = match component {
        Component::F32 => return f32::from_bits(raw),
        Component::I8 => (f32::from(raw as u8 as i8), 127.0),
        Component::U8 => (raw as f32, 255.0),
        Component::I16 => (f32::from(raw as u16 as i16), 32767.0),
        Component::U16 => (raw as f32, 65535.0),
        Component::U32 => (raw as f32, u32::MAX as f32),
    };
    if normalized { (value / largest).max(-1.0) } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(kind: &str, component: Component) -> Layout {
        let (columns, rows) = Layout::shape(kind).unwrap();
        Layout { count: 1, columns, rows, component, normalized: false }
    }

    #[test]
    fn columns_of_small_matrices_start_at_multiples_of_four() {
        // The specification's table: MAT2 of bytes 8, MAT3 of bytes 12, MAT3 of shorts 24.
        for (kind, component, element, used) in [
            ("MAT2", Component::U8, 8, 6),
            ("MAT3", Component::I8, 12, 11),
            ("MAT3", Component::I16, 24, 22),
            ("MAT2", Component::U16, 8, 8),
            ("MAT4", Component::U8, 16, 16),
            ("MAT4", Component::F32, 64, 64),
            ("VEC3", Component::U8, 3, 3),
            ("SCALAR", Component::U16, 2, 2),
        ] {
            let layout = layout(kind, component);
            assert_eq!((layout.element_bytes(), layout.used_bytes()), (element, used), "{kind}");
        }
        let offsets: Vec<_> =
            (0..9).map(|i| layout("MAT3", Component::I16).component_offset(i)).collect();
        assert_eq!(offsets, [0, 2, 4, 8, 10, 12, 16, 18, 20]);
    }

    #[test]
    fn normalized_integers_reach_both_ends_and_not_beyond() {
        let decode = |bytes: &[u8], component| float(bytes, component, true);
        assert_eq!(decode(&[255], Component::U8), 1.0);
        assert_eq!(decode(&[127], Component::I8), 1.0);
        assert_eq!(decode(&[128], Component::I8), -1.0);
        assert_eq!(decode(&[129], Component::I8), -1.0);
        assert_eq!(decode(&[0xFF, 0xFF], Component::U16), 1.0);
        assert_eq!(decode(&[0xFF, 0x7F], Component::I16), 1.0);
        assert_eq!(decode(&[0x00, 0x80], Component::I16), -1.0);
        assert_eq!(float(&[128], Component::I8, false), -128.0);
        assert_eq!(float(&1.5f32.to_le_bytes(), Component::F32, false), 1.5);
    }
}
