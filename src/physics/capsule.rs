//! A capsule around some points of a skin.

use super::skin::Patch;
use glam::Vec3;

/// All points within a distance of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    /// One end of the segment.
    pub a: Vec3,
    /// The other one.
    pub b: Vec3,
    pub radius: f32,
}

/// Shares of the points that lie beyond either end: outliers make no limb longer.
const ENDS: f32 = 0.04;
/// The segment ends so many radii before the skin does.
const ROUND: f32 = 0.8;

impl Capsule {
    /// The capsule along `direction` (of any length) that a bone's skin is about. `least` is its
    /// radius where there is next to no skin. `None` without skin.
    pub fn fit(joint: Vec3, direction: Vec3, skin: &[Patch], least: f32) -> Option<Self> {
        let whole: f32 = skin.iter().map(|(_, area)| area).sum();
        if !(whole > 0.0 && whole.is_finite()) {
            return None;
        }
        let along = direction.normalize_or(Vec3::Y);
        let aside = |p: &Vec3| (*p - joint).reject_from_normalized(along);
        let middle = skin.iter().map(|(p, area)| aside(p) * *area).sum::<Vec3>() / whole;
        let away = |(p, area): &Patch| (aside(p) - middle).length() * area;
        let around = skin.iter().map(away).sum::<f32>() / whole;
        let mut heights: Vec<Patch> = Vec::with_capacity(skin.len());
        heights.extend(skin.iter().map(|(p, area)| (Vec3::X * (*p - joint).dot(along), *area)));
        heights.sort_unstable_by(|a, b| a.0.x.total_cmp(&b.0.x));
        let (low, high) = (beyond(heights.iter(), whole)?, beyond(heights.iter().rev(), whole)?);
        let radius = around.max(least);
        let inset = (ROUND * radius).min((0.5 * (high - low)).max(0.0));
        let at = |height: f32| joint + middle + along * height;
        let capsule = Self { a: at(low + inset), b: at(high - inset), radius };
        (capsule.a.is_finite() && capsule.b.is_finite() && radius.is_finite()).then_some(capsule)
    }

    /// The one of several along different directions whose surface the skin is nearest to: a chest is
    /// broader than it is long.
    pub fn fit_best(
        joint: Vec3,
        directions: impl IntoIterator<Item = Vec3>,
        skin: &[Patch],
        least: f32,
    ) -> Option<Self> {
        let fits = directions.into_iter().filter_map(|way| Self::fit(joint, way, skin, least));
        fits.min_by(|a, b| a.off(skin).total_cmp(&b.off(skin)))
    }

    /// How far the skin is from its surface, summed over the skin.
    fn off(&self, skin: &[Patch]) -> f32 {
        skin.iter().map(|(p, area)| (self.distance(*p) - self.radius).abs() * area).sum()
    }

    /// The same without what is beyond the end of a way.
    pub fn ended(&self, start: Vec3, end: Vec3) -> Self {
        let Some(along) = (end - start).try_normalize() else { return *self };
        let length = start.distance(end);
        let cut = |p: Vec3| p - along * ((p - start).dot(along) - length).max(0.0);
        self.map(cut)
    }

    /// From end to end.
    pub fn length(&self) -> f32 {
        self.a.distance(self.b) + 2.0 * self.radius
    }

    pub fn volume(&self) -> f32 {
        let area = std::f32::consts::PI * self.radius * self.radius;
        area * (self.a.distance(self.b) + 4.0 / 3.0 * self.radius)
    }

    pub fn middle(&self) -> Vec3 {
        (self.a + self.b) * 0.5
    }

    /// The same after a change of place.
    pub fn map(&self, place: impl Fn(Vec3) -> Vec3) -> Self {
        Self { a: place(self.a), b: place(self.b), radius: self.radius }
    }

    /// How far a point is from the segment.
    pub fn distance(&self, point: Vec3) -> f32 {
        let way = self.b - self.a;
        let length = way.length_squared();
        let share = if length > 0.0 { (point - self.a).dot(way) / length } else { 0.0 };
        (self.a + way * share.clamp(0.0, 1.0)).distance(point)
    }

