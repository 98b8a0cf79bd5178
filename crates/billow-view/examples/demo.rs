//! Writes a run with one object of every kind, to look at the viewer without a solver.
//!
//! `cargo run -p billow-view --example demo -- FOLDER [FRAMES [CELLS]]`, then `billow view FOLDER`.

#![allow(clippy::print_stdout)]

#[path = "demo/scene.rs"]
mod scene;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let folder = words.next().ok_or("name a folder to write the run to")?;
    let frames = words.next().map_or(Ok(96), |n| n.parse())?;
    let cells = words.next().map_or(Ok(60), |n| n.parse())?;
    let pause = words.next().map_or(Ok(0), |n| n.parse())?;
    scene::write(folder.as_ref(), frames, cells, std::time::Duration::from_millis(pause))?;
    println!("{frames} frames in {folder}");
    Ok(())
}
