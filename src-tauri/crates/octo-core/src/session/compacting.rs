//! Compaction of a session's context: when it happens, and its steps, which change nothing until the whole
//! result is ready.

use super::{
    JobReport,
    before_call::{Gate, GatedCall},
    model_call::jitter,
    outgoing::RequestMessages,
    side_call::{SideAnswer, SideCallAim},
    state::Session,
    step::{Change, Step},
};
use crate::{
    compaction::{self, ArchivePaths, CompactionRange, ContextSize, HeldBackSteps, Summary, SummaryError},
    pairing::pair_results,
};
use octo_llm::{ErrorClass, ProviderError, RetryPolicy};
use octo_protocol::{
    ApiError, Block, CompactionLimit, Event, Message, MessageId, NoticeKind, Origin, Role, TurnId, Usage,
};
use octo_workspace::Archives;
use std::time::Duration;

/// Maximum tokens of a summary including the reasoning before it: it uses the same effort as the work, since
/// another effort would lose the cache.
const MAX_SUMMARY_TOKENS: u64 = 32_000;
/// Minimum number of model calls between two compactions of the same kind: a conversation that fills the window
/// again at once does not shrink by another summary.
const CALLS_BETWEEN: u32 = 3;
/// Growth of the conversation, in percent of its former size, before a failed compaction is tried again.
const REGROWTH_PERCENT: u64 = 125;
/// Remaining size, in percent of the former size, from which a compaction counts as useless.
const USELESS_PERCENT: u64 = 70;

/// A running compaction.
pub(super) struct RunningCompaction {
    range: CompactionRange,
    cause: CompactionCause,
    held_back: HeldBackSteps,
    /// The size before, in tokens.
    size: u64,
    /// Number of messages in the context at the start; if it differs when the summary is ready, nothing is
    /// swapped.
    messages: usize,
    /// Number of its failed model calls so far.
    failures: u32,
}

/// A turn waits for its compaction, so a temporary failure is worth a few retries, though fewer than for the
/// turn's own calls.
const POLICY: RetryPolicy =
    RetryPolicy { attempts: 5, base: Duration::from_secs(1), cap: Duration::from_secs(60) };

/// The number of a compaction attempt and the pause before it.
#[derive(Clone, Copy, Default)]
struct CompactionAttempt {
    failures: u32,
    pause: Duration,
}

/// Why a conversation is compacted.
pub(super) enum CompactionCause {
    /// It reached its limit.
    Size,
    /// The provider rejected it as too long. Without a remedy the error ends the turn.
    Overflow(ApiError),
    /// The session is idle, and compaction pays.
    Idle,
}

/// A compaction with a finished summary whose archive is being written.
struct ContextSwap {
    id: MessageId,
    compacting: Box<RunningCompaction>,
    summary: Summary,
}

/// The report that an archive was written or that writing failed.
pub(crate) struct ArchiveReport {
    id: MessageId,
    outcome: Result<ArchivePaths, String>,
}

/// The size of a session's conversation and the limits of its compaction.
pub(super) struct Compaction {
    size: ContextSize,
    swap: Option<ContextSwap>,
    restraint: CompactionRestraint,
}

/// Limits on when to compact again.
#[derive(Default)]
struct CompactionRestraint {
    calls_since: Option<u32>,
    min_size: u64,
}

impl Compaction {
    /// Creates the state for a conversation of this size.
    pub(super) fn new(size: ContextSize) -> Self {
        Self { size, swap: None, restraint: CompactionRestraint::default() }
    }

    /// Records the usage of a model's answer to this number of messages.
    pub(super) fn record_answer(&mut self, usage: Option<Usage>, messages: usize) {
        self.size.record_answer(usage, messages);
        self.restraint.record_answer();
    }

    /// Records that the conversation was replaced by one of this estimated size.
    pub(super) fn record_replacement(&mut self, tokens: u64, messages: usize) {
        self.size.record_estimate(tokens, messages);
    }

