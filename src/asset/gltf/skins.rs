//! Skins: joints and inverse bind matrices.

use super::accessor::Accessors;
use super::json::Root;
use super::layout::Component;
use super::nodes;
use super::warnings::Warnings;
use crate::asset::error::{Fault, object};
use crate::asset::source::SourceSkin;
use crate::index::NodeIndex;
use glam::Mat4;

/// The most joints that JOINTS_n can refer to.
const MAX_JOINTS: usize = 1 << 16;

/// Reads all skins.
///
/// # Errors
/// References out of range, a skin without joints, fewer inverse bind matrices than joints or of
/// another type, numbers that are not finite.
pub(super) fn read(
    root: &Root,
    accessors: &Accessors,
    warnings: &mut Warnings,
) -> Result<Vec<SourceSkin>, Fault> {
    let mut skins = Vec::with_capacity(root.skins.len());
    for (at, json) in root.skins.iter().enumerate() {
        let user = || object("skin", at, json.name.as_deref());
        if json.joints.is_empty() {
            return Err(Fault::Missing { object: user(), property: "joints" });
        }
        if json.joints.len() > MAX_JOINTS {
            let (kind, count) = ("joints in one skin", json.joints.len());
            return Err(Fault::TooMany { kind, count, limit: MAX_JOINTS });
        }
        let mut joints = Vec::with_capacity(json.joints.len());
        for joint in &json.joints {
            let (node, _) = joint.of(&root.nodes, "nodes", &user, "joints")?;
            joints.push(NodeIndex(node as u32));
        }
        let mut inverse_binds = match json.inverse_bind_matrices {
            None => vec![Mat4::IDENTITY; joints.len()],
            Some(index) => {
                let used_as = format_args!("inverse bind matrices of {}", user());
                let expected = "MAT4 of f32";
                let layout = accessors.checked_layout(index, used_as, expected, |layout| {
                    layout.components() == 16 && layout.component == Component::F32
                })?;
                if layout.count < joints.len() as u64 {
                    return Err(Fault::Count {
                        object: user(),
                        kind: "inverse bind matrices",
                        found: layout.count as usize,
                        expected: joints.len(),
                        why: ", one for each joint".into(),
                    });
                }
                let matrices = accessors.floats::<16>(index, expected, used_as)?;
                matrices.iter().map(Mat4::from_cols_array).collect()
            }
        };
        // More than there are joints is allowed.
        inverse_binds.truncate(joints.len());
        for (joint, matrix) in inverse_binds.iter_mut().enumerate() {
            *matrix = nodes::affine(*matrix, warnings, || {
                format!("inverse bind matrix {joint} of {}", user())
            });
        }
        let name = json.name.clone().unwrap_or_default();
        skins.push(SourceSkin { name, joints, inverse_binds });
    }
    Ok(skins)
}

#[cfg(test)]
mod tests {
    use crate::asset::gltf::fixture::{F32, Fixture};
    use glam::{Mat4, Vec3};
    use serde_json::json;

    #[test]
    fn joints_and_matrices_are_read_in_the_files_order() {
        let source = Fixture::character().read().unwrap();
        let skin = &source.skins[0];
        assert_eq!(skin.joints.iter().map(|joint| joint.0).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(skin.inverse_binds[1], Mat4::from_translation(Vec3::NEG_Y));
    }

    #[test]
    fn missing_matrices_are_identities_and_surplus_ones_are_left() {
        let mut file = Fixture::character();
        file.json["skins"][0]["joints"] = json!([2]);
        // The quad names joint 1, which this skin no longer has.
        file.primitive()["attributes"].as_object_mut().unwrap().retain(|key, _| key == "POSITION");
        assert_eq!(file.read().unwrap().skins[0].inverse_binds, [Mat4::IDENTITY]);
        file.json["skins"][0] = json!({ "joints": [1, 2] });
        assert_eq!(file.read().unwrap().skins[0].inverse_binds, [Mat4::IDENTITY; 2]);
    }

    #[test]
    fn skins_that_can_not_be_used_are_refused() {
        let refused = |skin: serde_json::Value, words: &[&str]| {
            let mut file = Fixture::character();
            let few = file.accessor(&[0.0f32; 16], F32, "MAT4");
            let mut skin = skin;
            if skin["inverseBindMatrices"] == "few" {
                skin["inverseBindMatrices"] = json!(few);
            }
            file.json["skins"][0] = skin;
            file.refused(words);
        };
        refused(json!({ "joints": [] }), &["skin 0 has no joints"]);
        refused(json!({ "joints": [1, 9], "name": "s" }), &["skin 0 \"s\": joints is 9"]);
        refused(
            json!({ "joints": [1, 2], "inverseBindMatrices": "few" }),
            &["skin 0 has 1 inverse bind matrices, but 2 are needed"],
        );
        refused(
            json!({ "joints": [1, 2], "inverseBindMatrices": 4 }),
            &["accessor 4 (inverse bind matrices of skin 0): is VEC4 of f32", "MAT4 of f32"],
        );
        refused(json!({ "joints": [1, 2], "inverseBindMatrices": 77 }), &["accessor is 77"]);
    }
}
