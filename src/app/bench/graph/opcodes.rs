//! What each opcode costs where it is recorded: graphs with many of one node more than another
//! graph has. The opcodes that such a node consists of and whose costs are known are taken off.

use super::characters::Subject;
use crate::app::bench::median;
use crate::asset::CharacterAsset;
use crate::graph::{Instance, LANES, VmScratch};
use crate::task::TaskList;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;

/// Nodes of a kind in the smaller graph: the first may do nothing to what it stands on.
const FEW: usize = 2;
/// So many nodes of a kind are added.
const MORE: usize = 48;
/// Rounds of one measurement: in each of them everybody is evaluated.
const ROUNDS: usize = 12;

/// Nodes by their text, in which `@` is the node's number and `<` the node before it; each after
/// those whose opcodes it has too.
const NODES: [&str; 24] = [
    r#""n@": Blend(a: "<", b: "base", alpha: "x")"#,
    r#""n@": Blend(a: "<", b: "base", alpha: 0.3@)"#,
    r#""n@": Blend(a: "<", b: "base", alpha: "p@")"#,
    r#""n@": Blend(a: "<", b: "base", alpha: "x * 0.3@")"#,
    r#""n@": Blend(a: "<", b: "base", alpha: "if(yes, x, 0.3@)")"#,
    r#""n@": Blend(a: "<", b: "base", alpha: "smooth(x, 0.3@)")"#,
    r#""f@": Frame(clip: "walk_fwd", at: "x"), "n@": Blend(a: "<", b: "f@", alpha: "x")"#,
    r#""f@": Clip(clip: "walk_fwd"), "n@": Blend(a: "<", b: "f@", alpha: "x")"#,
    r#""f@": Bind, "n@": Blend(a: "<", b: "f@", alpha: "x")"#,
    r#""n@": BlendMasked(a: "<", b: "base", mask: "arm", alpha: "x")"#,
    r#""n@": ApplyAdditive(base: "<", delta: "delta", alpha: "x")"#,
    r#""f@": MakeAdditive(source: "base"), "n@": ApplyAdditive(base: "<", delta: "f@", alpha: "x")"#,
    r#""n@": BlendSpace1D(x: "x", points: [(0, "<"), (1, "base")])"#,
    r#""n@": BlendSpace2D(x: "x", y: "x", points: [(0, 0, "<"), (1, 0, "base"), (0, 1, "other")])"#,
    r#""n@": StateMachine(entry: "s", states: {"s": (pose: "<"), "t": (pose: "base")}, transitions: [(to: "t", when: "no")])"#,
    r#""n@": Inertialize(source: "<", trigger: "no", duration: "x")"#,
    r#""n@": DeadBlend(source: "<", trigger: "no", duration: "x")"#,
    r#""n@": SaveSnapshot(source: "<", snapshot: "kept@")"#,
    r#""n@": TranslateBone(source: "<", bone: "head", offset: (0, 0.1, 0), alpha: "x")"#,
    r#""n@": BoneTransform(source: "<", bone: "head", translation: (0, 0.1, 0), alpha: "x")"#,
    r#""n@": TwoBoneIk(source: "<", root: "thigh_l", mid: "calf_l", end: "foot_l", target: (0, 0.1, 0), alpha: "x")"#,
    r#""n@": Fabrik(source: "<", root: "thigh_l", end: "foot_l", target: (0, 0.1, 0), alpha: "x")"#,
    r#""n@": LookAt(source: "<", bone: "head", target: (0, 0.1, 0), alpha: "x")"#,
    r#""n@": FootIk(source: "<", hips: "pelvis", left: ("thigh_l", "calf_l", "foot_l"), right: ("thigh_r", "calf_r", "foot_r"), alpha: "x")"#,
];

/// Measures all of them; opcodes that come together are one row.
///
/// # Errors
/// None for a character that has the bones and clips that the graphs name.
pub fn measure(asset: &CharacterAsset, turns: u32) -> anyhow::Result<Vec<(String, f64)>> {
    let mut known = BTreeMap::new();
    let mut rows = Vec::new();
    for node in NODES {
        let (few, many) = (Probe::new(node, FEW, asset)?, Probe::new(node, FEW + MORE, asset)?);
        let added = many.added_to(&few);
        let mut probes = [few, many];
        let mut differences = Vec::new();
        for turn in 0..turns as usize {
            let mut ns = [0.0; 2];
            for which in [turn % 2, 1 - turn % 2] {
                ns[which] = probes[which].evaluate()?;
            }
            differences.push((ns[1] - ns[0]) / MORE as f64);
        }
        let mut left = median(differences);
        let mut names = Vec::new();
        for (name, count) in added {
            match known.get(name) {
                Some(ns) => left -= ns * count,
                None => names.push((name, count)),
            }
        }
        if let [(name, count)] = names[..] {
            left /= count;
            known.insert(name, left);
        }
        let names: Vec<_> = names.iter().map(|(name, _)| *name).collect();
        rows.push((names.join(", "), left));
    }
    Ok(rows)
}

