//! A thread pool that a value is lent to for one step at a time.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Runs a step of some state inside a pool of threads, with the state moved in and out.
///
/// One of the pool's workers waits for the state and runs the step, so that every parallel loop
/// begins inside the pool. Entering it from outside instead goes through a queue that allocates
/// now and then, and a frame is not to allocate. The caller waits meanwhile.
#[derive(Debug)]
pub(crate) struct Lender<S, I, O> {
    send: SyncSender<(S, I)>,
    receive: Receiver<(S, thread::Result<O>)>,
    // Ends its threads when dropped; the waiting worker ends with the channel.
    pool: rayon::ThreadPool,
}

impl<S, I, O> Lender<S, I, O>
where
    S: Default + Send + 'static,
    I: Send + 'static,
    O: Send + 'static,
{
    /// Starts `threads` workers (at least one) that run `step`.
    ///
    /// # Errors
    /// The system's message when it refuses the threads.
    pub fn new(threads: usize, step: fn(&mut S, I) -> O) -> Result<Self, String> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.max(1))
            .thread_name(|i| format!("worker {i}"))
            .start_handler(|i| crate::profile::name_thread(&format!("worker {i}")))
            .build()
            .map_err(|e| e.to_string())?;
        let (send, jobs) = sync_channel::<(S, I)>(1);
        let (done, receive) = sync_channel(1);
        pool.spawn(move || {
            while let Ok((mut state, input)) = jobs.recv() {
                let result = catch_unwind(AssertUnwindSafe(|| step(&mut state, input)));
                if done.send((state, result)).is_err() {
                    return;
                }
            }
        });
        Ok(Self { send, receive, pool })
    }

    /// The threads, for work between two steps. One of them waits for the next step and takes part
    /// in nothing else: with one thread there is nobody.
    pub fn pool(&self) -> &rayon::ThreadPool {
        &self.pool
    }

    /// Lends `state` for one step. A panic in it goes on in the caller, with the state back.
    pub fn run(&self, state: &mut S, input: I) -> O {
        let lent = self.send.send((std::mem::take(state), input));
        let (back, result) = match (lent, self.receive.recv()) {
            (Ok(()), Ok(answer)) => answer,
            _ => resume_unwind(Box::new("the crowd's worker threads are gone")),
        };
        *state = back;
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_runs_inside_a_pool_of_the_threads_asked_for() {
        for threads in [1, 3] {
            let lender = Lender::new(threads, |sum: &mut usize, add: usize| {
                *sum += add;
                (rayon::current_num_threads(), rayon::current_thread_index().is_some())
            })
            .unwrap();
            let mut sum = 1;
            assert_eq!(lender.run(&mut sum, 2), (threads, true));
            assert_eq!(lender.run(&mut sum, 3), (threads, true));
            assert_eq!(sum, 6);
        }
    }

    #[test]
    fn a_panic_comes_back_and_the_state_with_it() {
        let lender = Lender::new(1, |state: &mut Vec<u8>, fail: bool| {
            state.push(1);
            assert!(!fail, "planted");
        })
        .unwrap();
        let mut state = vec![0];
        let result = catch_unwind(AssertUnwindSafe(|| lender.run(&mut state, true)));
        assert!(result.is_err());
        assert_eq!(state, [0, 1]);
        lender.run(&mut state, false);
        assert_eq!(state, [0, 1, 1]);
    }
}
