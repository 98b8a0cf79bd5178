//! Mutated scenes: whatever the bytes, reading ends soon with a scene or with problems.
//!
//! A few seconds in the tests; `BILLOW_FUZZ_SECONDS` makes it as long as you like.

use billow_scene::{Loader, gallery};
use std::time::{Duration, Instant};

/// SplitMix64: a small deterministic generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Text that breaks things.
const POISON: &[&str] = &[
    "nan",
    "inf",
    "-inf",
    "1e308",
    "-1e308",
    "1e-320",
    "0",
    "-1",
    "4294967296",
    "9223372036854775807",
    "1e999",
    "\"\"",
    "[]",
    "{}",
    "[[]]",
    "true",
    "\"t\"",
    "\"1/t\"",
    "\"((((\"",
    "2026-01-01",
    "\"\u{1F600}\"",
    "[0, 0, 0]",
    "\n[body.x]\n",
    "= =",
    "\"\"\"",
    "'",
    "#",
    "\u{0}",
    "[mesh.",
    "shape = \"gear\"\n",
    "parts = 4096\n",
    "include = [\"stage.toml\"]\n",
];

fn mutate(seed: &str, random: &mut Random) -> String {
    let mut text: Vec<u8> = seed.as_bytes().to_vec();
    for _ in 0..random.below(5) {
        let at = random.below(text.len() + 1);
        match random.below(7) {
            0 => text.truncate(at),
            1 => drop(text.splice(at..at, POISON[random.below(POISON.len())].bytes())),
            2 => {
                let end = (at + random.below(30)).min(text.len());
                text.drain(at..end);
            }
            3 if at < text.len() => text[at] ^= 1 << random.below(8),
            4 => {
                // Replace a value of a line.
                let start = text[..at].iter().rposition(|b| *b == b'=').map_or(at, |p| p + 1);
                let end = text[start..].iter().position(|b| *b == b'\n').map_or(text.len(), |p| start + p);
                text.splice(start..end, POISON[random.below(POISON.len())].bytes());
            }
            5 => {
                // Repeat a piece elsewhere.
                let from = random.below(text.len());
                let piece = text[from..(from + random.below(60)).min(text.len())].to_vec();
                text.splice(at..at, piece);
            }
            _ => {
                // Swap two lines.
                let mut lines: Vec<Vec<u8>> = text.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
                let (a, b) = (random.below(lines.len()), random.below(lines.len()));
                lines.swap(a, b);
                text = lines.join(&b'\n');
            }
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn no_bytes_make_the_reader_panic_hang_or_eat_memory() {
    let seconds = std::env::var("BILLOW_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(3.0);
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/scenes/broken");
    let whole = |s: &gallery::GalleryScene| s.text().replace("include = [\"stage.toml\"]", "") + s.files[1].1;
    // Valid scenes that load quickly, then broken ones.
    let gallery = gallery::list();
    let quick = gallery.iter().filter(|s| ["clockwork", "juggle", "orrery", "tumble"].contains(&s.name));
    let mut seeds: Vec<String> = quick.map(whole).collect();
    let valid = seeds.len();
    let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    seeds.extend(names.iter().filter_map(|p| std::fs::read_to_string(p).ok()));
    let mut random = Random(1);
    let began = Instant::now();
    let (mut rounds, mut loaded, mut slowest) = (0_u32, 0_u32, Duration::ZERO);
    while began.elapsed().as_secs_f64() < seconds {
        // Half of the time a valid scene, half of the time one that is broken already.
        let seed = if random.below(2) == 0 { random.below(valid) } else { random.below(seeds.len()) };
        let text = mutate(&seeds[seed], &mut random);
        let start = Instant::now();
        let overrides = random.below(4) == 0;
        let loader = Loader::text("fuzz.toml", text.as_str());
        let loader =
            if overrides { loader.set([mutate("simulation.frames=3", &mut random)]) } else { loader };
        match loader.load() {
            Ok(_) => loaded += 1,
            Err(problems) => {
                assert!(!problems.0.is_empty() && problems.any_errors(), "no reason given for\n{text}")
            }
        }
        slowest = slowest.max(start.elapsed());
        assert!(start.elapsed() < Duration::from_secs(20), "{:?} for\n{text}", start.elapsed());
        rounds += 1;
    }
    println!("{rounds} scenes, {loaded} valid, slowest {slowest:?}");
    assert!(loaded * 50 > rounds, "mutations never leave a scene valid: they are too wild to test anything");
}
