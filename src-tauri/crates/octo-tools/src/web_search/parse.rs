//! Parses providers' answers.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use octo_protocol::WebResult;
use scraper::{ElementRef, Html, Selector};
use serde_json::Value;
use url::Url;

/// Maximum characters of a snippet.
const MAX_SNIPPET: usize = 400;
/// Maximum characters of a title.
const MAX_TITLE: usize = 200;
/// Base64 variant of Bing's addresses, with or without padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Parses the results of DuckDuckGo's page without scripts. Leaves out advertisements.
pub(super) fn duckduckgo(page: &str) -> Vec<WebResult> {
    let page = Html::parse_document(page);
    let blocks = all(page.root_element(), ".result");
    let blocks = blocks.into_iter().filter(|block| {
        !block.value().classes().any(|class| class == "result--ad" || class == "result--no-result")
    });
    blocks
        .filter_map(|block| {
            let link = first(block, "a.result__a")?;
            let snippet = first(block, ".result__snippet").map(text).unwrap_or_default();
            let url = duckduckgo_target(link.attr("href")?)?;
            Some(result(&text(link), url, &snippet))
        })
        .collect()
}

/// Returns the target of a DuckDuckGo link: `//duckduckgo.com/l/?uddg=…`, or the address itself.
fn duckduckgo_target(href: &str) -> Option<String> {
    let base = Url::parse("https://duckduckgo.com").ok()?;
    let url = base.join(href).ok()?;
    if !is_on_domain(&url, "duckduckgo.com") {
        return Some(url.into());
    }
    // The path of advertisements.
    if url.path() != "/l/" {
        return None;
    }
    url.query_pairs().find(|(name, _)| name == "uddg").map(|(_, target)| target.into_owned())
}

/// Parses the results of Bing's page.
pub(super) fn bing(page: &str) -> Vec<WebResult> {
    let page = Html::parse_document(page);
    all(page.root_element(), "li.b_algo")
        .into_iter()
        .filter_map(|block| {
            let link = first(block, "h2 a[href]")?;
            let snippet = ["[class*=b_lineclamp]", ".b_caption p", ".b_caption"]
                .iter()
                .find_map(|selector| first(block, selector).map(text).filter(|text| !text.is_empty()))
                .unwrap_or_default();
            let url = bing_target(link.attr("href")?)?;
            Some(result(&text(link), url, &snippet))
        })
        .collect()
}

/// Returns the target of a Bing link: `https://www.bing.com/ck/a?…&u=a1<base64>…`, or the address itself.
fn bing_target(href: &str) -> Option<String> {
    let base = Url::parse("https://www.bing.com").ok()?;
    let url = base.join(href).ok()?;
    if !is_on_domain(&url, "bing.com") {
        return Some(url.into());
    }
    if !url.path().starts_with("/ck/") {
        return None;
    }
    let (_, packed) = url.query_pairs().find(|(name, _)| name == "u")?;
    let packed = packed.strip_prefix("a1")?;
    String::from_utf8(LENIENT.decode(packed).ok()?).ok()
}

fn is_on_domain(url: &Url, domain: &str) -> bool {
    let host = url.host_str().unwrap_or_default();
    host == domain || host.strip_suffix(domain).is_some_and(|prefix| prefix.ends_with('.'))
}

/// Parses the results of Brave's API; `None` if the answer is not valid.
pub(super) fn brave(body: &str) -> Option<Vec<WebResult>> {
    let body: Value = serde_json::from_str(body).ok()?;
    // A search without results has no `web` at all.
    body.get("query")?;
    Some(rows(body.get("web").and_then(|web| web.get("results")), "description"))
}

/// Parses the results of Tavily's API.
pub(super) fn tavily(body: &str) -> Option<Vec<WebResult>> {
    let body: Value = serde_json::from_str(body).ok()?;
    Some(rows(Some(body.get("results")?), "content"))
}

/// Parses the results of a SearXNG server.
pub(super) fn searxng(body: &str) -> Option<Vec<WebResult>> {
    let body: Value = serde_json::from_str(body).ok()?;
    Some(rows(Some(body.get("results")?), "content"))
}

fn rows(rows: Option<&Value>, snippet: &str) -> Vec<WebResult> {
    let rows = rows.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    rows.iter()
        .filter_map(|row| {
            let field = |name: &str| row.get(name).and_then(Value::as_str);
            let snippet = without_tags(field(snippet).unwrap_or_default());
            Some(result(&without_tags(field("title")?), field("url")?.to_owned(), &snippet))
        })
        .collect()
}

fn result(title: &str, url: String, snippet: &str) -> WebResult {
    WebResult { title: line(title, MAX_TITLE), url, snippet: line(snippet, MAX_SNIPPET) }
}

/// Removes tags and entities: APIs mark matches with tags (`<strong>`) and write the rest as HTML.
fn without_tags(text: &str) -> String {
    if text.contains(['<', '&']) {
        Html::parse_fragment(text).root_element().text().collect()
    } else {
        text.to_owned()
    }
}

fn text(element: ElementRef<'_>) -> String {
    element.text().collect()
}

/// Returns the text in one line, cut to a maximum length.
fn line(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

fn all<'a>(within: ElementRef<'a>, selector: &str) -> Vec<ElementRef<'a>> {
    // The selectors are constants, and tested.
    Selector::parse(selector).map(|selector| within.select(&selector).collect()).unwrap_or_default()
}

fn first<'a>(within: ElementRef<'a>, selector: &str) -> Option<ElementRef<'a>> {
    all(within, selector).into_iter().next()
}

#[cfg(test)]
mod tests;
