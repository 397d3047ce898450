mod changes;
mod poses;

use super::*;
use crate::crowd::characters::SlotAddress;
use crate::crowd::testing::{DT, kind};
use crate::crowd::{CrowdConfig, CrowdKind, Gates, Layout, TickInput, TickStats};
use crate::math::{Mat3x4, View};
use crate::pose::PaletteView;
use crate::profile::PhaseTimes;
use glam::Vec3;

const COUNT: u32 = 120;

/// Two kinds of one skeleton and one of another.
fn kinds() -> Vec<CrowdKind> {
    vec![kind("one", 1), kind("its twin", 1), kind("another", 2)]
}

fn config() -> CrowdConfig {
    CrowdConfig {
        count: COUNT,
        threads: 2,
        layout: Layout::Grid,
        gates: Gates::OFF,
        ..CrowdConfig::default()
    }
}

/// Distances at which the crowd has every rate, and both details.
fn near_gates() -> Gates {
    Gates { rate_distances: [1.5, 3.0, 6.0], lod_distance: 4.0, ..Gates::default() }
}

fn look(crowd: &mut Crowd, view: &View) -> TickStats {
    let input =
        TickInput { dt: DT, played: true, view, shadow_clip_from_world: None, palette_hash: true };
    crowd.tick(&input, &PhaseTimes::default())
}

/// From the middle, turned by an angle: sees a part of the crowd.
fn turned(angle: f32) -> View {
    let eye = Vec3::new(0.0, 3.0, 0.0);
    let target = eye + Vec3::new(angle.sin(), -0.2, angle.cos());
    View::look_at(eye, target, 0.7, 500.0, (160, 90))
}

/// Sees everybody.
fn above() -> View {
    View::look_at(Vec3::new(0.1, 900.0, 0.1), Vec3::ZERO, 1.0, 5_000.0, (160, 90))
}

/// Sees nobody.
fn away() -> View {
    View::look_at(Vec3::new(0.0, 50.0, 0.0), Vec3::new(0.0, 100.0, 1.0), 0.5, 100.0, (160, 90))
}

fn address(crowd: &Crowd, id: CharacterId) -> Option<SlotAddress> {
    let at = crowd.world.characters.slots[id.get()];
    (at != SlotAddress::NONE && at.page & SlotAddress::TICKING == 0).then_some(at)
}

/// The newer palette of somebody with a slot, and the one before it.
fn palettes(crowd: &Crowd, id: CharacterId) -> Option<[Vec<Mat3x4>; 2]> {
    let at = address(crowd, id)?;
    let (leases, page) =
        (&crowd.world.slots.leases[at.page as usize], &crowd.world.slots.pages[at.page as usize]);
    let slot = at.slot as usize;
    let at = [leases.palette_at(slot), leases.palette_before(slot)];
    let [newer, before] = leases.are_cut(slot);
    let whole = |(at, cut): (usize, bool)| {
        let matrices = &page.matrices[at..][..leases.palette_len];
        let view = match page.cut.as_deref().filter(|_| cut) {
            Some(rows) => PaletteView::cut(matrices, rows),
            None => PaletteView::whole(matrices),
        };
        view.to_whole().into_owned()
    };
    Some([(at[0], newer), (at[1], before)].map(whole))
}

/// The frame of somebody's last evaluation.
fn evaluated_at(crowd: &Crowd, id: CharacterId) -> Option<u32> {
    let at = address(crowd, id)?;
    Some(crowd.world.slots.leases[at.page as usize].evaluated_at[at.slot as usize])
}

fn is_visible(crowd: &Crowd, id: CharacterId) -> bool {
    let (block, own) = bit(id);
    let block = &crowd.world.characters.blocks[block];
    (block.camera | block.shadow) & own != 0
}

fn furthest(a: &[Mat3x4], b: &[Mat3x4]) -> f32 {
    let rows = |m: &[Mat3x4]| m.iter().flat_map(|m| m.rows).flatten().collect::<Vec<f32>>();
    assert_eq!(a.len(), b.len());
    rows(a).iter().zip(rows(b)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

fn kind_of(crowd: &Crowd, id: CharacterId) -> u16 {
    crowd.world.characters.kinds[id.get()].0
}

/// Those of a kind, in the order of ids.
fn of_kind(crowd: &Crowd, kind: u16) -> Vec<CharacterId> {
    let all = (0..crowd.count()).map(CharacterId);
    all.filter(|id| kind_of(crowd, *id) == kind).collect()
}

const LEFT: Beside = Beside { x: 0.8, z: 0.0, yaw: 0.0 };
