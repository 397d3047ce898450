//! Random graph files: whatever is right compiles, and whatever it is told its poses are finite.

use super::*;
use proptest::prelude::*;
use std::fmt::Write;

pub(super) const CLIPS: [&str; 4] = ["idle", "walk", "run", "wave"];
pub(super) const BONES: usize = 12;

/// A file that is being written: its nodes so far, by what they hold.
struct Author<'r> {
    r: &'r mut Random,
    nodes: String,
    count: usize,
    poses: Vec<String>,
    clips: Vec<String>,
    machines: Vec<String>,
    deltas: Vec<(String, &'static str)>,
    snapshots: Vec<String>,
}

impl Author<'_> {
    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.r.below(from.len())].clone()
    }

    fn pose(&mut self) -> String {
        let poses = self.poses.clone();
        self.pick(&poses)
    }

    /// A name for a node that comes next, and its text.
    fn add(&mut self, text: &str) -> String {
        let name = format!("n{}", self.count);
        self.count += 1;
        // Writing to a string does not fail.
        writeln!(self.nodes, "        {name:?}: {text},").unwrap();
        name
    }

    fn number(&mut self) -> String {
        const NUMBERS: [&str; 8] = ["0", "1", "-1", "0.3", "2.5", "1e9", "-1e9", "1e-9"];
        self.pick(&NUMBERS).to_owned()
    }

    /// An expression that gives a number, in quotes, or a number.
    fn scalar(&mut self) -> String {
        match self.r.below(4) {
            0 => self.number(),
            _ => format!("\"{}\"", self.term(3)),
        }
    }

    fn term(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.r.below(3) {
                0 => self.number(),
                _ => self.pick(&["x", "y", "open", "eased", "dt"]).to_owned(),
            };
        }
        let (a, b) = (self.term(depth - 1), self.term(depth - 1));
        match self.r.below(10) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - {b})"),
            2 => format!("({a} * {b})"),
            3 => format!("({a} / {b})"),
            4 => format!("clamp({a}, 0, 1)"),
            5 => format!("if({}, {a}, {b})", self.condition()),
            6 => format!("atan2({a}, {b})"),
            7 => format!("sqrt({a})"),
            8 => format!("smooth({a}, 0.05)"),
            _ => format!("sin({a})"),
        }
    }

    fn condition(&mut self) -> String {
        let (a, b) = (self.pick(&["x", "y", "eased"]), self.number());
        match self.r.below(4) {
            0 => "flag".into(),
            1 => "go".into(),
            2 => format!("!flag && {a} > {b}"),
            _ => format!("{a} <= {b}"),
        }
    }

    fn vector(&mut self) -> String {
        format!("({}, {}, {})", self.scalar(), self.scalar(), self.scalar())
    }

    fn bone(&mut self) -> String {
        format!("bone{}", self.r.below(BONES))
    }

    fn clip(&mut self) -> String {
        let clip = self.pick(&CLIPS);
        let speed = match self.r.below(3) {
            0 => format!(", speed: {}", self.pick(&["1000", "-0.7", "0", "\"x * 1e9\""])),
            _ => String::new(),
        };
        let start = self.pick(&["", ", start: 0.2", ", start: 1e9"]);
        let text = match self.r.below(4) {
            0 => format!("Clip(clip: {clip:?}, sync: \"feet\"{speed})"),
            1 => format!("Clip(clip: {clip:?}, mode: Once{speed}{start})"),
            2 => format!("Clip(clip: {clip:?}, mode: PingPong{speed}{start})"),
            _ => format!("Clip(clip: {clip:?}{speed}{start})"),
        };
        let name = self.add(&text);
        self.clips.push(name.clone());
        name
    }

    fn machine(&mut self) -> String {
        let count = 1 + self.r.below(4);
        let poses: Vec<String> = (0..count).map(|_| self.pose()).collect();
        let mut states = String::new();
        for (i, pose) in poses.iter().enumerate() {
            let entry = self.pick(&["", ", on_entry: Resume"]);
            write!(states, "\"s{i}\": (pose: {pose:?}{entry}), ").unwrap();
        }
        let mut transitions = String::new();
        for _ in 0..self.r.below(5) {
            let to = self.r.below(count);
            let mut when = match self.r.below(3) {
                0 => "after: 0.1".to_owned(),
                _ => format!("when: {:?}", self.condition()),
            };
            if self.r.below(3) == 0 {
                let clip = self.pick(&self.clips.clone());
                write!(when, ", at_end: {clip:?}, before_end: 0.1").unwrap();
            }
            let from = match self.r.below(2) {
                0 => format!(", from: \"s{}\"", self.r.below(count)),
                _ => String::new(),
            };
            let how = self.pick(&[
                "",
                ", blend: Cut",
                ", blend: DeadBlend(0.2)",
                ", blend: Inertialize(1e9)",
                ", interrupts: false",
            ]);
            write!(transitions, "(to: \"s{to}\"{from}, {when}{how}), ").unwrap();
        }
        let text = format!(
            "StateMachine(entry: \"s0\", states: {{{states}}}, transitions: [{transitions}])"
        );
        let name = self.add(&text);
        self.machines.push(name.clone());
        name
    }

    fn layer(&mut self) -> String {
        let (source, alpha) = (self.pose(), self.scalar());
        let (bone, target) = (self.bone(), self.vector());
        let leg = r#"("bone1", "bone2", "bone3")"#;
        let limb = "root: \"bone0\", mid: \"bone1\", end: \"bone2\"";
        let below = 1 + self.r.below(BONES - 1);
        let space = self.pick(&["Local", "Component"]);
        let text = match self.r.below(9) {
            0 => format!(
                "BoneTransform(source: {source:?}, bone: {bone:?}, space: {space}, mode: {}, \
                 translation: {target}, rotation: {}, alpha: {alpha})",
                self.pick(&["Additive", "Override"]),
                self.vector()
            ),
            1 => format!(
                "BoneTransform(source: {source:?}, bone: {bone:?}, space: {space}, \
                 scale: (\"x\", \"abs(y) + 1\", 0.5), alpha: {alpha})"
            ),
            2 => format!(
                "TranslateBone(source: {source:?}, bone: {bone:?}, space: {space}, \
                 offset: {target}, alpha: {alpha})"
            ),
            3 => format!(
                "TwoBoneIk(source: {source:?}, {limb}, target: {target}, pole: {}, \
                 soften: {}, alpha: {alpha})",
                self.vector(),
                self.scalar()
            ),
            4 => format!(
                "Fabrik(source: {source:?}, root: \"bone0\", end: \"bone{below}\", \
                 target: {target}, iterations: 5, tolerance: {}, weights: \"arm\", \
                 alpha: {alpha})",
                self.scalar()
            ),
            5 => format!(
                "LookAt(source: {source:?}, bone: {bone:?}, target: {target}, limit: {}, \
                 alpha: {alpha})",
                self.scalar()
            ),
            6 => format!(
                "FootIk(source: {source:?}, hips: \"bone0\", left: {leg}, right: {leg}, \
                 alpha: {alpha})"
            ),
            7 => format!(
                "{}(source: {source:?}, trigger: {:?}, duration: {})",
                self.pick(&["Inertialize", "DeadBlend"]),
                self.condition(),
                self.scalar()
            ),
            _ => {
                let snapshot = format!("kept{}", self.snapshots.len());
                self.snapshots.push(snapshot.clone());
                format!("SaveSnapshot(source: {source:?}, snapshot: {snapshot:?})")
            }
        };
        self.add(&text)
    }

    fn mix(&mut self) -> String {
        let (a, b, alpha) = (self.pose(), self.pose(), self.scalar());
        let text = match self.r.below(6) {
            0 => format!("Blend(a: {a:?}, b: {b:?}, alpha: {alpha})"),
            1 => format!("BlendMasked(a: {a:?}, b: {b:?}, mask: \"arm\", alpha: {alpha})"),
            2 => {
                let c = self.pose();
                format!(
                    "BlendSpace1D(x: {alpha}, points: [(0, {a:?}), (-1e9, {b:?}), (0.5, {c:?})])"
                )
            }
            3 => {
                let (c, y) = (self.pose(), self.scalar());
                let far = self.pick(&["1", "1e9", "1e-9"]);
                format!(
                    "BlendSpace2D(x: {alpha}, y: {y}, points: [(0, 0, {a:?}), ({far}, 0, {b:?}), \
                     (0, {far}, {c:?}), ({far}, {far}, {a:?})])"
                )
            }
            4 => {
                let space = self.pick(&["Local", "Mesh"]);
                let reference = match self.r.below(2) {
                    0 => format!(", reference: {b:?}"),
                    _ => String::new(),
                };
                let text = format!("MakeAdditive(source: {a:?}{reference}, space: {space})");
                let name = self.add(&text);
                self.deltas.push((name, space));
                return a;
            }
            _ if self.deltas.is_empty() => format!("Frame(clip: \"wave\", at: {alpha})"),
            _ => {
                let deltas = self.deltas.clone();
                let (delta, _) = self.pick(&deltas);
                format!("ApplyAdditive(base: {a:?}, delta: {delta:?}, alpha: {alpha})")
            }
        };
        self.add(&text)
    }
}