    /// Whether a finished summary waits for its archive to be written.
    pub(super) fn is_swapping(&self) -> bool {
        self.swap.is_some()
    }

    /// Drops a summary whose archive is being written. Returns whether there was one.
    pub(super) fn cancel(&mut self) -> bool {
        self.swap.take().is_some()
    }

    fn take_swap(&mut self, report: &ArchiveReport) -> Option<(Box<RunningCompaction>, Summary)> {
        let ContextSwap { compacting, summary, .. } = self.swap.take_if(|swap| swap.id == report.id)?;
        Some((compacting, summary))
    }

    /// Records that a summary replaced earlier messages. Returns whether the conversation is much smaller than
    /// before.
    fn record_compaction(&mut self, old_size: u64, tokens: u64, messages: usize) -> bool {
        self.size.record_estimate(tokens, messages);
        self.restraint = CompactionRestraint { calls_since: Some(0), min_size: 0 };
        let is_useless = tokens > old_size / 100 * USELESS_PERCENT;
        if is_useless {
            self.restraint.min_size = tokens / 100 * REGROWTH_PERCENT;
        }
        !is_useless
    }

    /// Records that compacting a conversation of this size failed.
    fn record_failure(&mut self, size: u64) {
        self.restraint.min_size = size / 100 * REGROWTH_PERCENT;
    }
}

impl CompactionRestraint {
    fn record_answer(&mut self) {
        self.calls_since = self.calls_since.map(|calls| calls.saturating_add(1));
    }

    fn forbids(&self, size: u64) -> bool {
        size < self.min_size || self.calls_since.is_some_and(|calls| calls < CALLS_BETWEEN)
    }
}

impl Session {
    /// Begins a compaction if the conversation has reached its limit. Returns whether it did.
    pub(super) fn compact_if_full(&mut self, step: &mut Step) -> bool {
        if !self.is_counted() {
            return false;
        }
        let size = self.context_size();
        if size < self.compaction_limit() || self.compaction.restraint.forbids(size) {
            return false;
        }
        let Some(range) = compaction::choose_range(&self.conversation, HeldBackSteps::Nothing) else {
            return false;
        };
        self.begin_compaction(
            range,
            HeldBackSteps::Nothing,
            CompactionCause::Size,
            CompactionAttempt::default(),
            step,
        );
        true
    }

    /// Begins a compaction that can be sent, because the provider rejected the conversation as too long.
    /// Returns whether it did.
    pub(super) fn compact_after_overflow(&mut self, error: ApiError, step: &mut Step) -> bool {
        let Some(range) = compaction::choose_range(&self.conversation, HeldBackSteps::LastStep) else {
            return false;
        };
        self.begin_compaction(
            range,
            HeldBackSteps::LastStep,
            CompactionCause::Overflow(error),
            CompactionAttempt::default(),
            step,
        );
        true
    }

    /// Compacts between turns, if there is anything to summarise.
    pub(super) fn compact_idle(&mut self, step: &mut Step) {
        if self.compaction.restraint.forbids(self.context_size()) {
            return;
        }
        if let Some(range) = compaction::choose_range(&self.conversation, HeldBackSteps::Nothing) {
            self.begin_compaction(
                range,
                HeldBackSteps::Nothing,
                CompactionCause::Idle,
                CompactionAttempt::default(),
                step,
            );
        }
    }

    /// Returns the size of the conversation in the model's window, in tokens.
    pub(super) fn context_size(&self) -> u64 {
        self.compaction.size.now(&self.conversation, self.prefix.tokens())
    }

    /// Returns the size from which the conversation is compacted.
    pub(super) fn compaction_limit(&self) -> u64 {
        let window = self.model().and_then(|model| self.runtime.services.models.window(model));
        let configured = match self.runtime.base.preferences().compact_at {
            CompactionLimit::Usual => None,
            CompactionLimit::Tokens { tokens } => Some(tokens),
        };
        compaction::limit(window.unwrap_or(u64::MAX), configured)
    }

