use super::*;
use crate::app::cli::Cli;
use crate::app::picked::Picked;
use crate::app::switches::Switches;
use crate::crowd::CrowdConfig;
use crate::math::SimdLevel;
use egui::{Event, PointerButton, Pos2, Shape};
use std::sync::LazyLock;

fn nobody() -> Crowd {
    Crowd::new(CrowdConfig { count: 0, ..CrowdConfig::default() }, Vec::new()).unwrap()
}

fn config() -> RunConfig {
    let cli = Cli::read(["throng".into()]).unwrap().unwrap();
    RunConfig { simd: SimdLevel::Scalar, ..RunConfig::new(&cli.run, Mode::Window).unwrap() }
}

fn facts<'a>(crowd: &'a Crowd, config: &'a RunConfig) -> Facts<'a> {
    let (camera, speed) = (CameraArg::Orbit, 1.0);
    static NOBODY: LazyLock<Picked> = LazyLock::new(Picked::default);
    Facts {
        adapter: None,
        config,
        flags: String::new(),
        threads: 2,
        camera,
        paused: false,
        speed,
        frozen: false,
        colors: Vec::new(),
        members: &[],
        resident_bytes: || None,
        picked: &NOBODY,
        crowd,
    }
}

/// What a frame of the overlay painted: texts and the middles of those that are seen.
struct Painted(Vec<(String, Pos2)>);

impl Painted {
    fn find(&self, text: &str) -> Option<Pos2> {
        self.0.iter().find(|(painted, _)| painted == text).map(|(_, at)| *at)
    }
}

/// A frame of the overlay in a picture of that size.
fn pass(hud: &mut Hud, size: (u32, u32), facts: &Facts<'_>, events: &[Event]) -> Painted {
    let input = egui::RawInput { events: events.to_vec(), ..Default::default() };
    let output = hud.pass(size, input, facts);
    let texts = output.shapes.iter().filter_map(|clipped| match &clipped.shape {
        Shape::Text(shape) => {
            let middle = shape.visual_bounding_rect().center();
            let seen = clipped.clip_rect.contains(middle);
            seen.then(|| (shape.galley.text().to_owned(), middle))
        }
        _ => None,
    });
    let painted = Painted(texts.collect());
    output.drop_without_applying_deltas();
    painted
}

/// Where a window was laid out last, points.
fn rect(hud: &Hud, name: &str) -> egui::Rect {
    hud.ctx.memory(|memory| memory.area_rect(egui::Id::unique(name))).unwrap()
}

fn press(at: Pos2, pressed: bool) -> Event {
    let (button, modifiers) = (PointerButton::Primary, egui::Modifiers::NONE);
    Event::PointerButton { pos: at, button, pressed, modifiers }
}

/// A click on a text; what is asked for by it.
fn click(hud: &mut Hud, facts: &Facts<'_>, text: &str) -> Vec<Wish> {
    let size = (1_280, 720);
    // Windows know their sizes when they have been laid out once.
    pass(hud, size, facts, &[]);
    let at = pass(hud, size, facts, &[]).find(text);
    let at = at.unwrap_or_else(|| panic!("{text} is not there"));
    click_at(hud, facts, at)
}

fn click_at(hud: &mut Hud, facts: &Facts<'_>, at: Pos2) -> Vec<Wish> {
    let size = (1_280, 720);
    for events in [vec![Event::PointerMoved(at)], vec![press(at, true)], vec![press(at, false)]] {
        pass(hud, size, facts, &events);
    }
    hud.take_wishes()
}

#[test]
fn windows_are_what_they_were_when_a_picture_is_large_again() {
    let crowd = nobody();
    let config = config();
    let facts = facts(&crowd, &config);
    let mut hud = Hud::new(true, None);
    hud.history.push(FrameRow { frame: 20.0, ..FrameRow::default() });
    let mut rects = |size| {
        for _ in 0..5 {
            pass(&mut hud, size, &facts, &[]);
        }
        [FRAME, CONTROLS].map(|pane| rect(&hud, pane.name))
    };
    // As of a program's window that begins small.
    rects((800, 500));
    let large = rects((1_280, 720));
    assert!(large.iter().all(|rect| rect.height() > 400.0), "{large:?}");
    assert!((large[1].max.x - 1_270.0).abs() < 1.0, "{large:?}");
    for small in [(640, 360), (1, 1), (3, 2), (3_840, 2_160), (1, 2_000), (1_280, 1)] {
        rects(small);
        assert_eq!(rects((1_280, 720)), large, "after {small:?}");
    }
}

#[test]
fn every_window_is_within_a_picture_of_any_size() {
    let row = FrameRow { frame: 20.0, wait: 1.0, display: 1.0, main: [1.0; _], worker: [1.0; _] };
    let crowd = nobody();
    let config = config();
    let facts = facts(&crowd, &config);
    let mut hud = Hud::new(true, None);
    hud.history.push(row);
    for (size, full_size) in [
        ((1_280, 720), true),
        ((1_280, 300), true),
        ((640, 240), true),
        ((200, 400), false),
        ((1, 1), false),
        ((1_920, 1_080), true),
    ] {
        for _ in 0..3 {
            pass(&mut hud, size, &facts, &[]);
        }
        let zoom = hud.ctx.zoom_factor();
        assert_eq!(zoom == 1.0, full_size, "{size:?}");
        let picture = egui::vec2(size.0 as f32, size.1 as f32);
        let both = picture.x / zoom >= TWO;
        for pane in [FRAME, CONTROLS].into_iter().take(if both { 2 } else { 1 }) {
            let rect = rect(&hud, pane.name) * zoom;
            assert!(rect.height() > 100.0 || !full_size, "{rect:?} in {size:?}");
            if size.0 > 1 {
                assert!(rect.max.x <= picture.x && rect.max.y <= picture.y, "{rect:?} {size:?}");
                assert!(rect.min.x >= 0.0 && rect.min.y >= 0.0, "{rect:?} in {size:?}");
            }
        }
    }
}

