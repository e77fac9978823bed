use super::*;

const DUCKDUCKGO: &str = include_str!("../../../tests/fixtures/search/duckduckgo.html");
const BING: &str = include_str!("../../../tests/fixtures/search/bing.html");

/// Results that both saved pages contain.
const PAGES: [&str; 7] = [
    "https://www.rust-lang.org/",
    "https://en.wikipedia.org/wiki/Rust_(programming_language)",
    "https://doc.rust-lang.org/book/",
    "https://github.com/rust-lang/rust",
    "https://play.rust-lang.org/?version=stable&mode=debug",
    "https://www.zhihu.com/question/20032903?a=b%20c",
    "https://www.reddit.com/r/rust/",
];

#[test]
fn saved_pages_give_their_results_in_order() {
    for (name, results) in [("duckduckgo", duckduckgo(DUCKDUCKGO)), ("bing", bing(BING))] {
        let urls: Vec<&str> = results.iter().map(|result| result.url.as_str()).collect();
        assert_eq!(urls, PAGES, "{name}: no advertisement, no address of the provider's own");
        assert_eq!(results[0].title, "Rust Programming Language", "{name}");
        assert_eq!(results[5].title, "如何看待 Rust 的应用前景？ - 知乎", "{name}");
        // One has no snippet; it must not get that of another result.
        assert_eq!(results[3].snippet, "", "{name}");
        assert_eq!(
            results[0].snippet, "A language empowering everyone to build reliable and efficient software.",
            "{name}"
        );
        assert!(
            results[2].snippet.ends_with("from the Rust Community & friends"),
            "{name}: {:?}",
            results[2]
        );
        assert!(results[6].snippet.contains("language's ecosystem"), "{name}: {:?}", results[6]);
    }
}

#[test]
fn pages_without_results_give_none() {
    let robot = include_str!("../../../tests/fixtures/search/duckduckgo-robot.html");
    let none = include_str!("../../../tests/fixtures/search/duckduckgo-none.html");
    for page in ["", "<html></html>", "not html at all", robot, none] {
        assert_eq!(duckduckgo(page), []);
        assert_eq!(bing(page), []);
    }
}

#[test]
fn redirects_are_looked_through() {
    for (href, expected) in [
        (
            "//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F%3Fq%3D1%262&rut=x",
            Some("https://a.example/?q=1&2"),
        ),
        ("https://duckduckgo.com/l/?rut=x&uddg=http%3A%2F%2Fb.example", Some("http://b.example")),
        ("https://c.example/l/?uddg=x", Some("https://c.example/l/?uddg=x")),
        ("https://notduckduckgo.com/y.js", Some("https://notduckduckgo.com/y.js")),
        ("https://duckduckgo.com/y.js?ad_domain=x", None),
        ("//duckduckgo.com/l/?rut=x", None),
    ] {
        assert_eq!(duckduckgo_target(href).as_deref(), expected, "{href}");
    }
    for (href, expected) in [
        (
            "https://www.bing.com/ck/a?!&&p=1&u=a1aHR0cHM6Ly9hLmV4YW1wbGUvP3E9MQ&ntb=1",
            Some("https://a.example/?q=1"),
        ),
        ("https://www.bing.com/ck/a?u=a1aHR0cHM6Ly9hLmV4YW1wbGUvP3E9MQ==", Some("https://a.example/?q=1")),
        ("/ck/a?u=a1aHR0cHM6Ly9iLmV4YW1wbGUv", Some("https://b.example/")),
        ("https://b.example/x", Some("https://b.example/x")),
        ("https://www.bing.com/ck/a?u=a1%%%", None),
        ("https://www.bing.com/ck/a?u=b2aHR0", None),
        ("https://www.bing.com/aclick?u=a1aHR0cHM6Ly9iLmV4YW1wbGUv", None),
        ("/search?q=more", None),
    ] {
        assert_eq!(bing_target(href).as_deref(), expected, "{href}");
    }
}

#[test]
fn interfaces_answers_are_read() {
    let result_of = |title: &str, snippet: &str| {
        vec![WebResult { title: title.into(), url: "https://a.example/".into(), snippet: snippet.into() }]
    };
    let row = r#"{"title": "A <strong>b</strong> &amp; c", "url": "https://a.example/", "X": "d <strong>e</strong> f"}"#;
    let brave_answer = format!(
        r#"{{"query": {{"original": "x"}}, "web": {{"results": [{}]}}}}"#,
        row.replace('X', "description")
    );
    assert_eq!(brave(&brave_answer), Some(result_of("A b & c", "d e f")));
    assert_eq!(brave(r#"{"query": {"original": "x"}}"#), Some(vec![]), "nothing found");
    let content = format!(r#"{{"results": [{}, {{"title": "no url"}}, 7]}}"#, row.replace('X', "content"));
    assert_eq!(tavily(&content), Some(result_of("A b & c", "d e f")));
    assert_eq!(searxng(&content), Some(result_of("A b & c", "d e f")));
    for broken in ["", "[]", "{}", "<html>", r#"{"error": "x"}"#] {
        assert_eq!((brave(broken), tavily(broken), searxng(broken)), (None, None, None), "{broken}");
    }
    let long_reply = format!(
        r#"{{"results": [{{"title": "{0}", "url": "https://a.example/", "content": "{0}"}}]}}"#,
        "é".repeat(900)
    );
    let [truncated] = tavily(&long_reply).unwrap().try_into().unwrap();
    assert_eq!(
        (truncated.title.chars().count(), truncated.snippet.chars().count()),
        (MAX_TITLE + 1, MAX_SNIPPET + 1)
    );
}
