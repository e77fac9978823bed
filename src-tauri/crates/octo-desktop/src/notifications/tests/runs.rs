//! Tests of the notifications of scheduled runs, and of work outside sessions.

use super::*;
use crate::runs::RunProblem;
use octo_protocol::{
    ActivityId, ActivityStatus, ApiError, Cost, RunCause, RunStatus, SkipReason, TaskNotifications as Tell,
};

fn run(id: RunId, session: Option<SessionId>, status: RunStatus) -> TaskRun {
    TaskRun {
        id,
        task: "weekly".to_owned(),
        name: "Weekly report".to_owned(),
        cause: RunCause::Time,
        due: 0,
        started_at: None,
        ended_at: None,
        status,
        session,
        cost: Cost::default(),
        result: None,
    }
}

fn of_task(id: SessionId, status: SessionStatus) -> SessionInfo {
    SessionInfo { source: Source::Task, ..line(id, status) }
}

fn wrong() -> ApiError {
    ApiError::new("task.folder")
}

/// Returns the reported notifications, with the details of the run.
fn told(commands: Vec<NotificationCommand>) -> Vec<(NotificationKind, Option<RunProblem>)> {
    let shown = commands.into_iter().filter_map(|command| match command {
        NotificationCommand::Show { kind, run, .. } => Some((kind, run.and_then(|run| run.problem))),
        NotificationCommand::Withdraw { .. } => None,
    });
    shown.collect()
}

/// Expected notification, and its reason.
type Told = Option<(NotificationKind, Option<RunProblem>)>;

/// Returns the possible ends of a run in a session, with the status of the run and of the session.
fn ends() -> Vec<(RunStatus, SessionStatus, Told)> {
    use NotificationKind::{Failed as F, Finished as D};
    vec![
        (RunStatus::Finished, Idle, Some((D, None))),
        (RunStatus::Failed { error: wrong() }, Failed, Some((F, Some(RunProblem::Error(wrong()))))),
        (RunStatus::TimedOut, Idle, Some((F, Some(RunProblem::TimedOut)))),
        (RunStatus::OverBudget, Idle, Some((F, Some(RunProblem::OverBudget)))),
        (RunStatus::Stopped, Idle, None),
        (RunStatus::Interrupted, Idle, None),
    ]
}

#[test]
fn the_end_of_a_run_is_reported_once_in_either_order() {
    for (status, session_ends, expected) in ends() {
        for run_first in [false, true] {
            let (id, session) = (RunId::new(), SessionId::new());
            let mut tracker = NotificationTracker::default();
            assert_eq!(tracker.runs_changed(&[]), []);
            tracker.session_changed(&of_task(session, Running));
            assert_eq!(told(tracker.runs_changed(&[run(id, Some(session), RunStatus::Running)])), []);
            let over = [run(id, Some(session), status.clone())];
            let mut commands = Vec::new();
            if run_first {
                commands.extend(tracker.runs_changed(&over));
                commands.extend(tracker.session_changed(&of_task(session, session_ends)));
            } else {
                commands.extend(tracker.session_changed(&of_task(session, session_ends)));
                commands.extend(tracker.runs_changed(&over));
            }
            commands.extend(tracker.runs_changed(&over));
            let expected: Vec<_> = expected.clone().into_iter().collect();
            assert_eq!(told(commands), expected, "{status:?} {run_first}");

            // The person continues in its session: that end belongs to the session.
            tracker.session_changed(&of_task(session, Running));
            tracker.runs_changed(&over);
            let own = tracker.session_changed(&of_task(session, Idle));
            assert_eq!(kind(own), Some(NotificationKind::Finished), "{status:?} {run_first}");
        }
    }
}

#[test]
fn a_very_short_run_is_reported_before_its_session_ends() {
    let session = SessionId::new();
    let mut tracker = NotificationTracker::default();
    tracker.runs_changed(&[]);
    tracker.session_changed(&of_task(session, Running));
    assert!(tracker.may_end_run(&of_task(session, Idle)));
    assert!(!tracker.may_end_run(&line(session, Idle)) && !tracker.may_end_run(&of_task(session, Running)));
    let commands = tracker.runs_changed(&[run(RunId::new(), Some(session), RunStatus::TimedOut)]);
    assert_eq!(told(commands), [(NotificationKind::Failed, Some(RunProblem::TimedOut))]);
    assert_eq!(tracker.session_changed(&of_task(session, Idle)), None);
}

#[test]
fn a_run_over_budget_withdraws_its_question_and_reports_the_end() {
    let (id, session) = (RunId::new(), SessionId::new());
    let of = NotificationSubject::Session(session);
    let mut tracker = NotificationTracker::default();
    tracker.session_changed(&of_task(session, Running));
    tracker.runs_changed(&[run(id, Some(session), RunStatus::Running)]);
    assert_eq!(kind(tracker.session_changed(&of_task(session, Waiting))), Some(NotificationKind::Question));
    tracker.runs_changed(&[run(id, Some(session), RunStatus::NeedsYou)]);
    assert_eq!(
        tracker.session_changed(&of_task(session, Idle)),
        Some(NotificationCommand::Withdraw { subject: of })
    );
    let commands = tracker.runs_changed(&[run(id, Some(session), RunStatus::OverBudget)]);
    assert_eq!(told(commands), [(NotificationKind::Failed, Some(RunProblem::OverBudget))]);
}

