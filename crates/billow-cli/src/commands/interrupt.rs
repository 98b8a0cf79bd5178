//! Ctrl-C: the first one asks the run to stop after the current sub-step, the second one ends the process. A command
//! that only waits ends at the first.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);
/// Whether nothing is being computed that would have to come to an end.
static WAITING: AtomicBool = AtomicBool::new(false);
static INSTALLED: OnceLock<()> = OnceLock::new();

/// The flag that Ctrl-C (and a polite `kill`) raises. Installs the handler on first use.
pub(crate) fn flag() -> &'static AtomicBool {
    INSTALLED.get_or_init(|| {
        let outcome = ctrlc::set_handler(|| {
            if STOP.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
            if WAITING.load(Ordering::SeqCst) {
                return;
            }
            eprintln!("\nstopping after this sub-step; press Ctrl-C again to quit at once");
        });
        if let Err(error) = outcome {
            eprintln!("warning: Ctrl-C will end the run at once ({error}); `billow resume` still works");
        }
    });
    &STOP
}

/// Waits for Ctrl-C.
pub(crate) fn wait() {
    WAITING.store(true, Ordering::SeqCst);
    let stop = flag();
    while !stop.load(Ordering::SeqCst) {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}
