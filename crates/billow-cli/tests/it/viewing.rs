//! `billow run --view`: a picture where there is no screen, a page that stays where there is one.
#![cfg(unix)]

use crate::support::{Place, crossing_scene};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The address that a command printed.
fn address(text: &str) -> String {
    let line = text.lines().find_map(|line| line.split("viewer: ").nth(1));
    line.unwrap_or_else(|| panic!("no address in {text}")).trim().to_string()
}

/// Asks for a path below a page's address; the status and what came.
fn get(url: &str, path: &str) -> Option<(u16, String)> {
    let (host, token) = url.strip_prefix("http://")?.split_once('/')?;
    let mut stream = TcpStream::connect(host).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    write!(stream, "GET /{token}{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").ok()?;
    let mut text = Vec::new();
    stream.read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    Some((text.split(' ').nth(1)?.parse().ok()?, text))
}

fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(it) = found() {
            return it;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{what} never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn without_a_screen_a_picture_is_made_and_the_command_ends() {
    let place = Place::new();
    let outcome = place.billow(&["run", "tumble", "--view", "--frames", "..8"]).ok();
    assert!(address(&outcome.stdout).starts_with("http://127.0.0.1:"), "{outcome:?}");
    assert!(outcome.stdout.contains("picture: out/tumble-sheet.png\n"), "{outcome:?}");
    assert!(outcome.stdout.ends_with("show it any time with: billow view out/tumble\n"), "{outcome:?}");
    let picture = std::fs::read(place.path("out/tumble-sheet.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG") && picture.len() > 20_000, "{} bytes", picture.len());
    assert!(get(&address(&outcome.stdout), "run").is_none(), "nothing goes on listening");
    // Scripts find both in the report.
    let report = place.billow(&["run", "tumble", "--view", "--frames", "..2", "--json"]).ok().json();
    assert_eq!(report["picture"], "out/tumble-2-sheet.png", "{report}");
    assert!(report["address"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{report}");
}

#[test]
fn a_failed_run_with_a_page_ends_too_when_nobody_is_there() {
    let place = Place::new();
    place.write("cross.toml", &crossing_scene("fail"));
    let outcome = place.billow(&["run", "cross.toml", "--view"]);
    assert_eq!(outcome.code, 3, "{outcome:?}");
    assert!(outcome.stdout.contains("viewer: "), "{outcome:?}");
}

#[test]
fn with_a_screen_the_browser_opens_and_the_page_stays_until_ctrl_c() {
    let place = Place::new();
    if Command::new("script").arg("--version").output().is_err() {
        println!("skipped: `script`, which gives a command a terminal, is not installed");
        return;
    }
    // A browser that notes what it is asked to show.
    let browser = place.path("xdg-open");
    std::fs::write(&browser, format!("#!/bin/sh\necho \"$1\" > '{}'\n", place.path("shown").display()))
        .unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", place.path("").display(), std::env::var("PATH").unwrap());
    // The exit code goes through a file: `script` may lose it when the terminal closes before the child is reaped.
    let line = format!(
        "trap : INT; '{}' run tumble --view --frames ..8; echo $? > '{}'",
        env!("CARGO_BIN_EXE_billow"),
        place.path("code").display()
    );
    let mut terminal = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(place.path(""))
        .env("PATH", path)
        .env("DISPLAY", ":99")
        .env_remove("CI")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let url = wait_for("the browser", || {
        std::fs::read_to_string(place.path("shown")).ok().filter(|u| u.ends_with('\n'))
    });
    let run = wait_for("the last frame", || {
        get(url.trim(), "run").filter(|(_, text)| text.contains(r#""status":"finished""#))
    });
    assert_eq!(run.0, 200);
    std::thread::sleep(Duration::from_millis(500));
    assert!(terminal.try_wait().unwrap().is_none(), "the page stays");
    assert_eq!(get(url.trim(), "").map(|(status, _)| status), Some(200));
    assert!(!place.path("out/tumble-sheet.png").exists(), "the browser is the picture");
    terminal.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
    let mut said = String::new();
    terminal.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    terminal.wait().unwrap();
    assert_eq!(std::fs::read_to_string(place.path("code")).unwrap(), "0\n", "{said}");
    assert!(said.contains("still showing it at http://127.0.0.1:"), "{said}");
    assert!(get(url.trim(), "run").is_none(), "it is over");
}
