//! Tests whether the internet is reachable.

use crate::{ErrorClass, Network, ProviderError, endpoint, redact::Secrets, transport};
use reqwest::{Client, StatusCode, Url, redirect};
use std::time::Duration;

/// Timeout for a server's answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// Error texts of a proxy that refuses a tunnel: an HTTP proxy, and a SOCKS proxy that was offered no login.
const LOGIN_REFUSALS: [&str; 2] =
    ["proxy authorization required", "does not support user/pass authentication"];

/// Returns whether requests to this address leave the private network, judged from its text.
#[must_use]
pub fn is_internet_address(address: &str) -> bool {
    Url::parse(address.trim())
        .is_ok_and(|url| endpoint::network_distance(&url) == endpoint::NetworkDistance::World)
}

/// Requests a page from a server, without a key or any header of the person's, and returns the host that
/// answered. Any answer counts as reached.
///
/// # Errors
///
/// Returns [`ErrorClass::Address`], [`ErrorClass::Proxy`] and [`ErrorClass::Certificate`] for unusable
/// settings, [`ErrorClass::Auth`] when the proxy wants a password, and [`ErrorClass::Network`] when nothing
/// answers.
pub async fn test_connection(network: &Network, address: &str) -> Result<String, ProviderError> {
    let url = Url::parse(address.trim())
        .map_err(|error| ProviderError::new(ErrorClass::Address, error.to_string()))?;
    let host = url.host_str().unwrap_or_default().to_owned();
    let builder = Client::builder()
        .user_agent(concat!("octo/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(transport::CONNECT_TIMEOUT)
        .timeout(ANSWER_TIMEOUT)
        .redirect(redirect::Policy::none());
    let client = network.apply(builder, &url)?.build().map_err(transport::network_error)?;
    let login = || ProviderError::new(ErrorClass::Auth, "The proxy wants a name and a password.");
    match client.get(url).send().await {
        Ok(answer) if answer.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED => Err(login()),
        Ok(_) => Ok(host),
        Err(error) => {
            let error = transport::network_error(error);
            if LOGIN_REFUSALS.iter().any(|refusal| error.message.contains(refusal)) {
                return Err(login());
            }
            let mut secrets = Secrets::default();
            network.collect_secrets(&mut secrets);
            Err(ProviderError { message: secrets.redact(error.message), ..error })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Proxy;
    use secrecy::SecretString;
    use std::{
        io::{Read as _, Write as _},
        net::TcpListener,
    };

    /// Answers one request with this status line; the thread returns the request line.
    fn answering(status: &'static str) -> (String, std::thread::JoinHandle<String>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            let read = stream.read(&mut request).unwrap();
            write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
            String::from_utf8_lossy(&request[..read]).lines().next().unwrap_or_default().to_owned()
        });
        (address, server)
    }

    #[test]
    fn only_internet_names_and_addresses_are_accepted() {
        for (address, is_public) in [
            ("https://api.example.com/v1", true),
            ("http://127.0.0.1:11434/v1", false),
            ("http://localhost:1", false),
            ("https://192.168.1.4", false),
            ("no address", false),
        ] {
            assert_eq!(is_internet_address(address), is_public, "{address}");
        }
    }

    #[tokio::test]
    async fn any_answer_proves_a_connection_except_a_proxys_refusal() {
        let through = |address: &str| Network {
            proxy: Proxy::Manual(SecretString::from(address)),
            ..Network::default()
        };
        for (status, address, expected, expected_request) in [
            (
                "404 Not Found",
                "http://models.example/v1",
                Ok("models.example"),
                "GET http://models.example/v1 HTTP/1.1",
            ),
            (
                "407 Login",
                "http://models.example/v1",
                Err(ErrorClass::Auth),
                "GET http://models.example/v1 HTTP/1.1",
            ),
            (
                "407 Login",
                "https://models.example",
                Err(ErrorClass::Auth),
                "CONNECT models.example:443 HTTP/1.1",
            ),
            (
                "502 Down",
                "https://models.example",
                Err(ErrorClass::Network),
                "CONNECT models.example:443 HTTP/1.1",
            ),
        ] {
            let (proxy, thread) = answering(status);
            let actual = test_connection(&through(&proxy), address).await.map_err(|error| error.class);
            assert_eq!(actual.as_deref().map_err(|class| *class), expected, "{status} {address}");
            assert_eq!(thread.join().unwrap(), expected_request);
        }
        let (server, thread) = answering("401 Unauthorized");
        assert_eq!(test_connection(&Network::default(), &server).await.unwrap(), "127.0.0.1");
        thread.join().unwrap();
        let unreachable =
            test_connection(&through("http://127.0.0.1:9"), "https://models.example").await.unwrap_err();
        assert_eq!(unreachable.class, ErrorClass::Network);
    }

    /// Starts a SOCKS5 proxy that accepts or refuses; the thread returns the requested address.
    fn socks(method: u8) -> (String, std::thread::JoinHandle<String>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut received = [0; 4096];
            let mut read = |count: usize, source: &mut std::net::TcpStream| {
                source.read_exact(&mut received[..count]).unwrap();
                received[..count].to_vec()
            };
            let methods = read(2, &mut stream)[1];
            read(usize::from(methods), &mut stream);
            stream.write_all(&[5, method]).unwrap();
            if method != 0 {
                return String::new();
            }
            let host = match read(4, &mut stream)[3] {
                1 => read(4, &mut stream).iter().map(u8::to_string).collect::<Vec<_>>().join("."),
                3 => {
                    let length = read(1, &mut stream)[0];
                    String::from_utf8(read(usize::from(length), &mut stream)).unwrap()
                }
                kind => panic!("an address of kind {kind}"),
            };
            let port = read(2, &mut stream);
            stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
            let mut request = [0; 4096];
            let _length = stream.read(&mut request).unwrap();
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
            format!("{host}:{}", u16::from_be_bytes([port[0], port[1]]))
        });
        (address, server)
    }

    #[tokio::test]
    async fn a_socks_proxy_connects_and_resolves_names_as_its_address_says() {
        let through = |scheme: &str, address: &str| Network {
            proxy: Proxy::Manual(SecretString::from(format!("{scheme}://{address}"))),
            ..Network::default()
        };
        for (scheme, address, expected_request) in [
            ("socks5h", "http://models.example/v1", "models.example:80"),
            ("socks5", "http://203.0.113.5:8080/v1", "203.0.113.5:8080"),
        ] {
            let (proxy, server) = socks(0);
            test_connection(&through(scheme, &proxy), address).await.unwrap();
            assert_eq!(server.join().unwrap(), expected_request);
        }
        // A name that only the proxy could resolve is not sent there.
        let (proxy, _) = socks(0);
        // No resolver knows it: a part of it is longer than names can be.
        let unknown = format!("http://{}.example", "a".repeat(64));
        let failed = test_connection(&through("socks5", &proxy), &unknown).await.unwrap_err();
        assert_eq!(failed.class, ErrorClass::Network);
        // A proxy that wants a name and a password.
        let (proxy, server) = socks(0xff);
        let error = test_connection(&through("socks5h", &proxy), "http://models.example").await.unwrap_err();
        server.join().unwrap();
        assert_eq!(error.class, ErrorClass::Auth, "{error}");
    }

    #[tokio::test]
    async fn other_clients_use_the_same_route() {
        let (proxy, proxy_thread) = answering("200 OK");
        let manual = Network { proxy: Proxy::Manual(SecretString::from(proxy)), ..Network::default() };
        let client = manual.configure().unwrap()(Client::builder()).build().unwrap();
        assert_eq!(client.get("http://updates.example/latest.json").send().await.unwrap().status(), 200);
        assert_eq!(proxy_thread.join().unwrap(), "GET http://updates.example/latest.json HTTP/1.1");
        // This machine is reached directly.
        let (server, proxy_thread) = answering("200 OK");
        assert_eq!(client.get(format!("{server}/here")).send().await.unwrap().status(), 200);
        assert_eq!(proxy_thread.join().unwrap(), "GET /here HTTP/1.1");
        // A proxy set earlier no longer counts.
        let (server, proxy_thread) = answering("200 OK");
        let direct = Network { proxy: Proxy::None, ..Network::default() };
        let before = Client::builder().proxy(reqwest::Proxy::all("http://127.0.0.1:9").unwrap());
        let client = direct.configure().unwrap()(before).build().unwrap();
        assert_eq!(client.get(format!("{server}/direct")).send().await.unwrap().status(), 200);
        assert_eq!(proxy_thread.join().unwrap(), "GET /direct HTTP/1.1");
        let broken = Network { extra_ca: Some(b"none".to_vec()), ..Network::default() };
        assert_eq!(broken.configure().err().unwrap().class, ErrorClass::Certificate);
    }
}
