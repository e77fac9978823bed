//! Rules for the source files.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// Crates whose purpose is writing: the person's files, the database, and files for tests.
const WRITERS: &[&str] = &[
    "src-tauri/crates/octo-workspace/",
    "src-tauri/crates/octo-store/",
    "src-tauri/crates/octo-testkit/",
    "src-tauri/xtask/",
    "tests/",
];

/// Single files, outside those crates, that may write, each with its reason.
const MAY_WRITE: &[(&str, &str)] = &[
    (
        "src-tauri/crates/octo-browsing/src/downloads/guard.rs",
        "removes a file that a page sent and nobody was asked about",
    ),
    (
        "src-tauri/crates/octo-cli/examples/page_core.rs",
        "hands a blob to the development server; it is an example and never shipped",
    ),
    (
        "src-tauri/crates/octo-core/src/logging.rs",
        "logs and crash reports must not depend on what they report on",
    ),
    (
        "src-tauri/crates/octo-keeper/src/linux/network.rs",
        "the user of a new namespace, in /proc; nothing on a disk",
    ),
    (
        "src-tauri/crates/octo-shell/src/confine/caches.rs",
        "empty caches of package managers, without which a held command could not fill them",
    ),
    (
        "src-tauri/crates/octo-shell/src/environment/login_shell.rs",
        "the only folder a queried login shell may write to, removed after it",
    ),
    ("src-tauri/crates/octo-shell/src/output/log.rs", "the whole output of a command, in Octo's own folder"),
    (
        "src-tauri/crates/octo-policy/src/file/edit.rs",
        "the person's own rules, changed by the person in the window: no tool writes them",
    ),
    (
        "src-tauri/crates/octo-policy/src/log.rs",
        "what the policy refused, asked or rewrote, in Octo's own folder",
    ),
    (
        "src-tauri/crates/octo-shell/src/shell/carry.rs",
        "what a command leaves to the next, in Octo's own folder",
    ),
    (
        "src-tauri/crates/octo-shell/src/shell/place.rs",
        "what a command is started from, in Octo's own folder",
    ),
    (
        "src-tauri/crates/octo-shell/src/shell/windows/place.rs",
        "what a command is started from, in Octo's own folder",
    ),
    (
        "src-tauri/crates/octo-shell/src/confine/tmux.rs",
        "the empty folder of tmux's sockets, which cannot be granted while it is missing",
    ),
    (
        "src-tauri/crates/octo-core/src/library/offers/fetch.rs",
        "a repository that is looked at, in a temporary folder",
    ),
    (
        "src-tauri/crates/octo-skills/src/memories.rs",
        "sets the time of a memory that was recalled; its text goes through octo-workspace",
    ),
    (
        "src-tauri/crates/octo-skills/src/install/write.rs",
        "a skill the person looked at and chose, whole or not at all, in a folder of skills: no tool writes it",
    ),
    (
        "src-tauri/crates/octo-protocol/build.rs",
        "a generated list of the files of words, in the build folder",
    ),
];

/// Functions that write to a disk.
const WRITES: &[&str] = &[
    "fs::write",
    "fs::rename",
    "fs::copy",
    "fs::remove_file",
    "fs::remove_dir",
    "fs::create_dir",
    "fs::hard_link",
    "fs::soft_link",
    "fs::set_permissions",
    "fs::symlink",
    "DirBuilder",
    "File::create",
    "File::options",
    "OpenOptions",
    "tempfile::",
    "NamedTempFile",
    ".persist(",
];

/// The same names when imported from `fs` in a list.
const IMPORTED: &[&str] = &[
    "write",
    "rename",
    "copy",
    "remove_file",
    "remove_dir",
    "remove_dir_all",
    "create_dir",
    "create_dir_all",
    "hard_link",
];

/// Calls that start a process or read the process's environment.
const SURROUNDINGS: &[&str] =
    &["Command::new(", "env::var", "env::home_dir", "env::current_dir", "env::temp_dir"];

/// Marks of postponed work. Written in parts, so that this file contains none.
const PUT_OFF: &[&str] =
    &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("todo", "!"), concat!("unimplemented", "!")];

/// Commands never sent to a browser: pages notice the first, and the others remove its person's protection.
/// Names of the protocol and its types, without gaps.
const NEVER_SAID: &[&str] = &[
    "Runtime.enable",
    "runtime::EnableParams",
    "setIgnoreCertificateErrors",
    "SetIgnoreCertificateErrorsParams",
    "Fetch.enable",
    "fetch::EnableParams",
    "setBypassCSP",
    "SetBypassCspParams",
];

/// Modules of the protocol that are never enabled.
const NEVER_ENABLED: &[&str] = &["runtime::{", "fetch::{"];

