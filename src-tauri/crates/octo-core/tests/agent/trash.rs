//! The trash through the application's public API.

use super::{
    rig::{PATIENCE, Rig, statuses},
    schedule::world::HandClock,
};
use octo_core::Octo;
use octo_protocol::{
    Answer, AskReason, CallStatus, ChangeSettings, CountTrash, DeleteSession, EmptyTrash, Event, GetTrash,
    ListSessions, ListTrash, Millis, Mode, OnConflict, OpenSession, PreviewTrash, QuestionContent, RemovedBy,
    ReportSpending, RestoreOutcome, RestoreSession, RestoreTrash, SearchSessions, SettingsPatch, StoredTopic,
    TrashChoice, TrashEntry, TrashExcerpt, TrashKind, TrashLimits, TrashTotals, TurnEnd,
};
use octo_testkit::Script;
use octo_workspace::{Removal, Trash};
use serde_json::json;
use std::time::Duration;

async fn listed(octo: &Octo) -> Vec<TrashEntry> {
    let call = ListTrash { query: String::new(), kind: None, project: None, offset: 0, limit: 100 };
    octo.call(call).await.unwrap().entries
}

fn removed(rig: &Rig, name: &str, content: &str) {
    let path = rig.home.write(name, content).canonicalize().unwrap();
    let removal = Removal {
        remover: RemovedBy::Agent,
        session: None,
        project: None,
        command: Some(format!("rm {name}")),
    };
    Trash::in_home(&rig.home.octo()).move_in(&path, &removal).unwrap();
}

async fn restore(
    rig: &Rig,
    entry: &TrashEntry,
    to: Option<String>,
    on_conflict: OnConflict,
) -> RestoreOutcome {
    let report = rig.octo.call(RestoreTrash { ids: vec![entry.id], to, on_conflict }).await.unwrap();
    report.outcomes.into_iter().next().unwrap()
}

#[tokio::test]
async fn a_deleted_session_is_in_the_trash_and_comes_back_whole() {
    let mut rig = Rig::new(Script::new().text("a word of my own")).await;
    let session = rig.start(Mode::Ask, "remember the heron").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let before = rig.snapshot(session).await;
    rig.octo.call(DeleteSession { session }).await.unwrap();
    let totals = rig
        .event("change of the trash", |event| match event {
            Event::TrashChanged { totals } => Some(*totals),
            _ => None,
        })
        .await;
    let entry = listed(&rig.octo).await.pop().unwrap();
    assert_eq!(totals, TrashTotals { things: 1, bytes: entry.size });
    assert_eq!(
        (entry.kind, entry.session, entry.who),
        (TrashKind::Session, Some(session), RemovedBy::Person)
    );
    assert_eq!((entry.name.as_str(), entry.files), ("remember the heron", 2));
    let look = rig.octo.call(PreviewTrash { id: entry.id }).await.unwrap().look;
    assert!(
        matches!(&look, TrashExcerpt::Session { lines } if lines.last().unwrap() == "a word of my own"),
        "{look:?}"
    );

    // Through a restart, by the panel.
    rig.restart().await;
    assert!(matches!(restore(&rig, &entry, None, OnConflict::Ask).await, RestoreOutcome::Done { .. }));
    assert!(listed(&rig.octo).await.is_empty());
    let after = rig.snapshot(session).await;
    assert_eq!((after.page, after.info.title), (before.page, before.info.title));

    // And by the toast.
    rig.octo.call(DeleteSession { session }).await.unwrap();
    rig.octo.call(RestoreSession { session }).await.unwrap();
    assert!(listed(&rig.octo).await.is_empty());
    rig.assert_sound();
}

#[tokio::test]
async fn a_purged_session_leaves_nothing_but_what_it_cost() {
    let idle = octo_core::IDLE_AFTER;
    let mut rig = Rig::priced(Script::new().text("the secret word is heron"), idle).await;
    let session = rig.start(Mode::Ask, "say it").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let spent = || ReportSpending { from: 0, to: Millis::MAX };
    let before = rig.octo.call(spent()).await.unwrap();
    rig.octo.call(DeleteSession { session }).await.unwrap();
    let which = TrashChoice::Before { at: Millis::MAX };
    assert_eq!(rig.octo.call(CountTrash { which: which.clone() }).await.unwrap().things, 1);
    let report = rig.octo.call(EmptyTrash { which }).await.unwrap();
    assert_eq!((report.removed.things, report.kept, report.error), (1, 0, None));
    assert!(rig.octo.call(RestoreSession { session }).await.is_err());
    assert!(rig.octo.call(OpenSession { session }).await.is_err());
    let found = SearchSessions { query: "heron".into(), filter: Default::default(), limit: 10 };
    assert!(rig.octo.call(found).await.unwrap().hits.is_empty());
    let page = ListSessions { query: String::new(), filter: Default::default(), offset: 0, limit: 10 };
    assert_eq!(rig.octo.call(page).await.unwrap().total, 0);
    assert_eq!(rig.octo.call(spent()).await.unwrap(), before, "what was paid stays known");
    assert!(rig.octo.events_since(StoredTopic::Session { id: session }, 0, 10).await.unwrap().is_empty());
    for kind in ["scratch", "shells", "archives"] {
        assert!(!rig.home.octo().join(kind).join(session.to_string()).exists(), "{kind}");
    }
}

