//! Requests meant to do harm: none reads outside the run, none stops the server or the run it shows.

use crate::client::{answer, connect, get, request, token};
use crate::scene;
use billow_io::cache::Reader;
use billow_view::{Options, Server};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const SECRET: &str = "the secret of the neighbour";

/// A run with a secret beside it and one inside its folder.
fn serve() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    scene::write(&run, 3, 40, Duration::ZERO).unwrap();
    std::fs::write(folder.path().join("secret.txt"), SECRET).unwrap();
    std::fs::write(run.join("secret.txt"), SECRET).unwrap();
    let server = Server::open(&run, &Options::default()).unwrap();
    (folder, server)
}

fn alive(server: &Server) {
    let start = Instant::now();
    assert_eq!(get(server, "run").status, 200);
    assert!(start.elapsed() < Duration::from_secs(5), "took {:?}", start.elapsed());
}

#[test]
fn without_the_token_nothing_is_shown() {
    let (_folder, server) = serve();
    let good = token(&server);
    let other = if good.starts_with('0') { "1" } else { "0" };
    let wrong = format!("{other}{}", &good[1..]);
    let upper = good.to_uppercase();
    for path in [
        "",
        "run",
        "frame/0",
        &wrong,
        &format!("{wrong}/run"),
        &good[..31],
        &format!("{good}0/run"),
        &format!("x/{good}/run"),
    ] {
        let found = request(server.address(), &format!("GET /{path} HTTP/1.1\r\nHost: localhost\r\n"));
        assert_eq!(found.status, 403, "/{path}");
        assert!(found.body.len() < 100 && !found.head.contains(&good));
    }
    if upper != good {
        assert_eq!(
            request(server.address(), &format!("GET /{upper}/run HTTP/1.1\r\nHost: localhost\r\n")).status,
            403
        );
    }
    assert_eq!(get(&server, "run").status, 200);
}