struct Source {
    /// Its path in the checkout, with `/` on every system.
    path: String,
    text: String,
}

impl Source {
    fn is(&self, extensions: &[&str]) -> bool {
        extensions.iter().any(|extension| self.path.ends_with(extension))
    }

    /// Returns whether the whole file is tests: by its path, or because it is only built for them.
    fn is_test(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        self.path.starts_with("tests/")
            || self.path.contains("/tests/")
            || name == "tests.rs"
            || name.contains(".test.")
            || ONLY_FOR_TESTS.contains(&self.path)
    }

    /// Returns the files that this one declares and builds only for tests.
    fn declared_for_tests(&self) -> Vec<String> {
        let (folder, name) = self.path.rsplit_once('/').unwrap_or_default();
        let stem = name.strip_suffix(".rs").unwrap_or(name);
        let below = if matches!(stem, "lib" | "main" | "mod") {
            folder.to_owned()
        } else {
            format!("{folder}/{stem}")
        };
        let lines: Vec<&str> = self.text.lines().map(str::trim).collect();
        let pairs = lines.windows(2).filter(|pair| pair[0] == "#[cfg(test)]");
        let names = pairs.filter_map(|pair| {
            pair[1].trim_start_matches("pub(crate) ").strip_prefix("mod ")?.strip_suffix(';')
        });
        names.map(|name| format!("{below}/{name}.rs")).collect()
    }

    /// Returns the shipped lines: those before the tests at a Rust file's end.
    fn shipped(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines: Vec<&str> = self.text.lines().collect();
        let tests = lines
            .windows(2)
            .position(|pair| pair[0].trim() == "#[cfg(test)]" && pair[1].trim_start().starts_with("mod "))
            .unwrap_or(lines.len());
        lines.into_iter().enumerate().take(tests).map(|(index, line)| (index + 1, line))
    }
}

/// Every file of the project, as git lists it.
static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let root: PathBuf =
        fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("the checkout");
    ignore::WalkBuilder::new(&root)
        .require_git(false)
        .follow_links(false)
        .build()
        .map(|entry| entry.expect("a readable folder").into_path())
        .filter(|path| path.is_file())
        .filter_map(|path| {
            let text = fs::read_to_string(&path).ok()?;
            let path = path.strip_prefix(&root).ok()?.to_str()?.replace('\\', "/");
            Some(Source { path, text })
        })
        .filter(|source| source.is(&[".rs", ".ts", ".svelte", ".css", ".html", ".js", ".mjs", ".sh"]))
        .filter(|source| !source.path.contains("/generated/"))
        .collect()
});

/// Files that are only built for tests.
static ONLY_FOR_TESTS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| SOURCES.iter().flat_map(Source::declared_for_tests).collect());

fn is_word_at(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(index, _)| {
        let (before, remaining) = line.split_at(index);
        let after = remaining.strip_prefix(word).and_then(|after| after.chars().next());
        !before.chars().next_back().is_some_and(is_part)
            && (word.ends_with('!') || !after.is_some_and(is_part))
    })
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

fn writes(line: &str) -> bool {
    if is_comment(line) {
        return false;
    }
    let imports = line.split_once("fs::{").is_some_and(|(_, names)| {
        let names: BTreeSet<&str> = names.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
        IMPORTED.iter().any(|name| names.contains(name))
    });
    imports || WRITES.iter().any(|pattern| line.contains(pattern))
}

#[test]
fn the_sources_are_found() {
    for expected in
        ["src-tauri/src/lib.rs", "src-tauri/crates/octo-protocol/src/lib.rs", "tests/house/main.rs"]
    {
        assert!(SOURCES.iter().any(|source| source.path == expected), "{expected}");
    }
    assert!(SOURCES.iter().all(|source| !source.path.contains("node_modules")), "ignored files are left out");
}

#[test]
fn only_permitted_files_write_to_disk() {
    let mut used = BTreeSet::new();
    let mut found = Vec::new();
    let rust = SOURCES.iter().filter(|source| source.is(&[".rs"]) && !source.is_test());
    for source in rust.filter(|source| !WRITERS.iter().any(|writer| source.path.starts_with(writer))) {
        for (number, line) in source.shipped().filter(|(_, line)| writes(line)) {
            match MAY_WRITE.iter().find(|(path, _)| *path == source.path) {
                Some((path, _)) => {
                    used.insert(*path);
                }
                None => found.push(format!("{}:{number}: {}", source.path, line.trim())),
            }
        }
    }
    assert!(found.is_empty(), "writes go through octo-workspace's Files or the store:\n{}", found.join("\n"));
    let unused: Vec<_> = MAY_WRITE.iter().filter(|(path, _)| !used.contains(path)).collect();
    assert!(unused.is_empty(), "these need no leave any more: {unused:?}");
}

