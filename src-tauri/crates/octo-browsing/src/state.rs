//! Converts the attachment's state for the window, and connection errors for the model.

use octo_browser::{
    AccessMode, AttachmentState, BrowserFamily, BrowserProduct, ConnectError, ReleaseChannel,
};
use octo_protocol::{ApiError, AttachMethod, BrowserState, Millis};
use octo_tools::ToolError;
use std::time::{SystemTime, UNIX_EPOCH};

/// Converts the state for the window. `failure` is the reason why the last attempt failed.
pub(crate) fn to_browser_state(state: AttachmentState, failure: Option<&ApiError>) -> BrowserState {
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
        AttachmentState::Lost { reason } => {
            BrowserState::Lost { error: ApiError::new("browser.ended").detail(reason) }
        }
    }
}

fn millis(time: SystemTime) -> Millis {
    time.duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|elapsed| Millis::try_from(elapsed.as_millis()).ok())
        .unwrap_or(0)
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
    let message = match error.key.as_str() {
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
    ToolError::new(message)
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
    fn a_failure_is_reported_until_the_next_attempt() {
        let declined = connect_error(&ConnectError::Declined);
        assert_eq!(to_browser_state(AttachmentState::Off, None), BrowserState::Apart);
        assert_eq!(
            to_browser_state(AttachmentState::Off, Some(&declined)),
            BrowserState::Lost { error: declined.clone() }
        );
        assert_eq!(to_browser_state(AttachmentState::Looking, Some(&declined)), BrowserState::Looking);
    }

    #[test]
    fn every_error_has_a_message_for_the_person_and_the_model() {
        for error in [
            ConnectError::NoBrowser,
            ConnectError::PortTaken { port: 9222 },
            ConnectError::Declined,
            ConnectError::Cancelled,
            ConnectError::Unreachable("x".into()),
        ] {
            let error = connect_error(&error);
            let message = words::explain(octo_protocol::Language::En, &error);
            assert!(!message.contains(&error.key) && !message.is_empty(), "{message}");
            assert!(!for_model(&error).text.is_empty());
        }
    }
}
