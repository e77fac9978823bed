//! Sending: again where it is known that nothing was done, and never where it may have been.

use super::{ChatBridge, Line, Talk, Words};
use octo_chats::{ChatError, Post};
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How often words of Octo's own are tried; whoever does not get them asks again.
const TRIES: u32 = 3;
/// The first wait before what did not get there is sent again; it doubles up to [`LONGEST`].
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);
/// The shortest before an answer that did not get there is sent again.
const AGAIN: Duration = Duration::from_secs(5);

/// Waits before further tries.
#[derive(Debug, Default)]
pub(super) struct Waits(u32);

impl Waits {
    pub(super) fn next(&mut self) -> Duration {
        let wait = FIRST.saturating_mul(1 << self.0.min(10)).min(LONGEST);
        self.0 += 1;
        wait
    }

    pub(super) fn over(&mut self) {
        self.0 = 0;
    }
}

/// Whether words of Octo's own got there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// They did, or never will.
    Over,
    /// The service is not reached.
    NotYet,
}

/// Says something of Octo's own to somebody.
pub(super) async fn say(bridge: &ChatBridge, line: &Line, person: &str, post: Post) -> Said {
    let mut waits = Waits::default();
    for _ in 0..TRIES {
        let wait = match line.telegram.send(person, &post).await {
            Ok(()) => return Said::Over,
            Err(ChatError::TooMuch(wait)) if wait <= LONGEST => wait,
            Err(ChatError::TooMuch(_)) => return Said::NotYet,
            Err(ChatError::Unreachable(_)) => waits.next(),
            Err(error) => {
                tracing::warn!(%error, "something could not be said in a chat");
                return Said::Over;
            }
        };
        tokio::select! {
            () = bridge.base.closing.cancelled() => break,
            () = tokio::time::sleep(wait) => {}
        }
    }
    Said::NotYet
}

impl Talk<'_> {
    /// Says something of Octo's own. Nothing hangs on it: whoever does not get it asks again.
    pub(super) async fn say(&self, post: Post) -> Said {
        say(self.bridge, self.line, &self.chat.person, post).await
    }

    pub(super) async fn say_words(&self, key: &str) -> Said {
        self.say(Post::plain(Words::of(self.bridge).say(key))).await
    }
}

/// What became of sending what an event means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sending {
    /// All of it is there, or the service will never take it.
    Done,
    /// A part of it may be there: it must not be sent again.
    Doubtful,
    /// Nothing of it is there; it may be sent after this time.
    NotYet(Duration),
}

/// Sends posts in their order. Where the first does not get there it is said at once; once one did, the rest waits for the
/// service here, until the application ends, or its line is another.
pub(super) async fn send_all(
    talk: &Talk<'_>,
    posts: &[Post],
    ends: &CancellationToken,
    changes: &mut watch::Receiver<u64>,
) -> Sending {
    let mut waits = Waits::default();
    let mut rest = posts.iter().enumerate();
    let mut next = rest.next();
    while let Some((place, post)) = next {
        // Somebody may have been shut out, and the token taken back: that is looked at before more is said.
        if changes.has_changed().unwrap_or(true) && place > 0 {
            return Sending::Doubtful;
        }
        let wait = match talk.line.telegram.send(&talk.chat.person, post).await {
            Ok(()) => {
                waits = Waits::default();
                next = rest.next();
                continue;
            }
            Err(ChatError::TooMuch(wait)) => wait,
            Err(
                error @ (ChatError::Unreachable(_)
                | ChatError::Token(_)
                | ChatError::Conflict(_)
                | ChatError::Here(_)),
            ) => {
                tracing::debug!(%error, "an answer waits for its chat service");
                waits.next()
            }
            Err(ChatError::Refused(refusal)) => {
                // They blocked the bot, or this very text is not taken: the next one may be.
                tracing::warn!(%refusal, "a chat service does not take an answer");
                next = rest.next();
                continue;
            }
            Err(error @ (ChatError::Unanswered(_) | ChatError::Way(_))) => {
                tracing::warn!(%error, "whether an answer arrived in a chat is not known");
                return Sending::Doubtful;
            }
        };
        if place == 0 {
            return Sending::NotYet(wait.max(AGAIN));
        }
        tokio::select! {
            () = ends.cancelled() => return Sending::Doubtful,
            _ = changes.changed() => return Sending::Doubtful,
            () = tokio::time::sleep(wait) => {}
        }
    }
    Sending::Done
}

/// How the connection is, by what went wrong.
pub(super) fn connection(error: &ChatError, at: octo_protocol::Millis) -> octo_protocol::ChatConnection {
    use octo_protocol::ChatConnection;
    let said = error.to_api();
    match error {
        ChatError::Token(_) | ChatError::Way(_) => ChatConnection::Refused { error: said },
        ChatError::Conflict(_)
        | ChatError::TooMuch(_)
        | ChatError::Refused(_)
        | ChatError::Unreachable(_)
        | ChatError::Here(_)
        | ChatError::Unanswered(_) => ChatConnection::Reconnecting { error: said, at },
    }
}

/// How long nothing is asked of a service after something went wrong.
pub(super) fn pause(error: &ChatError, waits: &mut Waits) -> Duration {
    match error {
        ChatError::TooMuch(wait) => *wait,
        // Another program reads the bot: asking often would only take its news away.
        ChatError::Conflict(_) => LONGEST,
        _ => waits.next(),
    }
}
