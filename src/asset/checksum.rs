//! Whether two characters are posed alike.

use super::CharacterAsset;
use crate::math::Trs;
use glam::Affine3A;
use std::hash::Hasher;
use twox_hash::XxHash3_64;

/// Feeds numbers to the hash by their bytes, lowest first.
struct Feed(XxHash3_64);

impl Feed {
    fn number(&mut self, number: u64) {
        self.0.write(&number.to_le_bytes());
    }

    /// A text with its length, so that neighbours can't trade letters.
    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.write(text.as_bytes());
    }

    fn floats(&mut self, floats: &[f32]) {
        for float in floats {
            self.0.write(&float.to_bits().to_le_bytes());
        }
    }

    fn trs(&mut self, trs: &Trs) {
        self.floats(&trs.translation.to_array());
        self.floats(&trs.rotation.to_array());
        self.floats(&trs.scale.to_array());
    }

    fn affine(&mut self, matrix: &Affine3A) {
        self.floats(&matrix.to_cols_array());
    }
}

impl CharacterAsset {
    /// XXH3 over skeleton, palette, clips and how these are kept, names included: what a task list's result depends
    /// on. Meshes and materials have no part.
    pub fn checksum(&self) -> u64 {
        let mut feed = Feed(XxHash3_64::new());
        let skeleton = &self.skeleton;
        feed.number(u64::from(skeleton.bone_count().0));
        for bone in skeleton.bone_count().bones() {
            feed.text(&skeleton.names()[bone.get()]);
            feed.number(skeleton.parents()[bone.get()].map_or(u64::MAX, |p| u64::from(p.0)));
            feed.trs(&skeleton.rest()[bone.get()]);
            feed.affine(&skeleton.model_from_root_parent(bone));
        }
        feed.number(skeleton.palette().len() as u64);
        for entry in skeleton.palette() {
            feed.number(u64::from(entry.bone.0));
            feed.affine(&entry.bone_from_mesh);
        }
        for clip in &self.clips {
            feed.text(&clip.name);
            feed.floats(&[clip.rate_hz]);
            feed.number(clip.frame_count as u64);
            clip.locals.iter().for_each(|local| feed.trs(local));
        }
        for kept in &self.kept {
            feed.number(kept.store as u64);
        }
        feed.0.finish()
    }
}

#[cfg(test)]
mod tests {
    use crate::asset::builtin;

    #[test]
    fn one_bit_of_a_clip_or_a_name_makes_another_checksum_and_a_colour_does_not() {
        let asset = builtin("quadruped").unwrap().unwrap();
        let sum = asset.checksum();
        assert_eq!(builtin("quadruped").unwrap().unwrap().checksum(), sum);
        assert_ne!(builtin("humanoid").unwrap().unwrap().checksum(), sum);
        let mut other = asset.clone();
        let value = &mut other.clips[3].locals[77].rotation.y;
        *value = f32::from_bits(value.to_bits() ^ 1);
        assert_ne!(other.checksum(), sum);
        let mut other = asset.clone();
        other.clips[0].name.push('x');
        assert_ne!(other.checksum(), sum);
        let mut other = asset;
        other.materials[0].base_color = [0.1; 4];
        assert_eq!(other.checksum(), sum);
    }
}
