//! Tests of the notices of scheduled runs, and of work outside sessions.

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

/// Returns the reported notices, with the details of the run.
fn told(acts: Vec<NoticeCommand>) -> Vec<(NoticeKind, Option<RunProblem>)> {
    let shown = acts.into_iter().filter_map(|command| match command {
        NoticeCommand::Show { kind, run, .. } => Some((kind, run.and_then(|run| run.problem))),
        NoticeCommand::Withdraw { .. } => None,
    });
    shown.collect()
}

/// Expected notice, and its reason.
type Told = Option<(NoticeKind, Option<RunProblem>)>;

/// Returns the possible ends of a run in a session, with the status of the run and of the session.
fn ends() -> Vec<(RunStatus, SessionStatus, Told)> {
    use NoticeKind::{Failed as F, Finished as D};
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
            let mut notices = Notices::default();
            assert_eq!(notices.runs_changed(&[]), []);
            notices.session_changed(&of_task(session, Running));
            assert_eq!(told(notices.runs_changed(&[run(id, Some(session), RunStatus::Running)])), []);
            let over = [run(id, Some(session), status.clone())];
            let mut acts = Vec::new();
            if run_first {
                acts.extend(notices.runs_changed(&over));
                acts.extend(notices.session_changed(&of_task(session, session_ends)));
            } else {
                acts.extend(notices.session_changed(&of_task(session, session_ends)));
                acts.extend(notices.runs_changed(&over));
            }
            acts.extend(notices.runs_changed(&over));
            let expected: Vec<_> = expected.clone().into_iter().collect();
            assert_eq!(told(acts), expected, "{status:?} {run_first}");

            // The person continues in its session: that end belongs to the session.
            notices.session_changed(&of_task(session, Running));
            notices.runs_changed(&over);
            let own = notices.session_changed(&of_task(session, Idle));
            assert_eq!(kind(own), Some(NoticeKind::Finished), "{status:?} {run_first}");
        }
    }
}

#[test]
fn a_very_short_run_is_reported_before_its_session_ends() {
    let session = SessionId::new();
    let mut notices = Notices::default();
    notices.runs_changed(&[]);
    notices.session_changed(&of_task(session, Running));
    assert!(notices.may_end_run(&of_task(session, Idle)));
    assert!(!notices.may_end_run(&line(session, Idle)) && !notices.may_end_run(&of_task(session, Running)));
    let acts = notices.runs_changed(&[run(RunId::new(), Some(session), RunStatus::TimedOut)]);
    assert_eq!(told(acts), [(NoticeKind::Failed, Some(RunProblem::TimedOut))]);
    assert_eq!(notices.session_changed(&of_task(session, Idle)), None);
}

#[test]
fn a_run_over_budget_withdraws_its_question_and_reports_the_end() {
    let (id, session) = (RunId::new(), SessionId::new());
    let of = NoticeSubject::Session(session);
    let mut notices = Notices::default();
    notices.session_changed(&of_task(session, Running));
    notices.runs_changed(&[run(id, Some(session), RunStatus::Running)]);
    assert_eq!(kind(notices.session_changed(&of_task(session, Waiting))), Some(NoticeKind::Question));
    notices.runs_changed(&[run(id, Some(session), RunStatus::NeedsYou)]);
    assert_eq!(
        notices.session_changed(&of_task(session, Idle)),
        Some(NoticeCommand::Withdraw { subject: of })
    );
    let acts = notices.runs_changed(&[run(id, Some(session), RunStatus::OverBudget)]);
    assert_eq!(told(acts), [(NoticeKind::Failed, Some(RunProblem::OverBudget))]);
}

#[test]
fn a_run_without_a_session_reports_itself() {
    let skipped = |reason| RunStatus::Skipped { reason };
    let (question, failed) = (NoticeKind::Question, NoticeKind::Failed);
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
        let mut notices = Notices::default();
        notices.runs_changed(&[]);
        let acts = notices.runs_changed(std::slice::from_ref(&run));
        assert_eq!(told(acts), expected.clone().into_iter().collect::<Vec<_>>(), "{status:?}");
        assert_eq!(notices.runs_changed(&[run]), [], "told twice: {status:?}");
    }
}

#[test]
fn a_question_at_start_is_reported_and_withdrawn_when_answered() {
    let (asks, old) = (RunId::new(), RunId::new());
    let mut notices = Notices::default();
    let acts =
        notices.runs_changed(&[run(asks, None, RunStatus::Asked), run(old, None, RunStatus::TimedOut)]);
    assert_eq!(
        told(acts),
        [(NoticeKind::Question, Some(RunProblem::Missed))],
        "what was over before is no news"
    );
    let work = notices.work();
    assert_eq!(work, CurrentWork { running: 0, waiting: 0, missed_runs: 1 });
    assert!(!work.is_none() && !work.can_stop() && work.waiting_for_person() == 1);
    let acts = notices.runs_changed(&[run(asks, None, RunStatus::Waiting { until: 0 })]);
    assert_eq!(acts, [NoticeCommand::Withdraw { subject: NoticeSubject::Run(asks) }]);
    assert!(notices.work().is_none());
}

#[test]
fn an_unreported_end_withdraws_the_earlier_notice() {
    let of = NoticeSubject::Session(SessionId::new());
    let show = |kind| NoticeCommand::Show { subject: of, kind, title: String::new(), run: None };
    let withdrawal = NoticeCommand::Withdraw { subject: of };
    for (kind, task, expected) in [
        (NoticeKind::Finished, None, show(NoticeKind::Finished)),
        (NoticeKind::Finished, Some(Tell::All), show(NoticeKind::Finished)),
        (NoticeKind::Finished, Some(Tell::Trouble), withdrawal.clone()),
        (NoticeKind::Failed, Some(Tell::Trouble), show(NoticeKind::Failed)),
        (NoticeKind::Question, Some(Tell::Nothing), withdrawal.clone()),
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
    let mut notices = Notices::default();
    notices.take_activity(&rows[3..]);
    let work = notices.work();
    assert_eq!(work, CurrentWork { running: 1, waiting: 0, missed_runs: 0 }, "a command alone");
    assert!(work.can_stop());
    notices.session_changed(&line(own, Running));
    notices.session_changed(&line(elsewhere, Waiting));
    notices.take_activity(&rows);
    assert_eq!(notices.work(), CurrentWork { running: 3, waiting: 1, missed_runs: 0 });
    assert_eq!(notices.stop_all(), [elsewhere], "the others stop with what runs here");
    assert_eq!(kind(notices.session_changed(&line(own, Idle))), None, "what the person stopped is no news");
}
