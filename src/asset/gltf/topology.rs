//! Strips and fans into lists of triangles (glTF 2.0 specification, §3.7.2.1).

/// What a primitive's corners make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Triangles(Triangles),
    /// Named for a warning.
    NotTriangles(&'static str),
}

/// How corners make triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Triangles {
    List,
    Strip,
    Fan,
}

impl Mode {
    /// `None` for a number that glTF doesn't know.
    pub(super) fn from_gl(mode: u64) -> Option<Self> {
        Some(match mode {
            0 => Self::NotTriangles("points"),
            1..=3 => Self::NotTriangles("lines"),
            4 => Self::Triangles(Triangles::List),
            5 => Self::Triangles(Triangles::Strip),
            6 => Self::Triangles(Triangles::Fan),
            _ => return None,
        })
    }
}

/// Three corners per triangle, wound as the specification says, and how many corners were left
/// over. A strip's triangles with a corner twice only join its parts and are dropped.
pub(super) fn unroll(mode: Triangles, corners: Vec<u32>) -> (Vec<u32>, usize) {
    match mode {
        Triangles::List => {
            let mut list = corners;
            let unused = list.len() % 3;
            list.truncate(list.len() - unused);
            (list, unused)
        }
        _ if corners.len() < 3 => (Vec::new(), corners.len()),
        Triangles::Strip => {
            let triangles = corners.windows(3).enumerate().map(|(i, c)| match i % 2 {
                0 => [c[0], c[1], c[2]],
                _ => [c[0], c[2], c[1]],
            });
            let whole = triangles.filter(|[a, b, c]| a != b && b != c && c != a);
            (whole.flatten().collect(), 0)
        }
        Triangles::Fan => {
            let hub = corners[0];
            let triangles = corners[1..].windows(2).map(|c| [c[0], c[1], hub]);
            (triangles.flatten().collect(), 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strip_keeps_its_winding_and_drops_its_joins() {
        let (list, unused) = unroll(Triangles::Strip, vec![0, 1, 2, 3, 3, 4, 4, 5, 6]);
        assert_eq!(list, [0, 1, 2, 1, 3, 2, 4, 5, 6]);
        assert_eq!(unused, 0);
    }

    #[test]
    fn a_fan_turns_around_its_first_corner() {
        assert_eq!(unroll(Triangles::Fan, vec![9, 1, 2, 3]), (vec![1, 2, 9, 2, 3, 9], 0));
    }

    #[test]
    fn corners_that_make_no_triangle_are_counted() {
        assert_eq!(unroll(Triangles::List, vec![0, 1, 2, 3, 4]), (vec![0, 1, 2], 2));
        for mode in [Triangles::List, Triangles::Strip, Triangles::Fan] {
            assert_eq!(unroll(mode, vec![0, 1]), (vec![], 2));
            assert_eq!(unroll(mode, vec![]), (vec![], 0));
        }
    }
}
