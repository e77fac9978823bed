//! Classifies addresses as public, or as belonging to this machine or its networks.

use octo_network::{Nearness, nearness_of};
use std::{fmt, net::IpAddr};
use url::{Host, Url};

/// Network distance of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SiteDistance {
    /// The public internet.
    Internet,
    /// This machine, a private network, or an address that does not identify a single public computer.
    Private,
    /// The metadata service, from which a cloud machine reads data about itself, including keys, and the
    /// surrounding link-local addresses.
    Metadata,
}

/// Target of requests: a host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Host: a name in lower case, or an address (IPv6 in brackets).
    pub host: String,
    /// The port.
    pub port: u16,
    /// Known network distance: judged by its text alone until its name is resolved.
    pub distance: SiteDistance,
}

impl Site {
    /// Returns the site of an address; `None` if it is not an http or https address.
    pub fn from_url(url: &Url) -> Option<Self> {
        let host = url.host()?;
        let port = url.port_or_known_default()?;
        let distance = match &host {
            Host::Ipv4(address) => distance_of(IpAddr::V4(*address)),
            Host::Ipv6(address) => distance_of(IpAddr::V6(*address)),
            Host::Domain(name) => distance_of_name(name),
        };
        Some(Self { host: host.to_string().trim_end_matches('.').to_ascii_lowercase(), port, distance })
    }

    /// Returns whether two sites are the same, regardless of their known network distance.
    pub fn is_same_site(&self, other: &Self) -> bool {
        self.host == other.host && self.port == other.port
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Classifies a name by its text alone. `localhost` is this machine whatever a name service says (RFC 6761).
fn distance_of_name(name: &str) -> SiteDistance {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        SiteDistance::Private
    } else {
        SiteDistance::Internet
    }
}

/// Returns the network distance of an address, for requests without the person's browser: this machine counts
/// the same as its network.
pub(crate) fn distance_of(address: IpAddr) -> SiteDistance {
    match nearness_of(address) {
        Nearness::World => SiteDistance::Internet,
        Nearness::Network | Nearness::Machine => SiteDistance::Private,
        Nearness::Metadata => SiteDistance::Metadata,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_internet_or_private() {
        use SiteDistance::{Internet, Metadata, Private};
        for (address, reach) in [
            ("1.1.1.1", Internet),
            ("8.8.8.8", Internet),
            ("93.184.215.14", Internet),
            ("172.15.0.1", Internet),
            ("172.32.0.1", Internet),
            ("100.63.255.255", Internet),
            ("100.128.0.1", Internet),
            ("192.0.1.1", Internet),
            ("198.20.0.1", Internet),
            ("223.255.255.255", Internet),
            ("0.0.0.0", Private),
            ("0.1.2.3", Private),
            ("10.0.0.1", Private),
            ("100.64.0.1", Private),
            ("100.127.255.255", Private),
            ("127.0.0.1", Private),
            ("127.255.255.254", Private),
            ("172.16.0.1", Private),
            ("172.31.255.255", Private),
            ("192.0.0.8", Private),
            ("192.0.2.1", Private),
            ("192.88.99.1", Private),
            ("192.168.1.1", Private),
            ("198.18.0.1", Private),
            ("198.19.255.255", Private),
            ("198.51.100.1", Private),
            ("203.0.113.1", Private),
            ("224.0.0.1", Private),
            ("239.255.255.255", Private),
            ("240.0.0.1", Private),
            ("255.255.255.255", Private),
            ("169.254.169.254", Metadata),
            ("169.254.0.1", Metadata),
            ("100.100.100.200", Metadata),
            ("168.63.129.16", Metadata),
            ("2606:4700:4700::1111", Internet),
            ("2a00:1450:4001::1", Internet),
            ("::", Private),
            ("::1", Private),
            ("::ffff:127.0.0.1", Private),
            ("::ffff:10.1.2.3", Private),
            ("::ffff:169.254.169.254", Metadata),
            ("::ffff:8.8.8.8", Internet),
            ("::127.0.0.1", Private),
            ("::8.8.8.8", Private),
            ("::ffff:0:192.168.0.1", Private),
            ("64:ff9b::8.8.8.8", Internet),
            ("64:ff9b::10.0.0.1", Private),
            ("64:ff9b::169.254.169.254", Metadata),
            ("64:ff9b:1::1", Private),
            ("2002:0a00:0001::1", Private),
            ("2002:a9fe:a9fe::1", Metadata),
            ("2002:0808:0808::1", Internet),
            ("2001::1", Private),
            ("2001:db8::1", Private),
            ("3fff::1", Private),
            ("100::1", Private),
            ("fc00::1", Private),
            ("fd12:3456::1", Private),
            ("fd00:ec2::254", Metadata),
            ("fe80::1", Metadata),
            ("febf::1", Metadata),
            ("fec0::1", Private),
            ("ff02::1", Private),
            ("4000::1", Private),
        ] {
            assert_eq!(distance_of(address.parse().unwrap()), reach, "{address}");
        }
    }

    #[test]
    fn addresses_are_read_as_browsers_read_them() {
        for (url, displayed, reach) in [
            ("http://127.1/", "127.0.0.1:80", SiteDistance::Private),
            ("http://2130706433/", "127.0.0.1:80", SiteDistance::Private),
            ("http://0x7f.0.0.1:81/", "127.0.0.1:81", SiteDistance::Private),
            ("http://0177.0.0.1/", "127.0.0.1:80", SiteDistance::Private),
            ("https://[::ffff:7f00:1]/", "[::ffff:7f00:1]:443", SiteDistance::Private),
            ("http://０.０.０.０/", "0.0.0.0:80", SiteDistance::Private),
            ("http://①⑥⑨.254.169.254/", "169.254.169.254:80", SiteDistance::Metadata),
            ("http://LOCALHOST./", "localhost:80", SiteDistance::Private),
            ("http://a.localhost:9/", "a.localhost:9", SiteDistance::Private),
            ("https://Example.com", "example.com:443", SiteDistance::Internet),
        ] {
            let site = Site::from_url(&Url::parse(url).unwrap()).unwrap();
            assert_eq!((site.to_string().as_str(), site.distance), (displayed, reach), "{url}");
        }
    }
}
