//! A character and a crowd made of nothing, for tests that draw.
#![allow(dead_code, clippy::unwrap_used, reason = "each test binary uses a part of this")]

use glam::{Affine3A, Quat, Vec2, Vec3};
use throng::asset::character::{Sampler, Wrap};
use throng::asset::{AlphaMode, CharacterAsset, ImageRgba8, Material, Primitive, Vertex};
use throng::crowd::{CrowdDraw, DrawGroup, InstanceRecord, Page};
use throng::index::{BoneCount, BoneIndex, CharacterKind, ClipId, NodeIndex};
use throng::math::{Bounds, Mat3x4, Trs, View};
use throng::motion::Terrain;
use throng::pose::Skeleton;
use throng::pose::skeleton::{PaletteEntry, SkeletonParts};

/// Height of the joint between the two bones, metres.
pub const JOINT: f32 = 0.8;
/// Height of the whole, metres.
pub const HEIGHT: f32 = 1.6;

fn material(name: &str, base_color: [f32; 4]) -> Material {
    Material {
        name: name.into(),
        base_color,
        base_color_image: None,
        metallic_roughness_image: None,
        sampler: Sampler::default(),
        alpha: AlphaMode::Opaque,
        double_sided: false,
        unlit: false,
        roughness: 0.8,
        metallic: 0.0,
        emissive: [0.0; 3],
    }
}

/// A column of two bones that bends in the middle, a box with a texture on its top, a collar with
/// holes (masked, both sides), a visor (blended) and a lamp (unlit).
pub fn bender() -> CharacterAsset {
    let up = |y: f32| Trs { translation: Vec3::new(0.0, y, 0.0), ..Trs::IDENTITY };
    let down = |y: f32| Affine3A::from_translation(Vec3::new(0.0, -y, 0.0));
    let skeleton = Skeleton::new(SkeletonParts {
        names: vec!["lower".into(), "upper".into()],
        parents: vec![None, Some(BoneIndex(0))],
        rest: vec![Trs::IDENTITY, up(JOINT)],
        model_from_root_parent: vec![Affine3A::IDENTITY; 2],
        palette: vec![
            PaletteEntry { bone: BoneIndex(0), bone_from_mesh: Affine3A::IDENTITY },
            PaletteEntry { bone: BoneIndex(1), bone_from_mesh: down(JOINT) },
            // Rigid things carried by the upper bone, modelled around their own origin.
            PaletteEntry {
                bone: BoneIndex(1),
                bone_from_mesh: Affine3A::from_translation(Vec3::new(0.0, HEIGHT - JOINT, 0.0)),
            },
        ],
        low_detail_bone_count: BoneCount(2),
    })
    .unwrap();

    let mut textured = material("face", [1.0; 4]);
    textured.base_color_image = Some(0);
    textured.sampler = Sampler { wrap_u: Wrap::Repeat, wrap_v: Wrap::ClampToEdge, nearest: false };
    let mut masked = material("collar", [0.9, 0.8, 0.3, 1.0]);
    masked.base_color_image = Some(1);
    masked.alpha = AlphaMode::Mask { cutoff: 0.5 };
    masked.double_sided = true;
    let mut blended = material("visor", [0.2, 0.5, 0.9, 0.45]);
    blended.alpha = AlphaMode::Blend;
    blended.roughness = 0.15;
    let mut unlit = material("lamp", [1.0, 0.35, 0.1, 1.0]);
    unlit.unlit = true;

    let primitives = vec![
        part(0, column(), 0),
        part(1, cuboid(Vec3::new(0.0, 0.16, 0.0), Vec3::new(0.17, 0.16, 0.15)), 1),
        part(2, collar(), 2),
        part(3, cuboid(Vec3::new(0.0, 0.18, 0.16), Vec3::new(0.19, 0.05, 0.03)), 3),
        part(4, cuboid(Vec3::new(0.0, 0.36, 0.0), Vec3::splat(0.035)), 4),
    ];
    let points = [Vec3::new(-1.7, 0.0, -1.7), Vec3::new(1.7, 2.1, 1.7)];
    CharacterAsset {
        sync_markers: Vec::new(),
        name: "bender".into(),
        skeleton,
        bone_nodes: vec![NodeIndex(0), NodeIndex(1)],
        skins: vec![],
        clips: vec![],
        notifies: vec![],
        kept: vec![],
        primitives,
        materials: vec![
            material("tint body", [0.8, 0.8, 0.8, 1.0]),
            textured,
            masked,
            blended,
            unlit,
        ],
        images: vec![face_image(), holes_image()],
        bounds: Bounds::of_points(points.into_iter()),
        low_detail_error_m: 0.0,
        warnings: vec![],
    }
}

