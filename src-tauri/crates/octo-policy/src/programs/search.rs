//! Programs that search files for patterns.

use super::{Operands::*, ProgramRow};

/// Options of `grep`: `-R` follows links out of the folder, `--exclude-from` takes patterns from a file.
const GREP: &str = "-# -abcEFGhHiILlnoPqrsTUvwxyZz -ABCDdem=TEXT -f=FILE --after-context=NUM --basic-regexp \
    --before-context=NUM --binary --binary-files=WORD --byte-offset --color[=WHEN] --colour[=WHEN] --context=NUM --count \
    --devices=WORD --directories=WORD --exclude=TEXT --exclude-dir=TEXT --extended-regexp --file=FILE --files-with-matches \
    --files-without-match --fixed-strings --ignore-case --include=TEXT --initial-tab --invert-match --label=TEXT \
    --line-buffered --line-number --line-regexp --max-count=NUM --no-filename --no-ignore-case --no-messages --null \
    --null-data --only-matching --perl-regexp --quiet --recursive --regexp=TEXT --silent --text --with-filename \
    --word-regexp --version --help !-R !--dereference-recursive !--exclude-from=FILE !--fixed-regexp !-X=TEXT !-u !--unix-byte-offsets";

/// Options of `rg`: `--pre`, `--hostname-bin` and `-z` start programs, `-L` follows links out of the folder, and
/// `--ignore-file` is missing with other rare options.
const RIPGREP: &str = "-acFhHiIlnNoPpqSsUuvwx0. -ABCEegjmMrtTd=TEXT -f=FILE --after-context=NUM --before-context=NUM \
    --binary --case-sensitive --color=WHEN --column --context=NUM --count --count-matches --crlf --encoding=TEXT \
    --engine=WORD --files --files-with-matches --files-without-match --file=FILE --fixed-strings --glob=TEXT \
    --glob-case-insensitive --heading --hidden --iglob=TEXT --ignore-case --include-zero --invert-match --json \
    --line-number --line-regexp --max-columns=NUM --max-columns-preview --max-count=NUM --max-depth=NUM \
    --max-filesize=NUM --multiline --multiline-dotall --no-filename --no-heading --no-ignore --no-ignore-vcs \
    --no-line-number --no-messages --null --one-file-system --only-matching --passthru --path-separator=TEXT --pcre2 \
    --pretty --quiet --regexp=TEXT --replace=TEXT --smart-case --sort=WORD --sortr=WORD --stats --text --threads=NUM \
    --trim --type=WORD --type-list --type-not=WORD --unrestricted --version --vimgrep --with-filename --word-regexp";

pub(crate) const ROWS: &[ProgramRow] = &[
    ("egrep", GREP, PatternThenPaths),
    ("fgrep", GREP, PatternThenPaths),
    ("grep", GREP, PatternThenPaths),
    ("rg", RIPGREP, PatternThenPaths),
];
