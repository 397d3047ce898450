//! Small files built in code, for tests.

use super::limits::{Budget, Limits};
use super::uri::Folder;
use crate::asset::source::Source;
use serde_json::{Value, json};

pub(super) const U8: u32 = 5121;
pub(super) const U16: u32 = 5123;
pub(super) const F32: u32 = 5126;

const JSON_CHUNK: u32 = 0x4E4F_534A;
const BIN_CHUNK: u32 = 0x004E_4942;

/// A chunk of a binary container, without padding.
pub(super) fn chunk(kind: u32, data: &[u8]) -> Vec<u8> {
    let mut out = (data.len() as u32).to_le_bytes().to_vec();
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(data);
    out
}

/// A binary container of version 2.
pub(super) fn glb(chunks: &[Vec<u8>]) -> Vec<u8> {
    let body = chunks.concat();
    let mut out = b"glTF".to_vec();
    out.extend_from_slice(&2u32.to_le_bytes());
    out.extend_from_slice(&(12 + body.len() as u32).to_le_bytes());
    out.extend_from_slice(&body);
    out
}

/// A document and its first buffer.
#[derive(Clone)]
pub(super) struct Fixture {
    pub json: Value,
    pub bin: Vec<u8>,
}

impl Fixture {
    /// A document with nothing in it.
    pub(super) fn empty() -> Self {
        let json = json!({
            "asset": { "version": "2.0" },
            "buffers": [], "bufferViews": [], "accessors": [], "nodes": [], "meshes": [],
            "skins": [], "animations": [], "materials": [], "textures": [], "images": [],
        });
        Self { json, bin: Vec::new() }
    }

