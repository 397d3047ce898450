//! A task list as a graph: columns by level, what was taken over, what nobody needed.

use super::levels::arrange;
use crate::app::overlay::style::{BRIGHT, FAINT, note};
use crate::task::{Capture, Names, TaskRecord};
use egui::epaint::CubicBezierShape;
use egui::{
    Align2, Color32, FontId, Painter, Pos2, Rect, Response, Sense, Stroke, StrokeKind, Ui, Vec2,
};

/// Points of the view's height, at least and at most: what the graph takes at the width that there is.
const HEIGHT: [f32; 2] = [96.0, 230.0];
/// Points between the graph and the view's edges, both sides together.
const MARGIN: f32 = 16.0;
/// Points, at scale 1.
const NODE: Vec2 = Vec2::new(104.0, 34.0);
const COLUMN: f32 = 140.0;
const ROW: f32 = 44.0;
const SCALES: [f32; 2] = [0.08, 2.5];
/// Nodes that are drawn, at most.
const MOST: usize = 600;

const REACHED: Color32 = Color32::from_rgb(38, 52, 84);
const PRUNED: Color32 = Color32::from_rgb(32, 33, 38);
const EDGE: Color32 = Color32::from_rgb(122, 162, 247);
/// Of a buffer that was taken over.
const STOLEN: Color32 = Color32::from_rgb(255, 158, 100);

/// How the graph is looked at; kept by egui from frame to frame.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Look {
    /// What is in the middle of the view, points at scale 1.
    middle: Vec2,
    scale: f32,
    /// The user has not moved it: all of it shows, whatever the list is.
    fitted: bool,
}

/// Paints the graph. Dragging moves it, a pinch or the wheel with Ctrl goes nearer, and a double click
/// shows all of it again.
pub fn show(ui: &mut Ui, capture: &Capture, names: Names<'_>) {
    let shown = shown(capture);
    let levels: Vec<u32> = shown.iter().map(|at| capture.tasks[*at].level).collect();
    let edges = edges(capture, &shown);
    let ends: Vec<(usize, usize)> = edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let places: Vec<Vec2> = arrange(&levels, &ends)
        .into_iter()
        .map(|(column, row)| Vec2::new(column * COLUMN, row * ROW))
        .collect();
    let size = Vec2::new(ui.available_width(), height(ui.available_width(), &places));
    let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 4.0, Color32::from_black_alpha(110));
    let look = look(ui, rect, &response, &places);
    let at = |place: Vec2| rect.center() + (place - look.middle) * look.scale;
    for edge in &edges {
        paint_edge(&painter, [at(places[edge.from]), at(places[edge.to])], edge, look.scale);
    }
    let pointer = response.hover_pos();
    let mut hovered = None;
    for (node, place) in shown.iter().zip(&places) {
        let of = Rect::from_center_size(at(*place), NODE * look.scale);
        if pointer.is_some_and(|pointer| of.contains(pointer)) {
            hovered = Some(*node);
        }
        if of.intersects(rect) {
            paint_node(&painter, of, *node, capture, names, look.scale);
        }
    }
    if let Some(node) = hovered {
        let text = format!("{node}: {}", names.line(&capture.tasks[node].task));
        response.on_hover_text(text);
    }
    if shown.len() < capture.tasks.len() {
        note(ui, format!("{} of {} tasks are drawn", shown.len(), capture.tasks.len()));
    }
}

/// The tasks that are drawn: all, or as many as there is room for, those first that were needed.
fn shown(capture: &Capture) -> Vec<usize> {
    let all = 0..capture.tasks.len();
    if all.len() <= MOST {
        return all.collect();
    }
    let (mut needed, others): (Vec<usize>, Vec<usize>) =
        all.partition(|at| capture.tasks[*at].reachable);
    needed.extend(others);
    needed.truncate(MOST);
    needed.sort_unstable();
    needed
}

/// What reads what, as positions among the tasks that are drawn.
struct Edge {
    from: usize,
    to: usize,
    stolen: bool,
    needed: bool,
}

fn edges(capture: &Capture, shown: &[usize]) -> Vec<Edge> {
    let place = |task: usize| shown.binary_search(&task).ok();
    let mut edges = Vec::new();
    for (to, task) in shown.iter().enumerate() {
        let TaskRecord { task, reachable, stole, .. } = &capture.tasks[*task];
        for (number, read) in task.dependencies().into_iter().enumerate() {
            if let Some(from) = read.get().and_then(place) {
                // Only the first one's buffer is ever taken over.
                edges.push(Edge { from, to, stolen: *stole && number == 0, needed: *reachable });
            }
        }
    }
    edges
}