    /// True where two capsules share a point, or come as near as `slack`.
    pub fn touches(&self, other: &Self, slack: f32) -> bool {
        // The distance of two segments is convex in either parameter: a few golden sections are
        // enough to tell whether it is below a number.
        let (mut low, mut high) = (0.0f32, 1.0f32);
        let at = |t: f32| other.distance(self.a + (self.b - self.a) * t);
        for _ in 0..16 {
            let third = (high - low) / 3.0;
            let (one, two) = (low + third, high - third);
            if at(one) < at(two) { high = two } else { low = one }
        }
        at(0.5 * (low + high)) < self.radius + other.radius + slack
    }
}

/// The height that all but [`ENDS`] of a skin is on one side of.
fn beyond<'a>(mut skin: impl Iterator<Item = &'a Patch>, whole: f32) -> Option<f32> {
    let mut sum = 0.0;
    let cut = skin.find(|(_, area)| {
        sum += area;
        sum >= ENDS * whole
    });
    cut.map(|(height, _)| height.x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of a cylinder of radius 0.1 along +X from 0 to 1 whose axis is 0.05 above the joint.
    fn cylinder() -> Vec<Patch> {
        let ring = |i: usize| (i as f32 * 0.7).sin_cos();
        let point = |i: usize| {
            let (sin, cos) = ring(i);
            // Crowded towards one end, each standing for less there.
            let x = (i as f32 / 199.0).powi(2);
            (Vec3::new(x, 0.05 + 0.1 * sin, 0.1 * cos), i as f32)
        };
        (0..200).map(point).collect()
    }

    #[test]
    fn a_capsule_lies_in_the_middle_of_its_skin() {
        let capsule = Capsule::fit(Vec3::ZERO, Vec3::X * 7.0, &cylinder(), 0.01).unwrap();
        assert!((capsule.radius - 0.1).abs() < 0.01, "{capsule:?}");
        assert!((capsule.a - Vec3::new(0.12, 0.05, 0.0)).length() < 0.02, "{capsule:?}");
        assert!((capsule.b - Vec3::new(0.88, 0.05, 0.0)).length() < 0.02, "{capsule:?}");
        let volume = std::f32::consts::PI * 0.01;
        assert!((capsule.volume() / volume - 1.0).abs() < 0.2, "{}", capsule.volume());
    }

    #[test]
    fn nothing_and_one_point_and_no_direction_are_no_trouble() {
        assert_eq!(Capsule::fit(Vec3::ZERO, Vec3::X, &[], 0.1), None);
        assert_eq!(Capsule::fit(Vec3::ZERO, Vec3::X, &[(Vec3::ONE, 0.0)], 0.1), None);
        let one = Capsule::fit(Vec3::ZERO, Vec3::ZERO, &[(Vec3::ONE, 1.0)], 0.1).unwrap();
        assert_eq!((one.a, one.b, one.radius), (Vec3::ONE, Vec3::ONE, 0.1));
        assert_eq!(Capsule::fit(Vec3::ZERO, Vec3::X, &[(Vec3::NAN, 1.0)], 0.1), None);
        assert!(one.distance(Vec3::new(1.0, 1.0, 3.0)) == 2.0);
    }

    #[test]
    fn of_several_directions_the_one_that_the_skin_lies_along_is_taken() {
        let ways = [Vec3::Y, Vec3::ONE, Vec3::X, Vec3::Z];
        let best = Capsule::fit_best(Vec3::ZERO, ways, &cylinder(), 0.01);
        assert_eq!(best, Capsule::fit(Vec3::ZERO, Vec3::X, &cylinder(), 0.01));
        assert!((best.unwrap().length() - 0.96).abs() < 0.03, "{best:?}");
        assert_eq!(Capsule::fit_best(Vec3::ZERO, ways, &[], 0.01), None);
    }

    #[test]
    fn capsules_touch_where_their_surfaces_meet() {
        let capsule = |a: Vec3, b: Vec3| Capsule { a, b, radius: 0.1 };
        let lying = capsule(Vec3::ZERO, Vec3::X);
        // Crossing above the middle, end to end, side by side.
        let across = |y: f32| capsule(Vec3::new(0.4, y, -1.0), Vec3::new(0.4, y, 1.0));
        assert!(lying.touches(&across(0.19), 0.0) && !lying.touches(&across(0.21), 0.0));
        let after = |x: f32| capsule(Vec3::X * x, Vec3::X * 3.0);
        assert!(lying.touches(&after(1.19), 0.0) && !lying.touches(&after(1.21), 0.0));
        assert!(lying.touches(&after(1.21), 0.02));
    }
}
