//! Base-colour images, decoded once each. What is wrong with an image never costs the character:
//! it is a warning, and the material's factor is drawn.

use super::buffers::Buffers;
use super::json::{Image, Root, Texture};
use super::uri;
use super::warnings::Warnings;
use crate::asset::character::ImageRgba8;
use crate::asset::error::{Fault, object};
use image::{ImageDecoder, ImageReader, Limits};
use std::io::Cursor;

/// The widest and highest image that is decoded, in pixels: what every GPU of the last decade
/// takes. Larger ones would fail later.
const LARGEST_SIDE: u32 = 16_384;

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
                 the colour factor is drawn",
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
                warnings.push(format!("{problem}; the colour factor is drawn instead"));
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
        let (width, height, pixels) =
            self.pixels(bytes, &name).map_err(|problem| match &json.uri {
                Some(uri) => format!("{} ({}): {problem}", name(), uri::describe(uri)),
                None => format!("{}: {problem}", name()),
            })?;
        Ok(ImageRgba8 { name: self.title(json), width, height, pixels })
    }

    /// Decodes by what the bytes are, not by what the file says they are.
    fn pixels(
        &self,
        bytes: &[u8],
        name: &dyn Fn() -> String,
    ) -> Result<(u32, u32, Vec<u8>), String> {
        if bytes.starts_with(b"version https://git-lfs") {
            return Err("is a Git LFS pointer, not the image".into());
        }
        let budget = self.buffers.budget();
        let text = |error: image::ImageError| error.to_string();
        let mut reader = ImageReader::new(Cursor::new(bytes))
            .with_guessed_format()
            .map_err(|e| e.to_string())?;
        let mut limits = Limits::default();
        limits.max_image_width = Some(LARGEST_SIDE);
        limits.max_image_height = Some(LARGEST_SIDE);
        limits.max_alloc = Some(budget.decoded_left());
        reader.limits(limits);
        let decoder = reader.into_decoder().map_err(text)?;
        let (width, height) = decoder.dimensions();
        let bytes = u128::from(width) * u128::from(height) * 4;
        budget.take_decoded(bytes, name).map_err(|fault| fault.to_string())?;
        let image = image::DynamicImage::from_decoder(decoder).map_err(text)?;
        Ok((width, height, image.into_rgba8().into_raw()))
    }

    /// The file's name for an image, or its URI, or nothing.
    fn title(&self, json: &Image) -> String {
        match (&json.name, &json.uri) {
            (Some(name), _) if !name.is_empty() => name.clone(),
            (_, Some(uri)) if !uri.get(..5).is_some_and(|s| s.eq_ignore_ascii_case("data:")) => {
                uri.clone()
            }
            _ => String::new(),
        }
    }
}
