//! Compaction: a summary written by the model replaces an earlier part of a conversation.
//!
//! The instruction is sent at the end of the live conversation, with the same tools and system prompt, so the
//! request reads the provider's cache. Everything here is pure: which messages are summarised, which stay, how
//! the model's answer is checked and how the summarised messages are written out. The session calls the model,
//! writes the archive and swaps the context in one transaction; until then nothing has changed.

mod archive;
mod size;
#[cfg(test)]
mod tests;

pub(crate) use archive::{ArchivePaths, write_out};
pub(crate) use size::{ContextSize, estimate};

use octo_protocol::{Block, Message, Origin, Role};

/// The instruction for the model. Part of the request.
pub(crate) const INSTRUCTION: &str = include_str!("compaction/instruction.md");

/// Tokens of recent messages kept in addition to the summary. With a summary of about 2,000 tokens, the tools
/// and the system prompt, the first request afterwards writes less than 10,000 tokens.
const KEPT_TOKENS: u64 = 4_000;
/// Minimum size worth summarising, in tokens: the summary of less would hardly be shorter.
const MIN_TOKENS: u64 = 3_000;
/// Share of the window at which a conversation is compacted, in percent.
const LIMIT_PERCENT: u64 = 80;
/// Default size at which a conversation is compacted, in tokens.
pub(crate) const DEFAULT_LIMIT: u64 = 200_000;
/// Maximum length of a summary, in characters. A longer answer means that the model copied instead of
/// summarising.
const MAX_SUMMARY_CHARS: usize = 60_000;
/// Number of earlier archive paths listed in a summary.
const LISTED_ARCHIVES: usize = 10;

/// Returns the size from which a conversation is compacted.
pub(crate) fn limit(window: u64, configured: Option<u64>) -> u64 {
    configured.unwrap_or(DEFAULT_LIMIT).min(window / 100 * LIMIT_PERCENT)
}

/// The messages a compaction concerns. Messages not `sent` with the instruction did not fit and stay as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CompactionRange {
    /// Number of messages, from the start, that are summarised; the others stay.
    pub summarised: usize,
    /// Number of messages, from the start, that are sent with the instruction.
    pub sent: usize,
}

/// How much of the end is held back from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeldBackSteps {
    /// Nothing.
    Nothing,
    /// The last step: the provider rejected the conversation as too long.
    LastStep,
    /// The later half of the steps: holding back one was not enough.
    Half,
}

/// Chooses the messages to summarise. Returns `None` if that is not worth it.
pub(crate) fn choose_range(messages: &[Message], held_back: HeldBackSteps) -> Option<CompactionRange> {
    let places = split_points(messages);
    let steps = places.len().checked_sub(1)?;
    let sent = match held_back {
        HeldBackSteps::Nothing => *places.last()?,
        HeldBackSteps::LastStep => *places.get(steps.checked_sub(1)?)?,
        HeldBackSteps::Half => *places.get(steps / 2)?,
    };
    // Recent steps stay while they fit. Steps held back from the request stay anyway, which leaves no room for
    // others.
    let mut budget = if held_back == HeldBackSteps::Nothing { KEPT_TOKENS } else { 0 };
    let mut summed = sent;
    for pair in places.windows(2).rev() {
        let [start, end] = *pair else { continue };
        if end > sent {
            continue;
        }
        let tokens: u64 = messages.iter().take(end).skip(start).map(estimate).sum();
        let Some(remaining) = budget.checked_sub(tokens) else { break };
        (budget, summed) = (remaining, start);
    }
    // The person's last messages that have no answer yet are not summarised.
    if let Some(unanswered) = unanswered(messages) {
        summed = summed.min(unanswered);
    }
    let replaced_tokens: u64 = messages.iter().take(summed).map(estimate).sum();
    (replaced_tokens >= MIN_TOKENS).then_some(CompactionRange { summarised: summed, sent })
}

/// Returns the index of the first message of the person that no model has answered.
fn unanswered(messages: &[Message]) -> Option<usize> {
    let answered =
        messages.iter().rposition(|message| message.role == Role::Assistant).map_or(0, |index| index + 1);
    let next_message =
        messages.iter().skip(answered).position(|message| message.meta.origin == Origin::Person)?;
    Some(answered + next_message)
}

/// Returns the indices at which the messages may be split, beginning and end included: a result must not be
/// separated from its call.
fn split_points(messages: &[Message]) -> Vec<usize> {
    let answers =
        |message: &Message| message.blocks.iter().any(|block| matches!(block, Block::ToolResult(_)));
    let inner =
        (0..messages.len()).filter(|index| messages.get(*index).is_some_and(|message| !answers(message)));
    inner.chain([messages.len()]).collect()
}

/// A summary written by a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    /// A few phrases, for the archive.
    pub topics: String,
    /// The summary itself.
    pub text: String,
}

/// Why an answer is not a usable summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SummaryError {
    /// There is none, or it is empty.
    Missing,
    /// The answer was cut off.
    Truncated,
    /// The model called tools instead.
    ToolCalls,
    /// It is as long as the text it should replace.
    TooLong,
}

/// Reads a model's answer. An answer without the tags is accepted if it is text.
pub(crate) fn parse_summary(answer: &str, calls: usize) -> Result<Summary, SummaryError> {
    if calls > 0 {
        return Err(SummaryError::ToolCalls);
    }
    let topics = text_between(answer, "<topics>", "</topics>").unwrap_or_default().trim().to_owned();
    let text = match (answer.find("<summary>"), text_between(answer, "<summary>", "</summary>")) {
        (_, Some(text)) => text,
        (Some(_), None) => return Err(SummaryError::Truncated),
        (None, None) => answer.split_once("</topics>").map_or(answer, |(_, rest)| rest),
    };
    let text = text.trim().to_owned();
    if text.is_empty() {
        Err(SummaryError::Missing)
    } else if text.chars().count() > MAX_SUMMARY_CHARS {
        Err(SummaryError::TooLong)
    } else {
        Ok(Summary { topics, text })
    }
}

fn text_between<'a>(text: &'a str, opening: &str, closing: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(opening)?;
    // The last end tag counts, because a summary may mention the tags.
    rest.rsplit_once(closing).map(|(inner, _)| inner)
}

/// Builds the block that replaces the summarised messages.
pub(crate) fn summary_block(summary: &Summary, covered: usize, archived: &ArchivePaths) -> Block {
    let path = archived.path.display();
    let mut text = format!(
        "Summary of the conversation so far; {covered} earlier messages left your view.\n\n{}\n\nThe messages \
         themselves are written out in {path}: read it with file_reader, or search it with grep, when a detail is \
         missing here.",
        summary.text
    );
    let earlier: Vec<String> =
        archived.earlier.iter().take(LISTED_ARCHIVES).map(|path| path.display().to_string()).collect();
    if !earlier.is_empty() {
        text.push_str("\nStill earlier ones, newest first: ");
        text.push_str(&earlier.join(", "));
        match archived.earlier.len() - earlier.len() {
            0 => {}
            count => text.push_str(&format!(" and {count} older ones beside them")),
        }
    }
    Block::Summary {
        text,
        covers: u32::try_from(covered).unwrap_or(u32::MAX),
        archive: Some(path.to_string()),
    }
}