    fn begin_compaction(
        &mut self,
        range: CompactionRange,
        held_back: HeldBackSteps,
        cause: CompactionCause,
        CompactionAttempt { failures, pause }: CompactionAttempt,
        step: &mut Step,
    ) {
        let (size, messages) = (self.context_size(), self.conversation.len());
        let running = RunningCompaction { range, cause, held_back, size, messages, failures };
        let mut messages: Vec<Message> =
            pair_results(self.conversation.get(..range.sent).unwrap_or(&self.conversation)).into_owned();
        let notice = Block::Notice {
            kind: NoticeKind::Compaction,
            text: compaction::INSTRUCTION.trim_end().to_owned(),
        };
        messages.push(self.message(self.newest_turn(), Role::User, Origin::Octo, vec![notice]));
        let request = RequestMessages::with_temporary(messages, MAX_SUMMARY_TOKENS);
        step.event(Event::CompactionStarted);
        self.begin_side_call(SideCallAim::Compaction(Box::new(running)), request, pause, step);
    }

    fn newest_turn(&self) -> TurnId {
        self.turn.id().or(self.conversation.last().map(|last_message| last_message.turn)).unwrap_or_default()
    }

    /// Takes the model's answer to the instruction.
    pub(super) fn compaction_answered(
        &mut self,
        running: Box<RunningCompaction>,
        answer: Result<SideAnswer, ProviderError>,
        step: &mut Step,
    ) {
        let result = answer.map(|answer| match answer.complete() {
            Some((text, calls)) => compaction::parse_summary(text, calls),
            None => Err(SummaryError::Truncated),
        });
        match result {
            Ok(Ok(summary)) => self.write_archive(running, summary, step),
            Ok(Err(error)) => {
                let key = match error {
                    SummaryError::Missing => "compaction.no_summary",
                    SummaryError::Truncated => "compaction.cut",
                    SummaryError::ToolCalls => "compaction.called_tools",
                    SummaryError::TooLong => "compaction.too_long",
                };
                self.compaction_failed(*running, ApiError::new(key), step);
            }
            Err(error) if error.class == ErrorClass::ContextTooLong => {
                let next_step = match (&running.cause, running.held_back) {
                    // It is too long even without its last step: the earlier half is sent.
                    (_, HeldBackSteps::Nothing) => Some(HeldBackSteps::LastStep),
                    (CompactionCause::Overflow(_) | CompactionCause::Size, HeldBackSteps::LastStep) => {
                        Some(HeldBackSteps::Half)
                    }
                    (_, HeldBackSteps::LastStep | HeldBackSteps::Half) => None,
                };
                let retry = next_step.and_then(|next_step| {
                    Some((next_step, compaction::choose_range(&self.conversation, next_step)?))
                });
                match retry {
                    Some((next_step, range)) => {
                        self.begin_compaction(
                            range,
                            next_step,
                            running.cause,
                            CompactionAttempt::default(),
                            step,
                        );
                    }
                    None => self.compaction_failed(*running, error.to_api(), step),
                }
            }
            Err(error) => {
                let RunningCompaction { range, held_back, .. } = *running;
                let failures = running.failures + 1;
                // Between turns no work waits for it, and the next pause is another chance.
                let is_needed = !matches!(running.cause, CompactionCause::Idle);
                let pause = POLICY.next(failures, &error, jitter(MessageId::new(), failures));
                match pause.filter(|pause| is_needed && *pause <= POLICY.cap) {
                    Some(pause) => {
                        let attempt = CompactionAttempt { failures, pause };
                        self.begin_compaction(range, held_back, running.cause, attempt, step);
                    }
                    None => self.compaction_failed(*running, error.to_api(), step),
                }
            }
        }
    }

