use super::*;
use crate::{CallError, Link, NextEvent};
use chromiumoxide::cdp::browser_protocol::browser::GetVersionParams;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex, split};

const CALL_TIMEOUT: Duration = Duration::from_secs(10);
const VERSION: &str =
    r#""protocolVersion":"1","product":"Chrome/1","revision":"r","userAgent":"u","jsVersion":"j""#;

fn test_link(buffer: usize) -> (Link, DuplexStream) {
    let (near_end, far_end) = duplex(buffer);
    let (reader, writer) = split(near_end);
    (Link::with_transport(Pipe::new(reader, writer)), far_end)
}

async fn read_message(browser: &mut DuplexStream) -> Value {
    let mut bytes = Vec::new();
    loop {
        match browser.read_u8().await.expect("a byte") {
            0 => return serde_json::from_slice(&bytes).expect("JSON"),
            byte => bytes.push(byte),
        }
    }
}

#[tokio::test]
async fn messages_are_reassembled_from_any_chunks() {
    // A buffer of seven bytes splits messages in both directions.
    let (link, mut browser) = test_link(7);
    let mut events = link.events(None);
    let call = tokio::spawn(async move { link.call(None, GetVersionParams {}, CALL_TIMEOUT).await });
    let request = read_message(&mut browser).await;
    assert_eq!((request["method"].as_str(), request["id"].as_u64()), (Some("Browser.getVersion"), Some(0)));
    let reply =
        format!("{{\"method\":\"A.b\",\"params\":{{}}}}\0nonsense\0{{\"id\":0,\"result\":{{{VERSION}}}}}\0");
    browser.write_all(reply.as_bytes()).await.expect("written");
    assert_eq!(call.await.expect("the task ends").expect("an answer").product, "Chrome/1");
    let NextEvent::Event(event) = events.next().await else { panic!("an event") };
    assert_eq!(event.method, "A.b");
}

#[tokio::test]
async fn many_messages_in_one_chunk_all_arrive() {
    let (link, mut browser) = test_link(1 << 20);
    let mut events = link.events(None);
    let messages: String = (0..300).map(|n| format!("{{\"method\":\"A.b\",\"params\":{n}}}\0")).collect();
    browser.write_all(messages.as_bytes()).await.expect("written");
    for n in 0..300 {
        let NextEvent::Event(event) = events.next().await else { panic!("an event") };
        assert_eq!(event.params, n);
    }
}

#[tokio::test]
async fn the_end_of_the_pipe_fails_pending_calls() {
    let (link, mut browser) = test_link(1 << 16);
    let ended = link.wait_ended();
    let call = {
        let link = link.clone();
        tokio::spawn(async move { link.call(None, GetVersionParams {}, CALL_TIMEOUT).await })
    };
    read_message(&mut browser).await;
    drop(browser);
    assert_eq!(call.await.expect("the task ends").map(drop), Err(CallError::Closed(LinkEnd::ByBrowser)));
    assert_eq!(ended.await, LinkEnd::ByBrowser);
    let later = link.call(None, GetVersionParams {}, CALL_TIMEOUT).await;
    assert_eq!(later.map(drop), Err(CallError::Closed(LinkEnd::ByBrowser)));
    assert!(matches!(link.events(None).next().await, NextEvent::Ended));
}
