//! The small project built by the script: a word counter that needs only bash and coreutils.

/// The program's file.
pub(super) const PROGRAM: &str = "tally.sh";

/// The text it is tried on.
pub(super) const SAMPLE: &str = "animals.txt";

/// The command that runs it.
pub(super) const COMMAND: &str = "bash tally.sh animals.txt";

const PROGRAM_HEAD: &str = "#!/usr/bin/env bash
# Counts how often each word occurs in a file.
set -euo pipefail
export LC_ALL=C

";

/// The initial line that counts.
pub(super) const ALL_WORDS: &str = r#"tr -s '[:space:]' '\n' < "$1" | sort | uniq -c | sort -rn"#;

/// The same, showing only the most frequent words.
pub(super) const TOP_WORDS: &str =
    r#"tr -s '[:space:]' '\n' < "$1" | sort | uniq -c | sort -rn | head -n "${2:-3}""#;

/// The same, sorted by name.
pub(super) const BY_NAME: &str = r#"tr -s '[:space:]' '\n' < "$1" | sort | uniq -c"#;

/// A second line that adds the total.
pub(super) const TOTAL: &str = r#"printf '%7d in all\n' "$(tr -s '[:space:]' '\n' < "$1" | wc -l)""#;

/// Returns the program with these lines.
pub(super) fn program(lines: &[&str]) -> String {
    let mut text = PROGRAM_HEAD.to_owned();
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}
