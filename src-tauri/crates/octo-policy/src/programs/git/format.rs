//! Formats of git's output.

/// Returns whether a format starts no program and prints no file: `%(raw)` prints the object of a reference, `%G…` and
/// `%(signature…)` start the verifier, and the repository's settings may define other names than git's as such a
/// format.
pub(super) fn is_harmless(format: &str) -> bool {
    const NAMES: &[&str] = &["oneline", "short", "medium", "full", "fuller", "reference", "email", "raw"];
    if NAMES.contains(&format) {
        return true;
    }
    let text = format.strip_prefix("format:").or_else(|| format.strip_prefix("tformat:")).unwrap_or(format);
    let fields = text.to_ascii_lowercase();
    text.contains('%') && !text.contains("%G") && !fields.contains("signature") && !fields.contains("(raw")
}
