//! Budgets: who is downgraded when evaluation takes too long, and that nobody is when it does not.

use super::walker::walker;
use super::{DT, config, rig, tick};
use glam::Vec3;
use throng::crowd::{Crowd, CrowdConfig, Gates, Layout, TickStats};
use throng::math::View;

const COUNT: u32 = 2_000;

fn crowd(budget_ms: Option<f32>, gates: Gates) -> Crowd {
    let config = CrowdConfig { budget_ms, gates, ..config(COUNT, Layout::Grid) };
    Crowd::new(config, vec![rig::person(), walker()]).unwrap()
}

/// Everybody, from one end of the crowd: some are near.
fn along(crowd: &Crowd) -> View {
    let eye = Vec3::new(0.0, 2.0, crowd.half_extent().y + 6.0);
    View::look_at(eye, Vec3::new(0.0, 0.0, -20.0), 1.6, 5_000.0, (640, 160))
}

fn run(crowd: &mut Crowd, frames: usize) -> Vec<TickStats> {
    let view = along(crowd);
    (0..frames).map(|_| tick(crowd, &view, DT)).collect()
}

#[test]
fn a_budget_that_nothing_fits_downgrades_all_but_the_nearest_tenth_and_starves_nobody() {
    for gates in [Gates::OFF, Gates::default()] {
        let mut crowd = crowd(Some(1e-6), gates);
        run(&mut crowd, 60);
        for stats in run(&mut crowd, 60) {
            let budget = stats.budget.unwrap();
            let (full, slowest) = (stats.by_rate[0], stats.by_rate[3]);
            assert!(stats.visible > 1_000, "{} visible", stats.visible);
            assert!(full * 10 >= stats.leased, "{full} of {} at full rate", stats.leased);
            assert!(full * 4 <= stats.leased && full + slowest == stats.leased, "{stats:?}");
            // The nearest, as whole as they would be.
            assert!(stats.lod_cut <= stats.evaluated - full, "{stats:?}");
            assert!(stats.longest_gap <= 4, "{}", stats.longest_gap);
            // By their own distances many are slow already.
            assert!(budget.quality() < if gates == Gates::OFF { 0.5 } else { 0.9 });
            assert!(gates != Gates::OFF || budget.slower + full >= stats.leased * 8 / 10);
            let planned = budget.planned / stats.evaluated as f32;
            assert!((0.8..1.25).contains(&planned), "{planned} of what was planned");
        }
    }
}

#[test]
fn a_budget_that_all_fits_changes_nothing() {
    let mut with = crowd(Some(60_000.0), Gates::default());
    let mut without = crowd(None, Gates::default());
    let (with, without) = (run(&mut with, 120), run(&mut without, 120));
    for (with, without) in with.iter().zip(&without) {
        assert_eq!((with.palette_hash, with.evaluated), (without.palette_hash, without.evaluated));
        let budget = with.budget.unwrap();
        assert_eq!((budget.quality(), budget.slower, budget.shorter), (1.0, 0, 0));
        assert_eq!(without.budget, None);
    }
}

#[test]
fn a_budget_of_nothing_is_refused() {
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let config = CrowdConfig { budget_ms: Some(bad), ..config(3, Layout::Grid) };
        let error = Crowd::new(config, vec![rig::person()]).unwrap_err().to_string();
        assert!(error.contains("the budget in milliseconds"), "{error}");
    }
}
