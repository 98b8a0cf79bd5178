//! Which connections are open, and which of them goes when there are too many.
//!
//! Whoever has shown the token keeps the connection. Others are guests: when the house is full, the guest who has
//! been there longest goes, so that a flood of connections without the token cannot lock the viewer out.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Connections open at once.
const MOST: usize = 64;

/// The open connections.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    open: Mutex<(u64, BTreeMap<u64, Connection>)>,
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    admitted: bool,
}

impl Connections {
    /// Lets a connection in and numbers it; nothing if it cannot be let in.
    pub(crate) fn enter(&self, stream: &TcpStream) -> Option<u64> {
        let stream = stream.try_clone().ok()?;
        let mut guard = self.lock();
        let (next, open) = &mut *guard;
        if open.len() >= MOST {
            let guest = open.iter().find(|(_, c)| !c.admitted).map(|(id, _)| *id)?;
            if let Some(connection) = open.remove(&guest) {
                // Its thread sees the end and leaves.
                let _ = connection.stream.shutdown(Shutdown::Both);
            }
        }
        *next += 1;
        open.insert(*next, Connection { stream, admitted: false });
        Some(*next)
    }

    /// Notes that a connection has shown the token.
    pub(crate) fn admit(&self, id: u64) {
        if let Some(connection) = self.lock().1.get_mut(&id) {
            connection.admitted = true;
        }
    }

    /// Notes that a connection has ended.
    pub(crate) fn leave(&self, id: u64) {
        self.lock().1.remove(&id);
    }

    /// Ends all connections.
    pub(crate) fn close(&self) {
        for connection in self.lock().1.values() {
            let _ = connection.stream.shutdown(Shutdown::Both);
        }
    }

    fn lock(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, Connection>)> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
