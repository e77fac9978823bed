//! Files the agent removes are moved to the trash, and can be restored.

use crate::support::{run, serve};
use octo_protocol::{
    GetTrash, ListTrash, OnConflict, RemovedBy, RestoreOutcome, RestoreTrash, TrashForm, TrashKind,
};
use octo_testkit::{ModelServer, Script, TempHome};
use serde_json::json;

fn list() -> ListTrash {
    ListTrash { query: String::new(), kind: None, project: None, offset: 0, limit: 100 }
}

#[test]
fn rm_moves_to_the_trash_with_its_session_and_the_tool_brings_it_back() {
    let home = TempHome::new();
    home.write("dir/a.txt", "first\n");
    home.write("dir/sub/b.bin", [0_u8, 159, 146, 150]);
    home.write("keep.txt", "k");
    let script = Script::new()
        .call(
            "terminal",
            json!({ "command": "command -v rm && rm -r dir && find . -name 'keep*' -exec rm {} +" }),
        )
        .call("trash_manager", json!({ "action": "list" }))
        .call("trash_manager", json!({ "action": "restore", "file_path": "dir" }))
        .text("Done.");
    let server = ModelServer::start(script);
    let exec_result = run(&home, &server, &["--mode", "autonomous", "clean up"]).expect(0);
    let requests = server.requests();
    let results = |n: usize| requests[n].results().last().unwrap().text.clone();
    assert!(results(1).contains(&home.octo().join("bin/rm").display().to_string()), "{}", results(1));
    assert!(
        results(2).contains("Of this project:") && results(2).contains("folder, 2 files"),
        "{}",
        results(2)
    );
    assert!(results(3).starts_with("Restored ("), "{}", results(3));
    assert_eq!(home.read("dir/a.txt"), "first\n");
    assert_eq!(std::fs::read(home.work().join("dir/sub/b.bin")).unwrap(), [0, 159, 146, 150]);
    server.assert_clean();

    // The file that `find` removed is in the trash, with its details.
    let mut core = serve(&home);
    let page = core.call(list()).unwrap();
    let [entry] = page.entries.as_slice() else { panic!("{page:?}") };
    assert_eq!((entry.name.as_str(), entry.kind, entry.form), ("keep.txt", TrashKind::File, TrashForm::File));
    assert_eq!((entry.session, entry.who), (Some(exec_result.session()), RemovedBy::Agent));
    assert!(entry.turn.is_some());
    let back = RestoreTrash { ids: vec![entry.id], to: None, on_conflict: OnConflict::Ask };
    let report = core.call(back).unwrap();
    assert!(matches!(report.outcomes.as_slice(), [RestoreOutcome::Done { .. }]), "{report:?}");
    assert_eq!(home.read("keep.txt"), "k");
    assert_eq!(core.call(GetTrash {}).unwrap().totals.things, 0);
}

#[test]
fn without_a_person_the_trash_is_not_emptied() {
    let home = TempHome::new();
    home.write("a.txt", "a");
    let script = Script::new()
        .call("terminal", json!({ "command": "rm a.txt" }))
        .call("trash_manager", json!({ "action": "empty", "days_old": 0 }))
        .text("Tried.");
    let server = ModelServer::start(script);
    run(&home, &server, &["--mode", "autonomous", "clean up"]).expect(0);
    assert_eq!(serve(&home).call(GetTrash {}).unwrap().totals.things, 1);
}
