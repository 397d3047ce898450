//! What `inspect` prints for people.

use super::report::{PoseReport, Report};
use crate::asset::{AlphaMode, CharacterAsset};
use std::io::{self, Write};

/// Writes everything.
pub(super) fn write(
    out: &mut impl Write,
    character: &CharacterAsset,
    report: &Report,
) -> io::Result<()> {
    summary(out, character, report)?;
    bones(out, report)?;
    clips(out, report)?;
    meshes(out, character, report)?;
    materials(out, character)?;
    for pose in &report.poses {
        posed(out, report, pose)?;
    }
    if !report.warnings.is_empty() {
        writeln!(out, "\nWarnings")?;
        for warning in &report.warnings {
            writeln!(out, "  {}", printable(warning))?;
        }
    }
    Ok(())
}

fn summary(out: &mut impl Write, character: &CharacterAsset, report: &Report) -> io::Result<()> {
    let s = &report.skeleton;
    let (b, m) = (&report.bounds, &report.memory);
    writeln!(out, "{}", printable(&report.file))?;
    writeln!(
        out,
        "  bones      {}, {} of them animated in low detail: {} m or {} px off there on average",
        s.bones.len(),
        s.low_detail_bone_count,
        short(s.low_detail_error_m),
        short(s.low_detail_error_px)
    )?;
    writeln!(out, "  matrices   {} ({} a character)", s.palette_matrices, bytes(m.palette_bytes))?;
    let vertices: usize = character.primitives.iter().map(|p| p.vertices.len()).sum();
    let triangles: usize = character.primitives.iter().map(|p| p.indices.len() / 3).sum();
    writeln!(
        out,
        "  meshes     {} nodes, {} primitives, {vertices} vertices, {triangles} triangles ({})",
        report.meshes.len(),
        character.primitives.len(),
        bytes(m.mesh_bytes)
    )?;
    let images = character.images.len();
    writeln!(out, "  images     {images} ({})", bytes(m.image_bytes))?;
    writeln!(out, "  clips      {} ({})", report.clips.len(), bytes(m.clip_bytes))?;
    let point = |p: [f32; 3]| format!("({}, {}, {})", short(p[0]), short(p[1]), short(p[2]));
    writeln!(
        out,
        "  bounds     box {} to {}, sphere of radius {} around {}",
        point(b.min),
        point(b.max),
        short(b.radius),
        point(b.center)
    )?;
    for skin in &report.skins {
        writeln!(out, "  skin {:<5} {} joints", skin.index, skin.joints.len())?;
    }
    if report.meshes.is_empty() {
        writeln!(out, "  There is nothing to draw: no node of the scene shows triangles.")?;
    }
    Ok(())
}

fn bones(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let cut = report.skeleton.low_detail_bone_count;
    let rows = report.skeleton.bones.iter().map(|bone| {
        let parent = bone.parent.map_or("-".into(), |p| p.to_string());
        let detail = if cut.contains(bone.index) { "" } else { "full only" };
        [
            bone.index.to_string(),
            printable(&bone.name),
            parent,
            bone.node.to_string(),
            detail.into(),
        ]
    });
    section(out, "Bones", ["#", "name", "parent", "node", "detail"], "><>><", rows.collect())
}

fn clips(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let rows = report.clips.iter().map(|clip| {
        [
            clip.index.to_string(),
            printable(&clip.name),
            format!("{:.3}", clip.seconds),
            format!("{:.2}", clip.rate_hz),
            clip.store.name().into(),
            millimetres(Some(clip.resampling_error_m)),
            millimetres(clip.i16_error_m),
            millimetres(Some(clip.max_error_m)),
        ]
    });
    let head = ["#", "name", "seconds", "Hz", "store", "rate's error", "16 bits'", "largest (mm)"];
    section(out, "Clips", head, "><>>>>>>", rows.collect())
}

fn meshes(out: &mut impl Write, character: &CharacterAsset, report: &Report) -> io::Result<()> {
    let mut rows = Vec::new();
    for mesh in &report.meshes {
        for p in &mesh.primitives {
            rows.push([
                mesh.node.to_string(),
                mesh.mesh.to_string(),
                p.index.to_string(),
                p.skin.map_or("rigid".into(), |s| s.to_string()),
                p.vertices.to_string(),
                p.triangles.to_string(),
                p.influences_max.to_string(),
            ]);
        }
    }
    let rows = rows.into_iter().zip(&character.primitives).map(|(row, p)| {
        let [node, mesh, index, skin, vertices, triangles, influences] = row;
        [node, mesh, index, skin, vertices, triangles, influences, p.material.to_string()]
    });
    let head =
        ["node", "mesh", "primitive", "skin", "vertices", "triangles", "influences", "material"];
    section(out, "Meshes", head, ">>>>>>>>", rows.collect())
}

