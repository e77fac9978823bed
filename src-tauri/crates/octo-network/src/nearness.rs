//! Network distance of a host: a web page must not make the model reach services on this machine or in
//! its network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use url::Host;

/// The network distance of a host, the farthest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Nearness {
    /// The public internet.
    World,
    /// A private network, or an address that does not identify a single public computer.
    Network,
    /// This machine.
    Machine,
    /// Cloud metadata services, which expose keys among other data, and the whole link-local range around them.
    Metadata,
}

/// Local network domains: RFC 6762 (`local`), RFC 8375 (`home.arpa`), ICANN's `internal`, RFC 6762 appendix G
/// and the domains of consumer routers.
const NETWORK_ENDINGS: [&str; 12] = [
    "local",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "localdomain",
    "home.arpa",
    "fritz.box",
    "box",
    "test",
];

/// Host names of cloud metadata services.
const METADATA_NAMES: [&str; 3] = ["metadata.google.internal", "metadata.goog", "instance-data"];

/// Classifies a host by its text alone. DNS may resolve it to something nearer.
pub fn nearness_of_host(host: &Host<&str>) -> Nearness {
    match host {
        Host::Ipv4(address) => nearness_of(IpAddr::V4(*address)),
        Host::Ipv6(address) => nearness_of(IpAddr::V6(*address)),
        Host::Domain(name) => nearness_of_name(name),
    }
}

fn nearness_of_name(name: &str) -> Nearness {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let ends_in = |ending: &str| {
        name.strip_suffix(ending).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    if METADATA_NAMES.iter().any(|ending| ends_in(ending)) {
        Nearness::Metadata
    } else if ends_in("localhost") {
        // Always this machine, whatever DNS says (RFC 6761).
        Nearness::Machine
    } else if !name.contains('.') || NETWORK_ENDINGS.iter().any(|ending| ends_in(ending)) {
        // A name without a dot is resolved in the network's own domain.
        Nearness::Network
    } else {
        Nearness::World
    }
}

/// Classifies an address. Public means neither reserved, nor private, nor multicast: IANA's registries of
/// special addresses, interpreted so that a doubtful case is not public.
pub fn nearness_of(address: IpAddr) -> Nearness {
    match address {
        IpAddr::V4(address) => of_v4(address),
        IpAddr::V6(address) => of_v6(address),
    }
}

/// Cloud metadata addresses outside the link-local range: Alibaba's and Azure's.
const METADATA_V4: [Ipv4Addr; 2] = [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16)];
/// Amazon's metadata address over IPv6.
const METADATA_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254);

