//! Meshes: the triangles of each primitive with the attributes that are drawn.

use super::accessor::Accessors;
use super::influences::{self, SkinUse};
use super::json::{Primitive, Root};
use super::json_types::Index;
use super::layout::{Component, Layout};
use super::materials::Materials;
use super::topology;
use super::warnings::Warnings;
use crate::asset::error::{Fault, counted, object, word};
use crate::asset::source::{SourceMesh, SourcePrimitive};
use std::fmt::Arguments;

/// Reads all meshes.
///
/// # Errors
/// References out of range, attributes of unequal counts or of types that glTF forbids, indices
/// past the vertices, joints past the skin, numbers that are not finite.
pub(super) fn read(
    root: &Root,
    accessors: &Accessors,
    materials: &mut Materials,
    warnings: &mut Warnings,
) -> Result<Vec<SourceMesh>, Fault> {
    let skins = influences::smallest_skins(root);
    let mut meshes = Vec::with_capacity(root.meshes.len());
    for (at, json) in root.meshes.iter().enumerate() {
        let mesh = object("mesh", at, json.name.as_deref());
        let mut primitives = Vec::new();
        for (index, primitive) in json.primitives.iter().enumerate() {
            let reader = Reader {
                accessors,
                json: primitive,
                name: format!("{mesh} primitive {index}"),
                skin: skins[at],
            };
            if let Some(mut read) = reader.read(materials, warnings)? {
                read.index = index as u32;
                primitives.push(read);
            }
        }
        meshes.push(SourceMesh { name: json.name.clone().unwrap_or_default(), primitives });
    }
    Ok(meshes)
}

/// Reads one primitive.
struct Reader<'a, 'b> {
    accessors: &'a Accessors<'b>,
    json: &'a Primitive,
    name: String,
    skin: Option<SkinUse>,
}

impl Reader<'_, '_> {
    /// `None` when there is nothing to draw, with a warning.
    fn read(
        &self,
        materials: &mut Materials,
        warnings: &mut Warnings,
    ) -> Result<Option<SourcePrimitive>, Fault> {
        let mode = match topology::Mode::from_gl(self.json.mode.map_or(4, |mode| mode.0)) {
            Some(topology::Mode::NotTriangles(kind)) => {
                warnings.push(format!("{} is made of {kind}; only triangles are drawn", self.name));
                return Ok(None);
            }
            Some(topology::Mode::Triangles(mode)) => mode,
            None => {
                return Err(Fault::Unknown {
                    object: self.name.clone(),
                    property: "mode",
                    value: self.json.mode.unwrap_or_default().0.to_string(),
                    allowed: "0, 1, 2, 3, 4, 5, 6",
                });
            }
        };
        let Some(vertices) = self.vertex_count()? else {
            warnings.push(format!("{} has no vertices and is not drawn", self.name));
            return Ok(None);
        };
        if self.json.extensions.draco.is_some() && self.accessors.is_unbacked(self.position()?) {
            return Err(super::extensions::draco());
        }

        let positions = self.positions()?;
        let indices = self.indices(mode, vertices, warnings)?;
        let normals = self.normals()?;
        let colors = self.colors()?;
        let influences =
            influences::read(self.json, &self.name, self.skin, vertices, self.accessors, warnings)?;
        let material = materials.of_primitive(self.json.material, &self.name)?;
        let uvs = match materials.texture_uv(material) {
            None => Vec::new(),
            Some(texture) => match self.attribute(&format!("TEXCOORD_{}", texture.set)) {
                Some(index) => {
                    let set = texture.set;
                    let mut uvs =
                        self.texture_coordinates(index, format_args!("TEXCOORD_{set}"))?;
                    uvs.iter_mut().for_each(|uv| *uv = texture.transform.apply(*uv));
                    uvs
                }
                None => {
                    warnings.push(format!(
                        "{} has a texture, but no TEXCOORD_{} to place it with",
                        self.name, texture.set
                    ));
                    Vec::new()
                }
            },
        };
        let morph_targets = self.json.targets.len() as u32;
        if morph_targets > 0 {
            warnings.push(format!(
                "{} has {}; its base shape is drawn",
                self.name,
                counted(self.json.targets.len(), "morph target")
            ));
        }
        Ok(Some(SourcePrimitive {
            index: 0,
            positions,
            normals,
            uvs,
            colors,
            influences,
            indices,
            material,
            morph_targets,
        }))
    }

