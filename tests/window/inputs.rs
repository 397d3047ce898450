//! One run under a window manager with everything that somebody may do to it.

use crate::display::{Display, Running, report, start_with, until};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Somebody in front of the window.
struct Hand<'a> {
    display: &'a Display,
    folder: &'a Path,
}

impl Hand<'_> {
    /// Once the window listens.
    fn tool(&self, args: &[&str]) {
        let window = ["search", "--name", "^Throng$"];
        assert!(self.display.tool(&[&window[..], args].concat()), "{args:?}");
    }

    fn keys(&self, keys: &[&str]) {
        for key in keys {
            self.tool(&["windowfocus", "--sync", "key", key]);
        }
    }

    fn rest(&self) {
        std::thread::sleep(Duration::from_millis(300));
    }

    fn shots(&self) -> Vec<PathBuf> {
        let name = |i: usize| self.folder.join(format!("throng-{i:03}.png"));
        (1..).map(name).take_while(|path| path.exists()).collect()
    }

    /// What is to be seen now. Keys that come before a window listens are lost, hence more than one.
    fn picture(&self) -> image::RgbaImage {
        self.rest();
        let before = self.shots().len();
        until("a screenshot", || {
            let window = ["search", "--name", "^Throng$", "windowfocus", "--sync", "key", "F12"];
            self.display.tool(&window);
            self.shots().len() > before
        });
        self.rest();
        image::open(self.shots().last().unwrap()).unwrap().to_rgba8()
    }
}

impl Hand<'_> {
    /// A picture in which more than this share of the pixels is not as in another one. What is
    /// saved is the last frame that was drawn, which may be of before the hand moved.
    #[track_caller]
    fn change(&self, what: &str, from: &image::RgbaImage, share: f64) -> image::RgbaImage {
        let mut picture = self.picture();
        until(what, || {
            let done = changed(from, &picture) > share;
            if !done {
                picture = self.picture();
            }
            done
        });
        picture
    }
}

/// Share of the pixels that differ clearly.
fn changed(a: &image::RgbaImage, b: &image::RgbaImage) -> f64 {
    assert_eq!(a.dimensions(), b.dimensions());
    let differ = |(p, q): &(&image::Rgba<u8>, &image::Rgba<u8>)| {
        p.0.iter().zip(q.0).any(|(p, q)| p.abs_diff(q) > 24)
    };
    a.pixels().zip(b.pixels()).filter(differ).count() as f64 / a.pixels().len() as f64
}

/// Seconds of processor time that a process has had.
fn processor_time(run: &Running) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", run.0.id())).unwrap();
    // Behind the name, which may hold anything: user and system time are the 12th and the 13th.
    let fields: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = [11, 12].map(|at| fields[at].parse::<f64>().unwrap());
    // Linux tells them in hundredths on every platform.
    ticks.iter().sum::<f64>() / 100.0
}

#[test]
fn a_run_takes_every_input_and_ends_well() {
    let (display, dir) = (Display::start(), tempfile::tempdir().unwrap());
    let manager =
        Command::new("openbox").env("DISPLAY", &display.name).stderr(Stdio::null()).spawn();
    let _manager = Running(manager.unwrap_or_else(|e| panic!("this test needs openbox: {e}")));
    let said = dir.path().join("said.txt");
    let args = ["--size", "640x400", "--count", "30", "--camera", "near", "--report", "r.json"];
    let mut run = start_with(&display, dir.path(), &args, fs::File::create(&said).unwrap());
    until("the window", || display.tool(&["search", "--onlyvisible", "--name", "^Throng$"]));
    let hand = Hand { display: &display, folder: dir.path() };

    // The overlay comes and goes. While the world stands still nothing else changes the picture.
    let _ = hand.picture();
    hand.keys(&["space"]);
    let plain = hand.picture();
    hand.keys(&["F1"]);
    let overlaid = hand.change("the overlay", &plain, 0.2);
    hand.keys(&["F1"]);
    let again = hand.change("the overlay's end", &overlaid, 0.2);
    assert!(changed(&plain, &again) < 0.05, "{}", changed(&plain, &again));

    // Somebody is picked, and let go.
    let rings = |image: &image::RgbaImage| {
        image.pixels().filter(|p| p[1] > 220 && p[0] < 180 && p[2] < 190).count()
    };
    assert!(rings(&again) < 20);
    let mut x = (60..600).step_by(12).map(|x| x.to_string());
    let picked = std::iter::from_fn(|| x.next()).any(|x| {
        hand.tool(&["mousemove", "--window", "%1", &x, "190", "click", "1"]);
        rings(&hand.picture()) > 40
    });
    assert!(picked, "nobody stands in the middle row");
    hand.keys(&["Escape"]);
    until("nobody being picked", || rings(&hand.picture()) < 20);
    assert!(run.0.try_wait().unwrap().is_none());

    // Cameras by key, by drag and by wheel.
    let near = hand.picture();
    hand.keys(&["4"]);
    let far = hand.change("another camera", &near, 0.1);
    hand.keys(&["3"]);
    let before = hand.change("the camera before", &far, 0.1);
    hand.tool(&["mousemove", "--window", "%1", "320", "200", "mousedown", "1"]);
    // As a mouse tells it: how far, not where to.
    for _ in 0..10 {
        hand.tool(&["mousemove_relative", "20", "0"]);
    }
    hand.tool(&["mouseup", "1"]);
    let dragged = hand.change("a turn", &before, 0.1);
    hand.keys(&["1"]);
    let before = hand.change("a camera again", &dragged, 0.1);
    hand.tool(&["mousemove", "--window", "%1", "320", "200", "click", "--repeat", "8", "5"]);
    hand.change("a step back", &before, 0.05);

    // Another size, and away with it: it rests, and comes back as it was.
    hand.tool(&["windowsize", "--sync", "500", "300"]);
    until("a picture of the new size", || hand.picture().dimensions() == (500, 300));
    hand.tool(&["windowminimize", "--sync"]);
    std::thread::sleep(Duration::from_secs(1));
    let before = processor_time(&run);
    std::thread::sleep(Duration::from_secs(3));
    let used = processor_time(&run) - before;
    assert!(used < 1.0, "{used} s of 3 while nothing is to be seen");
    hand.tool(&["windowmap", "--sync", "windowactivate", "--sync"]);
    assert_eq!(hand.picture().dimensions(), (500, 300));

    // As a window manager closes it.
    until("the end", || {
        hand.display.tool(&["search", "--name", "^Throng$", "windowactivate", "key", "alt+F4"]);
        run.0.try_wait().unwrap().is_some()
    });
    assert!(run.0.wait().unwrap().success());
    assert!(report(&dir.path().join("r.json"))["frames"]["measured"].as_u64() > Some(0));
    let said = fs::read_to_string(said).unwrap().to_lowercase();
    for fault in ["validation", "vuid", "wgpu", "refused", "panicked"] {
        assert!(!said.contains(fault), "{said}");
    }
}
