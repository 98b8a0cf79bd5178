//! Listening, and one thread per connection.
//!
//! The threads share nothing with a simulation in the same process but the files it has finished. Whatever a client
//! does ends at worst in the end of its own connection.

use crate::ViewError;
use crate::access::Token;
use crate::connections::Connections;
use crate::http::{Refusal, Response, read_request, write_response};
use crate::routes::Site;
use crate::source::Source;
use billow_io::cache::Reader;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time between looks at a run that is being written.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Time between looks at a run that nobody writes: it may be resumed.
const IDLE_LOOK_EVERY: Duration = Duration::from_secs(2);
/// Requests answered on one connection before it must be opened again.
const REQUESTS_PER_CONNECTION: usize = 100_000;

/// Where to listen and under which names.
#[derive(Clone, Debug)]
pub struct Options {
    /// Address to listen on; port 0 takes a free one. The default is a free port of 127.0.0.1, which only programs on
    /// the same machine reach.
    pub bind: SocketAddr,
    /// Host names under which the page may be asked for, besides `localhost` and numeric addresses.
    pub hosts: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { bind: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), hosts: Vec::new() }
    }
}

/// A page that shows a run, served until the value is dropped.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    site: Site,
    connections: Connections,
    stop: AtomicBool,
}

impl Server {
    /// Serves the run in `dir`.
    ///
    /// # Errors
    /// If there is no run in `dir` or the address cannot be listened on.
    pub fn open(dir: impl AsRef<Path>, options: &Options) -> Result<Self, ViewError> {
        Reader::open(dir.as_ref())?;
        Self::watch(dir, options)
    }

    /// Serves the run that is going to stand in `dir`: until it does, the page says that it waits.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub fn watch(dir: impl AsRef<Path>, options: &Options) -> Result<Self, ViewError> {
        let refused = |source| ViewError::Bind { address: options.bind, source };
        let listener = TcpListener::bind(options.bind).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let site =
            Site { token: Token::random()?, hosts: options.hosts.clone(), source: Source::new(dir.as_ref()) };
        let shared =
            Arc::new(Shared { site, connections: Connections::default(), stop: AtomicBool::new(false) });
        let mut server = Self { address, shared: Arc::clone(&shared), threads: Vec::new() };
        let looking = Arc::clone(&shared);
        server.threads.push(spawn("billow-view look", move || look(&looking))?);
        server.threads.push(spawn("billow-view accept", move || accept(&listener, &shared))?);
        Ok(server)
    }

    /// The address listened on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The page's address, token included. One bound to all interfaces is given as seen from this machine.
    pub fn url(&self) -> String {
        let ip = match self.address.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        };
        format!("http://{}/{}/", SocketAddr::new(ip, self.address.port()), self.shared.site.token.text())
    }

    /// Shows how far the frame being computed has come: `fraction` from 0 to 1.
    pub fn report_progress(&self, frame: u32, fraction: f64) {
        self.shared.site.source.report_progress(frame, fraction);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.shared.site.source.close();
        // A connection of our own ends the wait for the next one.
        let port = self.address.port();
        let near = if self.address.ip().is_unspecified() {
            SocketAddr::new(
                if self.address.is_ipv4() {
                    Ipv4Addr::LOCALHOST.into()
                } else {
                    std::net::Ipv6Addr::LOCALHOST.into()
                },
                port,
            )
        } else {
            self.address
        };
        let _ = TcpStream::connect_timeout(&near, Duration::from_secs(1));
        self.shared.connections.close();
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

fn spawn(name: &str, f: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, ViewError> {
    let thread = thread::Builder::new().name(name.into()).spawn(f);
    thread.map_err(|error| ViewError::System(format!("cannot start a thread: {error}")))
}

/// Looks for new frames and indexes them. Beside a running simulation it takes at most a quarter of one core.
fn look(shared: &Shared) {
    let source = &shared.site.source;
    while !shared.stop.load(Ordering::SeqCst) {
        source.refresh();
        let growing = source.is_growing();
        let pause_until = Instant::now() + if growing { LOOK_EVERY } else { IDLE_LOOK_EVERY };
        loop {
            let start = Instant::now();
            let more = source.index_next();
            if shared.stop.load(Ordering::SeqCst) || (!more || Instant::now() > pause_until) {
                break;
            }
            if growing {
                thread::park_timeout(3 * start.elapsed());
            }
        }
        let left = pause_until.saturating_duration_since(Instant::now());
        if !left.is_zero() && !shared.stop.load(Ordering::SeqCst) {
            thread::park_timeout(left);
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stop.load(Ordering::SeqCst) {
            break;
        }
        let Ok(mut stream) = stream else {
            // Out of file descriptors, most likely: the next one may fare better.
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        let Some(id) = shared.connections.enter(&stream) else {
            let _ = write_response(&mut stream, &Response::status(503), false, true);
            continue;
        };
        let owner = Arc::clone(shared);
        let thread = spawn("billow-view connection", move || {
            converse(stream, id, &owner);
            owner.connections.leave(id);
        });
        if thread.is_err() {
            shared.connections.leave(id);
        }
    }
}

/// Answers the requests of one connection until it ends.
fn converse(mut stream: TcpStream, id: u64, shared: &Shared) {
    let _ = stream.set_nodelay(true);
    let mut rest = Vec::new();
    for _ in 0..REQUESTS_PER_CONNECTION {
        let (response, head_only, close) = match read_request(&mut stream, &mut rest) {
            Err(Refusal::Gone) => return,
            Err(Refusal::Status(status)) => (Response::status(status), false, true),
            Ok(request) => match shared.site.admit(&request) {
                Err(refusal) => (refusal, request.head_only, true),
                Ok(()) => {
                    shared.connections.admit(id);
                    (shared.site.answer(&request), request.head_only, request.close)
                }
            },
        };
        let sent = write_response(&mut stream, &response, head_only, close);
        if sent.is_err() || close || shared.stop.load(Ordering::SeqCst) {
            return;
        }
    }
}