    fn attribute(&self, semantic: &str) -> Option<Index> {
        self.json.attributes.get(semantic).copied()
    }

    fn position(&self) -> Result<Index, Fault> {
        self.attribute("POSITION")
            .ok_or_else(|| Fault::Missing { object: self.name.clone(), property: "POSITION" })
    }

    /// How many vertices all attributes agree on; `None` when there are none.
    fn vertex_count(&self) -> Result<Option<usize>, Fault> {
        if self.attribute("POSITION").is_none() {
            return Ok(None);
        }
        let count = |index, semantic: &str| {
            let used_as = format_args!("{} of {}", word(semantic), self.name);
            self.accessors.layout(index, used_as).map(|layout| layout.count)
        };
        let vertices = count(self.position()?, "POSITION")?;
        for (semantic, &index) in &self.json.attributes {
            let found = count(index, semantic)?;
            if found != vertices {
                return Err(Fault::AttributeCount {
                    object: self.name.clone(),
                    semantic: word(semantic),
                    found,
                    vertices,
                });
            }
        }
        // A count that doesn't fit can't be backed by bytes and is refused when it is read.
        Ok(Some(usize::try_from(vertices).unwrap_or(usize::MAX)).filter(|&count| count > 0))
    }

    fn floats<const N: usize>(
        &self,
        index: Index,
        expected: &'static str,
        semantic: Arguments,
        fits: impl FnOnce(Layout) -> bool,
    ) -> Result<Vec<[f32; N]>, Fault> {
        let used_as = format_args!("{semantic} of {}", self.name);
        self.accessors.checked_layout(index, used_as, expected, |layout| {
            layout.components() == N && !layout.is_matrix() && fits(layout)
        })?;
        self.accessors.floats(index, expected, used_as)
    }

    /// KHR_mesh_quantization allows integers of eight and sixteen bits, normalized or not.
    fn positions(&self) -> Result<Vec<[f32; 3]>, Fault> {
        let expected = "VEC3 of f32 or of 8 or 16 bit integers";
        self.floats(self.position()?, expected, format_args!("POSITION"), |layout| {
            layout.component != Component::U32
        })
    }

    fn normals(&self) -> Result<Vec<[f32; 3]>, Fault> {
        let Some(index) = self.attribute("NORMAL") else {
            return Ok(Vec::new());
        };
        let expected = "VEC3 of f32 or of normalized i8 or i16";
        self.floats(index, expected, format_args!("NORMAL"), |layout| {
            matches!(layout.component, Component::F32)
                || layout.normalized && matches!(layout.component, Component::I8 | Component::I16)
        })
    }

    fn texture_coordinates(
        &self,
        index: Index,
        semantic: Arguments,
    ) -> Result<Vec<[f32; 2]>, Fault> {
        let expected = "VEC2 of f32 or of 8 or 16 bit integers";
        self.floats(index, expected, semantic, |layout| layout.component != Component::U32)
    }

    /// Linear RGBA; colours without alpha are opaque.
    fn colors(&self) -> Result<Vec<[f32; 4]>, Fault> {
        let Some(index) = self.attribute("COLOR_0") else {
            return Ok(Vec::new());
        };
        let semantic = format_args!("COLOR_0");
        let expected = "VEC3 or VEC4 of f32 or of normalized u8 or u16";
        let fits = |layout: Layout| {
            matches!(layout.component, Component::F32)
                || layout.normalized && matches!(layout.component, Component::U8 | Component::U16)
        };
        let used_as = format_args!("COLOR_0 of {}", self.name);
        if self.accessors.layout(index, used_as)?.components() == 3 {
            let colors = self.floats::<3>(index, expected, semantic, fits)?;
            return Ok(colors.into_iter().map(|[r, g, b]| [r, g, b, 1.0]).collect());
        }
        self.floats::<4>(index, expected, semantic, fits)
    }