/// Instances of a graph with so many of one node, as many as are evaluated together.
struct Probe {
    subject: Subject,
    rows: Vec<u32>,
    vm: VmScratch,
    lists: Vec<TaskList>,
}

impl Probe {
    fn new(node: &str, count: usize, asset: &CharacterAsset) -> anyhow::Result<Self> {
        let subject = Subject::new("probe", &text(node, count), asset)?;
        let words = subject.bound().words();
        let mut rows = vec![0; words * LANES];
        for row in rows.chunks_exact_mut(words) {
            subject.bound().start(row, 0.0)?;
        }
        let lists = vec![TaskList::default(); LANES];
        Ok(Self { subject, rows, vm: VmScratch::default(), lists })
    }

    /// Nanoseconds of one evaluation.
    fn evaluate(&mut self) -> anyhow::Result<f64> {
        let bound = self.subject.bound();
        let mut evaluated = Ok(());
        let start = Instant::now();
        for _ in 0..ROUNDS {
            let rows = self.rows.chunks_exact_mut(bound.words()).zip(&mut self.lists);
            let instances = rows.map(|(row, list)| (Instance { row, dt: 0.01, list }, ()));
            bound.evaluate_all(instances, &mut self.vm, |_, (), result, _| {
                if let Err(error) = result {
                    evaluated = Err(error);
                }
            });
        }
        let ns = start.elapsed().as_nanos() as f64;
        evaluated?;
        Ok(ns / (ROUNDS * LANES) as f64)
    }

    /// The opcodes that a node of this has more than one of the other, and how many.
    fn added_to(&self, few: &Self) -> BTreeMap<&'static str, f64> {
        let mut added = BTreeMap::new();
        for (probe, sign) in [(self, 1), (few, -1)] {
            for op in &probe.subject.bound().program().code {
                *added.entry(op.name()).or_insert(0) += sign;
            }
        }
        let of_a_node = |count: i32| f64::from(count) / MORE as f64;
        let added = added.into_iter().map(|(name, count)| (name, of_a_node(count)));
        added.filter(|(_, count)| *count > 0.0).collect()
    }
}

/// The graph file.
fn text(node: &str, count: usize) -> String {
    let (mut nodes, mut params) = (String::new(), String::new());
    let mut before = "base".to_owned();
    for i in (0..count).map(|i| format!("{i:03}")) {
        // Writing to a string does not fail.
        let _ = writeln!(nodes, "{},", node.replace('@', &i).replace('<', &before));
        if node.contains("\"p@\"") {
            let _ = write!(params, "\"p{i}\": Float(default: 0.4),");
        }
        before = format!("n{i}");
    }
    format!(
        r#"Graph(version: 1,
        parameters: {{"x": Float(default: 0.4), "yes": Bool(), {params}}},
        values: {{"no": "x > 9"}},
        masks: {{"arm": [Subtree("clavicle_r", 1)]}},
        nodes: {{
            "base": Clip(clip: "idle"), "other": Clip(clip: "wave"),
            "delta": MakeAdditive(source: "other"),
            {nodes}
        }}, output: "{before}")"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset;
    use crate::graph::Op;

    #[test]
    fn every_node_adds_at_most_one_opcode_or_pair_that_is_not_known_yet() {
        let person = asset::builtin("humanoid").unwrap().unwrap();
        let mut known = Vec::new();
        for node in NODES {
            let few = Probe::new(node, FEW, &person).unwrap();
            let mut many = Probe::new(node, FEW + MORE, &person).unwrap();
            let added = many.added_to(&few);
            let new: Vec<_> = added.keys().filter(|name| !known.contains(*name)).copied().collect();
            let pair = new == ["EvalStateMachine", "SelectState"];
            assert!(new.len() == 1 || pair, "{node} adds {added:?}");
            assert!(added.values().all(|count| count.fract() == 0.0), "{node} adds {added:?}");
            known.extend(new);
            many.evaluate().unwrap();
            assert!(many.lists[0].reachable_count() > MORE, "{node}: what is recorded is heard");
        }
        // What a program has once, or as few of as machines or sync groups.
        let rest = ["LoadDelta", "StateTime", "LoadSnapshot", "PaceGroup", "Output"];
        known.extend(rest);
        let missing: Vec<_> = Op::NAMES.iter().filter(|name| !known.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
