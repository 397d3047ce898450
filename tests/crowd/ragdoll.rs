//! Characters that fall, lie and get up in a crowd.

use super::{DT, away, overview};
use glam::{Affine3A, Vec3};
use std::collections::BTreeMap;
use std::sync::Arc;
use throng::asset::{BUILTINS, CharacterAsset, builtin, skinning};
use throng::crowd::{
    Crowd, CrowdConfig, CrowdError, CrowdKind, Layout, Playing, TickInput, TickStats,
};
use throng::graph::{StarterClip, builtin_for, compile, starter};
use throng::index::CharacterId;
use throng::math::View;
use throng::motion::{Bodies, Terrain};
use throng::physics::Skeletal;
use throng::profile::PhaseTimes;

pub struct Cast {
    assets: Vec<CharacterAsset>,
}

impl Cast {
    pub fn new() -> Self {
        Self { assets: BUILTINS.iter().map(|(n, _)| builtin(n).unwrap().unwrap()).collect() }
    }

    fn kinds(&self, graphs: bool, bodies: bool) -> Vec<CrowdKind> {
        let kind = |asset: &CharacterAsset| {
            let rig = Arc::new(asset.rig().unwrap());
            let made = bodies.then(|| Skeletal::new(asset, &rig).unwrap());
            let bodies = made.map(|made| Arc::new(made) as Arc<dyn Bodies>);
            let playing = match graphs {
                true => {
                    let (graph, text) = builtin_for(&asset.name).unwrap();
                    Playing::Graph(Arc::new(compile(graph, text).unwrap().program))
                }
                false => Playing::Simple,
            };
            let ground_offset = -skinning::rest_bounds(asset).min.y;
            let kind = CrowdKind::new(asset.name.clone(), rig, asset.bounds);
            CrowdKind { bodies, playing, ground_offset, ..kind }
        };
        self.assets.iter().map(kind).collect()
    }

    pub fn assets(&self) -> &[CharacterAsset] {
        &self.assets
    }

    /// Played by graphs that are made of their clips, as any file's are.
    pub fn starters(&self, config: CrowdConfig) -> Crowd {
        let mut kinds = self.kinds(false, true);
        for (kind, asset) in kinds.iter_mut().zip(&self.assets) {
            let clips: Vec<_> = asset.clips.iter().map(StarterClip::of).collect();
            let program = compile(&asset.name, &starter(&clips)).unwrap().program;
            kind.playing = Playing::Graph(Arc::new(program));
        }
        Crowd::new(config, kinds).unwrap()
    }

    pub fn crowd(&self, graphs: bool, config: CrowdConfig) -> Crowd {
        Crowd::new(config, self.kinds(graphs, true)).unwrap()
    }
}

pub const GROUNDS: [Terrain; 2] = [Terrain::FLAT, Terrain::uneven(5)];

pub fn config(count: u32, ragdolls: u32, terrain: Terrain) -> CrowdConfig {
    CrowdConfig {
        count,
        ragdolls,
        terrain,
        threads: 2,
        layout: Layout::Disc,
        ..CrowdConfig::default()
    }
}

pub fn tick(crowd: &mut Crowd, view: &View, dt: f64) -> TickStats {
    let input =
        TickInput { dt, view, shadow_clip_from_world: None, played: true, palette_hash: true };
    crowd.tick(&input, &PhaseTimes::default())
}

/// Above the middle, near enough for every gate to be open.
pub fn near() -> View {
    View::look_at(Vec3::new(0.1, 25.0, 0.1), Vec3::ZERO, 1.4, 100.0, (160, 90))
}

/// World matrix of every bone of everybody who is drawn, by id.
pub fn bones(crowd: &Crowd, cast: &Cast) -> BTreeMap<u32, Vec<Affine3A>> {
    let draw = crowd.draw();
    let records = draw.groups.iter().flat_map(|group| {
        let range = group.camera.start as usize..group.shadow.end.max(group.camera.end) as usize;
        draw.instances[range].iter().map(move |record| (group, record))
    });
    let of = |(group, record): (&throng::crowd::DrawGroup, &throng::crowd::InstanceRecord)| {
        let skeleton = &cast.assets[group.kind.get()].skeleton;
        let palette = draw.pages[group.page as usize].palette(record).unwrap().to_whole();
        let world = record.world_from_model.to_affine();
        let entries =
            skeleton.palette().iter().zip(palette.iter()).take(skeleton.bone_count().get());
        let bones = entries.map(|(e, m)| world * m.to_affine() * e.bone_from_mesh.inverse());
        (record.id, bones.collect())
    };
    records.map(of).collect()
}

