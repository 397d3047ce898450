//! A program for one rig: names become indices, masks become weights.

use super::Op;
use super::clocks::{self, BoundClock};
use super::control::Layout;
use super::file::Known;
use super::groups::Groups;
use super::operand::*;
use super::plan::Plan;
use super::program::*;
use super::validate::ValidProgram;
use crate::asset::ClipMarker;
use crate::index::{BoneIndex, ClipId};
use crate::motion::{MarkersError, Notify, NotifyNames, NotifyTrack, RootTrack};
use crate::pose::{Rig, RootPin};
use crate::task::Masks;
use std::sync::Arc;

/// Why a program can't be bound to a rig.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BindError {
    /// A name that the rig does not know.
    #[error("graph \"{program}\": no {what} `{name}`{known}")]
    Missing {
        /// The program's name.
        program: String,
        /// `clip` or `bone`.
        what: &'static str,
        /// What was asked for.
        name: String,
        /// Names that the rig knows.
        known: Box<Known>,
    },
    /// A bone is scaled, and the rig's poses hold no scale: it has to be built with
    /// [`Rig::general`].
    #[error(
        "graph \"{program}\" scales bone `{bone}`, and the character was made ready for graphs that scale none"
    )]
    Scale {
        /// The program's name.
        program: String,
        /// The bone.
        bone: String,
    },
    /// Bones that a solver needs on one another, and the skeleton has elsewhere.
    #[error("graph \"{program}\": {op} needs `{lower}` to hang below `{upper}`, which it does not")]
    Chain {
        /// The program's name.
        program: String,
        /// The opcode's name.
        op: &'static str,
        /// The bone that should be nearer to the root.
        upper: String,
        /// The bone that should hang on it.
        lower: String,
    },
    /// Clips of a sync group that have other sync markers, or the same in another order.
    #[error(
        "graph \"{program}\": clips of the sync group `{group}` need the same sync markers in the \
         same order; `{}` has {}, `{}` has {}",
        clips[0].0, clips[0].1, clips[1].0, clips[1].1
    )]
    Markers {
        /// The program's name.
        program: String,
        /// The group's name.
        group: String,
        /// Two of its clips, each with its markers.
        clips: Box<[(String, String); 2]>,
    },
    /// Sync markers where none can be.
    #[error("graph \"{program}\": clip `{clip}`: {error}")]
    MarkerTimes {
        /// The program's name.
        program: String,
        /// The clip.
        clip: String,
        /// What is wrong with its markers.
        error: MarkersError,
    },
    /// More clips than the rig's.
    #[error("{given} clips were given for a rig of {clips}")]
    Clips {
        /// Number of clips given.
        given: usize,
        /// Number of the rig's clips.
        clips: usize,
    },
    /// More notify names than numbers.
    #[error("graph \"{program}\": notify `{name}` is one name more than 65536")]
    TooManyNotifies {
        /// The program's name.
        program: String,
        /// The name.
        name: String,
    },
}

/// A clip whose root moves its character.
#[derive(Clone, Debug, PartialEq)]
pub struct MovingClip {
    /// The ground that its root covers, model space.
    pub track: RootTrack,
    /// The rig's clip without that motion ([`Rig::add_in_place`]). What a graph blends and what its
    /// transitions remember has to be in one place: of poses that have walked apart neither a mean
    /// nor a difference means anything.
    pub in_place: ClipId,
}

/// What a program is told of one clip of its rig.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClipBinding {
    /// How its root moves its character; `None` for a clip that leaves it where it is.
    pub moving: Option<MovingClip>,
    /// The clip's own notifies; those of the program are added.
    pub notifies: Vec<Notify>,
    /// The clip's own sync markers, ascending; those of the program replace them.
    pub sync_markers: Vec<ClipMarker>,
}

/// What a program is bound to.
#[derive(Debug)]
pub struct Target<'a> {
    /// Skeleton and clips.
    pub rig: &'a Rig,
    /// The first clips of the rig: those that have names for a program.
    pub clips: &'a [ClipBinding],
    /// Numbers for the names of notifies.
    pub names: &'a mut NotifyNames,
}

/// A program whose clips, bones and masks are a rig's. Shared by all its instances, never changed.
#[derive(Clone, Debug)]
pub struct BoundProgram {
    program: Arc<ValidProgram>,
    pub(super) clips: Vec<BoundClip>,
    pub(super) bones: Vec<BoneIndex>,
    masks: Masks,
    /// What each mask weighs the root: the share of root motion that a masked blend passes on.
    pub(super) root_weights: Vec<f32>,
    pub(super) root: Option<BoneIndex>,
    /// What is taken out of the final pose.
    pub(super) pin: Option<RootPin>,
    /// A clip's root may move the character.
    pub(super) moves: bool,
    pub(super) clocks: Vec<BoundClock>,
    /// The clocks of clips with notifies.
    pub(super) telling: Vec<ClockId>,
    /// Those of clips with spans that may stand still.
    pub(super) spanning: Vec<ClockId>,
    /// What is put on the ground.
    feet: Vec<BoneIndex>,
    /// Which clips keep step.
    pub(super) groups: Groups,
    pub(super) layout: Layout,
}

