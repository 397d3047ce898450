//! Materials, and where their textures lie on a mesh.

use super::images::Images;
use super::json::{Material as JsonMaterial, Root, Texture, TextureInfo, TextureTransform};
use super::json_types::Index;
use super::nodes::finite;
use super::warnings::Warnings;
use crate::asset::character::{AlphaMode, ImageRgba8, Material, Sampler, Wrap};
use crate::asset::error::{Fault, object, quoted};

/// A file's materials and the images they need.
pub(super) struct Materials {
    list: Vec<Material>,
    uvs: Vec<Option<TextureUv>>,
    /// How many the file has; a default one may follow.
    in_file: usize,
    images: Vec<ImageRgba8>,
}

/// Which texture coordinates a texture takes, and what is done to them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TextureUv {
    /// n of TEXCOORD_n.
    pub set: u64,
    pub transform: UvTransform,
}

/// KHR_texture_transform: scale, then rotate, then move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UvTransform {
    offset: [f32; 2],
    /// Radians.
    rotation: f32,
    scale: [f32; 2],
}

impl UvTransform {
    const IDENTITY: Self = Self { offset: [0.0; 2], rotation: 0.0, scale: [1.0; 2] };

    /// v points down, so a rotation that is counter-clockwise to the eye takes u towards -v.
    pub(super) fn apply(self, [u, v]: [f32; 2]) -> [f32; 2] {
        if self == Self::IDENTITY {
            return [u, v];
        }
        let (sin, cos) = self.rotation.sin_cos();
        let (u, v) = (u * self.scale[0], v * self.scale[1]);
        [cos * u + sin * v + self.offset[0], cos * v - sin * u + self.offset[1]]
    }
}

impl Materials {
    /// Reads all materials and decodes the images of their base colour, metal and roughness.
    ///
    /// # Errors
    /// References out of range, numbers that are not finite. An image that can't be had is only
    /// a warning.
    pub(super) fn read(
        root: &Root,
        mut images: Images,
        warnings: &mut Warnings,
    ) -> Result<Self, Fault> {
        let mut list = Vec::with_capacity(root.materials.len());
        let mut uvs = Vec::with_capacity(root.materials.len());
        for (at, json) in root.materials.iter().enumerate() {
            let user = || object("material", at, json.name.as_deref());
            let (material, uv) = read_one(root, json, &user, &mut images, warnings)?;
            list.push(material);
            uvs.push(uv);
        }
        let in_file = list.len();
        Ok(Self { list, uvs, in_file, images: images.into_decoded() })
    }

    /// The material of a primitive: its own, or the default one, which is made when first needed.
    pub(super) fn of_primitive(
        &mut self,
        material: Option<Index>,
        primitive: &str,
    ) -> Result<u32, Fault> {
        if let Some(index) = material {
            let in_file = &self.list[..self.in_file];
            let (at, _) = index.of(in_file, "materials", &|| primitive.to_owned(), "material")?;
            return Ok(at as u32);
        }
        if self.list.len() == self.in_file {
            self.list.push(default_material());
            self.uvs.push(None);
        }
        Ok(self.in_file as u32)
    }

    /// `None` when the material has no image.
    pub(super) fn texture_uv(&self, material: u32) -> Option<TextureUv> {
        self.uvs.get(material as usize).copied().flatten()
    }

    pub(super) fn into_parts(self) -> (Vec<Material>, Vec<ImageRgba8>) {
        (self.list, self.images)
    }
}

/// What glTF gives a primitive without a material (§3.7.2.1).
fn default_material() -> Material {
    Material {
        name: String::new(),
        base_color: [1.0; 4],
        base_color_image: None,
        metallic_roughness_image: None,
        sampler: Sampler::default(),
        alpha: AlphaMode::Opaque,
        double_sided: false,
        unlit: false,
        roughness: 1.0,
        metallic: 1.0,
        emissive: [0.0; 3],
    }
}

