//! The graphs that the program carries inside itself.

/// Name and text of each built-in graph.
pub const BUILTINS: [(&str, &str); 2] = [
    ("locomotion", include_str!("../../assets/graphs/locomotion.ron")),
    ("quadruped", include_str!("../../assets/graphs/quadruped.ron")),
];

/// The built-in characters with the names of the graphs that were made for them.
pub const MADE_FOR: [(&str, &str); 2] = [("humanoid", "locomotion"), ("quadruped", "quadruped")];

/// The text of the built-in graph of that name; `None` for a name that is not in [`BUILTINS`].
pub fn builtin_text(name: &str) -> Option<&'static str> {
    BUILTINS.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// The built-in graph that was made for a built-in character: its name and text. `None` for other
/// characters.
pub fn builtin_for(character: &str) -> Option<(&'static str, &'static str)> {
    let (_, graph) = MADE_FOR.iter().find(|(name, _)| *name == character)?;
    builtin_text(graph).map(|text| (*graph, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset;
    use crate::graph::{BoundProgram, ClipBinding, Target, VmScratch, compile};
    use crate::motion::NotifyNames;
    use crate::pose::{Rig, UniformClip};
    use crate::task::{Task, TaskIndex, TaskList};
    use std::sync::Arc;

    struct Player {
        bound: BoundProgram,
        row: Vec<u32>,
        scratch: VmScratch,
        list: TaskList,
    }

    impl Player {
        fn new(text: &str, rig: &Rig) -> Self {
            let program = compile("graph.ron", text).unwrap().program;
            let names = &mut NotifyNames::default();
            let clips = &vec![ClipBinding::default(); rig.clip_count()];
            let bound = Arc::new(program).bind(Target { rig, clips, names }).unwrap();
            let mut row = vec![0; bound.words()];
            bound.start(&mut row, 0.0).unwrap();
            Self { bound, row, scratch: VmScratch::default(), list: TaskList::default() }
        }

        fn set(&mut self, key: &str, value: f32) {
            let key = self.bound.program().key(key).unwrap();
            self.bound.set_key(&mut self.row, key, value);
        }

        /// Evaluates frames of 1/60 s.
        fn run(&mut self, seconds: f32) {
            for _ in 0..(seconds * 60.0).round() as usize {
                let evaluated = self.bound.evaluate(
                    &mut self.row,
                    1.0 / 60.0,
                    &mut self.scratch,
                    &mut self.list,
                );
                assert!(evaluated.is_ok() && self.list.output().get().is_some());
            }
        }

        fn state(&self, machine: &str) -> String {
            let id = self.bound.program().machine(machine).unwrap();
            let state = self.bound.state(&self.row, id).unwrap();
            self.bound.program().machines[id.get()].states[state.get()].name.clone()
        }

        /// The share of each clip in the pose, by name.
        fn heard(&self, clips: &[UniformClip]) -> Vec<(String, f32)> {
            let sample = |(at, task): (usize, &Task)| match task {
                Task::SampleClip { clip, .. } => {
                    let weight = self.list.weight(TaskIndex::new(at)?);
                    (weight > 0.01).then(|| (clips[clip.get()].name.clone(), weight))
                }
                _ => None,
            };
            self.list.tasks().iter().enumerate().filter_map(sample).collect()
        }

        fn names(&self, clips: &[UniformClip]) -> Vec<String> {
            self.heard(clips).into_iter().map(|(name, _)| name).collect()
        }
    }

    fn character(name: &str) -> (Rig, Vec<UniformClip>) {
        let asset = asset::builtin(name).unwrap().unwrap();
        (Rig::new(asset.skeleton, &asset.clips).unwrap(), asset.clips)
    }

    #[test]
    fn every_built_in_graph_binds_to_the_character_it_was_made_for() {
        for (character_name, graph) in MADE_FOR {
            let (rig, _) = character(character_name);
            let (name, text) = builtin_for(character_name).unwrap();
            assert_eq!(name, graph);
            Player::new(text, &rig).run(0.1);
        }
        assert_eq!(builtin_for("fox.glb"), None);
        assert_eq!(builtin_text("walk"), None);
    }

    #[test]
    fn the_person_passes_through_every_state() {
        let (rig, clips) = character("humanoid");
        let mut p = Player::new(builtin_text("locomotion").unwrap(), &rig);
        p.run(1.0);
        assert_eq!(
            (p.state("locomotion").as_str(), p.names(&clips)),
            ("idle", vec!["idle".into()])
        );
        p.set("speed", 1.4);
        p.run(2.0);
        assert_eq!(p.state("locomotion"), "walk");
        assert_eq!(p.names(&clips), ["walk_fwd"]);
        p.set("speed", -1.0);
        p.run(2.0);
        assert_eq!(p.names(&clips), ["walk_back"]);
        p.set("speed", 3.75);
        p.run(2.0);
        assert_eq!(
            (p.state("locomotion").as_str(), p.names(&clips)),
            ("run", vec!["run_fwd".into()])
        );
        p.set("speed", 0.0);
        p.run(2.0);
        assert_eq!(p.state("locomotion"), "idle");
        p.set("spin", 1.0);
        p.run(2.0);
        assert_eq!(p.names(&clips), ["turn_left"]);
    }

    #[test]
    fn a_jump_is_jumped_once_and_lands_where_it_came_from() {
        let (rig, clips) = character("humanoid");
        let mut p = Player::new(builtin_text("locomotion").unwrap(), &rig);
        p.set("speed", 3.75);
        p.run(2.0);
        p.set("jump", 1.0);
        p.run(0.1);
        assert_eq!(
            (p.state("locomotion").as_str(), p.names(&clips)),
            ("jump", vec!["jump".into()])
        );
        p.run(2.0);
        assert_eq!(p.state("locomotion"), "run", "the trigger has been seen");
        p.run(3.0);
        assert_eq!(p.state("locomotion"), "run");
    }

    #[test]
    fn waving_and_aiming_come_and_go_completely() {
        let (rig, clips) = character("humanoid");
        let mut p = Player::new(builtin_text("locomotion").unwrap(), &rig);
        let weight = |p: &Player, clip: &str| {
            p.heard(&clips).iter().find(|(name, _)| name == clip).map_or(0.0, |(_, w)| *w)
        };
        for (key, clip) in [("wave", "wave"), ("aim", "aim_pose")] {
            p.set(key, 1.0);
            p.run(2.0);
            assert_eq!(weight(&p, clip), 1.0, "{key}");
            p.set(key, 0.0);
            p.run(2.0);
            assert_eq!(weight(&p, clip), 0.0, "{key}");
        }
    }

    #[test]
    fn the_fox_sits_down_stands_up_and_gallops() {
        let (rig, clips) = character("quadruped");
        let mut p = Player::new(builtin_text("quadruped").unwrap(), &rig);
        p.set("sit", 1.0);
        p.run(2.0);
        assert_eq!((p.state("resting").as_str(), p.names(&clips)), ("sit", vec!["sit".into()]));
        p.set("speed", 4.2);
        p.run(2.0);
        assert_eq!(
            (p.state("locomotion").as_str(), p.names(&clips)),
            ("run", vec!["run_fwd".into()])
        );
        p.set("sit", 0.0);
        p.set("speed", 0.0);
        p.run(2.0);
        assert_eq!(
            (p.state("locomotion").as_str(), p.state("resting").as_str()),
            ("idle", "stand")
        );
    }
}
