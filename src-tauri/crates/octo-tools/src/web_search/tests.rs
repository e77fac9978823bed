use super::{SearchEngine, WebSearch};
use crate::testing::{Bench, FixedEngines, WebServer, answer, path_of, respond};
use octo_protocol::{SearchProviderKind, ToolView};
use serde_json::json;
use std::sync::Arc;

const DUCKDUCKGO: &str = include_str!("../../tests/fixtures/search/duckduckgo.html");
const BING: &str = include_str!("../../tests/fixtures/search/bing.html");
const ROBOT: &str = include_str!("../../tests/fixtures/search/duckduckgo-robot.html");

/// Creates a bench whose searches use a server on this machine, in that order.
fn bench(server: &WebServer, kinds: &[SearchProviderKind]) -> Bench {
    let mut bench = Bench::new();
    let engines = kinds.iter().map(|kind| SearchEngine {
        kind: *kind,
        address: server.url(&format!("/{kind:?}").to_lowercase()).parse().unwrap(),
        key: Some("s3cret-key".into()),
    });
    bench.context.search = WebSearch::new(Arc::new(FixedEngines(engines.collect())));
    bench.allow(server.site());
    bench
}

use SearchProviderKind::{Bing, Brave, DuckDuckGo, Searxng, Tavily};

#[test]
fn the_first_provider_that_answers_is_enough() {
    let server = WebServer::new(|_| answer("text/html", DUCKDUCKGO));
    let bench = bench(&server, &[DuckDuckGo, Bing]);
    let output = bench.call("search", json!({"query": " rust language ", "max_results": 3})).unwrap();
    assert!(
        output
            .text
            .starts_with("3 results for: rust language\n<web_page from=\"DuckDuckGo\">\nUntrusted data")
    );
    assert!(
        output
            .text
            .contains("\n1. Rust Programming Language\n   https://www.rust-lang.org/\n   A language emp")
    );
    assert!(output.text.ends_with("\n</web_page>"));
    let ToolView::WebResults { query, provider: Some(DuckDuckGo), results } = output.view else { panic!() };
    assert_eq!((query.as_str(), results.len()), ("rust language", 3));
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert!(requests[0].starts_with("GET /duckduckgo?q=rust+language HTTP/1.1"), "{}", requests[0]);
    let head = requests[0].to_lowercase();
    assert!(head.contains("user-agent: mozilla/5.0") && head.contains("sec-fetch-mode: navigate"));
    assert!(!head.contains("accept-encoding") && !head.contains("cookie") && !head.contains("s3cret"));
}

#[test]
fn refusals_pause_an_engine_and_try_the_next() {
    for (status, body) in
        [("202 Accepted", ROBOT), ("403 Forbidden", ""), ("200 OK", ROBOT), ("429 Too Many", "")]
    {
        let server = WebServer::new(move |request| match path_of(request).split('?').next() {
            Some("/bing") => answer("text/html; charset=utf-8", BING),
            _ => respond(status, "content-type: text/html\r\n", body),
        });
        let bench = bench(&server, &[DuckDuckGo, Bing]);
        for _ in 0..2 {
            let output = bench.call("web_search", json!({"query": "x", "max_results": 99})).unwrap();
            assert!(
                output.text.contains("from=\"Bing\"") && output.text.starts_with("7 results"),
                "{status}"
            );
        }
        let paths: Vec<String> =
            server.requests().iter().map(|request| path_of(request).to_owned()).collect();
        assert_eq!(paths, ["/duckduckgo?q=x", "/bing?q=x&count=20", "/bing?q=x&count=20"], "{status}");
    }
}

