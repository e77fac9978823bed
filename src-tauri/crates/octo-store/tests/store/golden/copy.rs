//! What is read of the golden home through the store's own functions, written into a second home: the same rows.

use super::{dump, golden_home};
use octo_protocol::*;
use octo_store::{NewSession, Store, ToolsetRow, TrashFilter};
use rusqlite::Connection;
use std::path::Path;

/// The rows of some tables, with these columns.
fn rows(home: &Path, tables: &[(&str, &str)]) -> Vec<String> {
    let file = Connection::open(home.join("octo.db")).unwrap();
    tables.iter().flat_map(|(table, columns)| dump::select(&file, table, columns)).collect()
}

#[test]
fn the_events_of_a_session_make_the_same_rows() {
    // What the events say; when a row was written the store says.
    const TABLES: &[(&str, &str)] = &[
        ("messages", "key, id, turn, role, origin, at, model, end, usage_json, open, via"),
        ("blocks", "key, text, block_json"),
        ("turns", "id, started_at, ended_at, end_json, usage_input, usage_output, stopping, undone"),
        ("calls", "id, turn, tool, state_json, started_at, ended_at, view_json"),
        ("questions", "id, question_json"),
        ("queue", "position, queued_json"),
        ("todos", "position, todo_json"),
        (
            "commands",
            "position, handle, call, command, cwd, started_at, ended_at, state_json, log, last_line",
        ),
        ("notes", "key, note_json, kind"),
        (
            "ledger",
            "turn, message, purpose, model, name, at, reported, input, cache_read, cache_write, output, \
             written_for_an_hour, cost, first_byte_ms, total_ms, outcome, expected_read, miss_json, again, again_cost",
        ),
        (
            "sessions",
            "id, title, folder, profile, mode, model, source, effort, suggestion_json, budget_json, retry_json",
        ),
    ];
    let ((golden, _), second) = (golden_home(), crate::home());
    let (source, target) = (Store::open(golden.path()).unwrap(), Store::open(second.path()).unwrap());
    let (list, _) = source.read_blocking(|reader| reader.sessions("heron", 0, 10)).unwrap();
    let topic = StoredTopic::Session { id: list[0].id };
    let events = source.read_blocking(move |reader| reader.events_since(&topic, 0, 1_000)).unwrap();
    let mut events = events.into_iter().map(|envelope| envelope.event);
    let Some(Event::SessionChanged { info }) = events.next() else {
        panic!("a session begins with its head")
    };
    let stored = source.read_blocking(move |reader| reader.resume(info.id)).unwrap().unwrap();
    let session = NewSession { info: stored.info, system: stored.system, toolset: stored.toolset };
    target
        .write_blocking(move |tx| {
            tx.create_session(&session)?;
            events.try_for_each(|event| tx.emit(topic, event).map(drop))
        })
        .unwrap();
    let id = list[0].id;
    let draft = source.read_blocking(move |reader| reader.draft_of(id)).unwrap();
    target.write_blocking(move |tx| tx.set_draft(id, &draft)).unwrap();
    source.close();
    target.close();
    // Those of the other sessions come after.
    let expected = rows(second.path(), TABLES);
    assert!(expected.len() >= 20);
    let golden_rows = rows(golden.path(), TABLES);
    for row in &expected {
        assert!(golden_rows.contains(row), "not in the golden home: {row}");
    }
    let drafts = |home: &Path| rows(home, &[("drafts", "draft_json")]);
    assert_eq!(drafts(second.path()), drafts(golden.path()));
}

#[test]
fn state_without_events_makes_the_same_rows() {
    const TABLES: &[(&str, &str)] = &[
        ("settings", "settings_json"),
        ("models", "id, entry_json"),
        ("rules", "folder, rule_json"),
        ("new_draft", "draft_json"),
        ("task_states", "task, paused, accepted, decided"),
        (
            "task_runs",
            "id, task, name, cause_json, slot, due, status_json, started_at, ended_at, session, budget, minutes, worked, \
             ending, cost, result",
        ),
        ("suggestions", "id, name, kind, reason, session, title, turn, cost, at, text, base"),
        (
            "trash",
            "id, kind, form, path, name, folder, size, files, mode, link, at, who, session, turn, project, command, \
             made_again",
        ),
        ("chat_offers", "account, person, name, code, until, said_at"),
        ("chat_accounts", "service, account, next, fetched_at"),
        ("chat_letters", "at, letter_json"),
    ];
    let ((golden, _), second) = (golden_home(), crate::home());
    let (source, target) = (Store::open(golden.path()).unwrap(), Store::open(second.path()).unwrap());
    let read = source.read_blocking(|reader| {
        let runs = reader.runs(None, None, 100)?;
        let rows: Vec<_> = runs.iter().map(|run| reader.run(run.id)).collect::<Result<_, _>>()?;
        Ok((
            reader.settings_state()?,
            reader.all_rules()?,
            reader.new_draft()?,
            reader.task_states()?,
            rows,
            reader.suggestions()?,
            reader.trash_page(&TrashFilter::default(), 0, 100)?.0,
            (reader.chats(ChatService::Telegram)?, reader.pairing_codes()?, reader.inbound_messages(10)?),
        ))
    });
    let (settings, rules, draft, tasks, runs, suggestions, trash, (chats, codes, messages)) = read.unwrap();
    let account = chats[0].account.clone();
    let chat_account = account.clone();
    let fetched = source
        .read_blocking(move |reader| reader.fetch_position(ChatService::Telegram, &chat_account))
        .unwrap()
        .unwrap();
    let deleted =
        trash.iter().find_map(|row| row.entry.session.filter(|_| row.entry.kind == TrashKind::Session));
    target
        .write_blocking(move |tx| {
            tx.put_settings(&settings.settings)?;
            settings.models.iter().try_for_each(|model| tx.put_model(model))?;
            rules.iter().try_for_each(|(folder, rule)| tx.add_rule(folder, rule))?;
            tx.set_new_draft(&draft)?;
            tasks.iter().try_for_each(|(task, state)| tx.put_task_state(task, state))?;
            runs.iter().flatten().rev().try_for_each(|run| {
                tx.add_run(run)?;
                tx.put_run(run)
            })?;
            suggestions.iter().rev().try_for_each(|row| tx.add_suggestion(row))?;
            // A session in the trash is one that is there.
            if let Some(id) = deleted {
                let toolset = ToolsetRow { hash: "t".to_owned(), version: 1, tools_json: "[]".to_owned() };
                let info = SessionInfo { id, ..crate::sample::head("Golden: gone") };
                tx.create_session(&NewSession { info, system: String::new(), toolset })?;
            }
            tx.trash_add(&trash)?;
            let chat = &chats[0];
            let person = (chat.person.as_str(), chat.name.as_str());
            let key = tx.pair(chat.service, &account, person, chat.paired_at)?.key;
            tx.replace_pairing_codes(&codes)?;
            let messages: Vec<(i64, String)> =
                messages.into_iter().map(|message| (key, message.message_json)).collect();
            tx.add_inbound_messages(ChatService::Telegram, &account, fetched, &messages)
        })
        .unwrap();
    source.close();
    target.close();
    assert_eq!(rows(second.path(), TABLES), rows(golden.path(), TABLES));
}
