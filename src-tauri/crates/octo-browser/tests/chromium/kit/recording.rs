//! Every command that leaves, counted.

use chromiumoxide::{
    cdp::browser_protocol::target::SessionId,
    types::{CallId, MethodId},
};
use octo_browser::{Ending, Incoming, Transport, Wrap};
use serde_json::Value;
use std::{
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

/// A command: its session, its name, what it says.
pub(crate) type Sent = (Option<SessionId>, String, Value);

/// What was sent.
#[derive(Clone, Default)]
pub(crate) struct Recording(Arc<Mutex<Vec<Sent>>>);

struct Recorded {
    inner: Box<dyn Transport>,
    sent: Recording,
}

impl Recording {
    pub(crate) fn wrap(&self) -> Wrap {
        let sent = self.clone();
        Arc::new(move |inner| Box::new(Recorded { inner, sent: sent.clone() }))
    }

    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.0.lock().expect("whole").clone()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.sent().into_iter().map(|(_, name, _)| name).collect()
    }
}

impl Transport for Recorded {
    fn submit(&mut self, method: MethodId, session: Option<SessionId>, params: Value) -> CallId {
        self.sent.0.lock().expect("whole").push((session.clone(), method.to_string(), params.clone()));
        self.inner.submit(method, session, params)
    }

    fn poll_incoming(&mut self, context: &mut Context<'_>) -> Poll<Result<Incoming, Ending>> {
        self.inner.poll_incoming(context)
    }
}
