//! The commands known to only read, with the options they may have.
//!
//! A row is an allow-list: an option that is not in it, an abbreviation of one (`--out` for `--output`) or an
//! operand where none may be makes the command ask. What each left-out option does is said where it is not
//! plain. Git has a table of its own in [`crate::git`].

/// A command known to only read.
pub(crate) struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Letters of options without a value; `#` matches a number (`-20`).
    pub flags: &'static str,
    /// Letters of options with a value that is no path.
    pub values: &'static str,
    /// Letters of options whose value, if they have one, is attached (`-w16`): the next word is never theirs.
    pub attached: &'static str,
    /// Letters of options with a value that is the path of a file it reads.
    pub files: &'static str,
    /// Long options: `name` has no value, `name=` has one, `name?` may have one after `=` and none as the next word,
    /// `name@` has one that is the path of a file it reads.
    pub long: &'static [&'static str],
    /// What its operands are.
    pub operands: Operands,
}

/// The meaning of a command's operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operands {
    /// Paths it reads.
    Paths,
    /// At most so many paths it reads; the next one would be written. None of them a pattern, and no option
    /// after them, because not every system would read it as one.
    AtMost(usize),
    /// A pattern, unless an option brought it, then paths it reads.
    PatternThenPaths,
    /// Text.
    Text,
    /// A format without conversions that assign, then text.
    Format,
    /// Only `+FORMAT`: anything else sets the clock.
    DateFormat,
    /// None.
    None,
    /// Paths it reads, then an expression; see [`crate::find`].
    Find,
    /// The path of the folder to go to.
    Folder,
    /// Exactly one of these words and nothing else: a question for the version.
    Only(&'static [&'static str]),
    /// See [`crate::git`].
    Git,
    /// See [`crate::filters`]: a program in a small language, then paths.
    Program,
    /// See [`crate::filters::test`].
    Test,
}

use Operands::*;

const fn tool(
    name: &'static str,
    flags: &'static str,
    long: &'static [&'static str],
    operands: Operands,
) -> Tool {
    Tool { name, flags, values: "", attached: "", files: "", long, operands }
}

impl Tool {
    const fn values(self, values: &'static str) -> Self {
        Self { values, ..self }
    }

    pub(crate) const fn attached(self, attached: &'static str) -> Self {
        Self { attached, ..self }
    }

    const fn files(self, files: &'static str) -> Self {
        Self { files, ..self }
    }
}

const VERSION_LONG: &[&str] = &["--version"];

