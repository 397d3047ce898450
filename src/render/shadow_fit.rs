//! The sun's view of what the camera sees: tight around it, and still while the camera moves.

use crate::math::{Bounds, View};
use glam::{Mat4, Vec3, Vec4, Vec4Swizzles};

/// Steps in which the map's extent grows, per doubling. Fewer steps, fewer jumps of its texels.
const STEPS_PER_DOUBLING: f32 = 4.0;
/// Room at the map's rim, where the shader fades shadows out.
const RIM: f32 = 1.0 / 0.88;
/// Metres of ground around the focus that shadows may fall on, as a multiple of its height.
const SHADOW_REACH: f32 = 2.0;

/// `clip_from_world` of the shadow map (depth 0 towards the sun): orthographic, around the part of
/// `focus` that `view` sees within [`shadow_distance`]. `None` when it sees none of it.
///
/// The map's axes depend on `sun` alone, its extents take few values and its corner lies on whole
/// texels, so a moving camera moves shadows by whole texels only and their edges don't crawl.
pub(super) fn shadow_clip_from_world(
    view: &View,
    focus: &Bounds,
    sun: Vec3,
    map_size: u32,
) -> Option<Mat4> {
    let height = focus.size().y.max(0.1);
    let reach = Vec3::new(SHADOW_REACH * height, 0.0, SHADOW_REACH * height);
    let (min, max) = (focus.min - reach, focus.max + reach);
    let seen = seen_part(view, min, max)?;

    let light = light_from_world(sun);
    let to_light = |p: Vec3| light.transform_point3(p);
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for p in seen {
        low = low.min(to_light(p));
        high = high.max(to_light(p));
    }
    // Casters may stand outside the picture, towards the sun: depth spans the whole focus.
    let (mut near, mut far) = (f32::NEG_INFINITY, f32::INFINITY);
    for corner in corners(min, max) {
        let z = to_light(corner).z;
        near = near.max(z);
        far = far.min(z);
    }
    let map = map_size.max(1) as f32;
    let fit = |low: f32, high: f32| {
        let extent = quantized(((high - low) * RIM).max(height));
        let texel = extent / map;
        let start = (((low + high - extent) * 0.5) / texel).floor() * texel;
        (start, start + extent)
    };
    let (left, right) = fit(low.x, high.x);
    let (bottom, top) = fit(low.y, high.y);
    // The light looks along its -z; a margin keeps the outermost casters off the planes.
    let margin = 0.05 * (near - far).max(1.0);
    let (near, far) = (-near - margin, -far + margin);
    let clip = glam::camera::rh::proj::directx::orthographic(left, right, bottom, top, near, far);
    let matrix = clip * light;
    matrix.is_finite().then_some(matrix)
}

/// How far from the eye shadows are worth their texels, metres: the nearer the crowd begins, the
/// finer the shadows must be, and the less of it one map can hold.
pub(super) fn shadow_distance(nearest: f32) -> f32 {
    nearest + (nearest * 5.0).clamp(45.0, 260.0)
}

/// The world seen from the sun: x and y across, z towards it.
fn light_from_world(sun: Vec3) -> Mat4 {
    let up = if sun.y.abs() > 0.99 { Vec3::Z } else { Vec3::Y };
    glam::camera::rh::view::look_to_mat4(Vec3::ZERO, -sun, up)
}

fn quantized(extent: f32) -> f32 {
    ((extent.log2() * STEPS_PER_DOUBLING).ceil() / STEPS_PER_DOUBLING).exp2()
}

/// Corners of the convex body in which the view's pyramid, cut at the shadow distance, and a box
/// overlap.
fn seen_part(view: &View, min: Vec3, max: Vec3) -> Option<Vec<Vec3>> {
    let nearest = view.eye.clamp(min, max);
    let distance = shadow_distance(view.eye.distance(nearest));
    let mut planes = side_planes(view);
    planes.push(view.forward.extend(-view.forward.dot(view.eye)));
    planes.push((-view.forward).extend(view.forward.dot(view.eye) + distance));

    // Faces of the box cut by the pyramid, then faces of the pyramid cut by the box: together they
    // bound the overlap.
    let box_faces = faces(&corners(min, max));
    let mut points = Vec::new();
    for face in box_faces {
        points.extend(clipped(face.to_vec(), &planes));
    }
    let box_planes: Vec<Vec4> = [Vec3::X, Vec3::Y, Vec3::Z]
        .into_iter()
        .flat_map(|n| [n.extend(-n.dot(min)), (-n).extend(n.dot(max))])
        .collect();
    if let Some(pyramid) = pyramid_corners(view, distance) {
        for face in faces(&pyramid) {
            points.extend(clipped(face.to_vec(), &box_planes));
        }
    }
    (!points.is_empty()).then_some(points)
}

/// The four sides of the view's pyramid, pointing inward.
fn side_planes(view: &View) -> Vec<Vec4> {
    let m = view.clip_from_world();
    let [x, y, w] = [m.row(0), m.row(1), m.row(3)];
    [w + x, w - x, w + y, w - y]
        .into_iter()
        .filter_map(|p| {
            let length = p.xyz().length();
            (length > 1e-12).then(|| p / length)
        })
        .collect()
}

/// Near corners (all at the eye's plane, a hair ahead) and far corners at `distance`.
fn pyramid_corners(view: &View, distance: f32) -> Option<[Vec3; 8]> {
    let world_from_view = view.view_from_world.inverse();
    let c = view.clip_from_view;
    let (tan_x, tan_y) = (1.0 / c.x_axis.x, 1.0 / c.y_axis.y);
    let at = |depth: f32, x: f32, y: f32| {
        world_from_view.transform_point3(Vec3::new(x * tan_x * depth, y * tan_y * depth, -depth))
    };
    let slice = |d: f32| [at(d, -1.0, -1.0), at(d, 1.0, -1.0), at(d, -1.0, 1.0), at(d, 1.0, 1.0)];
    let ([a, b, c, d], [e, f, g, h]) = (slice(1e-3), slice(distance));
    let all = [a, b, c, d, e, f, g, h];
    all.iter().all(|p| p.is_finite()).then_some(all)
}

