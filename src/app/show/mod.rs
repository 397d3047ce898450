//! One frame of a run, the same for a window, for a texture and for no picture at all.

mod arrivals;
mod drawing;
mod looking;
mod picking;
mod reloading;
mod restage;
mod switching;
mod telling;
mod wishes;

use super::alloc;
use super::audit::Audit;
use super::camera::{Camera, Steering};
use super::characters::Cast;
use super::cli::{Mode, RunConfig, TimeStep};
use super::clock::Clock;
use super::cpu;
use super::exit::Failure;
use super::memory;
use super::overlay::{Facts, Hud};
use super::picked::Picked;
use super::picture::{Picture, Shot};
use super::placing;
use super::playing::Reload;
use super::replay::{Player, Recording, checksums};
use super::report::Recorder;
use super::revival::Revival;
use super::sample::{self, Sample};
use super::scenario;
use super::shading::Shading;
use super::sketch::Sketch;
use super::sound::Sound;
use super::watch::Inspector;
use crate::crowd::{Crowd, CrowdError, NotifyLog, TickInput, TickStats};
use crate::index::CharacterId;
use crate::math::{Bounds, View};
use crate::profile::{self, PhaseTimes, Plot, Timeline};
use crate::render::{FrameTarget, MESH_LEVELS, RenderStats};
use arrivals::Arrivals;
use glam::{Vec2, Vec3, Vec3Swizzles};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A crowd, its camera and its clock, and what draws and measures them.
pub struct Show {
    config: RunConfig,
    crowd: Crowd,
    cast: Cast,
    picture: Option<Picture>,
    revival: Revival,
    /// The world's clock.
    pub clock: Clock,
    /// Where the picture is seen from.
    pub camera: Camera,
    /// What is painted over the picture.
    pub hud: Hud,
    shot: Option<Shot>,
    picked: Picked,
    sketch: Sketch,
    /// What the crowd is culled for, where that is not the camera's view.
    frozen: Option<View>,
    timeline: Option<Arc<Timeline>>,
    arrivals: Arrivals,
    /// Instances of the last frame by their meshes' level of detail.
    levels: [u32; MESH_LEVELS],
    recording: Option<Recording>,
    replay: Option<Player>,
    reload: Option<Reload>,
    shading: Option<Shading>,
    sound: Option<Sound>,
    notes: Vec<String>,
    times: PhaseTimes,
    recorder: Recorder,
    audit: Audit,
    inspector: Inspector,
    last_start: Option<Instant>,
    display_wait: Duration,
    hash_ns: u64,
    hash: Option<u64>,
    frame: u64,
    threads: usize,
    /// Flags that are not as the run began.
    switched: Vec<&'static str>,
}

impl Show {
    /// Places the crowd that the configuration asks for.
    ///
    /// # Errors
    /// When it does not fit into memory, or a character can't be animated.
    pub fn new(config: RunConfig, cast: Cast, picture: Option<Picture>) -> Result<Self, Failure> {
        let _span = tracing::info_span!("place crowd").entered();
        let threads = config.threads.unwrap_or_else(cpu::threads);
        let play = |path: &PathBuf| Player::new(path, &cast);
        let replay = config.replay.as_ref().map(play).transpose()?;
        let checksums = config.record.as_ref().map_or(Vec::new(), |_| checksums(&cast));
        let mut crowd =
            placing::crowd(&config, cast.clone(), threads, picture.as_ref(), replay.as_ref())?;
        if let Some(id) = config.pick.filter(|id| *id >= crowd.capacity()) {
            return Err(CrowdError::NoCharacter { id, count: crowd.capacity() }.into());
        }
        crowd.add_notify_sink(Box::new(NotifyLog));
        let sound = if config.sound { Sound::open(&mut crowd) } else { None };
        replay.as_ref().map_or(Ok(()), |player| player.begin(&mut crowd))?;
        let record = |path: &PathBuf| Recording::begin(path, &config, &checksums, &mut crowd);
        let recording = config.record.as_ref().map(record).transpose()?;
        if let Some(scenario) = &config.scenario {
            scenario::stage(scenario, &mut crowd)?;
        }
        let scene = restage::scene(&config, &crowd, &cast);
        let hud = Hud::new(config.overlay, picture.as_ref().map(|p| (&p.gpu, p.formats().overlay)));
        let mut show = Self {
            clock: Clock::new(config.camera_step()),
            camera: Camera::new(config.camera, scene, config.terrain()),
            hud,
            crowd,
            cast,
            picture,
            revival: Revival::default(),
            shot: None,
            picked: Picked::new(config.pick.map(CharacterId)),
            sketch: Sketch::default(),
            frozen: None,
            timeline: None,
            arrivals: Arrivals::default(),
            levels: [0; MESH_LEVELS],
            recording,
            replay,
            reload: Reload::new(&config),
            shading: Shading::new(&config),
            sound,
            notes: Vec::new(),
            times: PhaseTimes::default(),
            recorder: Recorder::default(),
            audit: Audit::default(),
            inspector: Inspector::new(&config),
            last_start: None,
            display_wait: Duration::ZERO,
            hash_ns: 0,
            hash: None,
            frame: 0,
            threads,
            switched: Vec::new(),
            config,
        };
        show.color_by(show.config.color_by);
        Ok(show)
    }

