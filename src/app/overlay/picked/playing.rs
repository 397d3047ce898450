//! What a character plays: machines and clocks of its graph, or its stack of clips.

use crate::app::overlay::style::{BRIGHT, FAINT, note};
use crate::crowd::{CharacterFrame, Crowd};
use crate::graph::{BoundProgram, Look, TransitionStyle};
use egui::{CollapsingHeader, Grid, ProgressBar, RichText, Ui};

/// Points of a bar.
const BAR: f32 = 90.0;

/// Machines, transitions and clocks.
pub fn show(ui: &mut Ui, crowd: &Crowd, frame: &CharacterFrame) {
    if let Some((bound, look)) = crowd.look(frame) {
        return graph(ui, bound, &look);
    }
    let layers = crowd.layers(frame);
    if layers.is_empty() {
        note(ui, "It plays nothing that is known here: a recording, or a graph that was replaced.");
        return;
    }
    let rig = crowd.rig(frame.kind());
    Grid::new("layers").num_columns(3).spacing([8.0, 2.0]).show(ui, |ui| {
        for layer in layers {
            let name = rig.and_then(|rig| rig.clip(layer.clip)).map_or("", |clip| clip.name());
            ui.label(RichText::new(name).color(BRIGHT));
            times(ui, layer.seconds, layer.length);
            ui.label(format!("{:.0} %", 100.0 * layer.weight));
            ui.end_row();
        }
    });
}

fn graph(ui: &mut Ui, bound: &BoundProgram, look: &Look) {
    let program = bound.program();
    Grid::new("machines").num_columns(3).spacing([8.0, 2.0]).show(ui, |ui| {
        for (desc, machine) in program.machines.iter().zip(&look.machines) {
            let color = if machine.heard { BRIGHT } else { FAINT };
            let state = desc.states.get(machine.state.get()).map_or("", |s| s.name.as_str());
            ui.label(RichText::new(&desc.name).color(FAINT));
            ui.label(RichText::new(format!("{state}  {:.2} s", machine.seconds)).color(color));
            if let Some(transition) = machine.transition {
                let style = match transition.style {
                    TransitionStyle::Inertialize => "inertialize",
                    TransitionStyle::DeadBlend => "dead blend",
                };
                let text = format!("{style} {:.0} %", 100.0 * transition.progress());
                let bar = ProgressBar::new(transition.progress()).desired_width(BAR);
                ui.add(bar.text(RichText::new(text).small()));
            }
            ui.end_row();
        }
    });
    ui.add_space(4.0);
    clocks(ui, bound, look, true);
    let others = look.clocks.iter().filter(|clock| !clock.heard).count();
    if others > 0 {
        let name = RichText::new(format!("{others} clocks that are not part of the pose"));
        let header = CollapsingHeader::new(name.color(FAINT)).id_salt("other clocks");
        header.show(ui, |ui| clocks(ui, bound, look, false));
    }
}

/// The clocks whose clips are part of the pose, or the others.
fn clocks(ui: &mut Ui, bound: &BoundProgram, look: &Look, heard: bool) {
    let name = if heard { "heard clocks" } else { "silent clocks" };
    Grid::new(name).num_columns(3).spacing([8.0, 2.0]).show(ui, |ui| {
        for clock in look.clocks.iter().filter(|clock| clock.heard == heard) {
            let clips = &bound.program().clips;
            let name = clips.get(clock.clip.get()).map_or("", String::as_str);
            ui.label(RichText::new(name).color(if heard { BRIGHT } else { FAINT }));
            times(ui, clock.seconds, clock.length);
            ui.end_row();
        }
    });
}

/// Seconds of a clip's, and a bar of them.
fn times(ui: &mut Ui, seconds: f32, length: f32) {
    ui.label(RichText::new(format!("{seconds:.2} of {length:.2} s")).monospace().size(10.5));
    let share = if length > 0.0 { (seconds / length).clamp(0.0, 1.0) } else { 0.0 };
    let text = RichText::new(format!("{share:.2}")).small();
    ui.add(ProgressBar::new(share).desired_width(BAR).text(text));
}
