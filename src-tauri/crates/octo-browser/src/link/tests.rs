use crate::{
    BrowserMessage, CallError, CommandRefusal, Link, LinkEnd, NextEvent, SessionEvents, Transport, message,
};
use chromiumoxide::{
    cdp::{browser_protocol::target::SessionId, js_protocol::runtime::EvaluateParams},
    types::{CallId, MethodId},
};
use serde_json::{Value, json};
use std::{
    task::{Context, Poll},
    time::Duration,
};
use tokio::sync::mpsc;

const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// A transport whose other end the test controls.
struct TestTransport {
    next: usize,
    sent: mpsc::UnboundedSender<(usize, String, Option<String>)>,
    incoming: mpsc::UnboundedReceiver<String>,
}

impl Transport for TestTransport {
    fn submit(&mut self, method: MethodId, session: Option<SessionId>, _params: Value) -> CallId {
        self.next += 1;
        self.sent.send((self.next, method.into_owned(), session.map(Into::into))).expect("the test listens");
        CallId::new(self.next)
    }

    fn poll_incoming(&mut self, context: &mut Context<'_>) -> Poll<Result<BrowserMessage, LinkEnd>> {
        self.incoming
            .poll_recv(context)
            .map(|text| text.map(|text| message::parse(text.into())).ok_or(LinkEnd::ByBrowser))
    }
}

/// A link with the browser's end of its transport.
struct TestLink {
    link: Link,
    sent: mpsc::UnboundedReceiver<(usize, String, Option<String>)>,
    incoming: mpsc::UnboundedSender<String>,
}

fn test_link() -> TestLink {
    let (sender, sent) = mpsc::unbounded_channel();
    let (incoming_sender, incoming) = mpsc::unbounded_channel();
    TestLink {
        link: Link::with_transport(TestTransport { next: 0, sent: sender, incoming }),
        sent,
        incoming: incoming_sender,
    }
}

impl TestLink {
    fn send(&self, message: &Value) {
        self.incoming.send(message.to_string()).expect("the actor listens");
    }

    fn spawn_call(&self, session: Option<&str>) -> tokio::task::JoinHandle<Result<Option<Value>, CallError>> {
        let (link, session) = (self.link.clone(), session.map(|it| SessionId::from(it.to_owned())));
        tokio::spawn(async move {
            let reply = link.call(session.as_ref(), EvaluateParams::new("1"), CALL_TIMEOUT).await?;
            Ok(reply.result.value)
        })
    }
}

fn value_answer(id: usize, value: u32) -> Value {
    json!({ "id": id, "result": { "result": { "type": "number", "value": value } } })
}

#[tokio::test]
async fn answers_reach_their_calls_in_any_order() {
    let mut browser = test_link();
    let first_call = browser.spawn_call(None);
    let (first_id, _, _) = browser.sent.recv().await.expect("sent");
    let second_call = browser.spawn_call(Some("S"));
    let (second_id, method, session) = browser.sent.recv().await.expect("sent");
    assert_eq!((method.as_str(), session.as_deref()), ("Runtime.evaluate", Some("S")));
    browser.send(&value_answer(999, 0));
    browser.send(&json!({ "method": "Not.known", "params": [] }));
    browser.send(&value_answer(second_id, 2));
    browser.send(&value_answer(first_id, 1));
    assert_eq!(second_call.await.expect("the task ends"), Ok(Some(json!(2))));
    assert_eq!(first_call.await.expect("the task ends"), Ok(Some(json!(1))));
}

#[tokio::test]
async fn refusals_and_unreadable_answers_are_distinguished() {
    let mut browser = test_link();
    for (reply, expected) in [
        (
            json!({ "error": { "code": -32000, "message": "no" } }),
            CallError::Refused {
                method: "Runtime.evaluate".to_owned(),
                refusal: CommandRefusal { code: -32000, message: "no".to_owned() },
            },
        ),
        (
            json!({ "error": { "code": -32001, "message": "Session with given id not found." } }),
            CallError::Gone { method: "Runtime.evaluate".to_owned() },
        ),
    ] {
        let call = browser.spawn_call(None);
        let (id, _, _) = browser.sent.recv().await.expect("sent");
        let mut reply = reply;
        reply["id"] = id.into();
        browser.send(&reply);
        assert_eq!(call.await.expect("the task ends"), Err(expected));
    }
    let call = browser.spawn_call(None);
    let (id, _, _) = browser.sent.recv().await.expect("sent");
    browser.send(&json!({ "id": id, "result": { "unheard": "of" } }));
    assert!(matches!(call.await.expect("the task ends"), Err(CallError::Unreadable { .. })));
}

