//! Peak memory of this process, where the operating system tells.

/// The largest resident set so far [bytes]; `None` where the system does not say.
pub(crate) fn peak_bytes() -> Option<u64> {
    parse_high_water_mark(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn parse_high_water_mark(status: &str) -> Option<u64> {
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_high_water_mark_is_read_in_bytes() {
        assert_eq!(parse_high_water_mark("Name:\tx\nVmHWM:\t    2048 kB\nThreads:\t1\n"), Some(2048 * 1024));
        assert_eq!(parse_high_water_mark("Name:\tx\n"), None);
    }
}
