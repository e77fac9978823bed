use crate::{CallConcurrency, Effects, testing::Bench};
use octo_protocol::{FileChange, ToolView};
use serde_json::json;

#[test]
fn a_file_is_created_with_its_folders_and_replaced_whole() {
    let bench = Bench::new();
    let output = bench.call("write", json!({"path": "sub/dir/test.txt", "content": "a\nb\n"})).unwrap();
    assert_eq!(output.text, "Created sub/dir/test.txt: 4 bytes, 2 lines.");
    let ToolView::Diff(view) = output.view else { panic!("a diff") };
    assert_eq!((view.change, view.added, view.removed), (FileChange::Created, 2, 0));

    let output = bench.call("write", json!({"path": "sub/dir/test.txt", "content": "a\nc\nd"})).unwrap();
    assert_eq!(output.text, "Replaced sub/dir/test.txt: 5 bytes, 3 lines (before: 4 bytes).");
    let ToolView::Diff(view) = output.view else { panic!("a diff") };
    assert_eq!((view.change, view.added, view.removed), (FileChange::Edited, 2, 1));
    assert_eq!(bench.get("sub/dir/test.txt"), b"a\nc\nd");
    assert!(
        bench
            .text("write", json!({"path": "sub/dir/test.txt", "content": "a\nc\nd"}))
            .contains("already had")
    );
    assert!(
        bench.text("write", json!({"path": "empty", "content": ""})).starts_with("Created empty: 0 bytes")
    );
}

#[test]
fn a_file_in_utf_16_stays_one() {
    let bench = Bench::new();
    let bytes = |text: &str| -> Vec<u8> {
        std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect()
    };
    bench.put("a.txt", bytes("one\ntwo\n"));
    let output = bench.call("write", json!({"path": "a.txt", "content": "one\nzwei\n"})).unwrap();
    assert_eq!(
        output.text,
        "Replaced a.txt: 20 bytes, 2 lines (before: 18 bytes). It stays UTF-16, as it was."
    );
    let ToolView::Diff(view) = output.view else { panic!("a diff") };
    assert_eq!((view.added, view.removed), (1, 1));
    assert_eq!(bench.get("a.txt"), bytes("one\nzwei\n"));
    assert!(bench.text("write", json!({"path": "a.txt", "content": "one\nzwei\n"})).contains("already had"));
}

#[test]
fn failed_writes_are_reported_and_change_nothing() {
    let bench = Bench::new();
    bench.put("dir/x", "keep");
    bench.put("a", "one");
    std::fs::write(bench.out.join("b"), "keep").unwrap();
    for (arguments, expected) in [
        (json!({"path": "", "content": "x"}), "cannot be empty"),
        (json!({"path": null, "content": "x"}), "Missing required parameters: path."),
        (json!({"path": "a"}), "Missing required parameters: content."),
        (json!({"path": "dir", "content": "x"}), "is a folder"),
        (json!({"path": "../out/b", "content": "x"}), "outside what this call may write"),
        (json!({"path": ".env", "content": "x"}), "outside what this call may write"),
        (json!({"path": "a", "content": {"x": 1}}), "`content` must be a string, got an object."),
    ] {
        let error = bench.error("write", arguments.clone());
        assert!(error.contains(expected), "{arguments}: {error}");
    }
    bench.text("file_reader", json!({"path": "a"}));
    bench.put("a", "two");
    assert!(
        bench
            .error("write", json!({"path": "a", "content": "three"}))
            .contains("changed on disk since you read it")
    );
    assert_eq!(bench.get("a"), b"two");
    assert_eq!(std::fs::read(bench.out.join("b")).unwrap(), b"keep");
}

#[test]
fn effects_name_the_real_file_and_the_preview_shows_the_change_anywhere() {
    let bench = Bench::new();
    assert_eq!(
        bench.effects("write", json!({"path": "x/../a", "content": ""})),
        Effects { order: CallConcurrency::Alone, ..Effects::writes(vec![bench.folder.join("a")]) }
    );
    assert_eq!(bench.effects("write", json!({"path": "", "content": ""})), Effects::none());
    std::fs::write(bench.out.join("b"), "old\n").unwrap();
    let view = bench.preview("write", json!({"path": "../out/b", "content": "new\n"})).unwrap();
    let ToolView::Diff(view) = view else { panic!("a diff") };
    assert_eq!((view.added, view.removed), (1, 1), "the person sees what the model may not read");
    assert_eq!(std::fs::read(bench.out.join("b")).unwrap(), b"old\n");
}