/// A sphere of radius 0.6 on one bone that scales it at rest; or, with `baked`, the ellipsoid that
/// this gives, made by hand on a bone that changes nothing. Both look alike.
pub fn ellipsoid(scale: Vec3, baked: bool) -> CharacterAsset {
    const STEPS: u32 = 24;
    let rest = Trs {
        translation: Vec3::new(0.0, 0.9, 0.0),
        scale: if baked { Vec3::ONE } else { scale },
        ..Trs::IDENTITY
    };
    let (mut vertices, mut indices) = (Vec::new(), Vec::new());
    for ring in 0..=STEPS {
        let polar = ring as f32 / STEPS as f32 * std::f32::consts::PI;
        for side in 0..=STEPS {
            let angle = side as f32 / STEPS as f32 * std::f32::consts::TAU;
            let out = Vec3::new(polar.sin() * angle.sin(), polar.cos(), polar.sin() * angle.cos());
            // The gradient of the ellipsoid's equation.
            let (position, normal) =
                if baked { (out * scale, (out / scale).normalize()) } else { (out, out) };
            vertices.push(Vertex { joints: [0; 4], ..rigid(position * 0.6, normal, [0.0; 2]) });
        }
    }
    for quad in 0..STEPS * STEPS {
        let a = quad / STEPS * (STEPS + 1) + quad % STEPS;
        let (b, c, d) = (a + 1, a + STEPS + 1, a + STEPS + 2);
        let mirrored = baked && scale.x * scale.y * scale.z < 0.0;
        indices.extend(if mirrored { [a, b, c, b, d, c] } else { [a, c, b, b, c, d] });
    }
    let entry = PaletteEntry { bone: BoneIndex(0), bone_from_mesh: Affine3A::IDENTITY };
    let mut asset = bender();
    asset.skeleton = Skeleton::new(SkeletonParts {
        names: vec!["ball".into()],
        parents: vec![None],
        rest: vec![rest],
        model_from_root_parent: vec![Affine3A::IDENTITY],
        palette: vec![entry],
        low_detail_bone_count: BoneCount(1),
    })
    .unwrap();
    asset.primitives = vec![part(1, (vertices, indices), 0)];
    asset
}

fn part(mesh: u32, (vertices, indices): (Vec<Vertex>, Vec<u32>), material: u32) -> Primitive {
    let influences_max = if mesh == 0 { 2 } else { 1 };
    let node = NodeIndex(mesh);
    Primitive { node, mesh, index: 0, skin: None, vertices, indices, material, influences_max }
}

/// A vertex of the rigid palette entry.
fn rigid(position: Vec3, normal: Vec3, uv: [f32; 2]) -> Vertex {
    Vertex {
        position: position.into(),
        normal: normal.into(),
        uv,
        color: [1.0; 4],
        joints: [2, 0, 0, 0],
        weights: [1.0, 0.0, 0.0, 0.0],
    }
}

/// Rings around the y axis, weights going over from the lower bone to the upper one.
fn column() -> (Vec<Vertex>, Vec<u32>) {
    const RINGS: u32 = 14;
    const SIDES: u32 = 16;
    let (mut vertices, mut indices) = (Vec::new(), Vec::new());
    for ring in 0..=RINGS {
        let t = ring as f32 / RINGS as f32;
        let y = t * HEIGHT;
        let upper = ((y - JOINT) / 0.4 + 0.5).clamp(0.0, 1.0);
        let radius = 0.2 - 0.08 * t;
        for side in 0..SIDES {
            let angle = side as f32 / SIDES as f32 * std::f32::consts::TAU;
            let out = Vec3::new(angle.sin(), 0.0, angle.cos());
            let (joints, weights) = if upper > 0.5 {
                ([1, 0, 0, 0], [upper, 1.0 - upper, 0.0, 0.0])
            } else {
                ([0, 1, 0, 0], [1.0 - upper, upper, 0.0, 0.0])
            };
            let shade = 0.75 + 0.25 * ((ring / 2) % 2) as f32;
            vertices.push(Vertex {
                position: (out * radius + Vec3::Y * y).into(),
                normal: (out + Vec3::Y * 0.05).normalize().into(),
                uv: [0.0; 2],
                color: [shade, shade, shade, 1.0],
                joints,
                weights,
            });
        }
    }
    for ring in 0..RINGS {
        for side in 0..SIDES {
            let next = (side + 1) % SIDES;
            let at = |r: u32, s: u32| r * SIDES + s;
            let [a, b] = [at(ring, side), at(ring, next)];
            let [c, d] = [at(ring + 1, side), at(ring + 1, next)];
            indices.extend([a, b, d, a, d, c]);
        }
    }
    (vertices, indices)
}