#[test]
fn who_is_drawn_is_where_its_bodies_are_and_in_its_sphere_and_gets_up_smoothly() {
    let cast = Cast::new();
    for (graphs, terrain) in [true, false].into_iter().flat_map(|g| GROUNDS.map(|t| (g, t))) {
        let mut crowd = cast.crowd(graphs, config(24, 24, terrain));
        let view = near();
        let (mut off, mut deep, mut rose) = (0.0f32, 0.0f32, 0);
        let mut before: BTreeMap<u32, (Vec<Affine3A>, bool)> = BTreeMap::new();
        let (mut falling, mut rising, mut others, mut lain) = (0.0f32, 0.0f32, 0.0f32, 0);
        let mut since: BTreeMap<u32, u32> = BTreeMap::new();
        let mut bodies: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for _ in 0..800 {
            tick(&mut crowd, &view, DT);
            let drawn = bones(&crowd, &cast);
            assert_eq!(drawn.len(), 24, "everybody is in view");
            let mut now = BTreeMap::new();
            for (id, bones) in drawn {
                let fallen = crowd.fallen(CharacterId(id));
                let state = crowd.character(CharacterId(id)).unwrap();
                if let Some(fallen) = &fallen {
                    for (bone, body) in &fallen.bodies {
                        let apart = bones[bone.get()].translation.distance(body.translation);
                        off = off.max(apart);
                    }
                    deep = deep.max(-fallen.clearance);
                    lain += u32::from(fallen.at_rest);
                    let with = fallen.bodies.iter().map(|(bone, _)| bone.get());
                    bodies.insert(id, with.collect::<Vec<_>>());
                    for &bone in &bodies[&id] {
                        let reach = Vec3::from(bones[bone].translation).distance(state.center);
                        assert!(reach <= state.radius, "{id}: {reach} of {}", state.radius);
                    }
                }
                if let Some((last, was_down)) = before.remove(&id) {
                    // What lies above all bodies has no skin, and stands where its owner will.
                    let all: Vec<usize> = (0..bones.len()).collect();
                    let of = bodies.get(&id).unwrap_or(&all);
                    let moved = |&b: &usize| bones[b].translation.distance(last[b].translation);
                    let far = of.iter().map(moved).fold(0.0, f32::max);
                    let ago = since.entry(id).or_insert(u32::MAX);
                    *ago = if fallen.is_some() { 0 } else { ago.saturating_add(1) };
                    // Getting up takes two seconds.
                    match *ago {
                        0 => falling = falling.max(far),
                        1..=121 => rising = rising.max(far),
                        _ => others = others.max(far),
                    }
                    rose += u32::from(was_down && fallen.is_none());
                }
                now.insert(id, (bones, fallen.is_some()));
            }
            before = now;
        }
        eprintln!(
            "graphs {graphs}: {off} off, {deep} deep, {rose} rose, {falling} {rising} {others}, {lain}"
        );
        assert!(off < 1e-3, "a bone is {off} m from its body");
        assert!(deep < 0.002, "somebody is {deep} m in the ground");
        assert!(rose > 12 && lain > 500, "{rose} rose, {lain} lay");
        let jump = others.max(0.4);
        assert!(falling < jump, "a bone jumps {falling} m from one frame to the next, {others}");
        assert!(rising < jump, "a bone jumps {rising} m while its owner gets up, {others}");
    }
}

#[test]
fn two_runs_and_any_number_of_threads_agree_bit_for_bit() {
    let cast = Cast::new();
    let run = |graphs: bool, threads: usize| {
        let config = CrowdConfig { threads, ..config(60, 40, GROUNDS[1]) };
        let mut crowd = cast.crowd(graphs, config);
        let view = overview();
        let mut fallen = 0;
        let mut hash = None;
        let mut risen = 0;
        for _ in 0..600 {
            let stats = tick(&mut crowd, &view, DT);
            risen += stats.risen;
            fallen = fallen.max(stats.fallen);
            hash = stats.palette_hash;
        }
        assert!(fallen > 10 && risen > 10, "{fallen} {risen}");
        hash
    };
    for graphs in [true, false] {
        let expected = run(graphs, 1);
        for threads in [1, 2, 8] {
            assert_eq!(run(graphs, threads), expected, "{threads} threads");
        }
    }
}