    /// What the run was asked for.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The characters.
    pub fn crowd(&self) -> &Crowd {
        &self.crowd
    }

    /// The device and what draws with it; `None` without a GPU.
    pub fn picture(&self) -> Option<&Picture> {
        self.picture.as_ref()
    }

    /// What the last frame was seen from; `None` before the first.
    pub fn shot(&self) -> Option<&Shot> {
        self.shot.as_ref()
    }

    /// The last frame's phases.
    pub fn times(&self) -> &PhaseTimes {
        &self.times
    }

    /// True when every frame that was asked for has been measured.
    pub fn is_over(&self) -> bool {
        self.config.frames.is_some_and(|frames| self.recorder.measured() >= frames)
    }

    /// Tells that the window waited for the display since the last frame.
    pub fn waited(&mut self, time: Duration) {
        self.display_wait += time;
    }

    /// Whoever is at a point of the picture (pixels from its upper left corner) falls, away from the
    /// camera.
    pub fn knock_down(&mut self, at: (f64, f64)) {
        /// Metres a second.
        const PUSH: f32 = 1.8;
        let (Some(id), Some(Shot { view, .. })) = (self.under(at), &self.shot) else { return };
        let direction = view.direction(at.0 as f32, at.1 as f32);
        let push = direction.with_y(0.0).normalize_or_zero() * PUSH;
        if let Err(refusal) = self.crowd.knock_down(id, push) {
            self.hud.say(refusal.to_string());
        }
    }

    /// One frame: camera, crowd, picture, numbers.
    ///
    /// `input` is what egui should know of keys and mouse.
    ///
    /// # Errors
    /// Of the GPU.
    pub fn frame(
        &mut self,
        target: Option<FrameTarget<'_>>,
        steering: &Steering,
        input: egui::RawInput,
    ) -> Result<Option<egui::PlatformOutput>, Failure> {
        let start = Instant::now();
        let interval = self.last_start.replace(start).map(|last| start.duration_since(last));
        self.grant_all();
        self.take_arrivals();
        self.arm_timeline();
        let time = self.clock.tick(start);
        self.camera.follow(self.lone());
        self.attend(steering)?;
        self.camera.advance(time.camera as f32, steering);
        self.times.clear();

        let size = target.map_or((self.config.size.width, self.config.size.height), |t| t.size);
        let view = self.camera.view(size);
        let focus = self.focus();
        let culled = self.frozen.unwrap_or(view);
        let shadow = self.picture.as_ref().and_then(|p| p.shadow_clip_from_world(&culled, &focus));
        let shot = Shot { view, culled, shadow };
        if self.frame == self.config.warmup {
            self.crowd.clear_notify_counts();
        }
        self.reload(start);
        self.inspector.arm(&mut self.crowd)?;
        if let Some(player) = self.replay.as_mut().filter(|_| !self.clock.paused()) {
            player.next(&mut self.crowd)?;
        }
        let before = alloc::allocations();
        let tick = self.crowd.tick(
            &TickInput {
                dt: time.world,
                played: !time.jumped,
                view: &shot.culled,
                shadow_clip_from_world: shot.shadow,
                palette_hash: self.hashes(),
            },
            &self.times,
        );
        let allocations = alloc::allocations().zip(before).map(|(after, before)| after - before);
        self.replay.as_ref().map_or(Ok(()), |player| player.judge(&tick))?;
        self.hash = tick.palette_hash;
        self.inspector.look(&self.crowd);
        if let Some(sound) = &mut self.sound {
            sound.play(&self.crowd, &shot.view);
        }
        if let Some(recording) = &mut self.recording {
            recording.frame(self.crowd.recorded_frame());
        }

        self.shot = Some(shot);
        self.sketch.clear();
        self.sketch_frozen();
        self.look_at_picked(time.world != 0.0);
        let platform = self.lay_out(size, input);
        let render = match (&mut self.picture, target) {
            (Some(picture), Some(target)) => {
                let overlay = self.hud.painter();
                let crowd = (self.crowd.draw(), self.crowd.spare_workers());
                let lines = self.sketch.lines();
                let drawn = picture.draw(target, &shot, crowd, lines, overlay, &self.times);
                self.revival.heed(drawn)?
            }
            _ => None,
        };
        plots(&tick, render.as_ref());
        profile::frame_mark();

        let work = start.elapsed();
        self.show_timeline(work);
        let frame = if self.config.mode == Mode::Window { interval.unwrap_or(work) } else { work };
        let (main_ms, worker_ms) = sample::phases(&self.times);
        let frame_ms = frame.as_secs_f64() * 1e3 - sample::milliseconds(self.last_hash_ns(&tick));
        let display_ms = std::mem::take(&mut self.display_wait).as_secs_f64() * 1e3;
        let sample = Sample { frame_ms, display_ms, main_ms, worker_ms, tick, render, allocations };
        self.measure(sample);
        Ok(platform)
    }

