#![expect(clippy::indexing_slicing, reason = "tests report by failing")]

use super::*;
use octo_protocol::{CallId, CommandState, Cost, RunCause, RunId};

const PLACES: PermitCount = PermitCount { taken: 1, limit: 4 };

fn doing(title: &str, turn: Option<TurnActivity>) -> SessionActivity {
    SessionActivity {
        title: title.into(),
        folder: "/work".into(),
        sub_agent: None,
        turn,
        commands: Vec::new(),
    }
}

fn turn(since: Millis, status: TurnActivityStatus) -> TurnActivity {
    TurnActivity { turn: TurnId::new(), since, status, steps: 2, usage: Usage::default() }
}

fn command(handle: &str, started_at: Millis) -> BackgroundCommand {
    BackgroundCommand {
        handle: handle.into(),
        call: CallId::new(),
        command: format!("run {handle}"),
        cwd: "/work/sub".into(),
        started_at,
        ended_at: None,
        state: CommandState::Running,
        log: None,
        last_line: String::new(),
    }
}

fn run(name: &str, due: Millis, status: RunStatus, session: Option<SessionId>) -> TaskRun {
    TaskRun {
        id: RunId::new(),
        task: format!("{name}-file"),
        name: name.into(),
        cause: RunCause::Time,
        due,
        started_at: None,
        ended_at: None,
        status,
        session,
        cost: Cost::ZERO,
        result: None,
    }
}

fn activity_inputs() -> ActivityInputs {
    let (spent, ahead) = (HashMap::new(), HashMap::new());
    ActivityInputs {
        runs: Vec::new(),
        spent,
        queue_positions: ahead,
        permits: PLACES,
        schedule_time: None,
        other_processes: Vec::new(),
    }
}

#[test]
fn each_kind_has_its_row_in_its_order_with_what_it_belongs_to() {
    let (chat, of_task, child) = (SessionId::new(), SessionId::new(), SessionId::new());
    let mut with_commands = doing("Chat", Some(turn(50, TurnActivityStatus::NeedsYou)));
    with_commands.commands = vec![command("two", 9), command("one", 7)];
    let sub_agent = SubAgentOrigin {
        session: chat,
        title: "As it was called then".into(),
        turn: TurnId::new(),
        call: CallId::new(),
        name: "explore".into(),
    };
    let forked = SessionActivity {
        sub_agent: Some(sub_agent),
        ..doing("explore", Some(turn(60, TurnActivityStatus::Working)))
    };
    let lines = BTreeMap::from([
        (child, forked),
        (chat, with_commands),
        (of_task, doing("Brief", Some(turn(40, TurnActivityStatus::Working)))),
    ]);
    let mut inputs = activity_inputs();
    inputs.runs.push(run("Brief", 30, RunStatus::Running, Some(of_task)));
    let spent = Spending { calls: 3, cost: Cost::DOLLAR, ..Spending::default() };
    inputs.spent.insert(child, spent);
    let state = activity_state(&lines, &inputs);
    let actual: Vec<(&str, Option<&str>, bool)> = state
        .rows
        .iter()
        .map(|row| {
            let of = row.of.as_ref().map(|of| of.title.as_str());
            (row.name.as_str(), of, row.spending.is_some())
        })
        .collect();
    assert_eq!(
        actual,
        [
            ("Chat", None, true),
            ("Brief", None, true),
            ("explore", Some("Chat"), true),
            ("run one", Some("Chat"), false),
            ("run two", Some("Chat"), false),
        ]
    );
    assert_eq!(state.rows[0].status, ActivityStatus::NeedsYou);
    assert_eq!(state.rows[1].id, ActivityId::Task { run: inputs.runs[0].id });
    assert_eq!(state.rows[1].task.as_deref(), Some("Brief-file"));
    assert_eq!(state.rows[2].spending, Some(spent));
    assert_eq!(state.rows[3].folder, "/work/sub");
    assert_eq!((state.taken, state.places), (1, 4));
}

#[test]
fn how_a_turn_stands_goes_by_the_line() {
    for (status, ahead, expected) in [
        (TurnActivityStatus::Working, None, ActivityStatus::Working),
        (TurnActivityStatus::NeedsYou, None, ActivityStatus::NeedsYou),
        (TurnActivityStatus::Queued, Some(0), ActivityStatus::Queued { ahead: 0 }),
        (TurnActivityStatus::Queued, Some(2), ActivityStatus::Queued { ahead: 2 }),
        // Admitted a moment ago.
        (TurnActivityStatus::Queued, None, ActivityStatus::Working),
    ] {
        let turn = turn(1, status);
        let lines = BTreeMap::from([(SessionId::new(), doing("Chat", Some(turn)))]);
        let mut inputs = activity_inputs();
        inputs.queue_positions.extend(ahead.map(|ahead| (turn.turn, ahead)));
        assert_eq!(activity_state(&lines, &inputs).rows[0].status, expected, "{status:?} {ahead:?}");
    }
}

