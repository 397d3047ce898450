//! Rank 7: pictures. The one layer below the program that names wgpu.
//!
//! A [`Gpu`] is a device; a [`Renderer`] draws crowds of a fixed set of characters with it, into
//! the texture of an [`Offscreen`] or of a [`WindowSurface`], by the same code. Each frame it is
//! handed plain slices ([`crate::crowd::CrowdDraw`]) and gives nothing back but numbers.
//!
//! One frame is: palette pages, instance records and uniforms to the GPU; the sun's shadow map;
//! then one pass with characters, ground, sky, the shade under the characters and what is blended;
//! then lines, if there are any; then the overlay. Characters are drawn instanced, one draw per primitive, level of detail and
//! palette page.
//!
//! The tint of an instance multiplies the base colour of those materials whose name starts with
//! `tint`; in a character that has no such material, of all of them and less strongly.

mod adapter;
mod backdrop;
mod character;
mod config;
mod contact;
mod error;
mod frame;
mod gpu;
mod ground;
mod ground_tiles;
mod health;
mod instances;
pub mod layout;
mod lines;
mod lod;
mod material;
mod memory;
mod mesh;
mod offscreen;
mod palette;
mod pipeline;
mod renderer;
mod rest;
mod ring;
mod scene;
#[cfg(any(test, feature = "shader-reload"))]
mod shader_texts;
pub mod shaders;
mod shadow;
mod shadow_fit;
mod sorting;
mod staging;
mod stats;
mod surface;
mod target;
mod texture;
mod timing;

pub use adapter::AdapterSummary;
pub use config::{FrameInput, Lighting, Overlay, PaletteUpload, RenderConfig};
pub use error::RenderError;
pub use gpu::{Gpu, GpuError, GpuRequest};
pub use health::GpuFault;
pub use layout::LineRecord;
pub use lines::Lines;
pub use lod::LEVELS as MESH_LEVELS;
pub use memory::GpuMemory;
pub use offscreen::Offscreen;
pub use renderer::Renderer;
#[cfg(any(test, feature = "shader-reload"))]
pub use shader_texts::{ShaderFault, ShaderTexts};
pub use stats::{GpuPass, GpuTimes, RenderStats};
pub use surface::{PresentMode, SurfaceFrame, WindowSurface};
pub use target::{FrameTarget, TargetFormats};
