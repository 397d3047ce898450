//! How many threads the machine runs, and how long the program's have run, where the system tells.

use std::fs;

/// Threads that the machine runs at once; one where it does not say.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Nanoseconds that all threads of the process that live now have spent on a processor; `None` where
/// the system doesn't say.
pub fn busy_ns() -> Option<u64> {
    let mut sum = 0;
    for task in fs::read_dir("/proc/self/task").ok()? {
        // A thread that ended meanwhile counts no more.
        let Ok(text) = fs::read_to_string(task.ok()?.path().join("schedstat")) else { continue };
        sum += parse(&text)?;
    }
    (sum > 0).then_some(sum)
}

/// The first number of Linux's line: run time, waiting time, time slices.
fn parse(schedstat: &str) -> Option<u64> {
    schedstat.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn the_first_number_is_the_time() {
        assert_eq!(parse("1069804 0 2\n"), Some(1_069_804));
        assert_eq!(parse(""), None);
        assert_eq!(parse("x 1"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn every_thread_that_lives_counts() {
        let own = || parse(&fs::read_to_string("/proc/thread-self/schedstat").ok()?);
        let Some(first) = own() else { return };
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(20) {
            std::hint::spin_loop();
        }
        let second = own().unwrap();
        assert!(second > first);
        // Two threads at least: the test's own and the one that waits for it.
        assert!(busy_ns().unwrap() > second);
    }
}
