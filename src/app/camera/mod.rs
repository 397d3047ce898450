//! Where the picture is seen from: presets around the crowd, and a camera that flies.

pub mod chase;
pub mod fly;
pub mod presets;

pub use chase::Chase;
pub use fly::{Fly, Steering};

use super::cli::CameraArg;
use crate::math::View;
use crate::motion::Terrain;
use glam::{Vec2, Vec3};
use presets::{Orbit, Shot};

/// What a camera must know of the crowd: where it stands and how tall it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scene {
    /// Half of the ground rectangle that the crowd stands on, along x, metres.
    pub half_x: f32,
    /// Half of that rectangle along z, metres.
    pub half_z: f32,
    /// The crowd fills the rectangle's inscribed ellipse only.
    pub round: bool,
    /// Height of a typical character, metres; above zero.
    pub height: f32,
}

impl Scene {
    /// Distance from the middle of the crowd to its edge in direction (sin a, cos a), metres.
    pub fn edge(&self, azimuth: f32) -> f32 {
        let (sin, cos) = azimuth.sin_cos();
        let (x, z) = (sin.abs() / self.half_x.max(1e-3), cos.abs() / self.half_z.max(1e-3));
        if self.round { 1.0 / x.hypot(z) } else { 1.0 / x.max(z) }
    }

    /// Radius of the circle around the whole crowd, metres.
    pub fn radius(&self) -> f32 {
        if self.round { self.half_x.max(self.half_z) } else { self.half_x.hypot(self.half_z) }
    }
}

/// The camera of a run: one of the presets, or free.
#[derive(Clone, Debug)]
pub struct Camera {
    kind: CameraArg,
    scene: Scene,
    terrain: Terrain,
    /// Mean height of the crowd's ground, and of that in the middle of its first row.
    levels: [f32; 2],
    seconds: f64,
    orbit: Orbit,
    fly: Fly,
    /// While it goes along with somebody.
    chase: Option<Chase>,
    zoom: f32,
    lone: Lone,
}

/// The only character of a crowd, on the ground: metres along x and z.
#[derive(Clone, Copy, Debug, Default)]
struct Lone {
    /// Where the first one was when it was first seen.
    begun: Option<Vec2>,
    /// How far from there the present one is.
    away: Vec2,
    /// How far the camera has followed.
    followed: Vec2,
}

impl Camera {
    const ZOOM_LIMIT: f32 = 8.0;
    /// Share of a second that it takes to follow a lone character: it may start and stop, and the
    /// picture should not.
    const FOLLOWING: f32 = 0.25;

    /// A camera around `scene`, which stands on `terrain`, at its start.
    pub fn new(kind: CameraArg, scene: Scene, terrain: Terrain) -> Self {
        let orbit = Orbit::new(&scene);
        let reach = Vec2::new(scene.half_x, scene.half_z).max(Vec2::splat(0.5 * scene.height));
        let row = Vec2::new(0.0, scene.half_z);
        let few = Vec2::splat(0.5 * scene.height);
        let levels = [(Vec2::ZERO, reach), (row, few)]
            .map(|(middle, half)| mean_height(terrain, middle, half));
        let mut camera = Self {
            kind: CameraArg::Orbit,
            scene,
            terrain,
            levels,
            seconds: 0.0,
            orbit,
            fly: Fly::from_shot(&orbit.shot(&scene, 1.0), scene.height, terrain),
            chase: None,
            zoom: 1.0,
            lone: Lone::default(),
        };
        camera.set_kind(kind);
        camera
    }

    /// Which camera this is now.
    pub fn kind(&self) -> CameraArg {
        self.kind
    }

    /// Changes to another camera; flying starts from wherever the present one is.
    pub fn set_kind(&mut self, kind: CameraArg) {
        if kind == CameraArg::Fly {
            self.fly = Fly::from_shot(&self.shot(16.0 / 9.0), self.scene.height, self.terrain);
        }
        self.kind = kind;
        self.chase = None;
        self.zoom = 1.0;
    }

