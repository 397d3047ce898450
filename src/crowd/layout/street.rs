//! An avenue: nested lanes that turn around at its ends, and people who stand along it.

use super::cast::{Cast, Walkers};
use super::{Plan, Role, Spot};
use crate::crowd::ride::{Ride, heading_of};
use glam::Vec2;
use std::f32::consts::{PI, TAU};

/// Share of those who could stand that walk.
const WALKING: f32 = 0.6;
/// Length of the straights over the width of the whole avenue, at most.
const ASPECT: f32 = 2.5;
/// Lanes between two strips of people who stand.
const LANES_PER_STRIP: usize = 4;
/// More people in a sidewalk's row than in a strip's of the same length.
const SIDEWALK_SHARE: f32 = 1.6;
/// Clear ground between people who stand, metres.
const CLEAR: f32 = 0.15;

/// Lanes around a median, then strips and sidewalks filled with those who stand.
pub(super) fn plan(cast: &mut Cast) -> Plan {
    let walkers = cast.take_walkers(WALKING);
    let mut plan = Plan::default();
    let reach = cast.stand_reach();
    let strips = cast.standers() > 0;
    let strip = if strips { 2.0 * (reach + CLEAR) } else { 0.0 };
    let road = Road::new(&walkers, strip);
    for (lane, walkers) in road.lanes.iter().zip(&road.walkers) {
        let speed = walkers.speed * cast.random.range(0.96, 1.04);
        let ride = Ride::new(Vec2::ZERO, road.half, lane.radius, speed);
        fill_lane(cast, &mut plan, ride, walkers, lane.count);
    }
    if strips {
        line_the_street(cast, &mut plan, &road, reach);
    }
    plan
}

/// Puts `count` walkers on a lane, evenly but for some jitter, and the lane in the plan.
pub(super) fn fill_lane(cast: &mut Cast, plan: &mut Plan, ride: Ride, w: &Walkers, count: u32) {
    let gait = cast.bodies[w.kind.get()].gaits[w.gait as usize];
    let gap = ride.perimeter() / count.max(1) as f32;
    let jitter = (0.5 * (gap - w.least_gap)).clamp(0.0, 0.45 * gap);
    let ride_index = plan.rides.len() as u32;
    for i in 0..count {
        let scale = cast.scale();
        let s = i as f32 * gap + cast.random.range(-jitter, jitter);
        let lateral = cast.random.range(-Walkers::LATERAL, Walkers::LATERAL);
        let role = Role::Ride { ride: ride_index, s, lateral, gait: w.gait };
        plan.spots.push(Spot { kind: w.kind, scale, role });
    }
    plan.rides.push(ride.course(gait.course));
}

struct Lane {
    radius: f32,
    count: u32,
}

/// The lanes and their straights' half length.
struct Road {
    lanes: Vec<Lane>,
    /// For each lane, who walks it.
    walkers: Vec<Walkers>,
    half: f32,
    /// Centres of the strips between lanes (x, positive side), the median's at 0 first.
    strips: Vec<f32>,
    /// Outer edge of the outermost lane.
    edge: f32,
}

impl Road {
    /// The fewest lanes that hold everybody on straights not longer than [`ASPECT`] allows.
    fn new(walkers: &[Walkers], strip: f32) -> Self {
        if walkers.is_empty() {
            let edge = 0.5 * strip;
            return Self { lanes: vec![], walkers: vec![], half: 0.0, strips: vec![0.0], edge };
        }
        let mut lanes = walkers.len();
        loop {
            let road = Self::with_lanes(walkers, strip, lanes);
            if road.half <= ASPECT * road.edge {
                return road;
            }
            lanes += (lanes / 16).max(1);
        }
    }

    fn with_lanes(walkers: &[Walkers], strip: f32, lanes: usize) -> Self {
        let owner = share_lanes(walkers, lanes);
        let mut strips = vec![0.0];
        let mut edge = 0.5 * strip;
        let mut radii = Vec::with_capacity(lanes);
        for (i, &w) in owner.iter().enumerate() {
            if i > 0 && i % LANES_PER_STRIP == 0 && strip > 0.0 {
                strips.push(edge + 0.5 * strip);
                edge += strip;
            }
            let width = walkers[w].width;
            let radius = (edge + 0.5 * width).max(1.5 * width);
            radii.push(radius);
            edge = radius + 0.5 * width;
        }
        // Each kind of walker needs its own lanes to be long enough.
        let mut half = 1.5 * edge;
        for (w, walkers) in walkers.iter().enumerate() {
            let own = || owner.iter().zip(&radii).filter(|(o, _)| **o == w).map(|(_, r)| *r);
            let arcs: f32 = own().map(|r| TAU * r).sum();
            // One more per lane, because shares are rounded.
            let needed = (walkers.count as f32 + own().count() as f32) * walkers.gap;
            half = half.max((needed - arcs) / (4.0 * own().count().max(1) as f32));
        }
        let mut left: Vec<(f32, u32)> = (0..walkers.len())
            .map(|w| {
                let own = owner.iter().zip(&radii).filter(|(o, _)| **o == w);
                (own.map(|(_, r)| 4.0 * half + TAU * r).sum(), walkers[w].count)
            })
            .collect();
        let lanes = owner.iter().zip(&radii).map(|(&w, &radius)| {
            let perimeter = 4.0 * half + TAU * radius;
            let (length, people) = &mut left[w];
            let count = (*people as f32 * (perimeter / *length).min(1.0)).round() as u32;
            let count = count.min(*people);
            (*length, *people) = ((*length - perimeter).max(perimeter * 1e-3), *people - count);
            Lane { radius, count }
        });
        let lanes = lanes.collect();
        let walkers = owner.iter().map(|&w| walkers[w]).collect();
        Self { lanes, walkers, half, strips, edge }
    }
}

