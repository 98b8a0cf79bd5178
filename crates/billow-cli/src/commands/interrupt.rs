//! Ctrl-C: the first one asks the run to stop after the current sub-step, the second one ends the process.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);
static INSTALLED: OnceLock<()> = OnceLock::new();

/// The flag that Ctrl-C (and a polite `kill`) raises. Installs the handler on first use.
pub(crate) fn flag() -> &'static AtomicBool {
    INSTALLED.get_or_init(|| {
        let outcome = ctrlc::set_handler(|| {
            if STOP.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
            eprintln!("\nstopping after this sub-step; press Ctrl-C again to quit at once");
        });
        if let Err(error) = outcome {
            eprintln!("warning: Ctrl-C will end the run at once ({error}); `billow resume` still works");
        }
    });
    &STOP
}
