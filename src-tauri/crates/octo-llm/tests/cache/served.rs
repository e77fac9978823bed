//! The scripted server bills its cache's usage, over HTTP.

use crate::workload::WorkloadConversation;
use futures::StreamExt;
use octo_llm::{
    Caching, Endpoint, MarkerPolicy, ModelEvent, ModelRequest, SentRequest, connect, expected, explain,
};
use octo_protocol::{CacheMiss, Protocol, Usage};
use octo_testkit::{CachePolicy, CacheSimulator, MissReason, ModelServer, Reply, Script, ServerOptions};
use secrecy::SecretString;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

async fn send(server: &ModelServer, request: ModelRequest) -> Usage {
    let key = SecretString::from("sk-test-0123456789");
    let provider = connect(Endpoint::new(Protocol::Anthropic, server.url(), Some(key))).unwrap();
    let mut stream = provider.stream(request, CancellationToken::new());
    let mut usage = Usage::default();
    while let Some(event) = stream.next().await {
        if let ModelEvent::Usage(reported) = event.unwrap() {
            usage = reported.usage;
        }
    }
    usage
}

fn server(cache: Option<CachePolicy>) -> ModelServer {
    let script = Script::from_fn(|_| Reply::text("fine"));
    ModelServer::start_with(script, ServerOptions { cache, ..ServerOptions::default() })
}

/// Returns a conversation that is not sent automatically.
fn conversation() -> WorkloadConversation {
    let cache = CacheSimulator::new(CachePolicy::none());
    let mut conversation =
        WorkloadConversation::new(Protocol::Anthropic, Caching::anthropic(), MarkerPolicy::default(), cache);
    conversation.say(6_000);
    conversation
}

#[tokio::test]
async fn the_server_follows_the_tests_cache_policy() {
    for (case, policy, reads) in [
        ("the vendor's", None, true),
        ("Bedrock's", Some(CachePolicy::bedrock()), true),
        ("none", Some(CachePolicy::none()), false),
        ("too short", Some(CachePolicy { minimum: 100_000, ..CachePolicy::anthropic() }), false),
    ] {
        let server = server(policy);
        let conversation = conversation();
        let first = send(&server, conversation.request(0)).await;
        let second = send(&server, conversation.request(0)).await;
        assert_eq!(second.cache_read, if reads { first.total_input() } else { 0 }, "{case}");
        assert_eq!(second.total_input(), first.total_input(), "{case}");
        server.assert_clean();
    }
}

#[tokio::test]
async fn the_ledgers_expectation_equals_the_providers_reads() {
    let seconds = Duration::from_secs;
    for (case, pause, change, expected_miss, reason) in [
        ("a turn more", seconds(20), None, None, None),
        (
            "a long pause",
            seconds(400),
            None,
            Some(CacheMiss::Expired),
            Some(MissReason::PreviousMessageNotFound),
        ),
        (
            "another system prompt",
            seconds(20),
            Some("Another."),
            Some(CacheMiss::System),
            Some(MissReason::SystemChanged),
        ),
    ] {
        let options = ServerOptions { prefix: octo_testkit::PrefixRule::Free, ..ServerOptions::default() };
        let server = ModelServer::start_with(Script::from_fn(|_| Reply::text("fine")), options);
        let mut conversation = conversation();
        let request = conversation.request(0);
        let previous = SentRequest::new(&request, 0).with_usage(send(&server, request).await);
        conversation.answer(300);
        conversation.say(300);
        if let Some(system) = change {
            conversation.system = system.into();
        }
        server.advance(pause);
        let request = conversation.request(0);
        let sent = SentRequest::new(&request, 0);
        let usage = send(&server, request).await;
        let expected = expected(&previous, &Caching::anthropic()).unwrap();
        assert_eq!(explain(&expected, &usage, &previous, &sent, pause), expected_miss, "{case}");
        assert_eq!(
            usage.cache_read == expected.tokens,
            expected_miss.is_none(),
            "{case}: {usage:?}, {expected:?}"
        );
        let misses: Vec<(usize, MissReason)> = server
            .cache_misses()
            .into_iter()
            .map(|(request, expected_miss)| (request, expected_miss.reason))
            .collect();
        assert_eq!(misses, reason.map(|reason| (1, reason)).into_iter().collect::<Vec<_>>(), "{case}");
    }
}
