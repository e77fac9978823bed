//! The notation of grammars: options separated by blanks, as a program's help shows them.
//!
//! | Written | Meaning |
//! |---|---|
//! | `-abc` | three options without a value |
//! | `-n=NUM`, `--lines=NUM` | a value, attached or as the next word |
//! | `-kt=TEXT` | two such options |
//! | `-U[N]`, `--color[=WHEN]` | a value that is attached or absent |
//! | `-f=FILE` | a value that is the path of a file to read; any other name is text |
//! | `-#` | a number |
//! | `!-o=FILE` | an option that makes the command ask |

use super::{Attachment, Clusters, LongSpelling, OptionGrammar, OptionRule, Standing, ValueKind};

impl OptionGrammar {
    /// Parses the notation. Skips a token that is no option, so that a command with it asks; a test finds such tokens.
    pub(crate) fn new(spec: &'static str) -> Self {
        let mut grammar = Self::default();
        for token in spec.split_whitespace() {
            grammar.add(token);
        }
        grammar
    }

    pub(crate) fn spelled(self, spelling: LongSpelling) -> Self {
        Self { spelling, ..self }
    }

    pub(crate) fn clustered(self, clusters: Clusters) -> Self {
        Self { clusters, ..self }
    }

    /// Adds an option. Returns `None` if the token is not an option.
    pub(super) fn add(&mut self, token: &'static str) -> Option<()> {
        let (standing, token) = match token.strip_prefix('!') {
            Some(rest) => (Standing::Refused, rest),
            None => (Standing::Allowed, token),
        };
        let (names, attachment, value) = match (token.split_once('['), token.split_once('=')) {
            (Some((names, value)), _) => {
                (names, Attachment::Optional, value.strip_suffix(']')?.trim_start_matches('='))
            }
            (None, Some((names, value))) => (names, Attachment::Required, value),
            (None, None) => (token, Attachment::None, ""),
        };
        let value = if value == "FILE" { ValueKind::File } else { ValueKind::Text };
        let rule = OptionRule { attachment, value, standing };
        if let Some(name) = names.strip_prefix("--") {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            (!name.is_empty() && name.chars().all(plain)).then(|| self.long.push((name, rule)))
        } else {
            let letters = names.strip_prefix('-').filter(|letters| !letters.is_empty())?;
            if letters == "#" {
                self.numbers = true;
            } else {
                self.short.extend(letters.chars().map(|letter| (letter, rule)));
            }
            Some(())
        }
    }
}
