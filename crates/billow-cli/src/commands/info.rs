//! `billow info`.

use crate::args::InfoArgs;
use crate::failure::Failure;
use crate::output::Output;

pub(crate) fn info(args: &InfoArgs, _output: Output) -> Result<(), Failure> {
    Err(Failure::System(format!("{}: not connected yet", args.path.display())))
}