#[tokio::test]
async fn a_session_that_ends_fails_its_own_calls_only() {
    let mut browser = test_link();
    let session = SessionId::from("S".to_owned());
    let mut events = browser.link.events(Some(&session));
    let lost = browser.spawn_call(Some("S"));
    browser.sent.recv().await.expect("sent");
    let other_session = browser.spawn_call(Some("T"));
    let (id, _, _) = browser.sent.recv().await.expect("sent");
    browser.send(&json!({ "method": "Page.x", "sessionId": "S", "params": {} }));
    browser.send(&json!({ "method": "Page.y", "sessionId": "T", "params": {} }));
    browser.send(
        &json!({ "method": "Target.detachedFromTarget", "params": { "sessionId": "S", "targetId": "X" } }),
    );
    assert_eq!(
        lost.await.expect("the task ends"),
        Err(CallError::Gone { method: "Runtime.evaluate".to_owned() })
    );
    assert!(matches!(events.next().await, NextEvent::Event(event) if event.method == "Page.x"));
    assert!(matches!(events.next().await, NextEvent::Ended), "and nothing of the other session");
    browser.send(&value_answer(id, 1));
    assert_eq!(other_session.await.expect("the task ends"), Ok(Some(json!(1))));
}

#[tokio::test]
async fn a_slow_subscriber_learns_how_many_events_it_missed() {
    let mut browser = test_link();
    let mut events = browser.link.events(None);
    for n in 0..SessionEvents::CAPACITY + 10 {
        browser.send(&json!({ "method": "A.b", "params": n }));
    }
    // The answer to a later call shows that all of them were processed.
    let call = browser.spawn_call(None);
    let (id, _, _) = browser.sent.recv().await.expect("sent");
    browser.send(&value_answer(id, 1));
    call.await.expect("the task ends").expect("an answer");
    assert!(matches!(events.next().await, NextEvent::Missed(10)));
    assert!(matches!(events.next().await, NextEvent::Event(event) if event.params == 10));
}

#[tokio::test]
async fn a_call_times_out_at_its_limit() {
    let mut browser = test_link();
    let limit = Duration::from_millis(20);
    let timed_out = CallError::TimedOut { method: "Runtime.evaluate".to_owned(), limit };
    assert_eq!(browser.link.call(None, EvaluateParams::new("1"), limit).await.map(drop), Err(timed_out));
    // The abandoned call's answer arrives last and has no recipient.
    let (id, _, _) = browser.sent.recv().await.expect("sent");
    browser.send(&value_answer(id, 1));
    let call = browser.spawn_call(None);
    let (id, _, _) = browser.sent.recv().await.expect("sent");
    browser.send(&value_answer(id, 2));
    assert_eq!(call.await.expect("the task ends"), Ok(Some(json!(2))));
}

#[tokio::test]
async fn closing_fails_pending_calls_and_dropping_the_last_handle_closes_the_link() {
    let mut browser = test_link();
    let call = browser.spawn_call(None);
    browser.sent.recv().await.expect("sent");
    browser.link.close();
    assert_eq!(call.await.expect("the task ends"), Err(CallError::Closed(LinkEnd::ByOcto)));
    assert_eq!(
        browser.spawn_call(None).await.expect("the task ends"),
        Err(CallError::Closed(LinkEnd::ByOcto))
    );

    let browser = test_link();
    let ended = browser.link.wait_ended();
    drop(browser.link);
    assert_eq!(ended.await, LinkEnd::ByOcto, "waiting for the end keeps no link open");
}