    fn write_archive(&mut self, running: Box<RunningCompaction>, summary: Summary, step: &mut Step) {
        let id = MessageId::new();
        let messages: Vec<Message> =
            self.conversation.iter().take(running.range.summarised).cloned().collect();
        let (title, for_archive) = (self.info.title.clone(), summary.clone());
        let archives = Archives::new(self.runtime.base.paths.archives(self.id()));
        let report = self.reporter();
        self.compaction.swap = Some(ContextSwap { id, compacting: running, summary });
        step.job(move |_| {
            let writing = tokio::task::spawn_blocking(move || {
                let earlier = archives.list();
                let time = jiff::Timestamp::now().to_string();
                let (text, lines) = compaction::write_out(&title, &time, &for_archive, &messages);
                archives.add(&text, &lines).map(|path| ArchivePaths { path, earlier })
            });
            tokio::spawn(async move {
                let outcome = match writing.await {
                    Ok(outcome) => outcome.map_err(|error| error.to_string()),
                    Err(error) => Err(error.to_string()),
                };
                report.send(JobReport::Archived(ArchiveReport { id, outcome }));
            });
        });
    }

    /// Swaps the context in one transaction once the archive is written; the turn then continues.
    pub(super) async fn finish_archive(&mut self, report: ArchiveReport) -> Result<(), ApiError> {
        let Some((running, summary)) = self.compaction.take_swap(&report) else {
            // The context did not shrink after all: the next summary must not list this archive.
            if let Ok(archived) = report.outcome {
                let archives = Archives::new(self.runtime.base.paths.archives(self.id()));
                tokio::task::spawn_blocking(move || archives.remove(&archived.path));
            }
            return Ok(());
        };
        let mut step = Step::default();
        match report.outcome {
            Ok(archived) if self.conversation.len() == running.messages => {
                self.swap_context(&running, &summary, &archived, &mut step);
                if self.turn.is_running() {
                    self.before_call(Gate::Budget, GatedCall::Call, &mut step);
                }
            }
            Ok(_) => self.compaction_failed(*running, ApiError::new("compaction.overtaken"), &mut step),
            Err(detail) => {
                let error = ApiError::new("compaction.not_archived").detail(detail);
                self.compaction_failed(*running, error, &mut step);
            }
        }
        self.finish(step).await
    }

    fn swap_context(
        &mut self,
        running: &RunningCompaction,
        summary: &Summary,
        archived: &ArchivePaths,
        step: &mut Step,
    ) {
        let summarised = running.range.summarised;
        let blocks =
            vec![self.surroundings_notice(), compaction::summary_block(summary, summarised, archived)];
        let message = self.message(self.newest_turn(), Role::User, Origin::Octo, blocks);
        step.event(Event::MessageAdded { message: message.clone() });
        // The person's message of the turn may leave now.
        if let Some(turn) = self.turn.id() {
            let request = self.summary_of(turn);
            self.turn.with(|turn| turn.keep_summary(request));
        }
        self.conversation.replace_start(summarised, message);
        step.change(Change::NewContext(self.conversation.ids()));
        let tokens = self.prefix.tokens() + self.conversation.tokens();
        if !self.compaction.record_compaction(running.size, tokens, self.conversation.len()) {
            tracing::warn!(session = %self.id(), before = running.size, tokens, "a compaction did not shrink");
        }
        step.event(Event::ContextCompacted { tokens });
    }

    /// Ends a compaction without a swap. The turn continues with the old context if possible.
    fn compaction_failed(&mut self, running: RunningCompaction, error: ApiError, step: &mut Step) {
        tracing::warn!(session = %self.id(), %error, "not compacted");
        self.compaction.record_failure(running.size);
        step.event(Event::CompactionFailed { error });
        match running.cause {
            CompactionCause::Size => self.before_call(Gate::Budget, GatedCall::Call, step),
            CompactionCause::Overflow(original) => self.fail_model(original, step),
            CompactionCause::Idle => {}
        }
    }

    /// Cancels the compaction a turn waits for, on Stop. Returns whether there was one.
    pub(super) fn cancel_compaction(&mut self, step: &mut Step) -> bool {
        let had_side_call = self.end_side_call(step);
        let swapping = self.compaction.cancel();
        had_side_call || swapping
    }
}