/// A clip of the rig as the program uses it.
#[derive(Clone, Debug)]
pub(super) struct BoundClip {
    pub id: ClipId,
    pub seconds: f32,
    pub root: Option<RootTrack>,
    pub notifies: NotifyTrack,
}

impl ValidProgram {
    /// Binds a program to a rig.
    ///
    /// # Errors
    /// [`BindError`]: a clip or a bone that the rig does not have, with those it has; bones for a
    /// solver that are no chain; a scale that its poses can't hold; clips of a sync group whose
    /// markers differ.
    pub fn bind(self: &Arc<Self>, target: Target<'_>) -> Result<BoundProgram, BindError> {
        let program = self.get();
        let Target { rig, clips: given, names } = target;
        if given.len() > rig.clip_count() {
            let (given, clips) = (given.len(), rig.clip_count());
            return Err(BindError::Clips { given, clips });
        }
        let bones = bones(program, rig)?;
        chains(program, rig, &bones)?;
        if let Some(bone) = program.scaled_bone().filter(|_| !rig.has_scale()) {
            let (program, bone) = (program.name.clone(), program.bones[bone.get()].clone());
            return Err(BindError::Scale { program, bone });
        }
        let first_root = || rig.skeleton().parents().iter().position(Option::is_none);
        let root = match program.root.bone {
            Some(bone) => bones.get(bone.get()).copied(),
            None => first_root().and_then(|at| BoneIndex::try_from(at).ok()),
        };
        let feet = program.code.iter().flat_map(|op| match *op {
            Op::FootIk { left, right, .. } => vec![left.end, right.end],
            _ => Vec::new(),
        });
        let feet = feet.map(|foot| bones[foot.get()]).collect();
        let (clips, groups) = clips(program, rig, given, names)?;
        let (masks, weights) = masks(program, rig, &bones);
        let root_weight = |weights: &Vec<f32>| root.map_or(0.0, |root| weights[root.get()]);
        let moves = clips.iter().any(|clip| clip.root.is_some());
        let pin = root.filter(|_| program.root.mode == RootMode::Always).map(RootPin::Reference);
        Ok(BoundProgram {
            root_weights: weights.iter().map(root_weight).collect(),
            clocks: clocks::bound(program, &clips),
            telling: clocks::such(program, &clips, |_, clip| !clip.notifies.is_empty()),
            spanning: clocks::such(program, &clips, |clock, clip| {
                clip.notifies.has_spans() && self.plan().guards.may_rest(clock)
            }),
            layout: Layout::of(program, groups.first_pieces().len()),
            groups,
            program: Arc::clone(self),
            clips,
            bones,
            masks,
            root,
            pin,
            moves,
            feet,
        })
    }
}

impl BoundProgram {
    /// The program.
    pub fn program(&self) -> &Program {
        self.program.get()
    }

    /// How the program is interpreted.
    pub(super) fn plan(&self) -> &Plan {
        self.program.plan()
    }

    /// The most tasks that an evaluation records.
    pub fn most_tasks(&self) -> usize {
        self.program.most_tasks()
    }

    /// The masks that its tasks refer to.
    pub fn masks(&self) -> &Masks {
        &self.masks
    }

    /// The bone that root motion is taken from.
    pub fn root(&self) -> Option<BoneIndex> {
        self.root
    }

    /// True when a clip's root may move the character.
    pub fn moves(&self) -> bool {
        self.moves
    }

    /// The feet that are put on the ground, which its list is to be given
    /// ([`TaskList::set_ground`](crate::task::TaskList::set_ground)).
    pub fn feet(&self) -> &[BoneIndex] {
        &self.feet
    }

    /// The clip of the rig that a clip of the program is; `None` for a row it does not have.
    pub fn clip(&self, clip: ClipRef) -> Option<ClipId> {
        self.clips.get(clip.get()).map(|clip| clip.id)
    }

    pub(super) fn clock(&self, clock: ClockId) -> (&ClockDesc, &BoundClip) {
        let desc = &self.program().clocks[clock.get()];
        (desc, &self.clips[desc.clip.get()])
    }
}

fn bones(program: &Program, rig: &Rig) -> Result<Vec<BoneIndex>, BindError> {
    let names = rig.skeleton().names();
    let find = |name: &String| {
        let at = names.iter().position(|n| n == name);
        at.and_then(|at| BoneIndex::try_from(at).ok()).ok_or_else(|| BindError::Missing {
            program: program.name.clone(),
            what: "bone",
            name: name.clone(),
            known: known(name, names.iter().map(String::as_str)),
        })
    };
    program.bones.iter().map(find).collect()
}

