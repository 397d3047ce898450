//! A display without a screen, and the program on it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A display of its own, gone with the test.
pub struct Display {
    server: Child,
    pub name: String,
}

impl Display {
    /// Servers that start at the same moment may take each other's number, and one of them then goes
    /// away again: only one that answers is a display.
    pub fn start() -> Self {
        let answers = |display: &Self| display.tool(&["getdisplaygeometry"]);
        let display = std::iter::repeat_with(Self::try_start).take(10).find(answers);
        display.unwrap_or_else(|| panic!("no virtual display answers"))
    }

    fn try_start() -> Self {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"])
            // Else it begins anew when the tool that asked whether it answers has gone again.
            .arg("-noreset")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|e| panic!("this test needs Xvfb: {e}"));
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        Self { server, name: format!(":{}", number.trim()) }
    }

    /// Runs xdotool; false when it failed.
    pub fn tool(&self, args: &[&str]) -> bool {
        let mut command = Command::new("xdotool");
        command.env("DISPLAY", &self.name).args(args).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().unwrap_or_else(|e| panic!("this test needs xdotool: {e}")).success()
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn start(display: &Display, dir: &Path, args: &[&str]) -> Running {
    start_with(display, dir, args, Stdio::inherit())
}

/// As [`start`], with what is said of faults going where it is told.
pub fn start_with(
    display: &Display,
    dir: &Path,
    args: &[&str],
    faults: impl Into<Stdio>,
) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
    command.env("DISPLAY", &display.name).env_remove("WAYLAND_DISPLAY").current_dir(dir);
    command.args(["--msaa", "1", "--shadows", "off"]);
    for [option, value] in [["--size", "160x100"], ["--count", "6"]] {
        if !args.contains(&option) {
            command.args([option, value]);
        }
    }
    Running(command.args(args).stdout(Stdio::null()).stderr(faults).spawn().unwrap())
}

/// Long, because a software adapter on a busy machine is slow; nothing waits for all of it.
const PATIENCE: Duration = Duration::from_secs(120);

#[track_caller]
pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(50));
    }
}

pub fn report(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
