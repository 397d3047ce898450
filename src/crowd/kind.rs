//! What the crowd derives from a kind of character once, before anybody stands.

use super::config::{ClipInfo, CrowdKind};
use super::error::CrowdError;
use super::graph::KindGraph;
use super::layout::{Body, Gait};
use super::measure::{self, ClipMeasure};
use super::slots::SlotShape;
use crate::asset::{ClipNotify, Surface};
use crate::index::{BoneCount, BoneIndex, ClipId};
use crate::motion::{Bodies, Notify, NotifyNames, NotifyTrack, PlayMode, RootLock, RootTrack};
use crate::pose::{Detail, Rig};
use crate::task::{Masks, NO_MASKS, Names, TaskList};
use glam::Vec3;
use std::sync::Arc;

/// A clip as playback uses it.
#[derive(Clone, Debug)]
pub(crate) struct KindClip {
    pub seconds: f32,
    pub mode: PlayMode,
    /// What its root covers, model space; `None` leaves the root's motion in the pose.
    pub root: Option<RootTrack>,
    /// What it tells while it plays.
    pub notifies: NotifyTrack,
}

/// A kind of character, ready to be played.
#[derive(Debug)]
pub(crate) struct Kind {
    /// For messages.
    pub name: String,
    pub rig: Arc<Rig>,
    pub clips: Vec<KindClip>,
    /// The bone that root motion is taken from.
    pub root: Option<BoneIndex>,
    /// How much of its motion is taken.
    pub root_lock: RootLock,
    /// Seconds of a cross-fade.
    pub fade: f32,
    /// What somebody who stands plays, and how often; empty without clips.
    pub standing: Vec<(ClipId, f32)>,
    /// World metres per model unit.
    pub scale: f32,
    /// Model space: the point that stands on a character's place. Its y is put on the ground.
    pub pivot: Vec3,
    /// World metres from the pivot at individual scale 1: centre of the bounding sphere.
    pub center: Vec3,
    /// World metres at individual scale 1.
    pub radius: f32,
    pub body: Body,
    /// What plays it, if a graph does.
    pub graph: Option<KindGraph>,
    /// The masks of lists that a graph recorded, if a recording plays it.
    pub recorded: Option<Masks>,
    /// What a palette slot holds.
    pub slot: SlotShape,
    /// What it is made of when it falls; nothing where it can't.
    pub bodies: Option<Arc<dyn Bodies>>,
    /// Its triangles, where anybody may ask for them.
    pub surface: Option<Arc<Surface>>,
    /// Bones that are animated from afar; `None` where these are all.
    pub low_detail: Option<BoneCount>,
}

/// Straight ahead: the sine of the angle up to which a gait counts as forward.
const FORWARD: f32 = 0.35;
/// Radians that a gait may turn in one round.
const GAIT_TURN: f32 = 0.35;

impl Kind {
    /// The clip of a name. Copies that are kept in place have none of their own.
    pub fn clip(&self, name: &str) -> Option<ClipId> {
        let mut clips = (0..self.clips.len() as u16).map(ClipId);
        clips.find(|clip| self.rig.clip(*clip).is_some_and(|clip| clip.name() == name))
    }

    /// Refuses a page of so many matrices that does not hold one of them.
    pub fn check_page(&self, matrices: u32) -> Result<(), CrowdError> {
        check_page(&self.name, &self.rig, matrices)
    }

    /// Checks and measures a kind.
    ///
    /// Notifies whose names are past the range of a number are left out.
    pub fn new(
        kind: &CrowdKind,
        fade: f32,
        page_matrices: u32,
        names: &mut NotifyNames,
    ) -> Result<Self, CrowdError> {
        check(kind, page_matrices)?;
        let rig = &kind.rig;
        let ids: Vec<ClipId> = (0..rig.clip_count() as u16).map(ClipId).collect();
        let infos: Vec<ClipInfo> = if kind.clips.is_empty() {
            let name = |id: &ClipId| rig.clip(*id).map_or("", |c| c.name());
            ids.iter().map(|id| ClipInfo::named(name(id))).collect()
        } else {
            kind.clips.clone()
        };
        let measures: Vec<ClipMeasure> = ids
            .iter()
            .zip(&infos)
            .map(|(id, info)| ClipMeasure::new(rig, *id, kind, info.root_motion))
            .collect();
        let shape = measure::shape(rig, &measures, &kind.bounds);
        let pivot = Vec3::new(shape.pivot.x, -kind.ground_offset, shape.pivot.y);

        let only_one = measures.len() == 1;
        let clips: Vec<KindClip> = measures
            .iter()
            .zip(&infos)
            .enumerate()
            .map(|(clip, (m, info))| {
                // Turning on the spot is something done once, however well its ends meet.
                let turns = m.moves && !m.travels;
                let measured = match (m.seconds > 0.0, only_one || (m.closes && !turns)) {
                    (false, _) => PlayMode::Clamp,
                    (true, true) => PlayMode::Loop,
                    (true, false) => PlayMode::Once,
                };
                let root = m.moves.then(|| m.track.clone());
                let of_clip = kind.notifies.get(clip).map_or(&[][..], |list| list);
                let notifies = NotifyTrack::new(&numbered(of_clip, names), m.seconds);
                KindClip { seconds: m.seconds, mode: info.mode.unwrap_or(measured), root, notifies }
            })
            .collect();
        let reach =
            |clip: ClipId| (measures[clip.get()].reach_from(shape.pivot) + shape.skin) * kind.scale;
        let roles = Roles::new(&measures, &clips, &infos, kind.scale, reach);
        let rest_reach = (shape.rest_reach + shape.skin) * kind.scale;
        let body = Body {
            weight: kind.weight,
            stand_reach: roles.standing.iter().map(|(c, _)| reach(*c)).fold(rest_reach, f32::max),
            can_stand: !roles.standing.is_empty() || clips.is_empty(),
            gaits: roles.gaits,
        };
        Ok(Self {
            name: kind.name.clone(),
            rig: Arc::clone(rig),
            clips,
            root: measure::root_bone(rig),
            root_lock: kind.root_lock,
            fade,
            standing: roles.standing,
            scale: kind.scale,
            pivot,
            center: (shape.center - pivot) * kind.scale,
            radius: shape.radius * kind.scale,
            body,
            graph: None,
            recorded: None,
            bodies: kind.bodies.clone(),
            surface: kind.surface.clone(),
            low_detail: Some(rig.skeleton().low_detail_bone_count())
                .filter(|bones| *bones < rig.bone_count()),
            slot: SlotShape {
                palette_len: rig.palette_len(),
                cut: rig.cut_rows().cloned(),
                row: 0,
                poses: None,
                interpolates: false,
            },
        })
    }

