//! Testing models: whether one answers, and how fast.

use super::Models;
use futures::StreamExt;
use octo_llm::{CachePlan, ModelEvent, ModelRequest, Provider, connect};
use octo_protocol::{
    ApiError, Block, ErrorCode, Message, MessageId, Meta, ModelCheck, ModelDraft, ModelId, ModelSpeed,
    Origin, Role, TurnId,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// Time limit of a test. A cold local server may load its weights first.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum tokens of a test's answer: enough to say one word and to see the stream end.
const TEST_TOKENS: u64 = 16;
/// Maximum tokens of a timed answer: enough to measure a rate, and under a cent with any model of the presets.
const TIMED_TOKENS: u64 = 200;

impl Models {
    /// Requests one word from the drafted model. Saves nothing.
    pub async fn test(&self, draft: ModelDraft) -> ModelCheck {
        let model = draft.model.trim().to_owned();
        let call = async {
            let provider = connect(self.draft_endpoint(draft).await?).map_err(|error| error.to_api())?;
            time(provider.as_ref(), question(model, "Say OK.", TEST_TOKENS), CancellationToken::new()).await
        };
        match within(call).await {
            Ok(speed) => ModelCheck::Works { first_byte_ms: speed.first_byte_ms },
            Err(error) => ModelCheck::Fails { error },
        }
    }

    /// Times a connected model's answer to a short question, after the timings already in progress.
    pub async fn measure(&self, id: ModelId) -> Result<ModelSpeed, ApiError> {
        let stop = self.with(|state| state.stop_timing.clone());
        let timed = async {
            let _alone = self.timing_lock.lock().await;
            let connection = self.connect(Some(id)).await.map_err(|error| error.to_api())?;
            let question = question(connection.model, "Write one paragraph about the sea.", TIMED_TOKENS);
            within(time(connection.provider.as_ref(), question, stop.clone())).await
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => Err(ApiError::new("model.measure_stopped")),
            speed = timed => speed,
        }
    }

    /// Cancels running or waiting timings of models.
    pub fn stop_measuring(&self) {
        self.with(|state| std::mem::take(&mut state.stop_timing)).cancel();
    }
}

async fn within<T>(future: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
    match tokio::time::timeout(TEST_TIMEOUT, future).await {
        Ok(result) => result,
        Err(_) => Err(ApiError::new("model.test_too_slow").retryable()),
    }
}

/// Times a complete answer.
async fn time(
    provider: &dyn Provider,
    question: ModelRequest,
    cancel: CancellationToken,
) -> Result<ModelSpeed, ApiError> {
    let started = Instant::now();
    let elapsed_ms = || u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut events = provider.stream(question, cancel);
    let (mut first_output, mut output_tokens) = (None, None);
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| error.to_api())?;
        first_output.get_or_insert_with(elapsed_ms);
        match event {
            ModelEvent::Usage(billed) if billed.usage.output > 0 => {
                output_tokens = Some(billed.usage.output);
            }
            ModelEvent::Finished(_) => break,
            _ => {}
        }
    }
    let silent_error = || ApiError::new("model.test_silent").code(ErrorCode::ModelNeeded);
    Ok(ModelSpeed {
        first_byte_ms: first_output.ok_or_else(silent_error)?,
        total_ms: elapsed_ms(),
        output_tokens,
    })
}

fn question(model: String, text: &str, max_output: u64) -> ModelRequest {
    let blocks = vec![Block::Text { text: text.to_owned() }];
    let meta = Meta::new(Origin::Octo, 0);
    let message = Message { id: MessageId::new(), turn: TurnId::new(), role: Role::User, blocks, meta };
    ModelRequest {
        model,
        system: "Answer briefly.".into(),
        tools: Arc::from([]),
        messages: vec![message],
        images: Arc::default(),
        vision: false,
        documents: false,
        max_output,
        effort: None,
        cache: CachePlan::default(),
    }
}