    fn indices(
        &self,
        mode: topology::Triangles,
        vertices: usize,
        warnings: &mut Warnings,
    ) -> Result<Vec<u32>, Fault> {
        let list = match self.json.indices {
            Some(index) => {
                let used_as = format_args!("indices of {}", self.name);
                let expected = "SCALAR of u8, u16 or u32";
                let list = self.accessors.integers::<1>(index, expected, used_as)?.into_flattened();
                if let Some(position) = list.iter().position(|&index| index as usize >= vertices) {
                    return Err(Fault::VertexIndex {
                        object: self.name.clone(),
                        position,
                        value: list[position],
                        vertices,
                    });
                }
                list
            }
            // Positions were read, so there are that many, and u32 can number them.
            None => (0..vertices as u32).collect(),
        };
        let corners = list.len();
        let (triangles, unused) = topology::unroll(mode, list);
        if unused > 0 {
            warnings.push(format!(
                "{}: {unused} of {corners} corners make no whole triangle and are not drawn",
                self.name
            ));
        }
        Ok(triangles)
    }
}

#[cfg(test)]
mod tests {
    use crate::asset::gltf::fixture::{F32, Fixture, U8, U16};
    use crate::asset::source::SourcePrimitive;
    use serde_json::json;

    fn first(file: &Fixture) -> SourcePrimitive {
        file.read().unwrap().meshes[0].primitives[0].clone()
    }

    #[test]
    fn all_attributes_are_read_and_decoded() {
        let quad = first(&Fixture::character());
        assert_eq!(quad.positions[3], [1.0, 1.0, 0.0]);
        assert_eq!(quad.normals[0], [0.0, 0.0, 1.0]);
        assert_eq!(quad.uvs[1], [1.0, 1.0]);
        assert_eq!(quad.colors[0], [1.0, 0.0, 128.0 / 255.0, 1.0]);
        assert_eq!(quad.influences[2], [(0, 0.75), (1, 0.25)]);
        assert_eq!(quad.indices, [0, 1, 2, 2, 1, 3]);
    }

    #[test]
    fn colours_come_with_and_without_alpha_in_all_formats() {
        let colors = |file: &mut Fixture, accessor: usize, normalized: bool| {
            file.json["accessors"][accessor]["normalized"] = json!(normalized);
            file.primitive()["attributes"]["COLOR_0"] = json!(accessor);
            file.read().map(|source| source.meshes[0].primitives[0].colors[0])
        };
        let mut file = Fixture::character();
        let rgb = file.accessor(&[0.5f32; 12], F32, "VEC3");
        assert_eq!(colors(&mut file, rgb, false).unwrap(), [0.5, 0.5, 0.5, 1.0]);
        let rgba = file.accessor(&[0.25f32; 16], F32, "VEC4");
        assert_eq!(colors(&mut file, rgba, false).unwrap(), [0.25; 4]);
        let shorts = file.accessor(&[65535u16, 0, 0].repeat(4), U16, "VEC3");
        assert_eq!(colors(&mut file, shorts, true).unwrap(), [1.0, 0.0, 0.0, 1.0]);
        assert!(colors(&mut file, shorts, false).unwrap_err().contains("COLOR_0"));
        let bytes = file.accessor(&[0u8, 255, 0].repeat(4), U8, "VEC3");
        assert_eq!(colors(&mut file, bytes, true).unwrap(), [0.0, 1.0, 0.0, 1.0]);
        let pairs = file.accessor(&[0.0f32; 8], F32, "VEC2");
        assert!(colors(&mut file, pairs, false).unwrap_err().contains("VEC2 of f32"));
    }

    #[test]
    fn quantized_positions_are_taken_as_their_numbers() {
        let mut file = Fixture::character();
        let quantized = file.accessor(&[0i16, 16384, -32768].repeat(4), 5122, "VEC3");
        file.primitive()["attributes"]["POSITION"] = json!(quantized);
        assert_eq!(first(&file).positions[0], [0.0, 16384.0, -32768.0]);
        file.json["accessors"][quantized]["normalized"] = json!(true);
        assert_eq!(first(&file).positions[0], [0.0, 16384.0 / 32767.0, -1.0]);
    }

