//! Guessing the person's next message: what is asked, and what of the answer is shown. Pure.

use octo_protocol::{Block, Message, Origin, Todo, TodoStatus};

/// What the guessing model is told it is. No tools, no rules: the smallest prompt that works.
pub(crate) const SYSTEM: &str = "You guess what a person will type next in a conversation with an assistant.";
/// The most tokens a guess may have, with what a model that reasons by itself spends on it.
pub(crate) const LONGEST_ANSWER: u64 = 400;
/// Messages that are looked at.
const MESSAGES: usize = 8;
/// Characters of a message that are looked at.
const CUT: usize = 400;
/// Open items of the plan that are looked at.
const TODOS: usize = 6;
/// The longest guess that is shown, in characters: more is no short line.
const LONGEST: usize = 80;

/// The question. None where nothing was said that could be followed.
pub(crate) fn question(context: &[Message], todos: &[Todo]) -> Option<String> {
    let said = context.iter().filter_map(|message| {
        let who = match message.meta.origin {
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
        (!words.is_empty()).then(|| format!("{who}: {}", words.chars().take(CUT).collect::<String>()))
    });
    let said: Vec<String> = said.collect();
    let recent = said.get(said.len().saturating_sub(MESSAGES)..)?;
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

/// The guess in an answer; none where the model had none.
pub(crate) fn read(answer: &str) -> Option<String> {
    let line = answer.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.strip_prefix("Person:").unwrap_or(line).trim();
    let quotes = ['"', '\'', '`', '“', '”', '‘', '’', '「', '」'];
    let line = line.trim_matches(quotes).trim();
    let none = line.trim_end_matches('.').eq_ignore_ascii_case("none");
    let shown =
        !line.is_empty() && !none && line.chars().count() <= LONGEST && !line.chars().any(char::is_control);
    shown.then(|| line.to_owned())
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
            assert_eq!(read(answer).as_deref(), expected, "{answer:?}");
        }
        assert_eq!(read(&"long ".repeat(20)), None);
    }
}
