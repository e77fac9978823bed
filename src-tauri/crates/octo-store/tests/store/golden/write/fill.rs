//! Fills every table of the golden home.

use super::*;

pub(super) async fn conversation(store: &Store, info: &SessionInfo) {
    let turn = sample::turn();
    let person_message = sample::person(
        turn.id,
        vec![
            sample::text("Where is the heron? 苍鹭在哪里"),
            Block::File { path: "/home/me/a b.txt".to_owned() },
        ],
    );
    let reply = sample::model(turn.id);
    let call = CallId::new();
    let results = sample::octo(turn.id, vec![Block::ToolResult(sample::result(call))]);
    let summary = sample::octo(
        turn.id,
        vec![Block::Summary { text: "A heron was sought.".to_owned(), covers: 2, archive: None }],
    );
    let question: Question = made(json!({
        "id": QuestionId::new(), "call": call, "tool": "terminal", "at": START,
        "ask": { "type": "feedback", "question": "Which?", "context": null, "options": ["grey", "white"] }
    }));
    let queued: QueuedMessage = made(json!({
        "id": QueuedId::new(), "blocks": [{ "type": "text", "text": "and then" }], "at": START
    }));
    let command: BackgroundCommand = made(json!({
        "handle": "abc:1", "call": call, "command": "sleep 9", "cwd": "/home/me/project", "started_at": START,
        "ended_at": START + 9, "state": log_value("commands_changed", "/commands/0/state"), "log": "/tmp/one.log",
        "last_line": "done"
    }));
    let ended_turn = TurnView {
        end: Some(TurnEnd::Finished),
        ended_at: Some(START + 9),
        usage: sample::usage(7),
        ..turn.clone()
    };
    let (first_message, second, third, fourth) =
        (person_message.clone(), reply.clone(), results.clone(), summary.clone());
    let (turn_id, id) = (turn.id, info.id);
    emit(
        store,
        id,
        vec![
            Event::TurnStarted { turn },
            Event::MessageAdded { message: first_message },
            Event::MessageStarted { message: second.clone() },
            Event::BlockAdded {
                message: second.id,
                index: 0,
                block: Block::Reasoning {
                    text: "It may be at the pond.".to_owned(),
                    replay: Some(made(log_member("replay"))),
                },
            },
            Event::BlockAdded { message: second.id, index: 1, block: sample::tool_call(call) },
            Event::MessageEnded {
                message: second.id,
                end: MessageEnd::Complete,
                usage: Some(sample::usage(3)),
            },
            Event::CallChanged { call: sample::call(call, turn_id, sample::ended()) },
            Event::CallBilled { call: sample::billed(turn_id, second.id, Some(sample::usage(3))) },
            Event::MessageAdded { message: third },
            Event::MessageAdded { message: fourth },
            Event::TodosChanged { todos: made(log_value("todos_changed", "/todos")) },
            Event::CommandsChanged { commands: vec![command] },
            Event::CommandAnswered { note: ApiError::new("command.help").arg("a", "b") },
            Event::CompactionFailed { error: ApiError::new("compaction.cut") },
            Event::TurnEnded { turn: ended_turn },
            Event::QueueChanged { queue: vec![queued] },
            Event::QuestionAsked { question },
            Event::Suggested { suggestion: made(log_value("suggested", "/suggestion")) },
            Event::BudgetReached { stop: made(log_value("budget_reached", "/stop")) },
            Event::RetryScheduled { retry: made(log_value("retry_scheduled", "/retry")) },
        ],
    )
    .await
    .unwrap();
    let draft: Draft = made(json!({
        "text": "half \"a\" thought", "attachments": [{ "type": "file", "path": "/home/me/b.txt" }], "foreign": false
    }));
    let holder = Holder { process: 1, started: 1, boot: "golden".to_owned(), token: "t".repeat(32) };
    store
        .write(move |tx| {
            tx.append_context(id, person_message.id)?;
            tx.append_context(id, reply.id)?;
            tx.append_context(id, results.id)?;
            tx.new_generation(id, &[summary.id])?;
            tx.set_call(call, &sample::result(call))?;
            tx.set_draft(id, &draft)?;
            tx.set_new_draft(&Draft { text: "the next one".to_owned(), ..Draft::default() })?;
            tx.take_lease(id, &holder, |_| HolderState::Alive)?;
            tx.request_stop(id, &StopRequest::Command("abc:1".to_owned()))?;
            tx.request_stop(id, &StopRequest::Turn(turn_id))?;
            tx.add_rule(
                "/home/me/project",
                &Rule::Command { words: vec!["cargo".to_owned(), "test".to_owned()] },
            )?;
            tx.add_rule("/home/me/project", &Rule::Site { site: "https://shop.example".to_owned() })
        })
        .await
        .unwrap();
}