/// The table.
#[rustfmt::skip]
pub(crate) const TOOLS: &[Tool] = &[
    tool("b2sum", "bt", &["binary", "text", "tag"], Paths),
    tool("base64", "di", &["decode", "ignore-garbage", "wrap="], Paths).values("w"),
    tool("basename", "az", &["multiple", "zero", "suffix="], Text).values("s"),
    tool(
        "cat",
        "AbeEnstTuv",
        &["number", "number-nonblank", "show-all", "show-ends", "show-nonprinting", "show-tabs", "squeeze-blank"],
        Paths,
    ),
    // `-P` and `-L` change what `..` means for the commands after it.
    tool("cd", "", &[], Folder),
    tool("cmp", "bls", &["print-bytes", "silent", "quiet", "verbose", "bytes=", "ignore-initial="], Paths).values("in"),
    tool("cksum", "", &[], Paths),
    tool("column", "tenxRJ", &["table", "separator=", "output-separator=", "columns=", "fillrows"], Paths).values("sco"),
    tool("comm", "123z", &["nocheck-order", "total", "zero-terminated"], Paths),
    tool(
        "cut",
        "nsz",
        &["bytes=", "characters=", "fields=", "delimiter=", "complement", "only-delimited", "output-delimiter="],
        Paths,
    )
    .values("bcdf"),
    // `-s` and `--set` set the clock.
    tool("date", "uIR", &["utc", "universal", "rfc-email", "iso-8601?", "rfc-3339=", "date=", "reference@"], DateFormat)
        .values("d")
        .files("r"),
    tool(
        "df",
        "ahHiklmPT",
        &["all", "human-readable", "si", "inodes", "local", "portability", "print-type", "total", "output?", "type="],
        Paths,
    )
    .values("txB"),
    // `-l` starts `pr`; `--to-file` and `--from-file` name files.
    tool(
        "diff",
        "#abBcdeEiNnpqrstTuwyZ",
        &[
            "brief", "color?", "ignore-all-space", "ignore-blank-lines", "ignore-case", "ignore-space-change",
            "ignore-trailing-space", "minimal", "new-file", "no-dereference", "normal", "recursive",
            "report-identical-files", "show-c-function", "side-by-side", "strip-trailing-cr", "suppress-common-lines",
            "text", "unified?", "context?", "width=", "exclude=", "label=",
        ],
        Paths,
    )
    .values("CUWxL"),
    tool("dirname", "z", &["zero"], Text),
    // `-L` and `-D` follow links out of the folder; `-X` and `--files0-from` take names from a file.
    tool(
        "du",
        "0abchHklmsSx",
        &[
            "all", "apparent-size", "bytes", "human-readable", "max-depth=", "one-file-system", "separate-dirs", "si",
            "summarize", "threshold=", "time?", "total", "exclude=", "block-size=", "inodes", "null",
        ],
        Paths,
    )
    .values("dtB"),
    tool("echo", "", &[], Text),
    tool("egrep", GREP.flags, GREP.long, PatternThenPaths).values(GREP.values).files(GREP.files),
    tool("expand", "i", &["initial", "tabs="], Paths).values("t"),
    tool("false", "", &[], Text),
    tool("fgrep", GREP.flags, GREP.long, PatternThenPaths).values(GREP.values).files(GREP.files),
    // `-C` compiles, `-m` and `-f` take files, `-z` may start a decompressor.
    tool(
        "file",
        "bhikLN0",
        &["brief", "mime", "mime-type", "mime-encoding", "dereference", "no-dereference", "keep-going", "extension"],
        Paths,
    ),
    tool("find", "", &[], Find),
    tool("fold", "bs", &["bytes", "spaces", "width="], Paths).values("w"),
    tool("free", "bkmghtw", &["human", "mega", "giga", "total", "wide"], None),
    tool("git", "", &[], Git),
    GREP,
    tool("groups", "", &[], None),
    tool("head", "#qvz", &["quiet", "silent", "verbose", "zero-terminated", "lines=", "bytes="], Paths).values("nc"),
    // An operand would set the name.
    tool("hostname", "fsidI", &["fqdn", "short"], None),
    tool("id", "agGnruzZ", &["user", "group", "groups", "name", "real", "zero"], Text),
    tool(
        "ls",
        "1aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ",
        &[
            "all", "almost-all", "author", "block-size=", "classify?", "color?", "context", "dereference", "directory",
            "escape", "file-type", "format=", "full-time", "group-directories-first", "hide=", "human-readable",
            "ignore=", "ignore-backups", "indicator-style=", "inode", "kibibytes", "literal", "no-group",
            "numeric-uid-gid", "quote-name", "quoting-style=", "recursive", "reverse", "si", "size", "sort=", "time=",
            "time-style=", "width=", "zero",
        ],
        Paths,
    )
    .values("ITw"),
    tool("md5sum", "bt", &["binary", "text", "tag"], Paths),
    tool("nl", "p", &["body-numbering=", "number-format=", "number-separator=", "number-width="], Paths).values("bfhisvnwd"),
    tool("nproc", "", &["all", "ignore="], None),
    tool("od", "bcdfilosxv", &["address-radix=", "format=", "skip-bytes=", "read-bytes=", "output-duplicates", "width?"], Paths)
        .values("AjNt")
        .attached("w"),
    tool("paste", "sz", &["delimiters=", "serial"], Paths).values("d"),
    // `-v` assigns a variable, and so does `%n`.
    tool("printf", "", &[], Format),
    tool("pwd", "LP", &["logical", "physical"], None),
    tool("readlink", "efmnz", &["canonicalize", "canonicalize-existing", "canonicalize-missing", "no-newline"], Paths),
    tool(
        "realpath",
        "eLmPqsz",
        &["canonicalize-existing", "canonicalize-missing", "no-symlinks", "strip", "relative-to=", "relative-base="],
        Paths,
    ),
    // `--pre`, `--hostname-bin` and `-z` start programs, `-L` follows links out of the folder, `--ignore-file`
    // is left out with other rare options.
    tool("rev", "0", &["zero"], Paths),
    tool(
        "rg",
        "acFhHiIlnNoPpqSsUuvwx0.",
        &[
            "after-context=", "before-context=", "binary", "case-sensitive", "color=", "column", "context=", "count",
            "count-matches", "crlf", "encoding=", "engine=", "files", "files-with-matches", "files-without-match",
            "file@", "fixed-strings", "glob=", "glob-case-insensitive", "heading", "hidden", "iglob=", "ignore-case",
            "include-zero", "invert-match", "json", "line-number", "line-regexp", "max-columns=",
            "max-columns-preview", "max-count=", "max-depth=", "max-filesize=", "multiline", "multiline-dotall",
            "no-filename", "no-heading", "no-ignore", "no-ignore-vcs", "no-line-number", "no-messages", "null",
            "one-file-system", "only-matching", "passthru", "path-separator=", "pcre2", "pretty", "quiet", "regexp=",
            "replace=", "smart-case", "sort=", "sortr=", "stats", "text", "threads=", "trim", "type=", "type-list",
            "type-not=", "unrestricted", "version", "vimgrep", "with-filename", "word-regexp",
        ],
        PatternThenPaths,
    )
    .values("ABCEegjmMrtT")
    .files("f"),
    tool("seq", "w", &["equal-width", "format=", "separator="], Text).values("fs"),
    tool("sha1sum", "bt", &["binary", "text", "tag"], Paths),
    tool("sha224sum", "bt", &["binary", "text", "tag"], Paths),
    tool("sha256sum", "bt", &["binary", "text", "tag"], Paths),
    tool("sha384sum", "bt", &["binary", "text", "tag"], Paths),
    tool("sha512sum", "bt", &["binary", "text", "tag"], Paths),
    // `-o` writes, `--compress-program` starts a program, `-T` says where to write, `--files0-from` takes names
    // from a file.
    tool(
        "sort",
        "bcCdfghiMmnrRsuVz",
        &[
            "check?", "dictionary-order", "field-separator=", "general-numeric-sort", "human-numeric-sort",
            "ignore-case", "ignore-leading-blanks", "ignore-nonprinting", "key=", "merge", "month-sort",
            "numeric-sort", "random-sort", "reverse", "sort=", "stable", "unique", "version-sort", "zero-terminated",
        ],
        Paths,
    )
    .values("kt"),
    tool("stat", "fLt", &["dereference", "file-system", "terse", "format=", "printf="], Paths).values("c"),
    tool("tac", "br", &["before", "regex", "separator="], Paths).values("s"),
    tool("strings", "afow", &["all", "bytes=", "radix=", "print-file-name"], Paths).values("ntes"),
    // Following a file never ends, so it is left to the person.
    tool("tail", "#qvz", &["quiet", "silent", "verbose", "zero-terminated", "lines=", "bytes="], Paths).values("nc"),
    tool("tr", "cCdst", &["complement", "delete", "squeeze-repeats", "truncate-set1"], Text),
    // `-o` writes, and so does `-R` together with `-H`; `-l` follows links out of the folder.
    tool(
        "tree",
        "aACdDfFghinNpqQrsStuUvx",
        &["dirsfirst", "du", "filesfirst", "gitignore", "inodes", "noreport", "prune", "si", "filelimit=", "sort=", "charset="],
        Paths,
    )
    .values("ILP"),
    tool("true", "", &[], Text),
    tool("type", "aftpP", &[], Text),
    tool("uname", "aimnoprsv", &["all", "machine", "nodename", "operating-system", "kernel-name", "kernel-release"], None),
    // The second operand is written.
    tool(
        "uniq",
        "cdDiuz",
        &["count", "repeated", "all-repeated?", "group?", "ignore-case", "unique", "zero-terminated", "skip-fields=", "skip-chars=", "check-chars="],
        AtMost(1),
    )
    .values("fsw"),
    tool("unexpand", "a", &["all", "first-only", "tabs="], Paths).values("t"),
    tool("uptime", "ps", &["pretty", "since"], None),
    tool("wc", "clLmw", &["bytes", "chars", "lines", "max-line-length", "words", "total="], Paths),
    tool("which", "a", &["all"], Text),
    tool("whoami", "", &[], None),
    // The second operand is written.
    tool("xxd", "abeEipu", &[], AtMost(1)).values("cglso"),
    // `-f` takes a program from a file. Their languages can start programs and write: only the part that cannot.
    tool("awk", "", &[], Program).values("Fv"),
    tool("gawk", "", &[], Program).values("Fv"),
    tool("mawk", "", &[], Program).values("Fv"),
    tool("jq", "acCeMnrRsSj", &["arg=", "compact-output", "exit-status", "join-output", "monochrome-output", "null-input", "raw-input", "raw-output", "slurp", "sort-keys", "tab", "indent="], Program),
    tool("sed", "nErsuz", &["quiet", "silent", "regexp-extended", "separate", "null-data", "expression=", "posix"], Program).values("e"),
    tool("[", "", &[], Test),
    tool("test", "", &[], Test),
    // Questions for a version. `cargo` and `rustc` may be rustup's, which asks the folder what to start: see
    // [`crate::folder`].
    tool("bash", "", &[], Only(VERSION_LONG)),
    tool("cargo", "", &[], Only(&["--version", "-V", "version"])),
    tool("clang", "", &[], Only(VERSION_LONG)),
    tool("cmake", "", &[], Only(VERSION_LONG)),
    tool("docker", "", &[], Only(&["--version", "-v"])),
    tool("gcc", "", &[], Only(VERSION_LONG)),
    tool("java", "", &[], Only(&["-version", "--version"])),
    tool("make", "", &[], Only(VERSION_LONG)),
    tool("node", "", &[], Only(&["--version", "-v"])),
    tool("npm", "", &[], Only(&["--version", "-v"])),
    tool("python", "", &[], Only(&["--version", "-V"])),
    tool("python3", "", &[], Only(&["--version", "-V"])),
    tool("ruby", "", &[], Only(&["--version", "-v"])),
    tool("rustc", "", &[], Only(&["--version", "-V"])),
    tool("rustup", "", &[], Only(&["--version", "-V"])),
    tool("sqlite3", "", &[], Only(&["--version", "-version"])),
];

/// `-R` follows links out of the folder; `-f` takes patterns from a file.
#[rustfmt::skip]
const GREP: Tool = Tool {
    name: "grep",
    flags: "#abcEFGhHiILlnoPqrsTUvwxyZz",
    values: "ABCDdem",
    attached: "",
    files: "f",
    long: &[
        "after-context=", "basic-regexp", "before-context=", "binary-files=", "byte-offset", "color?", "colour?",
        "context=", "count", "directories=", "exclude=", "exclude-dir=", "extended-regexp", "file@",
        "files-with-matches", "files-without-match", "fixed-strings", "ignore-case", "include=", "initial-tab",
        "invert-match", "line-buffered", "line-number", "line-regexp", "max-count=", "no-filename",
        "no-ignore-case", "no-messages", "null", "null-data", "only-matching", "perl-regexp", "quiet", "recursive",
        "regexp=", "silent", "text", "with-filename", "word-regexp", "version",
    ],
    operands: PatternThenPaths,
};

/// The row of a command.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}
