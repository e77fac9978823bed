//! Parses a corpus.

/// Returns the decoded commands of a corpus.
pub fn commands(text: &str) -> impl Iterator<Item = String> + '_ {
    text.lines()
        .filter(|line| !line.is_empty() && line.trim_end() != "#" && !line.starts_with("# "))
        .map(decoded)
}

fn decoded(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let (written, length) = if rest.starts_with("\\\\n") {
            ("\\n", 3)
        } else if rest.starts_with("\\n") {
            ("\n", 2)
        } else if rest.starts_with("\\⏎") {
            ("\\\n", 1 + '⏎'.len_utf8())
        } else {
            (rest.get(..c.len_utf8()).unwrap_or_default(), c.len_utf8())
        };
        text.push_str(written);
        rest = rest.get(length..).unwrap_or_default();
    }
    text
}
