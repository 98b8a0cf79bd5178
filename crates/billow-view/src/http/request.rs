//! Reading a request from someone who may be slow, broken or hostile.
//!
//! The head of a request may take at most [`HEAD_BYTES`] bytes and [`HEAD_TIME`]; whoever sends a byte now and then
//! to hold a connection is cut off when the time is over. Bodies are refused.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Longest head of a request [bytes].
const HEAD_BYTES: usize = 16 * 1024;
/// Time from the first byte of a head to its last.
const HEAD_TIME: Duration = Duration::from_secs(8);
/// Time a connection may stay open between requests.
const IDLE_TIME: Duration = Duration::from_secs(60);

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Whether only the head of the answer is wanted.
    pub(crate) head_only: bool,
    /// Path, split at slashes and percent-decoded; the query is dropped.
    pub(crate) path: Vec<String>,
    /// The `Host` header.
    pub(crate) host: String,
    /// Whether the connection ends with this answer.
    pub(crate) close: bool,
}

/// Why a request was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The other side is gone or was silent for too long: nothing to answer.
    Gone,
    /// It deserves an answer with this status, after which the connection ends.
    Status(u16),
}

/// Reads the next request. `rest` holds bytes that came after the last one.
pub(crate) fn read_request(stream: &mut TcpStream, rest: &mut Vec<u8>) -> Result<Request, Refusal> {
    let idle_until = Instant::now() + IDLE_TIME;
    let mut head_until = (!rest.is_empty()).then(|| Instant::now() + HEAD_TIME);
    let mut searched = 0;
    loop {
        if let Some(end) = find_end(rest, searched) {
            let request = parse(&rest[..end]);
            rest.drain(..end + 4);
            return request.map_err(Refusal::Status);
        }
        if rest.len() >= HEAD_BYTES {
            return Err(Refusal::Status(431));
        }
        searched = rest.len().saturating_sub(3);
        let until = head_until.unwrap_or(idle_until);
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(if head_until.is_some() { Refusal::Status(408) } else { Refusal::Gone });
        }
        stream.set_read_timeout(Some(left)).map_err(|_| Refusal::Gone)?;
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer) {
            Ok(0) => return Err(Refusal::Gone),
            Ok(n) => {
                rest.extend_from_slice(&buffer[..n]);
                head_until.get_or_insert_with(|| Instant::now() + HEAD_TIME);
            }
            Err(e)
                if matches!(
                    e.kind(),
                    ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut
                ) => {}
            Err(_) => return Err(Refusal::Gone),
        }
    }
}

fn find_end(bytes: &[u8], from: usize) -> Option<usize> {
    bytes[from..].windows(4).position(|w| w == b"\r\n\r\n").map(|k| from + k)
}

/// Parses the head of a request; the error is a status code.
fn parse(head: &[u8]) -> Result<Request, u16> {
    let text = std::str::from_utf8(head).map_err(|_| 400u16)?;
    if text.bytes().any(|b| b != b'\r' && b != b'\n' && b != b'\t' && b.is_ascii_control()) {
        return Err(400);
    }
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(400);
    };
    let head_only = match method {
        "GET" => false,
        "HEAD" => true,
        _ => return Err(405),
    };
    let mut close = match version {
        "HTTP/1.1" => false,
        "HTTP/1.0" => true,
        _ => return Err(505),
    };
    let mut host = None;
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(400u16)?;
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "host" if host.is_some() => return Err(400),
            "host" => host = Some(value.to_string()),
            "connection" => {
                close |= value.split(',').any(|option| option.trim().eq_ignore_ascii_case("close"));
            }
            "content-length" if value != "0" => return Err(413),
            "transfer-encoding" => return Err(413),
            // A space or nothing before the colon is how requests are smuggled past other parsers.
            name if name.is_empty() || name.contains([' ', '\t', '\r', '\n']) => return Err(400),
            _ => {}
        }
    }
    let path = parse_path(target).ok_or(400u16)?;
    Ok(Request { head_only, path, host: host.ok_or(400u16)?, close })
}

/// The parts of a path such as `/a/b%20c?query`: `["a", "b c"]`.
fn parse_path(target: &str) -> Option<Vec<String>> {
    let path = target.split(['?', '#']).next()?.strip_prefix('/')?;
    path.split('/').map(percent_decode).collect()
}

fn percent_decode(part: &str) -> Option<String> {
    let mut bytes = part.bytes();
    let mut out = Vec::with_capacity(part.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            let (high, low) = (digit()?, digit()?);
            out.push((16 * high + low) as u8);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(target: &str) -> Result<Vec<String>, u16> {
        parse(format!("GET {target} HTTP/1.1\r\nHost: localhost").as_bytes()).map(|r| r.path)
    }

    #[test]
    fn paths_are_split_before_they_are_decoded() {
        assert_eq!(path("/t/field/3/max%20strain?x=1").unwrap(), ["t", "field", "3", "max strain"]);
        assert_eq!(path("/t/").unwrap(), ["t", ""]);
        assert_eq!(
            path("/t/..%2f..%2fetc/passwd").unwrap(),
            ["t", "../../etc", "passwd"],
            "an odd name, no path"
        );
        assert_eq!(path("/%ff"), Err(400));
        assert_eq!(path("/%2"), Err(400));
        assert_eq!(path("http://elsewhere/"), Err(400));
        assert_eq!(path("*"), Err(400));
    }

    #[test]
    fn broken_heads_are_refused_with_the_right_status() {
        let status = |head: &str| parse(head.as_bytes()).unwrap_err();
        assert_eq!(status("POST / HTTP/1.1\r\nHost: a"), 405);
        assert_eq!(status("GET / HTTP/2\r\nHost: a"), 505);
        assert_eq!(status("GET /"), 400);
        assert_eq!(status("GET / HTTP/1.1"), 400);
        assert_eq!(status("GET / HTTP/1.1\r\nHost: a\r\nHost: b"), 400);
        assert_eq!(status("GET / HTTP/1.1\r\nHost : a"), 400);
        assert_eq!(status("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5"), 413);
        assert_eq!(status("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked"), 413);
        assert_eq!(status("GET /\0 HTTP/1.1\r\nHost: a"), 400);
        assert_eq!(parse(b"GET /\xff HTTP/1.1\r\nHost: a").unwrap_err(), 400);
    }

    #[test]
    fn connections_persist_unless_asked_otherwise() {
        let close = |head: &str| parse(head.as_bytes()).unwrap().close;
        assert!(!close("GET / HTTP/1.1\r\nHost: a"));
        assert!(close("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Close"));
        assert!(close("HEAD / HTTP/1.0\r\nHost: a"));
    }
}
