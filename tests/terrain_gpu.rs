//! The terrain that shaders compute is the one that characters are placed on.
#![allow(clippy::unwrap_used, clippy::panic, reason = "what is missing or wrong fails the test")]

use glam::Vec2;
use throng::motion::Terrain;
use throng::render::{Gpu, GpuRequest};
use wgpu::util::DeviceExt;

/// Evaluates shaders/lib/terrain.wgsl at points: world (x, z), the bits of the seed, and the span
/// of the window that it is seen through.
const PROBE: &str = concat!(
    include_str!("../shaders/lib/terrain.wgsl"),
    "
    @group(0) @binding(0) var<storage, read> points: array<vec4<f32>>;
    @group(0) @binding(1) var<storage, read_write> ground: array<vec4<f32>>;

    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x < arrayLength(&points) {
            let p = points[id.x];
            ground[id.x] = vec4<f32>(terrain_point(bitcast<u32>(p.z), p.xy, p.w), 0.0);
        }
    }
    "
);

/// Height and gradient of each point, as the software adapter computes them.
fn on_the_gpu(points: &[[f32; 4]]) -> Vec<[f32; 4]> {
    let gpu = Gpu::new(&GpuRequest { adapter: Some("llvmpipe".into()) })
        .unwrap_or_else(|e| panic!("this needs Mesa's lavapipe: {e}"));
    let device = gpu.device();
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("terrain probe"),
        source: wgpu::ShaderSource::Wgsl(PROBE.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("terrain probe"),
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });
    let input = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: Some("points"),
        contents: bytemuck::cast_slice(points),
        usage: wgpu::BufferUsages::STORAGE,
    });
    let buffer = |label, usage| {
        let size = size_of_val(points) as u64;
        let label = Some(label);
        device.create_buffer(&wgpu::BufferDescriptor {
            label,
            size,
            usage,
            mapped_at_creation: false,
        })
    };
    let output = buffer("ground", wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC);
    let read = buffer("read back", wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("terrain probe"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: input.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: output.as_entire_binding() },
        ],
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(points.len().div_ceil(64) as u32, 1, 1);
    }
    encoder.copy_buffer_to_buffer(&output, 0, &read, 0, read.size());
    gpu.queue().submit([encoder.finish()]);
    read.map_async(wgpu::MapMode::Read, .., |r| r.unwrap());
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    gpu.check().unwrap();
    let view = read.get_mapped_range(..).unwrap();
    bytemuck::cast_slice(&view).to_vec()
}

/// 4,000 points that follow no lattice, within `reach` metres of the origin, over several seeds.
fn points(reach: f32, span: f32) -> Vec<[f32; 4]> {
    let point = |i: u32| {
        let t = i as f32;
        let (x, z) = ((t * 0.618_034).fract() - 0.5, (t * 0.754_877_7).fract() - 0.5);
        let seed = [0, 1, 0xdead_beef, u32::MAX][i as usize % 4];
        [2.0 * reach * x, 2.0 * reach * z, f32::from_bits(seed), span]
    };
    (0..4_000).map(point).collect()
}

#[test]
fn heights_and_slopes_agree() {
    // Where a crowd is, to a hundredth of a millimetre; where a camera may fly to, to a millimetre;
    // beyond, as well as f32 tells places apart.
    for (reach, metres, slope) in [(60.0, 1e-5, 1e-4), (8_000.0, 1e-3, 2e-3), (2e5, 1e-2, 5e-2)] {
        let points = points(reach, 0.0);
        let (mut off, mut tilted) = (0.0f32, 0.0f32);
        for (p, got) in points.iter().zip(on_the_gpu(&points)) {
            let terrain = Terrain::uneven(p[2].to_bits());
            let expected = terrain.point(Vec2::new(p[0], p[1]));
            off = off.max((got[0] - expected.height).abs());
            tilted = tilted.max((Vec2::new(got[1], got[2]) - expected.gradient).length());
        }
        assert!(off < metres && tilted < slope, "within {reach} m: {off} m, slopes {tilted}");
    }
}

#[test]
fn what_a_pixel_holds_several_of_is_left_out() {
    let seen = |span: f32| {
        let ground = on_the_gpu(&points(300.0, span));
        let slope = |g: &[f32; 4]| f64::from(g[1] * g[1] + g[2] * g[2]);
        (ground.iter().map(slope).sum::<f64>() / ground.len() as f64).sqrt()
    };
    let [all, bumps, hills, nothing] = [0.0, 0.5, 2.0, 5.0].map(seen);
    assert!(all > 1.02 * bumps && bumps > 1.02 * hills && hills > 0.01, "{all} {bumps} {hills}");
    assert_eq!(nothing, 0.0);
}
