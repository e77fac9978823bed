//! Records every command sent, and checks which commands may be sent at all.

use chromiumoxide::{
    cdp::browser_protocol::target::SessionId,
    types::{CallId, MethodId},
};
use octo_browser::{BrowserMessage, LinkEnd, Transport, TransportWrapper};
use serde_json::Value;
use std::{
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

/// A command: its session, its name, its parameters.
pub(crate) type SentCommand = (Option<SessionId>, String, Value);

/// The commands sent.
#[derive(Clone, Default)]
pub(crate) struct Recording(Arc<Mutex<Vec<SentCommand>>>);

struct RecordingTransport {
    inner: Box<dyn Transport>,
    sent: Recording,
}

impl Recording {
    pub(crate) fn wrap(&self) -> TransportWrapper {
        let sent = self.clone();
        Arc::new(move |inner| Box::new(RecordingTransport { inner, sent: sent.clone() }))
    }

    pub(crate) fn sent(&self) -> Vec<SentCommand> {
        self.0.lock().expect("not poisoned").clone()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.sent().into_iter().map(|(_, name, _)| name).collect()
    }
}

/// Commands never sent to a browser: pages notice the first, and the others remove a page's protection.
const FORBIDDEN_COMMANDS: [&str; 4] =
    ["Runtime.enable", "Security.setIgnoreCertificateErrors", "Fetch.enable", "Page.setBypassCSP"];

impl Recording {
    /// Checks that no forbidden command was sent.
    pub(crate) fn assert_nothing_forbidden(&self) {
        let names = self.names();
        assert!(!names.iter().any(|name| FORBIDDEN_COMMANDS.contains(&name.as_str())), "{names:?}");
    }

    /// Checks that only these commands were sent, and none of them to a tab other than this one.
    pub(crate) fn assert_only(&self, allowed: &[&str], tab: &str) {
        self.assert_nothing_forbidden();
        let sent = self.sent();
        let unexpected: std::collections::BTreeSet<&str> =
            sent.iter().map(|(_, name, _)| name.as_str()).filter(|name| !allowed.contains(name)).collect();
        assert!(unexpected.is_empty(), "sent besides: {unexpected:?}");
        for (session, name, params) in &sent {
            // Commands to a tab use a session; a command that attaches to a tab names it.
            let target = params.get("targetId").and_then(Value::as_str);
            assert!(target.is_none_or(|target| target == tab), "{name} names another tab: {params}");
            let is_page_command = BROWSER_DOMAINS.iter().all(|domain| !name.starts_with(domain));
            assert!(session.is_some() || !is_page_command, "{name} to no tab");
        }
    }
}

/// Domains of commands to the browser itself.
const BROWSER_DOMAINS: [&str; 3] = ["Browser.", "Target.", "SystemInfo."];

impl Transport for RecordingTransport {
    fn submit(&mut self, method: MethodId, session: Option<SessionId>, params: Value) -> CallId {
        self.sent.0.lock().expect("not poisoned").push((session.clone(), method.to_string(), params.clone()));
        self.inner.submit(method, session, params)
    }

    fn poll_incoming(&mut self, context: &mut Context<'_>) -> Poll<Result<BrowserMessage, LinkEnd>> {
        self.inner.poll_incoming(context)
    }
}
