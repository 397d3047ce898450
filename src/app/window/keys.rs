//! What keys and mouse mean.

use crate::app::camera::Steering;
use crate::app::cli::CameraArg;
use crate::app::picked::Deed;
use crate::app::wish::Wish;
use std::collections::HashSet;
use winit::event::{ElementState, MouseButton, MouseScrollDelta};
use winit::keyboard::KeyCode;

/// Something that happens once per key press.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// What the overlay has too.
    Wish(Wish),
    /// Show or hide overlay and help.
    Overlay,
    /// Save the picture.
    Screenshot,
    /// Whoever is under the pointer is looked at.
    Pick,
    /// Whoever is under the pointer falls.
    KnockDown,
    /// The camera goes along with whoever is looked at, or no longer.
    Follow,
    /// Nobody is looked at any more; where nobody was, the run ends.
    Quit,
}

/// Keys and what they do, for the help; [`action`] and [`Input`] do it.
pub const HELP: [(&str, &str); 16] = [
    ("Space", "pause"),
    ("Full stop", "a single step"),
    ("Up, Down", "faster, slower"),
    ("Left, Right", "half a second back, on"),
    ("Enter", "next clip or idea"),
    ("1 to 5", "orbit, fly, near, far, path"),
    ("W A S D Q E", "fly; Shift: fast"),
    ("Mouse, wheel", "drag to look, zoom"),
    ("Click", "look at somebody"),
    ("Shift + click", "knock somebody over"),
    ("F", "follow who is looked at"),
    ("[ and ]", "its last frames"),
    ("F1", "this overlay"),
    ("F2", "colours that tell"),
    ("F12", "screenshot"),
    ("Esc", "let go; end"),
];

/// The action of a key that was pressed.
pub fn action(key: KeyCode) -> Option<Action> {
    let wish = match key {
        KeyCode::Space => Wish::Pause,
        KeyCode::Period => Wish::Step,
        KeyCode::ArrowUp => Wish::Faster,
        KeyCode::ArrowDown => Wish::Slower,
        KeyCode::ArrowLeft => Wish::Seek(-0.5),
        KeyCode::ArrowRight => Wish::Seek(0.5),
        KeyCode::Enter | KeyCode::NumpadEnter => Wish::NextClip,
        KeyCode::Digit1 => Wish::Camera(CameraArg::Orbit),
        KeyCode::Digit2 => Wish::Camera(CameraArg::Fly),
        KeyCode::Digit3 => Wish::Camera(CameraArg::Near),
        KeyCode::Digit4 => Wish::Camera(CameraArg::Far),
        KeyCode::Digit5 => Wish::Camera(CameraArg::Path),
        KeyCode::F2 => Wish::NextColor,
        KeyCode::BracketLeft => Wish::Picked(Deed::Step(-1)),
        KeyCode::BracketRight => Wish::Picked(Deed::Step(1)),
        KeyCode::KeyF => return Some(Action::Follow),
        KeyCode::F1 => return Some(Action::Overlay),
        KeyCode::F12 => return Some(Action::Screenshot),
        KeyCode::Escape => return Some(Action::Quit),
        _ => return None,
    };
    Some(Action::Wish(wish))
}

/// What is held down, and what the mouse did since it was last asked.
#[derive(Debug, Default)]
pub struct Input {
    held: HashSet<KeyCode>,
    dragging: bool,
    /// Pixels that the mouse moved since its left button went down; `None` while it is up.
    strayed: Option<f64>,
    turned: (f64, f64),
    wheel: f32,
}

impl Input {
    const RADIANS_PER_PIXEL: f64 = 0.003;
    const SHIFT: [KeyCode; 2] = [KeyCode::ShiftLeft, KeyCode::ShiftRight];
    /// A hand is not quite still when it clicks.
    const CLICK_PIXELS: f64 = 6.0;
    /// Touchpads scroll in pixels; a notch of a wheel is about this many.
    const PIXELS_PER_NOTCH: f64 = 40.0;

    /// A key went down or up. The action of a press that is no repetition.
    pub fn key(&mut self, key: KeyCode, state: ElementState, repeat: bool) -> Option<Action> {
        match state {
            ElementState::Pressed => {
                self.held.insert(key);
                // Holding an arrow goes on seeking; nothing else should flicker.
                let goes_on = |action: &Action| {
                    matches!(action, Action::Wish(Wish::Seek(_) | Wish::Picked(Deed::Step(_))))
                };
                action(key).filter(|action| !repeat || goes_on(action))
            }
            ElementState::Released => {
                self.held.remove(&key);
                None
            }
        }
    }

    /// A mouse button went down or up. The action of a click, which is down and up in one place: with
    /// Shift held, or without.
    pub fn button(&mut self, button: MouseButton, state: ElementState) -> Option<Action> {
        let pressed = state == ElementState::Pressed;
        if matches!(button, MouseButton::Left | MouseButton::Right) {
            self.dragging = pressed;
        }
        if button != MouseButton::Left {
            return None;
        }
        let strayed = std::mem::replace(&mut self.strayed, pressed.then_some(0.0));
        let clicked = !pressed && strayed.is_some_and(|pixels| pixels <= Self::CLICK_PIXELS);
        let shift = Self::SHIFT.iter().any(|key| self.held.contains(key));
        clicked.then_some(if shift { Action::KnockDown } else { Action::Pick })
    }

