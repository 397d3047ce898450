//! The program as a Tracy viewer sees it: one zone for each task that its report says was executed.

#![cfg(all(feature = "tracy-localhost", target_os = "linux"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test's helpers end with the fault that they find"
)]

mod viewer;

use serde_json::Value;
use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;

/// A port that nobody listens on.
fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// Runs a small crowd while a viewer looks on; gives its report and the zones by name.
fn watched(zones: &str) -> (Value, viewer::Zones) {
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("r.json");
    let port = free_port();
    let mut program = Command::new(env!("CARGO_BIN_EXE_throng"))
        .args(["--no-render", "--count", "60", "--frames", "90", "--warmup", "0"])
        .args(["--threads", "2", "--wait-tracy", "--zones", zones, "--report"])
        .arg(&report)
        .env("TRACY_PORT", port.to_string())
        .env_remove("RUST_LOG")
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let seen = viewer::watch(port);
    assert!(program.wait().unwrap().success());
    (serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap(), seen)
}

#[test]
fn a_viewer_counts_a_zone_for_each_task_of_each_kind_that_the_report_counts() {
    let (report, zones) = watched("tasks");
    let executed = report["tasks"]["executed"].as_object().unwrap();
    assert!(executed.len() >= 2, "clips and their cross-fades: {executed:?}");
    for (kind, work) in executed {
        assert_eq!(zones.get(kind.as_str()), work["count"].as_u64().as_ref(), "{kind} {zones:?}");
    }
    let resolved = report["tasks"]["resolved"]["count"].as_u64();
    assert_eq!(zones.get("character"), resolved.as_ref(), "{zones:?}");
    assert!(zones["resolve"] >= resolved.unwrap() / 8, "{zones:?}");
    assert!(zones.contains_key("execute"), "the phases are there too: {zones:?}");
}

#[test]
fn a_viewer_who_asked_for_phases_is_shown_no_task() {
    let (report, zones) = watched("phases");
    for kind in report["tasks"]["executed"].as_object().unwrap().keys() {
        assert_eq!(zones.get(kind.as_str()), None, "{zones:?}");
    }
    assert!(zones.contains_key("execute") && !zones.contains_key("character"), "{zones:?}");
}