/// How the graph is looked at after what the pointer did in this frame.
fn look(ui: &Ui, rect: Rect, response: &Response, places: &[Vec2]) -> Look {
    let id = response.id.with("look");
    let kept: Option<Look> = ui.data(|data| data.get_temp(id));
    let kept = kept.filter(|look| !look.fitted && !response.double_clicked());
    let mut look = kept.unwrap_or_else(|| fit(rect, places));
    if response.dragged() {
        look.middle -= response.drag_delta() / look.scale;
        look.fitted = false;
    }
    let zoom = if response.hovered() { ui.input(|input| input.zoom_delta()) } else { 1.0 };
    if zoom != 1.0 {
        let scale = (look.scale * zoom).clamp(SCALES[0], SCALES[1]);
        // What is under the pointer stays there.
        let pointer = response.hover_pos().unwrap_or(rect.center()) - rect.center();
        let middle = look.middle + pointer / look.scale - pointer / scale;
        look = Look { middle, scale, fitted: false };
    }
    ui.data_mut(|data| data.insert_temp(id, look));
    look
}

/// What the middles of the nodes span.
fn around(places: &[Vec2]) -> Rect {
    let mut around = Rect::NOTHING;
    places.iter().for_each(|place| around.extend_with(Pos2::ZERO + *place));
    around
}

/// The height at which a view of this width has all of the graph and nothing besides.
fn height(width: f32, places: &[Vec2]) -> f32 {
    let [least, most] = HEIGHT;
    if places.is_empty() {
        return least;
    }
    let whole = around(places).size() + NODE;
    let scale = ((width - MARGIN) / whole.x).clamp(SCALES[0], 1.0);
    (whole.y * scale + MARGIN).clamp(least, most)
}

/// All of it, no larger than life.
fn fit(rect: Rect, places: &[Vec2]) -> Look {
    let around = around(places);
    if places.is_empty() {
        return Look { middle: Vec2::ZERO, scale: 1.0, fitted: true };
    }
    let room = (rect.size() - Vec2::splat(MARGIN)) / (around.size() + NODE);
    let scale = room.min_elem().clamp(SCALES[0], 1.0);
    Look { middle: around.center().to_vec2(), scale, fitted: true }
}

fn paint_edge(painter: &Painter, [from, to]: [Pos2; 2], edge: &Edge, scale: f32) {
    let half = Vec2::new(0.5 * NODE.x * scale, 0.0);
    let (from, to) = (from + half, to - half);
    let bend = Vec2::new(0.4 * COLUMN * scale, 0.0);
    let (width, color) = match (edge.needed, edge.stolen) {
        (false, _) => (1.0, FAINT.gamma_multiply(0.45)),
        (true, true) => (3.0, STOLEN),
        (true, false) => (1.5, EDGE),
    };
    let stroke = Stroke::new(width * scale.clamp(0.4, 1.0), color);
    let points = [from, from + bend, to - bend, to];
    painter.add(CubicBezierShape::from_points_stroke(points, false, Color32::TRANSPARENT, stroke));
}

fn paint_node(
    painter: &Painter,
    rect: Rect,
    at: usize,
    capture: &Capture,
    names: Names<'_>,
    scale: f32,
) {
    let record = &capture.tasks[at];
    let (fill, text) = if record.reachable { (REACHED, BRIGHT) } else { (PRUNED, FAINT) };
    let border = match (capture.output == Some(at), record.stole) {
        (true, _) => Stroke::new(2.0, BRIGHT),
        (false, true) => Stroke::new(1.0, STOLEN),
        (false, false) => Stroke::new(1.0, FAINT.gamma_multiply(0.5)),
    };
    painter.rect(rect, 4.0 * scale, fill, border, StrokeKind::Inside);
    let font = 11.0 * scale;
    if font < 4.0 {
        return;
    }
    // What is long ends where its node does.
    let painter = painter.with_clip_rect(rect.intersect(painter.clip_rect()));
    let line = |y: f32, text: String, color: Color32| {
        let at = rect.left_top() + Vec2::new(5.0, y) * scale;
        painter.text(at, Align2::LEFT_TOP, text, FontId::proportional(font), color);
    };
    line(3.0, format!("{at} {}", record.task.kind().name()), text);
    let buffer = record.buffer.map_or(String::new(), |buffer| format!("b{buffer} "));
    line(17.0, format!("{buffer}{}", super::tasks::gist(&record.task, names)), FAINT);
}
