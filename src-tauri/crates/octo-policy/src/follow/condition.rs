//! Conditions in `[[ … ]]`.

use super::{Follower, State, Step, stop_at_line};
use crate::{
    judge::union,
    script::{Part, Word},
};

impl Follower<'_> {
    pub(super) fn test(&mut self, words: &[Word], state: &State) -> Step {
        const FILES: &[&str] = &["-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h"];
        const NUMBERS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
        let here = union(&state.success, &state.failure);
        let texts: Vec<Option<String>> = words.iter().map(Word::literal).collect();
        let numeric = texts.iter().flatten().any(|text| NUMBERS.contains(&text.as_str()));
        for (at, word) in words.iter().enumerate() {
            self.inner(word, state)?;
            let number = word.parts.iter().all(|part| matches!(part, Part::Number));
            let text = texts.get(at).cloned().flatten();
            if let Some(text) = &text
                && text.starts_with('-')
                && !FILES.contains(&text.as_str())
                && !NUMBERS.contains(&text.as_str())
                && !matches!(text.as_str(), "-z" | "-n")
            {
                return Err(stop_at_line());
            }
            let digits = |text: &str| NUMBERS.contains(&text) || text.chars().all(|c| c.is_ascii_digit());
            if numeric && !number && !text.as_deref().is_some_and(digits) {
                return Err(stop_at_line());
            }
            let before = at.checked_sub(1).and_then(|at| texts.get(at)).cloned().flatten();
            if before.is_some_and(|before| FILES.contains(&before.as_str())) {
                for word in self.one(word, state)? {
                    self.read(&here, &word.text)?;
                }
            }
        }
        Ok(())
    }
}
