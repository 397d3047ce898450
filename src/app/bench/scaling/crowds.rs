//! A crowd of which so many are in view, and what its frames take.

use super::Row;
use crate::app::bench::median;
use crate::app::camera::{Camera, Scene};
use crate::app::characters::Cast;
use crate::app::cli::{CameraArg, PlaybackArg, RunConfig};
use crate::app::exit::Failure;
use crate::app::report::Rows;
use crate::app::{memory, placing, sample};
use crate::crowd::{Crowd, CrowdError, TickInput, TickStats};
use crate::index::CharacterId;
use crate::math::View;
use crate::profile::{Phase, PhaseTimes};
use glam::{Vec2, Vec3};
use std::time::Instant;

/// Seconds of a frame.
const STEP: f64 = 1.0 / 60.0;
/// Frames of a turn in which the crowd is seen, and as many in which it is not.
const FRAMES: usize = 30;
/// Frames before those: of the crowd as it is seen, until everybody has come in; without anybody in
/// view, until the grace time is over.
const SETTLE: [usize; 2] = [4, 20];
/// A crowd below this takes less memory than what else a program allocates.
const LARGE: u32 = 100_000;
/// How far a perspective view is asked to see, metres.
const FAR: f32 = 1e6;

/// Numbers of frames.
#[derive(Default)]
struct Frames {
    /// Means of each turn.
    ms: Vec<f64>,
    main: [Vec<f64>; Phase::COUNT],
    worker: [Vec<f64>; Phase::COUNT],
    visible: u64,
    evaluated: u64,
    count: u64,
}

/// A crowd that was placed, or why it was not.
pub(super) enum Place {
    Found(Box<Placed>),
    None(String),
}

/// A crowd and its two views.
pub(super) struct Placed {
    crowd: Crowd,
    seen: View,
    sky: View,
    times: PhaseTimes,
    resident: Option<f64>,
    frames: [Frames; 2],
    last: TickStats,
}

impl Placed {
    /// Places a crowd and finds a view of as many of them.
    ///
    /// # Errors
    /// A character that can't be animated.
    pub fn place(config: &RunConfig, cast: &Cast, visible: u32) -> Result<Place, Failure> {
        let height = cast.typical_stature();
        let before = memory::resident_bytes();
        let threads = config.threads.unwrap_or(1);
        let mut crowd = match placing::crowd(config, cast.clone(), threads, None, None) {
            Ok(crowd) => crowd,
            Err(Failure::Fault(error)) if does_not_fit(&error) => {
                return Ok(Place::None(error.to_string()));
            }
            Err(failure) => return Err(failure),
        };
        let (seen, sky) = (view_of(&crowd, visible, height), up());
        let times = PhaseTimes::default();
        // A first frame without anybody: what is placed is in memory, and no palette is.
        tick(&mut crowd, &sky, &times);
        let after = memory::resident_bytes().filter(|_| config.count >= LARGE);
        let grown = before.zip(after).map(|(before, after)| after.saturating_sub(before));
        let resident = grown.map(|bytes| bytes as f64 / f64::from(config.count));
        let last = tick(&mut crowd, &seen, &times);
        if last.waiting > 0 {
            let (all, waiting) = (last.visible, last.waiting);
            let why = format!("there is no memory for the palettes of {waiting} of {all} in view");
            return Ok(Place::None(why));
        }
        let frames = [Frames::default(), Frames::default()];
        Ok(Place::Found(Box::new(Self { crowd, seen, sky, times, resident, frames, last })))
    }

    /// Some frames of the crowd as it is seen, and as many of it hidden.
    pub fn turn(&mut self) {
        let views = [self.seen, self.sky];
        for ((view, settle), frames) in views.iter().zip(SETTLE).zip(&mut self.frames) {
            for _ in 0..settle {
                tick(&mut self.crowd, view, &self.times);
            }
            self.times.clear();
            let mut ns = 0;
            for _ in 0..FRAMES {
                let start = Instant::now();
                let stats = tick(&mut self.crowd, view, &self.times);
                ns += start.elapsed().as_nanos() as u64;
                frames.visible += u64::from(stats.visible);
                frames.evaluated += u64::from(stats.evaluated);
                frames.count += 1;
            }
            let mean_ms = |ns: u64| sample::milliseconds(ns) / FRAMES as f64;
            frames.ms.push(mean_ms(ns));
            for phase in Phase::ALL {
                frames.main[phase as usize].push(mean_ms(self.times.main_ns(phase)));
                frames.worker[phase as usize].push(mean_ms(self.times.worker_ns(phase)));
            }
        }
    }

