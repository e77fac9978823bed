//! Sending: retried only if it is certain that nothing was done, never if it may have been.

use super::{ChatBridge, ChatRecipient, ServiceLink, Words};
use octo_chats::{ChatClient as _, ChatError, Post};
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How many times Octo's own messages are tried; a person who misses one asks again.
const MAX_TRIES: u32 = 3;
/// First delay before a failed message is sent again; it doubles up to [`MAX_DELAY`].
const FIRST_DELAY: Duration = Duration::from_secs(1);
const MAX_DELAY: Duration = Duration::from_secs(60);
/// Minimum delay before a failed answer is sent again.
const MIN_RETRY_DELAY: Duration = Duration::from_secs(5);

/// The delays before further attempts.
#[derive(Debug, Default)]
pub(super) struct SendDelay(u32);

impl SendDelay {
    pub(super) fn next(&mut self) -> Duration {
        let delay = FIRST_DELAY.saturating_mul(1 << self.0.min(10)).min(MAX_DELAY);
        self.0 += 1;
        delay
    }

    pub(super) fn over(&mut self) {
        self.0 = 0;
    }
}

/// Whether one of Octo's own messages was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PostResult {
    /// It was delivered or never will be.
    Settled,
    /// The service is unreachable.
    NotYet,
}

/// Sends one of Octo's own messages to a person.
pub(super) async fn say(bridge: &ChatBridge, line: &ServiceLink, person: &str, post: Post) -> PostResult {
    let mut waits = SendDelay::default();
    for _ in 0..MAX_TRIES {
        let delay = match line.client.send(person, &post).await {
            Ok(()) => return PostResult::Settled,
            Err(ChatError::RateLimited(delay)) if delay <= MAX_DELAY => delay,
            Err(ChatError::RateLimited(_)) => return PostResult::NotYet,
            Err(ChatError::Unreachable(_)) => waits.next(),
            Err(error) => {
                tracing::warn!(%error, "something could not be said in a chat");
                return PostResult::Settled;
            }
        };
        tokio::select! {
            () = bridge.base.shutdown.cancelled() => break,
            () = tokio::time::sleep(delay) => {}
        }
    }
    PostResult::NotYet
}

impl ChatRecipient<'_> {
    /// Sends one of Octo's own messages. Nothing depends on it: a person who misses it asks again.
    pub(super) async fn say(&self, post: Post) -> PostResult {
        say(self.bridge, self.link, &self.chat.person, post).await
    }

    pub(super) async fn say_words(&self, key: &str) -> PostResult {
        self.say(Post::plain(Words::of(self.bridge).say(key))).await
    }
}

/// The outcome of sending the posts of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeliveryOutcome {
    /// All of it was delivered, or the service will never accept it.
    Done,
    /// Part of it may have been delivered: it must not be sent again.
    Doubtful,
    /// None of it was delivered; it may be sent after this time.
    Postponed(Duration),
}

/// Sends posts in order. If the first fails this returns at once; after the first success the remaining posts
/// wait here for the service, until the application ends or the account changes.
pub(super) async fn send_all(
    recipient: &ChatRecipient<'_>,
    posts: &[Post],
    stop: &CancellationToken,
    changes: &mut watch::Receiver<u64>,
) -> DeliveryOutcome {
    let mut waits = SendDelay::default();
    let mut remaining = posts.iter().enumerate();
    let mut next = remaining.next();
    while let Some((index, post)) = next {
        // The person may have been removed or the token revoked: check before sending more.
        if changes.has_changed().unwrap_or(true) && index > 0 {
            return DeliveryOutcome::Doubtful;
        }
        let delay = match recipient.link.client.send(&recipient.chat.person, post).await {
            Ok(()) => {
                waits = SendDelay::default();
                next = remaining.next();
                continue;
            }
            Err(ChatError::RateLimited(delay)) => delay,
            Err(
                error @ (ChatError::Unreachable(_)
                | ChatError::UnknownToken(_)
                | ChatError::Conflict(_)
                | ChatError::Local(_)),
            ) => {
                tracing::debug!(%error, "an answer waits for its chat service");
                waits.next()
            }
            Err(ChatError::Refused(refusal)) => {
                // They blocked the bot, or the service rejects this text: the next one may be accepted.
                tracing::warn!(%refusal, "a chat service does not take an answer");
                next = remaining.next();
                continue;
            }
            Err(error @ (ChatError::Unanswered(_) | ChatError::Connection(_))) => {
                tracing::warn!(%error, "whether an answer arrived in a chat is not known");
                return DeliveryOutcome::Doubtful;
            }
        };
        if index == 0 {
            return DeliveryOutcome::Postponed(delay.max(MIN_RETRY_DELAY));
        }
        tokio::select! {
            () = stop.cancelled() => return DeliveryOutcome::Doubtful,
            _ = changes.changed() => return DeliveryOutcome::Doubtful,
            () = tokio::time::sleep(delay) => {}
        }
    }
    DeliveryOutcome::Done
}

/// Returns the state of the connection after an error.
pub(super) fn connection_after(
    error: &ChatError,
    at: octo_protocol::Millis,
) -> octo_protocol::ChatConnection {
    use octo_protocol::ChatConnection;
    let api_error = error.to_api();
    match error {
        ChatError::UnknownToken(_) | ChatError::Connection(_) => ChatConnection::Refused { error: api_error },
        ChatError::Conflict(_)
        | ChatError::RateLimited(_)
        | ChatError::Refused(_)
        | ChatError::Unreachable(_)
        | ChatError::Local(_)
        | ChatError::Unanswered(_) => ChatConnection::Reconnecting { error: api_error, at },
    }
}

/// How long to pause requests to a service after an error.
pub(super) fn pause(error: &ChatError, waits: &mut SendDelay) -> Duration {
    match error {
        ChatError::RateLimited(delay) => *delay,
        // Another program is reading the bot: frequent requests would only take its updates away.
        ChatError::Conflict(_) => MAX_DELAY,
        _ => waits.next(),
    }
}
