use super::*;
use crate::testing::{WebServer, answer, path_of, respond};
use futures::future::BoxFuture;
use std::{
    io,
    net::IpAddr,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

/// A name service that gives one answer after another, and repeats the last.
struct Answers {
    answers: Mutex<Vec<Vec<IpAddr>>>,
    queries: AtomicUsize,
}

impl Answers {
    fn new(answers: &[&[&str]]) -> Arc<Self> {
        let answers = answers.iter().rev().map(|one| one.iter().map(|ip| ip.parse().unwrap()).collect());
        Arc::new(Self { answers: Mutex::new(answers.collect()), queries: AtomicUsize::new(0) })
    }
}

impl NameResolver for Answers {
    fn resolve_host<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        self.queries.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().unwrap();
        let addresses = if answers.len() > 1 { answers.pop().unwrap() } else { answers[0].clone() };
        Box::pin(async move {
            if addresses.is_empty() { Err(io::Error::from(io::ErrorKind::NotFound)) } else { Ok(addresses) }
        })
    }
}

fn direct() -> Network {
    Network { proxy: octo_llm::Proxy::None, ..Network::default() }
}

fn get() -> WebRequest {
    WebRequest { method: Method::GET, headers: HeaderMap::new(), body: None, redirects: 5 }
}

async fn fetch(http: &Http, url: &str) -> Result<WebReply, HttpError> {
    http.send(&parse(url)?, get(), 1_000).await
}

#[test]
fn invalid_web_addresses_are_refused() {
    for (text, error) in [
        ("not a url", "Invalid URL"),
        ("", "Invalid URL"),
        ("http://", "Invalid URL"),
        ("http://.", "Invalid URL"),
        ("ftp://example.com", "must be HTTP or HTTPS"),
        ("file:///etc/passwd", "must be HTTP or HTTPS"),
        ("javascript:alert(1)", "must be HTTP or HTTPS"),
        ("data:text/html,x", "must be HTTP or HTTPS"),
        ("http://me@example.com", "a name or a password"),
        ("http://me:pw@example.com", "a name or a password"),
        ("http://:pw@example.com", "a name or a password"),
    ] {
        let message = parse(text).unwrap_err().to_string();
        assert!(message.contains(error) && !message.contains("pw@"), "{text}: {message}");
    }
    assert!(parse(" https://example.com/ä ").is_ok());
}

#[tokio::test]
async fn private_addresses_are_refused_in_every_notation() {
    let server = WebServer::new(|_| answer("text/plain", "secret"));
    let port = server.port();
    let http = Http::new(direct());
    for host in
        ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "0.0.0.0"]
    {
        let error = fetch(&http, &format!("http://{host}:{port}/")).await.unwrap_err();
        assert!(matches!(error, HttpError::Private { .. }), "{host}: {error}");
    }
    assert_eq!(server.requests().len(), 0);
    // An approval covers one site: this port and no other.
    let granted = http.with_grants([(server.site(), SiteGrant::ByMode)]);
    assert_eq!(fetch(&granted, &server.url("/")).await.unwrap().body.bytes, b"secret");
    let other_server = WebServer::new(|_| answer("text/plain", "other"));
    assert!(matches!(fetch(&granted, &other_server.url("/")).await, Err(HttpError::Private { .. })));
    assert!(matches!(
        fetch(&granted, &format!("http://localhost:{port}/")).await,
        Err(HttpError::Private { .. })
    ));
}

#[tokio::test]
async fn no_mode_grants_cloud_metadata_services() {
    let metadata = Site::from_url(&"http://169.254.169.254/".parse().unwrap()).unwrap();
    let http = Http::new(direct());
    assert!(!http.may_reach(&metadata, metadata.distance));
    assert!(
        !http.with_grants([(metadata.clone(), SiteGrant::ByMode)]).may_reach(&metadata, metadata.distance)
    );
    assert!(
        http.with_grants([(metadata.clone(), SiteGrant::ByName)]).may_reach(&metadata, metadata.distance)
    );
    // A name is classified by the address it resolves to.
    let http = Http::with_resolver(direct(), Answers::new(&[&["169.254.169.254"]]));
    let by_name = Site::from_url(&"http://metadata.example/".parse().unwrap()).unwrap();
    let by_mode = http.with_grants([(by_name.clone(), SiteGrant::ByMode)]);
    assert!(matches!(fetch(&by_mode, "http://metadata.example/").await, Err(HttpError::Private { .. })));
    assert_eq!(http.resolve_site(by_name).await.distance, SiteDistance::Metadata);
}