    /// Another crowd: presets are around it from now on, and who flies stays where it is.
    pub fn set_scene(&mut self, scene: Scene) {
        let new = Self::new(self.kind, scene, self.terrain);
        let fly = if self.kind == CameraArg::Fly { self.fly } else { new.fly };
        *self = Self { fly, chase: self.chase, ..new };
    }

    /// Goes along with somebody whose middle is at `goal` (world metres, and its radius), setting
    /// out from where the camera is. `None`: no longer; it flies on from where it is.
    pub fn chase(&mut self, goal: Option<(Vec3, f32)>) {
        match (&mut self.chase, goal) {
            (Some(chase), Some(goal)) => chase.lead(goal),
            (None, Some(goal)) => {
                self.chase = Some(Chase::from_shot(&self.shot(16.0 / 9.0), goal, self.terrain));
            }
            (Some(_), None) => self.set_kind(CameraArg::Fly),
            (None, None) => {}
        }
    }

    /// It goes along with somebody.
    pub fn is_chasing(&self) -> bool {
        self.chase.is_some()
    }

    /// Tells where the only character of a crowd is, world metres along x and z: the camera before
    /// the first row goes along with it, from where it was told first. `None` where there are
    /// several, or none: it goes back to where the first row is.
    pub fn follow(&mut self, lone: Option<Vec2>) {
        let begun = self.lone.begun.or(lone);
        let away = lone.zip(begun).map_or(Vec2::ZERO, |(here, begun)| here - begun);
        self.lone = Lone { begun, away, ..self.lone };
    }

    /// Moves on by `dt` seconds of wall time and by what the user did.
    ///
    /// Steering a preset that can't be steered takes off from it: the camera flies.
    pub fn advance(&mut self, dt: f32, steering: &Steering) {
        self.seconds += f64::from(dt);
        let left = (-dt.max(0.0) / Self::FOLLOWING).exp();
        self.lone.followed = self.lone.away + (self.lone.followed - self.lone.away) * left;
        if let Some(chase) = &mut self.chase {
            chase.advance(dt, steering);
            if steering.moves() {
                self.set_kind(CameraArg::Fly);
            }
            return;
        }
        self.zoom = (self.zoom * (-0.12 * steering.wheel).exp())
            .clamp(1.0 / Self::ZOOM_LIMIT, Self::ZOOM_LIMIT);
        let steered =
            steering.moves() || (steering.looks() && !matches!(self.kind, CameraArg::Orbit));
        if steered && self.kind != CameraArg::Fly {
            self.set_kind(CameraArg::Fly);
        }
        match self.kind {
            CameraArg::Fly => self.fly.advance(dt, steering),
            CameraArg::Orbit => self.orbit.advance(dt, steering),
            CameraArg::Near | CameraArg::Far | CameraArg::Path => {}
        }
    }

    fn shot(&self, aspect: f32) -> Shot {
        if let Some(chase) = &self.chase {
            return chase.shot();
        }
        let (scene, [level, first_row]) = (&self.scene, self.levels);
        match self.kind {
            CameraArg::Orbit => self.grounded(self.orbit.shot(scene, self.zoom), level),
            CameraArg::Fly => self.fly.shot(),
            CameraArg::Near => {
                let Shot { eye, target, fov_y } = presets::near(scene, self.zoom);
                let along = Vec3::new(self.lone.followed.x, 0.0, self.lone.followed.y);
                let shot = Shot { eye: eye + along, target: target + along, fov_y };
                self.grounded(shot, first_row)
            }
            CameraArg::Far => self.grounded(presets::far(scene, self.zoom, aspect), level),
            CameraArg::Path => self.grounded(presets::path(scene, self.seconds), level),
        }
    }

    /// A preset's shot over ground of this mean height: lifted as a whole, so that a camera on its
    /// way does not bob with every bump, and out of the hill that it would be in.
    fn grounded(&self, mut shot: Shot, level: f32) -> Shot {
        if self.terrain.is_flat() {
            return shot;
        }
        shot.eye.y += level;
        shot.target.y += level;
        let ground = self.terrain.height(Vec2::new(shot.eye.x, shot.eye.z));
        shot.eye.y = shot.eye.y.max(ground + 0.2 * self.scene.height);
        shot
    }

