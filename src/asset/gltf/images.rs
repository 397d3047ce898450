//! The images of materials, decoded once each. What is wrong with an image never costs the
//! character: it is a warning, and the material's factors are drawn.

use super::buffers::Buffers;
use super::json::{Image, Root, Texture};
use super::uri;
use super::warnings::Warnings;
use crate::asset::character::ImageRgba8;
use crate::asset::error::{Fault, object};
use image::{ImageDecoder, ImageReader, Limits};
use std::io::Cursor;

/// The widest and highest image that is decoded, in pixels.
const LARGEST_DECODED: u32 = 16_384;
/// The widest and highest image that is handed on, in pixels: what every adapter takes as a
/// texture (WebGPU's default limit). Larger ones are made smaller.
const LARGEST_KEPT: u32 = 8_192;

/// Bytes of pixels (4096 x 4096 of them) that any image may have.
const PIXELS_WITHOUT_PROOF: u128 = 64 << 20;
/// Larger ones need this share of encoded bytes: PNG packs a thousand to one at most, JPEG hardly
/// more. A few bytes that claim hundreds of megabytes are refused before memory is set aside.
const MOST_EXPANSION: u128 = 4096;

/// A file's images, as far as they were asked for.
pub(super) struct Images<'a> {
    root: &'a Root,
    buffers: &'a Buffers<'a>,
    /// For each image of the file: not asked for yet, broken, or its place in `decoded`.
    state: Vec<Option<Option<u32>>>,
    decoded: Vec<ImageRgba8>,
}

impl<'a> Images<'a> {
    pub(super) fn new(root: &'a Root, buffers: &'a Buffers<'a>) -> Self {
        Self { root, buffers, state: vec![None; root.images.len()], decoded: Vec::new() }
    }

    /// The place of a texture's image among the decoded ones; `None` with a warning when it can't
    /// be had.
    ///
    /// # Errors
    /// A reference to an image that doesn't exist.
    pub(super) fn of_texture(
        &mut self,
        texture: &Texture,
        texture_name: &dyn Fn() -> String,
        user: &dyn Fn() -> String,
        warnings: &mut Warnings,
    ) -> Result<Option<u32>, Fault> {
        let webp = texture.extensions.webp.as_ref().and_then(|webp| webp.source);
        let Some(source) = texture.source.or(webp) else {
            warnings.push(format!(
                "{}: {} has no image in a format that is read (PNG, JPEG, WebP); \
                 the factors are drawn",
                user(),
                texture_name()
            ));
            return Ok(None);
        };
        let (at, json) = source.of(&self.root.images, "images", texture_name, "source")?;
        if let Some(known) = self.state[at] {
            return Ok(known);
        }
        let place = match self.decode(at, json) {
            Ok(image) => {
                self.decoded.push(image);
                Some((self.decoded.len() - 1) as u32)
            }
            Err(problem) => {
                warnings.push(format!("{problem}; the factors are drawn instead"));
                None
            }
        };
        self.state[at] = Some(place);
        Ok(place)
    }

    pub(super) fn into_decoded(self) -> Vec<ImageRgba8> {
        self.decoded
    }

    fn decode(&self, at: usize, json: &Image) -> Result<ImageRgba8, String> {
        let name = || object("image", at, json.name.as_deref());
        let external;
        let bytes = match (&json.uri, json.buffer_view) {
            (_, Some(view)) => {
                let view = self.buffers.view(view, &name, "bufferView");
                view.map_err(|fault| fault.to_string())?.bytes
            }
            (Some(uri), None) => {
                let budget = self.buffers.budget();
                let read = uri::read(uri, self.buffers.folder(), u64::MAX, budget, &name);
                external = read.map_err(|fault| fault.to_string())?.0;
                &external
            }
            (None, None) => return Err(format!("{} has neither uri nor bufferView", name())),
        };
        let image = self.pixels(bytes, &name).map_err(|problem| match &json.uri {
            Some(uri) => format!("{} ({}): {problem}", name(), uri::describe(uri)),
            None => format!("{}: {problem}", name()),
        })?;
        let (width, height) = image.dimensions();
        Ok(ImageRgba8 { name: title(json), width, height, pixels: image.into_raw() })
    }