#[tokio::test]
async fn a_name_is_resolved_once_and_the_checked_address_used() {
    let server = WebServer::new(|_| answer("text/plain", "here"));
    let site = Site::from_url(&format!("http://page.example:{}/", server.port()).parse().unwrap()).unwrap();
    let url = format!("http://{site}/");
    // The second answer leads to an address where nothing listens.
    let names = Answers::new(&[&["127.0.0.1"], &["127.0.0.2"]]);
    let http = Http::with_resolver(direct(), names.clone()).with_grants([(site, SiteGrant::ByName)]);
    let reply = fetch(&http, &url).await.unwrap();
    assert_eq!((reply.body.bytes.as_slice(), names.queries.load(Ordering::SeqCst)), (&b"here"[..], 1));
    let request = server.requests().pop().unwrap().to_lowercase();
    assert!(request.contains("host: page.example:"), "{request}");

    // One private address among others is enough to refuse; so is a second resolution that is nearer than the
    // first.
    for answers in [&[&["8.8.8.8", "127.0.0.1"][..]][..], &[&["10.0.0.1"]], &[&["::1"]], &[&["fe80::1"]]] {
        let http = Http::with_resolver(direct(), Answers::new(answers));
        assert!(matches!(fetch(&http, &url).await, Err(HttpError::Private { .. })), "{answers:?}");
    }
    assert_eq!(server.requests().len(), 1);
    let http = Http::with_resolver(direct(), Answers::new(&[&[]]));
    assert_eq!(fetch(&http, &url).await.unwrap_err(), HttpError::UnknownHost("page.example".into()));
}

#[tokio::test]
async fn each_redirect_is_checked_like_the_first_address() {
    let private_server = WebServer::new(|_| answer("text/plain", "near"));
    let near_url = private_server.url("/secret");
    let server = WebServer::new(move |request| {
        let redirect = |target: &str| respond("302 Found", &format!("location: {target}\r\n"), "moved");
        match path_of(request) {
            "/relative" => redirect("deep/end"),
            "/absolute" => redirect("/end"),
            "/near" => redirect(&near_url),
            "/name" => redirect("http://localhost:1/"),
            "/cloud" => redirect("http://169.254.169.254/latest/meta-data/"),
            "/file" => redirect("file:///etc/passwd"),
            "/name-and-password" => redirect("http://me:pw@example.com/"),
            "/nowhere" => redirect("http://"),
            "/loop" => redirect("/loop"),
            "/307" => respond("307 Temporary Redirect", "location: /end\r\n", ""),
            "/304" => respond("304 Not Modified", "", ""),
            path => match path.strip_prefix("/hops/").and_then(|remaining| remaining.parse::<u32>().ok()) {
                Some(0) => answer("text/plain", "end"),
                Some(remaining) => redirect(&format!("/hops/{}", remaining - 1)),
                None => answer("text/plain", format!("end of {path}")),
            },
        }
    });
    let http = Http::new(direct()).with_grants([(server.site(), SiteGrant::ByName)]);
    let outcome = async |path: &str| match fetch(&http, &server.url(path)).await {
        Ok(reply) => format!("{} {}", reply.url.path(), String::from_utf8(reply.body.bytes).unwrap()),
        Err(error) => error.to_string(),
    };
    for (path, expected) in [
        ("/relative", "/deep/end end of /deep/end"),
        ("/absolute", "/end end of /end"),
        ("/307", "/end end of /end"),
        ("/hops/5", "/hops/0 end"),
        ("/hops/6", "More than 5 redirects."),
        ("/loop", "More than 5 redirects."),
        ("/304", "/304 "),
        ("/near", "a redirect leads there. If it is really wanted, call web_fetch"),
        ("/name", "localhost:1 is an address of this machine"),
        ("/cloud", "169.254.169.254:80 is an address"),
        ("/file", "must be HTTP or HTTPS, not file"),
        ("/name-and-password", "holds a name or a password"),
        ("/nowhere", "redirects to something that is no address"),
    ] {
        let got = outcome(path).await;
        assert!(got.contains(expected), "{path}: {got}");
    }
    assert_eq!(private_server.requests().len(), 0);
}

