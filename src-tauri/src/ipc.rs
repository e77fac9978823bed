//! The page's three commands. Everything else it wants is a request to the core.

use crate::{
    autostart,
    host::DesktopHost,
    setup::Core,
    shell_state::ShellState,
    subscriptions::{SubscriptionId, Subscriptions},
};
use octo_core::Host as _;
use octo_protocol::{ApiError, HomeRequest, Request, Switch, Topic, Update};
use serde_json::Value;
use std::sync::Arc;
use tauri::{Manager as _, State, WebviewWindow, ipc::Channel};

/// Carries out a request and returns a reply of the request's reply type.
#[tauri::command]
pub(crate) async fn request(
    request: Value,
    window: WebviewWindow,
    core: State<'_, Core>,
    host: State<'_, Arc<DesktopHost>>,
) -> Result<Value, ApiError> {
    let request = parse(request)?;
    match core.octo().await {
        Ok(octo) => {
            let erases = matches!(request, Request::Home(HomeRequest::EraseHome { .. }));
            let reply = octo.request(request).await;
            if erases && reply.is_ok() {
                window.state::<ShellState>().mark_erased();
                // The only trace outside the home: it would create a new home at the next login.
                autostart::apply(window.app_handle(), Switch::Off);
            }
            reply
        }
        // A failed start names a file, which can still be shown, and a web page can still be opened.
        Err(error) => match request {
            Request::Host(request) => {
                let reply = host.perform(request).await?;
                serde_json::to_value(reply).map_err(|_| ApiError::new("internal"))
            }
            // A damaged database can be replaced: Octo then starts with the next request.
            Request::Home(request) => core.request_without_core(request, error).await,
            _ => Err(error),
        },
    }
}

/// Subscribes to a topic: batches of updates arrive on `channel`, a snapshot first.
#[tauri::command]
pub(crate) async fn subscribe(
    topic: Topic,
    channel: Channel<Vec<Update>>,
    window: WebviewWindow,
    core: State<'_, Core>,
    subscriptions: State<'_, Subscriptions>,
) -> Result<SubscriptionId, ApiError> {
    let subscription = core.octo().await?.subscribe(topic).await?;
    Ok(subscriptions.forward(subscription, window.label(), channel))
}

/// Ends a subscription; ending it twice is not an error.
#[tauri::command]
pub(crate) fn unsubscribe(id: SubscriptionId, subscriptions: State<'_, Subscriptions>) {
    subscriptions.end(id);
}

/// Parses a request. An unreadable request fails like any other, without the reason: the parser quotes its
/// input, which may be a key.
fn parse(request: Value) -> Result<Request, ApiError> {
    serde_json::from_value(request).map_err(|_| ApiError::new("request.unreadable"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_serialized_request_parses() {
        let call = octo_protocol::GetAbout {};
        let request = Request::from(call);
        assert_eq!(parse(serde_json::to_value(&request).unwrap()), Ok(request));
    }

    #[test]
    fn the_error_about_an_unreadable_request_does_not_quote_it() {
        let error = parse(json!({"domain": "models", "call": {"type": "sk-live-secret"}})).unwrap_err();
        assert_eq!(error, ApiError::new("request.unreadable"));
    }
}