#[test]
fn who_never_falls_plays_as_if_nobody_could() {
    let cast = Cast::new();
    let view = overview();
    let mut hashes = [true, false].map(|bodies| {
        let mut crowd = Crowd::new(config(50, 0, GROUNDS[1]), cast.kinds(true, bodies)).unwrap();
        (0..120).map(|_| tick(&mut crowd, &view, DT).palette_hash).collect::<Vec<_>>()
    });
    assert_eq!(hashes[0], hashes[1]);
    // Without bodies nobody falls, whoever asks.
    let mut crowd = Crowd::new(config(50, 50, GROUNDS[1]), cast.kinds(true, false)).unwrap();
    hashes[1] = (0..120).map(|_| tick(&mut crowd, &view, DT).palette_hash).collect();
    assert_eq!(hashes[0], hashes[1]);
    assert!(!crowd.knock_down(CharacterId(3), Vec3::X).unwrap());
}

#[test]
fn one_who_falls_leaves_everybody_else_as_they_are() {
    let cast = Cast::new();
    let view = near();
    let mut crowds = [(); 2].map(|()| cast.crowd(false, config(30, 0, Terrain::FLAT)));
    for frame in 0..300 {
        if frame == 20 {
            assert!(crowds[0].knock_down(CharacterId(7), Vec3::X).unwrap());
        }
        for crowd in &mut crowds {
            tick(crowd, &view, DT);
        }
        let [mut a, mut b] = crowds.each_ref().map(|crowd| bones(crowd, &cast));
        let (fell, stood) = (a.remove(&7).unwrap(), b.remove(&7).unwrap());
        assert_eq!(a, b, "frame {frame}");
        if frame == 80 {
            let height =
                |bones: &[Affine3A]| bones.iter().map(|b| b.translation.y).fold(0.0, f32::max);
            assert!(height(&fell) < 0.7 * height(&stood), "{} {}", height(&fell), height(&stood));
            assert!(!crowds[0].knock_down(CharacterId(7), Vec3::X).unwrap(), "it is down");
        }
    }
}

#[test]
fn who_is_not_seen_any_more_stands_when_it_is_seen_again() {
    let cast = Cast::new();
    for graphs in [true, false] {
        let mut crowd = cast.crowd(graphs, config(20, 0, Terrain::FLAT));
        let view = near();
        assert!(!crowd.knock_down(CharacterId(2), Vec3::X).unwrap(), "it holds no slot yet");
        tick(&mut crowd, &view, DT);
        assert!(crowd.knock_down(CharacterId(2), Vec3::X).unwrap());
        let down = (0..40).map(|_| tick(&mut crowd, &view, DT).fallen).max();
        assert_eq!(down, Some(1));
        assert!(crowd.fallen(CharacterId(2)).is_some());
        let radius = crowd.character(CharacterId(3)).unwrap().radius;
        let hidden = (0..40).map(|_| tick(&mut crowd, &away(), DT).fallen).last();
        assert_eq!(hidden, Some(0), "it has given its slot back");
        let stats = tick(&mut crowd, &view, DT);
        assert_eq!((stats.fallen, stats.visible), (0, 20));
        assert!(crowd.fallen(CharacterId(2)).is_none());
        let state = crowd.character(CharacterId(2)).unwrap();
        assert!(
            state.radius < 2.0 * radius && (0..60).all(|_| tick(&mut crowd, &view, DT).fallen == 0)
        );
    }
}

#[test]
fn time_that_stands_still_or_is_jumped_over_is_survived() {
    let cast = Cast::new();
    let mut crowd = cast.crowd(true, config(20, 20, GROUNDS[1]));
    let view = near();
    let mut most = 0;
    for frame in 0..700 {
        let (dt, played) = match frame % 100 {
            50..60 => (0.0, true),
            90 => (-0.5, false),
            91 => (3.0, false),
            _ => (DT, true),
        };
        let input = TickInput {
            dt,
            view: &view,
            shadow_clip_from_world: None,
            played,
            palette_hash: false,
        };
        let stats = crowd.tick(&input, &PhaseTimes::default());
        most = most.max(stats.fallen);
        assert!(played || stats.fallen == 0, "a jump ends all falls");
        for bones in bones(&crowd, &cast).values() {
            assert!(bones.iter().all(Affine3A::is_finite), "frame {frame}");
        }
    }
    assert!(most > 3, "{most}");
}

#[test]
fn nobody_falls_while_a_run_is_recorded() {
    let cast = Cast::new();
    let mut crowd = cast.crowd(false, config(5, 5, Terrain::FLAT));
    crowd.record_frames();
    for _ in 0..600 {
        assert_eq!(tick(&mut crowd, &near(), DT).fallen, 0);
    }
    let refused = crowd.knock_down(CharacterId(0), Vec3::X).unwrap_err();
    assert!(matches!(refused, CrowdError::NoFalls), "{refused}");
    let nobody = crowd.knock_down(CharacterId(9), Vec3::X).unwrap_err();
    assert!(matches!(nobody, CrowdError::NoCharacter { id: 9, count: 5 }), "{nobody}");
}
