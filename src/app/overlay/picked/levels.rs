//! Where the nodes of a task list go: a column for each level, and in each column the order in which
//! the fewest edges cross, as far as neighbours tell (Sugiyama, Tagawa and Toda 1981).

/// Passes over the columns: to the right and back.
const PASSES: usize = 8;

/// The column and the row of each node. `levels` are the nodes', `edges` lead from what is read to
/// what reads it; rows of a column are whole steps apart and its middle is row zero.
pub fn arrange(levels: &[u32], edges: &[(usize, usize)]) -> Vec<(f32, f32)> {
    let last = levels.iter().copied().max().unwrap_or(0) as usize;
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); last + 1];
    for (node, level) in levels.iter().enumerate() {
        columns[*level as usize].push(node);
    }
    let known = |(a, b): &&(usize, usize)| a.max(b) < &levels.len();
    let (mut left, mut right) = (vec![Vec::new(); levels.len()], vec![Vec::new(); levels.len()]);
    for (from, to) in edges.iter().filter(known) {
        left[*to].push(*from);
        right[*from].push(*to);
    }
    let mut rows = vec![0.0; levels.len()];
    columns.iter().for_each(|column| place(column, &mut rows));
    for pass in 0..PASSES {
        let (neighbours, rightward) = if pass % 2 == 0 { (&left, true) } else { (&right, false) };
        let order: Vec<usize> =
            if rightward { (0..=last).collect() } else { (0..=last).rev().collect() };
        for column in order {
            let mean = |node: usize| {
                let near = &neighbours[node];
                let sum: f32 = near.iter().map(|n: &usize| rows[*n]).sum();
                if near.is_empty() { rows[node] } else { sum / near.len() as f32 }
            };
            let wanted: Vec<f32> = columns[column].iter().map(|node| mean(*node)).collect();
            let mut sorted: Vec<_> = wanted.into_iter().zip(columns[column].clone()).collect();
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
            columns[column] = sorted.into_iter().map(|(_, node)| node).collect();
            place(&columns[column], &mut rows);
        }
    }
    levels.iter().zip(&rows).map(|(level, row)| (*level as f32, *row)).collect()
}

/// Rows of one column, about its middle.
fn place(column: &[usize], rows: &mut [f32]) {
    let middle = (column.len() as f32 - 1.0) * 0.5;
    for (at, node) in column.iter().enumerate() {
        rows[*node] = at as f32 - middle;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crossings(places: &[(f32, f32)], edges: &[(usize, usize)]) -> usize {
        let line = |(a, b): &(usize, usize)| (places[*a], places[*b]);
        let mut count = 0;
        for (i, one) in edges.iter().enumerate() {
            for other in &edges[i + 1..] {
                let ((a, b), (c, d)) = (line(one), line(other));
                let same = a.0 == c.0 && b.0 == d.0;
                count += usize::from(same && (a.1 - c.1) * (b.1 - d.1) < 0.0);
            }
        }
        count
    }

    #[test]
    fn nobody_shares_a_place_and_readers_are_to_the_right() {
        // The example of the task system's description.
        let edges = [(1, 3), (2, 3), (4, 6), (5, 6), (6, 8), (9, 10), (8, 11), (10, 11), (11, 12)];
        let mut levels = vec![0u32; 13];
        for (from, to) in edges {
            levels[to] = levels[to].max(levels[from] + 1);
        }
        let places = arrange(&levels, &edges);
        for (from, to) in edges {
            assert!(places[from].0 < places[to].0);
        }
        for (at, place) in places.iter().enumerate() {
            assert!(!places[..at].contains(place), "{at} at {place:?}");
        }
        assert_eq!(places, arrange(&levels, &edges), "the same again");
    }

    #[test]
    fn edges_that_need_not_cross_do_not() {
        // Two columns, wired in reverse.
        let levels = [0, 0, 0, 0, 1, 1, 1, 1];
        let edges = [(0, 7), (1, 6), (2, 5), (3, 4)];
        let straight: Vec<_> =
            levels.iter().enumerate().map(|(i, l)| (*l as f32, (i % 4) as f32)).collect();
        assert_eq!(crossings(&straight, &edges), 6);
        assert_eq!(crossings(&arrange(&levels, &edges), &edges), 0);
    }

    #[test]
    fn nothing_and_nonsense_have_places_too() {
        assert!(arrange(&[], &[]).is_empty());
        assert_eq!(arrange(&[0], &[(0, 9), (7, 0)]), [(0.0, 0.0)]);
        assert!(arrange(&[0, 2, 1], &[(0, 0)]).iter().all(|(x, y)| x.is_finite() && y.is_finite()));
    }
}
