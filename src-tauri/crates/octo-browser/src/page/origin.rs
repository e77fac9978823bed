//! Whose a page is.
//!
//! The browser writes an origin beside every document it tells of, but makes it of the document's address. An empty
//! page, at `about:blank`, says nothing by that: one that another page opened belongs to that other page, which can
//! write into it. Whose such a document really is, is asked of the browser itself.

use crate::{
    CallError, Link,
    cdp::browser_protocol::{
        page::FrameId,
        storage::GetStorageKeyParams,
        target::{GetTargetInfoParams, SessionId, TargetId},
    },
    wire::{Leniently, TargetNews, WireFrame},
};
use reqwest::Url;
use std::time::Duration;

/// How long the browser may take to say whose a document is. No page is asked for it.
const ASKING: Duration = Duration::from_secs(3);

/// What the browser itself writes for an origin that it does not tell. Nobody grants it.
const UNTOLD: &str = "://";

/// Whether an address says nothing of whose its document is.
pub(super) fn is_inherited(url: &str) -> bool {
    url.split_once(':').is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("about"))
}

/// An address's origin. Those without one of the web's own (`chrome:`, `file:`, extensions) keep their scheme, for
/// they must not be taken for a page without an origin.
pub(super) fn of_address(url: &str) -> String {
    let Ok(url) = Url::parse(url) else { return "null".to_owned() };
    let origin = url.origin();
    if origin.is_tuple() {
        return origin.ascii_serialization();
    }
    match (url.scheme(), url.host_str()) {
        ("about", _) => UNTOLD.to_owned(),
        ("data" | "javascript", _) => "null".to_owned(),
        (scheme, host) => format!("{scheme}://{}", host.unwrap_or_default()),
    }
}

/// The origin of a tab's main frame. The browser is asked only where the address does not say it.
pub(super) async fn of_frame(
    link: &Link,
    session: &SessionId,
    target: &TargetId,
    frame: &WireFrame,
) -> String {
    // An error page is not of the site it stands in for.
    if frame.unreachable_url.is_some() {
        return "null".to_owned();
    }
    if is_inherited(&frame.url) {
        return inherited(link, session, target, &frame.id).await;
    }
    of_address(&frame.url)
}

/// Whose an empty document is: `null` for one of the browser's own, which nobody can write into.
pub(super) async fn inherited(
    link: &Link,
    session: &SessionId,
    target: &TargetId,
    frame: &FrameId,
) -> String {
    // What a document stores is kept under whose it is.
    let kept_under = GetStorageKeyParams { frame_id: Some(frame.clone()) };
    match link.call(Some(session), kept_under, ASKING).await {
        // Behind the origin, further parts may tell frames of one site in another apart.
        Ok(answer) => of_address(answer.storage_key.inner().split('^').next().unwrap_or_default()),
        Err(CallError::Refused { refusal, .. }) if refusal.message.contains("opaque origin") => {
            // Of nobody that has a name: a new tab's, or one of a nameless page that has it in hand.
            let about =
                Leniently::<_, TargetNews>::new(GetTargetInfoParams { target_id: Some(target.clone()) });
            match link.call(None, about, ASKING).await {
                Ok(news) if news.target_info.opener_id.is_none() => "null".to_owned(),
                Ok(_) | Err(_) => UNTOLD.to_owned(),
            }
        }
        Err(error) => {
            tracing::debug!(%error, "whose an empty page is was not told");
            UNTOLD.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins() {
        for (url, expected) in [
            ("https://example.org/a?b#c", "https://example.org"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
            ("https://bücher.example/", "https://xn--bcher-kva.example"),
            ("blob:https://example.org/1234", "https://example.org"),
            ("chrome://settings/", "chrome://settings"),
            ("chrome-extension://abcdef/popup.html", "chrome-extension://abcdef"),
            ("file:///etc/passwd", "file://"),
            ("about:blank", "://"),
            ("about:srcdoc", "://"),
            ("data:text/html,hello", "null"),
            ("", "null"),
        ] {
            assert_eq!(of_address(url), expected, "{url}");
        }
    }

    #[test]
    fn only_an_empty_page_says_nothing_of_whose_it_is() {
        for (url, expected) in [
            ("about:blank", true),
            ("about:blank#x", true),
            ("ABOUT:srcdoc", true),
            ("https://about.example/", false),
            ("about", false),
            ("ab\u{fc}ut:blank", false),
        ] {
            assert_eq!(is_inherited(url), expected, "{url}");
        }
    }
}
