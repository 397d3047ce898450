//! The uniforms of one frame, and the bind group that carries them.

use super::config::Lighting;
use super::gpu::Gpu;
use super::layout::FrameUniforms;
use crate::math::View;
use glam::{Mat4, Vec3, Vec4, Vec4Swizzles};

/// Uniform buffer, shadow map and its sampler: group 0 of the main pass.
#[derive(Debug)]
pub(super) struct FrameBindings {
    pub(super) layout: wgpu::BindGroupLayout,
    pub(super) uniforms: wgpu::Buffer,
    sampler: wgpu::Sampler,
    no_shadow: wgpu::TextureView,
}

impl FrameBindings {
    pub(super) fn new(gpu: &Gpu) -> Self {
        let device = gpu.device();
        let entry = |binding, visibility, ty| wgpu::BindGroupLayoutEntry {
            binding,
            visibility,
            ty,
            count: None,
        };
        let fragment = wgpu::ShaderStages::FRAGMENT;
        let size = size_of::<FrameUniforms>() as u64;
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("frame"),
            entries: &[
                entry(
                    0,
                    wgpu::ShaderStages::VERTEX_FRAGMENT,
                    wgpu::BindingType::Buffer {
                        ty: wgpu::BufferBindingType::Uniform,
                        has_dynamic_offset: false,
                        min_binding_size: wgpu::BufferSize::new(size),
                    },
                ),
                entry(
                    1,
                    fragment,
                    wgpu::BindingType::Texture {
                        sample_type: wgpu::TextureSampleType::Depth,
                        view_dimension: wgpu::TextureViewDimension::D2,
                        multisampled: false,
                    },
                ),
                entry(
                    2,
                    fragment,
                    wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison),
                ),
            ],
        });
        let uniforms = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("frame uniforms"),
            size,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("shadow comparison"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            compare: Some(wgpu::CompareFunction::LessEqual),
            ..Default::default()
        });
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("no shadow map"),
            size: wgpu::Extent3d::default(),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Depth32Float,
            usage: wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let no_shadow = texture.create_view(&wgpu::TextureViewDescriptor::default());
        Self { layout, uniforms, sampler, no_shadow }
    }

    /// The bind group with this shadow map, or with one that is never sampled.
    pub(super) fn bind(&self, gpu: &Gpu, shadow: Option<&wgpu::TextureView>) -> wgpu::BindGroup {
        gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("frame"),
            layout: &self.layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: self.uniforms.as_entire_binding() },
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: wgpu::BindingResource::TextureView(shadow.unwrap_or(&self.no_shadow)),
                },
                wgpu::BindGroupEntry {
                    binding: 2,
                    resource: wgpu::BindingResource::Sampler(&self.sampler),
                },
            ],
        })
    }
}

/// What the shaders are told of a view, its light and its shadow map of `shadow_size` texels.
pub(super) fn uniforms(
    view: &View,
    light: &Lighting,
    shadow: Option<(Mat4, u32)>,
    size: (u32, u32),
) -> FrameUniforms {
    let mut uniforms = FrameUniforms {
        clip_from_world: (reversed(&view.clip_from_view) * view.view_from_world).to_cols_array_2d(),
        eye: view.eye.into(),
        exposure: light.exposure,
        sun_direction: light.sun_direction.into(),
        sun_color: light.sun_color.into(),
        sky_zenith: light.sky_zenith.into(),
        haze_distance: light.haze_distance.max(1e-3),
        sky_horizon: light.sky_horizon.into(),
        ambient: light.ambient,
        ground_bounce: light.ground_bounce.into(),
        size: [size.0 as f32, size.1 as f32],
        ..Default::default()
    };
    // The rows of view_from_world are the camera's axes in the world.
    let axis = |row: usize| view.view_from_world.row(row).xyz();
    let scaled = |v: Vec3, focal: f32| (v / focal).into();
    uniforms.ray_forward = (-axis(2)).into();
    uniforms.ray_right = scaled(axis(0), view.clip_from_view.x_axis.x);
    uniforms.ray_up = scaled(axis(1), view.clip_from_view.y_axis.y);
    if let Some((clip_from_world, map_size)) = shadow {
        let uv_from_clip = Mat4::from_cols(
            Vec4::new(0.5, 0.0, 0.0, 0.0),
            Vec4::new(0.0, -0.5, 0.0, 0.0),
            Vec4::new(0.0, 0.0, 1.0, 0.0),
            Vec4::new(0.5, 0.5, 0.0, 1.0),
        );
        let across = |row: usize| 2.0 / clip_from_world.row(row).xyz().length().max(1e-12);
        uniforms.shadow_from_world = (uv_from_clip * clip_from_world).to_cols_array_2d();
        uniforms.shadow_texel_m = across(0).max(across(1)) / map_size as f32;
        uniforms.shadow_texel_uv = 1.0 / map_size as f32;
    }
    uniforms
}

/// The same projection with depth 1 at the near plane and 0 at infinity, where floats are dense:
/// no far plane cuts the ground, and distant depths stay apart.
fn reversed(clip_from_view: &Mat4) -> Mat4 {
    let mut m = clip_from_view.transpose();
    m.z_axis = Vec4::new(0.0, 0.0, 0.0, View::NEAR);
    m.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> View {
        let eye = Vec3::new(3.0, 4.0, 9.0);
        View::look_at(eye, Vec3::new(-1.0, 1.0, 0.0), 0.9, 500.0, (320, 180))
    }

    #[test]
    fn depth_is_one_at_the_near_plane_and_falls_towards_zero() {
        let v = view();
        let u = uniforms(&v, &Lighting::default(), None, (320, 180));
        let clip = Mat4::from_cols_array_2d(&u.clip_from_world);
        let depth = |d: f32| clip.project_point3(v.eye + v.forward * d).z;
        assert!((depth(View::NEAR) - 1.0).abs() < 1e-4);
        assert!((depth(50.0) - View::NEAR / 50.0).abs() < 1e-6);
        assert!(depth(1e6) > 0.0);
        // Where a point lands on the picture doesn't change.
        let p = Vec3::new(-2.0, 0.5, 1.0);
        let (a, b) = (clip.project_point3(p), v.clip_from_world().project_point3(p));
        assert!((a - b).truncate().length() < 1e-6);
    }

    #[test]
    fn a_pixels_ray_goes_through_the_point_that_lands_on_it() {
        let v = view();
        let u = uniforms(&v, &Lighting::default(), None, (320, 180));
        let p = Vec3::new(-2.0, 0.5, 1.0);
        let ndc = v.clip_from_world().project_point3(p);
        let ray = Vec3::from(u.ray_forward)
            + ndc.x * Vec3::from(u.ray_right)
            + ndc.y * Vec3::from(u.ray_up);
        assert!(ray.normalize().dot((p - v.eye).normalize()) > 1.0 - 1e-6);
    }

    #[test]
    fn the_shadow_maps_texel_has_its_size_in_the_world() {
        let ortho = glam::camera::rh::proj::directx::orthographic(-8.0, 8.0, -4.0, 4.0, 0.0, 10.0);
        let u = uniforms(&view(), &Lighting::default(), Some((ortho, 1024)), (320, 180));
        assert!((u.shadow_texel_m - 16.0 / 1024.0).abs() < 1e-7);
        let uv = Mat4::from_cols_array_2d(&u.shadow_from_world);
        let corner = uv.project_point3(Vec3::new(-8.0, 4.0, -5.0));
        assert!(corner.abs_diff_eq(Vec3::new(0.0, 0.0, 0.5), 1e-6), "{corner}");
    }
}