    /// Two joints that carry a textured quad of four vertices, and an animation with one channel
    /// of each interpolation. Node 0 is the quad's, nodes 1 and 2 are the joints.
    pub(super) fn character() -> Self {
        let mut file = Self::empty();
        let corners = [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
        let position = file.accessor(corners.as_flattened(), F32, "VEC3");
        let normal = file.accessor(&[0.0f32, 0.0, 1.0].repeat(4), F32, "VEC3");
        let uv = file.accessor(&[0.0f32, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0], F32, "VEC2");
        let joints = file.accessor(&[0u8, 1, 0, 0].repeat(4), U8, "VEC4");
        let weights = file.accessor(&[0.75f32, 0.25, 0.0, 0.0].repeat(4), F32, "VEC4");
        let indices = file.accessor(&[0u16, 1, 2, 2, 1, 3], U16, "SCALAR");
        let color = file.accessor(&[255u8, 0, 128, 255].repeat(4), U8, "VEC4");
        file.json["accessors"][color]["normalized"] = json!(true);
        let mut bind = glam::Mat4::IDENTITY.to_cols_array().to_vec();
        bind.extend(glam::Mat4::from_translation(glam::Vec3::NEG_Y).to_cols_array());
        let binds = file.accessor(&bind, F32, "MAT4");
        let times = file.accessor(&[0.0f32, 1.0], F32, "SCALAR");
        let rotations = file.accessor(&[0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0], F32, "VEC4");
        let scales = file.accessor(&[1.0f32; 6], F32, "VEC3");
        let curve = file.accessor(&[0.5f32; 18], F32, "VEC3");
        let image = file.view(&png(2, 1));
        file.json["images"] = json!([{ "bufferView": image, "mimeType": "image/png" }]);
        file.json["textures"] = json!([{ "source": 0 }]);
        file.json["materials"] =
            json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }]);
        file.json["meshes"] = json!([{ "name": "quad", "primitives": [{
            "attributes": {
                "POSITION": position, "NORMAL": normal, "TEXCOORD_0": uv, "COLOR_0": color,
                "JOINTS_0": joints, "WEIGHTS_0": weights,
            },
            "indices": indices, "material": 0,
        }] }]);
        file.json["nodes"] = json!([
            { "name": "body", "mesh": 0, "skin": 0 },
            { "name": "hip", "children": [2] },
            { "name": "head", "translation": [0, 1, 0] },
        ]);
        file.json["skins"] = json!([{ "joints": [1, 2], "inverseBindMatrices": binds }]);
        file.json["animations"] = json!([{
            "name": "wave",
            "samplers": [
                { "input": times, "output": rotations },
                { "input": times, "output": scales, "interpolation": "STEP" },
                { "input": times, "output": curve, "interpolation": "CUBICSPLINE" },
            ],
            "channels": [
                { "sampler": 0, "target": { "node": 1, "path": "rotation" } },
                { "sampler": 1, "target": { "node": 2, "path": "scale" } },
                { "sampler": 2, "target": { "node": 2, "path": "translation" } },
            ],
        }]);
        file.json["scenes"] = json!([{ "nodes": [0, 1] }]);
        file.json["scene"] = json!(0);
        file
    }

    /// Adds bytes to the buffer, and a view of them.
    pub(super) fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0xEE);
        let view = json!({ "buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len() });
        self.bin.extend_from_slice(bytes);
        self.json["buffers"] = json!([{ "byteLength": self.bin.len() }]);
        self.push("bufferViews", view)
    }

    /// Adds numbers to the buffer, and an accessor of them.
    pub(super) fn accessor<T: bytemuck::NoUninit>(
        &mut self,
        numbers: &[T],
        component: u32,
        kind: &str,
    ) -> usize {
        let components = match kind {
            "SCALAR" => 1,
            "MAT4" => 16,
            vector => vector[3..].parse().unwrap(),
        };
        let view = self.view(bytemuck::cast_slice(numbers));
        let accessor = json!({
            "bufferView": view, "componentType": component, "type": kind,
            "count": numbers.len() / components,
        });
        self.push("accessors", accessor)
    }

    /// Adds an object to one of the document's lists and gives its place.
    pub(super) fn push(&mut self, list: &str, object: Value) -> usize {
        let list = self.json[list].as_array_mut().unwrap();
        list.push(object);
        list.len() - 1
    }

    /// The first primitive of the first mesh.
    pub(super) fn primitive(&mut self) -> &mut Value {
        &mut self.json["meshes"][0]["primitives"][0]
    }

    pub(super) fn glb(&self) -> Vec<u8> {
        let json = serde_json::to_vec(&self.json).unwrap();
        glb(&[chunk(JSON_CHUNK, &json), chunk(BIN_CHUNK, &self.bin)])
    }

    /// The source, or the fault's message.
    pub(super) fn read(&self) -> Result<Source, String> {
        read_with(&self.glb(), Limits::DEFAULT)
    }

    /// The fault's message, which has to hold the words.
    #[track_caller]
    pub(super) fn refused(&self, words: &[&str]) -> String {
        let message = self.read().unwrap_err();
        for word in words {
            assert!(message.contains(word), "{word:?} is not in {message:?}");
        }
        message
    }

    /// The source, and that a warning holds the words.
    #[track_caller]
    pub(super) fn warned(&self, words: &[&str]) -> Source {
        let source = self.read().unwrap();
        let holds = |warning: &&String| words.iter().all(|word| warning.contains(word));
        let found = source.warnings.iter().find(holds);
        assert!(found.is_some(), "{words:?} is not in {:?}", source.warnings);
        source
    }
}

/// Imports bytes that have nothing beside them.
pub(super) fn read_with(bytes: &[u8], limits: Limits) -> Result<Source, String> {
    super::import(bytes, Folder::Nowhere, &Budget::new(limits)).map_err(|fault| fault.to_string())
}

/// An image with a red first pixel; the rest is transparent black.
pub(super) fn png(width: u32, height: u32) -> Vec<u8> {
    let mut image = image::RgbaImage::new(width, height);
    image.put_pixel(0, 0, image::Rgba([255, 0, 0, 255]));
    let mut bytes = std::io::Cursor::new(Vec::new());
    image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}