    /// Decodes by what the bytes are, not by what the file says they are.
    fn pixels(
        &self,
        encoded: &[u8],
        name: &dyn Fn() -> String,
    ) -> Result<image::RgbaImage, String> {
        if encoded.starts_with(b"version https://git-lfs") {
            return Err("is a Git LFS pointer, not the image".into());
        }
        let budget = self.buffers.budget();
        let text = |error: image::ImageError| error.to_string();
        let mut reader = ImageReader::new(Cursor::new(encoded))
            .with_guessed_format()
            .map_err(|e| e.to_string())?;
        let mut limits = Limits::default();
        limits.max_image_width = Some(LARGEST_DECODED);
        limits.max_image_height = Some(LARGEST_DECODED);
        limits.max_alloc = Some(budget.decoded_left());
        reader.limits(limits);
        let decoder = reader.into_decoder().map_err(text)?;
        let (width, height) = decoder.dimensions();
        let pixels = u128::from(width) * u128::from(height) * 4;
        if pixels > PIXELS_WITHOUT_PROOF && pixels > encoded.len() as u128 * MOST_EXPANSION {
            return Err(format!(
                "its {} bytes can't hold {width} x {height} pixels",
                encoded.len()
            ));
        }
        budget.take_decoded(pixels, name).map_err(|fault| fault.to_string())?;
        let mut image = image::DynamicImage::from_decoder(decoder).map_err(text)?;
        if width.max(height) > LARGEST_KEPT {
            image = image.thumbnail(LARGEST_KEPT, LARGEST_KEPT);
        }
        Ok(image.into_rgba8())
    }
}