    /// What came of all turns.
    pub fn row(self, playback: PlaybackArg) -> Row {
        let count = self.crowd.count();
        let [seen, hidden] = self.frames;
        let mean = |sum: u64| sum as f64 / seen.count.max(1) as f64;
        let (visible, evaluated) = (mean(seen.visible), mean(seen.evaluated));
        let (ms, hidden_ms) = (median(seen.ms), median(hidden.ms));
        let per_hidden = hidden_ms * 1e6 / f64::from(count);
        let unseen = (f64::from(count) - visible).max(0.0);
        Row {
            playback,
            count,
            visible,
            evaluated,
            ms,
            hidden_ms,
            ns_per_evaluated_character: (ms * 1e6 - per_hidden * unseen) / evaluated.max(1.0),
            ns_per_hidden_character: per_hidden,
            bytes_per_character: self.last.character_bytes as f64 / f64::from(count),
            resident_bytes_per_character: self.resident,
            main_ms: phases(seen.main),
            worker_ms: phases(seen.worker),
        }
    }
}

fn tick(crowd: &mut Crowd, view: &View, times: &PhaseTimes) -> TickStats {
    let input = TickInput {
        dt: STEP,
        played: true,
        view,
        shadow_clip_from_world: None,
        palette_hash: false,
    };
    crowd.tick(&input, times)
}

/// The phases that took any time.
fn phases(times: [Vec<f64>; Phase::COUNT]) -> Rows<f64> {
    let rows = Phase::ALL.into_iter().zip(times.map(median));
    Rows(rows.filter(|(_, ms)| *ms > 0.0).map(|(phase, ms)| (phase.name(), ms)).collect())
}

fn does_not_fit(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(CrowdError::DoesNotFit { .. }))
}

/// The sky straight up.
fn up() -> View {
    let eye = Vec3::Y * 1_000.0;
    View::look_at(eye, eye + Vec3::Y, 0.7, 1.0, (1280, 720))
}

/// A view of `visible` of a crowd: that in which such a crowd would be whole, cut off at the distance
/// within which so many are. With more of them the camera stands over the crowd, and sees a part of
/// many rows.
fn view_of(crowd: &Crowd, visible: u32, height: f32) -> View {
    let share = (f64::from(visible) / f64::from(crowd.count().max(1))).min(1.0).sqrt();
    let Vec2 { x, y } = crowd.half_extent() * share as f32;
    let scene = Scene { half_x: x, half_z: y, round: true, height };
    let size = (1280, 720);
    let View { eye, forward, fov_y, .. } =
        Camera::new(CameraArg::Far, scene, crate::motion::Terrain::FLAT).view(size);
    let to = |far: f32| View::look_at(eye, eye + forward, fov_y, far, size);
    let frustum = to(FAR).frustum();
    // How far a view must reach to have somebody in it.
    let mut reaches: Vec<f32> = (0..crowd.count())
        .filter_map(|id| crowd.character(CharacterId(id)))
        .filter(|c| frustum.sphere_may_be_visible(c.center, c.radius))
        .map(|c| forward.dot(c.center - eye) - c.radius)
        .collect();
    let last = (visible as usize).saturating_sub(1);
    if last >= reaches.len() {
        return to(FAR);
    }
    let (_, far, _) = reaches.select_nth_unstable_by(last, f32::total_cmp);
    to(*far)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::bench::frames::{cast, plain_run};
    use crate::app::cli::Mode;

    fn place(count: u32, visible: u32) -> Box<Placed> {
        let config = plain_run(&["quadruped".into()]).unwrap();
        let config = RunConfig {
            mode: Mode::NoRender,
            count,
            threads: Some(1),
            update_rate: false,
            ..config
        };
        match Placed::place(&config, &cast(&config).unwrap(), visible).unwrap() {
            Place::Found(placed) => placed,
            Place::None(why) => panic!("{why}"),
        }
    }

    #[test]
    fn a_view_has_as_many_in_it_as_were_asked_for() {
        for (count, visible) in [(3_000, 500), (3_000, 2_000), (500, 500), (200, 500)] {
            let placed = place(count, visible);
            let wanted = count.min(visible);
            assert!(placed.last.visible.abs_diff(wanted) <= 8, "{count}: {}", placed.last.visible);
        }
    }

    #[test]
    fn hidden_frames_evaluate_nobody_and_seen_ones_whoever_is_in_view() {
        let mut placed = place(1_000, 200);
        placed.turn();
        placed.turn();
        let [seen, hidden] = &placed.frames;
        assert_eq!((hidden.visible, hidden.evaluated), (0, 0));
        assert_eq!((seen.count, seen.ms.len()), (2 * FRAMES as u64, 2));
        let row = placed.row(PlaybackArg::Simple);
        assert!(row.evaluated >= row.visible && row.visible > 150.0, "{row:?}");
        let whole = row.ns_per_evaluated_character * row.evaluated
            + row.ns_per_hidden_character * (1_000.0 - row.visible);
        assert!((whole * 1e-6 - row.ms).abs() < 1e-9 * row.ms.max(1.0), "{row:?}");
    }

    #[test]
    fn who_does_not_fit_is_told_apart_from_other_faults() {
        let fault = CrowdError::DoesNotFit { count: 2, needed: 9, limit: 5, fits: 1 };
        assert!(does_not_fit(&fault.into()));
        assert!(!does_not_fit(&CrowdError::NoThreads.into()));
    }
}