#[test]
fn a_run_without_a_session_reports_itself() {
    let skipped = |reason| RunStatus::Skipped { reason };
    let (question, failed) = (NotificationKind::Question, NotificationKind::Failed);
    for (status, expected) in [
        (RunStatus::Asked, Some((question, Some(RunProblem::Missed)))),
        (
            skipped(SkipReason::CouldNotStart { error: wrong() }),
            Some((failed, Some(RunProblem::Error(wrong())))),
        ),
        (
            skipped(SkipReason::Unrunnable { error: wrong() }),
            Some((failed, Some(RunProblem::Error(wrong())))),
        ),
        (skipped(SkipReason::Declined), None),
        (skipped(SkipReason::StillRunning), None),
        (skipped(SkipReason::Missed { times: 2 }), None),
        (skipped(SkipReason::DayBudget), None),
        (RunStatus::Waiting { until: 0 }, None),
    ] {
        let run = run(RunId::new(), None, status.clone());
        let mut tracker = NotificationTracker::default();
        tracker.runs_changed(&[]);
        let commands = tracker.runs_changed(std::slice::from_ref(&run));
        assert_eq!(told(commands), expected.clone().into_iter().collect::<Vec<_>>(), "{status:?}");
        assert_eq!(tracker.runs_changed(&[run]), [], "told twice: {status:?}");
    }
}

#[test]
fn a_question_at_start_is_reported_and_withdrawn_when_answered() {
    let (asks, old) = (RunId::new(), RunId::new());
    let mut tracker = NotificationTracker::default();
    let commands =
        tracker.runs_changed(&[run(asks, None, RunStatus::Asked), run(old, None, RunStatus::TimedOut)]);
    assert_eq!(
        told(commands),
        [(NotificationKind::Question, Some(RunProblem::Missed))],
        "what was over before is no news"
    );
    let work = tracker.work();
    assert_eq!(work, CurrentWork { running: 0, waiting: 0, missed_runs: 1 });
    assert!(!work.is_none() && !work.can_stop() && work.waiting_for_person() == 1);
    let commands = tracker.runs_changed(&[run(asks, None, RunStatus::Waiting { until: 0 })]);
    assert_eq!(commands, [NotificationCommand::Withdraw { subject: NotificationSubject::Run(asks) }]);
    assert!(tracker.work().is_none());
}

#[test]
fn an_unreported_end_withdraws_the_earlier_notification() {
    let of = NotificationSubject::Session(SessionId::new());
    let show = |kind| NotificationCommand::Show { subject: of, kind, title: String::new(), run: None };
    let withdrawal = NotificationCommand::Withdraw { subject: of };
    for (kind, task, expected) in [
        (NotificationKind::Finished, None, show(NotificationKind::Finished)),
        (NotificationKind::Finished, Some(Tell::All), show(NotificationKind::Finished)),
        (NotificationKind::Finished, Some(Tell::Trouble), withdrawal.clone()),
        (NotificationKind::Failed, Some(Tell::Trouble), show(NotificationKind::Failed)),
        (NotificationKind::Question, Some(Tell::Nothing), withdrawal.clone()),
    ] {
        assert_eq!(show(kind).with_task_setting(task), expected, "{kind:?} {task:?}");
    }
    assert_eq!(withdrawal.clone().with_task_setting(Some(Tell::Nothing)), withdrawal);
}

#[test]
fn commands_and_runs_that_wait_are_counted_and_sessions_once() {
    let (own, elsewhere) = (SessionId::new(), SessionId::new());
    let row = |id, session| ActivityRow {
        id,
        name: String::new(),
        of: None,
        folder: String::new(),
        session,
        task: None,
        status: ActivityStatus::Working,
        since: 0,
        steps: None,
        spending: None,
        process: None,
    };
    let command = ActivityId::Command { session: own, handle: "1".to_owned() };
    let rows = [
        row(ActivityId::Session { session: own }, Some(own)),
        row(ActivityId::SubAgent { session: SessionId::new() }, Some(SessionId::new())),
        row(ActivityId::Task { run: RunId::new() }, None),
        row(command, Some(own)),
    ];
    let mut tracker = NotificationTracker::default();
    tracker.take_activity(&rows[3..]);
    let work = tracker.work();
    assert_eq!(work, CurrentWork { running: 1, waiting: 0, missed_runs: 0 }, "a command alone");
    assert!(work.can_stop());
    tracker.session_changed(&line(own, Running));
    tracker.session_changed(&line(elsewhere, Waiting));
    tracker.take_activity(&rows);
    assert_eq!(tracker.work(), CurrentWork { running: 3, waiting: 1, missed_runs: 0 });
    assert_eq!(tracker.stop_all(), [elsewhere], "the others stop with what runs here");
    assert_eq!(kind(tracker.session_changed(&line(own, Idle))), None, "what the person stopped is no news");
}