fn read_one(
    root: &Root,
    json: &JsonMaterial,
    user: &dyn Fn() -> String,
    images: &mut Images,
    warnings: &mut Warnings,
) -> Result<(Material, Option<TextureUv>), Fault> {
    let mut material = default_material();
    material.name = json.name.clone().unwrap_or_default();
    material.double_sided = json.double_sided;
    material.unlit = json.extensions.unlit.is_some();
    material.alpha = alpha(json, user, warnings)?;
    material.emissive = emissive(json, user, warnings)?;

    let specular_glossiness = json.extensions.specular_glossiness.as_ref();
    let metallic_roughness = json.pbr_metallic_roughness.as_ref();
    let (factor, texture, surface) = match (specular_glossiness, metallic_roughness) {
        (Some(json), _) => {
            let glossiness = json.glossiness_factor.unwrap_or(1.0);
            finite(&[glossiness], user, "glossinessFactor")?;
            material.metallic = 0.0;
            material.roughness = (1.0 - glossiness).clamp(0.0, 1.0);
            (json.diffuse_factor, json.diffuse_texture.as_ref(), None)
        }
        (None, Some(json)) => {
            let (metallic, roughness) =
                (json.metallic_factor.unwrap_or(1.0), json.roughness_factor.unwrap_or(1.0));
            finite(&[metallic], user, "metallicFactor")?;
            finite(&[roughness], user, "roughnessFactor")?;
            material.roughness = roughness.clamp(0.0, 1.0);
            material.metallic = metallic.clamp(0.0, 1.0);
            let surface = json.metallic_roughness_texture.as_ref();
            (json.base_color_factor, json.base_color_texture.as_ref(), surface)
        }
        (None, None) => (None, None, None),
    };
    if let Some(factor) = factor {
        finite(&factor, user, "base colour factor")?;
        material.base_color = factor;
    }
    let mut uv = None;
    if let Some(info) = texture {
        let color = Placed::read(root, info, "base colour texture", user)?;
        material.sampler = color.sampler;
        material.base_color_image = color.image(images, user, warnings)?;
        uv = material.base_color_image.map(|_| color.uv);
    }
    if let Some(info) = surface {
        let surface = Placed::read(root, info, "metallic-roughness texture", user)?;
        // One set of coordinates and one sampler serve both.
        if uv.is_none_or(|uv| uv == surface.uv && material.sampler == surface.sampler) {
            material.metallic_roughness_image = surface.image(images, user, warnings)?;
        } else {
            warnings.push(format!(
                "{}: its metallic-roughness texture lies elsewhere than its colour and is not drawn",
                user()
            ));
        }
        if material.metallic_roughness_image.is_some() {
            (uv, material.sampler) = (Some(surface.uv), surface.sampler);
        } else {
            // The factor only scales the texture, and most of a character is no metal: without
            // it, skin and cloth would be mirrors.
            material.metallic = 0.0;
        }
    }
    Ok((material, uv))
}

/// A texture as a material places it.
struct Placed<'a> {
    at: usize,
    texture: &'a Texture,
    uv: TextureUv,
    sampler: Sampler,
}

impl<'a> Placed<'a> {
    fn read(
        root: &'a Root,
        info: &TextureInfo,
        role: &'static str,
        user: &dyn Fn() -> String,
    ) -> Result<Self, Fault> {
        let (at, texture) = info.index.of(&root.textures, "textures", user, role)?;
        let sampler = match texture.sampler {
            None => Sampler::default(),
            Some(sampler) => {
                let texture_name = || object("texture", at, None);
                let (at, json) =
                    sampler.of(&root.samplers, "samplers", &texture_name, "sampler")?;
                let name = || object("sampler", at, None);
                Sampler {
                    wrap_u: wrap(json.wrap_s.map(|wrap| wrap.0), "wrapS", &name)?,
                    wrap_v: wrap(json.wrap_t.map(|wrap| wrap.0), "wrapT", &name)?,
                    nearest: json.mag_filter.is_some_and(|filter| filter.0 == NEAREST),
                }
            }
        };
        let uv = TextureUv { set: info.tex_coord.0, transform: UvTransform::IDENTITY };
        let uv = match &info.extensions.transform {
            Some(transform) => transformed(uv, transform, user)?,
            None => uv,
        };
        Ok(Self { at, texture, uv, sampler })
    }

    /// The place of its image among the decoded ones; `None` with a warning when it can't be had.
    fn image(
        &self,
        images: &mut Images,
        user: &dyn Fn() -> String,
        warnings: &mut Warnings,
    ) -> Result<Option<u32>, Fault> {
        images.of_texture(self.texture, &|| object("texture", self.at, None), user, warnings)
    }
}

fn transformed(
    uv: TextureUv,
    json: &TextureTransform,
    user: &dyn Fn() -> String,
) -> Result<TextureUv, Fault> {
    let transform = UvTransform {
        offset: json.offset.unwrap_or([0.0; 2]),
        rotation: json.rotation.unwrap_or(0.0),
        scale: json.scale.unwrap_or([1.0; 2]),
    };
    finite(&transform.offset, user, "texture offset")?;
    finite(&[transform.rotation], user, "texture rotation")?;
    finite(&transform.scale, user, "texture scale")?;
    Ok(TextureUv { set: json.tex_coord.map_or(uv.set, |set| set.0), transform })
}

const NEAREST: u64 = 9728;

