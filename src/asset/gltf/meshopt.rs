//! Expands views compressed with EXT_meshopt_compression or KHR_meshopt_compression.
//!
//! Both extensions describe a view in the same way. The Khronos one adds a version of the vertex
//! codec and the COLOR filter, which the decoder knows too, so one path serves both. The decoder is
//! written for untrusted bytes, but asserts its sizes; all of them are checked before it is called.

use super::json::Meshopt;
use super::limits::Budget;
use crate::asset::error::Fault;
use meshopt::ffi;

/// The densest that the codecs pack: a block of 256 vertices, all of whose bytes repeat the last
/// block's, takes two bits for each of a vertex's bytes. What claims more is refused before memory
/// is set aside for it.
const MOST_EXPANSION: u128 = 1024;

/// What the bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Attributes,
    Triangles,
    Indices,
}

/// What is done to attributes after expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filter {
    None,
    Octahedral,
    Quaternion,
    Exponential,
    Color,
}

/// Expands `encoded` to `count * byteStride` bytes.
///
/// # Errors
/// [`Fault::Meshopt`] for sizes that the extension forbids and for damaged bytes,
/// [`Fault::TooLarge`] when the result would exceed the budget.
pub(super) fn expand(
    view: u64,
    extension: &'static str,
    json: &Meshopt,
    encoded: &[u8],
    budget: &Budget,
) -> Result<Vec<u8>, Fault> {
    let fail = |problem: String| Fault::Meshopt { view, extension, problem };
    let (mode, filter) = layout(json).map_err(fail)?;

    let bytes = u128::from(json.count.0) * u128::from(json.byte_stride.0);
    if bytes > encoded.len() as u128 * MOST_EXPANSION {
        return Err(fail(format!("its {} bytes can't hold {bytes}", encoded.len())));
    }
    budget.take_decoded(bytes, || format!("bufferView {view}, expanded,"))?;
    // The budget is far below the address space, so both fit.
    let (count, stride) = (json.count.index(), json.byte_stride.index());
    let bytes = count * stride;
    // Both steps write 16- and 32-bit numbers: words give them their alignment.
    let mut words = vec![0u64; bytes.div_ceil(size_of::<u64>())];
    decode(mode, &mut words, count, stride, encoded).map_err(fail)?;
    if mode == Mode::Attributes {
        apply(filter, &mut words, count, stride);
    }
    Ok(bytemuck::cast_slice(&words)[..bytes].to_vec())
}

/// Checks mode, filter, count and stride against each other.
fn layout(json: &Meshopt) -> Result<(Mode, Filter), String> {
    let mode = match json.mode.as_str() {
        "ATTRIBUTES" => Mode::Attributes,
        "TRIANGLES" => Mode::Triangles,
        "INDICES" => Mode::Indices,
        other => return Err(format!("its mode {other:?} is not known")),
    };
    let filter = match json.filter.as_deref() {
        None | Some("NONE") => Filter::None,
        Some("OCTAHEDRAL") => Filter::Octahedral,
        Some("QUATERNION") => Filter::Quaternion,
        Some("EXPONENTIAL") => Filter::Exponential,
        Some("COLOR") => Filter::Color,
        Some(other) => return Err(format!("its filter {other:?} is not known")),
    };
    let (stride, count) = (json.byte_stride.0, json.count.0);
    let stride_fits = match (mode, filter) {
        (Mode::Attributes, Filter::None | Filter::Exponential) => {
            stride.is_multiple_of(4) && (4..=256).contains(&stride)
        }
        (Mode::Attributes, Filter::Octahedral | Filter::Color) => stride == 4 || stride == 8,
        (Mode::Attributes, Filter::Quaternion) => stride == 8,
        (Mode::Triangles | Mode::Indices, _) => stride == 2 || stride == 4,
    };
    if !stride_fits {
        return Err(format!("a byteStride of {stride} does not suit {mode:?} with {filter:?}"));
    }
    if mode == Mode::Triangles && !count.is_multiple_of(3) {
        return Err(format!("{count} indices are not whole triangles"));
    }
    Ok((mode, filter))
}