    /// What a list of its characters is resolved to.
    pub fn detail(&self, list: &TaskList) -> Detail {
        let low = self.low_detail.filter(|_| self.rig.cut_rows().is_some());
        let cut = list.cut().zip(low).is_some_and(|(cut, low)| cut <= low);
        if cut { Detail::Cut } else { Detail::Whole }
    }

    /// What the indices in its characters' lists are called.
    pub fn names(&self) -> Names<'_> {
        Names { rig: &self.rig, masks: self.masks() }
    }

    /// The masks that its characters' lists refer to.
    pub fn masks(&self) -> &Masks {
        let of_graph = self.graph.as_ref().map(|graph| graph.bound.masks());
        of_graph.or(self.recorded.as_ref()).unwrap_or(&NO_MASKS)
    }
}

/// A clip's notifies with numbers for names. Names past the range of a number are left out.
pub(super) fn numbered(notifies: &[ClipNotify], names: &mut NotifyNames) -> Vec<Notify> {
    let named = notifies.iter().filter_map(|n| {
        let id = names.id(&n.name)?;
        Some(Notify { id, seconds: n.seconds, end: n.end })
    });
    named.collect()
}

/// Which clips somebody plays who stands, and in which one walks.
struct Roles {
    standing: Vec<(ClipId, f32)>,
    gaits: Vec<Gait>,
}

impl Roles {
    fn new(
        measures: &[ClipMeasure],
        clips: &[KindClip],
        infos: &[ClipInfo],
        scale: f32,
        reach: impl Fn(ClipId) -> f32,
    ) -> Self {
        let all = || measures.iter().enumerate().map(|(i, m)| (ClipId(i as u16), m));
        let leads_away = |m: &ClipMeasure| m.moves && m.travels;
        let gait = |(clip, m): (ClipId, &ClipMeasure)| {
            let total = m.track.total();
            let speed = total.translation().length() / m.seconds * scale;
            let course = super::ride::heading_of(total.translation());
            let reach = reach(clip);
            (speed.is_finite() && speed > 0.0).then_some(Gait { clip, speed, course, reach })
        };
        let steady = |m: &ClipMeasure, clip: ClipId| {
            clips[clip.get()].mode == PlayMode::Loop && m.track.total().yaw.abs() < GAIT_TURN
        };
        let away = || all().filter(|(_, m)| leads_away(m));
        let mut gaits: Vec<Gait> = away().filter(|(c, m)| steady(m, *c)).filter_map(gait).collect();
        let mut standing: Vec<(ClipId, f32)> = all()
            .filter(|(_, m)| !leads_away(m))
            .map(|(clip, _)| (clip, infos[clip.get()].weight))
            .collect();
        if standing.iter().any(|(_, w)| *w > 0.0) {
            standing.retain(|(_, w)| *w > 0.0);
        } else {
            standing.iter_mut().for_each(|(_, w)| *w = 1.0);
        }
        if gaits.is_empty() && standing.is_empty() {
            gaits = away().filter_map(gait).collect();
        }
        let sideways = |g: &Gait| g.course.sin().abs() > FORWARD || g.course.cos() < 0.0;
        gaits.sort_by(|a, b| {
            sideways(a)
                .cmp(&sideways(b))
                .then(a.speed.total_cmp(&b.speed))
                .then(a.clip.cmp(&b.clip))
        });
        Self { standing, gaits }
    }
}