fn wrap(
    value: Option<u64>,
    property: &'static str,
    object: &dyn Fn() -> String,
) -> Result<Wrap, Fault> {
    Ok(match value {
        None | Some(10497) => Wrap::Repeat,
        Some(33071) => Wrap::ClampToEdge,
        Some(33648) => Wrap::MirroredRepeat,
        Some(other) => {
            return Err(Fault::Unknown {
                object: object(),
                property,
                value: other.to_string(),
                allowed: "10497, 33071, 33648",
            });
        }
    })
}

fn alpha(
    json: &JsonMaterial,
    user: &dyn Fn() -> String,
    warnings: &mut Warnings,
) -> Result<AlphaMode, Fault> {
    Ok(match json.alpha_mode.as_deref() {
        None | Some("OPAQUE") => AlphaMode::Opaque,
        Some("BLEND") => AlphaMode::Blend,
        Some("MASK") => {
            let cutoff = json.alpha_cutoff.unwrap_or(0.5);
            finite(&[cutoff], user, "alphaCutoff")?;
            AlphaMode::Mask { cutoff: cutoff.clamp(0.0, 1.0) }
        }
        Some(other) => {
            let other = quoted(other);
            warnings.push(format!("{}: alphaMode {other} was taken for OPAQUE", user()));
            AlphaMode::Opaque
        }
    })
}