    /// What is seen now, in a picture of `size` pixels.
    pub fn view(&self, size: (u32, u32)) -> View {
        let shot = self.shot(size.0.max(1) as f32 / size.1.max(1) as f32);
        let reach = self.scene.radius() + shot.eye.length();
        let far = (reach * 2.0).max(self.scene.height * 200.0);
        View::look_at(shot.eye, shot.target, shot.fov_y, far, size)
    }
}

/// Mean height of the ground within `half` metres of a point, along each axis.
fn mean_height(terrain: Terrain, middle: Vec2, half: Vec2) -> f32 {
    const SIDE: u32 = 16;
    let along = |i: u32| (i as f32 + 0.5) / SIDE as f32 * 2.0 - 1.0;
    let point = |i: u32| middle + half * Vec2::new(along(i / SIDE), along(i % SIDE));
    let sum: f32 = (0..SIDE * SIDE).map(|i| terrain.height(point(i))).sum();
    sum / (SIDE * SIDE) as f32
}

/// The unit vector on the ground in direction `azimuth`: 0 is +z, a quarter turn +x.
fn heading(azimuth: f32) -> Vec3 {
    let (sin, cos) = azimuth.sin_cos();
    Vec3::new(sin, 0.0, cos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenes() -> Vec<Scene> {
        let scene = |half_x, half_z, round, height| Scene { half_x, half_z, round, height };
        vec![
            scene(0.0, 0.0, false, 1.8),
            scene(0.0, 0.0, true, 0.3),
            scene(60.0, 60.0, true, 1.8),
            scene(400.0, 6.0, false, 1.8),
            scene(300.0, 300.0, false, 60.0),
        ]
    }

    const KINDS: [CameraArg; 5] =
        [CameraArg::Orbit, CameraArg::Fly, CameraArg::Near, CameraArg::Far, CameraArg::Path];

    #[test]
    fn every_camera_of_every_scene_stands_above_ground_and_sees_some_of_the_crowd() {
        let grounds = [Terrain::FLAT, Terrain::uneven(1), Terrain::uneven(2)];
        for (scene, terrain) in scenes().into_iter().flat_map(|s| grounds.map(|g| (s, g))) {
            for kind in KINDS {
                let mut camera = Camera::new(kind, scene, terrain);
                for _ in 0..200 {
                    let view = camera.view((640, 360));
                    let ground = terrain.height(Vec2::new(view.eye.x, view.eye.z));
                    let above = view.eye.y - ground;
                    assert!(view.eye.is_finite() && above > 0.0, "{scene:?} {kind:?}: {above}");
                    assert!(view.clip_from_world().is_finite(), "{scene:?} {kind:?}");
                    let frustum = view.frustum();
                    let h = scene.height;
                    let steps = |half: f32| (2.0 * half / h).ceil().clamp(1.0, 500.0) as u32;
                    let at = |i: u32, n: u32, half: f32| (i as f32 / n as f32 * 2.0 - 1.0) * half;
                    let (nx, nz) = (steps(scene.half_x), steps(scene.half_z));
                    let seen = (0..=nx).any(|i| {
                        (0..=nz).any(|j| {
                            let (x, z) = (at(i, nx, scene.half_x), at(j, nz, scene.half_z));
                            frustum.sphere_may_be_visible(Vec3::new(x, h * 0.5, z), h * 0.5)
                        })
                    });
                    assert!(seen, "{scene:?} {kind:?} at {}", view.eye);
                    camera.advance(0.5, &Steering::default());
                }
            }
        }
    }

    #[test]
    fn the_far_camera_has_the_whole_crowd_in_view() {
        for scene in scenes() {
            let view = Camera::new(CameraArg::Far, scene, Terrain::FLAT).view((1280, 720));
            for corner in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
                let reach = if scene.round { std::f32::consts::FRAC_1_SQRT_2 } else { 1.0 };
                let (x, z) = (corner.0 * scene.half_x * reach, corner.1 * scene.half_z * reach);
                let clip = view.clip_from_world() * Vec3::new(x, 0.0, z).extend(1.0);
                let on_screen = clip.x.abs() <= clip.w && clip.y.abs() <= clip.w;
                assert!(on_screen && clip.z <= clip.w, "{scene:?} {corner:?} {clip}");
            }
        }
    }

    #[test]
    fn a_lone_character_is_in_the_picture_from_head_to_foot() {
        for scene in &scenes()[..2] {
            for kind in [CameraArg::Orbit, CameraArg::Near, CameraArg::Far] {
                let view = Camera::new(kind, *scene, Terrain::FLAT).view((640, 360));
                for height in [0.0, scene.height] {
                    let seen = view.clip_from_world().project_point3(Vec3::Y * height);
                    assert!(seen.x.abs() < 0.3 && seen.y.abs() < 0.95, "{kind:?} {height}: {seen}");
                }
            }
        }
    }

    #[test]
    fn a_lone_character_that_walks_away_stays_in_the_picture_from_head_to_foot() {
        let scene = scenes()[0];
        let mut camera = Camera::new(CameraArg::Near, scene, Terrain::FLAT);
        let before = camera.view((640, 360));
        // A step to the side, then away at a run, and back.
        let begun = Vec2::new(0.1, -0.2);
        let mut here = begun;
        for frame in 0..600 {
            let at = |far: f32| begun + Vec2::new(0.3, far);
            let seconds = frame as f32 / 60.0;
            here = at(if seconds < 5.0 { -2.0 * seconds } else { -20.0 + 2.0 * seconds });
            camera.follow(Some(if frame == 0 { begun } else { here }));
            camera.advance(1.0 / 60.0, &Steering::default());
            let view = camera.view((640, 360));
            for height in [0.0, scene.height] {
                let point = Vec3::new(here.x, height, here.y);
                let seen = view.clip_from_world().project_point3(point);
                assert!(seen.x.abs() < 0.9 && seen.y.abs() < 1.0, "{frame} {height}: {seen}");
            }
        }
        assert!(here.distance(begun) < 1.0);
        // With others, or nobody, there it stands where it stood.
        camera.follow(None);
        (0..600).for_each(|_| camera.advance(1.0 / 60.0, &Steering::default()));
        assert!(camera.view((640, 360)).eye.abs_diff_eq(before.eye, 1e-3));
    }

    #[test]
    fn a_lone_character_on_a_hill_is_framed_as_on_level_ground() {
        let scene = scenes()[0];
        for kind in [CameraArg::Orbit, CameraArg::Near, CameraArg::Far] {
            for seed in 0..8 {
                let terrain = Terrain::uneven(seed);
                let on = |ground| Camera::new(kind, scene, ground).view((640, 360));
                let (level, hill) = (on(Terrain::FLAT), on(terrain));
                let head = Vec3::Y * scene.height;
                let lifted = head + Vec3::Y * terrain.height(Vec2::ZERO);
                let (a, b) = (level.clip_from_world(), hill.clip_from_world());
                let apart = a.project_point3(head) - b.project_point3(lifted);
                assert!(apart.truncate().length() < 0.08, "{kind:?} {seed}: {apart}");
            }
        }
    }

    #[test]
    fn the_edge_of_a_street_is_near_across_and_far_along() {
        let street = Scene { half_x: 100.0, half_z: 5.0, round: false, height: 1.8 };
        assert!((street.edge(0.0) - 5.0).abs() < 1e-4);
        assert!((street.edge(std::f32::consts::FRAC_PI_2) - 100.0).abs() < 1e-3);
    }

    #[test]
    fn steering_a_preset_takes_off_from_where_it_is() {
        let scene = scenes()[2];
        let mut camera = Camera::new(CameraArg::Near, scene, Terrain::uneven(1));
        let before = camera.view((100, 100));
        camera.advance(0.0, &Steering { forward: 1.0, ..Steering::default() });
        assert_eq!(camera.kind(), CameraArg::Fly);
        let after = camera.view((100, 100));
        assert!(before.eye.abs_diff_eq(after.eye, 1e-4));
        assert!(before.forward.abs_diff_eq(after.forward, 1e-4));
        camera.advance(1.0, &Steering { forward: 1.0, ..Steering::default() });
        let moved = camera.view((100, 100)).eye - after.eye;
        assert!(moved.normalize().dot(after.forward) > 0.999, "{moved}");
    }
}
