//! Models that fail, loop and lie; folders that vanish.

use super::rig::{Rig, answers, results, statuses, words};
use octo_protocol::{
    CallStatus, ChangeSettings, ErrorCode, Event, Mode, RetryTurn, Send, SessionStatus, SettingsPatch,
    StoredTopic, Switch, TroubleStage, TurnEnd, Update,
};
use octo_testkit::{Reply, ReplyFinish, Script, StreamCut};
use serde_json::json;

fn failed_with(end: &TurnEnd) -> &str {
    match end {
        TurnEnd::Failed { error } => &error.key,
        other => panic!("it failed: {other:?}"),
    }
}

#[tokio::test]
async fn an_overloaded_server_is_tried_again() {
    let script = Script::new()
        .reply(Reply::error(529, "overloaded_error", "busy").header("retry-after", "0"))
        .text("here");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, "hello").await;
    let retry = rig
        .event("retry", |event| match event {
            Event::RetryScheduled { retry } => Some(retry.clone()),
            _ => None,
        })
        .await;
    assert_eq!((retry.attempt, retry.error.key.as_str()), (2, "provider.overloaded"));
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(answers(&rig.snapshot(session).await), "here");
    rig.assert_sound();
}

#[tokio::test]
async fn a_stream_that_is_cut_is_never_taken_for_an_answer() {
    let cut_reply = Reply::text("Only the first").cut_after(400, StreamCut::End);
    let mut rig = Rig::new(Script::new().reply(cut_reply).text("The whole of it")).await;
    let session = rig.start(Mode::Ask, "hello").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(answers(&rig.snapshot(session).await), "The whole of it", "what was cut is taken back");
    rig.assert_sound();
}

#[tokio::test]
async fn a_wrong_key_fails_at_once_and_retry_really_retries() {
    let script =
        Script::new().reply(Reply::error(401, "authentication_error", "invalid x-api-key")).text("fine now");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, "hello").await;
    let end = rig.turn_end().await;
    assert_eq!(failed_with(&end), "provider.auth");
    let TurnEnd::Failed { error } = &end else { unreachable!() };
    assert_eq!(error.code, Some(ErrorCode::KeyNeeded));
    assert_eq!(rig.snapshot(session).await.info.status, SessionStatus::Failed);
    rig.octo.call(RetryTurn { session }).await.unwrap();
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let requests = rig.server.requests();
    assert_eq!(requests[0].messages(), requests[1].messages(), "the same step, no message made up");
    rig.assert_sound();
}

#[tokio::test]
async fn a_page_with_status_200_is_an_error_with_a_name() {
    let mut rig = Rig::new(Script::new().reply(Reply::html()).text("ok")).await;
    rig.start(Mode::Ask, "hello").await;
    let key = rig
        .event("retry", |event| match event {
            Event::RetryScheduled { retry } => Some(retry.error.key.clone()),
            _ => None,
        })
        .await;
    assert_eq!(key, "provider.malformed");
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
}

#[tokio::test]
async fn unknown_tools_and_broken_arguments_are_told_to_the_model() {
    let script = Script::new()
        .call("file_raeder", json!({ "path": "a" }))
        .reply(Reply::nothing().and_raw_call("write", r#"{"path": "a.txt", "content": "half a fi"#))
        .call("edit", json!({ "path": "a.txt" }))
        .text("I give up");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Autonomous, "go").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(statuses(&rig.snapshot(session).await), [CallStatus::Failed; 3]);
    assert!(!rig.home.work().join("a.txt").exists(), "half a file was not written");
    let requests = rig.server.requests();
    assert!(requests[1].results()[0].text.contains("file_reader"), "{:?}", requests[1].results());
    assert!(requests[3].results()[0].text.contains("old_string"), "{:?}", requests[3].results());
    rig.assert_sound();
}

#[tokio::test]
async fn a_model_that_loops_is_stopped() {
    let script = Script::from_fn(|_| Reply::call("glob", json!({ "pattern": "*" })));
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, "loop").await;
    assert_eq!(failed_with(&rig.turn_end().await), "turn.looping");
    assert!(rig.server.requests().len() < 15);
    let statuses = statuses(&rig.snapshot(session).await);
    assert_eq!(statuses.iter().filter(|status| **status == CallStatus::Failed).count(), 3);
    rig.assert_sound();
}

