//! Everything that a tick left of one character, for whoever looks at it.

use super::characters::{BLOCK, Place, SlotAddress};
use super::decisions::{Decisions, FallStep, SlotKind};
use super::draw::InstanceRecord;
use super::drawn::{Drawn, bones};
use super::leases::WORD;
use super::playback::Playback;
use super::spawn::CharacterHandle;
use super::world::World;
use super::{CharacterState, Crowd, CrowdError};
use crate::graph::{BoundProgram, Look};
use crate::index::{BoneIndex, CharacterId, CharacterKind, ClipId};
use crate::math::{Bounds, Mat3x4};
use crate::pose::PaletteView;
use crate::task::{Capture, Names};
use glam::{Affine3A, Vec3};

/// One character after one tick: what was decided about it, what it keeps, how it was drawn and what
/// the executor did with its list.
#[derive(Clone, Debug)]
pub struct CharacterFrame {
    /// Who.
    pub who: CharacterHandle,
    /// Ticks before that one.
    pub frame: u64,
    /// World clock of that tick, seconds.
    pub seconds: f64,
    /// Where it was.
    pub state: CharacterState,
    /// Where it belongs, world metres; `None` for a follower, which belongs beside its leader.
    pub home: Option<Vec3>,
    /// What was decided about it.
    pub decisions: Decisions,
    /// What the executor did with its list, if it was evaluated in that tick.
    pub capture: Option<Capture>,
    /// Nanoseconds that it took to record that list.
    pub record_ns: u64,
    /// Its bodies, if it is down: each all points within a radius of a segment, whose ends come
    /// first; world metres.
    pub bodies: Vec<(Vec3, Vec3, f32)>,
    /// What its graph and its driver keep.
    row: Vec<u32>,
    playback: Playback,
    /// Its instance record, and its palette, with the one before behind it where they are mixed; whole
    /// ones, and so the record says.
    drawn: Option<(InstanceRecord, Vec<Mat3x4>)>,
}

impl CharacterFrame {
    /// Which kind it is.
    pub fn kind(&self) -> CharacterKind {
        self.state.kind
    }

    /// Model space to world metres, as it was drawn; `None` for one that nobody saw.
    pub fn world_from_model(&self) -> Option<Affine3A> {
        self.drawn.as_ref().map(|(record, _)| record.world_from_model.to_affine())
    }

    /// Its instance record and its palette as they were drawn; behind it the palette before, where
    /// they are mixed. `None` for one that nobody saw.
    pub fn drawn(&self) -> Option<(&InstanceRecord, &[Mat3x4])> {
        self.drawn.as_ref().map(|(record, palettes)| (record, &palettes[..]))
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        let palettes = self.drawn.as_ref().map_or(0, |(_, p)| size_of_val(&p[..]));
        let tasks = self.capture.as_ref().map_or(0, |c| size_of_val(&c.tasks[..]));
        let bodies = size_of_val(&self.bodies[..]);
        size_of::<Self>() + palettes + tasks + bodies + size_of_val(&self.row[..])
    }
}

/// A clip that a character plays which no graph plays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerLook {
    /// The clip.
    pub clip: ClipId,
    /// Seconds inside it.
    pub seconds: f32,
    /// How long it is, seconds.
    pub length: f32,
    /// Its share of the pose.
    pub weight: f32,
}

impl Crowd {
    /// What the last tick left of a character, seen from `eye` (world metres). What the executor did
    /// is known of those whom a [`Watch`](super::Watch) names.
    ///
    /// # Errors
    /// [`CrowdError::Gone`] for one that has gone, [`CrowdError::NoCharacter`] for an id that the
    /// crowd never has.
    pub fn observe(&self, who: CharacterHandle, eye: Vec3) -> Result<CharacterFrame, CrowdError> {
        let world = &self.world;
        let id = world.resolve(who)?;
        let gone = CrowdError::NoCharacter { id: id.0, count: self.capacity() };
        let state = self.character(id).ok_or(gone)?;
        let at = world.characters.slots[id.get()];
        let (row, playback) = world.kept(id, at);
        let drawn = world.drawn(id).map(|drawn| {
            let mut palettes = drawn.newer.to_whole().into_owned();
            if drawn.record.before_offset != drawn.record.palette_offset {
                palettes.extend_from_slice(&drawn.older.to_whole());
            }
            (InstanceRecord { cut: 0, ..*drawn.record }, palettes)
        });
        let seen = world.watcher.seen(who);
        Ok(CharacterFrame {
            who,
            frame: self.ticks().saturating_sub(1),
            seconds: self.now(),
            state,
            home: world.home(id),
            decisions: world.decisions(id, at, eye),
            capture: seen.map(|(capture, _)| capture.clone()),
            record_ns: seen.map_or(0, |(_, ns)| ns),
            bodies: world.falls.capsules(id),
            row: row.to_vec(),
            playback: *playback,
            drawn,
        })
    }

    /// What the graph of a character was at; `None` for one that no graph plays, and for a frame
    /// from before its graph was replaced by another one.
    pub fn look(&self, frame: &CharacterFrame) -> Option<(&BoundProgram, Look)> {
        let bound = self.program(frame.kind())?;
        let row = frame.row.get(..bound.words())?;
        Some((bound, bound.look(row)?))
    }

