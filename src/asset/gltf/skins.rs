//! Skins: joints and inverse bind matrices.

use super::accessor::{Accessors, Component};
use super::json::Root;
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
                let layout = accessors.expect(index, used_as, expected, |layout| {
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
