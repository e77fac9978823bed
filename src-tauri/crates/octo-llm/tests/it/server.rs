//! Whole calls over HTTP against the scripted server.

use crate::marked;
use futures::StreamExt;
use octo_llm::{
    Endpoint, ErrorClass, FinishReason, ModelEvent, ModelRequest, Provider, ProviderError, ToolSchema,
    connect,
};
use octo_protocol::{
    Block, CallStatus, Message, MessageId, Meta, Origin, Protocol, Role, ToolResult, TurnId, Usage,
};
use octo_testkit::{AnswerOutcome, Gate, ModelServer, Reply, ReplyFinish, Script, ServerOptions, StreamCut};
use secrecy::SecretString;
use serde_json::json;
use std::{sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

const KEY: &str = "sk-test-0123456789";

fn provider(server: &ModelServer, protocol: Protocol) -> Arc<dyn Provider> {
    connect(Endpoint::new(protocol, server.url(), Some(SecretString::from(KEY)))).unwrap()
}

fn message(role: Role, blocks: Vec<Block>) -> Message {
    let meta = Meta::new(Origin::Person, 0);
    Message { id: MessageId::new(), turn: TurnId::new(), role, blocks, meta }
}

fn user(text: &str) -> Message {
    message(Role::User, vec![Block::Text { text: text.to_owned() }])
}

fn request(messages: &[Message]) -> ModelRequest {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let tool = |name: &str| ToolSchema {
        name: name.to_owned(),
        description: "d".repeat(300),
        parameters: schema.clone(),
    };
    ModelRequest {
        model: "model-1".to_owned(),
        system: Arc::from("You are Octo. ".repeat(400)),
        tools: Arc::from([tool("write"), tool("grep")]),
        messages: messages.to_vec(),
        images: Arc::default(),
        vision: true,
        documents: true,
        max_output: 4096,
        effort: None,
        cache: marked(messages),
    }
}

struct AnswerRecord {
    blocks: Vec<Block>,
    usage: Usage,
    finish: Result<FinishReason, ProviderError>,
}

async fn ask(provider: &dyn Provider, messages: &[Message]) -> AnswerRecord {
    let mut stream = provider.stream(request(messages), CancellationToken::new());
    let mut record = AnswerRecord {
        blocks: Vec::new(),
        usage: Usage::default(),
        finish: Err(ProviderError::new(ErrorClass::CutOff, "the stream said nothing at its end")),
    };
    while let Some(event) = stream.next().await {
        match event {
            Ok(ModelEvent::BlockFinished { content, .. }) => record.blocks.push(content),
            Ok(ModelEvent::Usage(usage)) => record.usage = usage.usage,
            Ok(ModelEvent::Finished(reason)) => record.finish = Ok(reason),
            Ok(ModelEvent::BlockStarted { .. } | ModelEvent::Delta { .. }) => {}
            Err(error) => {
                record.finish = Err(error);
                assert!(stream.next().await.is_none(), "something came after an error");
                break;
            }
        }
    }
    record
}

async fn failure(server: &ModelServer, protocol: Protocol) -> ProviderError {
    ask(&*provider(server, protocol), &[user("hi")]).await.finish.unwrap_err()
}

#[tokio::test]
async fn a_conversation_with_reasoning_tools_and_a_growing_cache() {
    for protocol in Protocol::ALL {
        let server = ModelServer::start_with(
            Script::new()
                .reply(
                    Reply::reasoning("hm", "c2lnbmVk")
                        .and_text("I look.")
                        .and_call("write", json!({ "path": "a" }))
                        .and_call("grep", json!({})),
                )
                .reply(Reply::reasoning("so", "YWdhaW4=").and_call("grep", json!({ "path": "b" })))
                .text("Done."),
            ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
        );
        let provider = provider(&server, protocol);
        let mut messages = vec![user("go")];
        let mut input = Vec::new();
        loop {
            let record = ask(&*provider, &messages).await;
            assert_eq!(record.finish, Ok(FinishReason::Stop), "{protocol:?}: {:?}", server.faults());
            input.push(record.usage);
            let reply = message(Role::Assistant, record.blocks);
            let results: Vec<Block> = reply
                .calls()
                .map(|call| {
                    Block::ToolResult(ToolResult {
                        call: call.id,
                        provider_id: call.provider_id.clone(),
                        status: CallStatus::Done,
                        text: format!("result of {}", call.arguments),
                        images: Vec::new(),
                    })
                })
                .collect();
            messages.push(reply);
            if results.is_empty() {
                break;
            }
            messages.push(message(Role::User, results));
        }
        server.assert_clean();
        let requests = server.requests();
        assert_eq!(requests.len(), 3);
        assert_eq!(requests[2].answers(), 2);
        assert!(requests[2].results().iter().all(|result| result.text == "result of {\"path\":\"b\"}"));
        let replayed = match protocol {
            Protocol::Anthropic | Protocol::Bedrock => "\"signature\":\"c2lnbmVk\"",
            Protocol::OpenaiChat => "\"reasoning_content\":\"hm\"",
            Protocol::OpenaiResponses => "\"encrypted_content\":\"c2lnbmVk\"",
        };
        assert!(
            requests[1].body.to_string().contains(replayed)
                && requests[2].body.to_string().contains(replayed)
        );
        match protocol {
            // Each call reads exactly what the call before it wrote.
            Protocol::Anthropic | Protocol::Bedrock => {
                assert_eq!((input[0].cache_read, input[0].input), (0, 0));
                assert_eq!(input[1].cache_read, input[0].cache_write);
                assert_eq!(input[2].cache_read, input[1].cache_read + input[1].cache_write);
                assert!(input.iter().all(|usage| usage.output > 0));
            }
            Protocol::OpenaiChat | Protocol::OpenaiResponses => {
                assert_eq!(input[0].cache_read, 0);
                assert!(
                    input[1].cache_read > 1024 && input[2].cache_read >= input[1].cache_read,
                    "{input:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn requests_carry_their_headers() {
    for protocol in Protocol::ALL {
        let server = ModelServer::start(Reply::text("hi"));
        ask(&*provider(&server, protocol), &[user("hi")]).await.finish.unwrap();
        let request = &server.requests()[0];
        assert_eq!(request.header("user-agent"), Some(concat!("octo/", env!("CARGO_PKG_VERSION"))));
        assert_eq!(request.header("content-type"), Some("application/json"));
        let with_bearer = |path, accept| (path, accept, None, None, Some(format!("Bearer {KEY}")));
        let (path, accept, version, key, bearer) = match protocol {
            Protocol::Anthropic => ("/v1/messages", "text/event-stream", Some("2023-06-01"), Some(KEY), None),
            Protocol::OpenaiChat => with_bearer("/v1/chat/completions", "text/event-stream"),
            Protocol::OpenaiResponses => with_bearer("/v1/responses", "text/event-stream"),
            Protocol::Bedrock => {
                with_bearer("/v1/model/model-1/converse-stream", "application/vnd.amazon.eventstream")
            }
        };
        assert_eq!((request.path.as_str(), request.model()), (path, "model-1"));
        assert_eq!(request.header("accept"), Some(accept));
        assert_eq!(request.header("anthropic-version"), version);
        assert_eq!(request.header("x-api-key"), key);
        assert_eq!(request.header("authorization"), bearer.as_deref());
    }
}

#[tokio::test]
async fn statuses_and_waits_reach_the_caller() {
    let cases = [
        (Reply::error(401, "authentication_error", "invalid x-api-key"), ErrorClass::Auth, None),
        (Reply::error(402, "billing_error", "pay"), ErrorClass::Billing, None),
        (Reply::error(403, "permission_error", "no"), ErrorClass::Forbidden, None),
        (Reply::error(404, "not_found_error", "model: x"), ErrorClass::NotFound, None),
        (
            Reply::error(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
            ErrorClass::ContextTooLong,
            None,
        ),
        (
            Reply::error(429, "rate_limit_error", "slow").header("retry-after", "7"),
            ErrorClass::RateLimited,
            Some(7),
        ),
        (Reply::error(529, "overloaded_error", "Overloaded"), ErrorClass::Overloaded, None),
        (
            Reply::raw(503, "text/html", "<html>nginx</html>").header("retry-after", "2"),
            ErrorClass::Overloaded,
            Some(2),
        ),
        (
            Reply::raw(307, "text/plain", "").header("location", "https://elsewhere.example/"),
            ErrorClass::NotFound,
            None,
        ),
        (Reply::html(), ErrorClass::Malformed, None),
        (Reply::raw(200, "text/plain", "\n <!doctype html><p>"), ErrorClass::Malformed, None),
        (
            Reply::raw(200, "application/json", r#"{"choices":[{"message":{"content":"hi"}}]}"#),
            ErrorClass::Invalid,
            None,
        ),
        (
            Reply::raw(200, "application/json", r#"{"error":{"code":429,"message":"slow"}}"#),
            ErrorClass::RateLimited,
            None,
        ),
        (Reply::raw(200, "text/event-stream", ""), ErrorClass::CutOff, None),
        (
            Reply::text("half of it").then_error("overloaded_error", "Overloaded"),
            ErrorClass::Overloaded,
            None,
        ),
        (Reply::text("half of it").cut_after(300, StreamCut::End), ErrorClass::CutOff, None),
        (Reply::text("half of it").cut_after(300, StreamCut::Abort), ErrorClass::Network, None),
    ];
    for (reply, class, seconds) in cases {
        for protocol in Protocol::ALL {
            let server = ModelServer::start(reply.clone());
            let error = failure(&server, protocol).await;
            assert_eq!(error.class, class, "{protocol:?} {reply:?}: {error}");
            assert_eq!(error.retry_after, seconds.map(Duration::from_secs), "{reply:?}");
            assert_eq!(server.requests().len(), 1, "nothing is tried again, no redirect is followed");
        }
    }
}

#[tokio::test]
async fn a_dead_server_is_a_network_error() {
    let server = ModelServer::start(Script::new());
    let provider = provider(&server, Protocol::Anthropic);
    drop(server);
    let error = ask(&*provider, &[user("hi")]).await.finish.unwrap_err();
    assert_eq!(error.class, ErrorClass::Network);
    assert!(
        !error.message.contains("127.0.0.1/") && error.message.to_lowercase().contains("refused"),
        "{error}"
    );
}

#[tokio::test]
async fn keys_do_not_appear_in_errors() {
    // Nor when the message is cut, nor from a stream.
    let padding = "y".repeat(480);
    for reply in [
        Reply::error(401, "authentication_error", format!("Incorrect API key provided: {KEY}.")),
        Reply::error(400, "invalid_request_error", format!("{padding}{KEY}")),
        Reply::raw(400, "text/plain", format!("{}{KEY}", "y".repeat(190))),
        Reply::text("x").then_error("overloaded_error", format!("{padding}{KEY}")),
    ] {
        for protocol in Protocol::ALL {
            let error = failure(&ModelServer::start(reply.clone()), protocol).await;
            assert!(!error.message.contains("sk-te"), "{protocol:?}: {error}");
            assert!(error.message.chars().count() <= 500);
        }
    }
}

#[tokio::test]
async fn a_huge_error_body_is_read_in_part() {
    let body = format!("{{\"error\":{{\"message\":\"{}\"}}}}", "z".repeat(4 * 1024 * 1024));
    let error =
        failure(&ModelServer::start(Reply::raw(500, "application/json", body)), Protocol::Anthropic).await;
    assert_eq!(error.class, ErrorClass::Overloaded);
    assert!(error.message.chars().count() <= 500);
}

#[tokio::test]
async fn text_arrives_while_the_stream_is_open_and_cancelling_closes_it() {
    for protocol in Protocol::ALL {
        let gate = Gate::new();
        let server = ModelServer::start(Reply::text("one two three").in_chunks(3).hold_after(1, &gate));
        let cancel = CancellationToken::new();
        let mut stream = provider(&server, protocol).stream(request(&[user("hi")]), cancel.clone());
        let mut text = String::new();
        while text.is_empty() {
            if let ModelEvent::Delta { text: text_chunk, .. } = stream.next().await.unwrap().unwrap() {
                text.push_str(&text_chunk);
            }
        }
        assert_eq!(text, "one t");
        gate.reached().await;
        cancel.cancel();
        let error = loop {
            if let Err(error) = stream.next().await.unwrap() {
                break error;
            }
        };
        assert_eq!(error.class, ErrorClass::Cancelled);
        // The connection is closed while its owner still holds the stream.
        assert_eq!(server.wait_outcome_async(0).await, AnswerOutcome::Dropped);
        assert!(stream.next().await.is_none());
    }
}

#[tokio::test]
async fn a_held_stream_continues_when_released() {
    let gate = Gate::new();
    let server = ModelServer::start(Reply::text("one two three").hold_after(usize::MAX, &gate));
    let provider = provider(&server, Protocol::Anthropic);
    let request = tokio::spawn(async move { ask(&*provider, &[user("hi")]).await });
    gate.reached().await;
    assert!(!request.is_finished());
    gate.open();
    assert_eq!(request.await.unwrap().finish, Ok(FinishReason::Stop));
    assert_eq!(server.wait_outcome_async(0).await, AnswerOutcome::Sent);
}

#[tokio::test]
async fn a_server_that_never_answers_can_be_cancelled() {
    let server = ModelServer::start(Reply::hang());
    let cancel = CancellationToken::new();
    let mut stream = provider(&server, Protocol::OpenaiChat).stream(request(&[user("hi")]), cancel.clone());
    let waiting = tokio::spawn(async move { stream.next().await });
    server.wait_received_async(1).await;
    cancel.cancel();
    let event = waiting.await.unwrap();
    assert_eq!(event.unwrap().unwrap_err().class, ErrorClass::Cancelled);
    assert_eq!(server.wait_outcome_async(0).await, AnswerOutcome::Dropped);
}

#[tokio::test]
async fn nothing_is_sent_before_the_stream_is_polled_or_once_it_is_cancelled() {
    let server = ModelServer::start(Reply::text("hi"));
    let provider = provider(&server, Protocol::Anthropic);
    drop(provider.stream(request(&[user("never")]), CancellationToken::new()));
    let cancel = CancellationToken::new();
    cancel.cancel();
    let mut stream = provider.stream(request(&[user("never")]), cancel);
    assert_eq!(stream.next().await.unwrap().unwrap_err().class, ErrorClass::Cancelled);
    ask(&*provider, &[user("hi")]).await.finish.unwrap();
    assert_eq!(server.requests().len(), 1);
    assert_eq!(server.requests()[0].user_text(), "hi");
}

#[tokio::test]
async fn finish_reasons_are_decoded() {
    for (finish, expected) in [
        (ReplyFinish::Stop, FinishReason::Stop),
        (ReplyFinish::Length, FinishReason::Length),
        (ReplyFinish::Refusal, FinishReason::Refused),
    ] {
        for protocol in Protocol::ALL {
            let server = ModelServer::start(Reply::text("x").finish(finish));
            assert_eq!(
                ask(&*provider(&server, protocol), &[user("hi")]).await.finish,
                Ok(expected),
                "{protocol:?}"
            );
        }
    }
}

#[tokio::test]
async fn the_server_refuses_what_a_strict_provider_refuses() {
    let call = |id: u8, name: &str| {
        Block::ToolCall(octo_protocol::ToolCall {
            id: format!("{id:032x}").parse().unwrap(),
            provider_id: format!("t{id}"),
            name: name.to_owned(),
            arguments: "{}".to_owned(),
        })
    };
    let result = |id: u8| {
        Block::ToolResult(ToolResult {
            call: format!("{id:032x}").parse().unwrap(),
            provider_id: format!("t{id}"),
            status: CallStatus::Done,
            text: "x".to_owned(),
            images: Vec::new(),
        })
    };
    let unanswered = || message(Role::Assistant, vec![call(1, "write"), call(2, "grep")]);
    for (case, messages) in [
        ("no results", vec![user("a"), unanswered(), user("b")]),
        ("one result", vec![user("a"), unanswered(), message(Role::User, vec![result(1)])]),
        ("wrong order", vec![user("a"), unanswered(), message(Role::User, vec![result(2), result(1)])]),
        ("an orphan", vec![user("a"), message(Role::User, vec![result(1)])]),
        ("the model last", vec![user("a"), unanswered()]),
        ("the model first", vec![unanswered(), message(Role::User, vec![result(1), result(2)])]),
    ] {
        for protocol in Protocol::ALL {
            let server = ModelServer::start(Reply::text("never"));
            let error = ask(&*provider(&server, protocol), &messages).await.finish.unwrap_err();
            assert_eq!(error.class, ErrorClass::Invalid, "{case} {protocol:?}: {error}");
            assert_eq!(server.faults().len(), 1, "{case} {protocol:?}");
            assert_eq!(server.replies_left(), 1, "{case}: the script was not consulted");
        }
    }
}

#[tokio::test]
async fn the_server_notices_every_change_of_a_frozen_prefix() {
    let conversation = |first: &str, answer: &str| {
        let blocks = vec![Block::Text { text: answer.to_owned() }];
        vec![user(first), message(Role::Assistant, blocks), user("more")]
    };
    for protocol in Protocol::ALL {
        for (case, change) in [
            (
                "system_changed",
                (|request| request.system = Arc::from("You are somebody else.")) as fn(&mut ModelRequest),
            ),
            ("tools_changed", |request| request.tools = request.tools.iter().take(1).cloned().collect()),
            ("messages_changed", |request| {
                request.messages[1].blocks.push(Block::Text { text: "!".to_owned() })
            }),
            ("messages_changed", |request| request.messages[0] = user("other")),
        ] {
            let server = ModelServer::start(Script::from_fn(|_| Reply::text("ok")));
            let provider = provider(&server, protocol);
            let original = conversation("one", "two");
            ask(&*provider, &original[..1]).await.finish.unwrap();
            ask(&*provider, &original).await.finish.unwrap();
            // The same request again, and another conversation, are no faults.
            ask(&*provider, &original).await.finish.unwrap();
            ask(&*provider, &conversation("three", "four")).await.finish.unwrap();
            server.assert_clean();
            let mut changed = request(&original);
            change(&mut changed);
            let mut stream = provider.stream(changed, CancellationToken::new());
            assert_eq!(stream.next().await.unwrap().unwrap_err().class, ErrorClass::Invalid);
            let faults = server.faults();
            assert!(faults[0].reason.starts_with(case), "{case} {protocol:?}: {faults:?}");
        }
    }
}
