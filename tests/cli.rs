//! The program as a user meets it: what it prints, what it writes, how it ends.

#![allow(clippy::unwrap_used, clippy::panic, reason = "what is missing or wrong fails the test")]

#[path = "cli/spawn.rs"]
mod spawn;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn throng(args: &[&str]) -> Output {
    throng_in(Path::new("."), args)
}

fn throng_in(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
    // No display and no log of the tester's own.
    for variable in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "RUST_LOG"] {
        command.env_remove(variable);
    }
    command.current_dir(dir).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// One line on standard error, nothing on standard output, the status.
#[track_caller]
fn refused(output: &Output, status: i32) -> String {
    let line = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{line}");
    assert_eq!(line.trim_end().lines().count(), 1, "{line}");
    assert!(line.starts_with("throng: "), "{line}");
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    line
}

fn report(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// A short run that needs no GPU, in a folder of its own.
fn run(args: &[&str]) -> (tempfile::TempDir, Output) {
    let dir = tempfile::tempdir().unwrap();
    let base = ["--no-render", "--count", "40", "--threads", "1", "--zones", "off"];
    let output = throng_in(dir.path(), &[&base[..], args].concat());
    (dir, output)
}

fn files_in(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect()
}

#[test]
fn help_is_grouped_has_examples_and_names_every_option_of_a_run() {
    let output = throng(&["--help"]);
    assert!(output.status.success());
    let help = text(&output.stdout);
    for heading in [
        "Crowd:",
        "Scenario:",
        "Run:",
        "Picture:",
        "Output:",
        "Animation:",
        "Tasks:",
        "Profiling:",
        "Examples:",
    ] {
        assert!(help.contains(heading), "no {heading:?} in\n{help}");
    }
    for option in ["--character", "--count", "--screenshot", "--report", "--max-frame-ms"] {
        assert!(help.contains(option), "no {option:?} in\n{help}");
    }
    let version = text(&throng(&["--version"]).stdout);
    assert_eq!(version.trim(), format!("throng {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_wrong_command_line_ends_with_status_2_and_says_what_is_right() {
    let cases: &[(&[&str], &str)] = &[
        (&["--cout", "5"], "--count"),
        (&["--threads", "0"], "1 to 1024"),
        (&["--size", "0x0"], "1920x1080"),
        (&["--layout", "pile"], "grid, disc, street"),
        (&["--ground", "lumpy"], "flat, uneven"),
        (&["--simd", "mmx"], "avx2"),
        (&["--no-render", "--screenshot", "a.png"], "--no-render"),
        (&["--screenshot", "a.bmp"], ".png"),
        (&["--report", "a.xml"], ".json or .csv"),
        (&["--capture", "7=a.txt"], "7=seven.json"),
        (&["--dump-tasks=0"], "1 to"),
        (&["adapters", "--count", "5"], "--count"),
        (&["--count", "5", "--pick", "5"], "--pick 5"),
        (&["--no-render", "--pick", "0"], "--pick"),
    ];
    for (args, words) in cases {
        let line = refused(&throng(args), 2);
        assert!(line.contains(words), "{args:?}: {line}");
    }
}

#[test]
fn the_report_says_what_the_crowd_stood_on() {
    for (args, ground) in [(&[][..], "flat"), (&["--ground", "uneven"], "uneven")] {
        let (dir, _) = run(&[&["--frames", "2", "--report", "r.json"], args].concat());
        assert_eq!(report(&dir.path().join("r.json"))["config"]["ground"], ground);
    }
}

#[test]
fn a_broken_log_filter_is_a_wrong_command_line() {
    let output = Command::new(env!("CARGO_BIN_EXE_throng"))
        .env("RUST_LOG", "throng=loud")
        .args(["--no-render", "--count", "1", "--frames", "1"])
        .output()
        .unwrap();
    assert!(refused(&output, 2).contains("RUST_LOG"));
}

#[test]
fn files_that_are_no_character_end_with_status_1_and_leave_nothing_behind() {
    let (dir, _) = run(&["--frames", "1"]);
    std::fs::write(dir.path().join("empty.glb"), []).unwrap();
    std::fs::write(dir.path().join("text.glb"), "hello, this is text").unwrap();
    std::fs::create_dir(dir.path().join("folder.glb")).unwrap();
    // Valid, and nobody's body.
    let skinless = r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],
        "nodes":[{"name":"lamp"}]}"#;
    std::fs::write(dir.path().join("skinless.gltf"), skinless).unwrap();
    let before = files_in(dir.path()).len();
    for name in ["missing.glb", "empty.glb", "text.glb", "folder.glb", "skinless.gltf"] {
        let args = ["--no-render", "--character", name, "--report", "r.json"];
        let line = refused(&throng_in(dir.path(), &args), 1);
        assert!(line.contains(name), "{line}");
        assert_eq!(line.contains("holds no character"), name == "skinless.gltf", "{line}");
        assert_eq!(files_in(dir.path()).len(), before, "{name}");
    }
}

#[test]
fn output_folders_that_do_not_exist_are_named_before_the_work_starts() {
    // So many frames that a run would not end within the test's patience.
    let endless = ["--frames", "100000000"];
    let (_, output) = run(&[&endless[..], &["--report", "no/such/r.json"]].concat());
    assert!(refused(&output, 1).contains("no/such"));
    let output = throng(&["--headless", "--frames-out", "no/such/folder"]);
    assert!(refused(&output, 1).contains("no/such/folder"));
}

#[test]
fn a_report_holds_what_was_measured_and_nothing_else() {
    let (dir, output) = run(&["--frames", "12", "--warmup", "3", "--report", "r.json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(files_in(dir.path()).len(), 1);
    let r = report(&dir.path().join("r.json"));
    assert_eq!((&r["frames"]["warmup"], &r["frames"]["measured"]), (&3.into(), &12.into()));
    assert_eq!(r["config"]["count"], 40);
    assert_eq!(r["machine"]["threads"], 1);
    assert_eq!(r["crowd"]["count"], 40);
    let evaluated = r["crowd"]["evaluated"]["mean"].as_f64().unwrap();
    assert!(evaluated > 0.0 && evaluated <= 40.0);
    for phase in ["frame", "cull", "record", "execute", "gather"] {
        let row = &r["ms"][phase];
        let ordered: Vec<f64> =
            ["p50", "p95", "p99", "max"].iter().map(|p| row[*p].as_f64().unwrap()).collect();
        assert!(ordered.is_sorted() && ordered[0] >= 0.0, "{phase}: {row}");
        assert!(row["mean"].as_f64().unwrap() <= ordered[3]);
    }
    assert!(r["worker_ms"]["execute"]["mean"].as_f64().unwrap() > 0.0);
    // Every executed task is accounted for by kind, and every evaluated character was resolved.
    let kinds = r["tasks"]["executed"].as_object().unwrap();
    let sum: u64 = kinds.values().map(|k| k["count"].as_u64().unwrap()).sum();
    assert_eq!(Some(sum), r["tasks"]["reachable"].as_u64());
    let resolved = r["tasks"]["resolved"]["count"].as_u64().unwrap();
    assert_eq!(resolved, (evaluated * 12.0).round() as u64);
    assert!(r["palette_hash"].as_str().is_some_and(|h| h.len() == 16));
    assert!(r.get("notifies").is_none_or(|n| n.as_object().is_some_and(|n| !n.is_empty())));
    for absent in ["render", "gpu_passes"] {
        assert!(r.get(absent).is_none(), "{absent} without a GPU");
    }
    assert!(r["machine"].get("adapter").is_none());
    let summary = text(&output.stdout);
    assert!(summary.contains("40 characters") && summary.contains("wrote r.json"), "{summary}");
}

#[test]
fn distant_characters_are_evaluated_less_often_and_the_report_says_how_many() {
    let evaluated = |args: &[&str]| {
        let base = ["--frames", "24", "--report", "r.json"];
        let (dir, output) = run(&[&base[..], args].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        report(&dir.path().join("r.json"))
    };
    let count = |r: &Value, rate: &str| r["crowd"]["by_rate"][rate]["mean"].as_f64().unwrap();
    let all = evaluated(&[
        "--visibility",
        "off",
        "--update-rate",
        "off",
        "--rate-distances",
        "0.01,0.02,0.03",
    ]);
    assert_eq!(all["crowd"]["evaluated"]["mean"], 40.0);
    assert_eq!((count(&all, "1"), count(&all, "4")), (40.0, 0.0));
    assert_eq!(
        (&all["crowd"]["skipped"]["max"], &all["crowd"]["longest_gap"]),
        (&0.0.into(), &1.into())
    );
    assert_eq!(all["config"]["update_rate"], false);
    let few = evaluated(&["--visibility", "off", "--rate-distances", "0.01,0.02,0.03"]);
    assert_eq!((count(&few, "1"), count(&few, "4")), (0.0, 40.0));
    assert_eq!(few["crowd"]["longest_gap"], 4);
    // Beside their turns only those who come into view.
    let mean = few["crowd"]["evaluated"]["mean"].as_f64().unwrap();
    assert!((10.0..12.0).contains(&mean), "{mean}");
    assert_eq!(few["crowd"]["skipped"]["mean"].as_f64().unwrap() + mean, 40.0);
    // In view with a pose, out of sight by their clocks alone.
    let clocks = evaluated(&["--visibility", "clocks", "--update-rate", "off"]);
    assert_eq!(clocks["config"]["visibility"], "clocks");
    let mean = |what: &str| clocks["crowd"][what]["mean"].as_f64().unwrap();
    assert_eq!(mean("evaluated") + mean("ticked"), 40.0);
    let (_, output) = run(&["--rate-distances", "60,30,120"]);
    assert!(refused(&output, 2).contains("30,60,120"));
    let (_, output) = run(&["--update-rate", "off", "--replay", "a.rec"]);
    assert!(refused(&output, 2).contains("--replay"));
}

#[test]
fn interpolation_takes_a_second_palette_for_each_and_evaluates_the_same() {
    let base = ["--visibility", "off", "--frames", "24", "--rate-distances", "0.01,0.02,0.03"];
    let with = |interpolate: &str| {
        let args = ["--interpolate", interpolate, "--fixed-dt", "0.02", "--report", "r.json"];
        let (dir, output) = run(&[&base[..], &args].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        report(&dir.path().join("r.json"))
    };
    let (off, on) = (with("off"), with("on"));
    assert!(off["palette_hash"].is_string());
    assert_eq!(on["palette_hash"], off["palette_hash"]);
    let palettes = |r: &Value| r["memory"]["palette_bytes"].as_u64().unwrap();
    assert_eq!(palettes(&on), 2 * palettes(&off));
    assert_eq!(
        (&on["config"]["interpolate"], &off["config"]["interpolate"]),
        (&true.into(), &false.into())
    );
}

#[test]
fn a_report_as_csv_has_one_row_per_number() {
    let (dir, output) = run(&["--frames", "3", "--report", "r.csv"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let csv = std::fs::read_to_string(dir.path().join("r.csv")).unwrap();
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("metric,value"));
    let value = |name: &str| {
        let row = csv.lines().find_map(|l| l.strip_prefix(&format!("{name},")));
        row.unwrap_or_else(|| panic!("no {name} in\n{csv}")).to_owned()
    };
    assert_eq!(value("frames.measured"), "3");
    assert!(value("ms.frame.p95").parse::<f64>().unwrap() > 0.0);
}

#[test]
fn the_same_seed_gives_the_same_bits_whatever_the_threads_pruning_and_stealing() {
    let hash = |args: &[&str]| {
        let dir = tempfile::tempdir().unwrap();
        let base = ["--no-render", "--count", "40", "--frames", "20", "--report", "r.json"];
        let output = throng_in(dir.path(), &[&base[..], args].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        report(&dir.path().join("r.json"))["palette_hash"].as_str().map(str::to_owned)
    };
    let first = hash(&["--threads", "1"]);
    assert!(first.is_some());
    for args in [&["--threads", "3"][..], &["--prune", "off"], &["--steal", "off"]] {
        assert_eq!(hash(args), first, "{args:?}");
    }
    assert_ne!(hash(&["--seed", "2"]), first);
    assert_eq!(hash(&["--fixed-dt", "off"]), None, "nothing to compare in real time");
}

#[test]
fn a_capture_is_written_with_names_and_what_the_executor_did() {
    for (option, name) in [("7", "capture-7.json"), ("7=seven.json", "seven.json")] {
        let (dir, output) = run(&["--frames", "20", "--visibility", "off", "--capture", option]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(files_in(dir.path()), [dir.path().join(name)]);
        assert!(
            text(&output.stdout).contains(&format!("wrote {name}")),
            "{}",
            text(&output.stdout)
        );
        let c = report(&dir.path().join(name));
        // Two frames of warming up come first.
        assert_eq!((&c["character"], &c["frame"]), (&7.into(), &21.into()));
        assert!(["humanoid", "quadruped"].contains(&c["kind"].as_str().unwrap()));
        assert!((c["seconds"].as_f64().unwrap() - 22.0 / 60.0).abs() < 1e-9, "{c}");
        let tasks = c["tasks"].as_array().unwrap();
        assert_eq!(c["recorded"], tasks.len());
        assert_eq!(tasks[c["output"].as_u64().unwrap() as usize]["reachable"], true);
        let first = |t: &&Value| t["order"] == 0;
        let sample = tasks.iter().find(first).unwrap();
        assert_eq!((&sample["kind"], &sample["reachable"]), (&"SampleClip".into(), &true.into()));
        assert!(sample["parameters"]["clip"]["name"].as_str().is_some_and(|n| !n.is_empty()));
        assert!(sample["ns"].as_u64().unwrap() > 0 && sample["order"] == 0);
    }
}

#[test]
fn a_character_that_is_not_there_or_that_nobody_saw_can_not_be_captured() {
    let (dir, output) = run(&["--capture", "40"]);
    assert!(refused(&output, 2).contains("0 to 39"));
    assert!(files_in(dir.path()).is_empty());
    let far = ["--no-render", "--count", "2000", "--layout", "grid", "--camera", "near"];
    let rest = ["--grace", "0", "--frames", "2", "--report", "r.json", "--capture", "1999"];
    let dir = tempfile::tempdir().unwrap();
    let output = throng_in(dir.path(), &[&far[..], &rest].concat());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("1999") && said.contains("--visibility off"), "{said}");
    assert_eq!(files_in(dir.path()), [dir.path().join("r.json")], "the report is written");
}

#[test]
fn dumped_tasks_are_lines_of_text_every_so_many_frames() {
    let lists = |args: &[&str]| {
        let (_, output) = run(&[&["--visibility", "off", "--warmup", "0"], args].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let said = text(&output.stderr);
        assert!(said.contains(" SampleClip clip="), "{said}");
        assert!(said.lines().all(|l| l.starts_with("tasks of ") || l.starts_with("  ")), "{said}");
        let heads = said.lines().filter(|l| l.starts_with("tasks of "));
        heads.map(str::to_owned).collect::<Vec<_>>()
    };
    let all = lists(&["--frames", "121", "--dump-tasks"]);
    assert_eq!(all.len(), 6, "two kinds in frames 0, 60 and 120: {all:?}");
    assert!(all[0].contains("\"humanoid\"") != all[1].contains("\"humanoid\""), "{all:?}");
    let one = lists(&["--frames", "5", "--dump-tasks=2", "--capture", "3"]);
    assert_eq!(one.len(), 3, "{one:?}");
    assert!(one.iter().all(|l| l.starts_with("tasks of character 3 (")), "{one:?}");
}

#[test]
fn validated_tasks_are_counted_in_the_report_and_change_nothing() {
    let outcome = |args: &[&str]| {
        let base = ["--frames", "30", "--visibility", "off", "--report", "r.json"];
        let (dir, output) = run(&[&base[..], args].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        (report(&dir.path().join("r.json")), text(&output.stdout))
    };
    let (plain, said) = outcome(&[]);
    assert!(plain.get("validation").is_none() && !said.contains("evaluated twice"));
    let simple = outcome(&["--validate-tasks", "--playback", "simple"]).0;
    assert!(simple["validation"]["checked"].as_u64() > Some(600), "{simple}");
    let (r, said) = outcome(&["--validate-tasks"]);
    let v = &r["validation"];
    assert_eq!(v["checked"].as_u64().unwrap() + v["skipped"].as_u64().unwrap(), 40 * 33);
    // A graph passes what it samples through transitions that are over.
    assert!(v["checked"].as_u64().unwrap() > 200, "{v}");
    assert_eq!((&v["diverged"], &v["examples"]), (&0.into(), &serde_json::json!([])));
    assert!(v["worst_mm"].as_f64().unwrap() < 0.1, "{v}");
    assert!(said.contains("evaluated twice") && said.contains(": 0 differ"), "{said}");
    assert_eq!(r["palette_hash"], plain["palette_hash"]);
    assert_eq!(r["config"]["validate_tasks"], true);
}

#[test]
fn crowds_of_none_and_of_one_run() {
    for count in ["0", "1"] {
        let output = throng(&["--no-render", "--count", count, "--frames", "3", "--zones", "off"]);
        assert!(output.status.success(), "{count}: {}", text(&output.stderr));
        assert!(text(&output.stdout).starts_with(&format!("{count} character")));
    }
}

#[test]
fn a_frame_time_limit_that_is_broken_ends_with_status_3_and_still_reports() {
    let (dir, output) = run(&["--frames", "5", "--max-frame-ms", "0.000001", "--report", "r.json"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("--max-frame-ms"));
    assert!(dir.path().join("r.json").exists());
    let (_, output) = run(&["--frames", "5", "--max-frame-ms", "1000000"]);
    assert!(output.status.success());
}

#[test]
fn a_crowd_that_can_not_fit_is_refused_with_the_numbers() {
    let args = ["--no-render", "--count", "10000000", "--visibility", "off", "--frames", "1"];
    let output = throng(&args);
    if output.status.success() {
        return eprintln!("this machine has room for ten million characters; not tested");
    }
    let line = refused(&output, 1);
    assert!(line.contains("10000000 characters") && line.contains("GiB"), "{line}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_still_reports() {
    let dir = tempfile::tempdir().unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_throng"))
        .current_dir(dir.path())
        .args(["--no-render", "--count", "10", "--frames", "1000000000", "--report", "r.json"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Long enough to have started, on a machine under load too: the handler is installed early,
    // and an interrupt before the first frame reports zero frames.
    std::thread::sleep(std::time::Duration::from_secs(2));
    // The shell's own: a bare machine has no program of that name.
    // Twice at once, as `timeout` and shells do it.
    let kill = format!("kill -INT {0}; kill -INT {0}", child.id());
    let killed = Command::new("sh").args(["-c", &kill]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    let measured = report(&dir.path().join("r.json"))["frames"]["measured"].as_u64().unwrap();
    assert!(measured < 1_000_000_000);
}

#[test]
fn without_a_display_a_run_is_headless_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["--adapter", "noop", "--count", "20", "--frames", "4", "--report", "r.json"];
    let output = throng_in(dir.path(), &args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("running headless"), "{}", text(&output.stderr));
    let r = report(&dir.path().join("r.json"));
    assert_eq!((&r["config"]["mode"], &r["frames"]["measured"]), (&"headless".into(), &4.into()));
    assert_eq!(r["machine"]["backend"], "noop");
    assert!(r["render"]["draws"]["mean"].as_f64().unwrap() > 0.0);
    assert!(r["memory"]["upload_bytes"]["mean"].as_f64().unwrap() > 0.0);
}

#[test]
fn an_unknown_adapter_is_named_with_those_there_are() {
    let output = throng(&["--headless", "--count", "1", "--frames", "1", "--adapter", "no such"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no such"), "{}", text(&output.stderr));
}

#[test]
fn a_screenshot_and_numbered_frames_are_pictures_of_the_size_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["--headless", "--count", "3", "--frames", "2", "--size", "160x90", "--msaa", "1"];
    let outputs = ["--screenshot", "s.png", "--frames-out", "frames", "--overlay", "on"];
    let output = throng_in(dir.path(), &[&args[..], &outputs].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let names: Vec<_> = {
        let mut names = files_in(&dir.path().join("frames"));
        names.sort();
        names
    };
    assert_eq!(names.len(), 2);
    assert!(names[1].ends_with("frame-00001.png"), "{names:?}");
    let last = image::open(&names[1]).unwrap().to_rgba8();
    let shot = image::open(dir.path().join("s.png")).unwrap().to_rgba8();
    assert_eq!(shot.dimensions(), (160, 90));
    assert_eq!(shot, last, "the screenshot is the last frame");
    let colors: std::collections::HashSet<_> = shot.pixels().collect();
    assert!(colors.len() > 50, "only {} colours", colors.len());
}

#[test]
fn levels_of_detail_can_be_switched_off_and_the_report_counts_the_triangles() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["--headless", "--count", "30", "--frames", "1", "--size", "160x90", "--msaa", "1"];
    let triangles = |switch: &str| {
        let name = format!("{switch}.json");
        let more = ["--camera", "far", "--mesh-lods", switch, "--report", &name];
        let output = throng_in(dir.path(), &[&args[..], &more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let r = report(&dir.path().join(&name));
        assert_eq!(r["config"]["mesh_lods"], switch == "on");
        r["render"]["triangles"]["mean"].as_f64().unwrap()
    };
    let (on, off) = (triangles("on"), triangles("off"));
    assert!(on > 0.0 && 2.0 * on < off, "{on} with, {off} without");
}

#[test]
fn noop_needs_no_window_even_where_there_is_a_display() {
    // A display that can't be reached: an attempt to open a window would name it.
    let output = Command::new(env!("CARGO_BIN_EXE_throng"))
        .env("DISPLAY", "nowhere:7")
        .env_remove("RUST_LOG")
        .args(["--adapter", "NOOP", "--count", "2", "--frames", "1"])
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("--adapter noop") && said.contains("running headless"), "{said}");
    assert!(!said.contains("no display"), "{said}");
}

#[test]
fn inspect_says_when_an_option_waits_for_a_pose() {
    for option in ["--vertices", "--exact"] {
        let output = throng(&["inspect", "humanoid", "--json", option]);
        assert!(output.status.success());
        assert!(text(&output.stderr).contains("--pose"), "{option}");
        let output = throng(&["inspect", "humanoid", "--json", option, "--pose", "rest"]);
        assert_eq!(text(&output.stderr), "", "{option}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_nobody_can_take_is_no_panic() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = |args: &[&str], stdout: std::process::Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
        command.args(args).env_remove("DISPLAY").stdout(stdout).stderr(full());
        command.status().unwrap().code()
    };
    let null = std::process::Stdio::null;
    let run = ["--no-render", "--count", "1", "--frames", "1"];
    assert_eq!(status(&["--count", "x"], null()), Some(2));
    assert_eq!(status(&["inspect", "no such.glb"], null()), Some(1));
    assert_eq!(status(&[&run[..], &["--present", "fifo"]].concat(), null()), Some(0));
    assert_eq!(status(&run, full().into()), Some(1));
}

#[test]
fn feet_that_come_down_are_counted_by_name_and_told_in_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_throng"))
        .current_dir(dir.path())
        .env("RUST_LOG", "throng::notify=debug")
        .args(["--no-render", "--count", "60", "--frames", "120", "--visibility", "off"])
        .args(["--warmup", "0", "--report", "r.json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let r = report(&dir.path().join("r.json"));
    let counted = r["notifies"]["footstep_l"].as_u64().unwrap();
    assert!(counted > 10, "{}", r["notifies"]);
    let log = text(&output.stderr) + &text(&output.stdout);
    let told = log.lines().filter(|l| l.contains("footstep_l\"")).count() as u64;
    assert_eq!(told, counted, "{log}");
}

#[test]
fn graph_says_what_a_file_compiles_to_and_whether_a_character_has_it() {
    let summary = text(&throng(&["graph", "locomotion"]).stdout);
    for line in
        ["machine    locomotion: idle, walk, run, jump", "binds to   humanoid", "speed (float"]
    {
        assert!(summary.contains(line), "{line:?} is not in\n{summary}");
    }
    let listing = text(&throng(&["graph", "quadruped", "--disasm"]).stdout);
    assert!(listing.contains("SelectState      machine=locomotion"), "{listing}");
    let json = throng(&["graph", "locomotion", "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["binds_to"], "humanoid");
    assert_eq!(json["warnings"], Value::Array(vec![]));
    assert!(json["instructions"].as_u64() > Some(20));
}

#[test]
fn graph_prints_graph_files_that_it_reads_again() {
    let dir = tempfile::tempdir().unwrap();
    let glb = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/quadruped.glb");
    for file in ["quadruped", glb.to_str().unwrap()] {
        let printed = throng(&["graph", file, "--ron"]);
        assert!(printed.status.success(), "{}", text(&printed.stderr));
        std::fs::write(dir.path().join("own.ron"), &printed.stdout).unwrap();
        let output = throng_in(dir.path(), &["graph", "own.ron", "--character", "quadruped"]);
        assert!(text(&output.stdout).contains("binds to   quadruped"), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("howl"));
    }
}

#[test]
fn a_graph_that_is_wrong_or_does_not_fit_ends_with_status_1_and_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let graph = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    graph("a.ron", "(version: 1,\n nodes: {\"a\": Clip(clip: \"ide\")},\n output: \"b\")");
    let line = refused(&throng_in(dir.path(), &["graph", "a.ron"]), 1);
    assert_eq!(line.trim_end(), "throng: a.ron:3:11: output: no node `b`; there are: a");
    graph("b.ron", "(version: 1,\n nodes: {\"a\": Clip(clip: \"walk_fwrd\")},\n output: \"a\")");
    let line = refused(&throng_in(dir.path(), &["graph", "b.ron", "--character", "humanoid"]), 1);
    let start = "throng: b.ron:2:27: node `a`: no clip `walk_fwrd`; did you mean `walk_fwd`? the \
                 character has: idle, walk_fwd,";
    assert!(line.starts_with(start), "{line}");
    let line = refused(&throng_in(dir.path(), &["graph", "walk.ron"]), 1);
    assert!(line.contains("walk.ron") && line.contains("locomotion"), "{line}");
    std::fs::write(dir.path().join("c.ron"), [0xff; 9]).unwrap();
    assert!(refused(&throng_in(dir.path(), &["graph", "c.ron"]), 1).contains("c.ron"));
    let huge = std::fs::File::create(dir.path().join("d.ron")).unwrap();
    huge.set_len(8 << 30).unwrap();
    assert!(refused(&throng_in(dir.path(), &["graph", "d.ron"]), 1).contains("1048576"));
}

#[test]
fn a_graph_for_one_of_two_kinds_is_refused_with_how_to_play_it() {
    let crowd = ["--no-render", "--count", "4", "--frames", "1", "--graph", "locomotion"];
    let line = refused(&throng(&crowd), 1);
    assert!(line.contains("quadruped") && line.contains("--character humanoid"), "{line}");
    let output = throng(&[&crowd[..], &["--character", "humanoid"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn a_graph_that_no_character_can_follow_is_refused_where_the_file_says_it() {
    let dir = tempfile::tempdir().unwrap();
    let solver = |bones: &str| {
        let text = format!(
            "(version: 1,\n nodes: {{\n \"a\": Clip(clip: \"idle\"),\n \"b\": TwoBoneIk(source: \"a\", \
             {bones}, target: (0, 0, 0))}},\n output: \"b\")"
        );
        std::fs::write(dir.path().join("a.ron"), text).unwrap();
    };
    let graph = |more: &[&str]| throng_in(dir.path(), &[&["graph", "a.ron"], more].concat());
    let person = ["--character", "humanoid"];
    solver("root: \"thigh_l\", mid: \"calf_r\", end: \"foot_l\"");
    let line = refused(&graph(&person), 1);
    assert_eq!(
        line.trim_end(),
        "throng: a.ron:4:53: node `b`: `calf_r` does not hang below `thigh_l` in the character's \
         skeleton"
    );
    let line = refused(&graph(&["--ron", person[0], person[1]]), 1);
    assert!(line.contains("does not hang below"), "{line}");
    solver("root: \"thigh_l\", mid: \"calf_l\", end: \"foot_l\"");
    assert!(graph(&person).status.success() && graph(&["--ron"]).status.success());

    let text = "(version: 1, sync_groups: [\"g\"], nodes: {\"a\": Clip(clip: \"walk_fwd\", sync: \"g\"),\n \"b\": \
                Clip(clip: \"idle\", sync: \"g\"), \"c\": Blend(a: \"a\", b: \"b\", alpha: 0.5)}, output: \"c\")";
    std::fs::write(dir.path().join("a.ron"), text).unwrap();
    let line = refused(&graph(&person), 1);
    assert_eq!(
        line.trim_end(),
        "throng: a.ron:2:19: node `b`: clips of the sync group `g` need the same sync markers in the \
         same order; `walk_fwd` has `left_down`, `right_down`, `idle` has none; `sync_markers` says \
         which are to hold"
    );

    // What scales bones plays characters that are made ready for it.
    let text = "(version: 1, nodes: {\"a\": Clip(clip: \"idle\"), \"b\": BoneTransform(source: \
                \"a\", bone: \"head\", scale: (2, 2, 2))}, output: \"b\")";
    std::fs::write(dir.path().join("a.ron"), text).unwrap();
    assert!(graph(&person).status.success());
    let file = dir.path().join("a.ron");
    let (_dir, output) = run(&["--graph", file.to_str().unwrap(), "--frames", "2"]);
    assert!(output.status.success(), "{}", text_of(&output));
}

fn text_of(output: &Output) -> String {
    text(&output.stderr)
}

#[test]
fn a_compiled_graph_plays_as_its_text_does_and_an_older_one_warns() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let path = |name: &str| at(name).to_str().unwrap().to_owned();
    let printed = throng(&["graph", "locomotion", "--ron"]);
    std::fs::write(at("a.ron"), &printed.stdout).unwrap();
    let cooked = throng_in(dir.path(), &["graph", "a.ron", "--cook", "a.graph"]);
    assert!(cooked.status.success(), "{}", text_of(&cooked));
    let shown = |file: &str| {
        let output = throng_in(dir.path(), &["graph", file, "--character", "humanoid", "--disasm"]);
        assert!(output.status.success(), "{}", text_of(&output));
        text(&output.stdout)
    };
    assert_eq!(shown("a.ron"), shown("a.graph"));
    let hash = |file: &str| {
        let report_to = path("report.json");
        let args = ["--character", "humanoid", "--frames", "20", "--fixed-dt", "0.02"];
        let graph = path(file);
        let (_dir, output) =
            run(&[&args[..], &["--graph", &graph, "--report", &report_to]].concat());
        assert!(output.status.success(), "{}", text_of(&output));
        (report(&at("report.json"))["palette_hash"].clone(), text_of(&output))
    };
    let (written, said) = hash("a.ron");
    assert!(written.is_string() && !said.contains("version"), "{written} {said}");
    assert_eq!(hash("a.graph").0, written);

    let mut bytes = std::fs::read(at("a.graph")).unwrap();
    bytes[4..6].copy_from_slice(&0_u16.to_le_bytes());
    std::fs::write(at("old.graph"), bytes).unwrap();
    let (bind, said) = hash("old.graph");
    assert!(said.contains("old.graph: ") && said.contains("shows the bind pose"), "{said}");
    assert_ne!(bind, written);
    for args in [["a.graph", "--ron", "--json"], ["a.graph", "--cook", "b.graph"]] {
        assert!(refused(&throng_in(dir.path(), &[&["graph"], &args[..]].concat()), 2).len() > 9);
    }
    let line = refused(&throng_in(dir.path(), &["graph", "a.ron", "--cook", "a.ron"]), 2);
    assert!(line.contains("the graph itself"), "{line}");
}

#[test]
fn a_watched_graph_is_shown_anew_when_it_is_saved_and_says_what_broke() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.ron");
    let graph = |clip: &str| format!("(version: 1, nodes: {{\"a\": Clip({clip})}}, output: \"a\")");
    std::fs::write(&path, graph("clip: \"first\"")).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_throng"))
        .current_dir(dir.path())
        .args(["graph", "a.ron", "--watch"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (said, heard) = std::sync::mpsc::channel();
    let out: Box<dyn std::io::Read + Send> = Box::new(child.stdout.take().unwrap());
    let err: Box<dyn std::io::Read + Send> = Box::new(child.stderr.take().unwrap());
    for stream in [out, err] {
        let said = said.clone();
        std::thread::spawn(move || {
            BufReader::new(stream).lines().map_while(Result::ok).for_each(|l| drop(said.send(l)));
        });
    }
    // The reader's patience ends a test that waits for nothing; it measures nothing.
    let wait_for = |words: &str| {
        while let Ok(line) = heard.recv_timeout(std::time::Duration::from_secs(60)) {
            if line.contains(words) {
                return;
            }
        }
        panic!("{words:?} was never said");
    };
    wait_for("clips      first");
    std::fs::write(&path, graph("clp: \"second\"")).unwrap();
    wait_for("a.ron:1:32: node `a`: no field `clp` of `Clip`; did you mean `clip`?");
    std::fs::write(&path, graph("clip: \"third\"")).unwrap();
    wait_for("clips      third");
    child.kill().unwrap();
    child.wait().unwrap();
}

fn hash(path: &Path) -> String {
    report(path)["palette_hash"].as_str().unwrap().to_owned()
}

#[test]
fn a_recording_replays_to_the_same_hash_on_other_threads_and_without_being_told_the_crowd() {
    let (dir, output) = run(&[
        "--frames", "40", "--warmup", "5", "--seed", "9", "--record", "a.rec", "--report", "a.json",
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("wrote a.rec: 45 frames"), "{}", text(&output.stdout));
    assert_eq!(files_in(dir.path()).len(), 2, "nothing half-written is left");
    for args in [&["--threads", "3"][..], &["--steal", "off", "--prune", "off"]] {
        let base = ["--no-render", "--replay", "a.rec", "--report", "b.json"];
        let output = throng_in(dir.path(), &[&base[..], args].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let (a, b) = (report(&dir.path().join("a.json")), report(&dir.path().join("b.json")));
        assert_eq!(hash(&dir.path().join("a.json")), hash(&dir.path().join("b.json")));
        for part in ["frames", "crowd"] {
            assert_eq!(a[part]["measured"], b[part]["measured"]);
            assert_eq!(a[part]["evaluated"], b[part]["evaluated"]);
        }
        assert_eq!((&b["config"]["count"], &b["config"]["seed"]), (&40.into(), &9.into()));
        assert_eq!(a["tasks"]["reachable"], b["tasks"]["reachable"]);
    }
}

#[test]
fn a_recording_says_what_it_holds_and_what_a_wire_would_carry() {
    let (dir, output) = run(&["--frames", "30", "--warmup", "0", "--record", "a.rec"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = throng_in(dir.path(), &["recording", "a.rec", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let r: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&r["count"], &r["frames"]), (&40.into(), &30.into()));
    assert!((r["seconds"].as_f64().unwrap() - 0.5).abs() < 1e-6);
    let size = |form: &str| r[form]["bytes_per_character"].as_f64().unwrap();
    assert!(size("wire") >= 7.0 && size("wire") < size("exact") && size("exact") < 250.0, "{r}");
    let error = &r["error"];
    assert!(error["lists"].as_u64().unwrap() > 100, "{r}");
    let (max, rms) = (error["max_mm"].as_f64().unwrap(), error["rms_mm"].as_f64().unwrap());
    assert!(rms > 0.0 && rms < max && max < 3.0, "{r}");
    let table = text(&throng_in(dir.path(), &["recording", "a.rec"]).stdout);
    assert!(table.contains("bytes a character") && table.contains("mm at most"), "{table}");
}

#[test]
fn recordings_that_can_not_be_replayed_end_with_status_1_and_one_line() {
    let (dir, output) = run(&["--frames", "6", "--warmup", "0", "--record", "a.rec"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let whole = std::fs::read(dir.path().join("a.rec")).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes).unwrap();
    write("cut.rec", &whole[..whole.len() - 40]);
    write("text.rec", b"hello, this is text");
    write("empty.rec", b"");
    let mut newer = whole.clone();
    newer[8] = 77;
    write("newer.rec", &newer);
    let mut changed = whole.clone();
    let middle = whole.len() - 60;
    changed[middle] ^= 1;
    write("changed.rec", &changed);
    std::fs::create_dir(dir.path().join("folder.rec")).unwrap();
    for (name, words) in [
        ("missing.rec", "missing.rec"),
        ("cut.rec", "cut short after 5 whole frames"),
        ("text.rec", "no recording"),
        ("empty.rec", "no recording"),
        ("newer.rec", "a recording of version 77."),
        ("changed.rec", "another checksum"),
        ("folder.rec", "not a file"),
    ] {
        for args in [&["--no-render", "--replay", name][..], &["recording", name]] {
            let line = refused(&throng_in(dir.path(), args), 1);
            assert!(line.contains(name) && line.contains(words), "{args:?}: {line}");
        }
    }
    let other = ["--no-render", "--replay", "a.rec", "--character", "quadruped"];
    let line = refused(&throng_in(dir.path(), &other), 1);
    assert!(line.contains("2 kinds of character") && line.contains("a.rec"), "{line}");
    let swapped = [&other[..], &["--character", "humanoid"]].concat();
    let line = refused(&throng_in(dir.path(), &swapped), 1);
    assert!(line.contains("another \"humanoid\"") && line.contains("checksum"), "{line}");
}

#[test]
fn a_replay_takes_its_crowd_from_the_recording_only() {
    for args in [
        &["--replay", "a.rec", "--count", "5"][..],
        &["--replay", "a.rec", "--frames", "5"],
        &["--replay", "a.rec", "--record", "b.rec"],
    ] {
        let line = refused(&throng(args), 2);
        assert!(line.contains("--replay") && line.contains(args[2]), "{line}");
    }
}

#[test]
fn two_outputs_in_one_file_are_refused_before_the_run() {
    let (dir, output) = run(&["--frames", "1", "--record", "a.json", "--capture", "0=a.json"]);
    let line = refused(&output, 2);
    assert!(line.contains("--capture") && line.contains("--record") && line.contains("a.json"));
    assert!(files_in(dir.path()).is_empty());
}

#[test]
fn a_recording_of_graphs_replays_when_their_file_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let graph = throng(&["graph", "locomotion", "--ron"]).stdout;
    std::fs::write(dir.path().join("own.ron"), graph).unwrap();
    let base = ["--no-render", "--count", "60", "--frames", "90", "--ground", "uneven"];
    let base = [&base[..], &["--record", "a.rec", "--report", "a.json"]].concat();
    for (played, kinds) in [
        (&["--graph", "own.ron", "--character", "humanoid"][..], "humanoid by graph own)"),
        (&["--playback", "graph"], "by graph locomotion, quadruped by graph quadruped"),
    ] {
        let output = throng_in(dir.path(), &[&base[..], played].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let _ = std::fs::remove_file(dir.path().join("own.ron"));
        let (a, then) = (report(&dir.path().join("a.json")), hash(&dir.path().join("a.json")));
        for args in
            [&["--threads", "2"][..], &["--threads", "1", "--steal", "off", "--prune", "off"]]
        {
            let replay = ["--no-render", "--replay", "a.rec", "--report", "b.json"];
            let output = throng_in(dir.path(), &[&replay[..], args].concat());
            assert!(output.status.success(), "{}", text(&output.stderr));
            let b = report(&dir.path().join("b.json"));
            assert_eq!(hash(&dir.path().join("b.json")), then, "{played:?} {args:?}");
            assert_eq!(a["tasks"]["reachable"], b["tasks"]["reachable"]);
            for of_run in ["playback", "graph", "time_step", "ground", "grace"] {
                assert_eq!(a["config"][of_run], b["config"][of_run], "{of_run}");
            }
        }
        let told = throng_in(dir.path(), &["recording", "a.rec"]);
        assert!(text(&told.stdout).contains(kinds), "{}{}", text(&told.stdout), text(&told.stderr));
        let told = throng_in(dir.path(), &["recording", "a.rec", "--json"]);
        let r: Value = serde_json::from_slice(&told.stdout).unwrap();
        let (max, rms) = (&r["error"]["max_mm"], &r["error"]["rms_mm"]);
        let (max, rms) = (max.as_f64().unwrap(), rms.as_f64().unwrap());
        assert!(rms > 0.0 && rms < 0.2 && max < 5.0, "{r}");
        assert!(r["tasks_per_list"].as_f64().unwrap() > 4.0, "{r}");
    }
}

#[test]
fn a_replay_reports_the_time_steps_of_its_run() {
    let (dir, output) =
        run(&["--frames", "5", "--fixed-dt", "off", "--grace", "0.75", "--record", "a.rec"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let args = ["--no-render", "--replay", "a.rec", "--report", "b.json"];
    let output = throng_in(dir.path(), &args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("of a run in real time"), "{}", text(&output.stdout));
    let r = report(&dir.path().join("b.json"));
    assert_eq!((&r["config"]["time_step"], &r["config"]["grace"]), (&"real".into(), &0.75.into()));
    assert!(r["palette_hash"].is_null());
}

#[test]
fn a_folder_can_not_be_recorded_into_and_what_killed_runs_left_is_cleared_away() {
    for folder in ["a/", "a/.", "./"] {
        let (dir, output) = run(&["--frames", "100000000", "--record", folder]);
        assert!(refused(&output, 1).contains("this is a folder"), "{folder}");
        assert!(files_in(dir.path()).is_empty());
    }
    let (dir, _) = run(&["--frames", "1"]);
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("a.rec.77.part"), "half a recording").unwrap();
    let written = std::fs::File::create(at("a.rec.78.part")).unwrap();
    written.lock().unwrap();
    let args = ["--no-render", "--count", "5", "--frames", "2", "--record", "a.rec"];
    let output = throng_in(dir.path(), &args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("removed a.rec.77.part"), "{}", text(&output.stderr));
    let mut left = files_in(dir.path());
    left.sort();
    assert_eq!(left, [at("a.rec"), at("a.rec.78.part")], "somebody writes that one");
}

#[test]
fn an_audit_names_whom_sequences_force_and_which_forgot_to_let_go() {
    let audit = |args: &[&str]| {
        let base = ["--audit", "--frames", "200", "--scenario", "dark", "--park-distance"];
        let (_dir, output) = run(&[&base[..], args].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    // Somebody is always near to a camera that is over the crowd, unless nobody may be.
    let says = audit(&["off"]);
    assert!(says.contains("audit: 40 do not tick as they would by themselves"), "{says}");
    assert!(
        says.contains(
            "  character 9: always_tick_pose, by itself tick_when_rendered; \
             forced by \"scene 1\" (playing)"
        ),
        "{says}"
    );
    assert!(
        says.contains("  and 20 more")
            && says.contains("longest gap 1 frames, first of character "),
        "{says}"
    );
    let says = audit(&["20"]);
    assert!(says.contains("audit: everybody ticks as it would by itself"), "{says}");
    let says = audit(&["20", "--restore", "never"]);
    assert!(says.contains("40 do not tick as they would by themselves"), "{says}");
    let (_dir, output) = run(&["--frames", "3", "--restore", "never"]);
    assert!(text(&output.stderr).contains("--restore has no effect without --scenario"));
}
