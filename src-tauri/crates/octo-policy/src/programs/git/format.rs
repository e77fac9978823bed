//! Formats of git's output.

/// Whether a format starts nothing and prints no file: `%(raw)` prints what a reference leads to, `%G…` and `%(signature…)` start the verifier, and a name that is not git's own
/// may stand for such a format in the repository's settings.
pub(super) fn is_harmless(format: &str) -> bool {
    const NAMES: &[&str] = &["oneline", "short", "medium", "full", "fuller", "reference", "email", "raw"];
    if NAMES.contains(&format) {
        return true;
    }
    let text = format.strip_prefix("format:").or_else(|| format.strip_prefix("tformat:")).unwrap_or(format);
    let fields = text.to_ascii_lowercase();
    text.contains('%') && !text.contains("%G") && !fields.contains("signature") && !fields.contains("(raw")
}
