//! Whom the user looks at.

use super::Show;
use crate::app::camera::Steering;
use crate::app::exit::Failure;
use crate::app::picked::Deed;
use crate::app::picture::Shot;
use crate::index::CharacterId;

impl Show {
    /// Who is at a point of the picture (pixels from its upper left corner).
    pub(super) fn under(&self, at: (f64, f64)) -> Option<CharacterId> {
        let Shot { view, .. } = self.shot.as_ref()?;
        self.crowd.pick(view.eye, view.direction(at.0 as f32, at.1 as f32))
    }

    /// Looks at whoever is at a point of the picture; at nobody where nobody is.
    pub fn pick(&mut self, at: (f64, f64)) {
        let who = self.under(at);
        self.perform(Deed::Pick(who));
    }

    /// Looks at nobody any more. False where nobody was looked at.
    pub fn let_go(&mut self) -> bool {
        let looked = self.picked.who().is_some();
        if looked {
            self.perform(Deed::Pick(None));
        }
        looked
    }

    /// The camera goes along with whoever is picked, or no longer.
    pub fn toggle_follow(&mut self) {
        self.perform(Deed::Follow(!self.picked.follows));
    }

    /// Does something with whoever is picked.
    pub(super) fn perform(&mut self, deed: Deed) {
        match deed {
            Deed::Pick(id) => {
                let who = id.and_then(|id| self.crowd.handle(id));
                self.scrub(None);
                self.picked.pick(who, &mut self.crowd);
                if let Some(id) = id.filter(|_| !self.hud.is_shown()) {
                    self.hud.say(format!("character {id}; F1: what it does"));
                }
            }
            Deed::Hold(param, value) => {
                let Some(who) = self.picked.who() else { return };
                if let Err(refusal) = self.crowd.hold_param(who, &param, value) {
                    self.hud.say(refusal.to_string());
                }
            }
            Deed::Release(param) => self.crowd.release_param(&param),
            Deed::ReleaseAll => self.crowd.release_params(),
            Deed::Scrub(at) => self.scrub(at),
            Deed::Step(frames) => self.scrub(self.picked.stepped(frames)),
            Deed::Follow(on) => self.picked.follows = on && self.picked.who().is_some(),
            Deed::Show(shows) => self.picked.shows = shows,
        }
    }

    /// Shows one of the last frames of whoever is picked while the world stands still; without one
    /// the world goes on, if it did before.
    fn scrub(&mut self, at: Option<usize>) {
        if self.picked.who().is_none() {
            return;
        }
        let stands = self.clock.paused();
        if at.is_some() && !stands {
            self.clock.toggle_pause();
            self.picked.resumes = true;
        }
        self.picked.scrub(at);
        if at.is_none() && std::mem::take(&mut self.picked.resumes) && stands {
            self.clock.toggle_pause();
        }
    }

    /// Before a tick: sees to it that whoever is picked is looked at, and that the camera goes along
    /// with it, if it is to.
    pub(super) fn attend(&mut self, steering: &Steering) -> Result<(), Failure> {
        if let Some(gone) = self.picked.settle(&mut self.crowd) {
            self.hud.say(format!("character {gone} has gone"));
        }
        self.crowd.watch_also(self.picked.who())?;
        if self.camera.is_chasing() && steering.moves() {
            // Whoever steers flies from here on.
            self.picked.follows = false;
        }
        self.camera.chase(self.picked.goal());
        Ok(())
    }

