//! Compaction: an earlier part of a conversation gives way to a summary the model writes of it.
//!
//! The instruction rides at the end of the live conversation, with the same tools and system prompt, so that the
//! request reads the provider's cache. Everything here is pure: what is summed up, what stays, what the model must
//! have answered, how the summed-up messages are written out. The session calls the model, writes the archive and
//! swaps the context in one transaction; until then nothing has changed.

mod archive;
mod size;
#[cfg(test)]
mod tests;

pub(crate) use archive::{Archived, write_out};
pub(crate) use size::{Size, estimate};

use octo_protocol::{Block, Message, Origin, Role};

/// What the model is asked for. Part of what is sent.
pub(crate) const INSTRUCTION: &str = include_str!("compaction/instruction.md");

/// Tokens of recent messages that stay beside the summary. With a summary of some 2,000 tokens, the tools and the
/// system prompt the first request afterwards writes less than 10,000.
const KEPT: u64 = 4_000;
/// Less than this is not worth a summary, in tokens: it would hardly be shorter.
const LEAST: u64 = 3_000;
/// The share of the window at which a conversation is compacted, in percent.
const SHARE: u64 = 80;
/// The size at which a conversation is compacted where the person set none, in tokens.
pub(crate) const USUAL_LIMIT: u64 = 200_000;
/// A summary longer than this is none, in characters: a model that copies instead of summing up.
const LONGEST_SUMMARY: usize = 60_000;
/// Paths of earlier archives a summary lists.
const LISTED: usize = 10;

/// The size from which a conversation is compacted.
pub(crate) fn limit(window: u64, chosen: Option<u64>) -> u64 {
    chosen.unwrap_or(USUAL_LIMIT).min(window / 100 * SHARE)
}

/// Which messages a compaction concerns. What is not `sent` along with the instruction stays as well: it did not
/// fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The first so many messages are summed up; the others stay.
    pub summed: usize,
    /// The first so many messages are sent along with the instruction.
    pub sent: usize,
}

/// How much of the end is held back from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeldBack {
    /// Nothing.
    Nothing,
    /// The last step: the provider said that the conversation is too long.
    LastStep,
    /// The later half of the steps: holding one back was not enough.
    Half,
}

/// What to sum up; none where it would not be worth it.
pub(crate) fn cut(messages: &[Message], held_back: HeldBack) -> Option<Cut> {
    let places = places(messages);
    let steps = places.len().checked_sub(1)?;
    let sent = match held_back {
        HeldBack::Nothing => *places.last()?,
        HeldBack::LastStep => *places.get(steps.checked_sub(1)?)?,
        HeldBack::Half => *places.get(steps / 2)?,
    };
    // Recent steps stay as long as they fit. Where some are held back these stay, and room is scarce.
    let mut room = if held_back == HeldBack::Nothing { KEPT } else { 0 };
    let mut summed = sent;
    for pair in places.windows(2).rev() {
        let [from, to] = *pair else { continue };
        if to > sent {
            continue;
        }
        let tokens: u64 = messages.iter().take(to).skip(from).map(estimate).sum();
        let Some(left) = room.checked_sub(tokens) else { break };
        (room, summed) = (left, from);
    }
    // What the person said last and nobody answered yet is not summed up.
    if let Some(unanswered) = unanswered(messages) {
        summed = summed.min(unanswered);
    }
    let replaced: u64 = messages.iter().take(summed).map(estimate).sum();
    (replaced >= LEAST).then_some(Cut { summed, sent })
}

/// The first message of the person's that no model has answered.
fn unanswered(messages: &[Message]) -> Option<usize> {
    let answered =
        messages.iter().rposition(|message| message.role == Role::Assistant).map_or(0, |last| last + 1);
    let said = messages.iter().skip(answered).position(|message| message.meta.origin == Origin::Person)?;
    Some(answered + said)
}

/// The places at which the messages may be taken apart, the beginning and the end included: no result may be parted
/// from its call.
fn places(messages: &[Message]) -> Vec<usize> {
    let answers =
        |message: &Message| message.blocks.iter().any(|block| matches!(block, Block::ToolResult(_)));
    let inner =
        (0..messages.len()).filter(|index| messages.get(*index).is_some_and(|message| !answers(message)));
    inner.chain([messages.len()]).collect()
}

/// What a model summed up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    /// A few phrases, for the archive.
    pub topics: String,
    /// The summary itself.
    pub text: String,
}

/// Why an answer is no summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoSummary {
    /// There is none, or it is empty.
    Missing,
    /// It was cut off.
    Cut,
    /// The model called tools instead.
    Called,
    /// It is as long as what it should replace.
    Long,
}

/// Reads a model's answer. A model that leaves the tags out but writes a text is understood.
pub(crate) fn read(answer: &str, calls: usize) -> Result<Summary, NoSummary> {
    if calls > 0 {
        return Err(NoSummary::Called);
    }
    let topics = between(answer, "<topics>", "</topics>").unwrap_or_default().trim().to_owned();
    let text = match (answer.find("<summary>"), between(answer, "<summary>", "</summary>")) {
        (_, Some(text)) => text,
        (Some(_), None) => return Err(NoSummary::Cut),
        (None, None) => answer.split_once("</topics>").map_or(answer, |(_, rest)| rest),
    };
    let text = text.trim().to_owned();
    if text.is_empty() {
        Err(NoSummary::Missing)
    } else if text.chars().count() > LONGEST_SUMMARY {
        Err(NoSummary::Long)
    } else {
        Ok(Summary { topics, text })
    }
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(begin)?;
    // The last one: a summary may speak of the tags.
    rest.rsplit_once(end).map(|(inner, _)| inner)
}

/// The block that stands for the summed-up messages.
pub(crate) fn block(summary: &Summary, covers: usize, archived: &Archived) -> Block {
    let path = archived.path.display();
    let mut text = format!(
        "Summary of the conversation so far; {covers} earlier messages left your view.\n\n{}\n\nThe messages \
         themselves are written out in {path}: read it with file_reader, or search it with grep, when a detail is \
         missing here.",
        summary.text
    );
    let earlier: Vec<String> =
        archived.earlier.iter().take(LISTED).map(|path| path.display().to_string()).collect();
    if !earlier.is_empty() {
        text.push_str("\nStill earlier ones, newest first: ");
        text.push_str(&earlier.join(", "));
        match archived.earlier.len() - earlier.len() {
            0 => {}
            more => text.push_str(&format!(" and {more} older ones beside them")),
        }
    }
    Block::Summary {
        text,
        covers: u32::try_from(covers).unwrap_or(u32::MAX),
        archive: Some(path.to_string()),
    }
}