/// The file that opens files and folders to flush them.
const FLUSHES: &str = "src-tauri/crates/octo-store/src/flush.rs";

/// Whether a statement opens a file or folder for reading and flushes it, which Windows refuses.
fn flushes_what_it_reads<'line>(lines: impl Iterator<Item = &'line str>) -> bool {
    let code: String =
        lines.filter(|line| !is_comment(line)).flat_map(str::chars).filter(|c| !c.is_whitespace()).collect();
    code.split([';', '}']).any(|statement| {
        statement
            .split_once("File::open(")
            .is_some_and(|(_, rest)| rest.contains("sync_all") || rest.contains("sync_data"))
    })
}

#[test]
fn only_one_file_flushes_by_path() {
    let rust = SOURCES.iter().filter(|source| source.is(&[".rs"]) && !source.is_test());
    let (flush, others): (Vec<_>, Vec<_>) = rust.partition(|source| source.path == FLUSHES);
    let found: Vec<&str> = others
        .into_iter()
        .filter(|source| flushes_what_it_reads(source.shipped().map(|(_, line)| line)))
        .map(|source| source.path.as_str())
        .collect();
    assert!(found.is_empty(), "octo_store::flush_file and flush_folder do this:\n{}", found.join("\n"));
    assert!(flush.iter().any(|source| flushes_what_it_reads(source.shipped().map(|(_, line)| line))));
    for flushing in [
        "File::open(new).and_then(|made| made.sync_all())?;",
        "match File::open(folder)?\n    .sync_data() {",
        "Kind::File => File::open(path)?.sync_all(),",
        "match File::open(file) {\n    Ok(file) => file.sync_all()?,",
    ] {
        assert!(flushes_what_it_reads(flushing.lines()), "{flushing}");
    }
    for code in ["File::open(path)?;\nwritten.sync_all()?;", "File::create(path)?.sync_all()?;"] {
        assert!(!flushes_what_it_reads(code.lines()), "{code}");
    }
}

#[test]
fn the_policy_knows_only_what_it_is_handed() {
    let policy = |source: &&Source| source.path.starts_with("src-tauri/crates/octo-policy/src/");
    let sources: Vec<&Source> = SOURCES.iter().filter(policy).filter(|source| !source.is_test()).collect();
    assert!(sources.len() > 30, "the policy is found");
    let found: Vec<String> = sources
        .iter()
        .flat_map(|source| source.shipped().map(move |(number, line)| (source, number, line)))
        .filter(|(_, _, line)| !is_comment(line) && SURROUNDINGS.iter().any(|call| line.contains(call)))
        .map(|(source, number, line)| format!("{}:{number}: {}", source.path, line.trim()))
        .collect();
    assert!(found.is_empty(), "the policy starts no process and reads no variables:\n{}", found.join("\n"));
    let git = SOURCES.iter().find(|source| source.path == "src-tauri/crates/octo-workspace/src/git.rs");
    assert!(
        git.is_some_and(|source| source.text.contains(SURROUNDINGS[0])),
        "the rule sees a process where one is started"
    );
}

#[test]
fn no_comment_defers_work() {
    let found: Vec<String> = SOURCES
        .iter()
        .flat_map(|source| {
            source.text.lines().enumerate().map(move |(index, line)| (source, index + 1, line))
        })
        .filter(|(_, _, line)| PUT_OFF.iter().any(|word| is_word_at(line, word)))
        .map(|(source, number, line)| format!("{}:{number}: {}", source.path, line.trim()))
        .collect();
    assert!(found.is_empty(), "do it or file it:\n{}", found.join("\n"));
}

/// Returns the forbidden browser command in a text, if any.
fn forbidden_command<'line>(lines: impl Iterator<Item = &'line str>) -> Option<&'static str> {
    let code: String =
        lines.filter(|line| !is_comment(line)).flat_map(str::chars).filter(|c| !c.is_whitespace()).collect();
    let enabled = NEVER_ENABLED.iter().find(|module| {
        code.match_indices(*module).any(|(index, _)| {
            let before = code.get(..index).and_then(|before| before.chars().next_back());
            let names = code
                .get(index + module.len()..)
                .and_then(|remaining| remaining.split_once('}'))
                .map(|(names, _)| names);
            !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
                && names.is_some_and(|names| names.split(',').any(|name| name.starts_with("EnableParams")))
        })
    });
    NEVER_SAID.iter().find(|phrase| code.contains(*phrase)).or(enabled).copied()
}

