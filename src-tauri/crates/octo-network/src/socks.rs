//! SOCKS5 (RFC 1928) as its server reads it: no authentication, connections only.

use crate::destination::Destination;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The first byte of a client that speaks SOCKS5.
pub(crate) const VERSION: u8 = 5;

/// The answer to a greeting: no authentication.
pub(crate) const NO_AUTHENTICATION: [u8; 2] = [VERSION, 0];

/// The answer to a greeting without an acceptable method.
pub(crate) const NO_METHOD: [u8; 2] = [VERSION, 0xff];

/// The outcome of reading bytes that may be incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ParseProgress<T> {
    /// More bytes are needed.
    Incomplete,
    /// A message and its length.
    Complete(T, usize),
    /// The bytes are no such message.
    Malformed,
}

/// A reply's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ReplyCode {
    /// The connection stands.
    Succeeded = 0,
    /// The allow list does not have the destination.
    NotAllowed = 2,
    /// The destination cannot be reached.
    Unreachable = 4,
    /// The command is not supported.
    UnsupportedCommand = 7,
}

/// Returns a reply. Its address says nothing: the client has no use for it.
pub(crate) fn reply(code: ReplyCode) -> [u8; 10] {
    [VERSION, code as u8, 0, 1, 0, 0, 0, 0, 0, 0]
}

/// Reads a greeting. Returns whether the client accepts to use no authentication.
pub(crate) fn parse_greeting(received: &[u8]) -> ParseProgress<bool> {
    match received {
        [] | [VERSION] => ParseProgress::Incomplete,
        [VERSION, count, methods @ ..] => match methods.get(..usize::from(*count)) {
            Some(methods) => ParseProgress::Complete(methods.contains(&0), 2 + methods.len()),
            None => ParseProgress::Incomplete,
        },
        _ => ParseProgress::Malformed,
    }
}

/// Reads a request. Returns the destination, or `None` for a command other than connecting.
pub(crate) fn parse_request(received: &[u8]) -> ParseProgress<Option<Destination>> {
    let [version, command, reserved, kind, rest @ ..] = received else { return ParseProgress::Incomplete };
    if (*version, *reserved) != (VERSION, 0) {
        return ParseProgress::Malformed;
    }
    let (length, host_start) = match kind {
        1 => (4, 0),
        4 => (16, 0),
        3 => match rest.first() {
            Some(0) => return ParseProgress::Malformed,
            Some(length) => (usize::from(*length), 1),
            None => return ParseProgress::Incomplete,
        },
        _ => return ParseProgress::Malformed,
    };
    let end = host_start + length;
    let (Some(host), Some([high, low])) = (rest.get(host_start..end), rest.get(end..end + 2)) else {
        return ParseProgress::Incomplete;
    };
    let port = u16::from_be_bytes([*high, *low]);
    let destination = match kind {
        1 => <[u8; 4]>::try_from(host).ok().map(|octets| IpAddr::V4(Ipv4Addr::from(octets))),
        4 => <[u8; 16]>::try_from(host).ok().map(|octets| IpAddr::V6(Ipv6Addr::from(octets))),
        _ => None,
    };
    let destination = match destination {
        Some(address) => Destination::of_address(address, port),
        None => std::str::from_utf8(host).ok().and_then(|host| Destination::new(host, port)),
    };
    match destination {
        Some(destination) => ParseProgress::Complete((*command == 1).then_some(destination), 4 + end + 2),
        None => ParseProgress::Malformed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn named(command: u8, host: &str, port: u16) -> Vec<u8> {
        let length = u8::try_from(host.len()).unwrap();
        let mut bytes = vec![VERSION, command, 0, 3, length];
        bytes.extend(host.as_bytes());
        bytes.extend(port.to_be_bytes());
        bytes
    }

    #[test]
    fn requests_are_read_when_they_are_complete() {
        let bytes = named(1, "Example.com", 443);
        for length in 0..bytes.len() {
            assert_eq!(parse_request(&bytes[..length]), ParseProgress::Incomplete, "{length}");
        }
        let destination = Destination::new("example.com", 443).unwrap();
        let with_more = [bytes.clone(), b"data".to_vec()].concat();
        assert_eq!(parse_request(&with_more), ParseProgress::Complete(Some(destination), bytes.len()));
        assert_eq!(parse_request(&named(2, "a.example", 1)), ParseProgress::Complete(None, 16));
        let v4 = parse_request(&[5, 1, 0, 1, 127, 0, 0, 1, 0, 80]);
        assert_eq!(v4, ParseProgress::Complete(Destination::new("127.0.0.1", 80), 10));
        for bytes in [
            &[4, 1, 0, 3][..],
            &[5, 1, 1, 3],
            &[5, 1, 0, 2],
            &[5, 1, 0, 3, 0],
            &[5, 1, 0, 1, 1, 1, 1, 1, 0, 0],
        ] {
            assert_eq!(parse_request(bytes), ParseProgress::Malformed, "{bytes:?}");
        }
        assert_eq!(parse_request(&named(1, "a\0.example", 80)), ParseProgress::Malformed);
        assert_eq!(parse_request(&named(1, "user@a.example", 80)), ParseProgress::Malformed);
    }

    #[test]
    fn greetings_are_read_when_they_are_complete() {
        assert_eq!(parse_greeting(&[5]), ParseProgress::Incomplete);
        assert_eq!(parse_greeting(&[5, 2, 0]), ParseProgress::Incomplete);
        assert_eq!(parse_greeting(&[5, 2, 2, 0, 9]), ParseProgress::Complete(true, 4));
        assert_eq!(parse_greeting(&[5, 1, 2]), ParseProgress::Complete(false, 3));
        assert_eq!(parse_greeting(b"GET"), ParseProgress::Malformed);
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_readers(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse_greeting(&bytes);
            if let ParseProgress::Complete(_, length) = parse_request(&bytes) {
                prop_assert!(length <= bytes.len());
            }
        }
    }
}