#[tokio::test]
async fn an_answer_cut_by_the_output_limit_goes_on() {
    let script = Script::new().reply(Reply::text("part one").finish(ReplyFinish::Length)).text("part two");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, "long").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(answers(&rig.snapshot(session).await), "part one\npart two");
    rig.assert_sound();
}

#[tokio::test]
async fn a_folder_that_vanished_is_named_and_nothing_is_sent() {
    let mut rig = Rig::new(Script::new().text("hi")).await;
    let session = rig.start(Mode::Ask, "hello").await;
    rig.turn_end().await;
    let moved = rig.home.work().with_file_name("moved");
    std::fs::rename(rig.home.work(), &moved).unwrap();
    let error = rig.octo.call(Send { session, blocks: words("more") }).await.unwrap_err();
    std::fs::rename(&moved, rig.home.work()).unwrap();
    assert_eq!(error.key, "session.folder_gone");
    assert_eq!(rig.server.requests().len(), 1);
}

/// The session's folder goes while a turn works in it: no command runs anywhere, and the errors say what to do.
#[tokio::test]
async fn without_its_folder_a_turn_runs_nothing_and_the_model_is_told_how_to_restore_it() {
    let elsewhere = tempfile::tempdir().unwrap();
    let script = Script::new()
        .call("terminal", json!({ "command": "mv \"$PWD\" \"$PWD-moved\"" }))
        .call("terminal", json!({ "command": "touch ran" }))
        .call("terminal", json!({ "command": "touch ran", "cwd": elsewhere.path() }))
        .call("write", json!({ "path": "a.txt", "content": "x" }))
        .text("it is gone");
    let mut rig = Rig::new(script).await;
    // Confined, a command cannot rename the session's folder.
    let off = SettingsPatch { confinement: Some(Switch::Off), ..SettingsPatch::default() };
    rig.octo.call(ChangeSettings { patch: off }).await.unwrap();
    let session = rig.start(Mode::Autonomous, "move it").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let told = results(&rig.snapshot(session).await);
    assert_eq!(told.len(), 4, "{told:?}");
    for text in &told[1..] {
        assert!(
            text.contains("trash_manager") && text.contains(&rig.home.work().display().to_string()),
            "{text}"
        );
    }
    assert!(!elsewhere.path().join("ran").exists() && !rig.home.work().exists());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_is_named_what_was_stored_is_kept_and_it_goes_on_when_there_is_room() {
    let home = octo_testkit::TempHome::new();
    let Some(disk) = octo_testkit::SmallDisk::mount(&home.octo()) else {
        println!("skipped: this user cannot mount a small disk");
        return;
    };
    let mut rig = Rig::in_home(home, Script::new().text("hello").text("here again")).await;
    let session = rig.start(Mode::Ask, "hi").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let before = rig.snapshot(session).await;
    let topic = octo_protocol::StoredTopic::Session { id: session };
    let mut updates = rig.octo.subscribe(topic).await.unwrap();

    disk.fill();
    let long = "much more than is left ".repeat(40_000);
    let error = rig.octo.call(Send { session, blocks: words(&long) }).await.unwrap_err();
    assert_eq!(error.key, "store.full");
    let fault = tokio::time::timeout(super::rig::PATIENCE, async {
        loop {
            let batch = updates.next().await.expect("the subscription tells of it");
            if let Some(octo_protocol::Update::Trouble { trouble: Some(trouble), .. }) = batch.last() {
                break trouble.clone();
            }
        }
    });
    let trouble = fault.await.unwrap();
    assert_eq!((trouble.error.key.as_str(), trouble.stage), ("store.full", TroubleStage::Ended));
    assert_eq!(rig.snapshot(session).await.page, before.page);

    disk.free();
    rig.send(session, "once more").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(answers(&rig.snapshot(session).await).ends_with("here again"));
    rig.server.assert_clean();
    rig.octo.shutdown().await;
}

/// Returns the next storage notice of a session: it cannot be stored, or can be again.
#[cfg(target_os = "linux")]
async fn trouble(updates: &mut octo_core::Subscription) -> Option<(String, TroubleStage)> {
    let wait = async {
        loop {
            let batch = updates.next().await.expect("the subscription goes on");
            let news = batch.into_iter().rev().find_map(|update| match update {
                Update::Trouble { trouble, .. } => Some(trouble),
                _ => None,
            });
            if let Some(news) = news {
                return news.map(|trouble| (trouble.error.key, trouble.stage));
            }
        }
    };
    tokio::time::timeout(super::rig::PATIENCE, wait).await.expect("news come")
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn work_under_way_is_held_until_there_is_room_and_everybody_is_told() {
    let home = octo_testkit::TempHome::new();
    let Some(disk) = octo_testkit::SmallDisk::mount(&home.octo()) else {
        println!("skipped: this user cannot mount a small disk");
        return;
    };
    let gate = octo_testkit::Gate::new();
    let long = "more than is left ".repeat(60_000);
    let script = Script::new().reply(Reply::text(&long).in_chunks(2).hold_after(1, &gate));
    let mut rig = Rig::in_home(home, script).await;
    let session = rig.start(Mode::Ask, "hi").await;
    gate.reached().await;
    let mut list = rig.octo.subscribe(StoredTopic::Sessions).await.unwrap();

    disk.fill();
    gate.open();
    let waits = Some(("store.full".to_owned(), TroubleStage::Waiting));
    assert_eq!(trouble(&mut list).await, waits, "the list tells of it");
    let mut late = rig.octo.subscribe(StoredTopic::Session { id: session }).await.unwrap();
    assert_eq!(trouble(&mut late).await, waits, "so does a session that is opened later");

    disk.free();
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(trouble(&mut list).await, None);
    assert_eq!(trouble(&mut late).await, None);
    assert_eq!(answers(&rig.snapshot(session).await), long, "what was paid for is there");
    assert_eq!(rig.server.requests().len(), 1);
    rig.assert_sound();
    rig.octo.shutdown().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn stop_ends_a_command_also_when_nothing_can_be_stored() {
    let home = octo_testkit::TempHome::new();
    let Some(disk) = octo_testkit::SmallDisk::mount(&home.octo()) else {
        println!("skipped: this user cannot mount a small disk");
        return;
    };
    let line = "echo $$ > pid; while :; do sleep 1; done";
    let mut rig =
        Rig::in_home(home, Script::new().call("terminal", serde_json::json!({ "command": line }))).await;
    let session = rig.start(Mode::Autonomous, "run").await;
    rig.call_started("terminal").await;
    let file = rig.home.work().join("pid");
    while std::fs::read_to_string(&file).unwrap_or_default().trim().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let pid = rig.home.read("pid");
    let mut list = rig.octo.subscribe(StoredTopic::Sessions).await.unwrap();
    // Fills the rest of the disk page by page, so that not even the smallest change fits.
    disk.fill();
    let octo = rig.octo.clone();
    // Too long for the remaining space of the write-ahead log.
    let queued = words(&"waiting ".repeat(200_000));
    let sending = tokio::spawn(async move { octo.call(Send { session, blocks: queued }).await });
    assert_eq!(trouble(&mut list).await, Some(("store.full".to_owned(), TroubleStage::Waiting)));
    let octo = rig.octo.clone();
    let stopping = tokio::spawn(async move { octo.call(octo_protocol::Stop { session }).await });
    let started = std::time::Instant::now();
    let runs = || {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    while runs() {
        assert!(started.elapsed() < super::rig::PATIENCE, "the command still runs");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert!(started.elapsed() < std::time::Duration::from_secs(3), "{:?}", started.elapsed());

    disk.free();
    assert_eq!(rig.turn_end().await, TurnEnd::Stopped);
    sending.await.unwrap().unwrap();
    stopping.await.unwrap().unwrap();
    rig.assert_sound();
    rig.octo.shutdown().await;
}
