//! Rows and columns.

use super::cast::{Cast, Walkers};
use super::{Plan, Role, Spot};
use crate::crowd::ride::Ride;
use glam::Vec2;

/// How far off its cell's centre somebody stands, as a share of the cell, either way.
const JITTER: f32 = 0.06;
/// Radians off +Z, either way.
const HEADING_JITTER: f32 = 0.3;
/// Radians a second that somebody turns who can only walk and is kept in its cell.
pub(super) const CIRCLING: f32 = 0.9;

/// A square of cells; who can't stand walks a circle of its own.
pub(super) fn plan(cast: &mut Cast) -> Plan {
    let count = cast.waiting();
    let columns = (f64::from(count)).sqrt().ceil().max(1.0) as u32;
    let rows = count.div_ceil(columns);
    let cell = cell(cast);
    let middle = Vec2::new(columns as f32 - 1.0, rows as f32 - 1.0) * 0.5;
    let mut plan = Plan::default();
    for i in 0..count {
        let Some(kind) = cast.draw() else { break };
        let at = Vec2::new((i % columns) as f32, (i / columns) as f32) - middle;
        let mut jitter = || cast.random.range(-1.0, 1.0);
        let offset = Vec2::new(jitter(), jitter()) * JITTER;
        let heading = jitter() * HEADING_JITTER;
        let position = (at + offset) * cell;
        let body = &cast.bodies[kind.get()];
        match body.gaits.first().copied().filter(|_| !body.can_stand) {
            None => {
                let scale = cast.scale();
                plan.stand(kind, scale, position, heading);
            }
            Some(gait) => {
                let radius = (gait.speed / CIRCLING).max(0.2);
                let scale = cast.scale();
                // Not faster than planned for, whatever the scale.
                let speed = gait.speed * cast.random.range(0.96, 1.04);
                let reversed = cast.random.unit() < 0.5;
                let ride =
                    Ride::new(position, 0.0, radius, speed).reversed(reversed).course(gait.course);
                let s = cast.random.unit() * ride.perimeter();
                let ride_index = plan.rides.len() as u32;
                plan.rides.push(ride);
                let role = Role::Ride { ride: ride_index, s, lateral: 0.0, gait: 0 };
                plan.spots.push(Spot { kind, scale, role });
            }
        }
    }
    plan
}

/// Side of a cell that holds anybody, jittered.
fn cell(cast: &Cast) -> f32 {
    let mut radius = 0.05f32;
    for body in cast.bodies.iter().filter(|b| b.weight > 0.0) {
        radius = radius.max(match body.gaits.first().filter(|_| !body.can_stand) {
            None => body.stand_reach * super::SCALE_SPREAD,
            Some(g) => {
                (g.speed / CIRCLING).max(0.2) + g.reach * super::SCALE_SPREAD + Walkers::LATERAL
            }
        });
    }
    2.0 * radius / (1.0 - 2.0 * JITTER)
}
