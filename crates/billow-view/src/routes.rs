//! What can be asked for. Nothing else exists.

use crate::access::{Token, host_allowed};
use crate::assets::asset;
use crate::http::{Request, Response};
use crate::source::{Missing, Source};
use std::time::Duration;

/// Longest wait for a change.
const WATCH_TIME: Duration = Duration::from_secs(20);

/// Who may ask and what they see.
pub(crate) struct Site {
    pub(crate) token: Token,
    pub(crate) hosts: Vec<String>,
    pub(crate) source: Source,
}

impl Site {
    /// Whether the request carries the token and was sent to a name of ours; the answer to give if not.
    pub(crate) fn admit(&self, request: &Request) -> Result<(), Response> {
        if !host_allowed(&request.host, &self.hosts) {
            return Err(Response::message(421, "this name is not served here; see --allow-host"));
        }
        let guess = request.path.first().map(String::as_str).unwrap_or_default();
        if !self.token.matches(guess) {
            return Err(Response::message(
                403,
                "the address lacks its token; open the one that billow printed",
            ));
        }
        Ok(())
    }

    /// The answer to an admitted request.
    pub(crate) fn answer(&self, request: &Request) -> Response {
        let path: Vec<&str> = request.path.iter().skip(1).map(String::as_str).collect();
        match path[..] {
            // Relative addresses in the page need the slash.
            [] => Response::redirect(format!("/{}/", self.token.text())),
            ["run"] => json(&self.source.describe()),
            ["watch", version] => match version.parse() {
                Ok(version) => json(&self.source.watch(version, WATCH_TIME)),
                Err(_) => Response::status(404),
            },
            ["table", after] => after.parse().map_or(Response::status(404), |n| json(&self.source.table(n))),
            ["catalogue", n] => with(n, |n| self.source.catalogue(n).map(Response::json)),
            ["frame", n] => with(n, |n| self.source.frame(n).map(Response::binary)),
            ["part", n, object, array @ ("vertices" | "indices")] => with(n, |n| {
                let object = object.parse().map_err(|_| Missing::NotFound("no such object".into()))?;
                self.source.part(n, object, array == "indices").map(Response::binary)
            }),
            ["field", n, name] => with(n, |n| self.source.field(n, name).map(Response::binary)),
            [name] => {
                asset(name).map_or(Response::status(404), |(kind, bytes)| Response::embedded(kind, bytes))
            }
            _ => Response::status(404),
        }
    }
}

fn with(number: &str, answer: impl FnOnce(u32) -> Result<Response, Missing>) -> Response {
    let Ok(number) = number.parse() else { return Response::status(404) };
    match answer(number) {
        Ok(response) => response,
        Err(Missing::NotFound(what)) => Response::message(404, what),
        Err(Missing::Damaged(what)) => Response::message(500, what),
    }
}

fn json(value: &serde_json::Value) -> Response {
    Response::json(value.to_string().into_bytes())
}
