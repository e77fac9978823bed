//! The first request of a client that speaks HTTP to its proxy.

use crate::destination::Destination;
use url::Url;

/// The maximum length of a request's line and headers.
pub(crate) const MAX_HEAD_BYTES: usize = 32 * 1024;

/// The maximum number of headers.
const MAX_HEADERS: usize = 128;

/// Headers that concern the connection to the proxy, not the destination.
const CONNECTION_HEADERS: [&str; 4] = ["connection", "keep-alive", "proxy-authorization", "proxy-connection"];

/// A request to a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProxyRequest {
    /// A tunnel to a destination.
    Tunnel(Destination),
    /// One plain request to a destination.
    Plain {
        /// The destination.
        destination: Destination,
        /// The request's line and headers as the destination expects them. The connection ends after its answer, so
        /// that no later request of it is for another destination.
        head: Vec<u8>,
        /// The same as another proxy expects them, without its credentials.
        proxied_head: Vec<u8>,
    },
}

/// Why a request is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestError {
    /// It is not a request to a proxy.
    Malformed,
    /// It is for a service other than http.
    UnsupportedScheme,
}

/// Returns the length of the request's line and headers once they are complete.
pub(crate) fn head_length(received: &[u8]) -> Option<usize> {
    received.windows(4).position(|bytes| bytes == b"\r\n\r\n").map(|start| start + 4)
}

/// Reads a complete request's line and headers.
pub(crate) fn parse(head: &[u8]) -> Result<ProxyRequest, RequestError> {
    let malformed = RequestError::Malformed;
    let head = std::str::from_utf8(head).map_err(|_| malformed)?;
    let head = head.strip_suffix("\r\n\r\n").ok_or(malformed)?;
    let mut lines = head.split("\r\n");
    let line = lines.next().ok_or(malformed)?;
    let [method, target, version] = line.split(' ').collect::<Vec<_>>().try_into().map_err(|_| malformed)?;
    let is_token = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
    };
    if !is_token(method) || !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return Err(malformed);
    }
    let headers: Vec<(&str, &str)> = lines
        .map(|line| {
            let (name, value) = line.split_once(':')?;
            let is_value = !value.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t');
            (is_token(name) && is_value).then_some((name, value.trim()))
        })
        .collect::<Option<_>>()
        .ok_or(malformed)?;
    if headers.len() > MAX_HEADERS {
        return Err(malformed);
    }
    if method == "CONNECT" {
        return Destination::parse(target, None).map(ProxyRequest::Tunnel).ok_or(malformed);
    }
    let url = Url::parse(target).map_err(|_| malformed)?;
    if url.scheme() != "http" {
        return Err(RequestError::UnsupportedScheme);
    }
    let host = url.host_str().ok_or(malformed)?;
    let destination =
        Destination::new(host, url.port_or_known_default().ok_or(malformed)?).ok_or(malformed)?;
    let origin = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    // The destination is the one that was decided on, whatever the header `Host` says.
    let authority = url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"));
    let write = |target: &str| {
        let mut text = format!("{method} {target} {version}\r\nHost: {authority}\r\n");
        for (name, value) in &headers {
            let lower = name.to_ascii_lowercase();
            if lower != "host" && !CONNECTION_HEADERS.contains(&lower.as_str()) {
                text.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        text.push_str("Connection: close\r\n");
        text.into_bytes()
    };
    let mut complete = write(&origin);
    complete.extend(b"\r\n");
    // The sender adds credentials and the empty line.
    let proxied_head = write(&format!("http://{authority}{origin}"));
    Ok(ProxyRequest::Plain { destination, head: complete, proxied_head })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<ProxyRequest, RequestError> {
        parse(text.as_bytes())
    }

    #[test]
    fn a_tunnel_names_its_destination() {
        let tunnel = read("CONNECT Example.com:443 HTTP/1.1\r\nHost: other.example\r\n\r\n").unwrap();
        assert_eq!(tunnel, ProxyRequest::Tunnel(Destination::new("example.com", 443).unwrap()));
    }

    #[test]
    fn a_plain_request_goes_to_the_host_of_its_address() {
        let request = read(
            "GET http://a.example:8080/x?y=1#z HTTP/1.1\r\nHost: evil.example\r\nAccept: */*\r\n\
             Proxy-Authorization: Basic eDp5\r\nProxy-Connection: keep-alive\r\nConnection: keep-alive\r\n\r\n",
        )
        .unwrap();
        let ProxyRequest::Plain { destination, head, proxied_head } = request else { panic!("plain") };
        assert_eq!(destination.to_string(), "a.example:8080");
        assert_eq!(
            String::from_utf8(head).unwrap(),
            "GET /x?y=1 HTTP/1.1\r\nHost: a.example:8080\r\nAccept: */*\r\nConnection: close\r\n\r\n"
        );
        assert_eq!(
            String::from_utf8(proxied_head).unwrap(),
            "GET http://a.example:8080/x?y=1 HTTP/1.1\r\nHost: a.example:8080\r\nAccept: */*\r\n\
             Connection: close\r\n"
        );
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "GET http://a.example/ HTTP/2\r\n\r\n",
            "GET  http://a.example/ HTTP/1.1\r\n\r\n",
            "GET http://a.example/ HTTP/1.1\r\nA b: c\r\n\r\n",
            "GET http://a.example/ HTTP/1.1\r\n folded\r\n\r\n",
            "GET http://a.example/ HTTP/1.1\r\nA: b\nX: y\r\n\r\n",
            "CONNECT example.com HTTP/1.1\r\n\r\n",
            "CONNECT a@example.com:443 HTTP/1.1\r\n\r\n",
            "CONNECT http://example.com:443 HTTP/1.1\r\n\r\n",
        ] {
            assert_eq!(read(text), Err(RequestError::Malformed), "{text:?}");
        }
        let scheme = read("GET ftp://a.example/ HTTP/1.1\r\n\r\n");
        assert_eq!(scheme, Err(RequestError::UnsupportedScheme));
        let many = format!("CONNECT a.example:443 HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(MAX_HEADERS + 1));
        assert_eq!(read(&many), Err(RequestError::Malformed));
    }

    proptest! {
        /// A request never carries a line end into the head that is sent on, and is never for another host than the
        /// one that is decided on.
        #[test]
        fn a_request_sends_one_request_on(target in "[ -~]{0,40}", value in "[\\x00-\\x7f]{0,20}") {
            let text = format!("GET http://a.example/{target} HTTP/1.1\r\nX: {value}\r\n\r\n");
            if let Ok(ProxyRequest::Plain { destination, head, .. }) = read(&text) {
                prop_assert_eq!(destination.to_string(), "a.example:80");
                prop_assert_eq!(head_length(&head), Some(head.len()));
            }
        }
    }
}
