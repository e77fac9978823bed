//! What known models take, as dated data.

/// What a model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Tokens of input and output together.
    pub context_window: u64,
    /// Tokens one answer may have.
    pub max_output: u64,
    /// Whether it takes pictures.
    pub vision: bool,
}

/// What is assumed of a model that is not in the table. Pictures are assumed to be taken: a refusal is
/// visible at once, a picture silently replaced by words is not.
pub const UNKNOWN: Limits = Limits { context_window: 128_000, max_output: 8_192, vision: true };

/// What the named model takes; [`UNKNOWN`] where the table has no row.
///
/// A router's prefix (`anthropic/…`) is left out. A row stands for its name, and for the name with a date or
/// a variant after `-`, `:` or `@`; the longest row wins. So a later generation (`gpt-5.9`) is unknown rather
/// than mistaken for an earlier one.
pub fn limits(model: &str) -> Limits {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let fits = |row: &&Row| {
        name.strip_prefix(row.0).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ':', '@']))
    };
    TABLE.iter().filter(fits).max_by_key(|row| row.0.len()).map_or(UNKNOWN, |row| Limits {
        context_window: row.1,
        max_output: row.2,
        vision: row.3 == Sight::Pictures,
    })
}

/// Name, context window, output, sight.
type Row = (&'static str, u64, u64, Sight);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sight {
    Pictures,
    Blind,
}
use Sight::{Blind, Pictures};