pub(super) async fn time_machine(store: &Store, id: SessionId) {
    let step = |parent, kind, turn| NewTimeStep {
        parent,
        kind,
        turn,
        summary: "look for the heron".to_owned(),
        folder: b"/home/me/project".to_vec(),
    };
    let image = |value| made::<FileImage>(value);
    let blob = "ab".repeat(32);
    let state = |path: &str, moment, image| RecordedState {
        path: path.as_bytes().to_vec(),
        number: 1,
        side: moment,
        source: StateSource::Named,
        image,
    };
    let states = [
        state("/home/me/project/a", StateMoment::Before, image(json!({ "type": "absent" }))),
        state(
            "/home/me/project/a",
            StateMoment::After,
            image(json!({ "type": "file", "blob": blob, "len": 3, "mode": 420 })),
        ),
        state(
            "/home/me/project/l",
            StateMoment::Before,
            image(json!({ "type": "link", "target": [97, 255] })),
        ),
        state("/home/me/project/d", StateMoment::After, image(json!({ "type": "folder", "mode": 493 }))),
    ];
    let unsaved = UNSAVED.iter().map(|reason| {
        let unsaved = json!({ "type": "unsaved", "why": reason, "len": 9, "modified": 7 });
        state(&format!("/home/me/project/{reason}"), StateMoment::Left, image(unsaved))
    });
    let states: Vec<RecordedState> = states.into_iter().chain(unsaved).collect();
    let effect: LastingEffect = made(json!({
        "kind": "pushed", "what": "git push", "times": 2, "call": CallId::new(), "at": START
    }));
    store
        .write(move |tx| {
            tx.add_time_step(id, &step(0, StepKind::Run, Some(TurnId::new())), StepActivation::Running)?;
            tx.add_time_step(id, &step(1, StepKind::Checkpoint, None), StepActivation::Ended)?;
            tx.record_time_states(id, &states)?;
            tx.add_time_command(id, 1, b"/home/me/project")?;
            tx.record_time_lasting(id, 1, &[effect])?;
            tx.begin_restore(
                id,
                &RestoreRecord { task: 1, conversation: 0, kept_messages: vec![TurnId::new()] },
            )
        })
        .await
        .unwrap();
}

/// A sub-agent, a branch, an import, and a session in the trash beside a file and a skill.
pub(super) async fn others(store: &Store, parent: &SessionInfo) {
    let fork = SessionInfo { source: Source::SubAgent, ..head("explore") };
    let origin = SubAgentOrigin {
        session: parent.id,
        title: parent.title.clone(),
        turn: TurnId::new(),
        call: CallId::new(),
        name: "explore".to_owned(),
    };
    let fork = NewSubAgent {
        info: fork,
        link: StoredSubAgent { origin, forbidden: vec!["terminal".to_owned()] },
        inherits: InheritedContext::Nothing,
    };
    let branch = NewBranch { info: head("Golden: branch"), from: parent.id, at: BranchPoint::Whole };
    let turn = TurnView { end: Some(TurnEnd::Stopped), ended_at: Some(START), ..sample::turn() };
    let message = sample::person(turn.id, vec![sample::text("from a file")]);
    let import = NewImport {
        session: crate::new(head("Golden: import")),
        file: "export.json".to_owned(),
        conversation: CopiedConversation {
            turns: vec![turn],
            context: vec![message.id],
            messages: vec![message],
            calls: Vec::new(),
        },
    };
    let deleted_head = head("Golden: gone");
    create(store, &deleted_head).await;
    let entry = |kind, form, name: &str, session| TrashRow {
        entry: TrashEntry {
            id: TrashId::new(),
            kind,
            form,
            name: name.to_owned(),
            folder: "/home/me/project".to_owned(),
            size: 12,
            files: 1,
            link: None,
            at: START,
            who: RemovedBy::Agent,
            session,
            turn: None,
            project: Some("/home/me/project".to_owned()),
            command: Some("rm a.txt".to_owned()),
        },
        path: format!("/home/me/project/{name}").into_bytes(),
        mode: 0o644,
        is_reproducible: false,
    };
    let rows = [
        entry(TrashKind::File, TrashForm::File, "a.txt", Some(parent.id)),
        entry(TrashKind::Skill, TrashForm::Folder, "notes", None),
        entry(TrashKind::Memory, TrashForm::Link, "m.md", None),
        entry(TrashKind::Task, TrashForm::File, "t.md", None),
        entry(TrashKind::Session, TrashForm::Folder, "Golden: gone", Some(deleted_head.id)),
    ];
    store
        .write(move |tx| {
            tx.create_sub_agent(&fork)?;
            tx.create_branch(&branch)?;
            tx.create_import(&import)?;
            tx.soft_delete(deleted_head.id, START)?;
            tx.trash_add(&rows)
        })
        .await
        .unwrap();
}

