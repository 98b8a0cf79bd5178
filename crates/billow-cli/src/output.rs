//! Where results go: sentences for people, one JSON object for programs.

use serde_json::{Value, json};

/// How a command speaks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// No sentences, only errors.
    pub(crate) quiet: bool,
    /// Finish with one line holding one JSON object.
    pub(crate) json: bool,
}

impl Output {
    /// Prints a sentence to a person. With `--json` people read standard error, programs standard output.
    pub(crate) fn say(&self, line: impl AsRef<str>) {
        if self.quiet {
            return;
        }
        if self.json {
            eprintln!("{}", line.as_ref());
        } else {
            print_line(line.as_ref());
        }
    }

    /// Prints the closing JSON object if one was asked for.
    pub(crate) fn result(&self, value: &Value) {
        if self.json {
            print_line(&value.to_string());
        }
    }

    /// Prints the JSON form of a failure.
    pub(crate) fn failure(&self, failure: &crate::failure::Failure) {
        self.result(&json!({
            "ok": false,
            "error": failure.kind(),
            "message": failure.plain(),
            "exit_code": failure.code(),
        }));
    }
}

/// Writes a line to standard output; a reader that has gone away (`| head`) is no error.
pub(crate) fn print_line(line: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// A duration as people write it: `0.42 s`, `3 min 05 s`, `2 h 10 min`.
pub(crate) fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..=99 if seconds < 99.5 => format!("{seconds:.2} s"),
        0..=3599 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A size in bytes as people write it.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{n} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// A measure with six significant digits and no trailing zeros.
pub(crate) fn measure(x: f64) -> String {
    const DIGITS: i32 = 6;
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let decimals = (DIGITS - 1 - x.abs().log10().floor() as i32).clamp(0, 15) as usize;
    let text = format!("{x:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_sizes_read_well() {
        assert_eq!(duration(0.421), "0.42 s");
        assert_eq!(duration(185.2), "3 min 05 s");
        assert_eq!(duration(7799.0), "2 h 09 min");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(1_250_000), "1.2 MB");
        assert_eq!(bytes(999_700), "1.0 MB");
    }

    #[test]
    fn measures_keep_six_digits_at_any_size() {
        let measured =
            [0.0, 1.0, 6.000_000_1, 0.000_478_123_44, 1_234_567.8, -0.025, 0.000_681_980_666_7].map(measure);
        assert_eq!(measured, ["0", "1", "6", "0.000478123", "1234568", "-0.025", "0.000681981"]);
    }
}
