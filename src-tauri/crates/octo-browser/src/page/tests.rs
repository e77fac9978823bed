//! A page over a link whose other end the test controls.

use super::{Page, PageEvent};
use crate::{
    BrowserMessage, Link, LinkEnd, Transport,
    cdp::browser_protocol::target::{SessionId, TargetId},
    message,
};
use chromiumoxide::types::{CallId, MethodId};
use serde_json::Value;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};
use tokio::sync::mpsc;

/// Incoming messages, delivered all at once: a browser can send more in one burst than a listener reads.
#[derive(Clone, Default)]
struct IncomingQueue(Arc<Mutex<(VecDeque<String>, Option<Waker>)>>);

impl IncomingQueue {
    fn push(&self, texts: impl IntoIterator<Item = String>) {
        let mut incoming = self.0.lock().unwrap();
        incoming.0.extend(texts);
        if let Some(waker) = incoming.1.take() {
            waker.wake();
        }
    }
}

struct TestTransport {
    next: usize,
    sent: mpsc::UnboundedSender<(usize, String)>,
    incoming: IncomingQueue,
}

impl Transport for TestTransport {
    fn submit(&mut self, method: MethodId, _session: Option<SessionId>, _params: Value) -> CallId {
        self.next += 1;
        self.sent.send((self.next, method.into_owned())).unwrap();
        CallId::new(self.next)
    }

