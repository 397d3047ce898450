//! Accessors: checked against their views, with strides, sparse replacements and normalization
//! (glTF 2.0 specification, §3.6.2).

use super::buffers::Buffers;
use super::json::{Accessor, Root, Sparse};
use super::json_types::Index;
use crate::asset::error::{AccessorFault, Fault};
use std::fmt::Arguments;

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
    fn from_gl(value: u64) -> Option<Self> {
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

    const fn size(self) -> usize {
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
    columns: usize,
    rows: usize,
    pub component: Component,
    pub normalized: bool,
}

impl Layout {
    /// Numbers of one element.
    pub(super) const fn components(self) -> usize {
        self.columns * self.rows
    }

    pub(super) const fn is_matrix(self) -> bool {
        self.columns > 1
    }

    /// Bytes from one column to the next: a matrix's columns start at multiples of four.
    const fn column_bytes(self) -> usize {
        let bytes = self.rows * self.component.size();
        if self.columns > 1 { bytes.next_multiple_of(4) } else { bytes }
    }

    /// Bytes from an element's start to its last byte; padding after the last column isn't needed.
    const fn used_bytes(self) -> usize {
        (self.columns - 1) * self.column_bytes() + self.rows * self.component.size()
    }

    /// Bytes from one element to the next when a view has no stride.
    const fn element_bytes(self) -> usize {
        self.columns * self.column_bytes()
    }

    fn describe(self) -> String {
        let kind = match (self.columns, self.rows) {
            (1, 1) => "SCALAR".to_owned(),
            (1, rows) => format!("VEC{rows}"),
            (columns, _) => format!("MAT{columns}"),
        };
        let normalized = if self.normalized { " normalized" } else { "" };
        format!("{kind} of{normalized} {}", self.component.name())
    }
}

/// Reads a file's accessors.
pub(super) struct Accessors<'a> {
    root: &'a Root,
    buffers: &'a Buffers<'a>,
}

impl<'a> Accessors<'a> {
    pub(super) fn new(root: &'a Root, buffers: &'a Buffers<'a>) -> Self {
        Self { root, buffers }
    }

    /// The shape of an accessor. `used_as` is the role it plays, for messages.
    pub(super) fn layout(&self, index: Index, used_as: Arguments) -> Result<Layout, Fault> {
        let (_, json) = self.json(index, used_as)?;
        let fail = |problem| fault(index, used_as, problem);
        let (columns, rows) = match json.kind.as_str() {
            "SCALAR" => (1, 1),
            "VEC2" => (1, 2),
            "VEC3" => (1, 3),
            "VEC4" => (1, 4),
            "MAT2" => (2, 2),
            "MAT3" => (3, 3),
            "MAT4" => (4, 4),
            other => return Err(fail(AccessorFault::Kind(other.chars().take(40).collect()))),
        };
        let component = Component::from_gl(json.component_type.0)
            .ok_or_else(|| fail(AccessorFault::ComponentType(json.component_type.0)))?;
        Ok(Layout { count: json.count.0, columns, rows, component, normalized: json.normalized })
    }

    /// True when the accessor has neither a view nor replacements: all of it is zero.
    pub(super) fn is_unbacked(&self, index: Index) -> bool {
        let json = self.root.accessors.get(index.index());
        json.is_some_and(|json| json.buffer_view.is_none() && json.sparse.is_none())
    }