    /// The clips that a character played which no graph plays.
    pub fn layers(&self, frame: &CharacterFrame) -> Vec<LayerLook> {
        let Some(kind) = self.world.kinds.get(frame.kind().get()) else { return Vec::new() };
        if kind.graph.is_some() || kind.recorded.is_some() {
            return Vec::new();
        }
        let layers = frame.playback.layers(kind);
        layers
            .map(|(clip, seconds, length, weight)| LayerLook { clip, seconds, length, weight })
            .collect()
    }

    /// What the indices of a kind's lists are called.
    pub fn names(&self, kind: CharacterKind) -> Option<Names<'_>> {
        self.world.kinds.get(kind.get()).map(|kind| kind.names())
    }

    /// Where each bone was as it was drawn, world metres: its joint and its axes. `None` for a frame
    /// that nobody saw; for a bone that its palette does not tell.
    pub fn bones(&self, frame: &CharacterFrame) -> Option<Vec<Option<Affine3A>>> {
        let drawn = self.drawn_as(frame)?;
        let palette = drawn.palette();
        Some(bones(drawn.kind, &palette, drawn.world_from_model()).collect())
    }

    /// The box in model space that held its skin as it was drawn; `None` for a frame that nobody
    /// saw, and for a kind without a [`surface`](super::CrowdKind::surface).
    pub fn posed_box(&self, frame: &CharacterFrame) -> Option<Bounds> {
        let drawn = self.drawn_as(frame)?;
        drawn.kind.surface.as_ref()?.posed_box(&drawn.palette())
    }

    /// The bone that a bone hangs on.
    pub fn parent(&self, kind: CharacterKind, bone: BoneIndex) -> Option<BoneIndex> {
        self.rig(kind)?.skeleton().parents().get(bone.get()).copied().flatten()
    }

    fn drawn_as<'a>(&'a self, frame: &'a CharacterFrame) -> Option<Drawn<'a>> {
        let kind = self.world.kinds.get(frame.kind().get())?;
        let (record, palettes) = frame.drawn()?;
        let newer = palettes.get(..kind.rig.palette_len())?;
        let older = palettes.get(kind.rig.palette_len()..).filter(|p| p.len() == newer.len());
        let [newer, older] = [newer, older.unwrap_or(newer)].map(PaletteView::whole);
        Some(Drawn { kind, record, newer, older })
    }
}

impl World {
    /// What a character's graph and driver keep, and its clocks where no graph plays it.
    fn kept(&self, id: CharacterId, at: SlotAddress) -> (&[u32], &Playback) {
        match at {
            SlotAddress::NONE => {
                (self.characters.rows.of(id.get()), &self.characters.playback[id.get()])
            }
            at => (self.slots.row(at), &self.slots.at(at).playback[at.slot as usize]),
        }
    }

    fn home(&self, id: CharacterId) -> Option<Vec3> {
        let home = match self.characters.places[id.get()] {
            Place::Standing { home, .. } => home,
            Place::Riding { ride, home_s, home_lateral, .. } => {
                self.rides[ride as usize].place(home_s, home_lateral).0
            }
            Place::Following { .. } => return None,
        };
        Some(Vec3::new(home.x, self.terrain.height(home), home.y))
    }

    fn decisions(&self, id: CharacterId, at: SlotAddress, eye: Vec3) -> Decisions {
        let (b, i) = (id.get() / BLOCK, id.get() % BLOCK);
        let block = &self.characters.blocks[b];
        let is = |mask: u64| mask >> i & 1 == 1;
        let forced = self.sequences.forced.of(id);
        let spheres = &self.characters.spheres[b];
        let center = Vec3::new(spheres.x[i], spheres.y[i], spheres.z[i]);
        let radius = spheres.radius[i] - self.terrain.max_height();
        let slot = match at {
            SlotAddress::NONE => SlotKind::None,
            SlotAddress { page, slot } if page & SlotAddress::TICKING == 0 => {
                SlotKind::Palette { page, slot }
            }
            SlotAddress { slot, .. } => SlotKind::Clocks { slot },
        };
        let due = |at: SlotAddress| {
            let slot = at.slot as usize;
            self.slots.at(at).words[slot / WORD].due >> (slot % WORD) & 1 == 1
        };
        let fall = self.falls.of(id).map(|fall| match (fall.is_down(), fall.rises()) {
            (true, _) => FallStep::Down,
            (false, true) => FallStep::Rises,
            (false, false) => FallStep::Begins,
        });
        Decisions {
            mode: block.update_mode(i),
            own: forced.map(|force| force.own),
            forced_by: forced.map_or(Vec::new(), |force| force.by.clone()),
            camera: is(block.camera),
            shadow: is(block.shadow),
            unseen: self.now - self.characters.last_rendered[id.get()],
            grace: self.grace,
            slot,
            evaluated: slot != SlotKind::None && due(at),
            every: block.rates.every(i),
            countdown: block.rates.countdown(i),
            cut: is(block.rates.cut),
            radii: eye.distance(center) / radius,
            leader: match self.characters.places[id.get()] {
                Place::Following { leader, .. } => Some(leader),
                _ => None,
            },
            leads: self.characters.leads(id),
            fall,
        }
    }
}
