use super::*;
use crate::{AccessRequest, AccessVerdict, Resolver, UpstreamProxy};
use futures::future::BoxFuture;
use octo_protocol::{NetworkScope, ProxyChoice};
use std::{net::SocketAddr, sync::Mutex};

/// A gate that allows some destinations and remembers what it was asked.
struct ListedHosts {
    allowed: Vec<(&'static str, NetworkScope)>,
    asked: Mutex<Vec<(String, NetworkScope)>>,
    proxy: ProxyChoice,
    resolves_to: &'static str,
}

impl Gate for ListedHosts {
    fn is_limiting(&self) -> bool {
        true
    }

    fn decide(&self, request: AccessRequest) -> BoxFuture<'static, AccessVerdict> {
        let destination = request.destination.to_string();
        let is_allowed = self.allowed.iter().any(|(host, scope)| {
            destination.rsplit_once(':').is_some_and(|(name, _)| name == *host) && *scope == request.scope
        });
        self.asked.lock().unwrap().push((destination, request.scope));
        Box::pin(async move { if is_allowed { AccessVerdict::Allowed } else { AccessVerdict::Refused } })
    }

    fn is_asking(&self, _call: CallId) -> bool {
        false
    }

    fn upstream(&self) -> UpstreamProxy {
        UpstreamProxy::new(&self.proxy)
    }

    fn resolver(&self) -> Arc<dyn Resolver> {
        Arc::new(FixedResolver(self.resolves_to))
    }
}

/// Resolves every name to one address, and the name `nowhere.example` to none.
struct FixedResolver(&'static str);

impl Resolver for FixedResolver {
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let address = self.0.parse().unwrap();
        Box::pin(async move {
            if name == "nowhere.example" { Err(io::ErrorKind::NotFound.into()) } else { Ok(vec![address]) }
        })
    }
}

/// A filter for clients of this test.
struct Filter {
    address: SocketAddr,
    gate: Arc<ListedHosts>,
    cancel: CancellationToken,
}

impl Drop for Filter {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

async fn filter(
    allowed: &[(&'static str, NetworkScope)],
    resolves_to: &'static str,
    proxy: ProxyChoice,
) -> Filter {
    let gate =
        Arc::new(ListedHosts { allowed: allowed.to_vec(), asked: Mutex::default(), proxy, resolves_to });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let cancel = CancellationToken::new();
    let options = FilterOptions { gate: gate.clone(), call_of: Arc::new(|_| None), cancel: cancel.clone() };
    tokio::spawn(serve(listener, options));
    Filter { address, gate, cancel }
}

/// A server that answers each connection with what it received up to the first empty line.
async fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut received = Vec::new();
                while request::head_length(&received).is_none() {
                    if stream.read_buf(&mut received).await.unwrap_or(0) == 0 {
                        return;
                    }
                }
                let _ = stream.write_all(&[b"got: ".as_slice(), &received].concat()).await;
            });
        }
    });
    port
}

impl Filter {
    /// Sends bytes and returns all that comes back.
    async fn exchange(&self, parts: &[&[u8]]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        for part in parts {
            stream.write_all(part).await.unwrap();
        }
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        answer
    }

    async fn say(&self, text: &str) -> String {
        String::from_utf8(self.exchange(&[text.as_bytes()]).await).unwrap()
    }

    fn asked(&self) -> Vec<(String, NetworkScope)> {
        self.gate.asked.lock().unwrap().clone()
    }
}

use NetworkScope::{Internet, Private};

#[tokio::test]
async fn a_listed_host_is_reached_in_each_way_of_asking() {
    let port = echo().await;
    let filter = filter(&[("service.test", Private)], "127.0.0.1", ProxyChoice::None).await;
    let plain = filter.say(&format!("GET http://service.test:{port}/a HTTP/1.1\r\nHost: x\r\n\r\n")).await;
    assert_eq!(
        plain,
        format!("got: GET /a HTTP/1.1\r\nHost: service.test:{port}\r\nConnection: close\r\n\r\n")
    );
    let tunnel = filter.say(&format!("CONNECT service.test:{port} HTTP/1.1\r\n\r\nhello\r\n\r\n")).await;
    assert_eq!(tunnel, "HTTP/1.1 200 Connection established\r\n\r\ngot: hello\r\n\r\n");
    let mut socks = vec![5, 1, 0, 5, 1, 0, 3, 12];
    socks.extend(b"service.test");
    socks.extend(port.to_be_bytes());
    socks.extend(b"hello\r\n\r\n");
    let answer = filter.exchange(&[&socks]).await;
    assert_eq!(answer.split_at(12).1, b"got: hello\r\n\r\n");
    assert_eq!(filter.asked(), vec![(format!("service.test:{port}"), Private); 3]);
}

