//! Session titles, made from the first message.

use octo_protocol::{ApiError, Block};

/// Maximum length of an automatic title, in characters.
const MAX_AUTO_TITLE: usize = 60;
/// Maximum length of a title given by the person, in characters.
const MAX_GIVEN_TITLE: usize = 200;

/// Normalises a title given by the person to one line. Fails if it contains no words.
pub(crate) fn given_title(title: &str) -> Result<String, ApiError> {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() {
        return Err(ApiError::new("session.title_empty"));
    }
    Ok(title.chars().take(MAX_GIVEN_TITLE).collect())
}

/// Makes a title from the first message: its first line with words, cut at a word boundary where possible.
/// `None` if there are no words.
pub(crate) fn title_from(blocks: &[Block]) -> Option<String> {
    let line = blocks.iter().find_map(|block| match block {
        Block::Text { text } => text.lines().map(str::trim).find(|line| !line.is_empty()),
        _ => None,
    })?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let title = words.join(" ");
    if title.chars().count() <= MAX_AUTO_TITLE {
        return Some(title);
    }
    let cut: String = title.chars().take(MAX_AUTO_TITLE - 1).collect();
    let at_word = match cut.rsplit_once(' ') {
        Some((complete, _)) if complete.chars().count() > MAX_AUTO_TITLE / 2 => complete.to_owned(),
        _ => cut,
    };
    Some(format!("{}…", at_word.trim_end_matches([',', '.', ';', ':', ' '])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(text: &str) -> Option<String> {
        title_from(&[Block::Text { text: text.into() }])
    }

    #[test]
    fn titles() {
        assert_eq!(title("\n\n  Fix   the tests \nplease"), Some("Fix the tests".into()));
        assert_eq!(title("   "), None);
        let long = "Resume the uploads after a dropped connection, without sending confirmed parts again";
        assert_eq!(title(long), Some("Resume the uploads after a dropped connection, without…".into()));
        let chinese = "整理".repeat(50);
        assert_eq!(title(&chinese).map(|title| title.chars().count()), Some(60));
    }
}
