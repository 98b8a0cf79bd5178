//! The `billow` command: run, resume, check, export and inspect simulations.
//!
//! `args` defines what may be typed, `commands` holds one file per command, and everything they compute comes from
//! the `billow` library. A command returns `Result<(), Failure>`; the kind of failure decides the exit code.

#![allow(clippy::print_stderr)] // talking to people is this crate's job; stdout goes through `output`

mod args;
mod commands;
mod diagnostics;
mod failure;
mod memory;
mod output;
mod progress;

use args::{Cli, Command};
use clap::Parser;
use output::Output;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let output = Output { quiet: cli.quiet, json: cli.command.json() };
    match commands::dispatch(cli.command, output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output.failure(&failure);
            failure.report()
        }
    }
}

impl Command {
    fn json(&self) -> bool {
        match self {
            Self::Run(a) => a.common.json,
            Self::Resume(a) => a.common.json,
            Self::Check(a) => a.common.json,
            Self::Export(a) => a.common.json,
            Self::Render(a) => a.common.json,
            Self::Info(a) => a.common.json,
            Self::Sdf(a) => a.common.json,
            Self::Subdivide(a) => a.common.json,
            Self::Surface(a) => a.common.json,
            Self::Mesh(a) => a.common.json,
            Self::Bench(a) => a.common.json,
            Self::Gallery(a) => a.json,
            Self::View(a) => a.json,
            Self::Schema(_) | Self::Completions(_) => false,
        }
    }
}
