//! One frame, from slices to a picture.

use super::character::UploadedCrowd;
use super::config::{FrameInput, RenderConfig};
use super::error::RenderError;
use super::frame::{FrameBindings, uniforms};
use super::gpu::Gpu;
use super::health::GpuFault;
use super::instances::Instances;
use super::layout::{FrameUniforms, ShadowUniforms};
use super::lod::{LEVELS, LevelPicker};
use super::memory::{GpuMemory, texture_bytes, told_with};
use super::palette::{Palettes, Upload};
use super::pipeline::MainPass;
use super::scene::Scene;
use super::shadow_fit;
use super::sorting::{KindLevels, Sorted};
use super::staging::Staging;
use super::stats::{DrawCounts, GpuTimes, RenderStats};
use super::target::{Attachments, FrameTarget};
use super::timing::PassTimer;
use crate::asset::CharacterAsset;
use crate::crowd::CrowdDraw;
use crate::math::{Bounds, View};
use crate::profile::{Phase, PhaseTimes};
use glam::Mat4;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Frames that the GPU may be behind.
const FRAMES_IN_FLIGHT: usize = 2;
/// How long a frame waits for the GPU before it goes on regardless.
const PATIENCE: Duration = Duration::from_secs(20);

/// Draws crowds of a fixed set of characters.
#[derive(Debug)]
pub struct Renderer {
    config: RenderConfig,
    bindings: FrameBindings,
    palettes: Palettes,
    instances: Instances,
    scene: Scene,
    kinds: Vec<KindLevels>,
    sorted: Sorted,
    shadow_texel_m: f32,
    attachments: Option<Attachments>,
    staging: Staging,
    timer: Option<PassTimer>,
    in_flight: VecDeque<wgpu::SubmissionIndex>,
    frame: u64,
}

impl Renderer {
    /// Uploads the characters and makes every pipeline that they need. Kinds are numbered in the
    /// order of `assets`.
    ///
    /// # Errors
    /// When the device can't draw with so many samples, a mesh is larger than a buffer, or the
    /// device has a fault (out of memory, a pipeline refused).
    pub fn new(
        gpu: &Gpu,
        config: &RenderConfig,
        assets: &[&CharacterAsset],
    ) -> Result<Self, RenderError> {
        let renderer = Self::make(gpu, config, assets)?;
        Ok(Self { timer: PassTimer::new(gpu), ..renderer })
    }

    /// Draws otherwise, or other characters, from the next frame on: all is made anew but what times
    /// the frames that are on their way. The next frame uploads all palettes.
    ///
    /// # Errors
    /// Those of [`Renderer::new`]; then it draws as before.
    pub fn remake(
        &mut self,
        gpu: &Gpu,
        config: &RenderConfig,
        assets: &[&CharacterAsset],
    ) -> Result<(), RenderError> {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        let scopes = [Validation, Internal, OutOfMemory];
        let scopes = scopes.map(|errors| gpu.device().push_error_scope(errors));
        let made = Self::make(gpu, config, assets);
        // The innermost first, and each of them.
        let refused = scopes.into_iter().rev().map(|scope| pollster::block_on(scope.pop()));
        if let Some(refused) = refused.fold(None, |first, refused| first.or(refused)) {
            return Err(GpuFault::of(&refused).into());
        }
        let renderer = made?;
        let in_flight = std::mem::take(&mut self.in_flight);
        *self = Self { timer: self.timer.take(), in_flight, frame: self.frame, ..renderer };
        Ok(())
    }

    fn make(
        gpu: &Gpu,
        config: &RenderConfig,
        assets: &[&CharacterAsset],
    ) -> Result<Self, RenderError> {
        let mut config = config.clone();
        let features = config.formats.color.guaranteed_format_features(gpu.device().features());
        if !features.flags.sample_count_supported(config.msaa) {
            let format = config.formats.color;
            return Err(RenderError::Samples { samples: config.msaa, format });
        }
        let limit = gpu.device().limits().max_texture_dimension_2d;
        config.shadow_size = config.shadow_size.map(|size| size.clamp(1, limit));
        let main = MainPass { formats: config.formats, samples: config.msaa };
        let bindings = FrameBindings::new(gpu);
        let palettes = Palettes::new(gpu, config.max_page_bytes, config.palette_upload);
        let mut scene = Scene::new(gpu, &main, &bindings, &palettes, &config, assets)?;
        if gpu.has_own_texts() {
            // While a fault can still be answered by staying with what there was.
            scene.lines.prepare(gpu, &bindings.layout);
        }
        let kinds = scene.characters.models().iter().map(|m| m.levels).collect();
        let renderer = Self {
            palettes,
            instances: Instances::new(gpu, config.max_buffer_instances),
            scene,
            kinds,
            sorted: Sorted::default(),
            shadow_texel_m: 0.0,
            attachments: None,
            staging: Staging::new(),
            timer: None,
            in_flight: VecDeque::with_capacity(FRAMES_IN_FLIGHT + 1),
            frame: 0,
            bindings,
            config,
        };
        gpu.check().map_err(told_with(|| renderer.memory((0, 0))))?;
        Ok(renderer)
    }