/// A graph file with every kind of node, sooner or later.
pub(super) fn file(r: &mut Random) -> String {
    let mut author = Author {
        r,
        nodes: String::new(),
        count: 0,
        poses: Vec::new(),
        clips: Vec::new(),
        machines: Vec::new(),
        deltas: Vec::new(),
        snapshots: Vec::new(),
    };
    let rest = author.add("Bind");
    author.poses.push(rest);
    for _ in 0..3 {
        let clip = author.clip();
        author.poses.push(clip);
    }
    for _ in 0..4 + author.r.below(12) {
        let pose = match author.r.below(7) {
            0 => author.clip(),
            1 => author.machine(),
            2 | 3 => author.mix(),
            4 if !author.snapshots.is_empty() => {
                let snapshot = author.pick(&author.snapshots.clone());
                author.add(&format!("LoadSnapshot(snapshot: {snapshot:?})"))
            }
            _ => author.layer(),
        };
        author.poses.push(pose);
    }
    let (nodes, output) = (&author.nodes, &author.poses[author.poses.len() - 1]);
    let root = ["", "root_motion: (mode: Always),", "root_motion: (bone: \"bone1\", mode: Never),"];
    let root = root[author.r.below(3)];
    format!(
        r#"Graph(
    version: 1,
    parameters: {{
        "x": Float(), "y": Float(default: 0.5, range: (-1e9, 1e9)),
        "open": Float(range: (0, 1)), "flag": Bool(), "go": Trigger(),
    }},
    values: {{"eased": "smooth(x, y)"}},
    masks: {{"arm": [Subtree("bone1", 1), Bone("bone0", 0.3), Others(0.1)]}},
    sync_groups: ["feet"],
    notifies: {{"walk": [AtPart(0.25, "step"), During(0.01, 0.05, "trail")]}},
    {root}
    nodes: {{
{nodes}    }},
    output: {output:?},
)"#
    )
}

