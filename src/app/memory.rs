//! How much memory there is and how much of it the program holds, where the system tells.

/// Bytes that could be allocated without swapping; `None` where the system doesn't say.
pub fn available_bytes() -> Option<u64> {
    kibibytes("/proc/meminfo", "MemAvailable:")
}

/// Bytes that a crowd may take: a tenth of what is available stays free for the driver and for
/// everybody else.
pub fn crowd_limit() -> u64 {
    available_bytes().map_or(u64::MAX, |bytes| bytes / 10 * 9)
}

/// Bytes of the process that are in memory now.
pub fn resident_bytes() -> Option<u64> {
    kibibytes("/proc/self/status", "VmRSS:")
}

/// The most that [`resident_bytes`] has been.
pub fn resident_peak_bytes() -> Option<u64> {
    kibibytes("/proc/self/status", "VmHWM:")
}

/// A line of Linux's process information: a name, a number, `kB`.
fn kibibytes(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    parse(&text, name)
}

fn parse(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.split_whitespace().next()?.parse().ok()?;
    number.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_name_and_counted_in_kibibytes() {
        let text = "MemTotal:  10 kB\nMemAvailable:    7 kB\nBroken: x kB\n";
        assert_eq!(parse(text, "MemAvailable:"), Some(7 * 1024));
        assert_eq!(parse(text, "Broken:"), None);
        assert_eq!(parse(text, "Swap:"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn linux_tells() {
        let (now, peak) = (resident_bytes().unwrap(), resident_peak_bytes().unwrap());
        assert!(now > 1 << 20 && peak >= now / 2);
        assert!(available_bytes().unwrap() > 1 << 20);
    }
}