#[tokio::test]
async fn conflicts_ask_and_each_answer_does_what_it_says() {
    let rig = Rig::new(Script::new()).await;
    removed(&rig, "a.txt", "old");
    rig.home.write("a.txt", "new");
    let entry = listed(&rig.octo).await.pop().unwrap();
    assert_eq!(entry.command.as_deref(), Some("rm a.txt"));
    let preview = rig.octo.call(PreviewTrash { id: entry.id }).await.unwrap();
    assert_eq!(preview.present.map(|present| present.size), Some(3));
    assert_eq!(preview.look, TrashExcerpt::Text { text: "old".into(), more: false });
    let taken = restore(&rig, &entry, None, OnConflict::Ask).await;
    assert!(matches!(taken, RestoreOutcome::Taken { .. }), "{taken:?}");
    assert_eq!(rig.home.read("a.txt"), "new");
    restore(&rig, &entry, None, OnConflict::Replace).await;
    assert_eq!(rig.home.read("a.txt"), "old");
    let entry = listed(&rig.octo).await.pop().unwrap();
    assert_eq!(entry.who, RemovedBy::Person, "what was replaced is in the trash now");
    restore(&rig, &entry, None, OnConflict::KeepBoth).await;
    assert_eq!(rig.home.read("a (2).txt"), "new");

    removed(&rig, "b.txt", "b");
    let entry = listed(&rig.octo).await.pop().unwrap();
    let elsewhere = rig.home.home().display().to_string();
    restore(&rig, &entry, Some(elsewhere), OnConflict::Ask).await;
    assert_eq!(std::fs::read_to_string(rig.home.home().join("b.txt")).unwrap(), "b");
    assert!(listed(&rig.octo).await.is_empty());
    let wrong = RestoreTrash { ids: vec![], to: Some("relative".into()), on_conflict: OnConflict::Ask };
    assert_eq!(rig.octo.call(wrong).await.unwrap_err().key, "trash.no_folder");
}

#[tokio::test]
async fn the_model_empties_the_trash_only_after_a_question_also_when_nothing_else_asks() {
    let empty = ("trash_manager", json!({ "action": "empty", "days_old": 0 }));
    let script = Script::new().calls([empty.clone()]).calls([empty]).text("done");
    let mut rig = Rig::new(script).await;
    removed(&rig, "a.txt", "12345");
    let session = rig.start(Mode::Autonomous, "empty it").await;
    for (answer, left) in [(Answer::No { reason: None }, 1), (Answer::Once, 0)] {
        let question = rig.question().await;
        let QuestionContent::Permission { reason, rule, .. } = &question.ask else { panic!("{question:?}") };
        let totals = TrashTotals { things: 1, bytes: 5 };
        assert_eq!((reason, rule), (&AskReason::EmptiesTrash { totals, days: 0 }, &None));
        rig.answer(session, &question, answer).await;
        if left == 0 {
            assert_eq!(rig.turn_end().await, TurnEnd::Finished);
        }
    }
    assert_eq!(statuses(&rig.snapshot(session).await), [CallStatus::Denied, CallStatus::Done]);
    assert_eq!(rig.octo.call(GetTrash {}).await.unwrap().totals.things, 0);
    rig.assert_sound();
}