/// `words` holds at least `count * stride` bytes.
fn decode(
    mode: Mode,
    words: &mut [u64],
    count: usize,
    stride: usize,
    encoded: &[u8],
) -> Result<(), String> {
    assert!(size_of_val(words) >= count * stride);
    let to = words.as_mut_ptr().cast();
    let (from, length) = (encoded.as_ptr(), encoded.len());
    // SAFETY: `to` has room for `count * stride` bytes, the most that a decoder writes, aligned to
    // 8; at most `length` bytes are read from `from`, whatever they hold. The decoders' asserts on
    // sizes (stride a multiple of 4 up to 256; index size 2 or 4; a multiple of 3 indices) were
    // checked by `layout`.
    let code = unsafe {
        match mode {
            Mode::Attributes => ffi::meshopt_decodeVertexBuffer(to, count, stride, from, length),
            Mode::Triangles => ffi::meshopt_decodeIndexBuffer(to, count, stride, from, length),
            Mode::Indices => ffi::meshopt_decodeIndexSequence(to, count, stride, from, length),
        }
    };
    if code == 0 { Ok(()) } else { Err(format!("its {length} bytes are damaged (code {code})")) }
}

/// `words` holds at least `count * stride` bytes.
fn apply(filter: Filter, words: &mut [u64], count: usize, stride: usize) {
    assert!(size_of_val(words) >= count * stride);
    let data = words.as_mut_ptr().cast();
    // SAFETY: `data` has `count * stride` bytes, aligned to 8, which are changed in place; the
    // strides that the filters assert (4 or 8; 8; a multiple of 4; 4 or 8) were checked by
    // `layout`.
    unsafe {
        match filter {
            Filter::None => {}
            Filter::Octahedral => ffi::meshopt_decodeFilterOct(data, count, stride),
            Filter::Quaternion => ffi::meshopt_decodeFilterQuat(data, count, stride),
            Filter::Exponential => ffi::meshopt_decodeFilterExp(data, count, stride),
            Filter::Color => ffi::meshopt_decodeFilterColor(data, count, stride),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::gltf::limits::Limits;

    fn json(mode: &str, filter: Option<&str>, stride: u64, count: u64) -> Meshopt {
        serde_json::from_value(serde_json::json!({
            "buffer": 0, "byteLength": 0, "byteStride": stride, "count": count,
            "mode": mode, "filter": filter,
        }))
        .unwrap()
    }

    fn run(json: &Meshopt, encoded: &[u8]) -> Result<Vec<u8>, String> {
        let limits = Limits { decoded_bytes: 1 << 20, ..Limits::DEFAULT };
        expand(7, "EXT_meshopt_compression", json, encoded, &Budget::new(limits))
            .map_err(|fault| fault.to_string())
    }

    #[test]
    fn all_modes_give_back_what_was_compressed() {
        let vertices: Vec<[u32; 3]> = (0..100).map(|i| [i, i * i, i << 20]).collect();
        let encoded = ::meshopt::encode_vertex_buffer(&vertices).unwrap();
        let bytes = run(&json("ATTRIBUTES", None, 12, 100), &encoded).unwrap();
        assert_eq!(bytes, bytemuck::cast_slice::<_, u8>(&vertices));

        let indices = [0u32, 1, 2, 2, 1, 3, 2, 3, 4];
        let encoded = ::meshopt::encode_index_buffer(&indices, 5).unwrap();
        let bytes = run(&json("TRIANGLES", None, 2, 9), &encoded).unwrap();
        let decoded: Vec<u32> =
            bytes.chunks(2).map(|b| u16::from_le_bytes([b[0], b[1]]).into()).collect();
        // The codec may rotate a triangle's corners.
        for (got, want) in decoded.chunks(3).zip(indices.chunks(3)) {
            assert!((0..3).any(|turn| (0..3).all(|i| got[(i + turn) % 3] == want[i])));
        }

        let lines = [0u32, 5, 1, 7];
        let encoded = ::meshopt::encode_index_sequence(&lines, 8).unwrap();
        let bytes = run(&json("INDICES", None, 4, 4), &encoded).unwrap();
        assert_eq!(bytes, bytemuck::cast_slice::<_, u8>(&lines));
    }

    #[test]
    fn all_filters_are_undone() {
        let unit = [[0.6f32, 0.0, 0.8, 0.0], [0.0, -1.0, 0.0, 0.0]];
        let octahedral: Vec<[i16; 4]> = ::meshopt::encode_filter_oct(&unit, 16);
        let encoded = ::meshopt::encode_vertex_buffer(&octahedral).unwrap();
        let bytes = run(&json("ATTRIBUTES", Some("OCTAHEDRAL"), 8, 2), &encoded).unwrap();
        let component =
            |at: usize| f32::from(i16::from_le_bytes([bytes[at * 2], bytes[at * 2 + 1]])) / 32767.0;
        for (i, want) in unit.as_flattened().iter().enumerate() {
            assert!((component(i) - want).abs() < 1e-3, "{i}");
        }

        let quaternion = ::meshopt::encode_filter_quat(&unit, 16);
        let encoded = ::meshopt::encode_vertex_buffer(&quaternion).unwrap();
        let bytes = run(&json("ATTRIBUTES", Some("QUATERNION"), 8, 2), &encoded).unwrap();
        let w: f32 = (0..4)
            .map(|i| {
                let raw = i16::from_le_bytes([bytes[i * 2], bytes[i * 2 + 1]]);
                f32::from(raw) / 32767.0 * unit[0][i]
            })
            .sum();
        assert!((w.abs() - 1.0).abs() < 1e-3);

        let exponential =
            ::meshopt::encode_filter_exp(&unit, 15, ::meshopt::EncodeExpMode::Separate);
        let encoded = ::meshopt::encode_vertex_buffer(&exponential).unwrap();
        let bytes = run(&json("ATTRIBUTES", Some("EXPONENTIAL"), 16, 2), &encoded).unwrap();
        for (got, want) in bytes.chunks(4).zip(unit.as_flattened()) {
            let got = f32::from_le_bytes(got.try_into().unwrap());
            assert!((got - want).abs() < 1e-3);
        }

        let color: Vec<[u8; 4]> = ::meshopt::encode_filter_color(&[[1.0, 0.5, 0.0, 1.0]; 2], 8);
        let encoded = ::meshopt::encode_vertex_buffer(&color).unwrap();
        let bytes = run(&json("ATTRIBUTES", Some("COLOR"), 4, 2), &encoded).unwrap();
        assert!(bytes[0] > 250 && bytes[1].abs_diff(128) < 4 && bytes[2] < 5, "{bytes:?}");
    }

    #[test]
    fn sizes_that_the_decoder_would_abort_on_are_refused_first() {
        for (mode, filter, stride, count) in [
            ("ATTRIBUTES", None, 0, 1),
            ("ATTRIBUTES", None, 6, 1),
            ("ATTRIBUTES", None, 260, 1),
            ("ATTRIBUTES", Some("OCTAHEDRAL"), 12, 1),
            ("ATTRIBUTES", Some("QUATERNION"), 4, 1),
            ("ATTRIBUTES", Some("EXPONENTIAL"), 2, 1),
            ("ATTRIBUTES", Some("COLOR"), 16, 1),
            ("TRIANGLES", None, 4, 4),
            ("TRIANGLES", None, 1, 3),
            ("INDICES", None, 8, 3),
            ("ATTRIBUTES", Some("ROT13"), 4, 1),
            ("LINES", None, 4, 1),
        ] {
            let message = run(&json(mode, filter, stride, count), &[]).unwrap_err();
            assert!(message.starts_with("bufferView 7 (EXT_meshopt_compression): "), "{message}");
        }
    }

    #[test]
    fn damaged_bytes_and_huge_counts_are_errors() {
        let vertices: Vec<[u32; 4]> = (0..64).map(|i| [i, i * 7, i, i]).collect();
        let encoded = ::meshopt::encode_vertex_buffer(&vertices).unwrap();
        for end in 0..encoded.len() {
            assert!(run(&json("ATTRIBUTES", None, 16, 64), &encoded[..end]).is_err(), "{end}");
        }
        for count in [1 << 40, u64::MAX] {
            let message = run(&json("ATTRIBUTES", None, 256, count), &encoded).unwrap_err();
            assert!(message.contains("can't hold"), "{message}");
        }
        let message = run(&json("ATTRIBUTES", None, 256, 5000), &[0xA0; 2000]).unwrap_err();
        assert!(message.contains("limit is 1048576"), "{message}");
    }

    #[test]
    fn the_densest_data_is_not_refused() {
        let vertices = vec![[7u32; 1]; 1 << 16];
        let encoded = ::meshopt::encode_vertex_buffer(&vertices).unwrap();
        assert!(encoded.len() * 500 < (1 << 18), "not dense: {}", encoded.len());
        let bytes = run(&json("ATTRIBUTES", None, 4, 1 << 16), &encoded).unwrap();
        assert_eq!(bytes, bytemuck::cast_slice::<_, u8>(&vertices));
    }
}
