//! `--pose`: a clip at a time, as the runtime plays it or as the file's curves have it.

use super::InspectArgs;
use super::report::{PoseReport, PosedBone, PosedVertices};
use crate::asset::exact::Evaluator;
use crate::asset::source::Source;
use crate::asset::{CharacterAsset, skinning};
use crate::index::ClipId;
use crate::pose::{Rig, UniformClip};
use glam::{Affine3A, Mat4};
use std::str::FromStr;

/// A `--pose` value.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseArg {
    /// Index or name of a clip, or `rest`.
    pub clip: String,
    /// As given; clamped to the clip when it is evaluated.
    pub seconds: f32,
}

impl FromStr for PoseArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = "CLIP@SECONDS is needed, such as walk@0.5, 0@1.25 or rest@0";
        let (clip, seconds) = match text.rsplit_once('@') {
            Some(parts) => parts,
            None if text == "rest" => (text, "0"),
            None => return Err(wanted.into()),
        };
        match seconds.trim().parse::<f32>() {
            Ok(seconds) if seconds.is_finite() && !clip.is_empty() => {
                Ok(Self { clip: clip.to_owned(), seconds })
            }
            _ => Err(wanted.into()),
        }
    }
}

impl PoseArg {
    /// The clip meant; `None` for the rest pose. An index counts before a name.
    ///
    /// # Errors
    /// Says which clips there are.
    pub(super) fn find(&self, clips: &[UniformClip]) -> Result<Option<ClipId>, String> {
        if self.clip == "rest" {
            return Ok(None);
        }
        let index = self.clip.parse::<usize>().ok().filter(|&i| i < clips.len());
        match index.or_else(|| clips.iter().position(|c| c.name == self.clip)) {
            Some(index) => Ok(ClipId::try_from(index).ok()),
            None => {
                let names: Vec<String> =
                    clips.iter().take(20).map(|c| format!("{:?}", c.name)).collect();
                let more = if clips.len() > 20 { ", ..." } else { "" };
                let clip = &self.clip;
                Err(match clips.len() {
                    0 => format!("--pose {clip}: the file has no clips, only rest can be posed"),
                    n => format!(
                        "--pose {clip}: there is no such clip; there are rest, 0 to {} and {}{more}",
                        n - 1,
                        names.join(", ")
                    ),
                })
            }
        }
    }
}

/// Model matrices and, when asked for, vertices of one pose.
pub(super) fn evaluate(
    pose: &PoseArg,
    clip: Option<ClipId>,
    source: &Source,
    character: &CharacterAsset,
    rig: &Rig,
    args: &InspectArgs,
) -> PoseReport {
    let (model, palette) = if args.exact {
        exact(clip, pose.seconds, source, character)
    } else {
        runtime(clip, pose.seconds, rig)
    };
    let bones = character
        .bone_nodes
        .iter()
        .zip(character.skeleton.names())
        .zip(&model)
        .map(|((node, name), model)| PosedBone {
            node: *node,
            name: name.clone(),
            model: Mat4::from(*model).to_cols_array(),
        })
        .collect();
    let vertices = character.primitives.iter().map(|p| PosedVertices {
        node: p.node,
        primitive: p.index,
        positions: skinning::skin_primitive(p, &palette).iter().map(|v| v.to_array()).collect(),
    });
    PoseReport {
        clip,
        seconds: pose.seconds,
        bones,
        vertices: args.vertices.then(|| vertices.collect()),
    }
}

/// Through the kernels that the frame uses: sampled locals, and the palette as resolve writes it.
fn runtime(clip: Option<ClipId>, seconds: f32, rig: &Rig) -> (Vec<Affine3A>, Vec<Affine3A>) {
    // A rig gives its rest pose for a clip that it does not have.
    let clip = clip.unwrap_or(ClipId(u16::MAX));
    let model = rig.skeleton().model_from_bone(&rig.sample_locals(clip, seconds));
    let palette = rig.sample_palette(clip, seconds).iter().map(|m| m.to_affine()).collect();
    (model, palette)
}

/// From the source's own keys, curves and matrices.
fn exact(
    clip: Option<ClipId>,
    seconds: f32,
    source: &Source,
    character: &CharacterAsset,
) -> (Vec<Affine3A>, Vec<Affine3A>) {
    let evaluator = Evaluator::new(source);
    let of_node = match clip.and_then(|clip| source.animations.get(clip.get())) {
        Some(animation) => evaluator.at(animation, seconds.into()),
        None => evaluator.rest(),
    };
    let of_bone: Vec<_> = character.bone_nodes.iter().map(|node| of_node[node.get()]).collect();
    let palette = character.skeleton.palette().iter();
    let palette = palette
        .map(|e| (of_bone[e.bone.get()] * e.bone_from_mesh.as_daffine3()).as_affine3a())
        .collect();
    (of_bone.iter().map(|m| m.as_affine3a()).collect(), palette)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clip(name: &str) -> UniformClip {
        UniformClip {
            name: name.into(),
            rate_hz: 30.0,
            frame_count: 1,
            locals: vec![],
            max_error_m: 0.0,
        }
    }

    #[test]
    fn a_pose_is_a_clip_and_a_time_after_the_last_at_sign() {
        let pose: PoseArg = "rig@walk@-0.5".parse().unwrap();
        assert_eq!(pose, PoseArg { clip: "rig@walk".into(), seconds: -0.5 });
        assert_eq!("rest".parse::<PoseArg>().unwrap().seconds, 0.0);
        for bad in ["walk", "walk@", "@1", "walk@nan", "walk@soon"] {
            assert!(bad.parse::<PoseArg>().unwrap_err().contains("walk@0.5"), "{bad}");
        }
    }

    #[test]
    fn clips_are_found_by_index_then_name_and_a_miss_lists_them() {
        let clips = [clip("run"), clip("0"), clip("a b")];
        let find = |clip: &str| PoseArg { clip: clip.into(), seconds: 0.0 }.find(&clips);
        assert_eq!(find("rest"), Ok(None));
        assert_eq!(find("0"), Ok(Some(ClipId(0))));
        assert_eq!(find("a b"), Ok(Some(ClipId(2))));
        let miss = find("walk").unwrap_err();
        assert!(miss.contains("0 to 2") && miss.contains("\"a b\""), "{miss}");
        let none = PoseArg { clip: "0".into(), seconds: 0.0 }.find(&[]).unwrap_err();
        assert!(none.contains("no clips"), "{none}");
    }
}