fn emissive(
    json: &JsonMaterial,
    user: &dyn Fn() -> String,
    warnings: &mut Warnings,
) -> Result<[f32; 3], Fault> {
    let Some(factor) = json.emissive_factor else {
        return Ok([0.0; 3]);
    };
    finite(&factor, user, "emissiveFactor")?;
    let strength = json.extensions.emissive_strength.as_ref();
    let strength = strength.and_then(|json| json.emissive_strength).unwrap_or(1.0);
    finite(&[strength], user, "emissiveStrength")?;
    if json.emissive_texture.is_some() && factor != [0.0; 3] {
        // Without the texture, which is mostly black, the factor would light up the whole body.
        warnings.push(format!("{}: its emissive texture is not drawn", user()));
        return Ok([0.0; 3]);
    }
    let emissive = factor.map(|f| f * strength);
    finite(&emissive, user, "emissiveFactor times emissiveStrength")?;
    Ok(emissive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::gltf::fixture::Fixture;
    use serde_json::{Value, json};

    fn material(json: Value) -> Result<Material, String> {
        let mut file = Fixture::character();
        file.json["materials"][0] = json;
        file.read().map(|source| source.materials[0].clone())
    }

    #[test]
    fn factors_have_gltfs_defaults() {
        assert_eq!(material(json!({})).unwrap(), default_material());
        let read = material(json!({
            "name": "skin", "doubleSided": true, "alphaMode": "MASK", "alphaCutoff": 0.25,
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.1, 0.2, 0.3, 0.4], "metallicFactor": 0.5,
                "roughnessFactor": 0.75,
            },
            "emissiveFactor": [1, 0.5, 0],
            "extensions": {
                "KHR_materials_unlit": {},
                "KHR_materials_emissive_strength": { "emissiveStrength": 2 },
            },
        }))
        .unwrap();
        let want = Material {
            name: "skin".into(),
            base_color: [0.1, 0.2, 0.3, 0.4],
            double_sided: true,
            alpha: AlphaMode::Mask { cutoff: 0.25 },
            unlit: true,
            metallic: 0.5,
            roughness: 0.75,
            emissive: [2.0, 1.0, 0.0],
            ..default_material()
        };
        assert_eq!(read, want);
    }

    #[test]
    fn the_archived_specular_glossiness_gives_its_colour() {
        let read = material(json!({ "extensions": { "KHR_materials_pbrSpecularGlossiness": {
            "diffuseFactor": [1, 0, 0, 1], "glossinessFactor": 0.25,
            "diffuseTexture": { "index": 0 },
        } } }))
        .unwrap();
        assert_eq!(
            (read.base_color, read.metallic, read.roughness),
            ([1.0, 0.0, 0.0, 1.0], 0.0, 0.75)
        );
        assert_eq!(read.base_color_image, Some(0));
    }

    #[test]
    fn a_metallic_roughness_texture_is_read_where_it_lies_on_the_colours() {
        let mut file = Fixture::character();
        let material = "/materials/0/pbrMetallicRoughness";
        let with = |file: &mut Fixture, info: Value| {
            let json = file.json.pointer_mut(material).unwrap();
            json["metallicRoughnessTexture"] = info;
        };
        with(&mut file, json!({ "index": 0 }));
        let read = file.read().unwrap();
        let m = &read.materials[0];
        assert_eq!((m.base_color_image, m.metallic_roughness_image), (Some(0), Some(0)));
        assert_eq!((m.metallic, m.roughness, read.images.len()), (1.0, 1.0, 1));

        with(&mut file, json!({ "index": 0, "texCoord": 1 }));
        let read = file.warned(&["material 0", "metallic-roughness texture lies elsewhere"]);
        let m = &read.materials[0];
        assert_eq!((m.metallic_roughness_image, m.metallic), (None, 0.0), "no mirror");

        with(&mut file, json!({ "index": 7 }));
        file.refused(&["material 0", "metallic-roughness texture is 7"]);

        // Without a colour texture the coordinates are its own.
        with(&mut file, json!({ "index": 0 }));
        let json = file.json.pointer_mut(material).unwrap();
        json.as_object_mut().unwrap().remove("baseColorTexture");
        let read = file.read().unwrap();
        assert_eq!(read.materials[0].metallic_roughness_image, Some(0));
        assert_eq!(read.meshes[0].primitives[0].uvs.len(), 4);
    }

    #[test]
    fn samplers_are_read_and_unknown_wraps_refused() {
        let mut file = Fixture::character();
        file.json["textures"][0]["sampler"] = json!(0);
        file.json["samplers"] = json!([{ "magFilter": 9728, "wrapS": 33071, "wrapT": 33648 }]);
        let sampler = file.read().unwrap().materials[0].sampler;
        let want =
            Sampler { wrap_u: Wrap::ClampToEdge, wrap_v: Wrap::MirroredRepeat, nearest: true };
        assert_eq!(sampler, want);
        file.json["samplers"][0]["wrapT"] = json!(1);
        file.refused(&["sampler 0: wrapT is 1"]);
        file.json["textures"][0]["sampler"] = json!(4);
        file.refused(&["texture 0: sampler is 4"]);
    }

    #[test]
    fn a_default_material_is_added_once_when_needed() {
        let mut file = Fixture::character();
        let mut bare = file.primitive().clone();
        bare.as_object_mut().unwrap().remove("material");
        file.json["meshes"][0]["primitives"] =
            json!([file.primitive().clone(), bare.clone(), bare]);
        let source = file.read().unwrap();
        let materials: Vec<_> = source.meshes[0].primitives.iter().map(|p| p.material).collect();
        assert_eq!(materials, [0, 1, 1]);
        assert_eq!(source.materials.len(), 2);
        assert!(source.meshes[0].primitives[1].uvs.is_empty());
        file.primitive()["material"] = json!(1);
        file.refused(&["primitive 0: material is 1, but the file's list of materials has 1"]);
    }

    #[test]
    fn texture_transforms_are_baked_and_may_name_another_set() {
        let mut file = Fixture::character();
        let second = file.accessor(&[1.0f32, 0.0].repeat(4), 5126, "VEC2");
        file.primitive()["attributes"]["TEXCOORD_3"] = json!(second);
        let texture = &mut file.json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"];
        texture["extensions"] = json!({ "KHR_texture_transform": {
            "offset": [10, 20], "rotation": std::f32::consts::FRAC_PI_2, "scale": [2, 3],
            "texCoord": 3,
        } });
        let [u, v] = file.read().unwrap().meshes[0].primitives[0].uvs[0];
        // (1, 0) scaled is (2, 0); a quarter turn counter-clockwise takes +u to -v, which is up.
        assert!((u - 10.0).abs() < 1e-6 && (v - 18.0).abs() < 1e-6, "{u} {v}");
    }

    #[test]
    fn a_texture_without_coordinates_is_told() {
        let mut file = Fixture::character();
        file.primitive()["attributes"].as_object_mut().unwrap().remove("TEXCOORD_0");
        let source = file.warned(&["primitive 0 has a texture, but no TEXCOORD_0"]);
        assert!(source.meshes[0].primitives[0].uvs.is_empty());
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused_with_their_property() {
        for (json, property) in [
            (json!({ "alphaMode": "MASK", "alphaCutoff": 1e39 }), "alphaCutoff"),
            (json!({ "emissiveFactor": [0, 1e39, 0] }), "emissiveFactor"),
            (json!({ "pbrMetallicRoughness": { "metallicFactor": 1e39 } }), "metallicFactor"),
            (json!({ "pbrMetallicRoughness": { "baseColorFactor": [0, 0, 0, -1e39] } }), "colour"),
        ] {
            let message = material(json).unwrap_err();
            assert!(message.contains("material 0") && message.contains(property), "{message}");
            assert!(message.contains("inf"), "{message}");
        }
    }

    #[test]
    fn an_emissive_texture_that_is_not_read_does_not_glow() {
        let read = material(json!({ "emissiveFactor": [1, 1, 1], "emissiveTexture": {} }));
        assert_eq!(read.unwrap().emissive, [0.0; 3]);
    }
}
