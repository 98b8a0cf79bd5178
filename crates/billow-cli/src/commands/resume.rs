//! `billow resume`.

use super::{interrupt, run};
use crate::args::ResumeArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Bar;
use billow::scene::driver::{self, ResumeOptions};

pub(crate) fn resume(args: &ResumeArgs, output: Output) -> Result<(), Failure> {
    let report = {
        let bar = Bar::new("resume", output.quiet);
        driver::resume(
            &args.run,
            &ResumeOptions {
                frames: args.frames.and_then(|range| range.last),
                threads: args.common.threads,
                accept_other_version: args.accept_other_version,
                progress: &bar,
                cancel: interrupt::flag(),
            },
        )?
    };
    run::finish(&report, serde_json::Map::new(), output)
}
