//! Who is under the pointer, against a picture of who is there and against every triangle.
#![allow(clippy::unwrap_used, clippy::panic, reason = "what is missing or wrong fails the test")]

use glam::{DVec3, Vec3};
use std::sync::Arc;
use throng::asset::{BUILTINS, CharacterAsset, ImageRgba8, Surface, builtin, skinning};
use throng::crowd::{Crowd, CrowdConfig, CrowdDraw, CrowdKind, InstanceRecord, Layout, TickInput};
use throng::index::CharacterId;
use throng::math::{Mat3x4, View};
use throng::pose::PaletteView;
use throng::profile::PhaseTimes;
use throng::render::{FrameInput, Gpu, GpuRequest, Offscreen, RenderConfig, Renderer};

const SIZE: (u32, u32) = (320, 200);
const COUNT: u32 = 14;

fn assets() -> Vec<CharacterAsset> {
    BUILTINS.iter().map(|(name, _)| builtin(name).unwrap().unwrap()).collect()
}

fn crowd(assets: &[CharacterAsset], interpolate: bool) -> Crowd {
    let kind = |asset: &CharacterAsset| {
        let rig = Arc::new(asset.rig().unwrap());
        CrowdKind {
            ground_offset: -skinning::rest_bounds(asset).min.y,
            surface: Some(Arc::new(Surface::of(asset))),
            ..CrowdKind::new(asset.name.clone(), rig, asset.bounds)
        }
    };
    let config =
        CrowdConfig { count: COUNT, layout: Layout::Grid, interpolate, ..CrowdConfig::default() };
    Crowd::new(config, assets.iter().map(kind).collect()).unwrap()
}

/// Close enough for the front row to hide some of the others.
fn view() -> View {
    let (eye, target) = (Vec3::new(1.5, 1.7, 6.5), Vec3::new(0.0, 0.7, 0.0));
    View::look_at(eye, target, 0.8, 200.0, SIZE)
}

fn tick(crowd: &mut Crowd, view: &View) {
    let input = TickInput {
        dt: 0.1,
        played: true,
        view,
        shadow_clip_from_world: None,
        palette_hash: false,
    };
    crowd.tick(&input, &PhaseTimes::default());
}

/// The first of all triangles along a ray, in double precision, each vertex skinned by the sum of its
/// matrices.
fn naive(
    assets: &[CharacterAsset],
    draw: &CrowdDraw<'_>,
    origin: DVec3,
    along: DVec3,
) -> Option<(f64, CharacterId)> {
    let mut first: Option<(f64, CharacterId)> = None;
    for group in draw.groups {
        let page = &draw.pages[group.page as usize];
        for record in &draw.instances[group.camera.start as usize..group.camera.end as usize] {
            for primitive in &assets[group.kind.get()].primitives {
                let posed = |i: u32| {
                    let vertex = &primitive.vertices[i as usize];
                    let mut sum = DVec3::ZERO;
                    for (joint, weight) in vertex.joints.iter().zip(vertex.weights) {
                        let bone = |palette: Option<PaletteView<'_>>| {
                            let m = palette.unwrap().get(usize::from(*joint)).unwrap();
                            transform(m, Vec3::from(vertex.position).as_dvec3())
                        };
                        let share = f64::from(record.weight);
                        let point = bone(page.palette_before(record))
                            .lerp(bone(page.palette(record)), share);
                        sum += point * f64::from(weight);
                    }
                    transform(&record.world_from_model, sum)
                };
                for corners in primitive.indices.chunks_exact(3) {
                    let [a, b, c] = [posed(corners[0]), posed(corners[1]), posed(corners[2])];
                    let far = plane_hit([a, b, c], origin, along);
                    if let Some(far) = far.filter(|f| first.is_none_or(|(first, _)| *f < first)) {
                        first = Some((far, CharacterId(record.id)));
                    }
                }
            }
        }
    }
    first
}

fn transform(m: &Mat3x4, p: DVec3) -> DVec3 {
    DVec3::from_array(m.rows.map(|row| {
        let [x, y, z, t] = row.map(f64::from);
        x * p.x + y * p.y + z * p.z + t
    }))
}

/// By the plane and the three edges' signs.
fn plane_hit([a, b, c]: [DVec3; 3], origin: DVec3, along: DVec3) -> Option<f64> {
    let normal = (b - a).cross(c - a);
    let far = (a - origin).dot(normal) / along.dot(normal);
    if !(far.is_finite() && far >= 0.0) {
        return None;
    }
    let p = origin + along * far;
    let side = |from: DVec3, to: DVec3| (to - from).cross(p - from).dot(normal);
    let sides = [side(a, b), side(b, c), side(c, a)];
    sides.iter().all(|s| *s >= 0.0).then_some(far)
}