fn cuboid(center: Vec3, half: Vec3) -> (Vec<Vertex>, Vec<u32>) {
    let (mut vertices, mut indices) = (Vec::new(), Vec::new());
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let mut normal = Vec3::ZERO;
            normal[axis] = sign;
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let base = vertices.len() as u32;
            for (du, dv) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                let mut p = normal;
                p[u] = du;
                p[v] = dv;
                // v of the texture runs down.
                let uv = [p.x * 0.5 + 0.5, 0.5 - p.y * 0.5];
                vertices.push(rigid(center + p * half, normal, uv));
            }
            let quad = if sign > 0.0 { [0, 1, 2, 0, 2, 3] } else { [0, 2, 1, 0, 3, 2] };
            indices.extend(quad.map(|i| base + i));
        }
    }
    (vertices, indices)
}

/// An open ring of one side, flaring out.
fn collar() -> (Vec<Vertex>, Vec<u32>) {
    const SIDES: u32 = 16;
    let (mut vertices, mut indices) = (Vec::new(), Vec::new());
    for side in 0..=SIDES {
        let t = side as f32 / SIDES as f32;
        let angle = t * std::f32::consts::TAU;
        let out = Vec3::new(angle.sin(), 0.0, angle.cos());
        for (row, radius) in [0.18, 0.34].into_iter().enumerate() {
            let y = -0.04 - 0.16 * row as f32;
            let normal = (out + Vec3::Y).normalize();
            vertices.push(rigid(out * radius + Vec3::Y * y, normal, [t * 8.0, row as f32]));
        }
    }
    for side in 0..SIDES {
        let a = side * 2;
        indices.extend([a, a + 1, a + 3, a, a + 3, a + 2]);
    }
    (vertices, indices)
}

/// Two eyes and a mouth on skin, 32x32.
fn face_image() -> ImageRgba8 {
    let pixel = |x: i32, y: i32| -> [u8; 4] {
        let eye = (y - 12).pow(2) + ((x - 16).abs() - 7).pow(2) < 9;
        let mouth = (22..25).contains(&y) && (x - 16).abs() < 8;
        match (eye, mouth) {
            (true, _) => [30, 30, 40, 255],
            (_, true) => [170, 50, 50, 255],
            _ => [224, 172, 130, 255],
        }
    };
    image("face", 32, pixel)
}

/// A disc of alpha with red where nobody should see it, 16x16.
fn holes_image() -> ImageRgba8 {
    let pixel = |x: i32, y: i32| -> [u8; 4] {
        let inside = (2 * x - 15).pow(2) + (2 * y - 15).pow(2) < 100;
        if inside { [255, 0, 0, 0] } else { [255, 255, 255, 255] }
    };
    image("holes", 16, pixel)
}

fn image(name: &str, size: i32, pixel: impl Fn(i32, i32) -> [u8; 4]) -> ImageRgba8 {
    let pixels = (0..size * size).flat_map(|i| pixel(i % size, i / size)).collect();
    ImageRgba8 { name: name.into(), width: size as u32, height: size as u32, pixels }
}

/// Slices of a crowd, owned.
pub struct Scene {
    pub instances: Vec<InstanceRecord>,
    pub groups: Vec<DrawGroup>,
    pub pages: Vec<Page>,
}