pub(super) async fn library(store: &Store, session: SessionId) {
    let own_skill = SkillRef { name: "notes".to_owned(), origin: SkillOrigin::User, project: None };
    let project_skill = SkillRef {
        name: "deploy".to_owned(),
        origin: SkillOrigin::Project,
        project: Some("/home/me/project".to_owned()),
    };
    let suggestion = SuggestionRow {
        id: SuggestionId::new(),
        name: "notes".to_owned(),
        kind: SuggestionKind::Better,
        reason: "It was asked for twice.".to_owned(),
        session: Some(session),
        title: "Golden".to_owned(),
        turn: Some(TurnId::new()),
        cost_nanos: Some(5),
        at: START,
        text: "new".to_owned(),
        base: Some("old".to_owned()),
    };
    store
        .write(move |tx| {
            tx.switch_skill(&own_skill, Some(Switch::Off), Some(Switch::On))?;
            tx.record_skill_use(&own_skill, START)?;
            tx.accept_skill(&project_skill, "fingerprint")?;
            tx.stop_proposals(&project_skill)?;
            tx.add_skill_version(&own_skill, "as it was", START)?;
            tx.add_suggestion(&suggestion)?;
            tx.record_memory_writer("heron.md", Some(session), START)
        })
        .await
        .unwrap();
}

pub(super) async fn schedule(store: &Store, session: SessionId) {
    let causes = [
        json!({ "type": "time" }),
        json!({ "type": "missed", "times": 2 }),
        json!({ "type": "hand" }),
        json!({ "type": "retry", "of": RunId::new(), "number": 1 }),
    ];
    let error = json!({ "key": "task.day_budget", "args": {}, "retryable": false });
    let statuses = [
        json!({ "type": "finished" }),
        json!({ "type": "failed", "error": error }),
        json!({ "type": "timed_out" }),
        json!({ "type": "over_budget" }),
        json!({ "type": "stopped" }),
        json!({ "type": "interrupted" }),
        json!({ "type": "skipped", "reason": { "type": "missed", "times": 3 } }),
        json!({ "type": "skipped", "reason": { "type": "unrunnable", "error": error } }),
    ];
    let endings =
        [None, Some(RunStopReason::Stopped), Some(RunStopReason::TimedOut), Some(RunStopReason::OverBudget)];
    let rows: Vec<RunRow> = statuses
        .iter()
        .enumerate()
        .map(|(index, status)| RunRow {
            run: TaskRun {
                id: RunId::new(),
                task: "herons".to_owned(),
                name: "Herons".to_owned(),
                cause: made(causes[index % causes.len()].clone()),
                due: START + index as i64,
                started_at: Some(START + index as i64),
                ended_at: Some(START + index as i64 + 1),
                status: made(status.clone()),
                session: Some(session),
                cost: Cost::from_nano_dollars(5),
                result: Some("Two herons.".to_owned()),
            },
            scheduled_at: (index % causes.len() == 0).then_some(START + index as i64),
            budget: Some(Cost::from_nano_dollars(9)),
            minutes: 30,
            worked: 7,
            stop_reason: endings[index % endings.len()],
        })
        .collect();
    let holder = Holder { process: 1, started: 1, boot: "golden".to_owned(), token: "s".repeat(32) };
    let state =
        TaskStateRow { on: Switch::Off, accepted: Some("hash".to_owned()), decided_until: Some(START) };
    store
        .write(move |tx| {
            rows.iter().try_for_each(|row| tx.add_run(row).map(drop))?;
            tx.put_task_state("herons", &state)?;
            tx.take_schedule_lease(&holder, |_| HolderState::Alive).map(drop)
        })
        .await
        .unwrap();
}

pub(super) async fn chats(store: &Store, session: SessionId) {
    let service = ChatService::Telegram;
    let offer = PairingCodeRow {
        account: "77".to_owned(),
        person: "9".to_owned(),
        name: "Stranger".to_owned(),
        code: "123456".to_owned(),
        expires_at: START,
        sent_at: START,
    };
    store
        .write(move |tx| {
            let chat = tx.pair(service, "77", ("5", "Juno"), START)?.key;
            tx.set_chat_session(chat, Some(session), 3)?;
            tx.record_chat_session(chat, session)?;
            tx.begin_delivery(chat, session, 4)?;
            tx.replace_pairing_codes(&[offer])?;
            let messages = [r#"{"type":"message","text":"hi","files":[],"more":false}"#.to_owned()];
            let messages: Vec<(i64, String)> = messages.into_iter().map(|message| (chat, message)).collect();
            tx.add_inbound_messages(
                service,
                "77",
                FetchPosition { next_update: 8, fetched_at: START },
                &messages,
            )
        })
        .await
        .unwrap();
}

/// All settings the log has, the last of them such as a home opens with.
pub(super) async fn settings(store: &Store, log: &[Envelope]) {
    let snapshots: Vec<SettingsSnapshot> = log
        .iter()
        .filter_map(|envelope| match &envelope.event {
            Event::SettingsChanged { snapshot } => Some(snapshot.clone()),
            _ => None,
        })
        .collect();
    let models: Vec<ModelEntry> = snapshots.iter().flat_map(|snapshot| snapshot.models.clone()).collect();
    let settings = Settings {
        recent_folders: vec!["/home/me/project".to_owned()],
        default_model: models.first().map(|model| model.id),
        welcomed: true,
        ..Settings::default()
    };
    store
        .write(move |tx| {
            models.iter().try_for_each(|model| tx.put_model(model))?;
            tx.put_settings(&settings)
        })
        .await
        .unwrap();
}
