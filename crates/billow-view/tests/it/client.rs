//! A client of few words.

use billow_view::Server;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// The token in a server's address.
pub(crate) fn token(server: &Server) -> String {
    server.url().trim_end_matches('/').rsplit('/').next().unwrap().to_string()
}

/// Asks for a path below the token.
pub(crate) fn get(server: &Server, path: &str) -> Answer {
    request(server.address(), &format!("GET /{}/{path} HTTP/1.1\r\nHost: localhost\r\n", token(server)))
}

/// Sends a request's head, without its last empty line, on a connection of its own.
pub(crate) fn request(address: SocketAddr, head: &str) -> Answer {
    let mut stream = connect(address);
    stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
    answer(&mut stream)
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// Reads an answer to the end of the connection; status 0 if there was none.
pub(crate) fn answer(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // A connection cut off by the server may end in an error; what came before it counts.
    let _ = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or(bytes.len());
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    Answer { status, head, body: bytes.get(end + 4..).unwrap_or_default().to_vec() }
}
