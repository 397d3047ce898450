//! Who comes and goes, and of which kind, as a user asks for it.

use super::{hash, refused, report, run, text, throng_in};

#[test]
fn a_crowd_that_comes_one_by_one_is_counted_as_it_grows() {
    let options = ["--spawn", "gradual", "--spawn-rate", "60", "--frames", "30", "--warmup", "10"];
    let (dir, output) = run(&[&options[..], &["--report", "a.json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = report(&dir.path().join("a.json"));
    let crowd = &report["crowd"];
    // One a frame: 11 after the first measured one, all 40 with the last.
    assert_eq!((crowd["count"].as_u64(), crowd["spawned"].as_u64()), (Some(40), Some(30)));
    assert_eq!(
        (&crowd["population"]["max"], &crowd["population"]["mean"]),
        (&40.0.into(), &25.5.into())
    );
    assert_eq!(report["config"]["spawn"]["mode"], "gradual");
    assert!(text(&output.stdout).contains("30 came and 0 went"), "{}", text(&output.stdout));
}

#[test]
fn a_crowd_that_turns_over_has_the_same_hash_whatever_the_threads_and_replays_to_it() {
    let options = ["--spawn", "cycle", "--spawn-rate", "120", "--frames", "60", "--count", "150"];
    let base = [&["--no-render", "--zones", "off"][..], &options].concat();
    let (dir, output) = run(&["--frames", "1"]);
    assert!(output.status.success());
    let at = |name: &str| dir.path().join(name);
    let run = |args: &[&str]| {
        let output = throng_in(dir.path(), args);
        assert!(output.status.success(), "{}", text(&output.stderr));
        output
    };
    let mut hashes = Vec::new();
    for threads in ["1", "2", "8"] {
        let record = ["--threads", threads, "--report", "a.json", "--record", "a.rec"];
        run(&[&base[..], &record].concat());
        let crowd = &report(&at("a.json"))["crowd"];
        assert_eq!(
            (crowd["spawned"].as_u64(), crowd["despawned"].as_u64()),
            (Some(120), Some(120))
        );
        assert_eq!(crowd["population"]["mean"], 150.0);
        hashes.push(hash(&at("a.json")));
    }
    assert_eq!(hashes[1..], [hashes[0].clone(), hashes[0].clone()]);
    run(&[&base[..], &["--seed", "2", "--report", "b.json"]].concat());
    assert_ne!(hash(&at("b.json")), hashes[0]);
    run(&["--no-render", "--replay", "a.rec", "--report", "c.json"]);
    let replayed = report(&at("c.json"));
    assert_eq!(hash(&at("c.json")), hashes[0]);
    assert_eq!(replayed["crowd"]["spawned"].as_u64(), Some(120));
    assert_eq!(replayed["config"]["spawn"]["mode"], "cycle");
    let told = text(&run(&["recording", "a.rec"]).stdout);
    assert!(told.contains("132 came, 132 went"), "{told}");
}

#[test]
fn a_recording_of_followers_is_told_of_like_any_other() {
    let dir = tempfile::tempdir().unwrap();
    for args in [
        &["--no-render", "--count", "50", "--followers", "5", "--frames", "4", "--record", "f.rec"]
            [..],
        &["recording", "f.rec"],
    ] {
        let output = throng_in(dir.path(), args);
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    }
}

#[test]
fn places_to_spare_have_numbers_as_well() {
    let args = ["--frames", "2", "--capture", "40"];
    let (_, output) = run(&args);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let (_, output) = run(&[&args[..], &["--spawn", "cycle"]].concat());
    assert_ne!(output.status.code(), Some(2), "{}", text(&output.stderr));
}

#[test]
fn weights_are_shares_to_the_last_character() {
    type Case = (&'static [&'static str], [(&'static str, u64); 2]);
    let cases: [Case; 3] = [
        (&["--weights", "3,1"], [("humanoid", 30), ("quadruped", 10)]),
        (&["--weights", "0.5,1.0"], [("humanoid", 13), ("quadruped", 27)]),
        (
            &["--character", "quadruped", "--character", "humanoid", "--weights=1,7"],
            [("quadruped", 5), ("humanoid", 35)],
        ),
    ];
    for spawn in ["instant", "cycle"] {
        for (args, shares) in cases {
            let more = ["--frames", "20", "--report", "a.json", "--spawn", spawn];
            let (dir, output) = run(&[args, &more].concat());
            assert!(output.status.success(), "{}", text(&output.stderr));
            let report = report(&dir.path().join("a.json"));
            let kinds = report["crowd"]["kinds"].as_array().unwrap();
            let found =
                kinds.iter().map(|k| (k["name"].as_str().unwrap(), k["count"].as_u64().unwrap()));
            assert_eq!(found.collect::<Vec<_>>(), shares, "{spawn}");
            let line = format!("{} {}, {} {}", shares[0].1, shares[0].0, shares[1].1, shares[1].0);
            assert!(text(&output.stdout).contains(&line), "{}", text(&output.stdout));
        }
    }
}

#[test]
fn what_can_not_be_a_weight_a_rate_or_a_mode_is_refused_in_one_line() {
    for (args, says) in [
        (&["--weights", "3,0"][..], "above 0"),
        (&["--weights", "-1,2"], "above 0"),
        (&["--weights", "NaN,1"], "above 0"),
        (&["--weights", "1e39,1"], "at most 1000000"),
        (&["--weights", "1,"], "such as 3"),
        (&["--weights", "1,2,3"], "3 weights for 2 characters"),
        (&["--weights", "1"], "1 weight for 2 characters"),
        (&["--character", "humanoid", "--weights", "1,1"], "2 weights for 1 character"),
        (&["--spawn", "slowly"], "gradual"),
        (&["--spawn-rate", "0", "--spawn", "cycle"], "characters a second"),
        (&["--spawn", "gradual", "--scenario", "dark"], "--scenario"),
        (&["--spawn", "cycle", "--replay", "a.rec"], "--replay"),
    ] {
        let (_, output) = run(args);
        let line = refused(&output, 2);
        assert!(line.contains(says), "{args:?}: {line}");
    }
}

#[test]
fn whoever_is_captured_and_goes_leaves_its_last_list() {
    let options = ["--spawn", "cycle", "--spawn-rate", "600", "--visibility", "off"];
    let (dir, output) = run(&[&options[..], &["--frames", "90", "--capture", "3"]].concat());
    if output.status.success() {
        let capture = report(&dir.path().join("capture-3.json"));
        assert_eq!(capture["character"], 3);
        // Ten a frame of forty: nobody stays for long.
        assert!(capture["frame"].as_u64().unwrap() < 60, "{}", capture["frame"]);
    } else {
        assert!(refused(&output, 1).contains("never came"));
    }
}

#[test]
fn each_character_may_have_a_graph_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let graph = |name: &str, clip: &str| {
        let text =
            format!("(version: 1,\n nodes: {{\"a\": Clip(clip: {clip:?})}},\n output: \"a\")");
        std::fs::write(dir.path().join(name), text).unwrap();
    };
    graph("idle.ron", "idle");
    graph("walk.ron", "walk_fwd");
    graph("none.ron", "none");
    let base = ["--no-render", "--count", "9", "--frames", "20", "--visibility", "off"];
    let twice = ["--character", "humanoid", "--character", "humanoid", "--weights", "2,1"];
    let graphs = |a: &'static str, b: &'static str| ["--graph", a, "--graph", b];
    let with = |more: &[&str]| throng_in(dir.path(), &[&base[..], more].concat());
    let options = [&twice[..], &graphs("idle.ron", "walk.ron"), &["--dump-tasks=10"]].concat();
    let output = with(&[&options[..], &["--report", "a.json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    // The first of each kind is dumped, and each plays its own graph's clip.
    let lines = text(&output.stderr);
    for (kind, clip) in [("\"humanoid\"", "idle"), ("\"humanoid 2\"", "walk_fwd")] {
        let of = lines.split("tasks of character").find(|list| list.contains(kind));
        assert!(of.unwrap().contains(clip), "{kind}: {lines}");
    }
    let report = report(&dir.path().join("a.json"));
    let kinds = report["crowd"]["kinds"].as_array().unwrap();
    let kinds: Vec<_> = kinds.iter().map(|k| (k["name"].as_str().unwrap(), &k["count"])).collect();
    assert_eq!(kinds, [("humanoid", &6.into()), ("humanoid 2", &3.into())]);
    // A fault is told of the file that has it.
    let line = refused(&with(&[&twice[..], &graphs("idle.ron", "none.ron")].concat()), 1);
    assert!(line.contains("none.ron:2:") && line.contains("(kind \"humanoid 2\")"), "{line}");
    let both = ["--graph", "idle.ron", "--graph", "walk.ron", "--graph", "idle.ron"];
    let line = refused(&with(&[&twice[..], &both].concat()), 2);
    assert!(line.contains("3 times for 2 characters"), "{line}");
}

#[test]
fn an_overlay_that_is_there_before_anybody_comes_is_no_fault() {
    let options = ["--headless", "--adapter", "noop", "--overlay", "on", "--size", "320x200"];
    let churn = ["--spawn", "gradual", "--spawn-rate", "600", "--count", "20", "--frames", "4"];
    let output = throng_in(std::path::Path::new("."), &[&options[..], &churn].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("20 characters"), "{}", text(&output.stdout));
}