/// Bit 0 of the index is x, bit 1 y, bit 2 z.
fn corners(min: Vec3, max: Vec3) -> [Vec3; 8] {
    std::array::from_fn(|i| {
        let pick = |bit: usize, low: f32, high: f32| if i >> bit & 1 == 0 { low } else { high };
        Vec3::new(pick(0, min.x, max.x), pick(1, min.y, max.y), pick(2, min.z, max.z))
    })
}

/// The six quads of a body whose corners are numbered as [`corners`] does.
fn faces(c: &[Vec3; 8]) -> [[Vec3; 4]; 6] {
    [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]]
        .map(|quad| quad.map(|i| c[i]))
}

/// A convex polygon cut by half spaces (Sutherland and Hodgman 1974).
fn clipped(mut polygon: Vec<Vec3>, planes: &[Vec4]) -> Vec<Vec3> {
    for plane in planes {
        let side = |p: Vec3| plane.xyz().dot(p) + plane.w;
        let mut kept = Vec::with_capacity(polygon.len() + 1);
        for (i, &p) in polygon.iter().enumerate() {
            let q = polygon[(i + 1) % polygon.len()];
            let (a, b) = (side(p), side(q));
            if a >= 0.0 {
                kept.push(p);
            }
            if (a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0) {
                kept.push(p + (q - p) * (a / (a - b)));
            }
        }
        polygon = kept;
    }
    polygon
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUN: Vec3 = Vec3::new(0.48, 0.6, 0.64);
    const SIZE: u32 = 1024;

    fn crowd() -> Bounds {
        let corner = Vec3::new(30.0, 1.8, 30.0);
        Bounds::of_points([Vec3::new(-30.0, 0.0, -30.0), corner].into_iter())
    }

    fn view(angle: f32, distance: f32) -> View {
        let eye = Vec3::new(angle.sin() * distance, 6.0, angle.cos() * distance);
        View::look_at(eye, Vec3::Y, 0.8, 2000.0, (1280, 720))
    }

    #[test]
    fn what_the_camera_sees_of_the_crowd_lies_in_the_map() {
        for step in 0..40 {
            let view = view(step as f32 * 0.4, 5.0 + step as f32 * 2.0);
            let m = shadow_clip_from_world(&view, &crowd(), SUN, SIZE).unwrap();
            let far = shadow_distance(view.eye.distance(view.eye.clamp(crowd().min, crowd().max)));
            let frustum = view.frustum();
            let mut seen = 0;
            for i in 0..60 * 60 {
                let p = Vec3::new((i % 60) as f32 - 29.5, 1.0, (i / 60) as f32 - 29.5);
                // The box that is fitted is a little larger than the focus, so its distance is less.
                let depth = (p - view.eye).dot(view.forward);
                if !frustum.sphere_may_be_visible(p, 0.0) || depth > far * 0.8 {
                    continue;
                }
                seen += 1;
                let c = m.project_point3(p);
                assert!(c.x.abs() <= 0.9 && c.y.abs() <= 0.9, "{p} at {c}");
                assert!((0.0..=1.0).contains(&c.z), "{p} at {c}");
            }
            assert!(seen > 100);
        }
    }

    #[test]
    fn casters_towards_the_sun_lie_within_the_depth_range() {
        let view = view(0.3, 3.0);
        let m = shadow_clip_from_world(&view, &crowd(), SUN, SIZE).unwrap();
        for corner in corners(crowd().min, crowd().max) {
            assert!((0.0..=1.0).contains(&m.project_point3(corner).z));
        }
    }

    #[test]
    fn a_turning_camera_moves_the_map_by_whole_texels() {
        let at =
            |angle: f32| shadow_clip_from_world(&view(angle, 60.0), &crowd(), SUN, SIZE).unwrap();
        let mut kept = 0;
        for step in 0..200 {
            let (a, b) = (at(step as f32 * 1e-3), at((step + 1) as f32 * 1e-3));
            let p = Vec3::new(1.0, 0.5, -2.0);
            if (a.x_axis - b.x_axis).length() > 1e-9 || (a.y_axis - b.y_axis).length() > 1e-9 {
                continue; // The extent took its next step.
            }
            kept += 1;
            let moved = (a.project_point3(p) - b.project_point3(p)) * 0.5 * SIZE as f32;
            for texels in [moved.x, moved.y] {
                assert!((texels - texels.round()).abs() < 0.02, "{texels}");
            }
        }
        assert!(kept > 180, "the extent changed {} times", 200 - kept);
    }

    #[test]
    fn nothing_to_see_means_no_map() {
        let away = View::look_at(
            Vec3::new(0.0, 2.0, 60.0),
            Vec3::new(0.0, 2.0, 99.0),
            0.8,
            2000.0,
            (64, 64),
        );
        assert_eq!(shadow_clip_from_world(&away, &crowd(), SUN, SIZE), None);
    }

    #[test]
    fn the_map_is_tight() {
        // A camera that sees five metres of the crowd doesn't spend the map on sixty.
        let view = View::look_at(Vec3::new(3.0, 6.0, 3.0), Vec3::ZERO, 0.6, 2000.0, (640, 360));
        let m = shadow_clip_from_world(&view, &crowd(), SUN, SIZE).unwrap();
        let across = 2.0 / m.row(0).xyz().length();
        assert!(across < 16.0, "{across} m");
    }
}