    /// Waits for the GPU and takes the numbers that were still on their way.
    pub fn settle(&mut self) {
        if let Some(picture) = &mut self.picture {
            let late = picture.finish();
            self.recorder.add_gpu(&late);
        }
    }

    /// A hash of a run that goes by the clock could never be compared with another's.
    fn hashes(&self) -> bool {
        let timed = self.config.budget_ms.is_some();
        let comparable = matches!(self.config.time_step, TimeStep::Fixed(_)) && !timed;
        let replaced = self.reload.as_ref().is_some_and(Reload::replaced);
        comparable && !replaced && self.switched.is_empty() && self.config.report.is_some()
    }

    /// Where the only character is, if there is only one.
    fn lone(&self) -> Option<Vec2> {
        let mut here = self.crowd.characters();
        let only = here.next().filter(|_| here.next().is_none())?;
        self.crowd.character(only.id()).map(|character| character.position.xz())
    }

    /// All that casts shadows.
    fn focus(&self) -> Bounds {
        let (half, reach) = (self.crowd.half_extent(), 2.0 * self.crowd.largest_radius());
        let corner = Vec3::new(half.x, self.config.terrain().max_height(), half.y);
        Bounds::of_points([-corner, corner + Vec3::Y * reach].into_iter())
    }

    /// The hash whose time is part of this frame's: a window's frame began with the last one's.
    fn last_hash_ns(&mut self, tick: &TickStats) -> u64 {
        let before = std::mem::replace(&mut self.hash_ns, tick.hash_ns);
        if self.config.mode == Mode::Window { before } else { tick.hash_ns }
    }

    fn lay_out(&mut self, size: (u32, u32), input: egui::RawInput) -> Option<egui::PlatformOutput> {
        let (mut colors, mut flags) = (Vec::new(), String::new());
        if self.hud.is_shown() {
            (colors, flags) = (self.legend(), self.switches().flags());
        }
        let facts = Facts {
            adapter: self.picture.as_ref().map(|p| p.gpu.summary()),
            config: &self.config,
            flags,
            threads: self.threads,
            camera: self.camera.kind(),
            paused: self.clock.paused(),
            speed: self.clock.speed(),
            frozen: self.frozen.is_some(),
            colors,
            members: &self.cast.members,
            resident_bytes: memory::resident_bytes,
            picked: &self.picked,
            crowd: &self.crowd,
        };
        self.hud.lay_out(size, input, &facts)
    }

    fn measure(&mut self, sample: Sample) {
        if let Some(render) = &sample.render {
            self.levels = render.by_level;
            self.recorder.add_gpu(&render.gpu_passes);
        }
        self.hud.add(&sample);
        if self.frame < self.config.warmup {
            self.recorder.warm_up();
        } else {
            self.recorder.add(&sample);
            self.audit.add(&sample.tick);
        }
        self.frame += 1;
    }
}

fn plots(tick: &TickStats, render: Option<&RenderStats>) {
    profile::plot(Plot::Evaluated, f64::from(tick.evaluated));
    profile::plot(Plot::Visible, f64::from(tick.visible));
    profile::plot(Plot::Tasks, tick.tasks.recorded as f64);
    if let Some(render) = render {
        profile::plot(Plot::UploadBytes, render.upload_bytes as f64);
    }
}

#[cfg(test)]
mod tests;
