//! What the pipelines of the main pass have in common.

use super::shaders::Shader;
use super::target::{Attachments, TargetFormats};
use wgpu::VertexBufferLayout;

/// What every pipeline of the main pass must agree with.
#[derive(Clone, Copy, Debug)]
pub(super) struct MainPass {
    pub(super) formats: TargetFormats,
    pub(super) samples: u32,
}

/// How one pipeline of the main pass differs from the others.
pub(super) struct Draw<'a> {
    pub(super) shader: Shader,
    pub(super) module: &'a wgpu::ShaderModule,
    pub(super) layout: &'a wgpu::PipelineLayout,
    pub(super) fragment: &'a str,
    /// Values of the shader's overrides, beyond the common ones.
    pub(super) constants: &'a [(&'a str, f64)],
    pub(super) buffers: &'a [Option<VertexBufferLayout<'a>>],
    pub(super) topology: wgpu::PrimitiveTopology,
    pub(super) cull: Option<wgpu::Face>,
    pub(super) write_depth: bool,
    pub(super) depth_compare: wgpu::CompareFunction,
    pub(super) blend: Option<wgpu::BlendState>,
    pub(super) alpha_to_coverage: bool,
}

impl Draw<'_> {
    /// Nearer than what is there. Reversed; equal passes, so that what lies at infinity is drawn.
    pub(super) const NEARER: wgpu::CompareFunction = wgpu::CompareFunction::GreaterEqual;
}

impl MainPass {
    /// A pipeline of the main pass. Alpha is not written: a picture is opaque.
    pub(super) fn pipeline(&self, device: &wgpu::Device, draw: &Draw<'_>) -> wgpu::RenderPipeline {
        let mut constants = draw.constants.to_vec();
        // An override that a module doesn't declare would be refused.
        if draw.shader.source.contains("override ENCODE_SRGB") {
            let encode = self.formats.encode_in_shader();
            constants.push(("ENCODE_SRGB", f64::from(u8::from(encode))));
        }
        let options =
            wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() };
        device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(&format!("{} {}", draw.shader.name, draw.fragment)),
            layout: Some(draw.layout),
            vertex: wgpu::VertexState {
                module: draw.module,
                entry_point: Some("vs_main"),
                compilation_options: options.clone(),
                buffers: draw.buffers,
            },
            primitive: wgpu::PrimitiveState {
                topology: draw.topology,
                cull_mode: draw.cull,
                ..Default::default()
            },
            depth_stencil: Some(wgpu::DepthStencilState {
                format: Attachments::DEPTH,
                depth_write_enabled: Some(draw.write_depth),
                depth_compare: Some(draw.depth_compare),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: wgpu::MultisampleState {
                count: self.samples,
                mask: !0,
                alpha_to_coverage_enabled: draw.alpha_to_coverage,
            },
            fragment: Some(wgpu::FragmentState {
                module: draw.module,
                entry_point: Some(draw.fragment),
                compilation_options: options,
                targets: &[Some(wgpu::ColorTargetState {
                    format: self.formats.color,
                    blend: draw.blend,
                    write_mask: wgpu::ColorWrites::COLOR,
                })],
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

/// A pipeline layout over bind group layouts.
pub(super) fn layout(
    device: &wgpu::Device,
    label: &str,
    groups: &[Option<&wgpu::BindGroupLayout>],
) -> wgpu::PipelineLayout {
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(label),
        bind_group_layouts: groups,
        immediate_size: 0,
    })
}
