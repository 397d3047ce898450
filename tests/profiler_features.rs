//! The profiler's client is built with the safe set of features and with nothing else.
//!
//! What the defaults would add, each a reason not to ship it: broadcasts to the local network, a
//! crash handler in front of the system's, sampling and system tracing that ask for privileges,
//! and source and machine code sent to whoever connects.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test's helpers end with the fault that they find"
)]

use std::collections::BTreeSet;
use std::process::Command;

fn cargo(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Features of `package` as cargo resolves them for this machine with `options`.
fn resolved(package: &str, options: &[&str]) -> BTreeSet<String> {
    let version = String::from_utf8(cargo(&["-vV"])).expect("text");
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    // The other platforms' packages need not be there, so the host has to be named.
    let mut arguments = vec!["metadata", "--format-version", "1", "--locked", "--offline"];
    arguments.extend(["--filter-platform", host]);
    arguments.extend(options);
    let metadata: serde_json::Value = serde_json::from_slice(&cargo(&arguments)).expect("JSON");
    let nodes = metadata["resolve"]["nodes"].as_array().expect("a resolved graph");
    let of_package: Vec<_> = nodes
        .iter()
        .filter(|node| {
            let id = node["id"].as_str().expect("an id");
            // registry+URL#name@version
            id.rsplit_once('#').is_some_and(|(_, rest)| rest.split('@').next() == Some(package))
        })
        .collect();
    assert!(of_package.len() <= 1, "one version of {package}");
    of_package
        .iter()
        .flat_map(|node| node["features"].as_array().expect("features"))
        .map(|feature| feature.as_str().expect("a name").to_owned())
        .collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn by_default_the_client_has_the_safe_features_only() {
    let client =
        set(&["enable", "manual-lifetime", "ondemand", "only-localhost", "timer-fallback"]);
    assert_eq!(resolved("tracy-client", &[]), client);
    assert_eq!(resolved("tracy-client-sys", &[]), client);
    let layer = set(&["enable", "ondemand", "only-localhost", "timer-fallback"]);
    assert_eq!(resolved("tracing-tracy", &[]), layer);
}

#[test]
fn opening_the_port_to_other_machines_adds_nothing_else() {
    let open = ["--no-default-features", "--features", "tracy"];
    let client = set(&["enable", "manual-lifetime", "ondemand", "timer-fallback"]);
    assert_eq!(resolved("tracy-client", &open), client);
    assert_eq!(resolved("tracy-client-sys", &open), client);
}
