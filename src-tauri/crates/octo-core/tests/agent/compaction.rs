//! Compaction: the conversation gets shorter, and nothing is lost, whatever happens on the way.

use super::rig::{Rig, answers};
use octo_protocol::{
    BilledCall, Block, CallOutcome, ChangeSettings, CompactionLimit, Event, GetTaskTree, Mode, NoteKind,
    NoticeKind, Purpose, Role, SearchSessions, SessionId, SessionSnapshot, SessionStatus, SettingsPatch,
    TurnEnd,
};
use octo_testkit::{Gate, RecordedRequest, Reply, ReplyFinish, Script};
use serde_json::json;

const SUMMARY: &str =
    "<topics>numbers; files</topics>\n<summary>The person wants the numbers added.</summary>";

fn is_instruction(request: &RecordedRequest) -> bool {
    request.user_text().contains("Answer with exactly these two parts")
}

/// Returns a turn that reads a file of about 1,200 tokens at each step, and says "done" after `steps` of them.
fn reader(steps: usize, summing_up: impl Fn(usize) -> Reply + Send + 'static) -> Script {
    let (mut reads, mut asked) = (0, 0);
    Script::from_fn(move |request| {
        if is_instruction(request) {
            asked += 1;
            return summing_up(asked);
        }
        reads += 1;
        if reads > steps {
            return Reply::text("done");
        }
        Reply::call("file_reader", json!({ "path": format!("{reads}.txt") }))
    })
}

async fn rig(script: Script, files: usize) -> Rig {
    let rig = Rig::new(script).await;
    for number in 1..=files {
        rig.home.write(format!("{number}.txt"), format!("The number of file {number}.\n").repeat(200));
    }
    let patch = SettingsPatch {
        compact_at: Some(CompactionLimit::Tokens { tokens: 14_000 }),
        ..SettingsPatch::default()
    };
    rig.octo.call(ChangeSettings { patch }).await.unwrap();
    rig
}

fn lines(rig: &Rig, purpose: Purpose) -> Vec<BilledCall> {
    let billed = rig.seen.iter().filter_map(|envelope| match &envelope.event {
        Event::CallBilled { call } if call.purpose == purpose => Some(call.clone()),
        _ => None,
    });
    billed.collect()
}

fn count(rig: &Rig, is: impl Fn(&Event) -> bool) -> usize {
    rig.seen.iter().filter(|envelope| is(&envelope.event)).count()
}

fn summaries(snapshot: &SessionSnapshot) -> Vec<(String, u32, String)> {
    let blocks = snapshot.page.messages.iter().flat_map(|message| &message.blocks);
    blocks
        .filter_map(|block| match block {
            Block::Summary { text, covers, archive } => {
                Some((text.clone(), *covers, archive.clone().unwrap_or_default()))
            }
            _ => None,
        })
        .collect()
}

async fn start(rig: &Rig) -> SessionId {
    rig.start(Mode::Autonomous, "Please add the numbers of all files, beginning with the first.").await
}

#[tokio::test]
async fn a_long_turn_is_compacted_reads_the_cache_for_it_and_goes_on() {
    let mut rig = rig(reader(14, |_| Reply::text(SUMMARY)), 14).await;
    let session = start(&rig).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let snapshot = rig.snapshot(session).await;

    let compacted = count(&rig, |event| matches!(event, Event::ContextCompacted { .. }));
    assert!(compacted >= 1, "it was long enough");
    let found = summaries(&snapshot);
    assert_eq!(found.len(), compacted);
    let (text, covers, archive) = &found[0];
    assert!(text.contains("The person wants the numbers added.") && text.contains(archive.as_str()));
    // Nothing left the store: every message is in the transcript, and the compacted ones can be read and found.
    let archive_text = std::fs::read_to_string(archive).unwrap();
    assert!(
        archive_text.contains("beginning with the first") && archive_text.contains("The number of file 1.")
    );
    assert_eq!(
        std::fs::read_to_string(archive.replace(".md", ".jsonl")).unwrap().lines().count(),
        *covers as usize
    );
    let hits = rig
        .octo
        .call(SearchSessions {
            query: "beginning with the first".into(),
            filter: Default::default(),
            limit: 5,
        })
        .await;
    assert_eq!(hits.unwrap().hits.len(), 1);
    let first = &snapshot.page.messages[0];
    assert!(first.text().contains("beginning with the first"));

    // The compaction request has the whole preceding conversation in the cache.
    for line in lines(&rig, Purpose::Compaction) {
        let usage = line.usage.unwrap();
        assert_eq!(line.outcome, CallOutcome::Answered);
        assert!(usage.cache_read * 100 >= usage.total_input() * 85, "{usage:?}");
    }
    // The first request after it is short, and contains everything the model must know.
    let requests = rig.server.requests();
    let after = requests.iter().position(is_instruction).unwrap() + 1;
    assert!(requests[after].messages().len() < requests[after - 2].messages().len() / 2);
    let messages_there = requests[after].messages()[0].to_string();
    assert!(
        messages_there.contains("The person wants the numbers added.") && messages_there.contains("Today is")
    );
    assert!(snapshot.context_tokens < 14_000);
    rig.assert_sound();

    // After a restart the model still sees what it saw.
    rig.restart().await;
    assert_eq!(rig.snapshot(session).await.page, snapshot.page);
    rig.send(session, "And now?").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let last = rig.server.requests().last().unwrap().messages()[0].to_string();
    assert!(last.contains("earlier messages left your view"));
    rig.assert_sound();
}

