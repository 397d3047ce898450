//! Places of those whom nothing but their bodies moves.

use crate::crowd::characters::{Place, wrapped};
use crate::crowd::ride::Ride;
use glam::Vec2;

impl Place {
    /// The same character, brought to a world position (x, z) and a heading. What it is drawn back to
    /// stays.
    pub fn brought_to(&self, to: Vec2, turned: f32, rides: &[Ride]) -> Self {
        let turned = turned.rem_euclid(std::f32::consts::TAU);
        match *self {
            Self::Standing { home, scale, .. } => {
                Self::Standing { position: to, heading: turned, home, scale }
            }
            Self::Riding { ride: lane, s, home_s, home_lateral, scale, .. } => {
                let ride = &rides[lane as usize];
                let (s, lateral) = ride.find(to, s);
                let yaw = wrapped(turned - ride.place(s, lateral).1);
                Self::Riding { ride: lane, s, home_s, lateral, home_lateral, yaw, scale }
            }
            // Where its leader is.
            Self::Following { .. } => *self,
        }
    }

    /// Where it stands is where it belongs from now on; a lane keeps its own.
    pub fn settle(&mut self) {
        if let Self::Standing { position, home, .. } = self {
            *home = *position;
        }
    }

    /// Individual scale.
    pub fn scale(&self) -> f32 {
        match *self {
            Self::Standing { scale, .. }
            | Self::Riding { scale, .. }
            | Self::Following { scale, .. } => scale,
        }
    }
}