/// Whether a file's machines ask for what runs only after they are decided, or a clip is at the end
/// of a machine that it is not in: what the compiler may refuse of these files, and says so.
pub(super) fn is_a_tangle(error: &GraphError) -> bool {
    error.to_string().contains("ask for what runs only after they are decided")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn a_file_that_is_right_compiles_and_its_poses_are_finite(seed in 1u64..) {
        let r = &mut Random(seed);
        let text = file(r);
        let compiled = match compile("graph.ron", &text) {
            Ok(compiled) => compiled,
            Err(error) => {
                prop_assert!(is_a_tangle(&error), "{error}\n{text}");
                return Ok(());
            }
        };
        let scales = compiled.program.get().scaled_bone().is_some();
        let mut c = character(Shape::plain(BONES), &CLIPS, seed % 50);
        if scales {
            c.rig = Rig::general(c.skeleton.clone(), &c.clips).unwrap();
        }
        let bound = bind(compiled.program.into_inner(), &c);
        let mut p = Player::new(&bound, &c);
        for frame in 0..16 {
            const VALUES: [f32; 10] =
                [f32::NAN, f32::INFINITY, f32::MIN, f32::MAX, 1e9, -3.0, 0.0, 0.4, 1.0, 1e-30];
            for key in 0..bound.program().keys.len() {
                if r.below(2) == 0 {
                    let value = VALUES[r.below(VALUES.len())];
                    bound.set_key(&mut p.row, KeyId(key as u16), value);
                }
            }
            let dt = [0.016, 0.016, 0.05, 0.0, -0.3, 1e9, 1e-30, f32::NAN][r.below(8)];
            let motion = p.record(dt);
            let covered = [motion.x, motion.z, motion.yaw];
            prop_assert!(covered.iter().all(|v| v.is_finite()), "frame {frame}: {motion:?}\n{text}");
            let weights = p.scratch.fired().iter().all(|f| f.weight >= 0.0 && f.weight.is_finite());
            prop_assert!(weights, "frame {frame}\n{text}");
            let (palette, _) = p.execute();
            let finite = palette.iter().all(Mat3x4::is_finite);
            prop_assert!(finite, "frame {frame}, dt {dt}\n{text}\n{:#?}", p.list.tasks());
        }
    }
}

#[test]
fn every_kind_of_node_is_written() {
    let mut all = String::new();
    (1..=200).for_each(|seed| all += &file(&mut Random(seed * 7_919)));
    for node in [
        "Bind",
        "Clip(",
        "Frame(",
        "Blend(",
        "BlendMasked(",
        "MakeAdditive(",
        "ApplyAdditive(",
        "BlendSpace1D(",
        "BlendSpace2D(",
        "StateMachine(",
        "Inertialize(source",
        "DeadBlend(source",
        "SaveSnapshot(",
        "LoadSnapshot(",
        "BoneTransform(",
        "TranslateBone(",
        "TwoBoneIk(",
        "Fabrik(",
        "LookAt(",
        "FootIk(",
    ] {
        assert!(all.contains(node), "{node}");
    }
}
