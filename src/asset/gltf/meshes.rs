//! Meshes: the triangles of each primitive with the attributes that are drawn.

use super::accessor::{Accessors, Component};
use super::influences::{self, SkinUse};
use super::json::{Primitive, Root};
use super::json_types::Index;
use super::materials::Materials;
use super::topology;
use super::warnings::Warnings;
use crate::asset::error::{Fault, object};
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
        let uvs = match materials.base_color_uv(material) {
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
                "{} has {morph_targets} morph targets; its base shape is drawn",
                self.name
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
        let used_as = |semantic: &str| format!("{semantic} of {}", self.name);
        let count = |index, semantic: &str| {
            self.accessors.layout(index, format_args!("{}", used_as(semantic))).map(|l| l.count)
        };
        let vertices = count(self.position()?, "POSITION")?;
        for (semantic, &index) in &self.json.attributes {
            let found = count(index, semantic)?;
            if found != vertices {
                return Err(Fault::Count {
                    object: self.name.clone(),
                    kind: "values",
                    found: usize::try_from(found).unwrap_or(usize::MAX),
                    expected: usize::try_from(vertices).unwrap_or(usize::MAX),
                    why: format!(" for {semantic}, one for each position"),
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
        fits: impl FnOnce(super::accessor::Layout) -> bool,
    ) -> Result<Vec<[f32; N]>, Fault> {
        let used_as = format_args!("{semantic} of {}", self.name);
        self.accessors.expect(index, used_as, expected, |layout| {
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
        let fits = |layout: super::accessor::Layout| {
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
