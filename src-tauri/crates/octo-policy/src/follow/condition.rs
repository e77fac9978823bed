//! Follows conditions in `[[ … ]]`.

use super::{Follower, State, Step, whole_line_stop};
use crate::{
    judge::union,
    script::{Part, Word},
};

impl Follower<'_> {
    pub(super) fn test(&mut self, words: &[Word], state: &State) -> Step {
        const FILE_TESTS: &[&str] = &["-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h"];
        const NUMBER_TESTS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
        let directories = union(&state.after_success, &state.after_failure);
        let texts: Vec<Option<String>> = words.iter().map(Word::literal).collect();
        let numeric = texts.iter().flatten().any(|text| NUMBER_TESTS.contains(&text.as_str()));
        for (at, word) in words.iter().enumerate() {
            self.substitutions(word, state)?;
            let is_number_part = word.parts.iter().all(|part| matches!(part, Part::Number));
            let text = texts.get(at).cloned().flatten();
            if let Some(text) = &text
                && text.starts_with('-')
                && !FILE_TESTS.contains(&text.as_str())
                && !NUMBER_TESTS.contains(&text.as_str())
                && !matches!(text.as_str(), "-z" | "-n")
            {
                return Err(whole_line_stop());
            }
            let is_number =
                |text: &str| NUMBER_TESTS.contains(&text) || text.chars().all(|c| c.is_ascii_digit());
            if numeric && !is_number_part && !text.as_deref().is_some_and(is_number) {
                return Err(whole_line_stop());
            }
            let before = at.checked_sub(1).and_then(|at| texts.get(at)).cloned().flatten();
            if before.is_some_and(|before| FILE_TESTS.contains(&before.as_str())) {
                for word in self.single_words(word, state)? {
                    self.read(&directories, &word.text)?;
                }
            }
        }
        Ok(())
    }
}
