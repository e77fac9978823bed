//! Runs of tasks: the status of a task, and all runs page by page.

use octo_protocol::{Cost, Millis, RunCause, RunId, RunStatus, SkipReason, TaskRun};
use octo_store::{RunRow, Store};

const DAY: Millis = 24 * 60 * 60 * 1_000;

fn run(task: &str, due: Millis, cause: RunCause, status: RunStatus) -> RunRow {
    let is_over = !matches!(status, RunStatus::Running | RunStatus::NeedsYou | RunStatus::Waiting { .. });
    let has_begun = matches!(status, RunStatus::Running | RunStatus::NeedsYou | RunStatus::Finished);
    RunRow {
        run: TaskRun {
            id: RunId::new(),
            task: task.to_owned(),
            name: task.to_owned(),
            cause,
            due,
            started_at: has_begun.then_some(due),
            ended_at: is_over.then_some(due + 1),
            status,
            session: None,
            cost: Cost::default(),
            result: None,
        },
        scheduled_at: (cause == RunCause::Time).then_some(due),
        budget: None,
        minutes: 30,
        worked: 0,
        stop_reason: None,
    }
}

fn add(store: &Store, row: &RunRow) -> RunId {
    let own_row = row.clone();
    assert!(store.write_blocking(move |tx| tx.add_run(&own_row)).unwrap());
    row.run.id
}

#[test]
fn a_tasks_state_is_its_running_or_last_decided_run() {
    let home = crate::home();
    let store = Store::open(home.path()).unwrap();
    let last_run = |task: &str| {
        let task = task.to_owned();
        store.read_blocking(move |reader| reader.last_run(&task)).unwrap().unwrap().id
    };
    // It waits for the person; the next day's time is skipped.
    let waits = add(&store, &run("daily", DAY, RunCause::Time, RunStatus::NeedsYou));
    let still_running = RunStatus::Skipped { reason: SkipReason::StillRunning };
    add(&store, &run("daily", 2 * DAY, RunCause::Time, still_running.clone()));
    assert_eq!(last_run("daily"), waits);
    // A run stored under a clock that was a year ahead does not stay the last one.
    add(&store, &run("early", 365 * DAY, RunCause::Time, still_running));
    let present = add(&store, &run("early", 3 * DAY, RunCause::Time, RunStatus::Finished));
    assert_eq!(last_run("early"), present);
    // A retry that has not started does not replace a manual run made since.
    let original = add(&store, &run("tried", DAY, RunCause::Time, RunStatus::TimedOut));
    let retry = RunCause::Retry { of: original, number: 1 };
    let retry_row = add(&store, &run("tried", 2 * DAY, retry, RunStatus::Waiting { until: 9 * DAY }));
    assert_eq!(last_run("tried"), retry_row);
    let by_hand = add(&store, &run("tried", 2 * DAY, RunCause::Hand, RunStatus::Running));
    assert_eq!(last_run("tried"), by_hand);
    let last_runs = store.read_blocking(|reader| reader.last_runs()).unwrap();
    let expected = ["daily", "early", "tried"].map(|task| (task, last_runs[task].id));
    assert_eq!(expected, [("daily", waits), ("early", present), ("tried", by_hand)]);
}

#[test]
fn runs_of_one_moment_are_all_found_page_by_page() {
    let home = crate::home();
    let store = Store::open(home.path()).unwrap();
    let mut made: Vec<RunId> = (0..7)
        .map(|task| add(&store, &run(&format!("task {task}"), DAY, RunCause::Time, RunStatus::Finished)))
        .collect();
    made.reverse();
    let mut found: Vec<RunId> = Vec::new();
    loop {
        let after = found.last().copied();
        let page = store.read_blocking(move |reader| reader.runs(None, after, 3)).unwrap();
        if page.is_empty() {
            break;
        }
        found.extend(page.iter().map(|run| run.id));
    }
    assert_eq!(found, made);
    let unknown = store.read_blocking(|reader| reader.runs(None, Some(RunId::new()), 3)).unwrap();
    assert_eq!(unknown, []);
}