#[test]
fn no_browser_is_started_without_its_protections() {
    let rust = SOURCES.iter().filter(|source| source.is(&[".rs", ".js"]) && !source.is_test());
    let found: Vec<String> = rust
        .filter_map(|source| {
            let phrase = forbidden_command(source.shipped().map(|(_, line)| line))?;
            Some(format!("{}: {phrase}", source.path))
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    for forbidden in [
        "link.call(None, runtime::EnableParams::default(), LIMIT)",
        "use chromiumoxide::cdp::js_protocol::runtime::{\n    EnableParams,\n    EvaluateParams,\n};",
        "browser_protocol::{fetch::{self, EnableParams as Begin}, page}",
        "SetIgnoreCertificateErrorsParams::new(true)",
        "\"Page.setBypassCSP\"",
    ] {
        assert!(forbidden_command(forbidden.lines()).is_some(), "{forbidden}");
    }
    for allowed in [
        "link.call(on, page::EnableParams::default(), FIRST)",
        "use js_protocol::runtime::{EvaluateParams, CallFunctionOnParams};",
        "// Without `Runtime.enable`, which pages notice.",
    ] {
        assert_eq!(forbidden_command(allowed.lines()), None, "{allowed}");
    }
}

/// The crates whose tests the gate runs with homes outside the temporary folders too.
const TESTED_AS_A_PERSON: &[&str] = &[
    "src-tauri/crates/octo-keeper/",
    "src-tauri/crates/octo-shell/",
    "src-tauri/crates/octo-store/",
    "src-tauri/crates/octo-workspace/",
];

/// Calls that create or name a folder below the system's temporary one, wherever a test should be.
const TEMPORARY_HOMES: &[&str] =
    &["tempfile::tempdir(", "TempDir::new(", "TempDir::with_prefix(", ".tempdir()", "temp_dir()"];

fn is_temporary_home(line: &str) -> bool {
    !is_comment(line) && TEMPORARY_HOMES.iter().any(|call| line.contains(call))
}

#[test]
fn homes_of_tests_can_be_where_homes_are() {
    let tested =
        SOURCES.iter().filter(|source| TESTED_AS_A_PERSON.iter().any(|it| source.path.starts_with(it)));
    let (mut found, mut made) = (Vec::new(), 0);
    for source in tested {
        let shipped = if source.is_test() { 0 } else { source.shipped().count() };
        for (index, line) in source.text.lines().enumerate().skip(shipped) {
            made += usize::from(line.contains("octo_testkit::test_folder()"));
            if is_temporary_home(line) {
                found.push(format!("{}:{}: {}", source.path, index + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "octo_testkit::test_folder() makes it:\n{}", found.join("\n"));
    assert!(made > 50, "the tests' folders are found: {made}");
    for line in
        ["let home = tempfile::tempdir().unwrap();", "TempDir::new().unwrap()", "&std::env::temp_dir()"]
    {
        assert!(is_temporary_home(line), "{line}");
    }
    assert!(!is_temporary_home("let home = octo_testkit::test_folder();"));
}

#[test]
fn only_one_file_of_the_page_knows_tauri() {
    let knowing: Vec<&str> = SOURCES
        .iter()
        .filter(|source| source.path.starts_with("ui/src/") && source.text.contains("@tauri-apps/"))
        .map(|source| source.path.as_str())
        .collect();
    assert_eq!(knowing, ["ui/src/lib/ipc/tauri.ts"]);
}

#[test]
fn the_rules_find_violations() {
    for line in [
        "    std::fs::write(path, text)?;",
        "use std::fs::{self, read, write};",
        "tokio::fs::create_dir_all(&home).await?;",
        "let file = File::create(path)?;",
        "OpenOptions::new().append(true)",
        "file.persist(&path)?;",
    ] {
        assert!(writes(line), "{line}");
    }
    for line in [
        "// fs::write would be wrong here",
        "use std::fs::{self, read};",
        "fs::read_to_string(path)",
        "writeln!(out)",
    ] {
        assert!(!writes(line), "{line}");
    }
    let [word, _, call, _] = PUT_OFF else { panic!("the words") };
    assert!(is_word_at(&format!("// {word}: later"), word) && is_word_at(&format!("    {call}()"), call));
    assert!(!is_word_at(&format!("const {word}_LIST"), word) && !is_word_at(&format!("MY{word}"), word));

    let source = Source {
        path: "a.rs".to_owned(),
        text: "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n".to_owned(),
    };
    assert_eq!(source.shipped().count(), 2);

    let declaring = |path: &str| Source {
        path: path.to_owned(),
        text: "#[cfg(test)]\nmod testing;\nmod real;\n".to_owned(),
    };
    assert_eq!(declaring("a/src/lib.rs").declared_for_tests(), ["a/src/testing.rs"]);
    assert_eq!(declaring("a/src/b.rs").declared_for_tests(), ["a/src/b/testing.rs"]);
}