/// As of 2026-11-21, from the model table of LiteLLM 1.109.1 (`model_prices_and_context_window_backup.json`,
/// `max_input_tokens` and `max_output_tokens`). Where that gives the whole window as output, a quarter of it,
/// at most 65,536, stands here: asking for all of it leaves no room for input.
const TABLE: &[Row] = &[
    ("claude-fable-5", 1_000_000, 128_000, Pictures),
    ("claude-fable-5-1", 1_000_000, 128_000, Pictures),
    ("claude-haiku-4-5", 200_000, 64_000, Pictures),
    ("claude-haiku-4.5", 200_000, 64_000, Pictures),
    ("claude-haiku-5-5", 1_000_000, 128_000, Pictures),
    ("claude-mythos-5", 1_000_000, 128_000, Pictures),
    ("claude-mythos-5-1", 1_000_000, 128_000, Pictures),
    ("claude-opus-4-5", 200_000, 64_000, Pictures),
    ("claude-opus-4.5", 200_000, 64_000, Pictures),
    ("claude-opus-4-6", 1_000_000, 128_000, Pictures),
    ("claude-opus-4.6", 1_000_000, 128_000, Pictures),
    ("claude-opus-4-7", 1_000_000, 128_000, Pictures),
    ("claude-opus-4.7", 1_000_000, 128_000, Pictures),
    ("claude-opus-4-8", 1_000_000, 128_000, Pictures),
    ("claude-opus-4.8", 1_000_000, 128_000, Pictures),
    ("claude-opus-5", 1_000_000, 128_000, Pictures),
    ("claude-opus-5-5", 1_000_000, 128_000, Pictures),
    ("claude-sonnet-4-5", 200_000, 64_000, Pictures),
    ("claude-sonnet-4.5", 200_000, 64_000, Pictures),
    ("claude-sonnet-4-6", 1_000_000, 128_000, Pictures),
    ("claude-sonnet-4.6", 1_000_000, 128_000, Pictures),
    ("claude-sonnet-5", 1_000_000, 128_000, Pictures),
    ("claude-sonnet-5-5", 1_000_000, 128_000, Pictures),
    ("codestral-latest", 128_000, 32_000, Blind),
    ("deepseek-chat", 131_072, 8_192, Blind),
    ("deepseek-reasoner", 131_072, 65_536, Blind),
    ("deepseek-v3.2", 163_840, 40_960, Blind),
    ("deepseek-v4-flash", 1_000_000, 393_216, Pictures),
    ("deepseek-v4-pro", 1_000_000, 393_216, Blind),
    ("devstral-latest", 256_000, 64_000, Blind),
    ("gemini-2.5-flash", 1_048_576, 65_536, Pictures),
    ("gemini-2.5-pro", 1_048_576, 65_536, Pictures),
    ("gemini-3.5-flash", 1_048_576, 65_536, Pictures),
    ("gemini-3.8-flash", 1_048_576, 65_536, Pictures),
    ("glm-4.6", 200_000, 128_000, Blind),
    ("glm-4.7", 200_000, 128_000, Blind),
    ("glm-5", 200_000, 128_000, Blind),
    ("glm-5.1", 200_000, 128_000, Blind),
    ("glm-5.2", 1_000_000, 128_000, Blind),
    ("glm-5.3", 1_000_000, 128_000, Blind),
    ("glm-5.3-flash", 1_048_576, 128_000, Pictures),
    ("glm-5v-turbo", 200_000, 128_000, Pictures),
    ("gpt-4.1", 1_047_576, 32_768, Pictures),
    ("gpt-4o", 128_000, 16_384, Pictures),
    ("gpt-5", 272_000, 128_000, Pictures),
    ("gpt-5-chat", 128_000, 16_384, Pictures),
    ("gpt-5.1", 272_000, 128_000, Pictures),
    ("gpt-5.2", 272_000, 128_000, Pictures),
    ("gpt-5.4", 1_050_000, 128_000, Pictures),
    ("gpt-5.4-mini", 272_000, 128_000, Pictures),
    ("gpt-5.4-nano", 272_000, 128_000, Pictures),
    ("gpt-5.5", 1_050_000, 128_000, Pictures),
    ("gpt-5.6", 922_000, 128_000, Pictures),
    ("grok-4.20", 1_000_000, 65_536, Pictures),
    ("grok-4.5", 500_000, 65_536, Pictures),
    ("grok-4.7", 500_000, 65_536, Pictures),
    ("kimi-k2.5", 262_144, 65_536, Pictures),
    ("kimi-k2.6", 262_144, 65_536, Pictures),
    ("kimi-k2.7-code", 262_144, 65_536, Pictures),
    ("kimi-k3", 1_048_576, 65_536, Pictures),
    ("kimi-k3.1-pro", 1_048_576, 65_536, Pictures),
    ("minimax-m2", 200_000, 8_192, Blind),
    ("minimax-m2.5", 1_000_000, 8_192, Blind),
    ("minimax-m3", 1_000_000, 128_000, Pictures),
    ("mistral-large-latest", 262_144, 65_536, Pictures),
    ("mistral-medium-latest", 262_144, 65_536, Pictures),
    ("mistral-small-latest", 262_144, 65_536, Pictures),
    ("o3", 200_000, 100_000, Pictures),
    ("o3-mini", 200_000, 100_000, Blind),
    ("o4-mini", 200_000, 100_000, Pictures),
    ("qwen3-coder-plus", 997_952, 65_536, Blind),
    ("qwen3-max", 258_048, 65_536, Blind),
    ("qwen3-vl-plus", 260_096, 32_768, Pictures),
    ("qwen3.5-plus", 991_808, 65_536, Pictures),
    ("qwen3.7-max", 991_808, 65_536, Blind),
    ("qwen3.7-plus", 991_808, 65_536, Pictures),
    ("qwen3.8-flash", 991_808, 131_072, Pictures),
    ("qwen3.8-max", 991_808, 131_072, Pictures),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_found_whole_with_a_date_and_behind_a_router() {
        for (name, window, vision) in [
            ("claude-sonnet-4-5", 200_000, true),
            ("claude-sonnet-4-5-20250929", 200_000, true),
            ("claude-sonnet-4-6", 1_000_000, true),
            ("anthropic/claude-sonnet-4.6", 1_000_000, true),
            ("GPT-5.4-mini-2026-03-17", 272_000, true),
            ("gpt-5.4", 1_050_000, true),
            ("gpt-5-2025-08-07", 272_000, true),
            ("MiniMax-M2.5", 1_000_000, false),
            ("deepseek/deepseek-v4-pro", 1_000_000, false),
            ("o3-mini", 200_000, false),
            ("deepseek-v4-pro:free", 1_000_000, false),
        ] {
            let found = limits(name);
            assert_eq!((found.context_window, found.vision), (window, vision), "{name}");
        }
    }

    #[test]
    fn what_only_looks_alike_is_unknown() {
        for name in
            ["", "claude", "my-claude-sonnet-4-5", "gpt-5.9", "gpt-55", "o30", "llama3.3:70b", "deepseek-v40"]
        {
            assert_eq!(limits(name), UNKNOWN, "{name:?}");
        }
    }

    #[test]
    fn rows_are_sane_and_distinct() {
        let mut names = HashSet::new();
        for (name, window, output, _) in TABLE {
            assert!(names.insert(name), "{name} twice");
            assert_eq!(*name, name.to_ascii_lowercase());
            assert!(*output >= 4096 && output < window, "{name}");
        }
    }
}