fn materials(out: &mut impl Write, character: &CharacterAsset) -> io::Result<()> {
    let rows = character.materials.iter().enumerate().map(|(index, m)| {
        let image = m.base_color_image.and_then(|i| character.images.get(i as usize));
        let [r, g, b, a] = m.base_color.map(short);
        [
            index.to_string(),
            printable(&m.name),
            format!("{r} {g} {b} {a}"),
            image
                .map_or("-".into(), |i| format!("{}x{} {}", i.width, i.height, printable(&i.name))),
            match m.alpha {
                AlphaMode::Opaque => "opaque".into(),
                AlphaMode::Mask { cutoff } => format!("mask {}", short(cutoff)),
                AlphaMode::Blend => "blend".into(),
            },
            if m.double_sided { "both" } else { "front" }.into(),
            if m.unlit { "unlit" } else { "lit" }.into(),
        ]
    });
    let head = ["#", "name", "colour", "texture", "alpha", "sides", "light"];
    section(out, "Materials", head, "><<<<<<", rows.collect())
}

fn posed(out: &mut impl Write, report: &Report, pose: &PoseReport) -> io::Result<()> {
    let clip = pose.clip.and_then(|clip| report.clips.get(clip.get()));
    let clip = clip.map_or("rest pose".into(), |c| format!("{:?}", c.name));
    let title = format!("Pose {clip} at {} s", pose.seconds);
    let rows = pose.bones.iter().map(|bone| {
        let [x, y, z] = [12, 13, 14].map(|i| format!("{:.4}", bone.model[i]));
        [bone.node.to_string(), printable(&bone.name), x, y, z]
    });
    section(out, &title, ["node", "name", "x", "y", "z"], "><>>>", rows.collect())?;
    for mesh in pose.vertices.iter().flatten() {
        let title = format!("Vertices of node {}, primitive {}", mesh.node, mesh.primitive);
        let rows = mesh.positions.iter().enumerate().map(|(index, position)| {
            let [x, y, z] = position.map(|v| format!("{v:.4}"));
            [index.to_string(), x, y, z]
        });
        section(out, &title, ["#", "x", "y", "z"], ">>>>", rows.collect())?;
    }
    Ok(())
}

/// A titled table with aligned columns (`<` left, `>` right); nothing when it has no rows.
fn section<const N: usize>(
    out: &mut impl Write,
    title: &str,
    head: [&str; N],
    align: &str,
    rows: Vec<[String; N]>,
) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut widths = head.map(str::len);
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    writeln!(out, "\n{title}")?;
    for row in std::iter::once(&head.map(str::to_owned)).chain(&rows) {
        let mut line = String::new();
        for ((cell, &width), align) in row.iter().zip(&widths).zip(align.chars()) {
            let cell = match align {
                '>' => format!("  {cell:>width$}"),
                _ => format!("  {cell:<width$}"),
            };
            line.push_str(&cell);
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// A name from a file without what could steer a terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// A number in few characters: plain where that reads well.
fn short(value: f32) -> String {
    let size = value.abs();
    if size == 0.0 {
        "0".into()
    } else if (1e-3..1e6).contains(&size) {
        let digits = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
        let text = format!("{value:.digits$}");
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').into()
        } else {
            text
        }
    } else {
        format!("{value:.1e}")
    }
}

/// A distance in metres, printed in millimetres.
fn millimetres(metres: Option<f32>) -> String {
    metres.map_or("-".into(), |metres| short(metres * 1e3))
}

fn bytes(count: usize) -> String {
    let (mut value, mut unit) = (count as f64, "B");
    for next in ["KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    if unit == "B" { format!("{count} B") } else { format!("{value:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-0.25, "-0.25"),
            (1.23456, "1.235"),
            (173.509, "173.5"),
            (0.00151, "0.00151"),
            (1e-5, "1.0e-5"),
            (123_456.7, "123457"),
        ] {
            assert_eq!(short(value), text);
        }
        assert_eq!((bytes(1023).as_str(), bytes(1536).as_str()), ("1023 B", "1.5 KiB"));
    }

    #[test]
    fn columns_line_up_and_control_characters_do_not_reach_the_terminal() {
        let mut out = Vec::new();
        let rows = vec![["1".into(), printable("a\u{1b}[2J")], ["10".into(), "bb".into()]];
        section(&mut out, "T", ["#", "name"], "><", rows).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "\nT\n   #  name\n   1  a\u{fffd}[2J\n  10  bb\n");
    }
}