    fn poll_incoming(&mut self, context: &mut Context<'_>) -> Poll<Result<BrowserMessage, LinkEnd>> {
        let mut incoming = self.incoming.0.lock().unwrap();
        match incoming.0.pop_front() {
            Some(text) => Poll::Ready(Ok(message::parse(text.into()))),
            None => {
                incoming.1 = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// The browser's end of a test link.
struct FarEnd {
    sent: mpsc::UnboundedReceiver<(usize, String)>,
    incoming: IncomingQueue,
}

impl FarEnd {
    /// Returns the next command.
    async fn next_command(&mut self) -> (usize, String) {
        self.sent.recv().await.unwrap()
    }

    fn answer(&self, id: usize, result: &str) {
        self.incoming.push([format!("{{\"id\":{id},\"result\":{result}}}")]);
    }
}

fn test_link() -> (Link, FarEnd) {
    let (sender, sent) = mpsc::unbounded_channel();
    let incoming = IncomingQueue::default();
    (
        Link::with_transport(TestTransport { next: 0, sent: sender, incoming: incoming.clone() }),
        FarEnd { sent, incoming },
    )
}

fn tree(document: &str) -> String {
    format!(
        r#"{{"frameTree":{{"frame":{{"id":"F","loaderId":"{document}","url":"https://{document}.example/"}}}}}}"#
    )
}

/// Attaches to a page, answering as a live one.
async fn attach_page(link: &Link, far_end: &mut FarEnd) -> Page {
    let target = TargetId::new("T");
    let attaching = Page::attach(link, &target);
    tokio::pin!(attaching);
    loop {
        tokio::select! {
            page = &mut attaching => return page.unwrap(),
            (id, method) = far_end.next_command() => far_end.answer(id, &match method.as_str() {
                "Target.attachToTarget" => r#"{"sessionId":"S"}"#.to_owned(),
                "Runtime.evaluate" => r#"{"result":{"type":"number","value":1}}"#.to_owned(),
                "Page.getFrameTree" => tree("one"),
                _ => "{}".to_owned(),
            }),
        }
    }
}

#[tokio::test]
async fn a_cancelled_attach_detaches_when_the_tab_answers() {
    let (link, mut far_end) = test_link();
    let attaching = tokio::spawn({
        let link = link.clone();
        async move { Page::attach(&link, &TargetId::new("T")).await.map(drop) }
    });
    let (id, method) = far_end.next_command().await;
    assert_eq!(method, "Target.attachToTarget");
    attaching.abort();
    assert!(attaching.await.unwrap_err().is_cancelled());
    far_end.answer(id, r#"{"sessionId":"S"}"#);
    assert_eq!(far_end.next_command().await.1, "Target.detachFromTarget");
}

#[tokio::test]
async fn a_page_with_missed_events_is_queried_again() {
    let (link, mut far_end) = test_link();
    let page = attach_page(&link, &mut far_end).await;
    assert_eq!(page.document(), "one");
    let mut events = page.events();
    // The page navigates and sends so many events at once that the listener misses that one.
    let navigated = r#"{"method":"Page.frameNavigated","params":{"frame":{"id":"F","loaderId":"two","url":"https://two.example/"}},"sessionId":"S"}"#;
    let unrelated_event = r#"{"method":"Page.lifecycleEvent","params":{},"sessionId":"S"}"#;
    let messages = std::iter::once(navigated)
        .chain(std::iter::repeat_n(unrelated_event, 2 * crate::SessionEvents::CAPACITY));
    far_end.incoming.push(messages.map(str::to_owned));
    let (id, method) = far_end.next_command().await;
    assert_eq!((method.as_str(), page.document().as_str()), ("Page.getFrameTree", "one"));
    far_end.answer(id, &tree("two"));
    let PageEvent::Committed(committed) = events.recv().await.unwrap() else {
        panic!("the commit is reported")
    };
    assert_eq!((committed.origin.as_str(), page.document().as_str()), ("https://two.example", "two"));
    assert_eq!(events.recv().await.unwrap(), PageEvent::Missed);
}

/// Builds the frame of an empty page, whose origin only the document itself knows.
fn blank_frame(fragment: &str) -> String {
    format!(
        r#"{{"id":"F","loaderId":"three","url":"about:blank","urlFragment":"{fragment}","securityOrigin":"://"}}"#
    )
}

/// Answers the document's own origin.
async fn answer_origin_query(far_end: &mut FarEnd, reply: &str) {
    let (id, method) = far_end.next_command().await;
    assert_eq!(method, "Page.createIsolatedWorld");
    far_end.answer(id, r#"{"executionContextId":7}"#);
    let (id, method) = far_end.next_command().await;
    assert_eq!(method, "Runtime.evaluate");
    far_end.answer(id, &format!(r#"{{"result":{{"type":"object","value":{reply}}}}}"#));
}

#[tokio::test]
async fn a_blank_page_inherits_its_openers_origin() {
    let (link, mut far_end) = test_link();
    let page = attach_page(&link, &mut far_end).await;
    let mut events = page.events();
    let incoming = far_end.incoming.clone();
    let send_event = |method: &str, params: String| {
        incoming.push([format!(r#"{{"method":"{method}","params":{params},"sessionId":"S"}}"#)]);
    };
    let current = |page: &Page| (page.committed().url, page.origin());
    // While the previous document still answers, the page is asked again.
    send_event("Page.frameNavigated", format!(r#"{{"frame":{}}}"#, blank_frame("")));
    for reply in [
        r#"["https://before.example","https://before.example/"]"#,
        r#"["https://opener.example","about:blank"]"#,
    ] {
        answer_origin_query(&mut far_end, reply).await;
    }
    assert!(matches!(events.recv().await.unwrap(), PageEvent::Committed(_)));
    assert_eq!(current(&page), ("about:blank".to_owned(), "https://opener.example".to_owned()));
    // A fragment navigation within it keeps that origin.
    send_event("Page.navigatedWithinDocument", r##"{"frameId":"F","url":"about:blank#a"}"##.to_owned());
    assert!(matches!(events.recv().await.unwrap(), PageEvent::Committed(_)));
    assert_eq!(current(&page), ("about:blank#a".to_owned(), "https://opener.example".to_owned()));
    // A rewritten document has the address of the page that writes it.
    let navigated = r#"{"frame":{"id":"F","loaderId":"three","url":"https://opener.example/a"}}"#;
    send_event("Page.documentOpened", navigated.to_owned());
    assert!(matches!(events.recv().await.unwrap(), PageEvent::Committed(_)));
    assert_eq!(current(&page), ("https://opener.example/a".to_owned(), "https://opener.example".to_owned()));
    // An opaque origin is undisclosed if the page has an opener, and `null` if it has none.
    for (opener, origin) in [(r#","openerId":"O""#, "://"), ("", "null")] {
        send_event("Page.frameNavigated", format!(r#"{{"frame":{}}}"#, blank_frame("")));
        answer_origin_query(&mut far_end, r#"["null","about:blank"]"#).await;
        let (id, method) = far_end.next_command().await;
        assert_eq!(method, "Target.getTargetInfo");
        far_end.incoming.push([format!(
            r#"{{"id":{id},"result":{{"targetInfo":{{"targetId":"T","type":"page"{opener}}}}}}}"#
        )]);
        assert!(matches!(events.recv().await.unwrap(), PageEvent::Committed(_)));
        assert_eq!(page.origin(), origin, "{opener}");
    }
}
