use super::*;

fn said(text: &str) -> String {
    let source = Source { name: "a.ron", text };
    match read(&source) {
        Ok(graph) => format!("{} nodes", graph.nodes.len()),
        Err(e) => e.to_string(),
    }
}

const WHOLE: &str = r#"
// A comment.
Graph(
    version: 1,
    parameters: {
        "speed": Float(default: 1, range: (0, 6)),
        "aim": Bool(),
        "jump": Trigger(key: "jump_now"),
    },
    values: { "fast": "speed > 3" },
    masks: { "arm": [Subtree("shoulder", 1), Bone("hand", 0.5)] },
    sync_groups: ["gait"],
    notifies: { "walk": [At(0.25, "step"), During(0.5, 0.75, "trail")] },
    nodes: {
        "walk": Clip(clip: "walk", sync: "gait", speed: "speed * 0.5"),
        /* a tool's */ "rest": Bind,
        "space": BlendSpace2D(x: "speed", y: 0, points: [(0, 1.5, "walk"), (0.5, -1, "rest")]),
        "machine": StateMachine(
            entry: "on",
            states: { "on": (pose: "walk"), "off": (pose: "rest", on_entry: Resume) },
            transitions: [
                (from: "on", to: "off", when: "!fast", blend: DeadBlend(0.5)),
                (from: ["off"], to: "on", after: 1),
                (to: "off", at_end: "walk", blend: Cut),
            ],
            blend: Inertialize(0.3),
        ),
        "hand": TwoBoneIk(source: "machine", root: "a", mid: "b", end: "c", target: (0, "speed", 1.5)),
    },
    output: "hand",
    root_motion: (mode: Always),
)
"#;

#[test]
fn a_whole_file_is_read() {
    let source = Source { name: "a.ron", text: WHOLE };
    let graph = read(&source).unwrap();
    assert_eq!(
        graph.nodes.names().collect::<Vec<_>>(),
        ["walk", "rest", "space", "machine", "hand"]
    );
    let node = |name: &str| &graph.nodes.0[graph.nodes.position(name).unwrap()].1;
    let Node::Clip { clip, speed: Scalar::Expression(speed), sync: Some(sync), .. } = node("walk")
    else {
        panic!("{:?}", node("walk"))
    };
    assert_eq!((clip.as_str(), speed.as_str(), sync.as_str()), ("walk", "speed * 0.5", "gait"));
    // Names know their places.
    assert_eq!(source.place_of(speed.as_str()), Some(Place { line: 15, column: 58 }));
    let Node::StateMachine { states, transitions, blend, .. } = node("machine") else { panic!() };
    assert_eq!((states.len(), transitions.len()), (2, 3));
    assert_eq!(*blend, Passage::Inertialize(names::Seconds(0.3)));
    let Node::TwoBoneIk { target, pole: None, .. } = node("hand") else { panic!() };
    assert_eq!((&target.0, &target.2), (&Scalar::Number(0.0), &Scalar::Number(1.5)));
    assert!(matches!(graph.parameters.0[2].1, Parameter::Trigger { key: Some(_) }));
}

#[test]
fn faults_of_form_name_line_column_node_and_near_misses() {
    let with = |from: &str, to: &str| {
        assert!(WHOLE.contains(from), "{from}");
        said(&WHOLE.replace(from, to))
    };
    let fields = "there are: version, parameters, values, masks, sync_groups, sync_speeds, \
                  notifies, sync_markers, nodes, output, root_motion";
    let nodes = "there are: Bind, Clip, Frame, Blend, BlendMasked, MakeAdditive, ApplyAdditive, \
                 BlendSpace1D, BlendSpace2D, StateMachine, Inertialize, DeadBlend and 8 more";
    for (from, to, expected) in [
        (
            "version: 1",
            "version: 2",
            ": written for version 2 of the format; this program reads version 1",
        ),
        ("    version: 1,", "", ":32:1: the field `version` of `Graph` is missing"),
        (
            "sync_groups",
            "sync_group",
            &format!(
                ":12:5: no field `sync_group` of `Graph`; did you mean `sync_groups`? {fields}"
            ),
        ),
        (
            "speed: \"speed * 0.5\"",
            "spede: 1",
            ":15:50: node `walk`: no field `spede` of `Clip`; did you mean `speed`? there are: clip, \
             mode, speed, sync, start",
        ),
        (
            "Clip(",
            "Klip(",
            &format!(":15:17: node `walk`: no `Klip`; did you mean `Clip`? {nodes}"),
        ),
        (
            "Bind",
            "Bind()",
            ":16:36: node `rest`: `Bind` has nothing to say in brackets; it stands without them",
        ),
        ("y: 0,", "y: 1e20,", ":17:46: node `space`: 1e20 is beyond 1e9, the largest number"),
        ("y: 0,", "y: -inf,", ":17:46: node `space`: -inf is beyond 1e9, the largest number"),
        (
            "clip: \"walk\"",
            "clip: \"\\u{1b}[2J\"",
            ":15:35: node `walk`: a control character (U+001B)",
        ),
        (
            "clip: \"walk\"",
            "clip: \"wa\\nlk\"",
            ":15:33: node `walk`: a control character (U+000A)",
        ),
        (
            "clip: \"walk\"",
            "clip: \"\u{9b}J\"",
            ":15:29: node `walk`: a control character (U+009B)",
        ),
        (
            "after: 1",
            "after: -1",
            ":23:50: node `machine`: -1 seconds: a time here can't be negative",
        ),
        (
            "(0, \"speed\", 1.5)",
            "(0, 1.5)",
            ":28:92: node `hand`: expected a tuple of size 3 but found 2 elements instead",
        ),
        ("DeadBlend(0.5)", "DeadBlend()", ":22:73: node `machine`: a number should stand here"),
        (
            "\"off\": (pose: \"rest\", on_entry: Resume)",
            "\"on\": (pose: \"rest\")",
            ":20:46: node `machine`: `on` is there twice",
        ),
        ("Bone(\"hand\", 0.5)", "Bone(\"hand\", 1.5)", ":11:59: 1.5 is not in 0..=1"),
        ("clip: \"walk\", ", "", ":15:56: node `walk`: the field `clip` of `Clip` is missing"),
        ("clip: \"walk\"", "clip: \"\"", ":15:29: node `walk`: a string with nothing in it"),
        ("output: \"hand\",", "output: \"hand\"", ":31:5: expected comma"),
        ("y: 0,", "y: NaN,", ":17:46: node `space`: NaN is no number to compute with"),
        ("y: 0,", "y: 0", ":17:48: expected comma"),
        ("default: 1", "default: \"1\"", ":6:32: a number should stand here"),
    ] {
        assert_eq!(with(from, to), format!("a.ron{expected}"), "{from} -> {to}");
    }
}

#[test]
fn size_and_depth_are_limited() {
    let long = format!("{WHOLE}{}", " ".repeat(limits::FILE));
    assert!(said(&long).contains("more than a graph file may have (1048576)"), "{}", said(&long));
    for open in ["(", "[", "{\"a\":", "Some(", "/*"] {
        let deep = said(&open.repeat(50_000));
        assert!(deep.starts_with("a.ron:"), "{deep}");
        let inside = said(&WHOLE.replace("Bind", &open.repeat(50_000)));
        assert!(inside.starts_with("a.ron:"), "{inside}");
    }
    let name = "n".repeat(3_000);
    assert!(said(&WHOLE.replace("\"fast\"", &format!("{name:?}"))).contains("3000 bytes"));
}
