//! What a renderer is made with, and what it is given each frame.

use super::gpu::Gpu;
use super::lines::Lines;
use super::lod::LEVELS;
use super::target::TargetFormats;
use crate::crowd::CrowdDraw;
use crate::math::View;
use crate::motion::Terrain;
use glam::{Mat4, Vec3};

/// How evaluated palettes reach the GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PaletteUpload {
    /// Several threads write them into memory that the GPU reads, and a compute pass brings them
    /// to their slots. Where the device can't, they are copied.
    #[default]
    Scatter,
    /// One thread writes them, and the GPU copies each run of neighbours.
    Copy,
}

/// How a renderer draws; fixed until it is [made anew](super::Renderer::remake).
#[derive(Clone, Debug, PartialEq)]
pub struct RenderConfig {
    /// Of every target that it will draw to.
    pub formats: TargetFormats,
    /// Samples per pixel: 1 or 4.
    pub msaa: u32,
    /// Texels along each side of the sun's shadow map; `None` draws no shadows.
    pub shadow_size: Option<u32>,
    /// Distant characters are drawn with fewer triangles: as few as move no surface by more than
    /// a fraction of a pixel.
    pub mesh_lods: bool,
    /// Characters are drawn between their last two palettes, as their records say.
    pub interpolate: bool,
    /// What the characters stand on.
    pub terrain: Terrain,
    /// Sun, sky and what comes up from the ground.
    pub lighting: Lighting,
    /// How palettes reach the GPU.
    pub palette_upload: PaletteUpload,
    /// Lowers the largest palette page, bytes. `None`: as large as one binding can be here.
    pub max_page_bytes: Option<u64>,
    /// Lowers the records of one instance buffer. `None`: as many as a buffer holds here.
    pub max_buffer_instances: Option<u32>,
}

impl RenderConfig {
    /// Four samples, shadows and levels of detail, for targets of these formats.
    pub fn new(formats: TargetFormats) -> Self {
        Self {
            formats,
            msaa: 4,
            shadow_size: Some(2048),
            mesh_lods: true,
            interpolate: false,
            terrain: Terrain::FLAT,
            lighting: Lighting::default(),
            palette_upload: PaletteUpload::default(),
            max_page_bytes: None,
            max_buffer_instances: None,
        }
    }
}

/// The light of the scene. Colours are linear radiance; a white surface that faces `sun_color`
/// alone sends back just that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lighting {
    /// Unit vector towards the sun, above the horizon.
    pub sun_direction: Vec3,
    /// Irradiance over pi of a surface that faces the sun.
    pub sun_color: Vec3,
    /// Of the sky straight up.
    pub sky_zenith: Vec3,
    /// Of the sky at the horizon, and of the haze.
    pub sky_horizon: Vec3,
    /// What comes up from the ground.
    pub ground_bounce: Vec3,
    /// Scales sky and ground as sources of light.
    pub ambient: f32,
    /// Distance at which the haze has taken all but 1/e of a colour, metres.
    pub haze_distance: f32,
    /// Multiplies everything ahead of the tone curve.
    pub exposure: f32,
}

impl Default for Lighting {
    /// A clear late morning: the sun at 42 degrees, in front of the crowd and to its left.
    fn default() -> Self {
        Self {
            sun_direction: Vec3::new(0.52, 0.67, 0.53).normalize(),
            sun_color: Vec3::new(2.5, 2.2, 1.76),
            sky_zenith: Vec3::new(0.12, 0.28, 0.60),
            sky_horizon: Vec3::new(0.72, 0.86, 1.04),
            ground_bounce: Vec3::new(0.26, 0.24, 0.21),
            ambient: 1.0,
            haze_distance: 480.0,
            exposure: 0.56,
        }
    }
}

/// Painted over the finished picture, in the frame's own command buffer.
pub trait Overlay {
    /// Uploads what [`Overlay::paint`] needs. Before the overlay's pass begins.
    fn prepare(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder);

    /// Paints. The pass has one colour attachment of the format [`TargetFormats::overlay`], one
    /// sample per pixel, holding the scene.
    fn paint(&mut self, pass: &mut wgpu::RenderPass<'static>);
}

/// One frame's input.
pub struct FrameInput<'a> {
    /// The camera; its size should be the target's.
    pub view: &'a View,
    /// What levels of detail are picked for: the camera, unless it looks at what another one sees.
    pub lod_view: &'a View,
    /// Tints by which instances are told apart by their level of detail, the full one first; `None`
    /// leaves them as they are.
    pub level_tints: Option<[u32; LEVELS]>,
    /// What [`super::Renderer::shadow_clip_from_world`] said before the crowd's tick, so that the
    /// crowd was culled against the same volume; `None` draws this frame without shadows.
    pub shadow_clip_from_world: Option<Mat4>,
    /// The characters.
    pub crowd: CrowdDraw<'a>,
    /// Threads that may help with the upload: one of them fewer than the pool has, as that one
    /// may be waiting for the next frame.
    pub spare: Option<&'a rayon::ThreadPool>,
    /// Drawn over the scene.
    pub lines: Lines<'a>,
    /// Painted last, if there is one.
    pub overlay: Option<&'a mut dyn Overlay>,
}

impl<'a> FrameInput<'a> {
    /// A crowd as a camera sees it and nothing else: no shadows, no lines, no overlay, no help.
    pub fn of(view: &'a View, crowd: CrowdDraw<'a>) -> Self {
        Self {
            view,
            lod_view: view,
            level_tints: None,
            shadow_clip_from_world: None,
            crowd,
            spare: None,
            lines: Lines::default(),
            overlay: None,
        }
    }
}
