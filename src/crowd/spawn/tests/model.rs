//! Whatever happens in whatever order, a crowd is what a model says that keeps everything in the
//! plainest way.

use super::check;
use crate::crowd::sequence::{SequenceConfig, SequenceId, SequenceState};
use crate::crowd::testing::{CROWD, DT, SKY, crowd_with, tick};
use crate::crowd::{CharacterHandle, Crowd, Spawning, UpdateMode};
use crate::index::CharacterKind;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What a crowd is told, by a generator that knows nothing of it.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Spawn(Option<u16>),
    Despawn(usize),
    Stale(usize),
    Bind(u8),
    End(usize, u8),
    Mode(usize, u8),
    Tick { seen: bool },
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => prop::option::of(0u16..2).prop_map(Deed::Spawn),
        4 => (0usize..99).prop_map(Deed::Despawn),
        1 => (0usize..99).prop_map(Deed::Stale),
        2 => (1u8..5).prop_map(Deed::Bind),
        2 => (0usize..9, 0u8..4).prop_map(|(which, how)| Deed::End(which, how)),
        1 => (0usize..99, 0u8..3).prop_map(|(who, mode)| Deed::Mode(who, mode)),
        6 => any::<bool>().prop_map(|seen| Deed::Tick { seen }),
    ]
}

/// One sequence of the model: a cast by handle, and whether it holds it.
#[derive(Debug)]
struct Bound {
    cast: Vec<CharacterHandle>,
    state: SequenceState,
}

/// Who is there and how each would tick, kept in the plainest way.
#[derive(Debug, Default)]
struct Model {
    here: BTreeMap<CharacterHandle, UpdateMode>,
    gone: Vec<CharacterHandle>,
    bound: Vec<Bound>,
}

impl Model {
    fn forced(&self, who: CharacterHandle) -> bool {
        let holds = |b: &&Bound| b.state == SequenceState::Playing && b.cast.contains(&who);
        self.bound.iter().any(|b| holds(&b))
    }

    fn nth(&self, n: usize) -> Option<CharacterHandle> {
        (!self.here.is_empty()).then(|| *self.here.keys().nth(n % self.here.len()).unwrap())
    }
}

const MODES: [UpdateMode; 3] =
    [UpdateMode::TickWhenRendered, UpdateMode::AlwaysTickPose, UpdateMode::AlwaysTickClocks];

fn act(deed: Deed, crowd: &mut Crowd, model: &mut Model) {
    match deed {
        Deed::Spawn(kind) => {
            let kind = kind.map(CharacterKind);
            let room = |k: u16| {
                model
                    .here
                    .keys()
                    .filter(|w| crowd.kind_of(w.id()) == Some(CharacterKind(k)))
                    .count()
                    < 12
            };
            let free = kind.map_or(room(0) || room(1), |kind| room(kind.0));
            match crowd.spawn(kind) {
                Ok(who) => {
                    assert!(free && !model.here.contains_key(&who) && !model.gone.contains(&who));
                    assert!(kind.is_none_or(|kind| crowd.kind_of(who.id()) == Some(kind)));
                    model.here.insert(who, UpdateMode::TickWhenRendered);
                }
                Err(error) => assert!(!free, "{error}"),
            }
        }
        Deed::Despawn(n) => {
            if let Some(who) = model.nth(n) {
                crowd.despawn(who).unwrap();
                model.here.remove(&who);
                model.gone.push(who);
                for bound in &mut model.bound {
                    let had = bound.cast.len();
                    bound.cast.retain(|member| *member != who);
                    let lost = had != bound.cast.len();
                    if lost && bound.cast.is_empty() && bound.state != SequenceState::Unbound {
                        bound.state = SequenceState::Stopped;
                    }
                }
            }
        }
        Deed::Stale(n) => {
            if let Some(who) = model.gone.get(n % model.gone.len().max(1)) {
                assert!(crowd.despawn(*who).is_err() && !crowd.is_here(*who));
            }
        }
        Deed::Bind(size) => {
            let cast: Vec<_> = model.here.keys().copied().step_by(3).take(size.into()).collect();
            let config = SequenceConfig {
                cast: cast.iter().map(|who| who.id()).collect(),
                seconds: 1e6,
                ..SequenceConfig::default()
            };
            let id = crowd.add_sequence(config).unwrap();
            crowd.play_sequence(id).unwrap();
            assert_eq!(id.get(), model.bound.len());
            model.bound.push(Bound { cast, state: SequenceState::Playing });
        }
        Deed::End(which, how) => {
            if model.bound.is_empty() {
                return;
            }
            let at = which % model.bound.len();
            let (id, bound) = (SequenceId(at as u32), &mut model.bound[at]);
            match how {
                0 => {
                    crowd.pause_sequence(id).unwrap();
                    if bound.state == SequenceState::Playing {
                        bound.state = SequenceState::Paused;
                    }
                }
                1 | 2 => {
                    let stop = how == 1;
                    let end = if stop { Crowd::stop_sequence } else { Crowd::unbind_sequence };
                    end(crowd, id).unwrap();
                    if bound.state != SequenceState::Unbound {
                        let ended = [SequenceState::Unbound, SequenceState::Stopped];
                        bound.state = ended[usize::from(stop)];
                    }
                }
                _ => {
                    crowd.play_sequence(id).unwrap();
                    bound.state = SequenceState::Playing;
                }
            }
        }
        Deed::Mode(n, mode) => {
            if let Some(who) = model.nth(n) {
                let mode = MODES[usize::from(mode)];
                crowd.set_update_mode(who.id(), mode).unwrap();
                model.here.insert(who, mode);
            }
        }
        Deed::Tick { seen } => {
            let stats = tick(crowd, if seen { CROWD } else { SKY });
            assert_eq!(stats.visible, if seen { model.here.len() as u32 } else { 0 });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn whatever_happens_a_crowd_is_what_a_plain_model_says(
        deeds in prop::collection::vec(deed(), 1..160),
    ) {
        let mut crowd = crowd_with(24, 1, |config| {
            config.spawning = Spawning::Gradual { per_second: 0.0 };
            config.grace = 2.5 * DT as f32;
        });
        let mut model = Model::default();
        for deed in deeds {
            act(deed, &mut crowd, &mut model);
            let here: Vec<_> = crowd.characters().collect();
            prop_assert_eq!(&here, &model.here.keys().copied().collect::<Vec<_>>());
            for (who, own) in &model.here {
                let forced = model.forced(*who);
                let mode = if forced { UpdateMode::AlwaysTickPose } else { *own };
                prop_assert_eq!(crowd.update_mode(who.id()), Some(mode), "{:?}", who);
            }
            let forced = model.here.keys().filter(|who| model.forced(**who)).count();
            prop_assert_eq!(crowd.forced().len(), forced);
            for ((_, info), bound) in crowd.sequences().zip(&model.bound) {
                prop_assert_eq!(info.state, bound.state);
                let cast: Vec<_> = bound.cast.iter().map(|who| who.id()).collect();
                prop_assert_eq!(info.cast, &cast[..]);
            }
            check(&crowd);
        }
    }
}
