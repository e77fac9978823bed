//! Guessing the person's next message: the request, and the part of the answer that is shown. Pure.

use octo_protocol::{Block, Message, Origin, Todo, TodoStatus};

/// The system prompt of the guessing model. No tools, no rules: the smallest prompt that works.
pub(crate) const SYSTEM: &str = "You guess what a person will type next in a conversation with an assistant.";
/// Maximum tokens of a guess, including the reasoning of models that reason by default.
pub(crate) const LONGEST_ANSWER: u64 = 400;
/// Number of messages considered.
const MESSAGES: usize = 8;
/// Number of characters considered per message.
const MESSAGE_CHARS: usize = 400;
/// Number of open plan items considered.
const TODOS: usize = 6;
/// Maximum length of a guess that is shown, in characters: a longer one is not a short line.
const MAX_GUESS: usize = 80;

/// Builds the question, or returns `None` if no message could be followed.
pub(crate) fn question(context: &[Message], todos: &[Todo]) -> Option<String> {
    let texts = context.iter().filter_map(|message| {
        let speaker = match message.meta.origin {
            Origin::Person => "Person",
            Origin::Model => "Assistant",
            Origin::Octo => return None,
        };
        let words: Vec<&str> = message
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text { text } => Some(text.trim()),
                _ => None,
            })
            .filter(|text| !text.is_empty())
            .collect();
        let words = words.join("\n");
        (!words.is_empty())
            .then(|| format!("{speaker}: {}", words.chars().take(MESSAGE_CHARS).collect::<String>()))
    });
    let texts: Vec<String> = texts.collect();
    let recent = texts.get(texts.len().saturating_sub(MESSAGES)..)?;
    if recent.is_empty() {
        return None;
    }
    let open: Vec<String> = todos
        .iter()
        .filter(|todo| todo.status != TodoStatus::Completed)
        .take(TODOS)
        .map(|todo| format!("- {}", todo.task))
        .collect();
    let plan =
        if open.is_empty() { String::new() } else { format!("\n\nOpen in the plan:\n{}", open.join("\n")) };
    Some(format!(
        "{}{plan}\n\nWhat will the person type next? Answer with that message alone: one short line in the person's \
         language, at most 12 words, in their voice. If it is not clear, answer NONE.",
        recent.join("\n\n")
    ))
}

/// Extracts the guess from an answer, or returns `None` if the model had none.
pub(crate) fn parse_guess(answer: &str) -> Option<String> {
    let line = answer.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.strip_prefix("Person:").unwrap_or(line).trim();
    let quotes = ['"', '\'', '`', '“', '”', '‘', '’', '「', '」'];
    let line = line.trim_matches(quotes).trim();
    let is_none = line.trim_end_matches('.').eq_ignore_ascii_case("none");
    let is_shown = !line.is_empty()
        && !is_none
        && line.chars().count() <= MAX_GUESS
        && !line.chars().any(char::is_control);
    is_shown.then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_short_line_is_shown() {
        for (answer, expected) in [
            ("Run the tests", Some("Run the tests")),
            ("\n  \"Run the tests.\"\nBecause", Some("Run the tests.")),
            ("Person: “现在运行测试”", Some("现在运行测试")),
            ("NONE", None),
            ("none.", None),
            ("  ", None),
            ("a\u{1b}[31mb", None),
        ] {
            assert_eq!(parse_guess(answer).as_deref(), expected, "{answer:?}");
        }
        assert_eq!(parse_guess(&"long ".repeat(20)), None);
    }
}
