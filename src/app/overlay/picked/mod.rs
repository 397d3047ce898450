//! The window about whoever is picked: what was decided about it, what its graph is at, what the
//! executor did with its list, and its last frames.

mod levels;
mod nodes;
mod params;
mod playing;
mod scrubber;
mod tasks;
#[cfg(test)]
mod tests;

use super::Facts;
use super::style::{BRIGHT, FAINT, WARNING, note, row, section};
use crate::app::picked::{BoneColor, Deed, Shows};
use crate::app::wish::Wish;
use crate::crowd::{CharacterFrame, Crowd};
use crate::task::{Capture, MaskId, Names};
use egui::{ComboBox, RichText, Ui};

/// All of it, section by section; nothing while nobody is picked. What the user asks for is added to
/// `wishes`.
pub fn sections(ui: &mut Ui, facts: &Facts<'_>, wishes: &mut Vec<Wish>) {
    let Some(frame) = facts.picked.frame() else {
        note(ui, "It is not there yet.");
        return;
    };
    let mut deeds = Vec::new();
    headline(ui, facts, frame, &mut deeds);
    section(ui, "Last frames", true, |ui| scrubber::show(ui, facts.picked, &mut deeds));
    section(ui, "Decisions", true, |ui| decisions(ui, facts.crowd, frame));
    section(ui, "Playing", true, |ui| playing::show(ui, facts.crowd, frame));
    section(ui, "Parameters", false, |ui| params::show(ui, facts.crowd, frame, &mut deeds));
    section(ui, "Task list", true, |ui| list(ui, facts, frame, tasks::show));
    section(ui, "Task graph", true, |ui| list(ui, facts, frame, nodes::show));
    section(ui, "Drawn in the world", false, |ui| drawn(ui, facts, frame, &mut deeds));
    wishes.extend(deeds.into_iter().map(Wish::Picked));
}

fn headline(ui: &mut Ui, facts: &Facts<'_>, frame: &CharacterFrame, deeds: &mut Vec<Deed>) {
    let (who, crowd) = (frame.who, facts.crowd);
    let kind = crowd.kind_name(frame.kind()).unwrap_or_default();
    ui.horizontal(|ui| {
        ui.label(RichText::new(format!("{} {kind}", who.id())).heading().color(BRIGHT));
        ui.label(RichText::new(format!("generation {}", who.generation())).color(FAINT));
    });
    ui.horizontal(|ui| {
        let mut follows = facts.picked.follows;
        if ui.checkbox(&mut follows, "camera follows").on_hover_text("F").changed() {
            deeds.push(Deed::Follow(follows));
        }
        if ui.button("let go").on_hover_text("Esc, or a click on nobody").clicked() {
            deeds.push(Deed::Pick(None));
        }
    });
    if let Some(idle) = frame.decisions.idle() {
        ui.label(RichText::new(format!("Not evaluated: {idle}.")).color(WARNING));
    }
}

/// What the gates decided, and what that cost.
fn decisions(ui: &mut Ui, crowd: &Crowd, frame: &CharacterFrame) {
    let of = &frame.decisions;
    row(ui, "unseen", of.mode.name());
    if let Some(own) = of.own {
        let by: Vec<String> = of.forced_by.iter().map(|by| by.to_string()).collect();
        let plural = if by.len() == 1 { "" } else { "s" };
        row(ui, "forced by", &format!("sequence{plural} {}, own {}", by.join(", "), own.name()));
    }
    let seen = match (of.camera, of.shadow) {
        (true, true) => "camera and shadow map".to_owned(),
        (true, false) => "camera".to_owned(),
        (false, true) => "shadow map".to_owned(),
        (false, false) if of.unseen.is_finite() => format!("nobody for {:.2} s", of.unseen),
        (false, false) => "nobody yet".to_owned(),
    };
    row(ui, "seen by", &seen);
    row(ui, "distance", &format!("{:.1} radii", of.radii));
    let rate = match of.every {
        1 => "every frame".to_owned(),
        every => format!("every {every} frames, next in {}", of.countdown),
    };
    row(ui, "update rate", &rate);
    if let Some(rig) = crowd.rig(frame.kind()) {
        let whole = rig.bone_count();
        let low = rig.skeleton().low_detail_bone_count();
        let animated = if of.cut { low } else { whole };
        let animated = frame.capture.as_ref().map_or(animated, |capture| capture.active_bones);
        row(ui, "bones", &format!("{animated} of {whole}"));
    }
    row(ui, "slot", &of.slot.to_string());
    if let Some(leader) = of.leader {
        row(ui, "follows", &leader.to_string());
    }
    if of.leads {
        row(ui, "leads", "others take its pose");
    }
    if let Some(fall) = of.fall {
        row(ui, "ragdoll", fall.name());
    }
    if let Some(capture) = &frame.capture {
        let ns: u64 = capture.tasks.iter().map(|task| task.ns).sum();
        row(ui, "recording", &format!("{} ns", frame.record_ns));
        row(ui, "its tasks", &format!("{ns} ns"));
    }
}

/// The list that made the pose of a frame.
fn list(
    ui: &mut Ui,
    facts: &Facts<'_>,
    frame: &CharacterFrame,
    show: impl FnOnce(&mut Ui, &Capture, Names<'_>),
) {
    let executed = facts.picked.executed();
    let capture = executed.and_then(|executed| Some((executed, executed.capture.as_ref()?)));
    match capture.zip(facts.crowd.names(frame.kind())) {
        Some(((executed, capture), names)) => {
            if executed.frame != frame.frame {
                note(ui, format!("It was not evaluated in this frame; as in {}:", executed.frame));
            }
            show(ui, capture, names);
        }
        None => note(ui, "It has executed no list in these frames."),
    }
}

/// What is drawn of it.
fn drawn(ui: &mut Ui, facts: &Facts<'_>, frame: &CharacterFrame, deeds: &mut Vec<Deed>) {
    let before = facts.picked.shows;
    let mut shows = before;
    let Shows { bones, bounds, targets, trail, home, bodies } = &mut shows;
    let masks = facts.crowd.names(frame.kind()).map_or(0, |names| names.masks.iter().len());
    let name = |color: Option<BoneColor>| match color {
        None => "no bones".to_owned(),
        Some(BoneColor::Detail) => "bones by level of detail".to_owned(),
        Some(BoneColor::Axes) => "bones with their axes".to_owned(),
        Some(BoneColor::Mask(mask)) => {
            let names = facts.crowd.names(frame.kind());
            let name = names.and_then(|names| names.masks.name(mask)).unwrap_or_default();
            format!("bones by mask {} {name}", mask.0)
        }
    };
    ComboBox::from_id_salt("bones").selected_text(name(*bones)).show_ui(ui, |ui| {
        let fixed = [None, Some(BoneColor::Detail), Some(BoneColor::Axes)];
        let masks = (0..masks as u16).map(|mask| Some(BoneColor::Mask(MaskId(mask))));
        for color in fixed.into_iter().chain(masks) {
            ui.selectable_value(bones, color, name(color));
        }
    });
    for (shown, what) in [
        (bounds, "culling sphere and posed box"),
        (targets, "IK targets and the ground under feet"),
        (trail, "where it has been"),
        (home, "where it belongs"),
        (bodies, "its bodies, while it is down"),
    ] {
        ui.checkbox(shown, what);
    }
    if shows != before {
        deeds.push(Deed::Show(shows));
    }
}
