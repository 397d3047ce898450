//! The order in which things can be done that need each other.

/// Puts everything that the roots need before what needs it, and the roots in their own order:
/// depth first, so that what is needed is done as late as possible. Each thing is a number below
/// `count`.
///
/// # Errors
/// A cycle, from a thing through those it needs back to itself.
pub(super) fn topological(
    roots: impl IntoIterator<Item = usize>,
    count: usize,
    needs: impl Fn(usize) -> Vec<usize>,
) -> Result<Vec<usize>, Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; count];
    let mut order = Vec::new();
    // No recursion: a file may chain as many nodes as it likes.
    let mut open: Vec<(usize, std::vec::IntoIter<usize>)> = Vec::new();
    for root in roots {
        if marks[root] != Mark::New {
            continue;
        }
        marks[root] = Mark::Open;
        open.push((root, needs(root).into_iter()));
        while let Some((at, rest)) = open.last_mut() {
            let at = *at;
            match rest.next() {
                None => {
                    marks[at] = Mark::Done;
                    order.push(at);
                    open.pop();
                }
                Some(next) if marks[next] == Mark::New => {
                    marks[next] = Mark::Open;
                    open.push((next, needs(next).into_iter()));
                }
                Some(next) if marks[next] == Mark::Open => {
                    let path = open.iter().map(|(at, _)| *at).skip_while(|at| *at != next);
                    return Err(path.chain([next]).collect());
                }
                Some(_) => {}
            }
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_comes_first_and_once() {
        let needs = [vec![1, 2], vec![3], vec![3], vec![]];
        assert_eq!(topological([0], 4, |at| needs[at].clone()), Ok(vec![3, 1, 2, 0]));
        assert_eq!(topological([2], 4, |at| needs[at].clone()), Ok(vec![3, 2]));
    }

    #[test]
    fn a_cycle_is_told_from_end_to_end() {
        let needs = [vec![1], vec![2], vec![3], vec![1]];
        assert_eq!(topological([0], 4, |at| needs[at].clone()), Err(vec![1, 2, 3, 1]));
        assert_eq!(topological([0], 1, |_| vec![0]), Err(vec![0, 0]));
    }

    #[test]
    fn a_long_chain_does_not_need_a_deep_stack() {
        let n = 200_000;
        let chain = |at: usize| if at + 1 < n { vec![at + 1] } else { vec![] };
        let order = topological([0], n, chain).unwrap();
        assert_eq!((order.len(), order[0], order[n - 1]), (n, n - 1, 0));
    }
}