impl Scene {
    pub fn draw(&self) -> CrowdDraw<'_> {
        CrowdDraw { instances: &self.instances, groups: &self.groups, pages: &self.pages }
    }

    /// Nobody.
    pub fn empty() -> Self {
        Self { instances: vec![], groups: vec![], pages: vec![] }
    }

    /// `side` times `side` benders, each bent and coloured its own way, their palettes dealt to
    /// `page_count` pages.
    pub fn crowd(asset: &CharacterAsset, side: u32, page_count: u32) -> Self {
        let pose = |i: u32| palette(asset, 1.3 * (i as f32 * 1.7).sin());
        let turn = |i: u32| i as f32 * 0.5;
        Self::of(side, page_count, 1.5, turn, pose)
    }

    /// `side` times `side` characters, each in another clip at another time, facing +z or so.
    pub fn animated(asset: &CharacterAsset, side: u32) -> Self {
        Self::animated_from(asset, side, 0)
    }

    /// The same, everybody in the clip and at the time of the one so many after it.
    pub fn animated_from(asset: &CharacterAsset, side: u32, first: u32) -> Self {
        let rig = asset.rig().unwrap();
        let pose = |i: u32| {
            let i = i + first;
            let clip = ClipId((i * 7 % asset.clips.len().max(1) as u32) as u16);
            let seconds = asset.clips.get(clip.get()).map_or(0.0, |c| c.seconds());
            rig.sample_palette(clip, seconds * (i as f32 * 0.381_966).fract())
        };
        let turn = |i: u32| 0.5 * (i as f32 * 2.3).sin();
        Self::of(side, 1, 1.5, turn, pose)
    }

    /// The same, everybody on this ground.
    pub fn on(mut self, terrain: Terrain) -> Self {
        for record in &mut self.instances {
            let [x, y, z] = record.world_from_model.rows.map(|row| row[3]);
            record.ground = terrain.height(Vec2::new(x, z));
            record.world_from_model.rows[1][3] = y + record.ground;
        }
        self
    }

    fn of(
        side: u32,
        page_count: u32,
        spacing: f32,
        turn: impl Fn(u32) -> f32,
        pose: impl Fn(u32) -> Vec<Mat3x4>,
    ) -> Self {
        let mut scene = Self::empty();
        let middle = (side - 1) as f32 * 0.5;
        for page in 0..page_count {
            let start = scene.instances.len() as u32;
            let mut matrices = Vec::new();
            let mut palette_len = 0;
            for i in (0..side * side).filter(|i| i % page_count == page) {
                let (x, z) = ((i % side) as f32 - middle, (i / side) as f32 - middle);
                let place = Vec3::new(x, 0.0, z) * spacing;
                let rotation = Quat::from_rotation_y(turn(i));
                scene.instances.push(InstanceRecord {
                    world_from_model: Mat3x4::from_affine(&Affine3A::from_rotation_translation(
                        rotation, place,
                    )),
                    palette_offset: matrices.len() as u32,
                    tint: tint(i),
                    id: i,
                    ground: 0.0,
                    before_offset: matrices.len() as u32,
                    weight: 1.0,
                    fade: 0.0,
                    cut: 0,
                });
                let palette = pose(i);
                palette_len = palette.len() as u32;
                matrices.extend(palette);
            }
            let end = scene.instances.len() as u32;
            let dirty = std::iter::once(0..matrices.len() as u32).collect();
            scene.pages.push(Page { matrices, palette_len, cut: None, dirty });
            scene.groups.push(DrawGroup {
                kind: CharacterKind(0),
                page,
                camera: start..end,
                shadow: start..end,
            });
        }
        scene
    }
}

fn tint(i: u32) -> u32 {
    const TINTS: [[u32; 3]; 6] = [
        [196, 64, 48],
        [52, 110, 170],
        [222, 160, 50],
        [70, 130, 80],
        [150, 80, 140],
        [210, 200, 185],
    ];
    let [r, g, b] = TINTS[(i * 5 % 6) as usize];
    r | g << 8 | b << 16 | 255 << 24
}

/// The palette with the upper bone bent by `angle` radians around z.
pub fn palette(asset: &CharacterAsset, angle: f32) -> Vec<Mat3x4> {
    let mut locals = asset.skeleton.rest().to_vec();
    if let Some(upper) = locals.get_mut(1) {
        upper.rotation *= Quat::from_rotation_z(angle);
    }
    let model = asset.skeleton.model_from_bone(&locals);
    let matrix = |e: &PaletteEntry| Mat3x4::from_affine(&(model[e.bone.get()] * e.bone_from_mesh));
    asset.skeleton.palette().iter().map(matrix).collect()
}

/// A camera that looks at the middle of a crowd of `side` times `side`.
pub fn camera(side: u32, size: (u32, u32)) -> View {
    let d = 2.0 + side as f32 * 1.25;
    let eye = Vec3::new(d * 0.35, 1.2 + d * 0.42, d);
    View::look_at(eye, Vec3::new(0.0, 0.75, 0.0), 0.75, 1000.0, size)
}

/// What holds the crowd of [`Scene::crowd`].
pub fn focus(side: u32) -> Bounds {
    let r = side as f32 * 0.75 + 1.5;
    Bounds::of_points([Vec3::new(-r, 0.0, -r), Vec3::new(r, 2.1, r)].into_iter())
}
