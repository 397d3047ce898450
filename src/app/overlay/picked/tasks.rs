//! A task list as a table: what the executor did with each task.

use crate::app::overlay::style::{BRIGHT, FAINT, note};
use crate::task::{Argument, Capture, Names, Task, TaskRecord};
use egui::{Color32, Grid, RichText, ScrollArea, Ui};

/// Lines that are shown, at most.
const MOST: usize = 400;
/// Of a buffer that was taken over.
const STOLEN: Color32 = Color32::from_rgb(255, 158, 100);

/// What a task is about, in a word or two: its clip and time, its weight, its bone.
pub fn gist(task: &Task, names: Names<'_>) -> String {
    let arguments = task.arguments();
    let of = |name: &str| arguments.iter().find(|(n, _)| *n == name).map(|(_, argument)| *argument);
    let number = |name: &str| match of(name) {
        Some(Argument::Number(number)) if !number.is_nan() => Some(format!("{number:.2}")),
        _ => None,
    };
    let named = ["clip", "bone", "mask", "snapshot", "end", "left_end"].into_iter().find_map(of);
    let seconds = number("seconds").map(|seconds| format!("{seconds} s"));
    let alpha = number("alpha").map(|alpha| format!("x {alpha}"));
    let under_way = number("elapsed").zip(number("duration"));
    let under_way = under_way.map(|(elapsed, duration)| format!("{elapsed} of {duration} s"));
    let name = |argument| {
        let told = names.told(argument);
        told.split_once(':').map_or(told.clone(), |(_, name)| name.to_owned())
    };
    let parts = [named.map(name), seconds, alpha, under_way];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The table, and its sums above it.
pub fn show(ui: &mut Ui, capture: &Capture, names: Names<'_>) {
    let tasks = &capture.tasks;
    let stolen = tasks.iter().filter(|t| t.stole).count();
    let live = tasks.iter().map(|t| t.live_buffers).max().unwrap_or(0);
    note(
        ui,
        format!(
            "{} recorded, {} reachable, {} run, {stolen} took over a buffer, {live} buffers at once",
            tasks.len(),
            capture.reachable(),
            capture.executed()
        ),
    );
    ScrollArea::both().id_salt("tasks").max_height(240.0).show(ui, |ui| {
        Grid::new("task list").num_columns(8).striped(true).spacing([9.0, 1.0]).show(ui, |ui| {
            for head in ["#", "task", "reads", "what", "buffer", "live", "level", "ns"] {
                ui.label(RichText::new(head).small().color(FAINT));
            }
            ui.end_row();
            for (at, record) in tasks.iter().enumerate().take(MOST) {
                line(ui, at, record, capture, names);
                ui.end_row();
            }
        });
    });
    if tasks.len() > MOST {
        note(ui, format!("and {} more", tasks.len() - MOST));
    }
}

fn line(ui: &mut Ui, at: usize, record: &TaskRecord, capture: &Capture, names: Names<'_>) {
    let TaskRecord { task, reachable, stole, buffer, level, live_buffers, ns, order, .. } = record;
    let color = match (capture.output == Some(at), reachable) {
        (true, _) => BRIGHT,
        (false, true) => Color32::from_rgb(208, 213, 226),
        (false, false) => FAINT.gamma_multiply(0.7),
    };
    let mut cell = |text: String, color: Color32| {
        ui.label(RichText::new(text).monospace().size(10.5).color(color));
    };
    cell(at.to_string(), color);
    cell(task.kind().name().to_owned(), color);
    let reads = task.dependencies().into_iter().filter_map(|read| read.get());
    cell(reads.map(|read| read.to_string()).collect::<Vec<_>>().join(" "), color);
    cell(gist(task, names), color);
    match buffer {
        Some(buffer) if *stole => cell(format!("{buffer} taken"), STOLEN),
        Some(buffer) => cell(buffer.to_string(), color),
        None if *reachable => cell("not run".to_owned(), color),
        None => cell("pruned".to_owned(), color),
    }
    let ran = order.is_some();
    cell(if ran { live_buffers.to_string() } else { String::new() }, color);
    cell(level.to_string(), color);
    cell(if ran { ns.to_string() } else { String::new() }, color);
}
