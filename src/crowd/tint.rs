//! Colours for clothes.

use super::random::Random;

/// Muted tones, sRGB: what a crowd wears on an ordinary day, light enough to leave textures their
/// own contrast.
const WARDROBE: [[u8; 3]; 18] = [
    [236, 232, 224], // off-white
    [214, 205, 188], // linen
    [199, 178, 150], // sand
    [178, 150, 122], // camel
    [158, 124, 104], // clay
    [190, 138, 116], // terracotta
    [176, 112, 104], // brick
    [150, 98, 104],  // wine
    [205, 170, 166], // old rose
    [216, 192, 132], // straw
    [168, 160, 112], // olive
    [134, 146, 118], // sage
    [112, 136, 122], // pine
    [122, 148, 152], // teal grey
    [126, 144, 172], // denim
    [98, 114, 146],  // navy
    [150, 152, 160], // slate
    [112, 112, 118], // charcoal
];

/// Share by which one colour's brightness varies either way.
const BRIGHTNESS: f32 = 0.12;

/// A character's colour: linear RGBA, 8 bits each, red lowest, alpha full.
pub(crate) fn tint(random: &mut Random) -> u32 {
    let color = WARDROBE[random.below(WARDROBE.len())];
    scaled(color, 1.0 + random.range(-BRIGHTNESS, BRIGHTNESS))
}

/// An sRGB colour as linear RGBA, 8 bits each, red lowest, alpha full.
pub(crate) fn linear(color: [u8; 3]) -> u32 {
    scaled(color, 1.0)
}

fn scaled(color: [u8; 3], brightness: f32) -> u32 {
    let channel = |i: usize| {
        let linear = linear_from_srgb(f32::from(color[i]) / 255.0) * brightness;
        (linear.clamp(0.0, 1.0) * 255.0).round() as u32
    };
    channel(0) | channel(1) << 8 | channel(2) << 16 | 0xff << 24
}

/// IEC 61966-2-1's transfer function.
fn linear_from_srgb(value: f32) -> f32 {
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn colours_are_many_muted_and_never_black() {
        let mut random = Random::new(3, 0);
        let tints: Vec<[u8; 4]> = (0..1_000).map(|_| tint(&mut random).to_le_bytes()).collect();
        assert!(tints.iter().collect::<HashSet<_>>().len() > 200);
        for [r, g, b, a] in tints {
            let (least, most) = (r.min(g).min(b), r.max(g).max(b));
            assert!(a == 255 && most >= 30 && least >= 20, "{r} {g} {b}");
            assert!(most - least < 140, "{r} {g} {b} is loud");
        }
    }
}
