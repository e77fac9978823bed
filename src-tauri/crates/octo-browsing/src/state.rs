//! Converts the attachment's state for the window, and connection errors for the model.

use octo_browser::{
    AccessMode, AttachmentState, BrowserFamily, BrowserProduct, ConnectError, ReleaseChannel,
};
use octo_protocol::{ApiError, AttachMethod, BrowserState, Millis};
use octo_tools::ToolError;
use std::time::{SystemTime, UNIX_EPOCH};

/// Converts the state for the window. `failure` is the reason why the last attempt failed.
pub(crate) fn told(state: AttachmentState, failure: Option<&ApiError>) -> BrowserState {
    match state {
        AttachmentState::Off => {
            failure.map_or(BrowserState::Apart, |error| BrowserState::Lost { error: error.clone() })
        }
        AttachmentState::Looking => BrowserState::Looking,
        AttachmentState::WaitingForAllow { browser, since } => {
            BrowserState::WaitingForAllow { browser, since: millis(since) }
        }
        AttachmentState::Connected { browser, version, mode } => {
            let method = match mode {
                AccessMode::Flag => AttachMethod::Switch,
                AccessMode::Approval => AttachMethod::Approved,
                AccessMode::OwnProfile => AttachMethod::Own,
            };
            BrowserState::Attached { browser, version, way: method }
        }
        AttachmentState::Lost { why } => {
            BrowserState::Lost { error: ApiError::new("browser.ended").detail(why) }
        }
    }
}

fn millis(at: SystemTime) -> Millis {
    at.duration_since(UNIX_EPOCH).ok().and_then(|past| Millis::try_from(past.as_millis()).ok()).unwrap_or(0)
}

/// Explains why no attachment was made.
pub(crate) fn connect_error(error: &ConnectError) -> ApiError {
    match error {
        ConnectError::NoBrowser => ApiError::new("browser.none_listens"),
        ConnectError::PortTaken { port } => ApiError::new("browser.port_taken").arg("port", port),
        ConnectError::Declined => ApiError::new("browser.declined"),
        ConnectError::Cancelled => ApiError::new("browser.given_up"),
        ConnectError::Unreachable(_) | ConnectError::Silent(_) => {
            ApiError::new("browser.unreachable").detail(error)
        }
        ConnectError::Launch(_) => ApiError::new("browser.not_started").detail(error),
    }
}

/// Explains a connection error to the model: what it can do, and that it must not keep retrying on its own.
pub(crate) fn for_model(error: &ApiError) -> ToolError {
    let words = match error.key.as_str() {
        "browser.off" => {
            "The person switched the browser off in the settings. Do without it, or ask them to switch it on."
        }
        "browser.none_listens" => {
            "No browser can be attached to: none runs, or letting programs in is switched off in it. The person can switch it on under Settings, Browser. Ask them; until then use web_fetch."
        }
        "browser.declined" => {
            "The person declined in the browser. Do not try again by yourself: say what you needed it for and ask."
        }
        "browser.given_up" => {
            "The person gave up waiting for the browser. Do not try again by yourself: ask them."
        }
        "browser.none_installed" | "browser.unknown" => {
            "The browser that was chosen is not installed. Ask the person to choose another under Settings, Browser."
        }
        _ => {
            "The browser could not be reached. Ask the person to look under Settings, Browser, where each fault has its repair."
        }
    };
    ToolError::new(words)
}

/// Returns the id under which the settings name a browser.
pub(crate) fn id_of(product: &BrowserProduct) -> String {
    let family = match product.family {
        BrowserFamily::Chrome => "chrome",
        BrowserFamily::Edge => "edge",
        BrowserFamily::Brave => "brave",
        BrowserFamily::Chromium => "chromium",
    };
    let channel = match product.channel {
        ReleaseChannel::Stable => return family.to_owned(),
        ReleaseChannel::Beta => "beta",
        ReleaseChannel::Dev => "dev",
        ReleaseChannel::Canary => "canary",
    };
    format!("{family}-{channel}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_protocol::words;

    #[test]
    fn a_failure_is_told_until_something_new_is_tried() {
        let declined = connect_error(&ConnectError::Declined);
        assert_eq!(told(AttachmentState::Off, None), BrowserState::Apart);
        assert_eq!(
            told(AttachmentState::Off, Some(&declined)),
            BrowserState::Lost { error: declined.clone() }
        );
        assert_eq!(told(AttachmentState::Looking, Some(&declined)), BrowserState::Looking);
    }

    #[test]
    fn every_reason_has_words_for_the_person_and_for_the_model() {
        for error in [
            ConnectError::NoBrowser,
            ConnectError::PortTaken { port: 9222 },
            ConnectError::Declined,
            ConnectError::Cancelled,
            ConnectError::Unreachable("x".into()),
        ] {
            let error = connect_error(&error);
            let words = words::explain(octo_protocol::Language::En, &error);
            assert!(!words.contains(&error.key) && !words.is_empty(), "{words}");
            assert!(!for_model(&error).text.is_empty());
        }
    }
}
