//! The end of a run, and its consequences.

use super::*;

fn running(cause: RunCause) -> RunRow {
    let plan = hourly(MissedRun::RunOnce);
    let mut row = run_of("brief", &plan, cause, None, RunStatus::Running, NEW_YEAR);
    row.run.started_at = Some(NEW_YEAR);
    row
}

#[test]
fn a_run_ends_as_its_session_does() {
    let failed = || TurnEnd::Failed { error: ApiError::new("provider.overloaded") };
    let cases = [
        (TurnEnd::Finished, None, RunStatus::Finished),
        (TurnEnd::Finished, Some(RunStopReason::TimedOut), RunStatus::Finished),
        (TurnEnd::Stopped, None, RunStatus::Stopped),
        (TurnEnd::Stopped, Some(RunStopReason::Stopped), RunStatus::Stopped),
        (TurnEnd::Stopped, Some(RunStopReason::TimedOut), RunStatus::TimedOut),
        (TurnEnd::Stopped, Some(RunStopReason::OverBudget), RunStatus::OverBudget),
        (failed(), None, RunStatus::Failed { error: ApiError::new("provider.overloaded") }),
    ];
    for (end, stop_reason, status) in cases {
        let row = RunRow { stop_reason, ..running(RunCause::Time) };
        let digest = digest_of(SessionStatus::Idle, Some(end.clone()));
        let followed = follow(&row, Some(&digest), 0, None, NEW_YEAR + 1);
        assert_eq!(followed.row.run.status, status, "{end:?}");
        assert_eq!(followed.row.run.ended_at, Some(NEW_YEAR + 1));
        assert_eq!(followed.row.run.result.as_deref(), Some("done it"));
        assert_eq!(followed.row.run.cost, Cost::from_nano_dollars(5));
        assert_eq!((followed.session, followed.retry), (RunSessionAction::Leave, None));
    }
    let removed = follow(&running(RunCause::Time), None, 0, None, NEW_YEAR);
    assert_eq!(removed.row.run.status, RunStatus::Interrupted);
}

#[test]
fn only_work_counts_towards_the_time_limit() {
    let mut row = running(RunCause::Time);
    let running_digest = digest_of(SessionStatus::Running, None);
    let waiting_digest = digest_of(SessionStatus::Waiting, None);
    for minute in 1..30 {
        let followed = follow(&row, Some(&running_digest), MINUTE, None, NEW_YEAR);
        assert_eq!((followed.session, followed.row.worked), (RunSessionAction::Leave, minute * MINUTE));
        row = followed.row;
        let waiting = follow(&row, Some(&waiting_digest), 50 * MINUTE, None, NEW_YEAR);
        assert_eq!(
            (&waiting.row.run.status, waiting.session),
            (&RunStatus::NeedsYou, RunSessionAction::Leave)
        );
        row = waiting.row;
    }
    let timed_out = follow(&row, Some(&running_digest), MINUTE, None, NEW_YEAR);
    assert_eq!(
        (timed_out.session, timed_out.row.stop_reason),
        (RunSessionAction::Stop, Some(RunStopReason::TimedOut))
    );
    assert_eq!(timed_out.row.run.ended_at, None, "it ends when its session ends");
    // The session still runs: it is stopped again, whatever its state.
    assert_eq!(
        follow(&timed_out.row, Some(&waiting_digest), 0, None, NEW_YEAR).session,
        RunSessionAction::Stop
    );
}

#[test]
fn a_runs_own_budget_stops_it_and_the_persons_budgets_ask() {
    let stop = |scope, spent| octo_protocol::BudgetStop {
        scope,
        spent: Cost::from_nano_dollars(spent),
        limit: Cost::from_nano_dollars(spent),
        unpriced: 0,
    };
    let dollar = Cost::DOLLAR.as_nano_dollars();
    let cases = [
        (stop(BudgetScope::Task, dollar), RunSessionAction::Stop),
        (stop(BudgetScope::Task, dollar / 2), RunSessionAction::Leave),
        (stop(BudgetScope::Day, dollar * 9), RunSessionAction::Leave),
        (stop(BudgetScope::Session, dollar * 9), RunSessionAction::Leave),
    ];
    for (budget, action) in cases {
        let digest = SessionDigest { budget: Some(budget), ..digest_of(SessionStatus::Waiting, None) };
        let followed = follow(&running(RunCause::Time), Some(&digest), 0, None, NEW_YEAR);
        assert_eq!(followed.session, action, "{budget:?}");
        assert_eq!(followed.row.run.status, RunStatus::NeedsYou);
    }
}

#[test]
fn a_failed_run_is_retried_as_often_as_planned() {
    let plan = hourly(MissedRun::Skip);
    let error = ApiError::new("provider.overloaded");
    let failed = digest_of(SessionStatus::Failed, Some(TurnEnd::Failed { error }));
    let mut row = running(RunCause::Time);
    for number in 1..=2 {
        let retry = follow(&row, Some(&failed), 0, Some(&plan), NEW_YEAR).retry.unwrap();
        assert_eq!(retry.run.cause, RunCause::Retry { of: row.run.id, number });
        assert_eq!(retry.run.status, RunStatus::Waiting { until: NEW_YEAR + 10 * MINUTE });
        assert_eq!(retry.scheduled_at, None);
        row = retry;
        row.run.status = RunStatus::Running;
    }
    assert_eq!(
        follow(&row, Some(&failed), 0, Some(&plan), NEW_YEAR).retry,
        None,
        "the plan allows two retries"
    );
    let by_hand = follow(&running(RunCause::Hand), Some(&failed), 0, None, NEW_YEAR);
    assert_eq!(by_hand.retry, None, "a deleted task is not retried");
}
