//! The entries of an allow list.

use crate::destination::{Destination, is_name, parse_port};
use octo_protocol::NetworkScope;
use std::fmt;
use url::Host;

/// The ports that an entry without a port covers: those of http and https.
const WEB_PORTS: [u16; 2] = [80, 443];

/// An entry of an allow list: `HOST`, `HOST:PORT`, or with `*.` before it every name below a host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostPattern {
    hosts: CoveredHosts,
    /// `None` for [`WEB_PORTS`].
    port: Option<u16>,
}

/// The hosts an entry covers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum CoveredHosts {
    /// One host.
    One(Host<String>),
    /// All names below this one, without itself.
    Below(String),
}

impl HostPattern {
    /// Reads an entry. Returns `None` if it is not one. A wildcard needs a name of two labels, so that no entry
    /// covers a whole top-level domain.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(rest) = text.strip_prefix("*.") {
            let (name, port) = match rest.split_once(':') {
                Some((name, port)) => (name, Some(parse_port(port)?)),
                None => (rest, None),
            };
            let Host::Domain(name) = Host::parse(name).ok()? else { return None };
            let is_valid = is_name(&name) && name.contains('.') && port != Some(0);
            return is_valid.then_some(Self { hosts: CoveredHosts::Below(name), port });
        }
        let (destination, port) = match Destination::parse(text, None) {
            Some(destination) => (destination.clone(), Some(destination.port())),
            None => (Destination::parse(text, Some(WEB_PORTS[0]))?, None),
        };
        Some(Self { hosts: CoveredHosts::One(destination.host().to_owned()), port })
    }

    /// Returns whether it covers a destination. Private hosts are covered by their own name only, never by a
    /// wildcard.
    pub fn covers(&self, destination: &Destination, scope: NetworkScope) -> bool {
        let has_host = match (&self.hosts, destination.host()) {
            (CoveredHosts::One(host), asked) => *host == asked.to_owned(),
            (CoveredHosts::Below(name), Host::Domain(asked)) => {
                scope == NetworkScope::Internet
                    && asked
                        .strip_suffix(name.as_str())
                        .and_then(|start| start.strip_suffix('.'))
                        .is_some_and(|start| !start.is_empty())
            }
            (CoveredHosts::Below(_), Host::Ipv4(_) | Host::Ipv6(_)) => false,
        };
        has_host
            && self.port.map_or(WEB_PORTS.contains(&destination.port()), |port| port == destination.port())
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hosts {
            CoveredHosts::One(host) => write!(f, "{host}")?,
            CoveredHosts::Below(name) => write!(f, "*.{name}")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_covers_its_hosts_and_ports_only() {
        use NetworkScope::{Internet, Private};
        for (pattern, destination, scope, covers) in [
            ("example.com", "example.com:443", Internet, true),
            ("example.com", "example.com:80", Internet, true),
            ("example.com", "example.com:22", Internet, false),
            ("Example.COM.", "example.com:443", Internet, true),
            ("example.com:22", "example.com:22", Internet, true),
            ("example.com:22", "example.com:443", Internet, false),
            ("example.com", "www.example.com:443", Internet, false),
            ("example.com", "badexample.com:443", Internet, false),
            ("*.example.com", "www.example.com:443", Internet, true),
            ("*.example.com", "a.b.example.com:443", Internet, true),
            ("*.example.com", "example.com:443", Internet, false),
            ("*.example.com", "badexample.com:443", Internet, false),
            ("*.example.com", "example.com.evil.example:443", Internet, false),
            ("*.example.com:8443", "www.example.com:8443", Internet, true),
            // A name below a listed one that leads into the private network is not listed by its name.
            ("*.example.com", "www.example.com:443", Private, false),
            ("localhost:3000", "localhost:3000", Private, true),
            ("127.0.0.1:3000", "127.1:3000", Private, true),
            ("127.0.0.1:3000", "localhost:3000", Private, false),
            ("[::1]:3000", "[::1]:3000", Private, true),
        ] {
            let destination = Destination::parse(destination, None).unwrap();
            let found = HostPattern::parse(pattern).unwrap();
            assert_eq!(found.covers(&destination, scope), covers, "{pattern} {destination} {scope:?}");
        }
    }

    #[test]
    fn entries_that_cover_too_much_or_nothing_are_refused() {
        for text in [
            "",
            "*",
            "*.",
            "*.com",
            "*.*.example.com",
            "a.*.example",
            "*.1.2.3.4",
            "https://a.example",
            "a b",
            "*.a.example:0",
            "*.a.example:x",
        ] {
            assert_eq!(HostPattern::parse(text), None, "{text}");
        }
        for text in ["example.com", "*.example.com", "*.example.com:8443", "[::1]:80"] {
            assert_eq!(HostPattern::parse(text).unwrap().to_string(), text);
        }
    }
}
