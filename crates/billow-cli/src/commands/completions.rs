//! `billow completions`.

use crate::args::{Cli, CompletionsArgs};
use crate::failure::Failure;
use crate::output::print_line;
use clap::CommandFactory;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "billow", &mut script);
    print_line(String::from_utf8_lossy(&script).trim_end());
    Ok(())
}
