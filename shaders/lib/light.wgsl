// Sky, sun, shadow and haze.

// Radiance of the sky along a unit direction; below the horizon, that of the horizon.
fn sky_radiance(direction: vec3<f32>) -> vec3<f32> {
    let up = max(direction.y, 0.0);
    let fall = exp(-up * 5.0);
    let toward_sun = max(dot(direction, frame.sun_direction), 0.0);
    let glow = 0.10 * pow(toward_sun, 8.0) + 0.25 * pow(toward_sun, 96.0);
    return mix(frame.sky_zenith, frame.sky_horizon, fall) + frame.sun_color * glow * fall;
}

// What sky and ground send to a surface from all sides, over pi.
fn ambient_irradiance(normal: vec3<f32>) -> vec3<f32> {
    let sky = mix(frame.sky_zenith, frame.sky_horizon, 0.45);
    let up = 0.5 + 0.5 * normal.y;
    return mix(frame.ground_bounce, sky, up) * frame.ambient;
}

// Mixes a surface's radiance with the haze between it and the eye.
fn through_haze(radiance: vec3<f32>, world: vec3<f32>) -> vec3<f32> {
    let way = world - frame.eye;
    let distance = length(way);
    let d = distance / frame.haze_distance;
    let share = 1.0 - exp(-d * sqrt(d));
    let level = vec3<f32>(way.x, max(way.y, 0.0), way.z);
    let horizon = sky_radiance(level / max(length(level), 1e-4));
    return mix(radiance, horizon, share);
}

// The share of the sun that reaches a point: 4 comparisons of 2x2 texels each, a tent of about
// three texels. Outside the map everything is lit, and the last tenth fades to that.
fn sun_visibility(world: vec3<f32>, normal: vec3<f32>) -> f32 {
    if frame.shadow_texel_uv == 0.0 {
        return 1.0;
    }
    // Off the surface by a texel where the light grazes it: no acne, and contact stays closed.
    let facing = saturate(dot(normal, frame.sun_direction));
    let slope = sqrt(1.0 - facing * facing);
    let lifted = world + normal * (frame.shadow_texel_m * (0.4 + 1.4 * slope));
    let p = frame.shadow_from_world * vec4<f32>(lifted, 1.0);
    let edge = abs(p.xy - 0.5) * 2.0;
    let outside = max(edge.x, edge.y);
    if outside >= 1.0 || p.z <= 0.0 || p.z >= 1.0 {
        return 1.0;
    }
    let step = frame.shadow_texel_uv * 0.75;
    var lit = 0.0;
    lit += textureSampleCompareLevel(shadow_map, shadow_sampler, p.xy + vec2<f32>(-step, -step), p.z);
    lit += textureSampleCompareLevel(shadow_map, shadow_sampler, p.xy + vec2<f32>(step, -step), p.z);
    lit += textureSampleCompareLevel(shadow_map, shadow_sampler, p.xy + vec2<f32>(-step, step), p.z);
    lit += textureSampleCompareLevel(shadow_map, shadow_sampler, p.xy + vec2<f32>(step, step), p.z);
    return mix(lit * 0.25, 1.0, smoothstep(0.9, 1.0, outside));
}