#[tokio::test]
async fn a_compaction_that_fails_changes_nothing_and_is_not_asked_for_again_and_again() {
    for failing in [
        Reply::call("grep", json!({ "pattern": "x" })),
        Reply::text("  "),
        Reply::text("<summary>half of").finish(ReplyFinish::Length),
        Reply::error(400, "invalid_request_error", "no such field"),
    ] {
        let mut rig = rig(reader(8, move |_| failing.clone()), 8).await;
        let session = start(&rig).await;
        assert_eq!(rig.turn_end().await, TurnEnd::Finished);
        let request_count = rig.server.requests().iter().filter(|request| is_instruction(request)).count();
        assert_eq!(request_count, 1, "asked once until it has grown by a quarter");
        assert_eq!(count(&rig, |event| matches!(event, Event::CompactionFailed { .. })), 1);
        let snapshot = rig.snapshot(session).await;
        assert_eq!(summaries(&snapshot), []);
        let last = rig.server.requests().last().unwrap().clone();
        assert_eq!(last.all_results().len(), 8, "all of it is still sent");
        assert!(!rig.home.octo().join("archives").exists());
        rig.assert_sound();
        // The reason is still shown when the session is opened again.
        let events = rig.seen.iter().find_map(|envelope| match &envelope.event {
            Event::CompactionFailed { error } => Some((envelope.seq, error.clone())),
            _ => None,
        });
        rig.restart().await;
        let notes = rig.snapshot(session).await.notes;
        assert!(notes.iter().all(|note| note.kind == NoteKind::NotCompacted), "{notes:?}");
        assert_eq!(notes.into_iter().map(|note| (note.seq, note.note)).next(), events);
    }
}

#[tokio::test]
async fn a_compaction_that_meets_a_moments_trouble_is_tried_again() {
    let busy = Reply::error(529, "overloaded_error", "Overloaded");
    let script = reader(9, move |attempt| if attempt == 1 { busy.clone() } else { Reply::text(SUMMARY) });
    let mut rig = rig(script, 9).await;
    let session = start(&rig).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let outcomes: Vec<CallOutcome> =
        lines(&rig, Purpose::Compaction).into_iter().map(|line| line.outcome).collect();
    assert_eq!(outcomes, [CallOutcome::Failed, CallOutcome::Answered], "each try has its line");
    assert_eq!(count(&rig, |event| matches!(event, Event::CompactionFailed { .. })), 0);
    assert_eq!(summaries(&rig.snapshot(session).await).len(), 1);
    rig.assert_sound();
}

#[tokio::test]
async fn stopped_before_a_compaction_is_tried_again_nothing_is_asked() {
    let busy = Reply::error(529, "overloaded_error", "Overloaded").header("retry-after", "50");
    let mut rig = rig(reader(9, move |_| busy.clone()), 9).await;
    let session = start(&rig).await;
    rig.event("the second try's beginning", {
        let mut begun = 0;
        move |event| {
            begun += usize::from(matches!(event, Event::CompactionStarted));
            (begun == 2).then_some(())
        }
    })
    .await;
    rig.stop(session).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Stopped);
    assert_eq!(rig.server.requests().iter().filter(|request| is_instruction(request)).count(), 1);
    assert_eq!(summaries(&rig.snapshot(session).await), []);
    rig.assert_sound();
}

