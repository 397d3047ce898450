//! Every Rust mirror of what shaders read has the offsets, sizes and types that naga computes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "what is missing or wrong fails the test")]

use naga::{Module, ScalarKind, TypeInner};
use std::mem::offset_of;
use throng::crowd::InstanceRecord;
use throng::math::Mat3x4;
use throng::render::layout::*;
use throng::render::shaders::{self, Shader};
use wgpu::VertexAttribute;

fn parse(shader: Shader) -> Module {
    naga::front::wgsl::parse_str(shader.source).unwrap()
}

/// Name, offset and size of each member of a WGSL struct, and the size of the whole.
fn wgsl_struct(shader: Shader, name: &str) -> (Vec<(String, usize, usize)>, usize) {
    let module = parse(shader);
    let (_, ty) = module.types.iter().find(|(_, t)| t.name.as_deref() == Some(name)).unwrap();
    let TypeInner::Struct { members, span } = &ty.inner else { panic!("{name} is no struct") };
    let size = |m: &naga::StructMember| module.types[m.ty].inner.size(module.to_ctx()) as usize;
    let members = members.iter().map(|m| (m.name.clone().unwrap(), m.offset as usize, size(m)));
    (members.collect(), *span as usize)
}

/// Fails unless the Rust struct has exactly the WGSL struct's members, paddings aside.
fn compare(shader: Shader, name: &str, rust: &[(&str, usize, usize)], size: usize) {
    let (wgsl, span) = wgsl_struct(shader, name);
    let wgsl: Vec<_> = wgsl.iter().map(|(n, o, s)| (n.as_str(), *o, *s)).collect();
    assert_eq!(rust, wgsl, "{name}");
    assert_eq!(size, span, "size of {name}");
}

/// Offset and size of the named fields of a Rust struct.
macro_rules! fields {
    ($type:ty: $($field:ident),+ $(,)?) => {{
        let value = <$type as bytemuck::Zeroable>::zeroed();
        [$((stringify!($field), offset_of!($type, $field), size_of_val(&value.$field))),+]
    }};
}

#[test]
fn uniforms_are_laid_out_as_the_shaders_read_them() {
    let frame = fields!(FrameUniforms:
        clip_from_world, shadow_from_world, eye, exposure, sun_direction, shadow_texel_m, sun_color,
        shadow_texel_uv, sky_zenith, haze_distance, sky_horizon, ambient, ground_bounce, terrain_seed,
        ray_forward, ray_right, ray_up, size,
    );
    for shader in shaders::ALL.into_iter().filter(|s| s.source.contains("struct Frame ")) {
        compare(shader, "Frame", &frame, size_of::<FrameUniforms>());
    }
    let material = fields!(MaterialUniforms:
        base_color, emissive, alpha_cutoff, roughness, metallic, tinted, unlit,
    );
    compare(shaders::CHARACTER, "Material", &material, size_of::<MaterialUniforms>());
    let shadow = fields!(ShadowUniforms: clip_from_world);
    compare(shaders::CHARACTER_SHADOW, "ShadowView", &shadow, size_of::<ShadowUniforms>());
    let section = fields!(ScatterSection: targets, rows, count, palette_rows);
    compare(shaders::PALETTE_SCATTER, "Section", &section, size_of::<ScatterSection>());
}

#[test]
fn a_palette_matrix_is_three_rows_and_pages_are_arrays_of_them() {
    let (rows, span) = wgsl_struct(shaders::CHARACTER, "BoneMatrix");
    let row = |i: usize| offset_of!(Mat3x4, rows) + i * size_of::<[f32; 4]>();
    let expected = |i: usize| (format!("row{i}"), row(i), size_of::<[f32; 4]>());
    assert_eq!(rows, [expected(0), expected(1), expected(2)]);
    assert_eq!(span, size_of::<Mat3x4>());

    let module = parse(shaders::CHARACTER);
    let palette =
        module.global_variables.iter().find(|(_, v)| v.name.as_deref() == Some("palette"));
    let TypeInner::Array { stride, .. } = module.types[palette.unwrap().1.ty].inner else {
        panic!("the palette is no array")
    };
    assert_eq!(stride as usize, size_of::<Mat3x4>());
}

