//! Every reader against mutated files: no panic, no hang, no memory that the file does not justify.
//!
//! Runs for a few seconds; `BILLOW_FUZZ_SECONDS=300` makes it minutes and `BILLOW_FUZZ_SEED=n` starts elsewhere.
//! A failure prints its case number, and `BILLOW_FUZZ_SEED` with that number repeats it first.

use crate::counting::peak_bytes;
use crate::meshes::folder;
use crate::samples::Sample;
use billow_io::cache::{ManifestHeader, Reader, Writer, frame_from_bytes, frame_to_bytes};
use billow_io::formats::parse_mesh;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::xxh3_64;

/// Counter-based random numbers: the case number decides everything.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn range(&mut self, n: usize) -> std::ops::Range<usize> {
        let a = self.below(n + 1);
        let len = match self.below(3) {
            0 => self.below(8),
            1 => self.below(64),
            _ => self.below(n),
        };
        a..(a + len).min(n)
    }
}

const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "2",
    "255",
    "256",
    "65535",
    "-2147483648",
    "2147483647",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "99999999999999999999999",
    "1e308",
    "1e309",
    "-0",
    "nan",
    "inf",
    "1e-400",
    "0x10",
    "1.5",
    ".",
    "-",
    "+",
    "1e",
    "\u{fffd}",
];

const WORDS: &[u64] =
    &[0, 1, 2, 3, 0x7f, 0x80, 0xff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 40, u64::MAX];

fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    let n = bytes.len();
    match rng.below(11) {
        0 if n > 0 => bytes[rng.below(n)] ^= 1 << rng.below(8),
        1 if n > 0 => bytes[rng.below(n)] = rng.next() as u8,
        2 => bytes.truncate(rng.below(n + 1)),
        3 => {
            let piece = bytes[rng.range(n)].to_vec();
            let at = rng.below(n + 1);
            let copies = if rng.below(50) == 0 { 1000 } else { 1 + rng.below(3) };
            // Long pieces many times over would only test the patience of whoever waits.
            let copies = copies.min(1 + 100_000 / piece.len().max(1));
            bytes.splice(at..at, piece.repeat(copies));
        }
        4 => {
            bytes.drain(rng.range(n));
        }
        5 => {
            let piece = other[rng.range(other.len())].to_vec();
            bytes.splice(rng.range(n), piece);
        }
        6 | 7 => {
            // A number in text becomes another one.
            let digits: Vec<usize> = (0..n).filter(|k| bytes[*k].is_ascii_digit()).collect();
            if let Some(start) = digits.get(rng.below(digits.len())).copied() {
                let end = (start..n).find(|k| !bytes[*k].is_ascii_digit()).unwrap_or(n);
                bytes.splice(start..end, NUMBERS[rng.below(NUMBERS.len())].bytes());
            }
        }
        8 | 9 => {
            let (width, word) = ([1, 2, 4, 8][rng.below(4)], WORDS[rng.below(WORDS.len())]);
            if n >= width {
                let at = rng.below(n - width + 1);
                let word =
                    if rng.below(2) == 0 { word.to_le_bytes() } else { word.swap_bytes().to_le_bytes() };
                let word = if rng.below(2) == 0 { &word[..width] } else { &word[8 - width..] };
                bytes[at..at + width].copy_from_slice(word);
            }
        }
        _ => {
            // Two lines change places.
            let mut lines: Vec<Vec<u8>> =
                bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
            let (a, b) = (rng.below(lines.len()), rng.below(lines.len()));
            if !lines.is_empty() {
                lines.swap(a, b);
            }
            *bytes = lines.concat();
        }
    }
}

/// Makes length and checksum of a frame or checkpoint right again, so that the damage gets past them.
fn reseal(bytes: &mut [u8]) {
    if bytes.len() >= 28 {
        let payload = (bytes.len() - 28) as u64;
        bytes[12..20].copy_from_slice(&payload.to_le_bytes());
        let end = bytes.len() - 8;
        let sum = xxh3_64(&bytes[..end]);
        bytes[end..].copy_from_slice(&sum.to_le_bytes());
    }
}

struct Seeds {
    files: Vec<(PathBuf, Vec<u8>)>,
    run: tempfile::TempDir,
}

