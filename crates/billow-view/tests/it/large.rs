//! Two hundred thousand triangles scrub smoothly: few bytes per frame, little work for the server and for the page.

use crate::chromium::Chromium;
use crate::client::get;
use crate::scene;
use billow_view::{Options, Server};
use std::time::{Duration, Instant};

/// Cells along the sheet's side: 199 712 triangles, 100 489 vertices.
const CELLS: u32 = 316;
const FRAMES: u32 = 11;

/// Processor time of this process so far, where the system tells [s].
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|n| n.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The middle of some times [ms].
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[test]
fn two_hundred_thousand_triangles_scrub_smoothly() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    scene::write(&run, FRAMES, CELLS, Duration::ZERO).unwrap();
    let server = Server::open(&run, &Options::default()).unwrap();
    // The first frame also brings what all frames share.
    get(&server, "frame/0");
    let (mut times, mut bytes) = (Vec::new(), 0);
    let before = processor_seconds();
    for k in 1..FRAMES {
        let start = Instant::now();
        bytes = get(&server, &format!("frame/{k}")).body.len();
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let vertices = (CELLS + 1) as usize * (CELLS + 1) as usize;
    let (served, busy) = (median(times), (processor_seconds() - before) * 1e3 / f64::from(FRAMES - 1));
    println!(
        "{} triangles: {bytes} bytes per frame, served in {served:.1} ms with {busy:.0} ms of processor",
        2 * CELLS * CELLS
    );
    assert!(bytes < 12 * vertices + 400_000, "{bytes} bytes for {vertices} vertices and everything else");
    assert!(served < 1000.0, "{served} ms");

    let Some(mut page) = Chromium::launch(&server.url(), 640, 400) else { return };
    page.wait_for_rest();
    // From the bytes to what the graphics card is given, without drawing: software drawing is not what laptops do.
    let times = page.eval(&format!(
        "(async () => {{ const {{ decodeFrame }} = await import('./wire.js'); const times = []; \
         for (let k = 1; k < {FRAMES}; k++) {{ billow.player.seek(k); while (billow.player.shown !== k) await new Promise((r) => setTimeout(r, 20)); }} \
         for (let k = 1; k < {FRAMES}; k++) {{ const bytes = await (await fetch(`frame/${{k}}`)).arrayBuffer(); \
         const start = performance.now(); decodeFrame(bytes); billow.present(k); times.push(performance.now() - start); }} \
         return times; }})()"
    ));
    let decoded = median(times.as_array().unwrap().iter().map(|t| t.as_f64().unwrap()).collect());
    println!("{decoded:.1} ms of the page to decode and hand over a frame");
    assert!(decoded < 200.0, "{decoded} ms");
    page.assert_quiet();
}