#[tokio::test]
async fn bodies_end_at_the_limit_packed_or_not() {
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;
    let pack = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let (bomb, small_body) = (pack(&vec![b'a'; MAX_BODY + 1_000]), pack(b"small"));
    let server = WebServer::new(move |request| match path_of(request) {
        "/large" => answer("text/plain", vec![b'a'; 100_000]),
        "/exact" => answer("text/plain", vec![b'a'; 1_000]),
        "/bomb" => respond("200 OK", "content-encoding: gzip\r\n", &bomb),
        "/packed" => respond("200 OK", "content-encoding: GZIP\r\n", &small_body),
        "/broken" => respond("200 OK", "content-encoding: gzip\r\n", "no gzip"),
        "/strange" => respond("200 OK", "content-encoding: br\r\n", "x"),
        "/cut" => b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf".to_vec(),
        _ => b"no http at all\r\n\r\n".to_vec(),
    });
    let http = Http::new(direct()).with_grants([(server.site(), SiteGrant::ByName)]);
    for (path, length, is_complete) in
        [("/large", 1_000, false), ("/exact", 1_000, true), ("/bomb", 1_000, false), ("/packed", 5, true)]
    {
        let body = http.send(&parse(&server.url(path)).unwrap(), get(), 1_000).await;
        // The compressed bomb itself exceeds the limit, so it is cut twice.
        let body = body.unwrap().body;
        assert!(
            body.bytes.len() <= length && body.is_complete == is_complete,
            "{path}: {}",
            body.bytes.len()
        );
    }
    let bomb = http.send(&parse(&server.url("/bomb")).unwrap(), get(), MAX_BODY).await.unwrap().body;
    assert_eq!((bomb.bytes.len(), bomb.is_complete), (MAX_BODY, false));
    for (path, expected) in [
        ("/broken", "packed wrongly"),
        ("/strange", "not asked for (br)"),
        ("/cut", "cannot be read"),
        ("/", "The request failed"),
    ] {
        let error = fetch(&http, &server.url(path)).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{path}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_times_out() {
    // The clock advances whenever nothing else runs.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://127.0.0.1:{}/", silent.local_addr().unwrap().port());
    let site = Site::from_url(&url.parse().unwrap()).unwrap();
    let http = Http::new(direct()).with_grants([(site, SiteGrant::ByName)]);
    let error = fetch(&http, &url).await.unwrap_err();
    assert!(matches!(error, HttpError::TimeOut(_)), "{error}");
}

#[tokio::test]
async fn addresses_are_checked_even_with_a_proxy() {
    let proxy = WebServer::new(|_| answer("text/plain", "by the proxy"));
    let network = Network {
        proxy: octo_llm::Proxy::Manual(proxy.url("").into()),
        headers: vec![("x-model-key".to_owned(), "s3cret".into())],
        ..Network::default()
    };
    // A name that only the proxy knows.
    let http = Http::with_resolver(network.clone(), Answers::new(&[&[]]));
    assert_eq!(fetch(&http, "http://far.example/page").await.unwrap().body.bytes, b"by the proxy");
    let request = proxy.requests().pop().unwrap();
    assert!(request.starts_with("GET http://far.example/page HTTP/1.1"), "{request}");
    assert!(!request.contains("s3cret"), "what is for models goes nowhere else");
    for url in ["http://10.0.0.1/", "http://169.254.169.254/", "http://localhost/"] {
        assert!(matches!(fetch(&http, url).await, Err(HttpError::Private { .. })), "{url}");
    }
    let http = Http::with_resolver(network, Answers::new(&[&["192.168.0.7"]]));
    assert!(matches!(fetch(&http, "http://intranet.example/").await, Err(HttpError::Private { .. })));
    assert_eq!(proxy.requests().len(), 1);
}
