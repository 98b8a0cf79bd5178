//! Shows a run with one object of every kind, to look at the viewer without a solver.
//!
//! `cargo run -p billow-view --example demo -- FOLDER [FRAMES [CELLS [PAUSE]]]` writes the run to `FOLDER`, one frame
//! every `PAUSE` milliseconds, and serves its page meanwhile and until a line is entered.

#![allow(clippy::print_stdout)]

#[path = "demo/scene.rs"]
mod scene;

use billow_view::{Options, Server};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let folder = words.next().ok_or("name a folder to write the run to")?;
    let frames = words.next().map_or(Ok(96), |n| n.parse())?;
    let cells = words.next().map_or(Ok(60), |n| n.parse())?;
    let pause = words.next().map_or(Ok(0), |n| n.parse())?;
    let server = Server::watch(&folder, &Options::default())?;
    println!("{}", server.url());
    scene::write(folder.as_ref(), frames, cells, Duration::from_millis(pause))?;
    println!("{frames} frames in {folder}; press Enter to end");
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
}
