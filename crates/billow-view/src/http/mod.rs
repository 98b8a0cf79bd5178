//! The little of HTTP/1.1 that the page needs: `GET` and `HEAD`, no bodies, persistent connections.

mod request;
mod response;

pub(crate) use request::{Refusal, Request, read_request};
pub(crate) use response::{Response, write_response};
