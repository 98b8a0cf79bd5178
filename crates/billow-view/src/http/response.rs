//! Writing an answer, with headers that keep the page to itself.

use std::io::{self, ErrorKind, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: SharedBytes,
    /// Where to go instead, for a redirection.
    pub(crate) location: Option<String>,
}

/// Bytes that several answers may share.
#[derive(Clone, Debug)]
pub(crate) enum SharedBytes {
    /// Embedded in the program.
    Fixed(&'static [u8]),
    /// Kept by the cache as well.
    Kept(Arc<Vec<u8>>),
}

impl SharedBytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::Kept(bytes) => bytes,
        }
    }
}

impl Response {
    /// A file embedded in the program.
    pub(crate) fn embedded(content_type: &'static str, bytes: &'static [u8]) -> Self {
        Self::new(200, content_type, SharedBytes::Fixed(bytes))
    }

    /// Binary data.
    pub(crate) fn binary(bytes: Arc<Vec<u8>>) -> Self {
        Self::new(200, "application/octet-stream", SharedBytes::Kept(bytes))
    }

    /// A JSON text.
    pub(crate) fn json(text: Vec<u8>) -> Self {
        Self::new(200, "application/json", SharedBytes::Kept(Arc::new(text)))
    }

    /// A status with a sentence.
    pub(crate) fn message(status: u16, text: impl Into<String>) -> Self {
        let text = text.into().into_bytes();
        Self::new(status, "text/plain; charset=utf-8", SharedBytes::Kept(Arc::new(text)))
    }

    /// A status by itself.
    pub(crate) fn status(status: u16) -> Self {
        Self::message(status, reason(status))
    }

    /// Go to `location` instead.
    pub(crate) fn redirect(location: String) -> Self {
        Self { location: Some(location), ..Self::status(308) }
    }

    fn new(status: u16, content_type: &'static str, body: SharedBytes) -> Self {
        Self { status, content_type, body, location: None }
    }

    fn head(&self, close: bool) -> String {
        let mut head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n",
            self.status,
            reason(self.status),
            self.content_type,
            self.body.as_slice().len()
        );
        head.push_str(FIXED_HEADERS);
        if let Some(location) = &self.location {
            head.push_str(&format!("Location: {location}\r\n"));
        }
        if self.status == 405 {
            head.push_str("Allow: GET, HEAD\r\n");
        }
        head.push_str(if close { "Connection: close\r\n\r\n" } else { "\r\n" });
        head
    }
}

/// The page may load nothing from elsewhere, run no inline script, stand in no frame, and leak no address.
const FIXED_HEADERS: &str = "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; \
connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
Cache-Control: no-store\r\n\
Cross-Origin-Opener-Policy: same-origin\r\n\
Cross-Origin-Resource-Policy: same-origin\r\n\
Permissions-Policy: camera=(), microphone=(), geolocation=()\r\n\
Referrer-Policy: no-referrer\r\n\
X-Content-Type-Options: nosniff\r\n\
X-Frame-Options: DENY\r\n";

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Unknown",
    }
}

/// Time that any answer may take.
const BASE_TIME: Duration = Duration::from_secs(10);
/// Slowest reader that is put up with [bytes/s].
const SLOWEST: u64 = 64 * 1024;
/// Bytes handed to the system at once, so that the deadline is looked at in between.
const PIECE: usize = 256 * 1024;

/// Sends an answer; a reader slower than [`SLOWEST`] is given up.
pub(crate) fn write_response(
    stream: &mut TcpStream,
    response: &Response,
    head_only: bool,
    close: bool,
) -> io::Result<()> {
    let body = if head_only { &[][..] } else { response.body.as_slice() };
    let until = Instant::now() + patience(body.len());
    write_until(stream, response.head(close).as_bytes(), until)?;
    body.chunks(PIECE).try_for_each(|piece| write_until(stream, piece, until))
}

/// Time that an answer of so many bytes may take.
fn patience(bytes: usize) -> Duration {
    BASE_TIME + Duration::from_secs(bytes as u64 / SLOWEST)
}

fn write_until(stream: &mut TcpStream, mut bytes: &[u8], until: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(n) => bytes = &bytes[n..],
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_never_reads_is_given_up() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let _silent = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let start = Instant::now();
        let sent = write_until(&mut stream, &vec![0; 64 << 20], start + Duration::from_millis(300));
        let waited = start.elapsed();
        assert!(sent.is_err() && waited < Duration::from_secs(5), "{sent:?} after {waited:?}");
        assert_eq!([0, 60 << 20].map(|n| patience(n).as_secs()), [10, 970]);
    }

    #[test]
    fn every_answer_is_locked_down() {
        let head = Response::status(405).head(true);
        for header in [
            "default-src 'none'",
            "no-store",
            "nosniff",
            "no-referrer",
            "Allow: GET, HEAD",
            "Connection: close",
        ] {
            assert!(head.contains(header), "{header} is missing from {head}");
        }
        assert!(head.ends_with("\r\n\r\n") && head.lines().all(|l| !l.starts_with(' ')));
    }
}