fn check(kind: &CrowdKind, page_matrices: u32) -> Result<(), CrowdError> {
    let number = |what: &str, value: f32, ok: bool, range| {
        let what = format!("the {what} of kind \"{}\"", kind.name);
        if ok { Ok(()) } else { Err(CrowdError::OutOfRange { what, value, range }) }
    };
    let scale = kind.scale;
    number("scale", scale, scale.is_finite() && scale > 0.0, "positive and finite")?;
    let weight = kind.weight;
    number("weight", weight, weight.is_finite() && weight >= 0.0, "finite and not negative")?;
    number("ground offset", kind.ground_offset, kind.ground_offset.is_finite(), "finite")?;
    let bounds = kind.bounds;
    let finite = bounds.min.is_finite() && bounds.max.is_finite() && bounds.radius >= 0.0;
    number("bounds' radius", bounds.radius, finite && bounds.radius.is_finite(), "finite")?;
    for info in &kind.clips {
        let ok = info.weight.is_finite() && info.weight >= 0.0;
        number("clip weights", info.weight, ok, "finite and not negative")?;
    }
    let (infos, clips) = (kind.clips.len(), kind.rig.clip_count());
    if infos != 0 && infos != clips {
        return Err(CrowdError::ClipInfos { kind: kind.name.clone(), infos, clips });
    }
    for (what, lists) in
        [("notifies", kind.notifies.len()), ("sync markers", kind.sync_markers.len())]
    {
        if lists != 0 && lists != clips {
            return Err(CrowdError::Lists { what, kind: kind.name.clone(), lists, clips });
        }
    }
    check_page(&kind.name, &kind.rig, page_matrices)
}

/// A page of so many matrices holds somebody.
fn check_page(kind: &str, rig: &Rig, page: u32) -> Result<(), CrowdError> {
    let kind = kind.to_owned();
    match rig.palette_len() {
        0 => Err(CrowdError::EmptyPalette { kind }),
        palette if palette > page as usize => Err(CrowdError::PageTooSmall { kind, palette, page }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::{BUILTINS, builtin};
    use crate::crowd::config::RootMotion;

    fn named(kind: &Kind, clip: ClipId) -> &str {
        kind.rig.clip(clip).unwrap().name()
    }

    #[test]
    fn the_built_in_characters_stand_walk_and_turn_with_the_right_clips() {
        for (name, _) in BUILTINS {
            let asset = builtin(name).unwrap().unwrap();
            let rig = Arc::new(asset.rig().unwrap());
            let kind = Kind::new(
                &CrowdKind::new(name, rig, asset.bounds),
                0.3,
                1_000,
                &mut NotifyNames::default(),
            )
            .unwrap();
            let standing: Vec<_> = kind.standing.iter().map(|(c, _)| named(&kind, *c)).collect();
            assert!(standing.contains(&"idle") && standing.contains(&"turn_left"), "{standing:?}");
            assert!(!standing.iter().any(|n| n.contains("walk") || n.contains("run")));
            assert_eq!(named(&kind, kind.body.gaits[0].clip), "walk_fwd");
            assert!(kind.body.gaits.iter().any(|g| named(&kind, g.clip) == "run_fwd"));
            for (id, clip) in kind.clips.iter().enumerate() {
                let clip_name = named(&kind, ClipId(id as u16));
                let expected = match clip_name {
                    n if n.starts_with("turn") => PlayMode::Once,
                    _ => PlayMode::Loop,
                };
                assert_eq!(clip.mode, expected, "{name} {clip_name}");
                let moves = ["walk", "run", "turn"].iter().any(|w| clip_name.contains(w));
                assert_eq!(clip.root.is_some(), moves, "{name} {clip_name}");
            }
            let turned = kind.clips.iter().filter_map(|c| c.root.as_ref()).map(|r| r.total().yaw);
            let quarter = std::f32::consts::FRAC_PI_2;
            assert!(turned.clone().any(|yaw| (yaw - quarter).abs() < 0.02), "{name}");
            assert!(kind.pivot.x == 0.0 && kind.pivot.z == 0.0);
            assert!(kind.body.stand_reach > 0.3 && kind.body.stand_reach < 1.0, "{:?}", kind.body);
        }
    }

    #[test]
    fn a_kinds_own_word_on_its_clips_goes_before_what_is_measured() {
        let asset = builtin("humanoid").unwrap().unwrap();
        let rig = Arc::new(asset.rig().unwrap());
        let info =
            ClipInfo { mode: Some(PlayMode::Clamp), root_motion: RootMotion::Off, weight: 2.0 };
        let clips = vec![info; rig.clip_count()];
        let kind = CrowdKind { clips, ..CrowdKind::new("humanoid", rig, asset.bounds) };
        let kind = Kind::new(&kind, 0.3, 1_000, &mut NotifyNames::default()).unwrap();
        assert!(kind.clips.iter().all(|c| c.mode == PlayMode::Clamp && c.root.is_none()));
        assert_eq!(kind.standing.len(), kind.clips.len());
        assert!(kind.body.gaits.is_empty());
    }
}
