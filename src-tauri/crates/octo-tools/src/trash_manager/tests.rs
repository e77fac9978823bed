use crate::testing::Bench;
use octo_protocol::{RemovedBy, ToolView};
use octo_workspace::{Removal, TrashSlip};
use serde_json::{Value, json};

impl Bench {
    fn removed(&self, name: &str) -> TrashSlip {
        let removal = Removal {
            remover: RemovedBy::Agent,
            session: Some(self.context.session),
            project: Some(self.folder.display().to_string()),
            command: Some("rm".to_owned()),
        };
        self.trash.move_in(&self.folder.join(name), &removal).unwrap()
    }

    fn trash(&self, arguments: Value) -> Result<String, String> {
        self.call("trash_manager", arguments).map(|output| output.text)
    }
}

#[test]
fn the_newest_removal_of_a_path_comes_back() {
    let bench = Bench::new();
    for content in ["first", "second"] {
        bench.put("src/a.txt", content);
        bench.removed("src/a.txt");
    }
    for (path, content) in [("src/a.txt", "second"), ("./src/../src/a.txt", "first")] {
        let text = bench.trash(json!({ "action": "restore", "file_path": path })).unwrap();
        assert!(text.starts_with("Restored (") && text.ends_with("to src/a.txt."), "{text}");
        assert_eq!(bench.get("src/a.txt"), content.as_bytes());
        std::fs::remove_file(bench.folder.join("src/a.txt")).unwrap();
    }
    let text = bench.trash(json!({ "action": "restore", "file_path": "src/a.txt" })).unwrap_err();
    assert!(text.starts_with("Nothing in the trash was removed from "), "{text}");
}

#[test]
fn an_existing_file_is_never_overwritten() {
    let bench = Bench::new();
    bench.put("a.txt", "old");
    bench.removed("a.txt");
    bench.put("a.txt", "new");
    let text = bench.trash(json!({ "action": "restore", "file_path": "a.txt" })).unwrap_err();
    assert!(text.contains("is there already") && text.contains("Move"), "{text}");
    assert_eq!(bench.get("a.txt"), b"new");
}

#[test]
fn an_id_restores_only_without_a_question() {
    let bench = Bench::new();
    bench.put("a.txt", "a");
    let inside_id = bench.removed("a.txt").id.to_string();
    bench.put(".git/config", "c");
    let git = bench.removed(".git/config").id.to_string();
    std::fs::write(bench.out.join("b.txt"), "b").unwrap();
    let outside_id = bench.removed("../out/b.txt").id.to_string();
    assert!(bench.trash(json!({ "action": "restore", "file_path": inside_id })).is_ok());
    assert_eq!(bench.get("a.txt"), b"a");
    for id in [outside_id, git] {
        let text = bench.trash(json!({ "action": "restore", "file_path": id })).unwrap_err();
        assert!(text.contains("where the person must agree"), "{text}");
    }
    let effects = bench.effects("trash_manager", json!({ "action": "restore", "file_path": "../out/b.txt" }));
    assert_eq!(effects.writes, [bench.out.join("b.txt")]);
}

#[test]
fn a_link_is_looked_up_by_its_own_name() {
    let bench = Bench::new();
    bench.put("real/x", "x");
    std::os::unix::fs::symlink("real", bench.folder.join("link")).unwrap();
    bench.removed("link");
    let text = bench.trash(json!({ "action": "restore", "file_path": "link" })).unwrap();
    assert!(text.contains("link to real"), "{text}");
    assert_eq!(std::fs::read_link(bench.folder.join("link")).unwrap(), std::path::Path::new("real"));
}

#[test]
fn this_projects_files_are_listed_first_and_a_wrong_path_gets_suggestions() {
    let bench = Bench::new();
    bench.put("mine.txt", "12345");
    bench.removed("mine.txt");
    bench.remove_in_other_project("theirs.txt");
    let text = bench.trash(json!({ "action": "list" })).unwrap();
    let (own_index, other_index) = (text.find("mine.txt").unwrap(), text.find("theirs.txt").unwrap());
    assert!(own_index < other_index && text.contains("Of other projects:"), "{text}");
    assert!(text.contains("(5 B; removed less than a minute ago)"), "{text}");
    let text = bench.trash(json!({ "action": "restore", "file_path": "wrong/mine.txt" })).unwrap_err();
    assert!(text.contains("Of a similar name:\n") && text.contains("mine.txt ("), "{text}");
    let text = bench.trash(json!({ "action": "status" })).unwrap();
    assert!(text.starts_with("In the trash: 2 things, "), "{text}");
    assert!(bench.trash(json!({ "action": "help" })).unwrap().contains("restore: give file_path"));
    assert!(bench.trash(json!({ "action": "restore" })).unwrap_err().contains("needs file_path"));
    assert!(bench.trash(json!({ "action": "shred" })).unwrap_err().contains("action"));
}

#[test]
fn emptying_is_an_effect_of_its_own_and_deletes_only_what_is_old_enough() {
    let bench = Bench::new();
    bench.put("a.txt", "a");
    bench.removed("a.txt");
    assert_eq!(bench.effects("trash_manager", json!({ "action": "empty" })).empties_trash, Some(7));
    assert_eq!(bench.effects("trash_manager", json!({ "action": "list" })).empties_trash, None);
    let text = bench.trash(json!({ "action": "empty" })).unwrap();
    assert!(text.starts_with("Deleted for good: 0 things, 0 B"), "{text}");
    let preview = bench.preview("trash_manager", json!({ "action": "empty", "days_old": 0 })).unwrap();
    assert_eq!(preview, ToolView::Plain { text: "empty, 0 days".to_owned() });
    let text = bench.trash(json!({ "action": "empty", "days_old": 0 })).unwrap();
    assert!(text.starts_with("Deleted for good: 1 thing, 1 B"), "{text}");
    assert!(bench.trash(json!({ "action": "list" })).unwrap().starts_with("No removed files"));
}
