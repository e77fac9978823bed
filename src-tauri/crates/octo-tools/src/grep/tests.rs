use crate::{CallConcurrency, testing::Bench};
use octo_protocol::ToolView;
use serde_json::json;

#[test]
fn matches_are_formatted_like_ripgreps() {
    let bench = Bench::new();
    bench.put("src/a.rs", "one\nmatch here\nthree\n\n\n\nseven\nmatch\n");
    bench.put("b.txt", "a match\r\n");
    assert_eq!(
        bench.text("grep", json!({"pattern": "match"})),
        "b.txt:1:a match\nsrc/a.rs:2:match here\nsrc/a.rs:8:match\n3 matching lines in 2 of 2 files."
    );
    assert_eq!(
        bench.text("grep", json!({"pattern": "MATCH", "case_insensitive": "true", "context_lines": "1", "file_pattern": "*.rs"})),
        "src/a.rs-1-one\nsrc/a.rs:2:match here\nsrc/a.rs-3-three\n--\nsrc/a.rs-7-seven\nsrc/a.rs:8:match\n\
         2 matching lines in 1 of 1 files."
    );
    assert_eq!(bench.text("grep", json!({"pattern": "nowhere"})), "No matches in 2 files.");
    let limited = bench.text("grep", json!({"pattern": "match", "max_total_matches": 1}));
    assert!(limited.starts_with("b.txt:1:a match\n3 matching lines"), "{limited}");
    assert!(limited.contains("limit: max_total_matches"), "{limited}");
    let limited = bench.text("grep", json!({"pattern": "match", "max_matches_per_file": 1}));
    assert!(limited.contains("(src/a.rs: 1 of 2 matching lines shown)"), "{limited}");

    let output = bench.call("grep", json!({"pattern": "match", "path": "src/a.rs"})).unwrap();
    let ToolView::Matches { files, total, truncated, .. } = output.view else { panic!("matches") };
    assert_eq!((files.len(), files[0].lines.len(), total, truncated), (1, 2, 2, false));
    assert_eq!(files[0].path, "src/a.rs");
}

#[test]
fn context_is_shown_to_the_model() {
    let bench = Bench::new();
    bench.put("a.txt", "line1\nline2\nmatch\nline4\nline5");
    let output = bench.call("grep", json!({"pattern": "match", "context_lines": 1})).unwrap();
    assert!(output.text.starts_with("a.txt-2-line2\na.txt:3:match\na.txt-4-line4\n"), "{}", output.text);
}

#[test]
fn errors_and_skipped_files_are_reported() {
    let bench = Bench::new();
    bench.put("a.bin", b"match\0");
    bench.put(".env", "match");
    let text = bench.text("grep", json!({"pattern": "match"}));
    assert_eq!(text, "No matches in 0 files.\n(Files left out: 1 binary, 1 that usually hold secrets.)");
    assert!(bench.error("grep", json!({"pattern": "("})).contains("not valid"));
    assert!(bench.error("grep", json!({"pattern": ""})).contains("cannot be empty"));
    assert!(bench.error("grep", json!({"pattern": "x", "path": "none"})).contains("does not exist"));
    assert!(
        bench
            .error("grep", json!({"pattern": "x", "path": ".."}))
            .contains("outside what this call may read")
    );
    assert!(
        bench
            .error("grep", json!({"pattern": "x", "context_lines": -1}))
            .contains("`context_lines` must be an integer from 0")
    );
}

#[test]
fn results_stay_within_their_budget() {
    let bench = Bench::new();
    for n in 0..60 {
        bench.put(&format!("f{n:02}.txt"), format!("{}\n", "match and more of it ".repeat(20)).repeat(10));
    }
    let text = bench.text("grep", json!({"pattern": "match"}));
    assert!(text.len() < 30_000, "{}", text.len());
    assert!(text.contains("600 matching lines in 60 of 60 files.") && text.contains("Not all are shown"));
}

#[test]
fn globs_list_paths_and_both_tools_only_read() {
    let bench = Bench::new();
    for n in 0..10 {
        bench.put(&format!("d/f{n}.txt"), "");
    }
    let text = bench.text("glob", json!({"pattern": "*.txt", "limit": 5}));
    assert_eq!(text.lines().count(), 6, "{text}");
    assert!(text.ends_with("(5 of 10 files, newest first)"), "{text}");
    assert_eq!(bench.text("glob", json!({"pattern": "*.rs"})), "No files found.");
    assert_eq!(bench.text("glob", json!({"pattern": "d/f3.*"})), "d/f3.txt");
    let absolute = bench.folder.join("d/f[45].txt");
    let mut lines: Vec<String> = bench
        .text("glob", json!({"pattern": absolute.to_string_lossy()}))
        .lines()
        .map(str::to_owned)
        .collect();
    lines.sort();
    assert_eq!(lines, ["d/f4.txt", "d/f5.txt"]);
    assert!(bench.error("glob", json!({"pattern": " "})).contains("cannot be empty"));

    let effects = bench.effects("glob", json!({"pattern": "/etc/*.conf"}));
    assert_eq!(
        (effects.reads, effects.order),
        (vec![octo_workspace::resolve("/etc", &bench.folder).unwrap()], CallConcurrency::Parallel)
    );
    let effects = bench.effects("grep", json!({"pattern": "x", "path": "d/../.env"}));
    assert_eq!(
        (effects.reads, effects.writes, effects.order),
        (vec![bench.folder.join(".env")], vec![], CallConcurrency::Parallel)
    );
}
