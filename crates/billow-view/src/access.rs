//! Who may ask: the secret in the address, and the name the request was sent to.
//!
//! The first part of every path is a token of 128 random bits from the operating system, so that neither another
//! user of the machine nor a page from elsewhere can guess an address. A page that points a name of its own at this
//! machine (DNS rebinding) is told apart by the `Host` header: only numeric addresses, `localhost` and names that
//! were allowed explicitly are answered.

use crate::ViewError;
use std::net::IpAddr;

/// Bytes of a token.
const BYTES: usize = 16;

/// The secret in the address.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// A new token.
    pub(crate) fn random() -> Result<Self, ViewError> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| ViewError::System(format!("no random numbers for the token: {error}")))?;
        Ok(Self(bytes.iter().map(|b| format!("{b:02x}")).collect()))
    }

    /// The token as it stands in the address.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Whether `guess` is the token. The time taken does not depend on where they differ.
    pub(crate) fn matches(&self, guess: &str) -> bool {
        let differences = self.0.bytes().zip(guess.bytes()).fold(0, |found, (a, b)| found | (a ^ b));
        guess.len() == self.0.len() && std::hint::black_box(differences) == 0
    }
}

/// Whether a `Host` header names this server: a numeric address, `localhost`, or one of `names`, with any port.
pub(crate) fn host_allowed(host: &str, names: &[String]) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || names.iter().any(|allowed| allowed.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_fresh_and_only_match_themselves() {
        let (a, b) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(a.text().len(), 32);
        assert_ne!(a.text(), b.text());
        assert!(a.matches(a.text()));
        let prefix = &a.text()[..31];
        for guess in ["", prefix, b.text(), &format!("{}0", a.text())] {
            assert!(!a.matches(guess), "{guess}");
        }
    }

    #[test]
    fn only_numbers_localhost_and_allowed_names_are_hosts() {
        let names = ["render-1.local".to_string()];
        for host in ["127.0.0.1:80", "[::1]:9", "localhost:81", "LOCALHOST", "10.0.0.5", "render-1.local:9"] {
            assert!(host_allowed(host, &names), "{host}");
        }
        for host in
            ["", "evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example:80"]
        {
            assert!(!host_allowed(host, &names), "{host}");
        }
    }
}