#[test]
fn what_is_clicked_is_asked_for_once() {
    let crowd = nobody();
    let config = config();
    let facts = facts(&crowd, &config);
    let mut hud = Hud::new(true, None);
    for (text, wish) in [
        ("pause", Wish::Pause),
        ("step", Wish::Step),
        ("1/4", Wish::Speed(0.25)),
        ("8", Wish::Speed(8.0)),
        ("far", Wish::Camera(CameraArg::Far)),
        ("-0.5 s", Wish::Seek(-0.5)),
    ] {
        assert_eq!(click(&mut hud, &facts, text), [wish], "{text}");
        assert_eq!(hud.take_wishes(), [], "{text}");
    }
}

#[test]
fn windows_want_the_pointer_and_what_is_between_them_does_not() {
    let crowd = nobody();
    let config = config();
    let facts = facts(&crowd, &config);
    let mut hud = Hud::new(true, None);
    let wants = |hud: &mut Hud, at: (f32, f32)| {
        for _ in 0..3 {
            let moved = Event::PointerMoved(at.into());
            pass(hud, (1_280, 720), &facts, &[moved]);
        }
        hud.ctx.egui_wants_pointer_input()
    };
    assert!(wants(&mut hud, (60.0, 60.0)) && wants(&mut hud, (1_200.0, 60.0)));
    assert!(!wants(&mut hud, (640.0, 400.0)));
    // A message is no window.
    hud.say("a sentence that is long enough to be hit".to_owned());
    assert!(!wants(&mut hud, (640.0, 680.0)));
    hud.toggle();
    assert!(!wants(&mut hud, (60.0, 60.0)), "nothing is there any more");
}

#[test]
fn a_section_can_be_folded_up_and_a_small_picture_scrolled() {
    let crowd = nobody();
    let config = config();
    let facts = facts(&crowd, &config);
    let mut hud = Hud::new(true, None);
    let height = |hud: &Hud| rect(hud, CONTROLS.name).height();
    pass(&mut hud, (1_280, 720), &facts, &[]);
    click(&mut hud, &facts, "step");
    let unfolded = height(&hud);
    click(&mut hud, &facts, "Switches");
    pass(&mut hud, (1_280, 720), &facts, &[]);
    assert!(height(&hud) < unfolded - 100.0, "{} of {unfolded}", height(&hud));
    // The keys come last.
    click(&mut hud, &facts, "Keys");
    let small = (1_280, 260);
    let mut seen = || {
        let seen = pass(&mut hud, small, &facts, &[]).find("Esc").is_some();
        let wheel = Event::MouseWheel {
            unit: egui::MouseWheelUnit::Line,
            delta: egui::vec2(0.0, -3.0),
            phase: egui::TouchPhase::Move,
            source: egui::MouseWheelSource::Unknown,
            modifiers: egui::Modifiers::NONE,
        };
        let over = Event::PointerMoved(Pos2::new(1_150.0, 120.0));
        pass(&mut hud, small, &facts, &[over, wheel]);
        seen
    };
    assert!(!seen());
    assert!((0..200).any(|_| seen()), "it is reached by the wheel");
}

#[test]
fn switches_ask_for_what_they_name() {
    let crowd = nobody();
    let config = config();
    let facts = facts(&crowd, &config);
    let mut hud = Hud::new(true, None);
    let now = Switches::of(&config, 2);
    let wish = |change: fn(&mut Switches)| {
        let mut to = now.clone();
        change(&mut to);
        vec![Wish::Switch(to)]
    };
    pass(&mut hud, (1_280, 720), &facts, &[]);
    let all = pass(&mut hud, (1_280, 720), &facts, &[]);
    for (flag, word, wish) in [
        ("--update-rate", "on", wish(|to| to.update_rate = false)),
        ("--skeleton-lod", "on", wish(|to| to.skeleton_lod = false)),
        ("--budget-ms", "off", wish(|to| to.budget_ms = Some(2.0))),
        ("--prune", "on", wish(|to| to.prune = false)),
        ("--steal", "on", wish(|to| to.steal = false)),
        ("--shadows", "on", vec![]),
        ("--interpolate", "off", vec![]),
    ] {
        let row = all.find(flag).unwrap_or_else(|| panic!("{flag} is not there"));
        let beside = all.0.iter().find(|(text, at)| text == word && (at.y - row.y).abs() < 6.0);
        let at = beside.unwrap_or_else(|| panic!("{flag} is not {word}")).1;
        assert_eq!(click_at(&mut hud, &facts, at), wish, "{flag}");
    }
}
