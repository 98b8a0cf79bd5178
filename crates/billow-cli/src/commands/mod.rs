//! One file per command.

mod bench;
mod check;
mod completions;
mod export;
mod gallery;
mod gallery_page;
mod info;
mod interrupt;
mod mesh;
mod mesh_pictures;
mod mesh_trim;
mod render;
mod resume;
mod run;
mod schema;
mod sdf;
mod sink;
mod subdivide;
mod summary;
mod surface;
mod view;

use crate::args::Command;
use crate::failure::Failure;
use crate::output::Output;

/// Runs the command that was typed.
pub(crate) fn dispatch(command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::Run(args) => run::run(&args, output),
        Command::Resume(args) => resume::resume(&args, output),
        Command::Check(args) => check::check(&args, output),
        Command::Export(args) => export::export(&args, output),
        Command::Render(args) => render::render(&args, output),
        Command::Info(args) => info::info(&args, output),
        Command::Sdf(args) => sdf::sdf(&args, output),
        Command::Subdivide(args) => subdivide::subdivide(&args, output),
        Command::Surface(args) => surface::surface(&args, output),
        Command::Mesh(args) => mesh::run(&args, output),
        Command::View(args) => view::view(&args, output),
        Command::Gallery(args) => gallery::gallery(&args, output),
        Command::Schema(_) => schema::schema(),
        Command::Bench(args) => bench::bench(&args, output),
        Command::Completions(args) => completions::completions(&args),
    }
}
