use super::*;
use crate::app::cli::{CameraArg, Cli, Mode, RunConfig};
use crate::app::overlay::{PICKED, style};
use crate::app::picked::Picked;
use crate::asset::{Surface, builtin};
use crate::crowd::{CrowdConfig, CrowdKind, Gates, Playing, TickInput};
use crate::graph::{builtin_for, compile};
use crate::index::CharacterId;
use crate::math::View;
use crate::profile::PhaseTimes;
use egui::{Context, Event, Modifiers, PointerButton, Pos2, RawInput, Rect, Shape};
use glam::Vec3;
use std::sync::Arc;

fn crowd(graph: bool) -> Crowd {
    let asset = builtin("humanoid").unwrap().unwrap();
    let (name, text) = builtin_for("humanoid").unwrap();
    let playing = match graph {
        true => Playing::Graph(Arc::new(compile(name, text).unwrap().program)),
        false => Playing::Simple,
    };
    let kind = CrowdKind {
        surface: Some(Arc::new(Surface::of(&asset))),
        playing,
        ..CrowdKind::new("humanoid", Arc::new(asset.rig().unwrap()), asset.bounds)
    };
    let config = CrowdConfig { count: 4, gates: Gates::OFF, ..CrowdConfig::default() };
    Crowd::new(config, vec![kind]).unwrap()
}

/// Some frames of a crowd, seen from above or not at all.
fn frames(crowd: &mut Crowd, picked: &mut Picked, seen: bool, count: u32) {
    let target = if seen { Vec3::ZERO } else { Vec3::Y * 99.0 };
    let view = View::look_at(Vec3::new(0.0, 30.0, 1.0), target, 1.2, 200.0, (160, 90));
    for _ in 0..count {
        picked.settle(crowd);
        crowd.watch_also(picked.who()).unwrap();
        let input = TickInput {
            dt: 0.02,
            played: true,
            view: &view,
            shadow_clip_from_world: None,
            palette_hash: false,
        };
        crowd.tick(&input, &PhaseTimes::default());
        picked.look(crowd, view.eye, true);
    }
}

/// The window by itself, in a picture that is high enough for all of it.
struct Panel {
    ctx: Context,
    config: RunConfig,
    texts: Vec<(String, Pos2)>,
    wishes: Vec<Wish>,
}

impl Panel {
    fn new() -> Self {
        let ctx = Context::default();
        style::dress(&ctx);
        let cli = Cli::read(["throng".into()]).unwrap().unwrap();
        let config = RunConfig::new(&cli.run, Mode::Window).unwrap();
        Self { ctx, config, texts: Vec::new(), wishes: Vec::new() }
    }

    fn pass(&mut self, crowd: &Crowd, picked: &Picked, events: Vec<Event>) {
        let screen = Rect::from_min_size(Pos2::ZERO, egui::vec2(1_280.0, 4_000.0));
        let input = RawInput { events, screen_rect: Some(screen), ..RawInput::default() };
        let camera = CameraArg::Orbit;
        let config = &self.config;
        let facts = Facts {
            adapter: None,
            config,
            threads: 1,
            camera,
            paused: false,
            speed: 1.0,
            flags: String::new(),
            frozen: false,
            colors: Vec::new(),
            members: &[],
            resident_bytes: || None,
            picked,
            crowd,
        };
        let (ctx, wishes) = (self.ctx.clone(), &mut self.wishes);
        let output = ctx.run_pass(input, |ctx| {
            PICKED.show(ctx, false, |ui| sections(ui, &facts, wishes));
        });
        let text = |shape: &Shape| match shape {
            Shape::Text(text) => {
                let middle = text.visual_bounding_rect().center();
                Some((text.galley.text().to_owned(), middle))
            }
            _ => None,
        };
        self.texts = output.shapes.iter().filter_map(|clipped| text(&clipped.shape)).collect();
        output.drop_without_applying_deltas();
    }

    fn at(&self, text: &str) -> Pos2 {
        let found = self.texts.iter().find(|(painted, _)| painted == text);
        found.unwrap_or_else(|| panic!("{text} is not there: {:?}", self.texts)).1
    }

    fn has(&self, part: &str) -> bool {
        self.texts.iter().any(|(text, _)| text.contains(part))
    }

    fn click(&mut self, crowd: &Crowd, picked: &Picked, at: Pos2) -> Vec<Wish> {
        let press = |pressed| {
            let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
            Event::PointerButton { pos: at, button, pressed, modifiers }
        };
        for events in [vec![Event::PointerMoved(at)], vec![press(true)], vec![press(false)]] {
            self.pass(crowd, picked, events);
        }
        std::mem::take(&mut self.wishes)
    }
}