/// Which walkers own each lane: by the length they need, at least one each, spread evenly.
fn share_lanes(walkers: &[Walkers], lanes: usize) -> Vec<usize> {
    let need: Vec<f32> = walkers.iter().map(|w| w.count as f32 * w.gap).collect();
    let sum: f32 = need.iter().sum();
    let mut own = vec![1usize; walkers.len()];
    for _ in walkers.len()..lanes {
        let hungry = (0..walkers.len()).max_by(|&a, &b| {
            let lack = |i: usize| need[i] / sum * lanes as f32 - own[i] as f32;
            lack(a).total_cmp(&lack(b)).then(b.cmp(&a))
        });
        own[hungry.unwrap_or(0)] += 1;
    }
    // Each one's lanes at equal distances, nearest centres first.
    let mut order: Vec<(f32, usize)> = Vec::with_capacity(lanes);
    for (w, &n) in own.iter().enumerate() {
        order.extend((0..n).map(|i| ((i as f32 + 0.5) / n as f32, w)));
    }
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    order.into_iter().map(|(_, w)| w).collect()
}

/// A row of the street along which people stand.
#[derive(Clone, Copy)]
struct Row {
    x: f32,
    /// Half the length, metres.
    half: f32,
    /// Groups of three and four fit.
    wide: bool,
}

/// People who stand together: their centre's share of the row, and the length that they need.
struct Group {
    members: u32,
    /// Half the length along the row, metres.
    extent: f32,
    /// Distance of each from the group's centre, metres.
    radius: f32,
}

/// Puts everybody who is left on the median, the strips and as many sidewalk rows as it takes.
fn line_the_street(cast: &mut Cast, plan: &mut Plan, road: &Road, reach: f32) {
    let wide = 2.0 * (quad_radius(reach) + reach + CLEAR);
    // Without lanes the rows alone make the street, about as long as with them.
    let alone = (f64::from(cast.standers()).sqrt() as f32 * reach * 2.5).max(2.0 * wide);
    let half = if road.lanes.is_empty() { alone } else { road.half.max(2.0 * wide) };
    let narrow = road.strips.iter().flat_map(|&x| if x == 0.0 { vec![0.0] } else { vec![-x, x] });
    // At the ends of the straights the strips would be in the way of nobody either, but the lanes'
    // half circles begin there.
    let mut rows: Vec<Row> =
        narrow.map(|x| Row { x, half: road.half.max(reach), wide: false }).collect();
    if road.lanes.is_empty() {
        rows.clear();
    }
    let mut edge = road.edge;
    let mut beside = move || {
        let x = edge + 0.5 * wide;
        edge += wide;
        [Row { x: -x, half, wide: true }, Row { x, half, wide: true }]
    };
    rows.extend(beside());
    let weight = |r: &Row| r.half * if r.wide { SIDEWALK_SHARE } else { 1.0 };
    let mut weights: f32 = rows.iter().map(weight).sum();
    for row in rows {
        // This row's share of who is left: what the rows before had no room for is in it.
        let quota = (cast.standers() as f32 * weight(&row) / weights).round() as u32;
        weights -= weight(&row);
        fill_row(cast, plan, row, quota, reach);
    }
    while cast.standers() > 0 {
        for row in beside() {
            fill_row(cast, plan, row, u32::MAX, reach);
        }
    }
}

fn quad_radius(reach: f32) -> f32 {
    group_radius(4, reach)
}

/// Radius of a circle on which `members` stand without touching.
fn group_radius(members: u32, reach: f32) -> f32 {
    if members < 2 { 0.0 } else { reach / (PI / members as f32).sin() + 0.02 }
}

/// Fills a row with at most `quota` people, as many as have room.
fn fill_row(cast: &mut Cast, plan: &mut Plan, row: Row, quota: u32, reach: f32) {
    let mut groups = Vec::new();
    let (mut people, mut length) = (0, 0.0);
    let quota = quota.min(cast.standers());
    while people < quota {
        let roll = cast.random.unit();
        let members = match (row.wide, roll) {
            (true, ..0.15) => 4,
            (true, ..0.4) => 3,
            (_, ..0.6) => 2,
            _ => 1,
        };
        let members = members.min(quota - people);
        let radius = group_radius(members, reach);
        let group = Group { members, extent: radius + reach + 0.5 * CLEAR, radius };
        if length + 2.0 * group.extent > 2.0 * row.half {
            break;
        }
        length += 2.0 * group.extent;
        people += members;
        groups.push(group);
    }
    // What is left of the row's length goes between the groups, unevenly.
    let shares: Vec<f32> = (0..=groups.len()).map(|_| cast.random.range(0.1, 1.0)).collect();
    let free = (2.0 * row.half - length) / shares.iter().sum::<f32>();
    let mut z = -row.half;
    for (group, share) in groups.iter().zip(shares) {
        z += share * free + group.extent;
        let center = Vec2::new(row.x, z);
        z += group.extent;
        // Two in a narrow row face each other along it.
        let start = if row.wide { cast.random.range(0.0, TAU) } else { 0.5 * PI };
        for member in 0..group.members {
            let Some(kind) = cast.draw_stander() else { return };
            let angle = start + member as f32 * TAU / group.members as f32;
            let offset = Vec2::new(angle.cos(), angle.sin()) * group.radius;
            let heading = match group.members {
                1 => cast.random.range(0.0, TAU),
                _ => heading_of(-offset) + cast.random.range(-0.15, 0.15),
            };
            let scale = cast.scale();
            plan.stand(kind, scale, center + offset, heading);
        }
    }
}
