//! `billow view`, and the page of `billow run --view`.

use super::interrupt;
use crate::args::{PageArgs, ViewArgs};
use crate::failure::Failure;
use crate::output::Output;
use billow_view::{Options, Server, ViewError};
use serde_json::json;
use std::io::IsTerminal;
use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) fn view(args: &ViewArgs, output: Output) -> Result<(), Failure> {
    let server = Server::open(&args.run, &options(&args.page)).map_err(failure)?;
    output.say(format!("showing {}", args.run.display()));
    announce(&server, &args.page, output, true);
    output.result(&json!({"ok": true, "run": args.run.display().to_string(), "address": server.url()}));
    output.say("Ctrl-C ends it");
    interrupt::wait();
    Ok(())
}

/// The page of a run that is being computed.
pub(super) struct LivePage {
    server: Server,
    opened: bool,
}

impl LivePage {
    /// Serves a run that is about to start in `dir`, and opens the page if there is a screen to show it on and
    /// somebody to end it.
    pub(super) fn watch(dir: &Path, page: &PageArgs, output: Output) -> Result<Self, Failure> {
        let server = Server::watch(dir, &options(page)).map_err(failure)?;
        let opened = announce(&server, page, output, attended());
        Ok(Self { server, opened })
    }

    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    pub(super) fn url(&self) -> String {
        self.server.url()
    }

    /// Whether a browser was asked to show it.
    pub(super) fn opened(&self) -> bool {
        self.opened
    }

    /// Whether somebody is there to look at it and to end it.
    pub(super) fn has_viewer(&self) -> bool {
        self.opened || attended()
    }

    /// Keeps serving until Ctrl-C.
    pub(super) fn stay(&self, output: Output) {
        output.say(format!("still showing it at {}; Ctrl-C ends it", self.url()));
        interrupt::wait();
    }
}

/// Whether a person at a terminal started this command, and not a script or a continuous-integration job.
fn attended() -> bool {
    !is_set("CI") && std::io::stdin().is_terminal()
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

/// Says where the page is and opens it if that is wanted and there is a screen to show it on; true if a browser was
/// asked.
fn announce(server: &Server, page: &PageArgs, output: Output, wanted: bool) -> bool {
    output.say(format!("viewer: {}", server.url()));
    if !server.address().ip().is_loopback() {
        output.say(format!(
            "  whoever reaches {} and knows this address can see the run; the connection is not encrypted",
            server.address()
        ));
    }
    if !wanted || page.no_open || output.json || !has_screen() {
        return false;
    }
    let asked = open(&server.url());
    if !asked {
        output.say("  open it in a browser");
    }
    asked
}

/// Whether a browser would have a screen to appear on.
fn has_screen() -> bool {
    if cfg!(any(target_os = "macos", target_os = "windows")) {
        !is_set("SSH_CONNECTION")
    } else {
        is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
    }
}

/// Whether an environment variable has a value.
fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
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
