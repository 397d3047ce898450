//! A graph file that is saved while the program plays it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "what is missing or wrong fails the test")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const GOOD: &str = r#"(
    version: 1,
    nodes: {"stand": Clip(clip: "idle")},
    output: "stand",
)
"#;

/// Does not outlive a test that fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The next line of the program that holds `words`.
fn line_with(lines: &Receiver<String>, words: &str) -> String {
    loop {
        // Only a program that hangs waits so long.
        let line = lines.recv_timeout(Duration::from_secs(120)).unwrap();
        if line.contains(words) {
            return line;
        }
    }
}

#[test]
fn a_saved_graph_is_played_and_a_broken_one_keeps_the_last_good() {
    let dir = tempfile::tempdir().unwrap();
    let (graph, report) = (dir.path().join("stand.ron"), dir.path().join("report.json"));
    std::fs::write(&graph, GOOD).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_throng"))
        .current_dir(dir.path())
        .args(["--no-render", "--character", "humanoid", "--count", "20", "--threads", "1"])
        .args(["--frames", "1000000000", "--graph", "stand.ron", "--report", "report.json"])
        .env_remove("RUST_LOG")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let Running(child) = &mut Running(child);
    let (send, lines) = channel();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let reader = std::thread::spawn(move || {
        stderr.lines().map_while(Result::ok).for_each(|line| drop(send.send(line)));
    });
    // The file is watched from when the crowd is placed; what is saved before that is simply read.
    std::thread::sleep(Duration::from_secs(2));
    for (text, expected) in [
        (GOOD.replace("\"idle\"", "\"idel\""), "stand.ron:3:34: node `stand`: no clip `idel`"),
        (
            GOOD.replace("output: \"stand\"", "output: \"sit\""),
            "stand.ron:4:14: output: no node `sit`",
        ),
    ] {
        std::fs::write(&graph, text).unwrap();
        let line = line_with(&lines, "goes on with the last good graph");
        assert!(line.contains(expected), "{line}");
    }
    std::fs::write(&graph, GOOD.replace("\"idle\"", "\"walk_fwd\"")).unwrap();
    assert!(line_with(&lines, "everybody plays it now").contains("stand.ron was saved"));
    // The shell's own: a bare machine has no program of that name.
    let kill = format!("kill -INT {}", child.id());
    let interrupted = Command::new("sh").args(["-c", &kill]).status();
    assert!(interrupted.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    reader.join().unwrap();
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert!(report["palette_hash"].is_null(), "no other run has such a hash");
    assert!(report["tasks"]["executed"]["SampleClip"]["count"].as_u64() > Some(0), "{report}");
}
