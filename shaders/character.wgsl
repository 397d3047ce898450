// Skinned characters: one draw per primitive and palette page.

// True where the pipeline turns alpha into sample coverage.
override ALPHA_TO_COVERAGE: bool = false;
// Which pixels are drawn while one mesh takes the place of another: 0 all, 1 the coarser mesh's, 2 the
// finer one's.
override FADE: u32 = 0u;

struct Vertex {
    @location(0) position: vec3<f32>,
    @location(1) joints: vec4<u32>,
    @location(2) weights: vec4<f32>,
    @location(3) normal: vec4<f32>,
    @location(4) uv: vec2<f32>,
    @location(5) color: vec4<f32>,
}

struct Varyings {
    @builtin(position) clip: vec4<f32>,
    @location(0) world: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) uv: vec2<f32>,
    @location(3) color: vec4<f32>,
    // Metres above the ground that the character stands on.
    @location(4) above_ground: f32,
    // The coarser mesh's share of the pixels.
    @location(5) @interpolate(flat) fade: f32,
}

@vertex
fn vs_main(vertex: Vertex, instance: Instance) -> Varyings {
    let skin = skin_matrix(instance, vertex.joints, vertex.weights);
    let placed = world_from_model(instance);
    let world = transform_point(placed, transform_point(skin, vertex.position));
    let normal = transform_vector(placed, transform_normal(skin, vertex.normal.xyz));
    let color = unpack4x8unorm(instance.words.y);
    // Without alpha the colour is told apart from what the materials look like.
    let tint = mix(vec3<f32>(1.0), color.rgb, max(material.tinted, 1.0 - color.a));
    let own = material.base_color * vertex.color;
    let base = vec4<f32>(mix(vec3<f32>(1.0), own.rgb, color.a), own.a);
    var out: Varyings;
    out.clip = frame.clip_from_world * vec4<f32>(world, 1.0);
    out.world = world;
    out.above_ground = world.y - bitcast<f32>(instance.words.w);
    // Any scale is taken out here, so that interpolation weighs corners alike.
    out.normal = normal * inverseSqrt(max(dot(normal, normal), 1e-30));
    out.uv = vertex.uv;
    out.fade = bitcast<f32>(instance.mixed.z);
    out.color = base * vec4<f32>(tint, 1.0);
    return out;
}

// Leaves out the pixels that the other mesh has, spread evenly. After everything that looks at
// neighbouring pixels.
fn leave_out(in: Varyings) {
    if FADE == 0u {
        return;
    }
    if (gradient_noise(in.clip.xy) < in.fade) != (FADE == 1u) {
        discard;
    }
}

fn base_color(in: Varyings) -> vec4<f32> {
    if TEXTURED {
        return in.color * textureSample(base_color_texture, base_color_sampler, in.uv);
    }
    return in.color;
}

// How much of a metal the surface is, and how rough.
fn metallic_roughness(in: Varyings) -> vec2<f32> {
    let factors = vec2<f32>(material.metallic, material.roughness);
    if SURFACE_TEXTURED {
        return factors * textureSample(metallic_roughness_texture, base_color_sampler, in.uv).bg;
    }
    return factors;
}

// Reflected light at normal incidence and its directional share under ambient light: Karis's
// polynomial stand-in for the split-sum table (2014).
fn ambient_reflectance(f0: vec3<f32>, roughness: f32, n_dot_v: f32) -> vec3<f32> {
    let r = roughness * vec4<f32>(-1.0, -0.0275, -0.572, 0.022) + vec4<f32>(1.0, 0.0425, 1.04, -0.04);
    let a = min(r.x * r.x, exp2(-9.28 * n_dot_v)) * r.x + r.y;
    let scale_bias = vec2<f32>(-1.04, 1.04) * a + r.zw;
    return f0 * scale_bias.x + scale_bias.y;
}

fn shade(in: Varyings, base: vec3<f32>, surface: vec2<f32>, front: bool) -> vec3<f32> {
    if material.unlit > 0.5 {
        return through_haze(base, in.world);
    }
    let facing = normalize(in.normal);
    let n = select(-facing, facing, front);
    let v = normalize(frame.eye - in.world);
    let l = frame.sun_direction;
    let n_dot_l = saturate(dot(n, l));
    let n_dot_v = max(dot(n, v), 1e-3);

    let diffuse = base * (1.0 - surface.x);
    let f0 = mix(vec3<f32>(0.04), base, surface.x);
    let roughness = clamp(surface.y, 0.08, 1.0);

    // Metal and gloss: the specular lobe of glTF's own appendix B (GGX, Smith, Schlick), times pi
    // because the sun's colour is irradiance over pi.
    let h = normalize(l + v);
    let a2 = roughness * roughness * roughness * roughness;
    let n_dot_h = saturate(dot(n, h));
    let lobe = n_dot_h * n_dot_h * (a2 - 1.0) + 1.0;
    let visible = 0.5 / max(mix(2.0 * n_dot_l * n_dot_v, n_dot_l + n_dot_v, roughness), 1e-3);
    let fresnel = f0 + (1.0 - f0) * pow(1.0 - saturate(dot(l, h)), 5.0);
    let specular = fresnel * (a2 / (lobe * lobe)) * visible;

    var radiance = vec3<f32>(0.0);
    if n_dot_l > 0.0 {
        let sun = frame.sun_color * (n_dot_l * sun_visibility(in.world, n));
        radiance = sun * (diffuse + specular);
    }
    // The ground hides sky from what is near it and looks down: feet and legs sit in their own
    // shade, which is what ties a crowd to its ground.
    let height = saturate(in.above_ground / 0.9);
    let open = mix(0.45 + 0.25 * saturate(0.5 + 0.5 * n.y), 1.0, height);
    radiance += diffuse * ambient_irradiance(n) * open;
    let mirrored = ambient_irradiance(reflect(-v, n));
    radiance += ambient_reflectance(f0, roughness, n_dot_v) * mirrored * open;
    return through_haze(radiance + material.emissive, in.world);
}

@fragment
fn fs_opaque(in: Varyings, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    let base = base_color(in);
    let surface = metallic_roughness(in);
    leave_out(in);
    let radiance = shade(in, base.rgb, surface, front);
    return vec4<f32>(display_color(radiance), 1.0);
}

// Alpha is cut at the material's cutoff; with several samples it becomes coverage, sharpened to one
// pixel around the cutoff.
@fragment
fn fs_mask(in: Varyings, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    let base = base_color(in);
    let surface = metallic_roughness(in);
    let width = max(fwidth(base.a), 1e-4);
    leave_out(in);
    let coverage = saturate((base.a - material.alpha_cutoff) / width + 0.5);
    if coverage < select(0.5, 0.125, ALPHA_TO_COVERAGE) {
        discard;
    }
    return vec4<f32>(display_color(shade(in, base.rgb, surface, front)), coverage);
}

// What is all but opaque of a blended material is drawn as if it were, so that it hides what is
// behind it; fs_blend draws the rest.
const SOLID: f32 = 0.98;

@fragment
fn fs_blend_solid(in: Varyings, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    let base = base_color(in);
    let surface = metallic_roughness(in);
    leave_out(in);
    if base.a < SOLID {
        discard;
    }
    return vec4<f32>(display_color(shade(in, base.rgb, surface, front)), 1.0);
}

@fragment
fn fs_blend(in: Varyings, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    let base = base_color(in);
    let surface = metallic_roughness(in);
    leave_out(in);
    if base.a >= SOLID || base.a <= 0.0 {
        discard;
    }
    return vec4<f32>(display_color(shade(in, base.rgb, surface, front)), base.a);
}