#[tokio::test]
async fn a_smaller_limit_takes_effect_at_once_and_spares_the_last_day() {
    let mut rig = Rig::new(Script::new()).await;
    removed(&rig, "today.txt", "today");
    // Dependencies may be removed although they are new.
    rig.home.write("package.json", "{}");
    let modules = rig.home.write("node_modules/x/index.js", "x").canonicalize().unwrap();
    let modules = modules.parent().unwrap().parent().unwrap().to_owned();
    let removal = Removal { remover: RemovedBy::Agent, session: None, project: None, command: None };
    Trash::in_home(&rig.home.octo()).move_in(&modules, &removal).unwrap();
    assert_eq!(listed(&rig.octo).await.len(), 2);
    rig.event("both", |event| matches!(event, Event::TrashChanged { .. }).then_some(())).await;
    let patch = SettingsPatch {
        trash: Some(TrashLimits { days: Some(1), bytes: Some(0) }),
        ..SettingsPatch::default()
    };
    rig.octo.call(ChangeSettings { patch }).await.unwrap();
    let totals = rig
        .event("expiry", |event| match event {
            Event::TrashChanged { totals } => Some(*totals),
            _ => None,
        })
        .await;
    assert_eq!(totals, TrashTotals { things: 1, bytes: 5 });
    assert_eq!(listed(&rig.octo).await[0].name, "today.txt");
}

#[tokio::test]
async fn entries_are_made_again_when_the_store_lost_them_and_dropped_when_the_content_is_gone() {
    let mut rig = Rig::new(Script::new()).await;
    removed(&rig, "a.txt", "a");
    removed(&rig, "b.txt", "b");
    let before = listed(&rig.octo).await;
    rig.octo.shutdown().await;
    std::fs::remove_dir_all(rig.home.octo().join("trash").join(before[0].id.to_string())).unwrap();
    for file in ["octo.db", "octo.db-wal", "octo.db-shm"] {
        let _ = std::fs::remove_file(rig.home.octo().join(file));
    }
    rig.octo = super::rig::open(&rig.home).await;
    assert_eq!(listed(&rig.octo).await, before[1..]);
    // Deleted while the store still knows it.
    let id = before[1].id;
    rig.octo.shutdown().await;
    std::fs::remove_dir_all(rig.home.octo().join("trash").join(id.to_string())).unwrap();
    rig.octo = super::rig::open(&rig.home).await;
    assert!(listed(&rig.octo).await.is_empty());
}

const HOUR: Millis = 60 * 60 * 1_000;
const DAY: Millis = 24 * HOUR;
const YEAR: Millis = 365 * DAY;

/// Restarts the application with a clock set to this time; returns the trash's entries after its check.
async fn by_clock(rig: &mut Rig, now: Millis) -> Vec<String> {
    rig.end().await;
    rig.begin_by_clock(HandClock::at(now)).await;
    let path = rig.home.octo().join("trash/looked.json");
    let result = async {
        loop {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let known: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
            if known["at"] == now {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, result).await.expect("the trash is looked through");
    listed(&rig.octo).await.into_iter().map(|entry| entry.name).collect()
}

fn system_time() -> Millis {
    let past = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Millis::try_from(past.as_millis()).unwrap()
}

#[tokio::test]
async fn a_clock_that_is_a_year_off_empties_no_trash_and_age_still_does() {
    let mut rig = Rig::by_clock(Script::new(), HandClock::at(system_time())).await;
    removed(&rig, "a.txt", "a");
    let now = system_time();
    // At normal speed; then a year ahead, seen twice and for a day; then corrected.
    for at in [now, now + DAY, now + YEAR, now + YEAR + HOUR, now + YEAR + DAY, now + 2 * DAY, now + 3 * DAY]
    {
        assert_eq!(by_clock(&mut rig, at).await, ["a.txt"], "{} days on", (at - now) / DAY);
    }
    let entry = listed(&rig.octo).await.pop().unwrap();
    let until = rig.octo.call(PreviewTrash { id: entry.id }).await.unwrap().until;
    assert_eq!(until, Some(entry.at + 30 * DAY), "nothing of that is left");
    // A pause of weeks delays the expiry, and elapsed use counts.
    for day in [8, 29, 30, 37] {
        assert_eq!(by_clock(&mut rig, now + day * DAY).await, ["a.txt"], "{day} days on");
    }
    for day in [44, 45] {
        by_clock(&mut rig, now + day * DAY).await;
    }
    assert!(listed(&rig.octo).await.is_empty());
}

#[tokio::test]
async fn what_was_deleted_by_a_clock_a_year_behind_is_there_once_it_is_right() {
    let now = system_time();
    // By the corrected clock, a deletion made now would be a year old.
    let mut rig = Rig::by_clock(Script::new(), HandClock::at(now)).await;
    removed(&rig, "a.txt", "a");
    for at in [now + YEAR, now + YEAR + DAY, now + YEAR + 8 * DAY, now + YEAR + 15 * DAY] {
        assert_eq!(by_clock(&mut rig, at).await, ["a.txt"]);
    }
    by_clock(&mut rig, now + YEAR + 22 * DAY).await;
    assert_eq!(by_clock(&mut rig, now + YEAR + 24 * DAY).await, Vec::<String>::new());
}
