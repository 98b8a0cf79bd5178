//! `billow export`.

use crate::args::ExportArgs;
use crate::failure::Failure;
use crate::output::Output;

pub(crate) fn export(args: &ExportArgs, _output: Output) -> Result<(), Failure> {
    Err(Failure::System(format!("{}: the exporters are not connected yet", args.run.display())))
}
