use super::*;
use crate::{BrowserMessage, LinkEnd, Transport, message};
use chromiumoxide::{
    cdp::browser_protocol::target::SessionId,
    types::{CallId, MethodId},
};
use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

/// A browser that opens tabs and then fails to list them.
#[derive(Default)]
struct ForgetfulBrowser {
    calls: usize,
    sent: Arc<Mutex<Vec<(String, Value)>>>,
    answers: VecDeque<String>,
}

impl Transport for ForgetfulBrowser {
    fn submit(&mut self, method: MethodId, _session: Option<SessionId>, params: Value) -> CallId {
        self.calls += 1;
        let reply = match method.as_ref() {
            "Target.createTarget" => json!({ "id": self.calls, "result": { "targetId": "new" } }),
            "Target.closeTarget" => json!({ "id": self.calls, "result": { "success": true } }),
            _ => json!({ "id": self.calls, "error": { "code": -32000, "message": "not now" } }),
        };
        self.answers.push_back(reply.to_string());
        self.sent.lock().expect("not poisoned").push((method.into_owned(), params));
        CallId::new(self.calls)
    }

    fn poll_incoming(&mut self, _context: &mut Context<'_>) -> Poll<Result<BrowserMessage, LinkEnd>> {
        match self.answers.pop_front() {
            Some(reply) => Poll::Ready(Ok(message::parse(reply.into()))),
            None => Poll::Pending,
        }
    }
}

#[tokio::test]
async fn a_tab_that_cannot_be_listed_is_closed_again() {
    let browser = ForgetfulBrowser::default();
    let sent = Arc::clone(&browser.sent);
    let tabs = Tabs::new(Link::with_transport(browser), TabNumbers::default());
    assert!(matches!(tabs.open_behind("https://a.example/").await, Err(TabError::Call(_))));
    // The next answer arrives after all earlier events.
    assert!(tabs.list().await.is_err());
    let closed: Vec<Value> = sent
        .lock()
        .expect("not poisoned")
        .iter()
        .filter(|(method, _)| method == "Target.closeTarget")
        .map(|(_, params)| params["targetId"].clone())
        .collect();
    assert_eq!(closed, ["new"]);
}