fn of_v4(address: Ipv4Addr) -> Nearness {
    if address.is_link_local() || METADATA_V4.contains(&address) {
        return Nearness::Metadata;
    }
    match address.octets() {
        // Loopback; "this host", which systems route to themselves.
        [127, ..] | [0, 0, 0, 0] => Nearness::Machine,
        // This network; private; multicast and reserved, including broadcast.
        [0 | 10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [224..=255, ..] => Nearness::Network,
        // Carrier-grade NAT: RFC 6598.
        [100, 64..=127, ..] => Nearness::Network,
        // Protocol assignments; documentation; 6to4 relays; benchmarks; documentation twice more.
        [192, 0, 0 | 2, _] | [192, 88, 99, _] | [198, 18 | 19, ..] => Nearness::Network,
        [198, 51, 100, _] | [203, 0, 113, _] => Nearness::Network,
        _ => Nearness::World,
    }
}

fn of_v6(address: Ipv6Addr) -> Nearness {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let of_embedded_v4 = |embedded: u16, low: u16| {
        let [first, second] = embedded.to_be_bytes();
        let [three, four] = low.to_be_bytes();
        of_v4(Ipv4Addr::new(first, second, three, four))
    };
    if address == METADATA_V6 || a & 0xffc0 == 0xfe80 {
        return Nearness::Metadata;
    }
    if address == Ipv6Addr::LOCALHOST || address == Ipv6Addr::UNSPECIFIED {
        return Nearness::Machine;
    }
    match (a, b, c, d, e, f) {
        // IPv4 written as IPv6: mapped, compatible, translated.
        (0, 0, 0, 0, 0, 0xffff | 0) | (0, 0, 0, 0, 0xffff, 0) => match of_embedded_v4(g, h) {
            Nearness::World if f == 0 && e == 0 => Nearness::Network,
            nearness => nearness,
        },
        // NAT64 with the well-known prefix contains the target IPv4 address; the local prefix may lead
        // anywhere.
        (0x0064, 0xff9b, 0, 0, 0, 0) => of_embedded_v4(g, h),
        // 6to4 contains the target IPv4 address.
        (0x2002, ..) => of_embedded_v4(b, c),
        // Protocol assignments, including Teredo; documentation, old and new.
        (0x2001, 0..=0x01ff | 0x0db8, ..) | (0x3fff, 0..=0x0fff, ..) => Nearness::Network,
        // The remaining public range: global unicast.
        (0x2000..=0x3fff, ..) => Nearness::World,
        _ => Nearness::Network,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearness_follows_the_address_registries() {
        use Nearness::{Machine, Metadata, Network, World};
        for (address, nearness) in [
            ("1.1.1.1", World),
            ("172.15.0.1", World),
            ("172.32.0.1", World),
            ("100.63.255.255", World),
            ("100.128.0.1", World),
            ("198.20.0.1", World),
            ("223.255.255.255", World),
            ("0.0.0.0", Machine),
            ("127.0.0.1", Machine),
            ("127.255.255.254", Machine),
            ("0.1.2.3", Network),
            ("10.0.0.1", Network),
            ("100.64.0.1", Network),
            ("172.16.0.1", Network),
            ("192.0.0.8", Network),
            ("192.0.2.1", Network),
            ("192.168.1.1", Network),
            ("198.18.0.1", Network),
            ("203.0.113.1", Network),
            ("224.0.0.1", Network),
            ("255.255.255.255", Network),
            ("169.254.169.254", Metadata),
            ("100.100.100.200", Metadata),
            ("168.63.129.16", Metadata),
            ("2606:4700:4700::1111", World),
            ("::", Machine),
            ("::1", Machine),
            ("::ffff:127.0.0.1", Machine),
            ("::ffff:10.1.2.3", Network),
            ("::ffff:169.254.169.254", Metadata),
            ("::ffff:8.8.8.8", World),
            ("::127.0.0.1", Machine),
            ("::8.8.8.8", Network),
            ("64:ff9b::8.8.8.8", World),
            ("64:ff9b::127.0.0.1", Machine),
            ("64:ff9b:1::1", Network),
            ("2002:0a00:0001::1", Network),
            ("2002:a9fe:a9fe::1", Metadata),
            ("2001::1", Network),
            ("fc00::1", Network),
            ("fd00:ec2::254", Metadata),
            ("fe80::1", Metadata),
            ("ff02::1", Network),
            ("4000::1", Network),
        ] {
            assert_eq!(nearness_of(address.parse().unwrap()), nearness, "{address}");
        }
    }

    #[test]
    fn nearness_follows_the_name() {
        use Nearness::{Machine, Metadata, Network, World};
        for (name, nearness) in [
            ("example.com", World),
            ("localhost.example.com", World),
            ("mylocal", Network),
            ("router", Network),
            ("LOCALHOST.", Machine),
            ("a.localhost", Machine),
            ("printer.local", Network),
            ("notlocal.example", World),
            ("nas.home.arpa", Network),
            ("fritz.box", Network),
            ("git.corp", Network),
            ("metadata.google.internal", Metadata),
        ] {
            assert_eq!(nearness_of_name(name), nearness, "{name}");
        }
    }
}
