//! Queries one provider.

use super::{engine::SearchEngine, parse};
use crate::http::{Http, HttpError, SiteGrant, WebReply, WebRequest};
use octo_protocol::{SearchProviderKind, WebResult};
use reqwest::{
    Method,
    header::{
        ACCEPT, ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
    },
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use std::time::Duration;
use url::Url;

/// Maximum bytes read of an answer. Pages of results are far smaller.
const MAX_ANSWER: usize = 2 << 20;
/// Maximum redirects followed of a provider's page. APIs with keys have none.
const MAX_REDIRECTS: usize = 2;
/// User agent for browser pages. They return nothing useful to other clients; no compression is requested,
/// since Bing sends a page without results to a client that asks for compression and runs no scripts.
const BROWSER_USER_AGENT: &str =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";

/// Reason why a provider returned no results.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum EngineRefusal {
    #[error("{0}")]
    Http(HttpError),
    #[error("HTTP {status}{}", hint(*status))]
    Status { status: u16 },
    #[error("a page without results")]
    Empty,
    #[error("an answer that is not what its interface says")]
    Malformed,
    #[error("it needs a key, and none is saved")]
    NoKey,
    #[error("it refused lately and is left alone for {} more minutes", .0.as_secs().div_ceil(60))]
    Resting(Duration),
}

impl EngineRefusal {
    /// Returns whether asking again soon is useless, because the provider itself refuses. A network failure
    /// says nothing about the provider, and an empty result may be the query's fault, but not twice: pages for
    /// robots look the same.
    pub(super) fn is_by_provider(&self) -> bool {
        match self {
            Self::Status { .. } | Self::Empty | Self::Malformed => true,
            Self::Http(HttpError::TimeOut(_)) => true,
            Self::Http(_) | Self::NoKey | Self::Resting(_) => false,
        }
    }
}

fn hint(status: u16) -> &'static str {
    match status {
        // DuckDuckGo's status for robots.
        202 => " (it takes Octo for a robot)",
        401 => " (the key is not accepted)",
        402 | 432 | 433 => " (its plan is used up)",
        403 => " (forbidden)",
        429 => " (too many requests)",
        _ => "",
    }
}

/// Queries a provider. Returns at most `limit` results, each with an http or https address; an empty result is a
/// refusal.
pub(super) async fn query_engine(
    engine: &SearchEngine,
    http: &Http,
    query: &str,
    limit: usize,
) -> Result<Vec<WebResult>, EngineRefusal> {
    let (url, web_request) = request(engine, query, limit)?;
    let http = http.with_grants(engine.chosen_site().map(|site| (site, SiteGrant::ByName)));
    let reply = http.send(&url, web_request, MAX_ANSWER).await.map_err(EngineRefusal::Http)?;
    let mut results = read(engine.kind, &reply)?;
    results.retain(|result| is_page(&result.url) && !result.title.is_empty());
    results.truncate(limit);
    if results.is_empty() { Err(EngineRefusal::Empty) } else { Ok(results) }
}

fn is_page(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some())
}

fn request(engine: &SearchEngine, query: &str, limit: usize) -> Result<(Url, WebRequest), EngineRefusal> {
    let mut url = engine.address.clone();
    let mut headers = HeaderMap::new();
    let fixed = |headers: &mut HeaderMap, name: HeaderName, value| {
        headers.insert(name, HeaderValue::from_static(value));
    };
    let count = limit.to_string();
    let key = || engine.key.as_ref().ok_or(EngineRefusal::NoKey);
    let (mut method, mut body, mut redirects) = (Method::GET, None, 0);
    match engine.kind {
        SearchProviderKind::DuckDuckGo | SearchProviderKind::Bing => {
            fixed(&mut headers, USER_AGENT, BROWSER_USER_AGENT);
            fixed(&mut headers, ACCEPT, "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");
            fixed(&mut headers, ACCEPT_LANGUAGE, "en-US,en;q=0.8,zh-CN;q=0.6");
            for (name, value) in [
                ("sec-fetch-dest", "document"),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-site", "none"),
                ("upgrade-insecure-requests", "1"),
            ] {
                fixed(&mut headers, HeaderName::from_static(name), value);
            }
            redirects = MAX_REDIRECTS;
            url.query_pairs_mut().append_pair("q", query);
            if engine.kind == SearchProviderKind::Bing {
                url.query_pairs_mut().append_pair("count", &count);
            }
        }
        SearchProviderKind::Brave => {
            fixed(&mut headers, ACCEPT, "application/json");
            headers.insert(HeaderName::from_static("x-subscription-token"), secret(key()?, "")?);
            url.query_pairs_mut().append_pair("q", query).append_pair("count", &count);
        }
        SearchProviderKind::Tavily => {
            fixed(&mut headers, ACCEPT, "application/json");
            fixed(&mut headers, CONTENT_TYPE, "application/json");
            headers.insert(AUTHORIZATION, secret(key()?, "Bearer ")?);
            method = Method::POST;
            body = Some(json!({ "query": query, "max_results": limit }).to_string());
        }
        SearchProviderKind::Searxng => {
            fixed(&mut headers, ACCEPT, "application/json");
            if !url.path().ends_with("/search") {
                let path = format!("{}/search", url.path().trim_end_matches('/'));
                url.set_path(&path);
            }
            url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
        }
    }
    Ok((url, WebRequest { method, headers, body, redirects }))
}

fn secret(key: &SecretString, before: &str) -> Result<HeaderValue, EngineRefusal> {
    let mut value = HeaderValue::from_str(&format!("{before}{}", key.expose_secret().trim()))
        .map_err(|_| EngineRefusal::NoKey)?;
    value.set_sensitive(true);
    Ok(value)
}

fn read(kind: SearchProviderKind, reply: &WebReply) -> Result<Vec<WebResult>, EngineRefusal> {
    // 202 is a success by its number and a refusal by its content.
    if reply.status != 200 {
        return Err(EngineRefusal::Status { status: reply.status });
    }
    let text = String::from_utf8_lossy(&reply.body.bytes);
    match kind {
        SearchProviderKind::DuckDuckGo => Ok(parse::duckduckgo(&text)),
        SearchProviderKind::Bing => Ok(parse::bing(&text)),
        SearchProviderKind::Brave => parse::brave(&text).ok_or(EngineRefusal::Malformed),
        SearchProviderKind::Tavily => parse::tavily(&text).ok_or(EngineRefusal::Malformed),
        SearchProviderKind::Searxng => parse::searxng(&text).ok_or(EngineRefusal::Malformed),
    }
}
