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

const LIMIT: Duration = Duration::from_secs(30);

/// A transport whose other end the test controls.
struct Wire {
    next: usize,
    sent: mpsc::UnboundedSender<(usize, String, Option<String>)>,
    coming: mpsc::UnboundedReceiver<String>,
}

impl Transport for Wire {
    fn submit(&mut self, method: MethodId, session: Option<SessionId>, _params: Value) -> CallId {
        self.next += 1;
        self.sent.send((self.next, method.into_owned(), session.map(Into::into))).expect("the test listens");
        CallId::new(self.next)
    }

    fn poll_incoming(&mut self, context: &mut Context<'_>) -> Poll<Result<BrowserMessage, LinkEnd>> {
        self.coming
            .poll_recv(context)
            .map(|text| text.map(|text| message::parse(text.into())).ok_or(LinkEnd::ByBrowser))
    }
}

struct Ends {
    link: Link,
    sent: mpsc::UnboundedReceiver<(usize, String, Option<String>)>,
    say: mpsc::UnboundedSender<String>,
}

fn ends() -> Ends {
    let (sender, sent) = mpsc::unbounded_channel();
    let (incoming_sender, incoming) = mpsc::unbounded_channel();
    Ends {
        link: Link::with_transport(Wire { next: 0, sent: sender, coming: incoming }),
        sent,
        say: incoming_sender,
    }
}

impl Ends {
    fn say(&self, message: &Value) {
        self.say.send(message.to_string()).expect("the actor listens");
    }

    fn ask(&self, session: Option<&str>) -> tokio::task::JoinHandle<Result<Option<Value>, CallError>> {
        let (link, session) = (self.link.clone(), session.map(|it| SessionId::from(it.to_owned())));
        tokio::spawn(async move {
            let reply = link.call(session.as_ref(), EvaluateParams::new("1"), LIMIT).await?;
            Ok(reply.result.value)
        })
    }
}

fn value(id: usize, value: u32) -> Value {
    json!({ "id": id, "result": { "result": { "type": "number", "value": value } } })
}

#[tokio::test]
async fn answers_reach_their_calls_in_any_order() {
    let mut ends = ends();
    let one = ends.ask(None);
    let (first, _, _) = ends.sent.recv().await.expect("sent");
    let two = ends.ask(Some("S"));
    let (second, method, session) = ends.sent.recv().await.expect("sent");
    assert_eq!((method.as_str(), session.as_deref()), ("Runtime.evaluate", Some("S")));
    ends.say(&value(999, 0));
    ends.say(&json!({ "method": "Not.known", "params": [] }));
    ends.say(&value(second, 2));
    ends.say(&value(first, 1));
    assert_eq!(two.await.expect("its end"), Ok(Some(json!(2))));
    assert_eq!(one.await.expect("its end"), Ok(Some(json!(1))));
}

#[tokio::test]
async fn refusals_and_unreadable_answers_are_distinguished() {
    let mut ends = ends();
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
        let call = ends.ask(None);
        let (id, _, _) = ends.sent.recv().await.expect("sent");
        let mut reply = reply;
        reply["id"] = id.into();
        ends.say(&reply);
        assert_eq!(call.await.expect("its end"), Err(expected));
    }
    let call = ends.ask(None);
    let (id, _, _) = ends.sent.recv().await.expect("sent");
    ends.say(&json!({ "id": id, "result": { "unheard": "of" } }));
    assert!(matches!(call.await.expect("its end"), Err(CallError::Unreadable { .. })));
}

#[tokio::test]
async fn a_session_that_ends_fails_its_own_calls_only() {
    let mut ends = ends();
    let session = SessionId::from("S".to_owned());
    let mut events = ends.link.events(Some(&session));
    let lost = ends.ask(Some("S"));
    ends.sent.recv().await.expect("sent");
    let other_session = ends.ask(Some("T"));
    let (id, _, _) = ends.sent.recv().await.expect("sent");
    ends.say(&json!({ "method": "Page.x", "sessionId": "S", "params": {} }));
    ends.say(&json!({ "method": "Page.y", "sessionId": "T", "params": {} }));
    ends.say(
        &json!({ "method": "Target.detachedFromTarget", "params": { "sessionId": "S", "targetId": "X" } }),
    );
    assert_eq!(lost.await.expect("its end"), Err(CallError::Gone { method: "Runtime.evaluate".to_owned() }));
    assert!(matches!(events.next().await, NextEvent::Event(event) if event.method == "Page.x"));
    assert!(matches!(events.next().await, NextEvent::Ended), "and nothing of the other session");
    ends.say(&value(id, 1));
    assert_eq!(other_session.await.expect("its end"), Ok(Some(json!(1))));
}

#[tokio::test]
async fn a_slow_subscriber_learns_how_many_events_it_missed() {
    let mut ends = ends();
    let mut events = ends.link.events(None);
    for n in 0..SessionEvents::CAPACITY + 10 {
        ends.say(&json!({ "method": "A.b", "params": n }));
    }
    // The answer to a later call shows that all of them were processed.
    let call = ends.ask(None);
    let (id, _, _) = ends.sent.recv().await.expect("sent");
    ends.say(&value(id, 1));
    call.await.expect("its end").expect("an answer");
    assert!(matches!(events.next().await, NextEvent::Missed(10)));
    assert!(matches!(events.next().await, NextEvent::Event(event) if event.params == 10));
}

#[tokio::test]
async fn a_call_times_out_at_its_limit() {
    let mut ends = ends();
    let limit = Duration::from_millis(20);
    let timed_out = CallError::TimedOut { method: "Runtime.evaluate".to_owned(), limit };
    assert_eq!(ends.link.call(None, EvaluateParams::new("1"), limit).await.map(drop), Err(timed_out));
    // The abandoned call's answer arrives last and has no recipient.
    let (id, _, _) = ends.sent.recv().await.expect("sent");
    ends.say(&value(id, 1));
    let call = ends.ask(None);
    let (id, _, _) = ends.sent.recv().await.expect("sent");
    ends.say(&value(id, 2));
    assert_eq!(call.await.expect("its end"), Ok(Some(json!(2))));
}

#[tokio::test]
async fn closing_fails_pending_calls_and_dropping_the_last_handle_closes_the_link() {
    let mut ends = ends();
    let call = ends.ask(None);
    ends.sent.recv().await.expect("sent");
    ends.link.close();
    assert_eq!(call.await.expect("its end"), Err(CallError::Closed(LinkEnd::ByOcto)));
    assert_eq!(ends.ask(None).await.expect("its end"), Err(CallError::Closed(LinkEnd::ByOcto)));

    let ends = self::ends();
    let ended = ends.link.wait_ended();
    drop(ends.link);
    assert_eq!(ended.await, LinkEnd::ByOcto, "waiting for the end keeps no line open");
}