/// The file's name for an image, or its URI, or nothing.
fn title(json: &Image) -> String {
    match (&json.name, &json.uri) {
        (Some(name), _) if !name.is_empty() => name.clone(),
        (_, Some(uri)) if !uri::is_data(uri) => uri.clone(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::gltf::fixture::{Fixture, png, read_with};
    use crate::asset::gltf::limits::{self, Budget};
    use crate::asset::gltf::uri::Folder;
    use serde_json::json;

    #[test]
    fn an_embedded_image_is_decoded_once_for_all_its_materials() {
        let mut file = Fixture::character();
        let material = file.json["materials"][0].clone();
        file.push("materials", material);
        let source = file.read().unwrap();
        assert_eq!(source.images.len(), 1);
        let image = &source.images[0];
        assert_eq!((image.width, image.height), (2, 1));
        assert_eq!(image.pixels, [255, 0, 0, 255, 0, 0, 0, 0]);
        assert_eq!(source.materials[1].base_color_image, Some(0));
    }

    #[test]
    fn images_beside_the_file_and_in_data_uris_of_all_formats_are_decoded() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("tex")).unwrap();
        let picture = image::DynamicImage::new_rgb8(3, 5);
        for (name, format) in [
            ("a.png", image::ImageFormat::Png),
            // What the bytes are counts, not the name.
            ("b.png", image::ImageFormat::Jpeg),
            ("c d.webp", image::ImageFormat::WebP),
        ] {
            picture.save_with_format(folder.path().join("tex").join(name), format).unwrap();
        }
        let mut file = Fixture::character();
        let read = |file: &Fixture| {
            let budget = Budget::new(limits::Limits::DEFAULT);
            crate::asset::gltf::import(&file.glb(), Folder::At(folder.path()), &budget).unwrap()
        };
        for uri in ["tex/a.png", "tex/b.png", "tex/c%20d.webp"] {
            file.json["images"][0] = json!({ "uri": uri });
            let source = read(&file);
            let image = source.images.first().unwrap_or_else(|| panic!("{:?}", source.warnings));
            assert_eq!((image.name.as_str(), image.width, image.height), (uri, 3, 5));
            assert_eq!(image.pixels[3], 255);
        }
        let data = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, png(4, 4));
        let uri = format!("data:image/png;base64,{data}");
        file.json["images"][0] = json!({ "uri": uri, "name": "n" });
        assert_eq!(read(&file).images[0].name, "n");
    }

    #[test]
    fn an_image_that_can_not_be_had_is_a_warning_and_the_factor_stays() {
        let check = |image: serde_json::Value, words: &[&str]| {
            let mut file = Fixture::character();
            file.json["images"][0] = image;
            let source = file.warned(words);
            assert!(source.images.is_empty());
            assert_eq!(source.materials[0].base_color_image, None);
            assert!(source.meshes[0].primitives[0].uvs.is_empty());
        };
        check(json!({}), &["image 0 has neither"]);
        check(json!({ "uri": "a.png", "name": "x" }), &["image 0 \"x\"", "a.png"]);
        check(json!({ "uri": "data:,no%20image" }), &["image 0 (a data URI)"]);
        check(json!({ "bufferView": 99 }), &["image 0: bufferView is 99"]);
        check(json!({ "bufferView": 0 }), &["image 0"]);
        let mut file = Fixture::character();
        file.json["textures"][0] =
            json!({ "extensions": { "KHR_texture_basisu": { "source": 0 } } });
        file.warned(&["texture 0 has no image in a format that is read"]);
    }

    #[test]
    fn a_texture_takes_webp_where_it_has_nothing_else() {
        let mut file = Fixture::character();
        file.json["textures"][0] = json!({ "extensions": { "EXT_texture_webp": { "source": 0 } } });
        assert_eq!(file.read().unwrap().images.len(), 1);
        file.json["textures"][0] = json!({ "source": 9 });
        file.refused(&["texture 0: source is 9"]);
    }

    #[test]
    fn every_truncation_of_an_image_is_survived() {
        for format in [image::ImageFormat::Png, image::ImageFormat::Jpeg, image::ImageFormat::WebP]
        {
            let mut bytes = Cursor::new(Vec::new());
            image::DynamicImage::new_rgb8(9, 7).write_to(&mut bytes, format).unwrap();
            let bytes = bytes.into_inner();
            for end in 0..bytes.len() {
                let mut file = Fixture::character();
                let view = file.view(&bytes[..end]);
                file.json["images"][0] = json!({ "bufferView": view });
                file.read().unwrap();
            }
        }
    }

    #[test]
    fn damaged_images_are_survived() {
        let rounds: u64 = std::env::var("THRONG_FUZZ_CASES").map_or(2000, |n| n.parse().unwrap());
        let pixel = |x, y| image::Rgb([(x * 37) as u8, (y * 91) as u8, (x * y) as u8]);
        let picture = image::DynamicImage::from(image::RgbImage::from_fn(21, 19, pixel));
        for format in [image::ImageFormat::Png, image::ImageFormat::Jpeg, image::ImageFormat::WebP]
        {
            let mut bytes = Cursor::new(Vec::new());
            picture.write_to(&mut bytes, format).unwrap();
            let bytes = bytes.into_inner();
            // A generator of known quality is not needed: only many different places and values.
            let mut state = 1u64;
            let mut next = |below: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
                (state >> 33) as usize % below
            };
            let root: Root = serde_json::from_value(json!({})).unwrap();
            for _ in 0..rounds {
                let mut bytes = bytes.clone();
                for _ in 0..=next(3) {
                    let at = next(bytes.len());
                    bytes[at] ^= 1 << next(8);
                }
                let budget = Budget::new(limits::Limits::DEFAULT);
                let buffers = Buffers::new(&root, Folder::Nowhere, None, &budget);
                let images = Images::new(&root, &buffers);
                if let Ok(image) = images.pixels(&bytes, &|| "image".into()) {
                    assert!(image.width() <= LARGEST_KEPT && image.height() <= LARGEST_KEPT);
                }
            }
        }
    }

    #[test]
    fn pixels_are_counted_before_they_are_made() {
        let mut file = Fixture::character();
        let view = file.view(&png(200, 100));
        file.json["images"][0] = json!({ "bufferView": view });
        let limits = limits::Limits { decoded_bytes: 50_000, ..limits::Limits::DEFAULT };
        let source = read_with(&file.glb(), limits).unwrap();
        assert!(source.images.is_empty(), "{:?}", source.warnings);
    }

    #[test]
    fn a_header_that_claims_more_pixels_than_its_bytes_hold_is_refused() {
        let mut bytes = png(16, 16);
        // IHDR holds the size at byte 16; its checksum follows 13 bytes later.
        bytes[16..24].copy_from_slice(&[0, 0, 64, 0, 0, 0, 64, 0]);
        let crc = crc32(&bytes[12..29]);
        bytes[29..33].copy_from_slice(&crc.to_be_bytes());
        let mut file = Fixture::character();
        let view = file.view(&bytes);
        file.json["images"][0] = json!({ "bufferView": view });
        file.warned(&["image 0", "can't hold 16384 x 16384"]);
    }

    /// The checksum of PNG's chunks (ISO 3309), bit by bit.
    fn crc32(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0u32, |crc, &byte| {
            (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 * (crc & 1)))
        })
    }

    #[test]
    fn an_image_larger_than_adapters_take_is_made_smaller() {
        let mut file = Fixture::character();
        let view = file.view(&png(LARGEST_KEPT * 2, 4));
        file.json["images"][0] = json!({ "bufferView": view });
        let image = &file.read().unwrap().images[0];
        assert_eq!((image.width, image.height), (LARGEST_KEPT, 2));
    }
}
