//! Names of skills: typed after a slash and used as folder names.

/// Maximum characters of a name, as in the public format.
pub const MAX_NAME: usize = 64;

/// Returns whether the name is valid in Octo: lower-case letters, digits, `-` and `_`, a letter or digit first.
/// The public format is stricter, see [`is_public_name`].
pub fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_'))
        && name.len() <= MAX_NAME
}

/// Returns whether the name is valid in the public format: lower-case letters, digits and single hyphens
/// between them.
pub fn is_public_name(name: &str) -> bool {
    is_name(name)
        && !name.contains('_')
        && !name.contains("--")
        && !name.ends_with('-')
        && !is_reserved_by_windows(name)
}

/// Returns whether Windows forbids the name for a folder; a skill's folder is copied between systems.
fn is_reserved_by_windows(name: &str) -> bool {
    let numbered = |device: &str| {
        name.strip_prefix(device)
            .is_some_and(|digit| digit.len() == 1 && digit.chars().all(|c| matches!(c, '1'..='9')))
    };
    matches!(name, "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}

/// Derives a public-format name from any text. The same text yields the same name; text without a usable letter
/// is named by its hash.
pub fn public_name(text: &str) -> String {
    let mut name = String::new();
    for c in text.trim().chars() {
        let c = c.to_ascii_lowercase();
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        if name.len() == MAX_NAME {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() || is_reserved_by_windows(name) {
        let hash = blake3::hash(text.as_bytes()).to_hex();
        return format!("skill-{}", hash.chars().take(8).collect::<String>());
    }
    name.to_owned()
}
