//! What the user can do: the window of switches and keys.

use super::legend::colors;
use super::style::{BRIGHT, FAINT, section};
use super::switchboard::switches;
use super::{Facts, Parts, people};
use crate::app::cli::every;
use crate::app::clock::Clock;
use crate::app::window::keys;
use crate::app::wish::Wish;
use egui::{Button, Grid, RichText, Ui};

/// All of it, section by section. What the user asks for is added to `wishes`.
pub fn sections(ui: &mut Ui, facts: &Facts<'_>, parts: &mut Parts, wishes: &mut Vec<Wish>) {
    section(ui, "World", true, |ui| world(ui, facts, wishes));
    section(ui, "Colours", true, |ui| colors(ui, facts, wishes));
    section(ui, "Switches", true, |ui| switches(ui, facts, wishes));
    section(ui, "Kinds", false, |ui| people::kinds(ui, facts));
    section(ui, "Characters", false, |ui| parts.people.list(ui, facts, wishes));
    section(ui, "Keys", false, keys);
}

fn world(ui: &mut Ui, facts: &Facts<'_>, wishes: &mut Vec<Wish>) {
    ui.horizontal(|ui| {
        let mut button = |text: &str, hint: &str, wish: Wish| {
            if ui.button(text).on_hover_text(hint).clicked() {
                wishes.push(wish);
            }
        };
        let pause = if facts.paused { "go on" } else { "pause" };
        button(pause, "Space", Wish::Pause);
        button("step", "one frame, then stand still (full stop)", Wish::Step);
        button("-0.5 s", "back in time (left)", Wish::Seek(-0.5));
        button("+0.5 s", "on in time (right)", Wish::Seek(0.5));
        button("next", "everybody does something else (Enter)", Wish::NextClip);
    });
    ui.horizontal(|ui| {
        ui.label(RichText::new("speed").color(FAINT));
        let mut speed = *Clock::SPEEDS.start();
        while speed <= *Clock::SPEEDS.end() {
            let text = if speed < 1.0 { format!("1/{}", 1.0 / speed) } else { speed.to_string() };
            if ui.add(Button::selectable(facts.speed == speed, text)).clicked() {
                wishes.push(Wish::Speed(speed));
            }
            speed *= 2.0;
        }
    });
    ui.horizontal(|ui| {
        ui.label(RichText::new("camera").color(FAINT));
        for (kind, name) in every() {
            if ui.add(Button::selectable(facts.camera == kind, name)).clicked() {
                wishes.push(Wish::Camera(kind));
            }
        }
    });
    let mut frozen = facts.frozen;
    let hint =
        "gates, draws and levels of detail keep to where the camera is now while it goes elsewhere";
    if ui.checkbox(&mut frozen, "freeze culling").on_hover_text(hint).changed() {
        wishes.push(Wish::Freeze(frozen));
    }
    people::count(ui, facts, wishes);
}

/// What the keys do.
fn keys(ui: &mut Ui) {
    Grid::new("keys").num_columns(2).spacing([14.0, 2.0]).show(ui, |ui| {
        for (key, what) in keys::HELP {
            ui.label(RichText::new(key).color(BRIGHT));
            ui.label(RichText::new(what).color(FAINT));
            ui.end_row();
        }
    });
}
