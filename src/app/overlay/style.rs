//! How the overlay looks, and the small parts that its sections are made of.

use egui::{
    Align, CollapsingHeader, Color32, Context, CornerRadius, FontFamily, FontId, Frame, Layout,
    Margin, Response, RichText, Stroke, TextStyle, Ui, Vec2,
};

const PANEL: Color32 = Color32::from_rgba_premultiplied(13, 15, 22, 222);
const EDGE: Color32 = Color32::from_rgba_premultiplied(40, 44, 58, 160);
const TITLE: Color32 = Color32::from_rgba_premultiplied(30, 34, 48, 222);
const TEXT: Color32 = Color32::from_rgb(208, 213, 226);
/// Of what names something.
pub const FAINT: Color32 = Color32::from_rgb(136, 144, 166);
/// Of what is to be seen first.
pub const BRIGHT: Color32 = Color32::from_rgb(245, 247, 252);
/// Of what is wrong.
pub const WARNING: Color32 = Color32::from_rgb(255, 190, 120);

/// Fonts and spacing.
pub fn dress(ctx: &Context) {
    ctx.set_theme(egui::Theme::Dark);
    // The overlay's scale is the display's, and no larger than the picture allows.
    ctx.options_mut(|options| options.zoom_with_keyboard = false);
    ctx.all_styles_mut(|style| {
        style.text_styles = [
            (TextStyle::Small, FontId::new(10.5, FontFamily::Proportional)),
            (TextStyle::Body, FontId::new(12.5, FontFamily::Proportional)),
            (TextStyle::Button, FontId::new(12.5, FontFamily::Proportional)),
            (TextStyle::Heading, FontId::new(20.0, FontFamily::Proportional)),
            (TextStyle::Monospace, FontId::new(12.0, FontFamily::Monospace)),
        ]
        .into();
        style.visuals.override_text_color = Some(TEXT);
        // Of a window's title.
        style.visuals.widgets.open.weak_bg_fill = TITLE;
        style.spacing.item_spacing = Vec2::new(6.0, 2.0);
        style.spacing.interact_size.y = 18.0;
        style.spacing.scroll = egui::style::ScrollStyle::thin();
        style.interaction.selectable_labels = false;
        // Numbers that change each frame slide under nobody's eyes.
        style.animation_time = 0.0;
    });
}

/// What a window of the overlay is framed with.
pub fn frame() -> Frame {
    Frame::new()
        .fill(PANEL)
        .stroke(Stroke::new(1.0, EDGE))
        .corner_radius(CornerRadius::same(8))
        .inner_margin(Margin::symmetric(12, 8))
}

/// What its title is framed with.
pub fn title() -> Frame {
    frame().inner_margin(Margin::symmetric(8, 3))
}

/// What a value is to be: `now` until the hand that drags or types another one lets it go.
pub fn let_go<T: Copy + Send + Sync + 'static>(
    ui: &mut Ui,
    salt: &str,
    now: T,
    add: impl FnOnce(&mut Ui, &mut T) -> Response,
) -> T {
    let id = ui.scope_id().with(salt);
    let held: Option<T> = ui.data(|data| data.get_temp(id));
    let mut value = held.unwrap_or(now);
    let response = add(ui, &mut value);
    if response.dragged() || response.has_focus() {
        ui.data_mut(|data| data.insert_temp(id, value));
        return now;
    }
    if held.is_some() {
        ui.data_mut(|data| data.remove::<T>(id));
    }
    value
}

/// A part of a window that can be folded up; true while it is unfolded.
pub fn section(ui: &mut Ui, name: &str, unfolded: bool, add: impl FnOnce(&mut Ui)) -> bool {
    let title = RichText::new(name).color(BRIGHT);
    let header = CollapsingHeader::new(title).id_salt(name).default_open(unfolded);
    let shown = header.show_unindented(ui, |ui| {
        add(ui);
        ui.add_space(6.0);
    });
    shown.body_returned.is_some()
}

/// A name at the left and a value at the right.
pub fn row(ui: &mut Ui, name: &str, value: &str) {
    ui.horizontal(|ui| {
        ui.label(RichText::new(name).color(FAINT));
        right(ui, RichText::new(value).monospace());
    });
}

/// Milliseconds, at the right.
pub fn number(ui: &mut Ui, ms: f64) {
    let decimals = if ms < 10.0 { 2 } else { 1 };
    right(ui, RichText::new(format!("{ms:.decimals$}")).monospace());
}

/// Text at the right of what space there is.
pub fn right(ui: &mut Ui, text: RichText) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(text));
}

/// A small faint line, wrapped.
pub fn note(ui: &mut Ui, text: impl Into<String>) {
    ui.label(RichText::new(text).small().color(FAINT));
}
