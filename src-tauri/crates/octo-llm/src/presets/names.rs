//! Matches names of models, as vendors and routers write them.

/// Region prefixes of Bedrock's cross-region names.
const BEDROCK_REGIONS: &[&str] = &["us", "us-gov", "eu", "apac", "global", "au", "jp", "ca"];
/// Vendor prefixes of Bedrock names.
const BEDROCK_VENDORS: &[&str] = &[
    "ai21",
    "amazon",
    "anthropic",
    "cohere",
    "deepseek",
    "google",
    "meta",
    "minimax",
    "mistral",
    "moonshot",
    "moonshotai",
    "nvidia",
    "openai",
    "qwen",
    "writer",
    "zai",
];

/// Returns the row that applies to a model: among all that match, the one with the longest name.
pub(super) fn best_match<'a, T, I: Iterator<Item = &'a String>>(
    rows: &'a [T],
    model: &str,
    names: impl Fn(&'a T) -> I,
) -> Option<&'a T> {
    let (full, base) = (model.trim().to_ascii_lowercase(), bare_name(model));
    let fits = rows.iter().filter_map(|row| {
        let fits = |name: &&String| matches_model(name, &base) || matches_model(name, &full);
        let longest = names(row).filter(fits).map(String::len).max()?;
        Some((longest, row))
    });
    fits.max_by_key(|(length, _)| *length).map(|(_, row)| row)
}

/// Returns a model's name in lower case, without the prefix of a router or Bedrock.
fn bare_name(model: &str) -> String {
    let name = model.trim().to_ascii_lowercase();
    let mut name = name.rsplit('/').next().unwrap_or_default();
    for before in [BEDROCK_REGIONS, BEDROCK_VENDORS] {
        name = match name.split_once('.') {
            Some((first, last_part)) if before.contains(&first) => last_part,
            Some(_) | None => name,
        };
    }
    name.to_owned()
}

/// Returns whether a row's name matches a model: the name alone, or with a date or a variant after `-`, `:` or
/// `@`. A short number after it is another generation (`claude-opus-5-9`), which is unknown.
fn matches_model(row: &str, model: &str) -> bool {
    let Some(suffix) = model.strip_prefix(row) else { return false };
    let Some(suffix) = suffix.strip_prefix('-') else {
        return suffix.is_empty() || suffix.starts_with([':', '@']);
    };
    let suffix_part = suffix.split(['-', '.', ':', '@']).next().unwrap_or_default();
    !(suffix_part.len() <= 2 && suffix_part.chars().all(|character| character.is_ascii_digit()))
}

/// Returns whether a model has the price of a row with this name: it is that model, or a dated edition of it. A
/// variant (`-pro`, `:free`, `-fast`) is another model with another price.
pub(super) fn is_priced_as(model: &str, row: &str) -> bool {
    let full = model.trim().to_ascii_lowercase();
    let after_router = full.rsplit('/').next().unwrap_or_default();
    [full.as_str(), after_router]
        .iter()
        .any(|name| name.strip_prefix(row).is_some_and(|suffix| suffix.is_empty() || is_date(suffix)))
}

/// Returns whether the text is like `-20250929`, `@20250929` or `-2026-03-17`.
fn is_date(text: &str) -> bool {
    let Some(text) = text.strip_prefix(['-', '@']) else { return false };
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    parts.iter().all(|part| part.chars().all(|character| character.is_ascii_digit()))
        && matches!(lengths.as_slice(), [8] | [4, 2, 2])
}