    /// After a tick: keeps what it left of whoever is picked, and adds that to what is drawn into the
    /// world. Time has passed if it `moved`.
    pub(super) fn look_at_picked(&mut self, moved: bool) {
        if let Some(Shot { view, culled, .. }) = &self.shot {
            self.picked.look(&mut self.crowd, culled.eye, moved);
            self.picked.draw(&self.crowd, view.eye, &mut self.sketch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{frame, show};
    use super::*;
    use crate::app::cli::CameraArg;
    use crate::app::wish::Wish;
    use crate::render::Offscreen;

    const LINE: &str = "--adapter llvmpipe --count 12 --size 160x100 --camera near --frames 999";

    fn picture(show: &Show, target: &Option<Offscreen>) -> Vec<u8> {
        let gpu = &show.picture().unwrap().gpu;
        target.as_ref().unwrap().read(gpu).unwrap().pixels
    }

    #[test]
    fn nobody_picked_costs_no_byte_and_no_draw_before_and_after() {
        let (mut run, target) = show(LINE);
        let cost = |run: &mut Show| {
            let sample = frame(run, target.as_ref());
            let render = sample.render.unwrap();
            (render.draws, render.triangles)
        };
        let before = cost(&mut run);
        assert!(run.sketch.lines().is_empty());
        run.perform(Deed::Pick(Some(CharacterId(3))));
        let during = cost(&mut run);
        assert_eq!(during.0, before.0 + 2, "what is hidden by others, and what is not");
        assert!(!run.sketch.lines().is_empty());
        assert!(run.let_go() && !run.let_go());
        let after = cost(&mut run);
        assert_eq!(after.0, before.0);
        assert!(run.sketch.lines().is_empty() && run.picked.history().is_empty());
        assert_eq!(run.crowd.captures().count(), 0);
    }

    #[test]
    fn a_click_looks_at_whoever_is_there_and_one_on_nobody_lets_go() {
        let (mut run, target) = show(&format!("{LINE} --pick 0"));
        (0..3).for_each(|_| drop(frame(&mut run, target.as_ref())));
        assert_eq!(run.picked.who(), run.crowd.handle(CharacterId(0)));
        let all = (0..160).step_by(4).flat_map(|x| (0..100).step_by(4).map(move |y| (x, y)));
        let points = all.map(|(x, y)| (f64::from(x), f64::from(y)));
        let found: Vec<_> = points.map(|at| (at, run.under(at))).collect();
        let (somebody, who) = found.iter().find(|(_, who)| who.is_some()).unwrap();
        let (nobody, _) = found.iter().find(|(_, who)| who.is_none()).unwrap();
        run.pick(*somebody);
        assert_eq!(run.picked.who().map(|handle| handle.id()), *who);
        run.pick(*nobody);
        assert_eq!(run.picked.who(), None);
    }

    #[test]
    fn scrubbing_stops_the_world_and_lets_it_go_on_as_it_was() {
        let (mut run, target) = show(&format!("{LINE} --pick 1"));
        (0..20).for_each(|_| drop(frame(&mut run, target.as_ref())));
        let now = run.crowd.now();
        run.grant(Wish::Picked(Deed::Scrub(Some(4))));
        (0..3).for_each(|_| drop(frame(&mut run, target.as_ref())));
        assert!(run.clock.paused() && run.crowd.now() == now);
        assert_eq!(run.picked.frame().unwrap().frame, 4);
        run.grant(Wish::Picked(Deed::Step(2)));
        assert_eq!(run.picked.scrubbed(), Some(6));
        run.grant(Wish::Picked(Deed::Scrub(None)));
        frame(&mut run, target.as_ref());
        assert!(!run.clock.paused() && run.crowd.now() > now);
        // Where it stood still before, it stands still after.
        run.grant(Wish::Pause);
        run.grant(Wish::Picked(Deed::Scrub(Some(2))));
        run.grant(Wish::Picked(Deed::Scrub(None)));
        assert!(run.clock.paused());
        // Time that goes on ends it.
        run.grant(Wish::Picked(Deed::Scrub(Some(2))));
        run.grant(Wish::Pause);
        frame(&mut run, target.as_ref());
        assert!(run.picked.scrubbed().is_none() && !run.clock.paused());
    }

    #[test]
    fn the_picture_changes_when_a_world_that_stands_still_jumps() {
        let (mut run, target) = show(LINE);
        let drawn = |run: &mut Show| {
            frame(run, target.as_ref());
            picture(run, &target)
        };
        (0..5).for_each(|_| drop(drawn(&mut run)));
        run.grant(Wish::Pause);
        drawn(&mut run);
        let still = drawn(&mut run);
        assert!(drawn(&mut run) == still, "nothing moves");
        for seconds in [0.5, -0.5, -0.5] {
            let before = drawn(&mut run);
            run.grant(Wish::Seek(seconds));
            let after = drawn(&mut run);
            let differ = before.iter().zip(&after).filter(|(a, b)| a.abs_diff(**b) > 8).count();
            assert!(differ > 300, "{differ} of {} after {seconds} s", after.len());
            assert!(drawn(&mut run) == after, "and stands still again");
        }
    }

    #[test]
    fn the_camera_goes_along_until_another_one_is_chosen_or_somebody_steers() {
        let (mut run, target) = show(&format!("{LINE} --pick 2"));
        frame(&mut run, target.as_ref());
        run.toggle_follow();
        (0..200).for_each(|_| drop(frame(&mut run, target.as_ref())));
        let state = run.crowd.character(CharacterId(2)).unwrap();
        let view = run.shot.as_ref().unwrap().view;
        let seen = view.clip_from_world().project_point3(state.center);
        assert!(run.camera.is_chasing() && seen.x.abs() < 0.2 && seen.y.abs() < 0.2, "{seen}");
        run.grant(Wish::Camera(CameraArg::Far));
        frame(&mut run, target.as_ref());
        assert!(!run.camera.is_chasing() && run.camera.kind() == CameraArg::Far);
        run.toggle_follow();
        frame(&mut run, target.as_ref());
        let steering = Steering { forward: 1.0, ..Steering::default() };
        let input = crate::app::headless::input(run.config(), 0);
        run.frame(target.as_ref().map(Offscreen::target), &steering, input).unwrap();
        assert!(!run.camera.is_chasing() && run.camera.kind() == CameraArg::Fly);
        run.let_go();
        run.toggle_follow();
        frame(&mut run, target.as_ref());
        assert!(!run.camera.is_chasing(), "there is nobody to follow");
    }
}