/// Which bone of a limb hangs on which.
const fn limb_pairs(LimbRef { root, mid, end }: LimbRef) -> [(BoneRef, BoneRef); 2] {
    [(root, mid), (mid, end)]
}

/// Whether the bones of every solver hang on one another.
fn chains(program: &Program, rig: &Rig, bones: &[BoneIndex]) -> Result<(), BindError> {
    for op in &program.code {
        let pairs = match *op {
            Op::TwoBoneIk { limb, .. } => limb_pairs(limb).to_vec(),
            Op::Fabrik { root, end, .. } => vec![(root, end)],
            Op::FootIk { hips, left, right, .. } => [left, right]
                .into_iter()
                .flat_map(|leg| [(hips, leg.root)].into_iter().chain(limb_pairs(leg)))
                .collect(),
            _ => continue,
        };
        for (upper, lower) in &pairs {
            let [above, below] = [upper, lower].map(|bone| bones[bone.get()]);
            if !hangs_below(rig, below, above) {
                let name = |bone: &BoneRef| program.bones[bone.get()].clone();
                let (upper, lower) = (name(upper), name(lower));
                let (program, op) = (program.name.clone(), op.name());
                return Err(BindError::Chain { program, op, upper, lower });
            }
        }
    }
    Ok(())
}

/// Whether a bone is one of those above another; nothing hangs on itself.
fn hangs_below(rig: &Rig, lower: BoneIndex, upper: BoneIndex) -> bool {
    let above = |bone: &BoneIndex| rig.skeleton().parents().get(bone.get()).copied().flatten();
    std::iter::successors(above(&lower), above).any(|bone| bone == upper)
}

fn clips(
    program: &Program,
    rig: &Rig,
    given: &[ClipBinding],
    names: &mut NotifyNames,
) -> Result<(Vec<BoundClip>, Groups), BindError> {
    let all = || (0..given.len() as u16).map(ClipId);
    let name_of = |id: &ClipId| rig.clip(*id).map_or("", |clip| clip.name());
    let never = program.root.mode == RootMode::Never;
    let mut bound = Vec::with_capacity(program.clips.len());
    let mut bindings = Vec::with_capacity(program.clips.len());
    for (row, name) in program.clips.iter().enumerate() {
        let id = all().find(|id| name_of(id) == name).ok_or_else(|| BindError::Missing {
            program: program.name.clone(),
            what: "clip",
            name: name.clone(),
            known: known(name, all().map(|id| rig.clip(id).map_or("", |c| c.name()))),
        })?;
        let seconds = rig.clip(id).map_or(0.0, |clip| clip.seconds());
        let binding = &given[id.get()];
        bindings.push(binding);
        let ClipBinding { moving, notifies, .. } = binding;
        let mut notifies = notifies.clone();
        for notify in program.notifies.iter().filter(|n| n.clip.get() == row) {
            let time = |moment| match moment {
                Moment::Seconds(seconds) => seconds,
                Moment::Fraction(share) => share * seconds,
            };
            let id = names.id(&notify.name).ok_or_else(|| BindError::TooManyNotifies {
                program: program.name.clone(),
                name: notify.name.clone(),
            })?;
            let (seconds, end) = (time(notify.at), notify.until.map(time));
            notifies.push(Notify { id, seconds, end });
        }
        let moving = moving.as_ref().filter(|_| !never);
        bound.push(BoundClip {
            id: moving.map_or(id, |moving| moving.in_place),
            seconds,
            root: moving.map(|moving| moving.track.clone()),
            notifies: NotifyTrack::new(&notifies, seconds),
        });
    }
    let groups = Groups::bind(program, &bound, &bindings)?;
    Ok((bound, groups))
}

fn masks(program: &Program, rig: &Rig, bones: &[BoneIndex]) -> (Masks, Vec<Vec<f32>>) {
    let parents = rig.skeleton().parents();
    let mut table = Masks::default();
    let mut all = Vec::with_capacity(program.masks.len());
    for mask in &program.masks {
        let mut weights = vec![mask.others; parents.len()];
        for entry in &mask.entries {
            let top = bones[entry.bone.get()];
            weights[top.get()] = entry.weight;
            // Parents come first, so one pass finds everything below.
            let mut below = vec![false; parents.len()];
            below[top.get()] = entry.subtree;
            for (at, parent) in parents.iter().enumerate().skip(top.get() + 1) {
                if parent.is_some_and(|p| below[p.get()]) {
                    below[at] = true;
                    weights[at] = entry.weight;
                }
            }
        }
        // A validated program has no more masks than an id can name.
        table.add(rig.bone_count(), &weights);
        all.push(weights);
    }
    (table, all)
}

fn known<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Box<Known> {
    Box::new(Known::new(name, names).of("the character has"))
}
