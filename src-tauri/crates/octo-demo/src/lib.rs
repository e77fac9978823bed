//! "Demo, no model": a script that drives the real agent.
//!
//! [`DemoProvider`] replaces only the model: the turn machine, the tools, the questions and the store are the
//! real ones, in a throw-away folder. Its answers are produced by [`script`], a pure function of the
//! conversation so far, so it keeps no state and continues after a restart, a stop or any message of the person
//! in between. It reports no usage, because nothing was used.

mod pace;
mod progress;
mod project;
mod script;
#[cfg(test)]
mod tests;

use futures::{StreamExt, stream};
use octo_llm::{ErrorClass, ModelEvent, ModelRequest, ModelStream, Provider, ProviderError, ProviderId};
use octo_protocol::Language;
use std::{collections::VecDeque, time::Duration};
use tokio_util::sync::CancellationToken;

/// Delay between two small pieces of text: about the pace of a quick model.
pub const READING_PACE: Duration = Duration::from_millis(15);

/// The script in place of a model.
#[derive(Clone, Debug)]
pub struct DemoProvider {
    id: ProviderId,
    language: Language,
    pace: Duration,
}

impl DemoProvider {
    /// Creates a provider that speaks this language, with this delay between two small pieces of text
    /// ([`READING_PACE`] for a person; zero streams without waiting).
    pub fn new(language: Language, pace: Duration) -> Self {
        Self { id: ProviderId("demo".to_owned()), language, pace }
    }
}

impl Provider for DemoProvider {
    fn id(&self) -> &ProviderId {
        &self.id
    }

    fn stream(&self, request: ModelRequest, cancel: CancellationToken) -> ModelStream {
        let step = script::next(&request.messages, self.language);
        let events = VecDeque::from(pace::events(step));
        let pace = self.pace;
        stream::unfold((events, cancel), move |(mut events, cancel)| async move {
            let event = events.pop_front()?;
            let item = match paced(&event, pace, &cancel).await {
                Ok(()) => Ok(event),
                Err(error) => {
                    events.clear();
                    Err(error)
                }
            };
            Some((item, (events, cancel)))
        })
        .boxed()
    }
}

/// Waits before a piece of text, unless the call is cancelled.
async fn paced(event: &ModelEvent, pace: Duration, cancel: &CancellationToken) -> Result<(), ProviderError> {
    let delay = match event {
        ModelEvent::Delta { .. } => pace,
        ModelEvent::BlockStarted { .. }
        | ModelEvent::BlockFinished { .. }
        | ModelEvent::Usage(_)
        | ModelEvent::Finished(_) => Duration::ZERO,
    };
    let cancelled = || ProviderError::new(ErrorClass::Cancelled, "the call was cancelled");
    if cancel.is_cancelled() {
        return Err(cancelled());
    }
    if delay.is_zero() {
        return Ok(());
    }
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(cancelled()),
        () = tokio::time::sleep(delay) => Ok(()),
    }
}
