use super::*;
use crate::{ClosedPaths, FileScope, Files, PathRestriction};
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio_util::sync::CancellationToken;

struct Tree {
    _keep: tempfile::TempDir,
    root: PathBuf,
    files: Files,
}

fn tree(entries: &[(&str, &str)]) -> Tree {
    let folder = octo_testkit::test_folder();
    let root = folder.path().canonicalize().unwrap();
    for (path, content) in entries {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let files = Files::new(FileScope { folder: root.clone(), readable: vec![], writable: vec![] });
    Tree { _keep: folder, root, files }
}

impl Tree {
    fn glob(&self, pattern: &str, limit: usize) -> GlobMatches {
        let (base, pattern) = glob_base(pattern, ".", &self.root).unwrap();
        glob(&self.files, &GlobQuery { base, pattern, limit }, &CancellationToken::new()).unwrap()
    }

    /// Returns the relative paths that match, sorted.
    fn names(&self, pattern: &str) -> Vec<String> {
        let mut names: Vec<String> =
            self.glob(pattern, 100).paths.iter().map(|path| self.relative(path)).collect();
        names.sort();
        names
    }

    fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap().to_string_lossy().into_owned()
    }

    fn query(&self, pattern: &str) -> GrepQuery {
        GrepQuery {
            base: self.root.clone(),
            pattern: pattern.to_owned(),
            file_pattern: None,
            case: CaseSensitivity::Sensitive,
            context: 0,
            max_files: 50,
            max_matches_per_file: 50,
            max_matches: 200,
            max_file_size: None,
            max_bytes: 24_000,
            max_line: 500,
        }
    }

    fn grep(&self, query: &GrepQuery) -> GrepMatches {
        grep(&self.files, query, &CancellationToken::new()).unwrap()
    }

    /// Returns matches as `path:line:text` and context as `path-line-text`.
    fn hits(&self, query: &GrepQuery) -> Vec<String> {
        let found = self.grep(query);
        let lines = found
            .files
            .iter()
            .flat_map(|file_hits| file_hits.lines.iter().map(move |line| (file_hits, line)));
        lines
            .map(|(file_hits, line)| {
                let separator = if line.is_match { ':' } else { '-' };
                format!(
                    "{}{separator}{}{separator}{}",
                    self.relative(&file_hits.path),
                    line.number,
                    line.text
                )
            })
            .collect()
    }
}

#[test]
fn globs_match_as_written() {
    let tree = tree(&[
        ("a.rs", ""),
        ("src/b.rs", ""),
        ("src/deep/c.rs", ""),
        ("src/d.ts", ""),
        ("src/e.tsx", ""),
        (".hidden/f.rs", ""),
        ("src/sp ace.txt", ""),
        ("node_modules/x/index.js", ""),
    ]);
    assert_eq!(tree.names("*.rs"), [".hidden/f.rs", "a.rs", "src/b.rs", "src/deep/c.rs"]);
    assert_eq!(tree.names("src/*.rs"), ["src/b.rs"]);
    assert_eq!(tree.names("./src/*.rs"), ["src/b.rs"]);
    assert_eq!(tree.names("src/**/*.rs"), ["src/b.rs", "src/deep/c.rs"]);
    assert_eq!(tree.names("**/deep/*"), ["src/deep/c.rs"]);
    assert_eq!(tree.names("*.{ts,tsx}"), ["src/d.ts", "src/e.tsx"]);
    assert_eq!(tree.names("src/[de].*"), ["src/d.ts", "src/e.tsx"]);
    assert_eq!(tree.names("sp ace.txt"), ["src/sp ace.txt"]);
    assert_eq!(tree.names(&format!("{}/src/*.ts", tree.root.display())), ["src/d.ts"], "absolute patterns");
    assert_eq!(tree.names("*.js"), Vec::<String>::new(), "packages are not searched");
    assert_eq!(tree.names("node_modules/**/*.js"), ["node_modules/x/index.js"], "unless they are named");
    assert_eq!(tree.names("src/../a.rs"), ["a.rs"]);
}

#[test]
fn globs_give_the_newest_first_and_say_how_many_there_are() {
    let names: Vec<String> = (0..10).map(|n| format!("f{n}.txt")).collect();
    let tree = tree(&names.iter().map(|name| (name.as_str(), "")).collect::<Vec<_>>());
    for (age, name) in names.iter().enumerate() {
        let file = fs::File::options().write(true).open(tree.root.join(name)).unwrap();
        // Two files of each age, which makes names decide too.
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - (age as u64 / 2)))
            .unwrap();
    }
    let found = tree.glob("*.txt", 5);
    let paths: Vec<String> = found.paths.iter().map(|path| tree.relative(path)).collect();
    assert_eq!(paths, ["f0.txt", "f1.txt", "f2.txt", "f3.txt", "f4.txt"]);
    assert_eq!((found.total, found.paths.len()), (10, 5));
}

