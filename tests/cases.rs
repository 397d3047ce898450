//! Small files, each with one peculiarity, against the values of an independent evaluator.

#![allow(clippy::unwrap_used, clippy::panic, reason = "what is missing or wrong fails the test")]

mod reference;

use reference::{Differences, inspect, json, shared};
use std::path::PathBuf;

#[test]
fn every_case_loads_with_the_expected_values_or_is_refused_by_name() {
    let Some(folder) = shared("cases") else { return };
    let mut sidecars: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    sidecars.sort();
    assert!(sidecars.len() > 50, "only {} cases in {}", sidecars.len(), folder.display());
    let (mut wrong, mut compared, mut refused) = (Vec::new(), 0, 0);
    for sidecar in sidecars {
        let case = json(&sidecar);
        let name = case["file"].as_str().unwrap();
        let file = folder.join(name);
        let tolerance = case["tolerance"].as_f64().unwrap();
        for exact in [true, false] {
            match (inspect(&file, &case["checks"], exact), case["expect"].as_str().unwrap()) {
                (Ok(_), "error") => wrong.push(format!("{name}: loads, but {}", case["why"])),
                (Err(error), "ok") => wrong.push(format!("{name}: refused: {error}")),
                (Err(error), _) => {
                    refused += 1;
                    if !error.contains(name) || error.len() < name.len() + 10 {
                        wrong.push(format!("{name}: the message names too little: {error:?}"));
                    }
                }
                (Ok((_, report)), _) => {
                    let mut differences = Differences::new(&file, exact);
                    let limit = |want: f64| tolerance * want.abs().max(1.0);
                    differences.compare(&report, &case["checks"], limit);
                    compared += differences.compared;
                    wrong.extend(differences.found);
                }
            }
        }
    }
    println!("{compared} values compared, {refused} refusals");
    assert!(compared > 10_000, "only {compared} values were compared");
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}
