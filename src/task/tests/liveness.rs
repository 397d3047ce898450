//! How many buffers a list has in use at once, from its dependencies alone.

use super::*;

#[test]
fn peak_buffers_are_what_liveness_asks_for() {
    for shape in [Shape::plain(13), Shape::all(13)[3]] {
        let c = character(shape, 8);
        let masks = table(13);
        let mut state = PoseState::new(2, 2);
        let mut worker = Worker::new(WorkerOptions::default());
        let mut peaks = [0; 8];
        for list in &mut drawn(&c, 21, 600) {
            let mut palette = vec![Mat3x4::IDENTITY; c.rig.palette_len()];
            let mut context =
                Context { masks: &masks, state: &mut state, capture: None, kept: None };
            let mut batch = worker.batch();
            batch.execute_with(&c.rig, list, &mut context, &mut palette).unwrap();
            batch.finish();
            let peak = worker.take_stats().buffers_peak as usize;
            assert_eq!(peak, liveness(list), "{list:?}");
            peaks[peak.min(7)] += 1;
        }
        // Recipes of several depths were drawn.
        assert!(peaks[1..4].iter().all(|&n| n > 10), "{peaks:?}");
    }
}

/// The most results that are alive at once, from each one's task to its last reader's. A reader's
/// own result lives beside what it reads, unless it is the last to read its first dependency.
fn liveness(list: &TaskList) -> usize {
    let reached = |at: usize| list.marks()[at].reachable;
    let reads = |at: usize| list.tasks()[at].dependencies().into_iter().filter_map(TaskIndex::get);
    let readers =
        |at: usize| (0..list.len()).filter(move |r| reached(*r) && reads(*r).any(|d| d == at));
    let output = list.output().get();
    // The output is read when all is over.
    let last_reader =
        |at: usize| if output == Some(at) { list.len() } else { readers(at).max().unwrap_or(at) };
    let mut peak = 0;
    for now in (0..list.len()).filter(|at| reached(*at)) {
        let alive = (0..now).filter(|at| reached(*at) && last_reader(*at) >= now).count();
        let first = list.tasks()[now].dependencies()[0].get();
        let inherits = first.is_some_and(|first| last_reader(first) == now);
        peak = peak.max(alive + usize::from(!inherits));
    }
    peak.max(1)
}
