//! `billow view`, and the page of `billow run --view`.

use super::interrupt;
use crate::args::{PageArgs, ViewArgs};
use crate::failure::Failure;
use crate::output::Output;
use billow_view::{Options, Server, ViewError};
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) fn view(args: &ViewArgs, output: Output) -> Result<(), Failure> {
    let server = Server::open(&args.run, &options(&args.page)).map_err(failure)?;
    output.say(format!("showing {}", args.run.display()));
    announce(&server, &args.page, output);
    output.result(&json!({"ok": true, "run": args.run.display().to_string(), "address": server.url()}));
    output.say("Ctrl-C ends it");
    interrupt::wait();
    Ok(())
}

/// Serves a run that is about to start in `dir`.
pub(super) fn watch(dir: &Path, page: &PageArgs, output: Output) -> Result<Server, Failure> {
    let server = Server::watch(dir, &options(page)).map_err(failure)?;
    announce(&server, page, output);
    Ok(server)
}

fn options(page: &PageArgs) -> Options {
    let bind = page.bind.map_or(Options::default().bind, |bind| bind.0);
    Options { bind, hosts: page.allow_host.clone() }
}

fn failure(error: ViewError) -> Failure {
    match error {
        ViewError::Run(error) => Failure::BadInput(error.to_string()),
        ViewError::Bind { .. } | ViewError::System(_) => Failure::System(error.to_string()),
    }
}

/// Says where the page is and opens it if there is a screen to show it on.
fn announce(server: &Server, page: &PageArgs, output: Output) {
    output.say(format!("viewer: {}", server.url()));
    if !server.address().ip().is_loopback() {
        output.say(format!(
            "  whoever reaches {} and knows this address can see the run; the connection is not encrypted",
            server.address()
        ));
    }
    if !page.no_open && !output.json && has_screen() && !open(&server.url()) {
        output.say("  open it in a browser");
    }
}

/// Whether a browser would have a screen to appear on.
fn has_screen() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if cfg!(any(target_os = "macos", target_os = "windows")) {
        !set("SSH_CONNECTION")
    } else {
        set("DISPLAY") || set("WAYLAND_DISPLAY")
    }
}

/// Asks the desktop to open an address; false if it cannot be asked.
fn open(url: &str) -> bool {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(target_os = "windows") {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let quiet = Stdio::null;
    let child =
        Command::new(program).args(before).arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    child.map(|mut child| std::thread::spawn(move || child.wait())).is_ok()
}