#[test]
fn invalid_globs_are_reported() {
    let tree = tree(&[("a.txt", "")]);
    let glob_with = |base: &str, pattern: &str| {
        let query = GlobQuery { base: tree.root.join(base), pattern: pattern.into(), limit: 1 };
        glob(&tree.files, &query, &CancellationToken::new()).unwrap_err()
    };
    assert_eq!(glob_with("", " "), SearchError::Empty);
    assert!(matches!(glob_with("", "a[b"), SearchError::Pattern { .. }));
    assert!(matches!(glob_with("a.txt", "*"), SearchError::Files(crate::FilesError::NotFolder { .. })));
    assert!(matches!(glob_with("missing", "*"), SearchError::Files(crate::FilesError::NotFound { .. })));
    assert!(matches!(glob_with("..", "*"), SearchError::Files(crate::FilesError::Outside { .. })));
    let stopped = CancellationToken::new();
    stopped.cancel();
    let query = GlobQuery { base: tree.root.clone(), pattern: "*".into(), limit: 1 };
    assert_eq!(glob(&tree.files, &query, &stopped), Err(SearchError::Stopped));
    assert_eq!(grep(&tree.files, &tree.query("x"), &stopped), Err(SearchError::Stopped));
}

#[test]
fn ignore_rules_are_gits() {
    let tree = tree(&[
        (".git/HEAD", "ref"),
        (".gitignore", "/tmp/\n/vendor/\n*.log\n!keep.log\nnode_modules/\n"),
        ("packages/ui/.gitignore", "build/\n*.gen.js\n"),
        ("app.js", "TerminalChannel"),
        ("tmp/x.js", "TerminalChannel"),
        ("lib/tmp/y.js", "TerminalChannel"),
        ("vendor/v.js", "TerminalChannel"),
        ("a.log", "TerminalChannel"),
        ("keep.log", "TerminalChannel"),
        ("packages/ui/build/z.js", "TerminalChannel"),
        ("packages/ui/src/deep/m.gen.js", "TerminalChannel"),
        ("node_modules/n.js", "TerminalChannel"),
        ("build/b.js", "TerminalChannel"),
    ]);
    assert_eq!(tree.names("**/*.js"), ["app.js", "build/b.js", "lib/tmp/y.js"]);
    assert!(!tree.names("**/*").iter().any(|name| name.starts_with(".git/")));
    let mut query = tree.query("TerminalChannel");
    assert_eq!(
        tree.hits(&query),
        ["app.js", "build/b.js", "keep.log", "lib/tmp/y.js"].map(|name| format!("{name}:1:TerminalChannel"))
    );
    query.file_pattern = Some("*.log".into());
    assert_eq!(tree.hits(&query), ["keep.log:1:TerminalChannel"]);
    query.file_pattern = Some("lib/**".into());
    assert_eq!(tree.hits(&query), ["lib/tmp/y.js:1:TerminalChannel"]);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_bad_ones_stop_nothing() {
    use std::os::unix::fs::symlink;
    let outside = octo_testkit::test_folder();
    fs::write(outside.path().join("secret.txt"), "needle").unwrap();
    let tree = tree(&[("a.txt", "needle")]);
    symlink(outside.path(), tree.root.join("out")).unwrap();
    symlink("nowhere", tree.root.join("dangling")).unwrap();
    symlink(".", tree.root.join("loop")).unwrap();
    assert_eq!(tree.hits(&tree.query("needle")), ["a.txt:1:needle"]);
    assert_eq!(tree.names("*.txt"), ["a.txt"]);
}

#[test]
fn secret_files_are_searched_only_when_named() {
    let tree = tree(&[
        (".env", "KEY=needle"),
        ("config/prod.env", "needle"),
        ("a.txt", "needle"),
        (".env.example", "needle"),
    ]);
    let mut query = tree.query("needle");
    assert_eq!(tree.hits(&query), [".env.example:1:needle", "a.txt:1:needle"]);
    assert_eq!(tree.grep(&query).skipped.secret, 2);
    query.base = tree.root.join(".env");
    let result = grep(&tree.files, &query, &CancellationToken::new());
    assert!(
        matches!(result, Err(SearchError::Files(crate::FilesError::Outside { .. }))),
        "named, but not granted"
    );
    let granted = tree.files.with_grants(std::slice::from_ref(&query.base), &[]);
    assert_eq!(grep(&granted, &query, &CancellationToken::new()).unwrap().total_matches, 1);

    assert_eq!(tree.names("**/*"), [".env.example", "a.txt"], "names of secret files are left out too");
    assert_eq!(tree.names(".env*"), [".env", ".env.example"], "unless the pattern names them");
}

/// Denies paths named `private`, and treats `vault` as secret.
#[derive(Debug)]
struct Rules;

impl ClosedPaths for Rules {
    fn restriction(&self, path: &Path) -> PathRestriction {
        let has = |name: &str| path.components().any(|part| part.as_os_str() == name);
        match (has("private"), has("vault")) {
            (true, _) => PathRestriction::Denied,
            (false, true) => PathRestriction::Secret,
            (false, false) => PathRestriction::No,
        }
    }
}

#[test]
fn searches_find_nothing_in_restricted_paths() {
    let mut tree = tree(&[
        ("a.txt", "key\n"),
        ("private/b.txt", "key\n"),
        ("vault/c.txt", "key\n"),
        ("vault/private/d.txt", "key\n"),
    ]);
    assert_eq!(tree.hits(&tree.query("key")).len(), 4, "nothing is closed yet");
    tree.files = tree.files.with_closed_paths(Arc::new(Rules));
    let mut query = tree.query("key");
    assert_eq!(tree.hits(&query), ["a.txt:1:key"]);
    let skipped = tree.grep(&query).skipped;
    assert_eq!((skipped.secret, skipped.closed), (1, 2));
    assert_eq!(tree.names("**/*"), ["a.txt"]);
    assert_eq!(
        tree.names("*.txt"),
        ["a.txt", "vault/c.txt"],
        "a pattern may name a secret, never what is denied"
    );
    query.base = tree.root.join("private");
    assert_eq!(
        grep(&tree.files, &query, &CancellationToken::new()),
        Err(crate::FilesError::Closed { path: query.base.clone() }.into())
    );
    query.base = tree.root.join("vault");
    tree.files = tree.files.with_grants(std::slice::from_ref(&query.base), &[]);
    assert_eq!(tree.hits(&query), ["vault/c.txt:1:key"], "who granted the folder meant what is in it");
}

#[test]
fn context_lines_surround_matches_once() {
    let tree = tree(&[("a.txt", "line1\nline2\nmatch\nline4\nline5\nline6\nmatch\nmatch\nline9\n")]);
    let mut query = tree.query("match");
    query.context = 1;
    assert_eq!(
        tree.hits(&query),
        [
            "a.txt-2-line2",
            "a.txt:3:match",
            "a.txt-4-line4",
            "a.txt-6-line6",
            "a.txt:7:match",
            "a.txt:8:match",
            "a.txt-9-line9"
        ]
    );
    query.max_matches_per_file = 1;
    assert_eq!(tree.hits(&query), ["a.txt-2-line2", "a.txt:3:match", "a.txt-4-line4"]);
}

#[test]
fn patterns_and_line_ends() {
    let tree = tree(&[("crlf.txt", "foo\r\nbar\r\n"), ("lf.txt", "Foo\nbar"), ("utf8.txt", "grüße 世界\n")]);
    assert_eq!(tree.hits(&tree.query("foo$")), ["crlf.txt:1:foo"], "the end of a line is before its CRLF");
    assert_eq!(tree.hits(&tree.query("^bar$")), ["crlf.txt:2:bar", "lf.txt:2:bar"]);
    let mut query = tree.query("foo");
    query.case = CaseSensitivity::Insensitive;
    assert_eq!(tree.hits(&query), ["crlf.txt:1:foo", "lf.txt:1:Foo"]);
    assert_eq!(tree.hits(&tree.query(r"\w+ 世.")), ["utf8.txt:1:grüße 世界"]);
    for invalid in ["(", r"(?=x)", "a\nb"] {
        assert!(
            matches!(
                grep(&tree.files, &tree.query(invalid), &CancellationToken::new()),
                Err(SearchError::Pattern { .. })
            ),
            "{invalid:?}"
        );
    }
    assert_eq!(grep(&tree.files, &tree.query(""), &CancellationToken::new()), Err(SearchError::Empty));
}

#[test]
fn files_that_are_not_text() {
    let tree = tree(&[("a.txt", "needle\n")]);
    fs::write(tree.root.join("binary"), b"needle\n\0\nneedle").unwrap();
    fs::write(tree.root.join("latin1.txt"), b"caf\xe9 needle\n").unwrap();
    let utf16: Vec<u8> =
        [0xFF, 0xFE].into_iter().chain("needle\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    fs::write(tree.root.join("utf16.txt"), utf16).unwrap();
    let query = tree.query("needle");
    assert_eq!(
        tree.hits(&query),
        ["a.txt:1:needle", "latin1.txt:1:caf\u{FFFD} needle", "utf16.txt:1:needle"]
    );
    assert_eq!(tree.grep(&query).skipped.binary, 1);
    let query = GrepQuery { max_file_size: Some(8), ..query };
    assert_eq!(tree.grep(&query).skipped.too_large, 3);
}

#[test]
fn limits_cut_from_the_end_and_are_named() {
    let content = "needle\n".repeat(10);
    let names: Vec<String> = (0..20).map(|n| format!("f{n:02}.txt")).collect();
    let tree = tree(&names.iter().map(|name| (name.as_str(), content.as_str())).collect::<Vec<_>>());
    let query = tree.query("needle");
    let line_count =
        |found: &GrepMatches| found.files.iter().map(|file_hits| file_hits.lines.len()).sum::<usize>();

    let found = tree.grep(&query);
    assert_eq!(
        (found.total_matches, found.total_files, found.searched, found.cut_short),
        (200, 20, 20, None)
    );
    assert_eq!(line_count(&found), 200);

    let found = tree.grep(&GrepQuery { max_files: 3, ..query.clone() });
    assert_eq!(
        (found.cut_short, line_count(&found), found.total_matches),
        (Some(ReachedLimit::Files), 30, 200)
    );
    assert_eq!(
        found.files.iter().map(|file_hits| tree.relative(&file_hits.path)).collect::<Vec<_>>(),
        ["f00.txt", "f01.txt", "f02.txt"]
    );

    let found = tree.grep(&GrepQuery { max_matches_per_file: 4, ..query.clone() });
    assert_eq!((found.cut_short, line_count(&found)), (Some(ReachedLimit::MatchesPerFile), 80));
    assert!(found.files.iter().all(|file_hits| file_hits.matches == 10));

    let found = tree.grep(&GrepQuery { max_matches: 15, ..query.clone() });
    assert_eq!((found.cut_short, line_count(&found)), (Some(ReachedLimit::Matches), 15));
    let found = tree.grep(&GrepQuery { max_matches: 5, ..query.clone() });
    assert_eq!((found.cut_short, line_count(&found)), (Some(ReachedLimit::Matches), 5));

    let found = tree.grep(&GrepQuery { max_bytes: 100, ..query });
    assert_eq!((found.cut_short, line_count(&found)), (Some(ReachedLimit::Bytes), 16));
}

#[test]
fn a_result_does_not_depend_on_the_threads() {
    let names: Vec<String> = (0..300).map(|n| format!("d{}/f{n}.txt", n % 17)).collect();
    let content: Vec<(&str, &str)> =
        names.iter().map(|name| (name.as_str(), "a needle\nnothing\nneedles\n")).collect();
    let tree = tree(&content);
    let query = GrepQuery { max_files: 40, max_matches: 55, ..tree.query("needle") };
    let expected = tree.grep(&query);
    assert_eq!(expected.total_matches, 600);
    for _ in 0..20 {
        assert_eq!(tree.grep(&query), expected);
    }
}

#[test]
fn long_lines_are_cut_around_the_match() {
    let tree = tree(&[("min.js", &format!("{}needle{}\n", "é".repeat(5_000), "ü".repeat(5_000)))]);
    let lines = tree.hits(&tree.query("needle"));
    assert!(lines[0].contains("needle"), "the match itself is shown: {}", lines[0]);
    assert!(lines[0].len() < 600 && !lines[0].contains('\u{FFFD}'), "{}", lines[0]);
    assert!(lines[0].contains("[line of 20006 bytes]"));
}

/// A large log is streamed: its size does not affect memory, and the search finds a match at its end.
#[test]
fn a_log_larger_than_any_buffer_is_streamed() {
    let tree = tree(&[]);
    let mut log = std::io::BufWriter::new(fs::File::create(tree.root.join("big.log")).unwrap());
    let block = "2026-01-01 00:00:00 INFO all is well, nothing to see here at all\n".repeat(1_000);
    for _ in 0..300 {
        log.write_all(block.as_bytes()).unwrap();
    }
    log.write_all(b"2026-01-01 ERROR the disk is on fire\n").unwrap();
    drop(log);
    assert_eq!(tree.hits(&tree.query("ERROR")), ["big.log:300001:2026-01-01 ERROR the disk is on fire"]);
    let found = tree.grep(&tree.query("INFO"));
    assert_eq!(found.total_matches, 300_000, "matches beyond what is given are counted");
    assert_eq!(found.files[0].lines.len(), 50);
}
