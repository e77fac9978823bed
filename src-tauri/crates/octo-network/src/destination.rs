//! Where a client wants to connect to.

use crate::nearness::{Nearness, nearness_of_host};
use std::{fmt, net::IpAddr};
use url::Host;

/// The maximum length of a host's name, from RFC 1035.
const MAX_HOST_BYTES: usize = 253;

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Destination {
    host: Host<String>,
    port: u16,
}

impl Destination {
    /// Reads a host as browsers do: a name in lower case and in ASCII, or an address in any of its notations (IPv6
    /// in brackets). Returns `None` if it is neither, or if the port is zero.
    pub fn new(host: &str, port: u16) -> Option<Self> {
        let host = host.strip_suffix('.').unwrap_or(host);
        let host = Host::parse(host).ok()?;
        let is_valid = match &host {
            Host::Domain(name) => is_name(name),
            Host::Ipv4(_) | Host::Ipv6(_) => true,
        };
        (is_valid && port != 0).then_some(Self { host, port })
    }

    /// Returns the destination of an address.
    pub fn of_address(address: IpAddr, port: u16) -> Option<Self> {
        let host = match address {
            IpAddr::V4(address) => Host::Ipv4(address),
            IpAddr::V6(address) => Host::Ipv6(address),
        };
        (port != 0).then_some(Self { host, port })
    }

    /// Reads `HOST:PORT`, or `HOST` with this port.
    pub fn parse(authority: &str, default_port: Option<u16>) -> Option<Self> {
        // A colon inside brackets belongs to an IPv6 address.
        let name_end = authority.rfind(']').map_or(0, |bracket| bracket + 1);
        let (host, port) = match authority.get(name_end..)?.find(':') {
            Some(colon) => {
                let (host, port) = authority.split_at_checked(name_end + colon)?;
                (host, parse_port(port.strip_prefix(':')?)?)
            }
            None => (authority, default_port?),
        };
        Self::new(host, port)
    }

    /// Returns the host.
    pub fn host(&self) -> Host<&str> {
        match &self.host {
            Host::Domain(name) => Host::Domain(name),
            Host::Ipv4(address) => Host::Ipv4(*address),
            Host::Ipv6(address) => Host::Ipv6(*address),
        }
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns how near the host is, judged by its text alone.
    pub fn nearness(&self) -> Nearness {
        nearness_of_host(&self.host())
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Reads a port: digits only, which [`str::parse`] does not require.
pub(crate) fn parse_port(text: &str) -> Option<u16> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Whether a name is one that a name server could know, and that reads unambiguously in a question.
pub(crate) fn is_name(name: &str) -> bool {
    name.len() <= MAX_HOST_BYTES
        && name.split('.').all(|label| {
            !label.is_empty()
                && label.len() <= 63
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_is_read_in_one_way() {
        for (text, displayed) in [
            ("example.com:443", "example.com:443"),
            ("EXAMPLE.com.:443", "example.com:443"),
            ("bücher.example:80", "xn--bcher-kva.example:80"),
            ("127.1:80", "127.0.0.1:80"),
            ("0x7f000001:80", "127.0.0.1:80"),
            ("[::1]:8080", "[::1]:8080"),
            ("[::ffff:127.0.0.1]:1", "[::ffff:7f00:1]:1"),
            ("_service.example:1", "_service.example:1"),
        ] {
            assert_eq!(Destination::parse(text, None).unwrap().to_string(), displayed, "{text}");
        }
        assert_eq!(Destination::parse("a.example", Some(80)).unwrap().to_string(), "a.example:80");
        for text in [
            "",
            ":80",
            "example.com",
            "example.com:",
            "example.com:0",
            "example.com:65536",
            "example.com:+80",
            "example.com:80:80",
            "a..example:80",
            "user@example.com:80",
            "exa mple.com:80",
            "exa%2emple.com:80 ",
            "[::1:80",
            "::1:80",
            "example.com/:80",
            "1.2.3.4.5:80",
        ] {
            assert_eq!(Destination::parse(text, None), None, "{text}");
        }
        let long = format!("{}example:1", "a.".repeat(124));
        assert_eq!(Destination::parse(&long, None), None);
    }
}