    /// Most matrices that one palette page may have.
    pub fn max_page_matrices(&self) -> u32 {
        self.palettes.limit()
    }

    /// What it was made with.
    pub fn config(&self) -> &RenderConfig {
        &self.config
    }

    /// The sun's view for this camera: what the crowd is culled against for the shadow map, and
    /// what the frame is drawn with. `focus` holds everything that casts shadows. `None` without
    /// shadows, or where the camera sees none of it.
    pub fn shadow_clip_from_world(&self, view: &View, focus: &Bounds) -> Option<Mat4> {
        let size = self.config.shadow_size?;
        let sun = self.config.lighting.sun_direction;
        shadow_fit::shadow_clip_from_world(view, focus, sun, size)
    }

    /// Draws a frame and submits it. Waits only when the GPU is two frames behind.
    ///
    /// # Errors
    /// When the crowd's slices contradict each other or the renderer's limits, or the device has a
    /// fault. Then nothing was submitted.
    pub fn render(
        &mut self,
        gpu: &Gpu,
        target: FrameTarget<'_>,
        input: FrameInput<'_>,
        times: &PhaseTimes,
    ) -> Result<RenderStats, RenderError> {
        let size = target.size;
        gpu.check().map_err(told_with(|| self.memory(size)))?;
        self.check_groups(&input.crowd)?;
        let wait_ns = self.pace(gpu);
        let mut encoder = gpu
            .device()
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("frame") });
        if let Some(timer) = &mut self.timer {
            timer.begin_frame(self.frame);
        }
        times.time(Phase::Upload, || self.upload(gpu, &mut encoder, size, &input, times))?;
        let counts = times.time(Phase::Submit, || {
            let counts = self.encode(gpu, &mut encoder, target, input);
            self.staging.close();
            self.palettes.close();
            self.in_flight.push_back(gpu.queue().submit([encoder.finish()]));
            self.staging.recall();
            self.palettes.recall();
            counts
        });
        if let Some(timer) = &mut self.timer {
            timer.end_frame();
        }
        self.frame += 1;
        let memory = self.memory(size);
        gpu.check().map_err(told_with(|| memory))?;
        Ok(RenderStats {
            upload_bytes: self.staging.take_written() + self.palettes.take_written(),
            memory,
            wait_ns,
            gpu_passes: self.timer.as_mut().map(PassTimer::collect).unwrap_or_default(),
            ..counts
        })
    }

    /// What it holds of the GPU's memory, a picture of `size` pixels included.
    fn memory(&self, size: (u32, u32)) -> GpuMemory {
        GpuMemory {
            palettes: self.palettes.bytes(),
            instances: self.instances.bytes(),
            uploads: self.staging.bytes() + self.palettes.upload_bytes(),
            meshes: self.scene.characters.mesh_bytes(),
            textures: self.scene.characters.texture_bytes(),
            shadow_map: self
                .scene
                .shadow
                .as_ref()
                .map_or(0, |map| texture_bytes(map.view().texture())),
            attachments: self.attachments.as_ref().map_or(0, Attachments::bytes),
            picture: 4 * u64::from(size.0) * u64::from(size.1),
        }
    }

    /// Waits until the GPU is done and gives the pass times that had not arrived yet.
    pub fn finish(&mut self, gpu: &Gpu) -> Vec<GpuTimes> {
        self.in_flight.clear();
        if let Err(error) = gpu.device().poll(wgpu::PollType::wait_indefinitely()) {
            tracing::warn!("waiting for the GPU: {error}");
        }
        self.timer.as_mut().map(PassTimer::collect).unwrap_or_default()
    }

    fn check_groups(&self, crowd: &CrowdDraw<'_>) -> Result<(), RenderError> {
        let check = |what, index: usize, count: usize, fits: bool| {
            if fits { Ok(()) } else { Err(RenderError::Group { what, index, count }) }
        };
        for group in crowd.groups {
            let (kinds, pages) = (self.scene.characters.models().len(), crowd.pages.len());
            let (kind, page) = (group.kind.get(), group.page as usize);
            check("kind", kind, kinds, kind < kinds)?;
            check("page", page, pages, page < pages)?;
            let instances = crowd.instances.len();
            for end in [group.camera.end as usize, group.shadow.end as usize] {
                check("instances up to", end, instances, end <= instances)?;
            }
        }
        Ok(())
    }

    /// Keeps the CPU at most two frames ahead; the nanoseconds that took.
    fn pace(&mut self, gpu: &Gpu) -> u64 {
        let start = Instant::now();
        let mut kind = wgpu::PollType::Poll;
        if self.in_flight.len() >= FRAMES_IN_FLIGHT {
            let submission_index = self.in_flight.pop_front();
            kind = wgpu::PollType::Wait { submission_index, timeout: Some(PATIENCE) };
        }
        if let Err(error) = gpu.device().poll(kind) {
            tracing::warn!("waiting for the GPU: {error}");
        }
        start.elapsed().as_nanos() as u64
    }

    fn upload(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        size: (u32, u32),
        input: &FrameInput<'_>,
        times: &PhaseTimes,
    ) -> Result<(), RenderError> {
        encoder.push_debug_group("upload");
        let upload = Upload {
            gpu,
            staging: &mut self.staging,
            encoder: &mut *encoder,
            spare: input.spare,
            times,
            timer: self.timer.as_mut(),
        };
        self.palettes.upload(upload, input.crowd.pages)?;
        let (records, groups) = (input.crowd.instances, input.crowd.groups);
        self.sorted.sort(
            records,
            groups,
            &self.kinds,
            &LevelPicker::new(input.lod_view),
            input.level_tints,
        );
        self.instances.upload(gpu, &mut self.staging, encoder, &self.sorted.records);
        self.scene.backdrop.ground.upload(gpu, &mut self.staging, encoder, input.view);
        let (staging, layout) = (&mut self.staging, &self.bindings.layout);
        self.scene.lines.upload(gpu, staging, encoder, layout, input.lines);
        let shadow = input.shadow_clip_from_world.zip(self.config.shadow_size);
        let frame = FrameUniforms {
            terrain_seed: self.config.terrain.seed().unwrap_or_default(),
            ..uniforms(input.view, &self.config.lighting, shadow, size)
        };
        self.shadow_texel_m = frame.shadow_texel_m;
        let device = gpu.device();
        let bytes = bytemuck::bytes_of(&frame);
        self.staging.write(device, encoder, &self.bindings.uniforms, 0, bytes);
        if let (Some((matrix, _)), Some(map)) = (shadow, &self.scene.shadow) {
            let view = ShadowUniforms { clip_from_world: matrix.to_cols_array_2d() };
            let bytes = bytemuck::bytes_of(&view);
            self.staging.write(device, encoder, map.uniforms(), 0, bytes);
        }
        encoder.pop_debug_group();
        Ok(())
    }

    fn encode(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        target: FrameTarget<'_>,
        input: FrameInput<'_>,
    ) -> RenderStats {
        let crowd = UploadedCrowd {
            groups: &self.sorted.groups,
            palettes: &self.palettes,
            instances: &self.instances,
            shadow_texel_m: self.shadow_texel_m,
        };
        let mut counts = DrawCounts::default();
        let timer = &mut self.timer;
        if input.shadow_clip_from_world.is_some() && self.scene.shadow.is_some() {
            let timestamps = timer.as_mut().and_then(|t| t.pass("shadow"));
            self.scene.draw_shadow(encoder, timestamps, &crowd, &mut counts);
        }
        if self.attachments.as_ref().is_none_or(|a| a.size() != target.size) {
            let (format, samples) = (self.config.formats.color, self.config.msaa);
            self.attachments = Some(Attachments::new(gpu, format, samples, target.size));
        }
        if let Some(attachments) = &self.attachments {
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("main"),
                color_attachments: &[Some(attachments.color(target.color))],
                depth_stencil_attachment: Some(attachments.depth()),
                timestamp_writes: timer.as_mut().and_then(|t| t.pass("main")),
                ..Default::default()
            });
            self.scene.draw(&mut pass, input.view, &crowd, &mut counts);
        }
        if let Some(overlay) = input.overlay {
            overlay.prepare(gpu, encoder);
            let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("overlay"),
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: target.overlay,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store },
                })],
                timestamp_writes: timer.as_mut().and_then(|t| t.pass("overlay")),
                ..Default::default()
            });
            overlay.paint(&mut pass.forget_lifetime());
        }
        if let Some(timer) = timer {
            timer.resolve(encoder);
        }
        let instances = crowd.groups.iter().map(|g| u64::from(g.camera.end - g.camera.start)).sum();
        let mut by_level = [0; LEVELS];
        for group in crowd.groups {
            by_level[group.level] += group.camera.end - group.camera.start;
        }
        let DrawCounts { draws, triangles } = counts;
        RenderStats { draws, triangles, instances, by_level, ..Default::default() }
    }
}
