//! Accessors: checked against their views, with strides, sparse replacements and normalization
//! (glTF 2.0 specification, §3.6.2).

use super::buffers::Buffers;
use super::json::{Accessor, Root, Sparse};
use super::json_types::Index;
use super::layout::{Component, Layout, float, integer};
use super::limits::Budget;
use crate::asset::error::{AccessorFault, Fault};
use std::borrow::Cow;
use std::fmt::Arguments;

/// Reads a file's accessors.
pub(super) struct Accessors<'a> {
    root: &'a Root,
    buffers: &'a Buffers<'a>,
}

impl<'a> Accessors<'a> {
    pub(super) fn new(root: &'a Root, buffers: &'a Buffers<'a>) -> Self {
        Self { root, buffers }
    }

    /// What decoded data is charged to.
    pub(super) fn budget(&self) -> &Budget {
        self.buffers.budget()
    }

    /// The shape of an accessor. `used_as` is the role it plays, for messages.
    pub(super) fn layout(&self, index: Index, used_as: Arguments) -> Result<Layout, Fault> {
        let (_, json) = self.json(index, used_as)?;
        let fail = |problem| fault(index, used_as, problem);
        let (columns, rows) = Layout::shape(&json.kind)
            .ok_or_else(|| fail(AccessorFault::Kind(json.kind.chars().take(40).collect())))?;
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
        let layout = self.checked_layout(index, used_as, expected, |l| l.components() == N)?;
        let bytes = self.elements(index, layout, used_as)?;
        self.charge(u128::from(layout.count) * (N * 4) as u128, index, used_as)?;
        let mut out = Vec::with_capacity(bytes.len() / layout.used_bytes());
        for (i, element) in bytes.chunks_exact(layout.used_bytes()).enumerate() {
            let mut value = [0.0; N];
            for (at, number) in value.iter_mut().enumerate() {
                let bytes = &element[layout.component_offset(at)..];
                *number = float(bytes, layout.component, layout.normalized);
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
        let layout = self.checked_layout(index, used_as, expected, |l| {
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
    pub(super) fn checked_layout(
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
    fn elements(
        &self,
        index: Index,
        layout: Layout,
        used_as: Arguments,
    ) -> Result<Cow<'_, [u8]>, Fault> {
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
                Cow::Owned(vec![0; bytes as usize])
            }
        };
        if let Some(sparse) = &json.sparse {
            self.replace(index, sparse, layout, out.to_mut(), used_as)?;
        }
        Ok(out)
    }

    /// Elements one after the other, copied when they lie apart.
    fn gather<'b>(
        &self,
        index: Index,
        bytes: &'b [u8],
        range: Range,
        used: usize,
        used_as: Arguments,
    ) -> Result<Cow<'b, [u8]>, Fault> {
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
            return Ok(Cow::Borrowed(&[]));
        }
        // Everything lies inside the view from here on, so it all fits a usize.
        let (offset, stride, count) = (offset as usize, stride as usize, count as usize);
        let bytes = &bytes[offset..];
        if stride == used {
            return Ok(Cow::Borrowed(&bytes[..count * used]));
        }
        self.charge((count * used) as u128, index, used_as)?;
        let mut out = Vec::with_capacity(count * used);
        for element in 0..count {
            out.extend_from_slice(&bytes[element * stride..][..used]);
        }
        Ok(Cow::Owned(out))
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
        let tight = |view: Index, offset, stride: usize, used| -> Result<Cow<'_, [u8]>, Fault> {
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

#[cfg(test)]
mod tests {
    use crate::asset::gltf::fixture::{F32, Fixture, U8, U16};
    use serde_json::json;

    /// Positions of the character, read with the accessor changed.
    fn positions(change: impl FnOnce(&mut Fixture)) -> Result<Vec<[f32; 3]>, String> {
        let mut file = Fixture::character();
        change(&mut file);
        file.read().map(|source| source.meshes[0].primitives[0].positions.clone())
    }

    #[test]
    fn elements_lie_a_stride_apart_and_an_offset_in() {
        let padded: Vec<f32> = (0..22).map(|i| i as f32).collect();
        let read = positions(|file| {
            let view = file.view(bytemuck::cast_slice(&padded));
            file.json["bufferViews"][view]["byteStride"] = json!(20);
            file.json["accessors"][0]["bufferView"] = json!(view);
            file.json["accessors"][0]["byteOffset"] = json!(8);
        });
        assert_eq!(read.unwrap()[3], [17.0, 18.0, 19.0]);
    }

    #[test]
    fn the_last_element_needs_no_padding_but_all_of_its_bytes() {
        let strided = |floats: usize| {
            positions(|file| {
                let view = file.view(&vec![0; floats * 4]);
                file.json["bufferViews"][view]["byteStride"] = json!(16);
                file.json["accessors"][0]["bufferView"] = json!(view);
            })
        };
        assert!(strided(15).is_ok());
        let message = strided(14).unwrap_err();
        assert!(message.contains("4 elements end at byte 60, but bufferView"), "{message}");
    }

    #[test]
    fn a_stride_below_the_element_and_numbers_that_overflow_are_refused() {
        let changed = |key: &str, value: u64| {
            positions(|file| file.json["accessors"][0][key] = json!(value)).unwrap_err()
        };
        assert!(changed("byteOffset", u64::MAX).contains("18446744073709551663"));
        assert!(changed("bufferView", 99).contains("bufferView is 99"));
        assert!(changed("componentType", 5124).contains("componentType is 5124"));
        let stride = positions(|file| file.json["bufferViews"][0]["byteStride"] = json!(8));
        assert!(stride.unwrap_err().contains("byteStride is 8, less than an element's 12"));
        let huge = positions(|file| {
            for accessor in [0, 1, 2, 3, 4, 6] {
                file.json["accessors"][accessor]["count"] = json!(u64::MAX);
                file.json["bufferViews"][accessor]["byteStride"] = json!(u64::MAX);
            }
        });
        // (2^64 - 2) * (2^64 - 1) + 12
        assert!(huge.unwrap_err().contains("340282366920938463408034375210639556622"));
    }

    #[test]
    fn sparse_replaces_elements_of_a_view_and_of_zeros() {
        for backed in [true, false] {
            let read = positions(|file| {
                let indices = file.view(&[1, 3]);
                let values = file.view(bytemuck::cast_slice(&[7.0f32, 8.0, 9.0, -7.0, -8.0, -9.0]));
                let accessor = &mut file.json["accessors"][0];
                accessor["sparse"] = json!({
                    "count": 2,
                    "indices": { "bufferView": indices, "componentType": U8 },
                    "values": { "bufferView": values },
                });
                if !backed {
                    accessor.as_object_mut().unwrap().remove("bufferView");
                }
            })
            .unwrap();
            assert_eq!(read[1], [7.0, 8.0, 9.0]);
            assert_eq!(read[3], [-7.0, -8.0, -9.0]);
            assert_eq!(read[2], if backed { [0.0, 1.0, 0.0] } else { [0.0; 3] });
        }
    }

    #[test]
    fn a_sparse_index_past_the_elements_is_refused_with_its_number() {
        let sparse = |component: u32, count: u64| {
            positions(|file| {
                let indices = file.view(&[1, 0, 4, 0]);
                let values = file.view(&[0; 24]);
                file.json["accessors"][0]["sparse"] = json!({
                    "count": count,
                    "indices": { "bufferView": indices, "componentType": component },
                    "values": { "bufferView": values },
                });
            })
            .unwrap_err()
        };
        assert!(sparse(U16, 2).contains("sparse index 1 is 4, but there are 4 elements"));
        assert!(sparse(U16, 3).contains("3 elements end at byte 6"));
        assert!(sparse(F32, 2).contains("indices of componentType 5126"));
        assert!(sparse(U16, u64::MAX).contains("sparse") || !sparse(U16, u64::MAX).is_empty());
    }

    #[test]
    fn zeros_without_bytes_are_allowed_up_to_their_limit() {
        let read = positions(|file| {
            file.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
        });
        assert_eq!(read.unwrap(), [[0.0; 3]; 4]);
        let huge = positions(|file| {
            for accessor in [0, 1, 2, 3, 4, 6] {
                let accessor = &mut file.json["accessors"][accessor];
                accessor.as_object_mut().unwrap().remove("bufferView");
                accessor["count"] = json!(1u64 << 40);
            }
        });
        let message = huge.unwrap_err();
        assert!(message.contains("takes 13194139533312 bytes"), "{message}");
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused_with_element_and_value() {
        for (bits, text) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf"), (f32::NEG_INFINITY, "-inf")]
        {
            let message = positions(|file| {
                file.bin[28..32].copy_from_slice(&bits.to_le_bytes());
            })
            .unwrap_err();
            let want = format!(
                "accessor 0 (POSITION of mesh 0 \"quad\" primitive 0): element 2 holds {text}"
            );
            assert_eq!(message, want);
        }
    }
}
