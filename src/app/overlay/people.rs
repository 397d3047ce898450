//! Who is there: the kinds, and each character.

use super::Facts;
use super::style::{BRIGHT, FAINT, let_go, note, right};
use crate::app::characters::Member;
use crate::app::cli::CharacterRef;
use crate::app::picked::Deed;
use crate::app::report::text::grouped;
use crate::app::wish::Wish;
use crate::crowd::{CharacterState, Crowd};
use crate::graph::MachineId;
use crate::index::{CharacterId, CharacterKind};
use egui::{Button, ComboBox, DragValue, Grid, Label, RichText, ScrollArea, Sense, TextEdit, Ui};
use std::time::{Duration, Instant};

/// Numbers of characters that the drag value is not needed for.
const COUNTS: [u32; 5] = [100, 1_000, 5_000, 20_000, 50_000];
/// The most that the drag value goes up to.
const MOST: u32 = 1_000_000;

/// How many there are to be: in steps, or by hand; what is dragged counts when it is let go.
pub fn count(ui: &mut Ui, facts: &Facts<'_>, wishes: &mut Vec<Wish>) {
    let now = facts.crowd.count();
    let fixed = facts.config.replay.is_some() || facts.config.record.is_some();
    ui.add_enabled_ui(!fixed, |ui| {
        ui.horizontal(|ui| {
            ui.label(RichText::new("--count").monospace().color(FAINT));
            let count = let_go(ui, "count", now, |ui, count| {
                let speed = f64::from((*count).max(10)) * 0.01;
                ui.add(DragValue::new(count).range(0..=MOST).speed(speed))
            });
            if count != now {
                wishes.push(Wish::Count(count));
            }
            for step in COUNTS {
                let text =
                    if step < 1_000 { step.to_string() } else { format!("{}k", step / 1_000) };
                if ui.add(Button::new(text).small().selected(step == now)).clicked() && step != now
                {
                    wishes.push(Wish::Count(step));
                }
            }
        });
    });
    if fixed {
        note(ui, "A recording is of one crowd: it stays as it is.");
    }
}

/// A row for each kind.
pub fn kinds(ui: &mut Ui, facts: &Facts<'_>) {
    let Facts { crowd, members, config, .. } = facts;
    Grid::new("kinds").num_columns(5).spacing([8.0, 2.0]).show(ui, |ui| {
        for head in ["kind", "here", "bones", "triangles", "clips"] {
            ui.label(RichText::new(head).color(FAINT));
        }
        ui.end_row();
        for (kind, member) in crowd.kinds().zip(*members) {
            let name = crowd.kind_name(kind).unwrap_or_default();
            let file = match config.characters.get(kind.get()) {
                Some(CharacterRef::File(path)) => path.display().to_string(),
                _ => "built in".to_owned(),
            };
            ui.label(RichText::new(name).color(BRIGHT)).on_hover_text(file);
            let Member { asset, .. } = member;
            let triangles = asset.primitives.iter().map(|p| p.indices.len() / 3).sum::<usize>();
            let bones = asset.skeleton.bone_count().get();
            for number in [crowd.count_of(kind) as usize, bones, triangles, asset.clips.len()] {
                right(ui, RichText::new(grouped(number as f64)).monospace());
            }
            ui.end_row();
        }
    });
}

/// Which characters the list shows, and who these are.
#[derive(Debug, Default)]
pub struct People {
    kind: Option<CharacterKind>,
    state: String,
    found: Vec<CharacterId>,
    renewed: Option<Instant>,
}

/// Rows that are seen at once.
const ROWS: f32 = 9.0;

impl People {
    const EVERY: Duration = Duration::from_millis(500);

    /// The list; a click on a row asks for a closer look.
    pub fn list(&mut self, ui: &mut Ui, facts: &Facts<'_>, wishes: &mut Vec<Wish>) {
        let crowd = facts.crowd;
        let before = (self.kind, self.state.clone());
        ui.horizontal(|ui| {
            let chosen = self.kind.and_then(|kind| crowd.kind_name(kind)).unwrap_or("all kinds");
            ComboBox::from_id_salt("kind").width(110.0).selected_text(chosen).show_ui(ui, |ui| {
                ui.selectable_value(&mut self.kind, None, "all kinds");
                for kind in crowd.kinds() {
                    let name = crowd.kind_name(kind).unwrap_or_default();
                    ui.selectable_value(&mut self.kind, Some(kind), name);
                }
            });
            let hint = "in a state like...";
            ui.add(TextEdit::singleline(&mut self.state).hint_text(hint).desired_width(120.0));
        });
        let old = self.renewed.is_none_or(|at| at.elapsed() > Self::EVERY);
        if old || before != (self.kind, self.state.clone()) {
            self.find(crowd);
        }
        note(ui, format!("{} of them", grouped(self.found.len() as f64)));
        let height = ui.text_style_height(&egui::TextStyle::Body);
        let all = ScrollArea::vertical().max_height(ROWS * height).auto_shrink([false, true]);
        all.show_rows(ui, height, self.found.len(), |ui, rows| {
            for id in self.found.get(rows).unwrap_or_default() {
                let Some(state) = crowd.character(*id) else { continue };
                let row = Label::new(RichText::new(describe(crowd, *id, &state)).monospace());
                if ui.add(row.sense(Sense::click()).truncate()).clicked() {
                    wishes.push(Wish::Picked(Deed::Pick(Some(*id))));
                }
            }
        });
    }

    fn find(&mut self, crowd: &Crowd) {
        self.renewed = Some(Instant::now());
        let wanted = self.state.to_lowercase();
        let fits = |id: &CharacterId| {
            let kind = self.kind.is_none() || crowd.kind_of(*id) == self.kind;
            kind && (wanted.is_empty()
                || states(crowd, *id).any(|s| s.to_lowercase().contains(&wanted)))
        };
        self.found.clear();
        self.found.extend(crowd.characters().map(|who| who.id()).filter(fits));
    }
}

/// The states of a character's machines.
fn states(crowd: &Crowd, id: CharacterId) -> impl Iterator<Item = &str> {
    (0..).map_while(move |machine| crowd.state(id, MachineId(machine)))
}

fn describe(crowd: &Crowd, id: CharacterId, state: &CharacterState) -> String {
    let name = crowd.kind_name(state.kind).unwrap_or_default();
    let states = states(crowd, id).collect::<Vec<_>>().join(", ");
    format!("{:>6} {name} {states}", id.0)
}