    #[test]
    fn strips_fans_and_missing_indices_become_lists() {
        let mut file = Fixture::character();
        file.primitive().as_object_mut().unwrap().remove("indices");
        file.primitive()["mode"] = json!(5);
        assert_eq!(first(&file).indices, [0, 1, 2, 1, 3, 2]);
        file.primitive()["mode"] = json!(6);
        assert_eq!(first(&file).indices, [1, 2, 0, 2, 3, 0]);
        file.primitive()["mode"] = json!(4);
        file.warned(&["1 of 4 corners make no whole triangle"]);
        assert_eq!(first(&file).indices, [0, 1, 2]);
    }

    #[test]
    fn points_and_lines_are_left_out_and_unknown_modes_refused() {
        let mut file = Fixture::character();
        let mut points = file.primitive().clone();
        let triangles = points.clone();
        points["mode"] = json!(0);
        file.json["meshes"][0]["primitives"] = json!([points, triangles]);
        let source = file.warned(&["primitive 0 is made of points"]);
        let kept: Vec<_> = source.meshes[0].primitives.iter().map(|p| p.index).collect();
        assert_eq!(kept, [1]);
        file.primitive()["mode"] = json!(7);
        file.refused(&["primitive 0: mode is 7"]);
    }

    #[test]
    fn indices_past_the_vertices_are_refused_and_their_format_checked() {
        let mut file = Fixture::character();
        let past = file.accessor(&[0u8, 1, 4], U8, "SCALAR");
        file.primitive()["indices"] = json!(past);
        file.refused(&["index 2 is 4, but there are 4 vertices"]);
        let floats = file.accessor(&[0.0f32; 3], F32, "SCALAR");
        file.primitive()["indices"] = json!(floats);
        file.refused(&["indices of mesh 0", "SCALAR of f32"]);
        file.primitive()["indices"] = json!(1000);
        file.refused(&["accessor is 1000"]);
    }

    #[test]
    fn attributes_that_are_not_equally_many_are_refused_even_when_unread() {
        let mut file = Fixture::character();
        let three = file.accessor(&[0.0f32; 12], F32, "VEC4");
        file.primitive()["attributes"]["_MINE\n"] = json!(three);
        file.refused(&["\"_MINE\\n\" has 3 elements, but POSITION has 4"]);
    }

    #[test]
    fn a_primitive_without_vertices_is_left_out() {
        let mut file = Fixture::character();
        file.primitive()["attributes"] = json!({});
        assert!(file.warned(&["no vertices"]).meshes[0].primitives.is_empty());
        for accessor in [0, 1, 2, 3, 4, 6] {
            file.json["accessors"][accessor]["count"] = json!(0);
        }
        file.primitive()["attributes"] = json!({ "POSITION": 0, "NORMAL": 1 });
        file.warned(&["no vertices"]);
    }

    #[test]
    fn morph_targets_are_counted_and_told() {
        let mut file = Fixture::character();
        file.primitive()["targets"] = json!([{ "POSITION": 0 }, { "POSITION": 999 }]);
        let source = file.warned(&["2 morph targets"]);
        assert_eq!(source.meshes[0].primitives[0].morph_targets, 2);
    }

    #[test]
    fn draco_without_a_fallback_is_refused_even_when_only_used() {
        let mut file = Fixture::character();
        file.primitive()["extensions"] = json!({ "KHR_draco_mesh_compression": {} });
        assert!(file.read().is_ok());
        file.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
        file.refused(&["KHR_draco_mesh_compression"]);
    }

    #[test]
    fn one_accessor_read_for_a_thousand_primitives_runs_into_the_limit() {
        let mut file = Fixture::character();
        let primitive = file.primitive().clone();
        file.json["meshes"][0]["primitives"] = json!(vec![primitive; 1000]);
        let limits = super::super::limits::Limits {
            decoded_bytes: 100_000,
            ..super::super::limits::Limits::DEFAULT
        };
        let message = crate::asset::gltf::fixture::read_with(&file.glb(), limits).unwrap_err();
        assert!(message.contains("limit is 100000"), "{message}");
    }
}