impl Seeds {
    fn new() -> Self {
        let mut files = Vec::new();
        for name in ["good", "broken"] {
            for entry in std::fs::read_dir(folder(name)).unwrap() {
                let path = entry.unwrap().path();
                let bytes = std::fs::read(&path).unwrap();
                files.push((PathBuf::from(path.file_name().unwrap()), bytes));
            }
        }
        files.retain(|(path, _)| path.extension().is_none_or(|e| e != "expected" && e != "json"));
        files.sort();
        let sample = Sample::new(5);
        for index in 0..8 {
            files.push((PathBuf::from("a.frame"), frame_to_bytes(&sample.frame(index)).unwrap()));
        }
        let run = tempfile::tempdir().unwrap();
        let mut writer = Writer::create(run.path(), &ManifestHeader::default()).unwrap();
        writer.write_frame(&sample.frame(0)).unwrap();
        writer.write_checkpoint(0, &[7; 5000]).unwrap();
        files.push((
            PathBuf::from("a.state"),
            std::fs::read(run.path().join("checkpoint/000000.state")).unwrap(),
        ));
        files.push((PathBuf::from("billow.json"), std::fs::read(run.path().join("billow.json")).unwrap()));
        Self { files, run }
    }

    /// Reads bytes as what their name says.
    fn read(&self, path: &Path, bytes: &[u8]) -> (usize, usize) {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        let dir = self.run.path();
        match ending {
            "frame" => (peak_bytes(|| drop(frame_from_bytes(path, bytes))).1, 1000),
            "state" => {
                std::fs::write(dir.join("checkpoint/000000.state"), bytes).unwrap();
                let reader = Reader::open(dir).unwrap();
                (peak_bytes(|| drop(reader.read_checkpoint(0))).1, 300)
            }
            "json" => {
                let whole = std::fs::read(dir.join("billow.json")).unwrap();
                std::fs::write(dir.join("billow.json"), bytes).unwrap();
                let peak = peak_bytes(|| drop(Reader::open(dir))).1;
                std::fs::write(dir.join("billow.json"), whole).unwrap();
                (peak, 100)
            }
            _ => (peak_bytes(|| drop(parse_mesh(path, bytes))).1, 200),
        }
    }

    fn case(&self, number: u64) {
        let mut rng = Rng(number.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let (path, bytes) = &self.files[rng.below(self.files.len())];
        let (_, other) = &self.files[rng.below(self.files.len())];
        let mut bytes = bytes.clone();
        for _ in 0..1 + rng.below(6) {
            mutate(&mut rng, &mut bytes, other);
        }
        if path.extension().is_some_and(|e| e == "frame" || e == "state") && rng.below(8) > 0 {
            reseal(&mut bytes);
        }
        let start = Instant::now();
        let (peak, factor) = self.read(path, &bytes);
        let (time, limit) = (start.elapsed(), (1 << 20) + factor * bytes.len());
        assert!(peak <= limit, "{peak} bytes of memory for {} bytes of {}", bytes.len(), path.display());
        assert!(time < Duration::from_secs(5), "{time:?} for {} bytes of {}", bytes.len(), path.display());
    }
}

#[test]
fn mutated_files_never_cause_a_panic_a_hang_or_a_flood_of_memory() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
    };
    let (seconds, first) = (number("BILLOW_FUZZ_SECONDS", 3), number("BILLOW_FUZZ_SEED", 0));
    let (alive, heartbeat) = mpsc::channel();
    let worker = std::thread::spawn(move || {
        let (start, seeds) = (Instant::now(), Seeds::new());
        let mut case = first;
        while start.elapsed() < Duration::from_secs(seconds) {
            alive.send(case).unwrap();
            seeds.case(case);
            case += 1;
        }
        case - first
    });
    let mut last = first;
    loop {
        match heartbeat.recv_timeout(Duration::from_secs(30)) {
            Ok(case) => last = case,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("case {last} hangs"),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    match worker.join() {
        Ok(cases) => println!("{cases} cases in {seconds} s"),
        Err(cause) => {
            eprintln!("case {last} fails");
            std::panic::resume_unwind(cause);
        }
    }
}
