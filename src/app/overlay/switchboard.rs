//! A switch for each optimization, under its flag's name.

use super::Facts;
use super::style::{FAINT, let_go, note};
use crate::app::cli::{every, named};
use crate::app::cpu;
use crate::app::switches::Switches;
use crate::app::wish::Wish;
use crate::math::SimdLevel;
use egui::{ComboBox, DragValue, RichText, Ui};

/// Milliseconds that a budget begins with when it is switched on.
const BUDGET: f64 = 2.0;

/// All switches. One that can't be turned is grey and says why when it is pointed at.
pub fn switches(ui: &mut Ui, facts: &Facts<'_>, wishes: &mut Vec<Wish>) {
    let now = Switches::of(facts.config, facts.threads);
    let mut to = now.clone();
    let recorded = facts.config.replay.is_some().then_some("who is animated is as recorded");
    let written = facts.config.record.is_some().then_some("a recording is of one way to draw");
    let unseen = facts.adapter.is_none().then_some("nothing is drawn");
    row(ui, "visibility", recorded, |ui| choose(ui, "visibility", &mut to.visibility, &every()));
    row(ui, "update-rate", recorded, |ui| check(ui, &mut to.update_rate));
    row(ui, "skeleton-lod", recorded, |ui| check(ui, &mut to.skeleton_lod));
    row(ui, "interpolate", recorded.or(written).or(unseen), |ui| check(ui, &mut to.interpolate));
    row(ui, "budget-ms", recorded, |ui| budget(ui, &mut to.budget_ms));
    row(ui, "prune", None, |ui| check(ui, &mut to.prune));
    row(ui, "steal", None, |ui| check(ui, &mut to.steal));
    row(ui, "simd", None, |ui| {
        let levels: Vec<_> =
            SimdLevel::available().map(|level| (level, level.to_string())).collect();
        choose(ui, "simd", &mut to.simd, &levels);
    });
    row(ui, "threads", None, |ui| {
        let most = cpu::threads().max(facts.threads);
        let threads: Vec<_> = (1..=most).map(|n| (n, n.to_string())).collect();
        choose(ui, "threads", &mut to.threads, &threads);
    });
    row(ui, "mesh-lods", unseen, |ui| check(ui, &mut to.mesh_lods));
    row(ui, "shadows", unseen, |ui| check(ui, &mut to.shadows));
    row(ui, "msaa", unseen, |ui| choose(ui, "msaa", &mut to.msaa, &[(1, "1"), (4, "4")]));
    row(ui, "palette-upload", unseen, |ui| {
        choose(ui, "palette-upload", &mut to.palette_upload, &every());
    });
    let nothing = (!facts.is_windowed()).then_some("no screen shows the frames");
    row(ui, "present", nothing, |ui| choose(ui, "present", &mut to.present, &every()));
    let load = Some("clips are stored one way when a character is loaded: start with the flag");
    row(ui, "clip-store", load, |ui| drop(ui.label(named(&facts.config.clip_store))));
    if !facts.flags.is_empty() {
        ui.add_space(4.0);
        note(ui, "as flags:");
        ui.label(RichText::new(&facts.flags).monospace().size(10.5).color(FAINT));
    }
    if to != now {
        wishes.push(Wish::Switch(to));
    }
}

/// A flag at the left and its switch at the right, which can't be turned if there is a reason.
fn row(ui: &mut Ui, flag: &str, why_not: Option<&str>, add: impl FnOnce(&mut Ui)) {
    let shown = ui.horizontal(|ui| {
        ui.label(RichText::new(format!("--{flag}")).monospace().color(FAINT));
        let layout = egui::Layout::right_to_left(egui::Align::Center);
        ui.with_layout(layout, |ui| ui.add_enabled_ui(why_not.is_none(), add));
    });
    if let Some(why) = why_not {
        shown.response.on_hover_text(why);
    }
}

fn check(ui: &mut Ui, on: &mut bool) {
    let word = if *on { "on" } else { "off" };
    ui.checkbox(on, word);
}

/// One of several values.
fn choose<T: PartialEq + Clone>(ui: &mut Ui, id: &str, value: &mut T, of: &[(T, impl AsRef<str>)]) {
    let chosen = of.iter().find(|(other, _)| other == value).map_or("", |(_, name)| name.as_ref());
    ComboBox::from_id_salt(id).width(92.0).selected_text(chosen).show_ui(ui, |ui| {
        for (other, name) in of {
            ui.selectable_value(value, other.clone(), name.as_ref());
        }
    });
}

/// On or off, and how much: a limit takes effect when it is let go.
fn budget(ui: &mut Ui, limit: &mut Option<f64>) {
    let mut on = limit.is_some();
    let ms = let_go(ui, "limit", limit.unwrap_or(BUDGET), |ui, ms| {
        let drag = DragValue::new(ms).range(0.05..=100.0).speed(0.05).suffix(" ms");
        ui.add_enabled(on, drag)
    });
    check(ui, &mut on);
    *limit = on.then_some(ms);
}