#[test]
fn it_tells_what_is_known_of_whoever_is_picked() {
    let (mut crowd, mut picked) = (crowd(true), Picked::new(Some(CharacterId(2))));
    frames(&mut crowd, &mut picked, true, 40);
    let mut panel = Panel::new();
    (0..3).for_each(|_| panel.pass(&crowd, &picked, Vec::new()));
    let frame = picked.frame().unwrap();
    let (bound, look) = crowd.look(frame).unwrap();
    let machine = &bound.program().machines[0];
    for part in [
        "2 humanoid",
        "generation 0",
        "every frame",
        "camera",
        "radii",
        machine.name.as_str(),
        machine.states[look.machines[0].state.get()].name.as_str(),
        "40 frames are kept",
        "took over a buffer",
    ] {
        assert!(panel.has(part), "{part} is not there: {:?}", panel.texts);
    }
    // Each task that was recorded has its line.
    let capture = frame.capture.as_ref().unwrap();
    for record in &capture.tasks {
        let name = record.task.kind().name();
        let lines = panel.texts.iter().filter(|(text, _)| text == name).count();
        let of = capture.tasks.iter().filter(|r| r.task.kind() == record.task.kind()).count();
        assert_eq!(lines, of, "{name}");
    }
    assert!(!panel.has("Not evaluated"));
}

#[test]
fn whoever_is_hidden_is_said_not_to_be_evaluated_and_why() {
    let (mut crowd, mut picked) = (crowd(false), Picked::new(Some(CharacterId(1))));
    frames(&mut crowd, &mut picked, true, 5);
    frames(&mut crowd, &mut picked, false, 60);
    let mut panel = Panel::new();
    (0..3).for_each(|_| panel.pass(&crowd, &picked, Vec::new()));
    assert!(panel.has("Not evaluated: nobody has seen it for 1."), "{:?}", panel.texts);
    assert!(panel.has("It was not evaluated in this frame; as in "), "{:?}", panel.texts);
    // What it plays without a graph are clips.
    let rig = crowd.rig(picked.frame().unwrap().kind()).unwrap();
    let layers = crowd.layers(picked.frame().unwrap());
    assert!(!layers.is_empty());
    assert!(layers.iter().all(|layer| panel.has(rig.clip(layer.clip).unwrap().name())));
    let nobody = Picked::new(Some(CharacterId(99)));
    panel.pass(&crowd, &nobody, Vec::new());
    assert!(panel.has("not there yet"));
}

#[test]
fn what_is_clicked_and_dragged_is_asked_for() {
    let (mut crowd, mut picked) = (crowd(true), Picked::new(Some(CharacterId(2))));
    frames(&mut crowd, &mut picked, true, 20);
    let mut panel = Panel::new();
    (0..3).for_each(|_| panel.pass(&crowd, &picked, Vec::new()));
    let asked = |panel: &mut Panel, text: &str| {
        let at = panel.at(text);
        panel.click(&crowd, &picked, at)
    };
    assert_eq!(asked(&mut panel, "let go"), [Wish::Picked(Deed::Pick(None))]);
    assert_eq!(asked(&mut panel, "<"), [Wish::Picked(Deed::Step(-1))]);
    assert_eq!(asked(&mut panel, "camera follows"), [Wish::Picked(Deed::Follow(true))]);
    assert_eq!(asked(&mut panel, "Drawn in the world"), []);
    (0..2).for_each(|_| panel.pass(&crowd, &picked, Vec::new()));
    let without = Shows { trail: false, ..Shows::default() };
    let asked = |panel: &mut Panel, text: &str| {
        let at = panel.at(text);
        panel.click(&crowd, &picked, at)
    };
    assert_eq!(asked(&mut panel, "where it has been"), [Wish::Picked(Deed::Show(without))]);
    assert_eq!(asked(&mut panel, "Parameters"), []);
    (0..2).for_each(|_| panel.pass(&crowd, &picked, Vec::new()));
    // Somewhere beside the name is its slider.
    let name = panel.at("speed");
    let held = (2..20).find_map(|step| {
        let at = name + egui::vec2(step as f32 * 12.0, 0.0);
        panel.click(&crowd, &picked, at).into_iter().next()
    });
    let Some(Wish::Picked(Deed::Hold(param, value))) = held else { panic!("{held:?}") };
    let program = crowd.look(picked.frame().unwrap()).unwrap().0.program();
    let limits = &program.params[program.param("speed").unwrap().get()];
    assert!(param == "speed" && (limits.min..=limits.max).contains(&value), "{value}");
}