#[test]
fn whoever_is_picked_is_the_first_of_all_triangles() {
    let assets = assets();
    for interpolate in [false, true] {
        let mut crowd = crowd(&assets, interpolate);
        (0..7).for_each(|_| tick(&mut crowd, &view()));
        let (mut hits, mut misses) = (0, 0);
        for i in 0..110 {
            // All over the picture, most of them where people are.
            let x = (i as f32 * 0.618_034).fract() * SIZE.0 as f32;
            let y = (0.25 + 0.5 * (i as f32 * 0.754_878).fract()) * SIZE.1 as f32;
            let direction = view().direction(x, y);
            let picked = crowd.pick(view().eye, direction);
            let unit = direction.as_dvec3().normalize();
            let expected = naive(&assets, &crowd.draw(), view().eye.as_dvec3(), unit);
            assert_eq!(picked, expected.map(|(_, id)| id), "pixel {x} {y}: {expected:?}");
            if picked.is_some() { hits += 1 } else { misses += 1 }
        }
        assert!(hits > 12 && misses > 25, "{hits} {misses}");
    }
}

/// Draws a crowd whose materials are all plain, in the tints of its records.
struct Studio {
    gpu: Gpu,
    renderer: Renderer,
    target: Offscreen,
}

impl Studio {
    fn new(assets: &[CharacterAsset]) -> Self {
        let gpu = Gpu::new(&GpuRequest { adapter: Some("llvmpipe".into()) })
            .unwrap_or_else(|e| panic!("this test needs Mesa's lavapipe: {e}"));
        let base = RenderConfig::new(gpu.offscreen_formats());
        let config = RenderConfig { msaa: 1, shadow_size: None, mesh_lods: false, ..base };
        let mut assets = assets.to_vec();
        for material in assets.iter_mut().flat_map(|asset| &mut asset.materials) {
            material.name = "tint".into();
            material.base_color_image = None;
            material.unlit = true;
            (material.base_color, material.emissive) = ([1.0; 4], [0.0; 3]);
        }
        let assets: Vec<_> = assets.iter().collect();
        let renderer = Renderer::new(&gpu, &config, &assets).unwrap();
        let target = Offscreen::new(&gpu, config.formats, SIZE).unwrap();
        Self { gpu, renderer, target }
    }

    fn picture(&mut self, draw: &CrowdDraw<'_>, tint: impl Fn(u32) -> u32) -> ImageRgba8 {
        let tinted = |r: &InstanceRecord| InstanceRecord { tint: tint(r.id), ..*r };
        let instances: Vec<_> = draw.instances.iter().map(tinted).collect();
        let view = view();
        let input = FrameInput::of(&view, CrowdDraw { instances: &instances, ..*draw });
        let target = self.target.target();
        self.renderer.render(&self.gpu, target, input, &PhaseTimes::default()).unwrap();
        self.target.read(&self.gpu).unwrap()
    }
}

#[test]
fn whoever_is_picked_is_whom_the_picture_shows_there() {
    const BLACK: u32 = 0xff00_0000;
    const WHITE: u32 = 0xffff_ffff;
    let assets = assets();
    let mut crowd = crowd(&assets, false);
    (0..5).for_each(|_| tick(&mut crowd, &view()));
    let mut studio = Studio::new(&assets);
    let dark = studio.picture(&crowd.draw(), |_| BLACK);
    // Whoever is white alone is where the picture is not the dark one.
    let mut shown: Vec<Option<CharacterId>> = vec![None; (SIZE.0 * SIZE.1) as usize];
    for lit in 0..COUNT {
        let image = studio.picture(&crowd.draw(), |id| if id == lit { WHITE } else { BLACK });
        let pixels = image.pixels.chunks_exact(4).zip(dark.pixels.chunks_exact(4));
        for (who, (a, b)) in shown.iter_mut().zip(pixels) {
            if a != b {
                assert_eq!(*who, None, "two at one pixel");
                *who = Some(CharacterId(lit));
            }
        }
    }
    let (mut seen, mut wrong, mut people) = (0, Vec::new(), std::collections::BTreeSet::new());
    for y in (0..SIZE.1).step_by(2) {
        for x in (0..SIZE.0).step_by(2) {
            let expected = shown[(y * SIZE.0 + x) as usize];
            let direction = view().direction(x as f32 + 0.5, y as f32 + 0.5);
            let picked = crowd.pick(view().eye, direction);
            seen += u32::from(expected.is_some());
            people.extend(expected.map(|id| id.0));
            if picked != expected {
                wrong.push((x, y, picked, expected));
            }
        }
    }
    // Where an edge crosses a pixel's very middle the two may round apart.
    assert!(wrong.len() <= 4, "{} of {seen}: {wrong:?}", wrong.len());
    assert!(seen > 1_500 && people.len() as u32 > COUNT / 2, "{seen} {people:?}");
}
