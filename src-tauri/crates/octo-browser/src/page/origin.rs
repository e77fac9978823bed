//! Origins of documents.
//!
//! The browser reports an origin with every document, but derives it from the address. For an empty page at
//! `about:blank` this says nothing: a page opened by another one belongs to its opener, which can write into
//! it. Only the document itself knows its real origin; Octo asks it in an isolated world, which the page
//! cannot reach.

use crate::{
    CallError, Link,
    cdp::{
        browser_protocol::{
            page::{CreateIsolatedWorldParams, FrameId},
            target::{GetTargetInfoParams, SessionId, TargetId},
        },
        js_protocol::runtime::EvaluateParams,
    },
    wire::{LenientCommand, TargetEvent, WireFrame},
};
use reqwest::Url;
use std::time::Duration;
use tokio::time::sleep;

/// Timeout for asking a document for its origin.
const ORIGIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum number of attempts while the previous document still answers.
const MAX_ATTEMPTS: u32 = 10;
/// Delay between two of these attempts.
const RETRY_DELAY: Duration = Duration::from_millis(20);

/// The browser's own placeholder for an origin that it does not disclose. It is never granted.
const UNDISCLOSED_ORIGIN: &str = "://";

/// Returns whether a document at this address inherits its origin.
pub(super) fn is_inherited(url: &str) -> bool {
    url.split_once(':').is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("about"))
}

/// Returns an address's origin. Addresses without a web origin (`chrome:`, `file:`, extensions) keep their
/// scheme, so that they are not taken for a page without an origin.
pub(super) fn of_address(url: &str) -> String {
    let Ok(url) = Url::parse(url) else { return "null".to_owned() };
    let origin = url.origin();
    if origin.is_tuple() {
        return origin.ascii_serialization();
    }
    match (url.scheme(), url.host_str()) {
        ("about", _) => UNDISCLOSED_ORIGIN.to_owned(),
        ("data" | "javascript", _) => "null".to_owned(),
        (scheme, host) => format!("{scheme}://{}", host.unwrap_or_default()),
    }
}

/// Returns the origin of a tab's main frame. Queries the browser only if the address is not conclusive.
pub(super) async fn of_frame(
    link: &Link,
    session: &SessionId,
    target: &TargetId,
    frame: &WireFrame,
) -> String {
    // An error page does not belong to the site it replaces.
    if frame.unreachable_url.is_some() {
        return "null".to_owned();
    }
    if is_inherited(&frame.url) {
        return inherited_origin(link, session, target, &frame.id).await;
    }
    of_address(&frame.url)
}

/// Returns the origin of an empty document: `null` for the browser's own, which no page can write into.
async fn inherited_origin(link: &Link, session: &SessionId, target: &TargetId, frame: &FrameId) -> String {
    for _ in 0..MAX_ATTEMPTS {
        match document_origin(link, session, frame).await {
            Ok(Some(origin)) if origin == "null" => return opaque_origin(link, target).await,
            Ok(Some(origin)) => return origin,
            // The previous document answered.
            Ok(None) | Err(CallError::Refused { .. }) => sleep(RETRY_DELAY).await,
            Err(error) => {
                tracing::debug!(%error, "could not read the origin of an empty page");
                break;
            }
        }
    }
    UNDISCLOSED_ORIGIN.to_owned()
}

/// Returns the origin that a document itself reports in an isolated world, or `None` if it is not an empty
/// document.
async fn document_origin(
    link: &Link,
    session: &SessionId,
    frame: &FrameId,
) -> Result<Option<String>, CallError> {
    let world = CreateIsolatedWorldParams {
        world_name: Some("octo".to_owned()),
        ..CreateIsolatedWorldParams::new(frame.clone())
    };
    let world = link.call(Some(session), world, ORIGIN_TIMEOUT).await?.execution_context_id;
    let params = EvaluateParams {
        context_id: Some(world),
        return_by_value: Some(true),
        ..EvaluateParams::new("[self.origin, location.href]")
    };
    let reply = link.call(Some(session), params, ORIGIN_TIMEOUT).await?.result.value.unwrap_or_default();
    let reply: Option<(String, String)> = serde_json::from_value(reply).ok();
    Ok(reply.filter(|(_, address)| is_inherited(address)).map(|(origin, _)| origin))
}

/// Returns the origin of an empty document that is opaque: `null` without an opener, as for a new tab, and
/// undisclosed if an opaque page opened it.
async fn opaque_origin(link: &Link, target: &TargetId) -> String {
    let command =
        LenientCommand::<_, TargetEvent>::new(GetTargetInfoParams { target_id: Some(target.clone()) });
    match link.call(None, command, ORIGIN_TIMEOUT).await {
        Ok(reply) if reply.target_info.opener_id.is_none() => "null".to_owned(),
        Ok(_) | Err(_) => UNDISCLOSED_ORIGIN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_the_expected_origins() {
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
    fn only_a_blank_page_has_no_origin_of_its_own() {
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
