//! Room for data that is read in no order.

/// What one huge page holds, bytes. Less gains nothing from one.
#[cfg(target_os = "linux")]
const HUGE_PAGE: usize = 2 << 20;

/// Memory that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no memory for {bytes} bytes")]
pub struct OutOfMemory {
    /// What was asked for.
    pub bytes: usize,
}

/// Makes room in a vector for exactly `more` values, and where that is much asks the kernel (of Linux)
/// to put huge pages under it.
///
/// Frames of many clips and matrices of many characters are read and written in no order; a
/// processor that looks up pages of 4 KiB then misses its table of pages before it misses its cache.
/// It must be asked before the room is written to. Without huge pages it is room like any other.
///
/// # Errors
/// [`OutOfMemory`], where the vector itself would abort.
pub fn reserve_huge<T>(memory: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    let bytes = more.saturating_mul(size_of::<T>());
    memory.try_reserve_exact(more).map_err(|_| OutOfMemory { bytes })?;
    #[cfg(target_os = "linux")]
    advise(memory.spare_capacity_mut());
    Ok(())
}

#[cfg(target_os = "linux")]
fn advise<T>(room: &mut [std::mem::MaybeUninit<T>]) {
    let bytes = size_of_val(room);
    if bytes < HUGE_PAGE {
        return;
    }
    // SAFETY: asks for a constant of the system.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(0);
    if !page.is_power_of_two() {
        return;
    }
    // Advice is for whole pages: from the one in which the room begins.
    let before = room.as_ptr().addr() % page;
    let start = room.as_mut_ptr().cast::<libc::c_void>().wrapping_byte_sub(before);
    // SAFETY: the range is mapped, for every page of it holds a part of the room; and the advice
    // changes no byte of it. Where the kernel has none to give, the error is of no interest.
    unsafe { libc::madvise(start, before + bytes, libc::MADV_HUGEPAGE) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_rooms_take_what_is_written_and_keep_what_there_was() {
        let mut numbers: Vec<u64> = vec![7, 8];
        for more in [0, 1, 1_000, 300_000, 2_000_003] {
            let held = numbers.len();
            reserve_huge(&mut numbers, more).unwrap();
            assert!(numbers.capacity() >= held + more);
            let room = numbers.as_ptr();
            numbers.extend((0..more as u64).map(|at| at + 1));
            assert_eq!(
                room,
                numbers.as_ptr(),
                "the room that was asked for is the one that is used"
            );
            assert_eq!(numbers[..2], [7, 8]);
            assert!(numbers[held..].iter().zip(1..).all(|(&number, at)| number == at));
        }
    }

    #[test]
    fn more_than_there_is_is_an_error() {
        for more in [usize::MAX, usize::MAX / 8, usize::MAX / 16] {
            let error = reserve_huge(&mut Vec::<u64>::new(), more).unwrap_err();
            assert!(error.bytes >= usize::MAX / 16 * 8, "{error}");
        }
    }
}