#[test]
fn a_name_pointed_at_this_machine_from_elsewhere_is_refused() {
    let (_folder, server) = serve();
    let path = format!("/{}/run", token(&server));
    let status =
        |host: &str| request(server.address(), &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n")).status;
    assert_eq!([status("evil.example"), status("localhost.evil.example:80"), status("")], [421; 3]);
    assert_eq!([status("localhost:1"), status("127.0.0.1"), status("[::1]:80")], [200; 3]);
    assert_eq!(request(server.address(), &format!("GET {path} HTTP/1.1\r\n")).status, 400, "no host at all");
}

#[test]
fn no_path_leads_to_a_file() {
    let (folder, server) = serve();
    let absolute = folder.path().join("secret.txt");
    let paths = [
        "secret.txt",
        "../secret.txt",
        "../../secret.txt",
        "..%2fsecret.txt",
        "%2e%2e/secret.txt",
        "..%5csecret.txt",
        "frame/..%2f..%2fsecret.txt",
        "frame/../../secret.txt",
        "field/0/..%2f..%2f..%2fsecret.txt",
        "part/0/0/..%2fsecret.txt",
        "billow.json",
        "frames/000000.frame",
        "scene.toml",
        "report.jsonl",
        "billow.lock",
        "%00",
        "secret.txt%00.js",
        "main.js/..",
        "./main.js",
        "//main.js",
        "catalogue/0/../../secret.txt",
        absolute.to_str().unwrap(),
        &format!("%2f{}", absolute.display()),
    ];
    for path in paths {
        let found = get(&server, path);
        let shown = String::from_utf8_lossy(&found.body).contains(SECRET);
        assert!(!shown, "{path} shows a file");
        // A field nobody has is an empty answer; everything else does not exist.
        let field = path.starts_with("field/");
        assert!(found.status >= 400 || field, "{path} was answered with {}", found.status);
    }
    alive(&server);
}

#[test]
fn numbers_beyond_all_bounds_are_answered_plainly() {
    let (_folder, server) = serve();
    for path in [
        "frame/3",
        "frame/4294967295",
        "frame/4294967296",
        "frame/-1",
        "frame/1e9",
        "frame/",
        "frame/0/",
        "part/0/99/vertices",
        "part/0/18446744073709551616/vertices",
        "table/x",
        "table/18446744073709551616",
        "watch/-1",
        "catalogue/77",
        "nothing",
    ] {
        assert_eq!(get(&server, path).status, 404, "{path}");
    }
    assert_eq!(get(&server, "table/18446744073709551615").json()["rows"].as_array().unwrap().len(), 0);
    let ranged = |range: &str| {
        let head =
            format!("GET /{}/frame/0 HTTP/1.1\r\nHost: localhost\r\nRange: {range}\r\n", token(&server));
        let found = request(server.address(), &head);
        (found.status, found.body.len())
    };
    let whole = get(&server, "frame/0").body.len();
    for range in ["bytes=0-99999999999999999999", "bytes=-1", "bytes=5-2,0-0,0-0"] {
        assert_eq!(ranged(range), (200, whole), "ranges are not offered");
    }
    alive(&server);
}

#[test]
fn requests_that_are_not_ours_to_answer_get_a_status() {
    let (_folder, server) = serve();
    let good = token(&server);
    let line = |line: &str| request(server.address(), &format!("{line}\r\nHost: localhost\r\n")).status;
    assert_eq!(line(&format!("POST /{good}/run HTTP/1.1")), 405);
    assert_eq!(line(&format!("DELETE /{good}/frame/0 HTTP/1.1")), 405);
    assert_eq!(line(&format!("GET /{good}/run HTTP/3")), 505);
    assert_eq!(line("GET"), 400);
    assert_eq!(line(&format!("GET /{good}/run HTTP/1.1\r\nContent-Length: 99")), 413);
    let mut head = connect(server.address());
    head.write_all(
        format!("HEAD /{good}/frame/0 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes(),
    )
    .unwrap();
    let found = answer(&mut head);
    assert_eq!((found.status, found.body.len()), (200, 0));
    // A head that never ends.
    let mut stream = connect(server.address());
    let filler = format!("X-Filler: {}\r\n", "a".repeat(1000));
    let _ = stream.write_all(format!("GET /{good}/run HTTP/1.1\r\n{}", filler.repeat(200)).as_bytes());
    assert!([431, 0].contains(&answer(&mut stream).status), "refused or cut off");
    let long = "a".repeat(100_000);
    let mut stream = connect(server.address());
    let _ = stream.write_all(format!("GET /{long}").as_bytes());
    assert!([431, 0].contains(&answer(&mut stream).status));
    alive(&server);
}

#[test]
fn noise_is_survived() {
    let (_folder, server) = serve();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let template =
        format!("GET /{}/frame/1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", token(&server));
    for round in 0..300 {
        let mut bytes = template.clone().into_bytes();
        if round % 3 == 0 {
            bytes = (0..200).map(|_| byte()).chain(*b"\r\n\r\n").collect();
        }
        for _ in 0..round % 7 {
            let at = usize::from(byte()) % bytes.len();
            bytes[at] = byte();
        }
        let mut stream = connect(server.address());
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let found = answer(&mut stream);
        assert!(
            found.status < 500 || found.status == 505,
            "{} for {:?}",
            found.status,
            String::from_utf8_lossy(&bytes)
        );
    }
    alive(&server);
}

#[test]
fn slow_and_silent_clients_are_cut_off_while_others_are_served() {
    let (_folder, server) = serve();
    let start = Instant::now();
    let mut slow = connect(server.address());
    let head = format!("GET /{}/run HTTP/1.1\r\nHost: localhost\r\nX: {}", token(&server), "a".repeat(400));
    let mut cut = None;
    for chunk in head.as_bytes() {
        if slow.write_all(&[*chunk]).is_err() || start.elapsed() > Duration::from_secs(20) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
        slow.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let mut answer = [0; 64];
        if let Ok(n) = slow.read(&mut answer) {
            cut = Some(String::from_utf8_lossy(&answer[..n]).into_owned());
            break;
        }
    }
    let waited = start.elapsed();
    assert!(cut.is_some_and(|a| a.is_empty() || a.contains(" 408 ")), "a trickle of bytes is told to go");
    assert!(waited > Duration::from_secs(4) && waited < Duration::from_secs(15), "after {waited:?}");
    alive(&server);
}

#[test]
fn clients_that_do_not_read_or_drop_the_line_harm_nobody() {
    let (_folder, server) = serve();
    let ask = format!("GET /{}/frame/2 HTTP/1.1\r\nHost: localhost\r\n\r\n", token(&server));
    // Many requests in one go whose answers are never read.
    let mut deaf: Vec<_> = (0..8).map(|_| connect(server.address())).collect();
    for stream in &mut deaf {
        stream.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
        let _ = stream.write_all(ask.repeat(100).as_bytes());
    }
    // Lines dropped before, in and after the request.
    for cut in (0..ask.len()).step_by(7) {
        let mut stream = connect(server.address());
        stream.write_all(&ask.as_bytes()[..cut]).unwrap();
        drop(stream);
    }
    for _ in 0..20 {
        let mut stream = connect(server.address());
        stream.write_all(ask.as_bytes()).unwrap();
        let _ = stream.read(&mut [0; 10]);
    }
    alive(&server);
    let start = Instant::now();
    drop(server);
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "the server ends although clients hang: {:?}",
        start.elapsed()
    );
}

#[test]
fn a_flood_of_connections_does_not_lock_the_viewer_out() {
    let (_folder, server) = serve();
    let mut kept = connect(server.address());
    let ask = format!("GET /{}/run HTTP/1.1\r\nHost: localhost\r\n\r\n", token(&server));
    kept.write_all(ask.as_bytes()).unwrap();
    assert!(kept.read(&mut [0; 4096]).unwrap() > 0);
    let flood: Vec<_> = (0..300).map(|_| connect(server.address())).collect();
    alive(&server);
    // Whoever had shown the token before is still connected.
    kept.write_all(ask.as_bytes()).unwrap();
    assert!(kept.read(&mut [0; 4096]).unwrap() > 0);
    drop(flood);
    alive(&server);
}

#[test]
fn a_run_goes_on_while_its_viewer_is_attacked() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let server = Server::watch(&run, &Options::default()).unwrap();
    let (good, address) = (token(&server), server.address());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            scene::write(&run, 24, 20, Duration::from_millis(20)).unwrap();
            done.store(true, Ordering::SeqCst);
        });
        for attack in 0..4 {
            let good = &good;
            let done = &done;
            scope.spawn(move || {
                while !done.load(Ordering::SeqCst) {
                    let mut stream = connect(address);
                    let _ = match attack {
                        0 => stream.write_all(b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                        1 => stream
                            .write_all(format!("GET /{good}/frame/9 HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()),
                        2 => stream.write_all(&[0xff; 5000]),
                        _ => stream.write_all(
                            format!("GET /{good}/field/3/speed HTTP/1.1\r\nHost: localhost\r\n\r\n")
                                .as_bytes(),
                        ),
                    };
                }
            });
        }
    });
    let reader = Reader::open(&run).unwrap();
    assert_eq!(reader.frames().len(), 24);
    assert!(reader.frames().iter().all(|k| reader.read(*k).is_ok()));
    alive(&server);
}
