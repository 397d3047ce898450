//! The overlay's windows: moved and folded up by the user, scrolled where the picture is small.

use super::style;
use egui::{Align2, Area, Context, Id, Order, RichText, ScrollArea, Ui, Vec2, Window};

/// Points between a window and the rim of the picture.
const RIM: f32 = 10.0;
/// Points that a window's title and frame take of its height.
const TITLE: f32 = 52.0;
/// Picture, points, below which all of the overlay shrinks with it.
const LEAST: Vec2 = Vec2::new(360.0, 220.0);

/// A window that begins at one side of the picture.
pub struct Pane {
    /// Told apart from others by it.
    pub name: &'static str,
    /// Which corner it begins in.
    pub corner: Align2,
    /// Points.
    pub width: f32,
    /// Unfolded at first.
    pub unfolded: bool,
}

impl Pane {
    /// Lays the window out. `anew` brings it back to its corner.
    pub fn show(&self, ctx: &Context, anew: bool, add: impl FnOnce(&mut Ui)) {
        let screen = ctx.content_rect().shrink(RIM);
        let corner = self.corner.pos_in_rect(&screen);
        let mut window = Window::new(RichText::new(self.name).size(13.0))
            .id(Id::unique(self.name))
            .pivot(self.corner)
            .default_pos(corner)
            .constrain_to(screen)
            .default_open(self.unfolded)
            .auto_sized()
            .fade_in(false)
            .fade_out(false)
            .title_frame(style::title())
            .frame(style::frame());
        if anew {
            // One that can be dragged keeps the place it had.
            window = window.current_pos(corner).movable(false);
        }
        window.show(ctx, |ui| {
            ui.set_width(self.width);
            let height = (screen.height() - TITLE).max(TITLE);
            // Without a least height it never grows again once a picture was small.
            let area = ScrollArea::vertical().min_scrolled_height(height).max_height(height);
            area.show(ui, |ui| {
                ui.set_width(ui.available_width());
                add(ui);
            });
        });
    }
}

/// The scale of the overlay, 1 at most, in a picture of `whole` points at scale 1.
pub fn zoom(whole: Vec2) -> f32 {
    /// In steps, so that rounding to pixels does not make it waver.
    const STEPS: f32 = 32.0;
    let share = whole / LEAST;
    (share.min_elem().min(1.0) * STEPS).floor().max(1.0) / STEPS
}

/// One sentence at the bottom, which may be a warning; clicks go through it.
pub fn message(ctx: &Context, text: &str, warns: bool) {
    let color = if warns { style::WARNING } else { style::BRIGHT };
    let width = (ctx.content_rect().width() - 4.0 * RIM).max(1.0);
    let area = Area::new(Id::unique("message")).order(Order::Foreground);
    let area = area.anchor(Align2::CENTER_BOTTOM, Vec2::new(0.0, -24.0));
    area.interactable(false).fade_in(false).show(ctx, |ui| {
        style::frame().show(ui, |ui| {
            ui.set_max_width(width);
            ui.label(RichText::new(text).color(color));
        });
    });
}