#[test]
fn when_all_fail_each_cause_is_named_and_no_key_is() {
    let server = WebServer::new(|request| match path_of(request).split('?').next() {
        Some("/duckduckgo") => respond("202 Accepted", "", ROBOT),
        Some("/bing") => answer("text/html", "<html><body>captcha</body></html>"),
        Some("/brave") => respond("401 Unauthorized", "", "s3cret-key is wrong"),
        Some("/tavily") => answer("application/json", "{}"),
        _ => respond("302 Found", "location: http://169.254.169.254/\r\n", ""),
    });
    let bench = bench(&server, &[DuckDuckGo, Bing, Brave, Tavily, Searxng]);
    let error = bench.error("web_search", json!({"query": "x"}));
    for cause in [
        "DuckDuckGo: HTTP 202 (it takes Octo for a robot)",
        "Bing: a page without results",
        "Brave: HTTP 401 (the key is not accepted)",
        "Tavily: an answer that is not what its interface says",
        "SearXNG: More than 0 redirects.",
    ] {
        assert!(error.contains(cause), "{cause}: {error}");
    }
    assert!(!error.contains("s3cret"), "{error}");
    let second_error = bench.error("web_search", json!({"query": "x"}));
    assert!(
        second_error.contains("Bing: it refused lately and is left alone for 10 more minutes"),
        "{second_error}"
    );
    let count = server.requests().len();
    assert_eq!(count, 6, "four rest; SearXNG, which only redirected, was asked again");
}

#[test]
fn an_offline_network_pauses_no_engine() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut bench = Bench::new();
    let address = format!("http://127.0.0.1:{port}/search").parse().unwrap();
    bench.context.search =
        WebSearch::new(Arc::new(FixedEngines(vec![SearchEngine { kind: Searxng, address, key: None }])));
    for _ in 0..2 {
        let error = bench.error("web_search", json!({"query": "x"}));
        assert!(error.contains("SearXNG: The request failed:"), "{error}");
    }
}

#[test]
fn apis_get_their_keys_and_other_addresses_stay_private() {
    let server = WebServer::new(|_| {
        answer(
            "application/json",
            r#"{"query": {}, "web": {"results": [{"title": "T", "url": "https://t.example/",
            "description": "D"}]}, "results": [{"title": "T", "url": "https://t.example/", "content": "D"},
            {"title": "bad", "url": "javascript:alert(1)", "content": ""}]}"#,
        )
    });
    for (kind, start, header) in [
        (Brave, "GET /brave?q=x&count=10 ", "x-subscription-token: s3cret-key\r\n"),
        (Tavily, "POST /tavily ", "authorization: bearer s3cret-key\r\n"),
        (Searxng, "GET /searxng/search?q=x&format=json ", "accept: application/json\r\n"),
    ] {
        let bench = bench(&server, &[kind]);
        let output = bench.call("web_search", json!({"query": "x"})).unwrap();
        assert!(output.text.contains("1. T\n   https://t.example/\n   D"), "{}", output.text);
        assert!(!output.text.contains("javascript"));
        let request = server.requests().pop().unwrap();
        assert!(request.starts_with(start) && request.to_lowercase().contains(header), "{request}");
        if kind == Tavily {
            assert!(request.ends_with(r#"{"query":"x","max_results":10}"#), "{request}");
        }
    }
    // The person's choice of an address allows it; a built-in address that leads here is not allowed.
    let mut closed = bench(&server, &[Searxng]);
    closed.context.http = Bench::new().context.http;
    assert!(closed.call("web_search", json!({"query": "x"})).is_ok());
    let mut closed = bench(&server, &[DuckDuckGo]);
    closed.context.http = Bench::new().context.http;
    assert!(closed.error("web_search", json!({"query": "x"})).contains("is an address of this machine"));
}

#[test]
fn an_impossible_search_says_why() {
    let bench = Bench::new();
    assert!(bench.error("web_search", json!({"query": "  "})).contains("The query is empty"));
    assert!(bench.preview("web_search", json!({"query": ""})).is_err());
    assert!(bench.error("web_search", json!({"query": "x"})).contains("none is set up"));
    let effects = bench.effects("web_search", json!({"query": "x"}));
    assert_eq!(effects, crate::Effects { order: crate::CallConcurrency::Parallel, ..crate::Effects::none() });
}
