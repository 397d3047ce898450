//! Parameters of a character's graph, each to be held at a value, and what others wrote on its
//! blackboard.

use crate::app::overlay::style::{BRIGHT, FAINT, note, row};
use crate::app::picked::Deed;
use crate::crowd::{CharacterFrame, Crowd};
use crate::graph::{Param, ParamKind};
use egui::{DragValue, Grid, RichText, Slider, SliderClamping, Ui};

/// A range that is wider has no slider: a point of it would be too much.
const WIDEST: f32 = 1e5;

/// Sliders in the ranges of the graph's file.
pub fn show(ui: &mut Ui, crowd: &Crowd, frame: &CharacterFrame, deeds: &mut Vec<Deed>) {
    let Some((bound, look)) = crowd.look(frame) else {
        note(ui, "No graph plays it.");
        return;
    };
    let program = bound.program();
    Grid::new("params").num_columns(3).spacing([8.0, 2.0]).show(ui, |ui| {
        for (param, value) in program.params.iter().zip(&look.params) {
            let held = crowd.held_params(frame.who).find(|(name, _)| *name == param.name);
            let value = held.map_or(*value, |(_, value)| value);
            let color = if held.is_some() { BRIGHT } else { FAINT };
            ui.label(RichText::new(&param.name).color(color));
            if let Some(value) = change(ui, param, value) {
                deeds.push(Deed::Hold(param.name.clone(), value));
            }
            if held.is_some() && ui.small_button("release").clicked() {
                deeds.push(Deed::Release(param.name.clone()));
            }
            ui.end_row();
        }
    });
    if crowd.held_params(frame.who).next().is_some() && ui.button("release all").clicked() {
        deeds.push(Deed::ReleaseAll);
    }
    if !program.keys.is_empty() {
        ui.add_space(4.0);
        note(ui, "Blackboard, as it was written last:");
    }
    for (key, value) in program.keys.iter().zip(&look.keys) {
        let text = if value.is_nan() { "-".to_owned() } else { format!("{value:.3}") };
        row(ui, &key.name, &text);
    }
}

/// What the user sets a parameter to.
fn change(ui: &mut Ui, param: &Param, value: f32) -> Option<f32> {
    let mut new = value;
    let changed = match param.kind {
        ParamKind::Bool => {
            let mut on = value > 0.5;
            let changed = ui.checkbox(&mut on, "").changed();
            new = f32::from(u8::from(on));
            changed
        }
        ParamKind::Trigger => {
            new = 1.0;
            ui.small_button("fire").clicked()
        }
        ParamKind::Float if param.max - param.min <= WIDEST => {
            // What is shown is rounded, not what is set: a look at it would be a change.
            let slider = Slider::new(&mut new, param.min..=param.max);
            let slider = slider.clamping(SliderClamping::Edits);
            ui.add(slider.custom_formatter(|value, _| format!("{value:.3}"))).changed()
        }
        ParamKind::Float => {
            ui.add(DragValue::new(&mut new).range(param.min..=param.max).speed(0.1)).changed()
        }
    };
    changed.then_some(new)
}