#[tokio::test]
async fn other_hosts_are_refused_before_they_are_resolved() {
    let filter = filter(&[("service.test", Private)], "127.0.0.1", ProxyChoice::None).await;
    let refused = filter.say("CONNECT other.example:443 HTTP/1.1\r\n\r\n").await;
    assert!(
        refused.starts_with("HTTP/1.1 403 Forbidden\r\n") && refused.contains("other.example:443"),
        "{refused}"
    );
    let refused = filter.say("GET http://other.example/ HTTP/1.1\r\n\r\n").await;
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    let socks = filter.exchange(&[&[5, 1, 0, 5, 1, 0, 1, 8, 8, 8, 8, 1, 187]]).await;
    assert_eq!(socks, [&[5, 0][..], &socks::reply(ReplyCode::NotAllowed)].concat());
    let asked =
        ["other.example:443", "other.example:80", "8.8.8.8:443"].map(|host| (host.to_owned(), Internet));
    assert_eq!(filter.asked(), asked);
}

#[tokio::test]
async fn a_listed_name_that_leads_to_this_machine_is_decided_on_again() {
    let port = echo().await;
    let public_only = filter(&[("rebound.example", Internet)], "127.0.0.1", ProxyChoice::None).await;
    let refused =
        public_only.say(&format!("CONNECT rebound.example:{port} HTTP/1.1\r\n\r\nhello\r\n\r\n")).await;
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    let host = format!("rebound.example:{port}");
    assert_eq!(public_only.asked(), [(host.clone(), Internet), (host, Private)]);

    let both = [("rebound.example", Internet), ("rebound.example", Private)];
    let listed = filter(&both, "127.0.0.1", ProxyChoice::None).await;
    let reached = listed.say(&format!("CONNECT rebound.example:{port} HTTP/1.1\r\n\r\nhello\r\n\r\n")).await;
    assert!(reached.ends_with("got: hello\r\n\r\n"), "{reached}");
}

#[tokio::test]
async fn services_of_a_cloud_machine_are_never_reached_and_nobody_is_asked() {
    let everything =
        [("169.254.169.254", Private), ("metadata.google.internal", Private), ("a.example", Internet)];
    let filter = filter(&everything, "169.254.169.254", ProxyChoice::None).await;
    for host in ["169.254.169.254:80", "metadata.google.internal:80"] {
        let refused = filter.say(&format!("CONNECT {host} HTTP/1.1\r\n\r\n")).await;
        assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    }
    assert_eq!(filter.asked(), []);
    let refused = filter.say("CONNECT a.example:80 HTTP/1.1\r\n\r\n").await;
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
}

#[tokio::test]
async fn requests_that_are_none_are_answered_and_go_nowhere() {
    let filter = filter(&[], "127.0.0.1", ProxyChoice::None).await;
    assert!(filter.say("GET / HTTP/1.1\r\n\r\n").await.starts_with("HTTP/1.1 400"));
    assert!(filter.say("GET ftp://a.example/ HTTP/1.1\r\n\r\n").await.starts_with("HTTP/1.1 501"));
    let long = format!("GET http://a.example/{} HTTP/1.1\r\n", "a".repeat(MAX_HEAD_BYTES));
    assert!(filter.say(&long).await.starts_with("HTTP/1.1 431"));
    assert_eq!(filter.exchange(&[&[5, 1, 2]]).await, socks::NO_METHOD);
    let bind = filter.exchange(&[&[5, 1, 0, 5, 2, 0, 1, 8, 8, 8, 8, 0, 80]]).await;
    assert_eq!(bind, [&[5, 0][..], &socks::reply(ReplyCode::UnsupportedCommand)].concat());
    assert_eq!(filter.asked(), []);
}

#[tokio::test]
async fn the_proxy_of_the_settings_carries_connections_to_the_internet() {
    let proxy = echo().await;
    let manual = ProxyChoice::Manual { url: format!("http://127.0.0.1:{proxy}") };
    let allowed = [("a.example", Internet), ("nowhere.example", Internet), ("service.test", Private)];
    let public = filter(&allowed, "93.184.215.14", manual.clone()).await;
    let plain = public.say("GET http://a.example/x HTTP/1.1\r\n\r\n").await;
    assert_eq!(plain, "got: GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n");
    // The echo is no success, so the client learns of a failure; the proxy was asked.
    let tunnel = public.say("CONNECT nowhere.example:443 HTTP/1.1\r\n\r\n").await;
    assert!(tunnel.starts_with("HTTP/1.1 502"), "{tunnel}");
    // A name that this machine resolves to a nearer address does not go to the proxy.
    let near = filter(&allowed, "127.0.0.1", manual).await;
    let service = echo().await;
    let reached = near.say(&format!("CONNECT service.test:{service} HTTP/1.1\r\n\r\nhello\r\n\r\n")).await;
    assert!(reached.ends_with("got: hello\r\n\r\n"), "{reached}");
}
