// From radiance to what the target stores.

// True where the target stores what it is given without encoding it as sRGB.
override ENCODE_SRGB: bool = false;

// Filmic tone curve, the rational fit of the ACES reference curve by Narkowicz (2015).
fn tone_curve(radiance: vec3<f32>) -> vec3<f32> {
    let x = max(radiance, vec3<f32>(0.0));
    return saturate((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14));
}

// IEC 61966-2-1.
fn srgb_from_linear(linear: vec3<f32>) -> vec3<f32> {
    let low = linear * 12.92;
    let high = 1.055 * pow(linear, vec3<f32>(1.0 / 2.4)) - 0.055;
    return select(high, low, linear <= vec3<f32>(0.0031308));
}

// Inverse of srgb_from_linear.
fn linear_from_srgb(encoded: vec3<f32>) -> vec3<f32> {
    let low = encoded / 12.92;
    let high = pow((encoded + 0.055) / 1.055, vec3<f32>(2.4));
    return select(high, low, encoded <= vec3<f32>(0.04045));
}

// Interleaved gradient noise, 0 to 1 (Jimenez 2014): any few neighbouring pixels have values that are
// spread evenly.
fn gradient_noise(pixel: vec2<f32>) -> f32 {
    return fract(52.9829189 * fract(dot(pixel, vec2<f32>(0.06711056, 0.00583715))));
}

// The colour to store for a radiance.
fn display_color(radiance: vec3<f32>) -> vec3<f32> {
    let color = tone_curve(radiance * frame.exposure);
    if ENCODE_SRGB {
        return srgb_from_linear(color);
    }
    return color;
}

// The same with half a step of 8-bit noise, for smooth gradients.
fn display_color_dithered(radiance: vec3<f32>, fragment: vec4<f32>) -> vec3<f32> {
    let noise = gradient_noise(fragment.xy);
    let encoded = srgb_from_linear(tone_curve(radiance * frame.exposure));
    let dithered = saturate(encoded + (noise - 0.5) / 255.0);
    if ENCODE_SRGB {
        return dithered;
    }
    return linear_from_srgb(dithered);
}