#[tokio::test]
async fn a_task_is_called_after_its_message_though_that_was_summed_up_before_its_first_change() {
    let mut reads = 0;
    let script = Script::from_fn(move |request| {
        if is_instruction(request) {
            return Reply::text(SUMMARY);
        }
        reads += 1;
        match reads {
            1..=9 => Reply::call("file_reader", json!({ "path": format!("{reads}.txt") })),
            10 => Reply::call("write", json!({ "path": "sum.txt", "content": "45" })),
            _ => Reply::text("done"),
        }
    });
    let mut rig = rig(script, 9).await;
    let session = start(&rig).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(summaries(&rig.snapshot(session).await).len(), 1, "it was summed up on the way");
    let tree = rig.octo.call(GetTaskTree { session }).await.unwrap();
    let called =
        tree.tasks.iter().filter(|task| task.summary.starts_with("Please add the numbers of all files"));
    assert_eq!(called.count(), 1, "{tree:?}");
}

#[tokio::test]
async fn stopped_while_it_is_compacted_everything_is_as_it_was() {
    let gate = Gate::new();
    let held_reply = Reply::text(SUMMARY).in_chunks(3).hold_after(1, &gate);
    let mut rig = rig(reader(9, move |_| held_reply.clone()), 9).await;
    let session = start(&rig).await;
    super::rig::reached(&gate).await;
    rig.stop(session).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Stopped);
    let snapshot = rig.snapshot(session).await;
    assert_eq!((summaries(&snapshot), snapshot.info.status), (vec![], SessionStatus::Idle));
    assert_eq!(lines(&rig, Purpose::Compaction)[0].outcome, CallOutcome::Stopped);
    let matching = snapshot.page.messages.iter().flat_map(|message| &message.blocks);
    let instructed =
        matching.filter(|block| matches!(block, Block::Notice { kind: NoticeKind::Compaction, .. })).count();
    assert_eq!(instructed, 0, "the instruction is nobody's message");
    gate.open();
    rig.assert_sound();
}

#[tokio::test]
async fn closed_while_it_is_compacted_the_next_start_compacts_again() {
    let gate = Gate::new();
    let held_reply = Reply::text(SUMMARY).in_chunks(3).hold_after(1, &gate);
    let script =
        reader(9, move |attempt| if attempt == 1 { held_reply.clone() } else { Reply::text(SUMMARY) });
    let mut rig = rig(script, 9).await;
    let session = start(&rig).await;
    super::rig::reached(&gate).await;
    rig.restart().await;
    gate.open();
    while rig.snapshot(session).await.info.status != SessionStatus::Idle {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let snapshot = rig.snapshot(session).await;
    assert_eq!(summaries(&snapshot).len(), 1);
    assert!(answers(&snapshot).contains("done"));
    rig.assert_sound();
}

fn too_long() -> Reply {
    Reply::error(400, "invalid_request_error", "prompt is too long: 218849 tokens > 200000 maximum")
}

#[tokio::test]
async fn a_conversation_the_provider_finds_too_long_is_compacted_and_the_call_made_again() {
    // The server accepts at most four results at once, and says so.
    let mut reads = 0;
    let script = Script::from_fn(move |request| {
        if request.all_results().len() > 4 {
            return too_long();
        }
        if is_instruction(request) {
            return Reply::text(SUMMARY);
        }
        reads += 1;
        if reads > 7 {
            Reply::text("done")
        } else {
            Reply::call("file_reader", json!({ "path": format!("{reads}.txt") }))
        }
    });
    let mut rig = rig(script, 7).await;
    let patch = SettingsPatch { compact_at: Some(CompactionLimit::Usual), ..SettingsPatch::default() };
    rig.octo.call(ChangeSettings { patch }).await.unwrap();
    let session = start(&rig).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let snapshot = rig.snapshot(session).await;
    assert!(!summaries(&snapshot).is_empty());
    assert!(answers(&snapshot).ends_with("done"));
    // The step that did not fit was kept out of the summary, not lost.
    let results: usize = snapshot
        .page
        .messages
        .iter()
        .flat_map(|message| &message.blocks)
        .filter(|block| matches!(block, Block::ToolResult(_)))
        .count();
    assert_eq!(results, 7);
    rig.assert_sound();
}

#[tokio::test]
async fn what_cannot_be_made_shorter_fails_with_its_name() {
    let mut rig = rig(Script::from_fn(|_| too_long()), 0).await;
    let session = start(&rig).await;
    let TurnEnd::Failed { error } = rig.turn_end().await else { panic!("it fails") };
    assert_eq!(error.key, "provider.context_too_long");
    assert_eq!(rig.server.requests().len(), 1);
    let snapshot = rig.snapshot(session).await;
    assert_eq!(snapshot.page.messages.len(), 1);
    assert_eq!(snapshot.page.messages[0].role, Role::User);
}