    /// The mouse moved, in pixels; it turns the camera while a button is held.
    pub fn motion(&mut self, delta: (f64, f64)) {
        if let Some(pixels) = &mut self.strayed {
            *pixels += delta.0.hypot(delta.1);
        }
        if self.dragging {
            self.turned = (self.turned.0 + delta.0, self.turned.1 + delta.1);
        }
    }

    /// The wheel turned.
    pub fn scroll(&mut self, delta: MouseScrollDelta) {
        self.wheel += match delta {
            MouseScrollDelta::LineDelta(_, y) => y,
            MouseScrollDelta::PixelDelta(p) => (p.y / Self::PIXELS_PER_NOTCH) as f32,
        };
    }

    /// Forgets everything held: the window lost its focus and won't hear of the release.
    pub fn release_all(&mut self) {
        *self = Self::default();
    }

    /// What the camera should do this frame; movements of mouse and wheel are used up.
    pub fn take_steering(&mut self) -> Steering {
        let axis = |plus: &[KeyCode], minus: &[KeyCode]| {
            let any = |keys: &[KeyCode]| keys.iter().any(|k| self.held.contains(k));
            f32::from(any(plus)) - f32::from(any(minus))
        };
        let steering = Steering {
            forward: axis(&[KeyCode::KeyW], &[KeyCode::KeyS]),
            right: axis(&[KeyCode::KeyD], &[KeyCode::KeyA]),
            up: axis(&[KeyCode::KeyE], &[KeyCode::KeyQ]),
            fast: axis(&Self::SHIFT, &[]) > 0.0,
            yaw: (self.turned.0 * Self::RADIANS_PER_PIXEL) as f32,
            pitch: (-self.turned.1 * Self::RADIANS_PER_PIXEL) as f32,
            wheel: self.wheel,
        };
        self.turned = (0.0, 0.0);
        self.wheel = 0.0;
        steering
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElementState::{Pressed, Released};

    #[test]
    fn held_keys_steer_until_they_are_released_or_the_focus_goes() {
        let mut input = Input::default();
        assert_eq!(input.key(KeyCode::KeyW, Pressed, false), None);
        input.key(KeyCode::ShiftLeft, Pressed, false);
        let s = input.take_steering();
        assert_eq!((s.forward, s.fast, s.moves()), (1.0, true, true));
        input.key(KeyCode::KeyS, Pressed, false);
        assert_eq!(input.take_steering().forward, 0.0);
        input.key(KeyCode::KeyW, Released, false);
        assert_eq!(input.take_steering().forward, -1.0);
        input.release_all();
        assert!(!input.take_steering().moves());
    }

    #[test]
    fn the_mouse_turns_only_while_dragging_and_only_once() {
        let mut input = Input::default();
        input.motion((100.0, 0.0));
        assert!(!input.take_steering().looks());
        input.button(MouseButton::Left, Pressed);
        input.motion((100.0, 50.0));
        input.scroll(MouseScrollDelta::LineDelta(0.0, 2.0));
        let s = input.take_steering();
        assert!(s.yaw > 0.0 && s.pitch < 0.0 && s.wheel == 2.0);
        assert_eq!(input.take_steering(), Steering::default());
    }

    #[test]
    fn a_click_is_down_and_up_in_one_place_and_a_drag_is_none() {
        let mut input = Input::default();
        assert_eq!(input.button(MouseButton::Left, Released), None, "it went down elsewhere");
        assert_eq!(input.button(MouseButton::Left, Pressed), None);
        input.motion((2.0, -3.0));
        assert_eq!(input.button(MouseButton::Left, Released), Some(Action::Pick));
        input.key(KeyCode::ShiftRight, Pressed, false);
        input.button(MouseButton::Left, Pressed);
        assert_eq!(input.button(MouseButton::Left, Released), Some(Action::KnockDown));
        input.button(MouseButton::Left, Pressed);
        input.motion((20.0, 0.0));
        assert_eq!(input.button(MouseButton::Left, Released), None);
        input.button(MouseButton::Right, Pressed);
        assert_eq!(input.button(MouseButton::Right, Released), None);
    }

    #[test]
    fn a_held_key_acts_once_except_for_seeking() {
        let mut input = Input::default();
        assert_eq!(input.key(KeyCode::Space, Pressed, false), Some(Action::Wish(Wish::Pause)));
        assert_eq!(input.key(KeyCode::Space, Pressed, true), None);
        assert_eq!(
            input.key(KeyCode::ArrowLeft, Pressed, true),
            Some(Action::Wish(Wish::Seek(-0.5)))
        );
        assert_eq!(input.key(KeyCode::Space, Released, false), None);
    }
}