/// Fails unless `attributes` supply the members with locations of a WGSL struct, in order, each at
/// the offset of its Rust field.
fn compare_attributes(
    shader: Shader,
    name: &str,
    attributes: &[VertexAttribute],
    fields: &[(&str, usize, usize)],
    stride: usize,
) {
    let module = parse(shader);
    let (_, ty) = module.types.iter().find(|(_, t)| t.name.as_deref() == Some(name)).unwrap();
    let TypeInner::Struct { members, .. } = &ty.inner else { panic!("{name} is no struct") };
    let mut end = 0;
    for (attribute, (field, offset, size)) in attributes.iter().zip(fields) {
        let location = attribute.shader_location;
        let at = |m: &&naga::StructMember| matches!(m.binding, Some(naga::Binding::Location { location: l, .. }) if l == location);
        let member = members.iter().find(at).unwrap_or_else(|| panic!("{name} lacks {location}"));
        let wgsl = member.name.as_deref().unwrap();
        assert!(wgsl == *field || wgsl.starts_with("row") || wgsl == "words", "{wgsl} {field}");
        let (scalar, components) = match module.types[member.ty].inner {
            TypeInner::Vector { size, scalar } => (scalar, size as usize),
            TypeInner::Scalar(scalar) => (scalar, 1),
            ref other => panic!("{wgsl} is {other:?}"),
        };
        assert_eq!(is_integer(attribute.format), scalar.kind == ScalarKind::Uint, "{wgsl}");
        assert_eq!(attribute.offset as usize, *offset, "{wgsl}");
        assert_eq!(attribute.format.size() as usize, *size, "{wgsl}");
        assert!(size / components >= 2 && size % components == 0, "{wgsl}");
        end = end.max(offset + size);
    }
    assert_eq!(attributes.len(), fields.len());
    assert_eq!(end, stride, "{name}");
}

#[test]
fn vertex_streams_supply_what_the_shaders_take() {
    let skin = fields!(SkinVertex: position, joints, weights);
    let surface = fields!(SurfaceVertex: normal, uv, color);
    let (skin_size, surface_size) = (size_of::<SkinVertex>(), size_of::<SurfaceVertex>());
    for shader in [shaders::CHARACTER, shaders::CHARACTER_SHADOW] {
        compare_attributes(shader, "Vertex", &SkinVertex::ATTRIBUTES, &skin, skin_size);
    }
    let (shader, attributes) = (shaders::CHARACTER, &SurfaceVertex::ATTRIBUTES);
    compare_attributes(shader, "Vertex", attributes, &surface, surface_size);
    let (shader, attributes) = (shaders::CHARACTER_SHADOW, &SurfaceVertex::ATTRIBUTES[1..]);
    compare_attributes(shader, "Surface", attributes, &surface[1..], surface_size);
    let contact = fields!(ContactVertex: position, corner, middle, middle_in_mesh);
    let (shader, attributes) = (shaders::CONTACT, &ContactVertex::ATTRIBUTES);
    compare_attributes(shader, "Vertex", attributes, &contact, size_of::<ContactVertex>());
    let tile = fields!(GroundTile: corner, cell);
    let (shader, attributes) = (shaders::GROUND_UNEVEN, &GroundTile::ATTRIBUTES);
    compare_attributes(shader, "Tile", attributes, &tile, size_of::<GroundTile>());
    let line = fields!(LineRecord: start, width, end, color);
    let (shader, attributes) = (shaders::LINE, &LineRecord::ATTRIBUTES);
    compare_attributes(shader, "Line", attributes, &line, size_of::<LineRecord>());
}

#[test]
fn an_instance_record_is_three_rows_and_eight_words() {
    let rows = offset_of!(InstanceRecord, world_from_model);
    let fields = [
        ("row0", rows, 16),
        ("row1", rows + 16, 16),
        ("row2", rows + 32, 16),
        ("words", offset_of!(InstanceRecord, palette_offset), 16),
        ("mixed", offset_of!(InstanceRecord, before_offset), 16),
    ];
    // The words are read by component.
    assert_eq!(offset_of!(InstanceRecord, tint), offset_of!(InstanceRecord, palette_offset) + 4);
    assert_eq!(offset_of!(InstanceRecord, id), offset_of!(InstanceRecord, palette_offset) + 8);
    assert_eq!(offset_of!(InstanceRecord, ground), offset_of!(InstanceRecord, palette_offset) + 12);
    assert_eq!(offset_of!(InstanceRecord, weight), offset_of!(InstanceRecord, before_offset) + 4);
    for shader in [shaders::CHARACTER, shaders::CHARACTER_SHADOW, shaders::CONTACT] {
        let size = size_of::<InstanceRecord>();
        compare_attributes(shader, "Instance", &INSTANCE_ATTRIBUTES, &fields, size);
    }
}

#[test]
#[should_panic(expected = "Material")]
fn a_member_that_moved_is_noticed() {
    let mut material = fields!(MaterialUniforms:
        base_color, emissive, alpha_cutoff, roughness, metallic, tinted, unlit,
    );
    material[3].1 += 4;
    compare(shaders::CHARACTER, "Material", &material, size_of::<MaterialUniforms>());
}