    /// Reads `N` numbers per element as f32; normalized integers become -1..=1 or 0..=1.
    ///
    /// # Errors
    /// Another number of components, a reach past the view, NaN or an infinity.
    pub(super) fn floats<const N: usize>(
        &self,
        index: Index,
        expected: &'static str,
        used_as: Arguments,
    ) -> Result<Vec<[f32; N]>, Fault> {
        let layout = self.expect(index, used_as, expected, |l| l.components() == N)?;
        let bytes = self.elements(index, layout, used_as)?;
        self.charge(u128::from(layout.count) * (N * 4) as u128, index, used_as)?;
        let mut out = Vec::with_capacity(bytes.len() / layout.used_bytes());
        for (i, element) in bytes.chunks_exact(layout.used_bytes()).enumerate() {
            let mut value = [0.0; N];
            for (at, number) in value.iter_mut().enumerate() {
                let offset = at / layout.rows * layout.column_bytes()
                    + at % layout.rows * layout.component.size();
                *number = float(&element[offset..], layout.component, layout.normalized);
                if !number.is_finite() {
                    let value = *number;
                    return Err(fault(
                        index,
                        used_as,
                        AccessorFault::NotFinite { element: i, value },
                    ));
                }
            }
            out.push(value);
        }
        Ok(out)
    }

    /// Reads `N` unsigned integers per element.
    ///
    /// # Errors
    /// Another number of components, signed or floating ones, a reach past the view.
    pub(super) fn integers<const N: usize>(
        &self,
        index: Index,
        expected: &'static str,
        used_as: Arguments,
    ) -> Result<Vec<[u32; N]>, Fault> {
        let unsigned = |c| matches!(c, Component::U8 | Component::U16 | Component::U32);
        let layout = self.expect(index, used_as, expected, |l| {
            l.components() == N && !l.is_matrix() && unsigned(l.component) && !l.normalized
        })?;
        let bytes = self.elements(index, layout, used_as)?;
        self.charge(u128::from(layout.count) * (N * 4) as u128, index, used_as)?;
        let size = layout.component.size();
        let element = |element: &[u8]| {
            let mut value = [0; N];
            for (number, bytes) in value.iter_mut().zip(element.chunks_exact(size)) {
                *number = integer(bytes, layout.component);
            }
            value
        };
        Ok(bytes.chunks_exact(layout.used_bytes()).map(element).collect())
    }

    fn json(&self, index: Index, used_as: Arguments) -> Result<(usize, &'a Accessor), Fault> {
        index.of(&self.root.accessors, "accessors", &|| used_as.to_string(), "accessor")
    }

    /// The layout, if it is what its use asks for.
    pub(super) fn expect(
        &self,
        index: Index,
        used_as: Arguments,
        expected: &'static str,
        fits: impl FnOnce(Layout) -> bool,
    ) -> Result<Layout, Fault> {
        let layout = self.layout(index, used_as)?;
        if fits(layout) {
            return Ok(layout);
        }
        let found = layout.describe();
        Err(fault(index, used_as, AccessorFault::Type { found, expected }))
    }

    /// Every element's used bytes, one after the other, sparse replacements made.
    fn elements(&self, index: Index, layout: Layout, used_as: Arguments) -> Result<Vec<u8>, Fault> {
        let (_, json) = self.json(index, used_as)?;
        let used = layout.used_bytes();
        let bytes = u128::from(layout.count) * used as u128;
        let what = || named(index, used_as);
        let mut out = match json.buffer_view {
            Some(view) => {
                let view_of = self.buffers.view(view, &what, "bufferView")?;
                let stride = view_of.stride.unwrap_or(layout.element_bytes() as u64);
                let range = Range { view, offset: json.byte_offset.0, stride, count: layout.count };
                self.gather(index, view_of.bytes, range, used, used_as)?
            }
            None => {
                self.buffers.budget().take_zeros(bytes, what)?;
                self.charge(bytes, index, used_as)?;
                vec![0; bytes as usize]
            }
        };
        if let Some(sparse) = &json.sparse {
            self.replace(index, sparse, layout, &mut out, used_as)?;
        }
        Ok(out)
    }

