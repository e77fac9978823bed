//! A session as Markdown.

use crate::{ExportWords, ExportedSession, format_time, pieces::ExportPiece};
use octo_protocol::ExportKind;

/// Returns the session as one text.
pub(crate) fn to_markdown(
    title: &str,
    session: &ExportedSession,
    pieces: &[ExportPiece],
    words: &ExportWords,
) -> String {
    let title = if title.is_empty() { words.say("session.untitled") } else { title.to_owned() };
    let mut text = format!("# {}\n\n", line(&title));
    for (name, value) in session.session_details(words) {
        text.push_str(&format!("- {name}: {}\n", line(&value)));
    }
    for piece in pieces {
        let mut heading = format!("{} · {}", piece.heading, format_time(piece.at));
        if piece.undone {
            heading.push_str(&format!(" · {}", words.say("export.undone")));
        }
        text.push_str(&format!("\n## {}\n\n", line(&heading)));
        text.push_str(&body(piece));
        for (_, name) in &piece.pictures {
            text.push_str(&format!("- {}: {}\n", words.say("export.picture"), line(name)));
        }
    }
    text
}

fn body(piece: &ExportPiece) -> String {
    if piece.text.is_empty() {
        return String::new();
    }
    match piece.kind {
        // Texts of people and models are already Markdown; their headings must not look like ours.
        ExportKind::Asked | ExportKind::Answers | ExportKind::Summaries | ExportKind::Reasoning => {
            format!("{}\n", quote(&piece.text))
        }
        ExportKind::Calls | ExportKind::Notices | ExportKind::Files | ExportKind::Pictures => {
            fence(&piece.text)
        }
    }
}

/// Joins a text into one line.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Quotes a text, so that nothing in it is at the beginning of a line.
fn quote(text: &str) -> String {
    text.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// Wraps a text in a fence longer than any within it.
fn fence(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_stays_inside_its_quote() {
        assert_eq!(fence("a\n```\n# b\n"), "````\na\n```\n# b\n````\n");
        assert_eq!(fence("plain"), "```\nplain\n```\n");
        assert_eq!(quote("# a\n\nb"), "> # a\n>\n> b");
    }
}