#[test]
fn runs_that_are_due_wait_in_their_order_where_this_process_begins_them() {
    let mut inputs = activity_inputs();
    inputs.runs = vec![
        run("first", 5, RunStatus::Waiting { until: 5 }, None),
        run("tried again later", 5, RunStatus::Waiting { until: 100 }, None),
        run("asks", 6, RunStatus::Asked, None),
        run("second", 7, RunStatus::Waiting { until: 7 }, None),
        run("elsewhere", 8, RunStatus::Running, Some(SessionId::new())),
    ];
    let nothing = BTreeMap::new();
    assert_eq!(activity_state(&nothing, &inputs).rows, []);
    inputs.schedule_time = Some(50);
    let state = activity_state(&nothing, &inputs);
    let actual: Vec<_> = state.rows.iter().map(|row| (row.name.as_str(), row.status, row.session)).collect();
    assert_eq!(
        actual,
        [
            ("first", ActivityStatus::Queued { ahead: 0 }, None),
            ("second", ActivityStatus::Queued { ahead: 1 }, None),
        ]
    );
}

#[test]
fn the_board_says_when_something_changed_and_forgets_a_session_that_is_gone() {
    let board = ActivityBoard::default();
    let mut news = board.change().watch();
    let session = SessionId::new();
    let entry = board.entry(session);
    entry.publish(None);
    assert!(!news.has_changed().unwrap(), "nothing is nothing new");
    let working = doing("Chat", Some(turn(1, TurnActivityStatus::Queued)));
    entry.publish(Some(working.clone()));
    assert!(news.has_changed().unwrap());
    news.mark_unchanged();
    assert!(board.is_queued(session));
    entry.publish(Some(working));
    assert!(!news.has_changed().unwrap(), "told twice");
    drop(entry);
    assert!(news.has_changed().unwrap() && board.sessions().is_empty());
}

#[test]
fn what_other_processes_do_stands_among_the_rest_with_their_number() {
    let (theirs, of_task, child) = (SessionId::new(), SessionId::new(), SessionId::new());
    let other = |session, title: &str, status, since| OtherProcessSession {
        info: octo_protocol::SessionInfo {
            title: title.into(),
            status,
            ..octo_protocol::SessionInfo::new(session, "/other", octo_protocol::Source::Headless, 0)
        },
        holder: octo_store::Holder { process: 77, started: 1, boot: String::new(), token: "other".into() },
        fork: None,
        turn: Some((TurnId::new(), since, 3)),
        commands: Vec::new(),
    };
    let sub_agent = SubAgentOrigin {
        session: theirs,
        title: "In a terminal".into(),
        turn: TurnId::new(),
        call: CallId::new(),
        name: "explore".into(),
    };
    let with_command = OtherProcessSession {
        commands: vec![command("one", 7)],
        ..other(theirs, "In a terminal", SessionStatus::Waiting, 5)
    };
    let only_a_command = OtherProcessSession {
        turn: None,
        commands: vec![command("two", 8)],
        ..other(SessionId::new(), "At rest", SessionStatus::Idle, 0)
    };
    let mut inputs = activity_inputs();
    inputs.runs.push(run("Brief", 30, RunStatus::Running, Some(of_task)));
    inputs.other_processes = vec![
        with_command,
        other(of_task, "Brief of today", SessionStatus::Running, 40),
        OtherProcessSession { fork: Some(sub_agent), ..other(child, "explore", SessionStatus::Running, 60) },
        only_a_command,
    ];
    let spent = Spending { calls: 3, cost: Cost::DOLLAR, ..Spending::default() };
    inputs.spent.insert(theirs, spent);
    let own = SessionId::new();
    let lines = BTreeMap::from([(own, doing("Here", Some(turn(50, TurnActivityStatus::Working))))]);
    let state = activity_state(&lines, &inputs);
    let actual: Vec<(&str, Option<u32>, ActivityStatus, Option<u32>)> =
        state.rows.iter().map(|row| (row.name.as_str(), row.process, row.status, row.steps)).collect();
    let works = ActivityStatus::Working;
    assert_eq!(
        actual,
        [
            ("In a terminal", Some(77), ActivityStatus::NeedsYou, Some(3)),
            ("Here", None, works, Some(2)),
            ("Brief", Some(77), works, Some(3)),
            ("explore", Some(77), works, Some(3)),
            ("run one", Some(77), works, None),
            ("run two", Some(77), works, None),
        ]
    );
    assert_eq!(state.rows[0].spending, Some(spent));
    assert_eq!(state.rows[3].of.as_ref().map(|of| of.session), Some(theirs));
    assert_eq!(state.taken, 1, "what another process does takes no place here");
}