    /// Copies elements that may lie apart to follow each other.
    fn gather(
        &self,
        index: Index,
        bytes: &[u8],
        range: Range,
        used: usize,
        used_as: Arguments,
    ) -> Result<Vec<u8>, Fault> {
        let Range { view, offset, stride, count } = range;
        if stride < used as u64 {
            return Err(fault(index, used_as, AccessorFault::Stride { stride, element: used }));
        }
        let end = match count {
            0 => 0,
            _ => u128::from(offset) + u128::from(count - 1) * u128::from(stride) + used as u128,
        };
        let length = bytes.len() as u64;
        if end > u128::from(length) {
            let problem = AccessorFault::Overrun { count, end, view: view.0, length };
            return Err(fault(index, used_as, problem));
        }
        if count == 0 {
            return Ok(Vec::new());
        }
        // Everything lies inside the view from here on, so it all fits a usize.
        let (offset, stride, count) = (offset as usize, stride as usize, count as usize);
        self.charge((count * used) as u128, index, used_as)?;
        let bytes = &bytes[offset..];
        if stride == used {
            return Ok(bytes[..count * used].to_vec());
        }
        let mut out = Vec::with_capacity(count * used);
        for element in 0..count {
            out.extend_from_slice(&bytes[element * stride..][..used]);
        }
        Ok(out)
    }

    /// Overwrites the elements that a sparse accessor replaces.
    fn replace(
        &self,
        index: Index,
        sparse: &Sparse,
        layout: Layout,
        elements: &mut [u8],
        used_as: Arguments,
    ) -> Result<(), Fault> {
        let used = layout.used_bytes();
        let component = match Component::from_gl(sparse.indices.component_type.0) {
            Some(c @ (Component::U8 | Component::U16 | Component::U32)) => c,
            _ => {
                let problem = AccessorFault::Type {
                    found: format!(
                        "sparse with indices of componentType {}",
                        sparse.indices.component_type.0
                    ),
                    expected: "sparse with indices of 5121, 5123 or 5125",
                };
                return Err(fault(index, used_as, problem));
            }
        };
        let size = component.size();
        let tight = |view: Index, offset, stride: usize, used| -> Result<Vec<u8>, Fault> {
            let what = || format!("{}, sparse", named(index, used_as));
            let bytes = self.buffers.view(view, &what, "bufferView")?.bytes;
            let range = Range { view, offset, stride: stride as u64, count: sparse.count.0 };
            self.gather(index, bytes, range, used, used_as)
        };
        let indices = tight(sparse.indices.buffer_view, sparse.indices.byte_offset.0, size, size)?;
        let values = tight(
            sparse.values.buffer_view,
            sparse.values.byte_offset.0,
            layout.element_bytes(),
            used,
        )?;
        for (position, (at, value)) in
            indices.chunks_exact(size).zip(values.chunks_exact(used)).enumerate()
        {
            let at = integer(at, component);
            let Some(element) = elements.chunks_exact_mut(used).nth(at as usize) else {
                let problem =
                    AccessorFault::SparseIndex { position, value: at, count: layout.count };
                return Err(fault(index, used_as, problem));
            };
            element.copy_from_slice(value);
        }
        Ok(())
    }

    fn charge(&self, bytes: u128, index: Index, used_as: Arguments) -> Result<(), Fault> {
        self.buffers.budget().take_decoded(bytes, || named(index, used_as))
    }
}

/// Where elements lie in a view.
#[derive(Clone, Copy)]
struct Range {
    view: Index,
    offset: u64,
    stride: u64,
    count: u64,
}

fn named(index: Index, used_as: Arguments) -> String {
    format!("accessor {} ({used_as})", index.0)
}

fn fault(index: Index, used_as: Arguments, problem: AccessorFault) -> Fault {
    Fault::Accessor { accessor: index.0, used_as: used_as.to_string(), problem }
}

/// The little-endian number at the start of `bytes`, which holds at least its size.
fn integer(bytes: &[u8], component: Component) -> u32 {
    match (component, bytes) {
        (Component::U8 | Component::I8, &[a, ..]) => a.into(),
        (Component::U16 | Component::I16, &[a, b, ..]) => u16::from_le_bytes([a, b]).into(),
        (Component::U32 | Component::F32, &[a, b, c, d, ..]) => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    }
}

/// The number at the start of `bytes`; normalized integers by the equations of §3.6.2.2.
fn float(bytes: &[u8], component: Component, normalized: bool) -> f32 {
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
