//! A clip as the peers want it: keys per bone, for what moves.

use glam::{Quat, Vec3};
use throng::app::bench::workload::BONES;
use throng::pose::UniformClip;

/// One bone's keys, evenly spaced from the clip's start to its end.
pub struct Channels {
    /// Local rotations, signed so that neighbours lie on the shorter arc.
    pub rotations: Vec<Quat>,
    /// Local translations; none where the bone stays where the rest pose has it.
    pub translations: Option<Vec<Vec3>>,
}

/// The channels of each bone. Scale never moves in these clips, and has none.
pub fn channels(clip: &UniformClip) -> Vec<Channels> {
    let frames = || clip.locals.chunks_exact(BONES);
    (0..BONES)
        .map(|bone| {
            let translations: Vec<Vec3> = frames().map(|frame| frame[bone].translation).collect();
            let moves = translations.windows(2).any(|pair| pair[0] != pair[1]);
            Channels {
                rotations: frames().map(|frame| frame[bone].rotation).collect(),
                translations: moves.then_some(translations),
            }
        })
        .collect()
}
