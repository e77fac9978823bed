//! The known runs of tasks, checked against later processes.

use super::plans::{EDITED, PLANS, missed, offset, prompt, retries};
use crate::{
    crash::known::{check_pairs, count},
    fast_time::MINUTE,
};
use octo_protocol::{
    CallStatus, ListRuns, ListSessions, Millis, MissedRun, OpenSession, RunCause, RunId, RunStatus,
    SessionId, SessionSnapshot, SessionStatus, SkipReason, TaskRun, TurnEnd,
};
use octo_testkit::{ServeProcess, TempHome};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Situations a campaign met.
#[derive(Debug, Default)]
pub struct DueSituations {
    /// Runs that continued in a later process.
    pub resumed: usize,
    pub on_time: usize,
    pub missed: usize,
    pub asked: usize,
    pub retried: usize,
    pub timed_out: usize,
    pub interrupted_calls: usize,
    /// Kills of the scheduling process while another was running.
    pub taken_over: usize,
    /// Edits that were written but not recorded as the person's.
    pub unseen: usize,
}

impl DueSituations {
    pub fn add(&mut self, other: &Self) {
        self.resumed += other.resumed;
        self.on_time += other.on_time;
        self.missed += other.missed;
        self.asked += other.asked;
        self.retried += other.retried;
        self.timed_out += other.timed_out;
        self.interrupted_calls += other.interrupted_calls;
        self.taken_over += other.taken_over;
        self.unseen += other.unseen;
    }

    pub fn met_the_usual(&self) -> bool {
        self.on_time > 0 && self.resumed > 0
    }

    pub fn met_everything(&self) -> bool {
        let situations =
            [self.missed, self.asked, self.retried, self.timed_out, self.interrupted_calls, self.taken_over];
        self.met_the_usual() && situations.iter().all(|count| *count > 0)
    }
}

/// The known runs.
#[derive(Default)]
pub struct RunHistory {
    pub seen: DueSituations,
    /// When each task's schedule started.
    begun: HashMap<&'static str, Millis>,
    /// Finished runs, as they were first shown.
    over: HashMap<RunId, TaskRun>,
    /// Runs that were in progress at the last check.
    open: HashSet<RunId>,
    known: HashMap<&'static str, HashSet<RunId>>,
}

impl RunHistory {
    /// Counts a task's times from now on.
    pub fn begins(&mut self, task: &'static str, now: Millis) {
        self.begun.insert(task, now);
    }

    pub fn note(&mut self, task: &'static str, ids: HashSet<RunId>) {
        if let Some(before) = self.known.insert(task, ids.clone()) {
            assert!(before.is_subset(&ids), "{task}: a run is gone from the history");
        }
    }

    pub fn knows(&self, run: RunId) -> bool {
        self.known.values().any(|ids| ids.contains(&run))
    }

    /// Checks all runs a process shows.
    pub fn check(&mut self, core: &mut ServeProcess) {
        let mut open = HashSet::new();
        for task in PLANS.into_iter().chain([EDITED]) {
            let runs = runs_of(core, task);
            let at_work = |run: &&TaskRun| matches!(run.status, RunStatus::Running | RunStatus::NeedsYou);
            assert!(runs.iter().filter(at_work).count() <= 1, "two at once: {runs:#?}");
            check_slots(task, &runs);
            for run in &runs {
                if !is_over(run) {
                    open.insert(run.id);
                    continue;
                }
                if self.open.contains(&run.id) && run.started_at.is_some() {
                    self.seen.resumed += 1;
                }
                match self.over.get(&run.id) {
                    Some(reported) => assert_eq!(run, reported, "what was over changed"),
                    None => {
                        self.check_over(core, run);
                        self.over.insert(run.id, run.clone());
                    }
                }
            }
        }
        self.open = open;
    }

    /// Checks that a finished run agrees with its session.
    fn check_over(&mut self, core: &mut ServeProcess, run: &TaskRun) {
        assert!(run.ended_at.is_some(), "{run:?}");
        let began = run.started_at.is_some();
        match &run.status {
            RunStatus::Skipped { reason } => {
                assert!(run.session.is_none() && !began, "{run:?}");
                match reason {
                    SkipReason::Missed { .. } => self.seen.missed += 1,
                    SkipReason::Declined => self.seen.asked += 1,
                    SkipReason::StillRunning | SkipReason::Replaced => {}
                    SkipReason::DayBudget
                    | SkipReason::CouldNotStart { .. }
                    | SkipReason::Unrunnable { .. } => panic!("{run:?}"),
                }
            }
            // It was withdrawn before it began.
            RunStatus::Stopped if !began => assert!(run.session.is_none(), "{run:?}"),
            RunStatus::Finished | RunStatus::Failed { .. } | RunStatus::TimedOut | RunStatus::Stopped => {
                assert!(run.started_at <= run.ended_at, "{run:?}");
                let session = run.session.unwrap_or_else(|| panic!("a run without its session: {run:?}"));
                let snapshot = core.call(OpenSession { session }).expect("the session opens");
                self.check_session(run, &snapshot);
            }
            RunStatus::Asked
            | RunStatus::Waiting { .. }
            | RunStatus::Running
            | RunStatus::NeedsYou
            | RunStatus::OverBudget
            | RunStatus::Interrupted => panic!("{run:?}"),
        }
        match (&run.status, run.cause) {
            (RunStatus::TimedOut, _) => self.seen.timed_out += 1,
            (RunStatus::Finished, RunCause::Time) => self.seen.on_time += 1,
            (RunStatus::Finished, RunCause::Retry { .. }) => self.seen.retried += 1,
            (RunStatus::Finished, RunCause::Missed { .. }) => self.seen.missed += 1,
            _ => {}
        }
    }

    fn check_session(&mut self, run: &TaskRun, snapshot: &SessionSnapshot) {
        check_pairs(snapshot);
        assert!(snapshot.questions.is_empty() && snapshot.queue.is_empty(), "{run:?}");
        let [turn] = snapshot.page.turns.as_slice() else { panic!("one turn: {:?}", snapshot.page.turns) };
        let is_expected = match turn.end.as_ref().expect("its turn is over") {
            TurnEnd::Finished => run.status == RunStatus::Finished,
            TurnEnd::Stopped => matches!(run.status, RunStatus::Stopped | RunStatus::TimedOut),
            TurnEnd::Failed { .. } => matches!(run.status, RunStatus::Failed { .. }),
        };
        assert!(is_expected, "{run:?} but {turn:?}");
        assert!(matches!(snapshot.info.status, SessionStatus::Idle | SessionStatus::Failed), "{run:?}");
        if run.task != EDITED {
            assert_eq!(count(snapshot, &prompt(&run.task)), 1, "its prompt, once");
        }
        self.seen.interrupted_calls += statuses(snapshot, CallStatus::Interrupted);
    }

    /// Checks that every time up to the last has its entry, every failure its retry and every run its one
    /// session, and that the effects on the disk match the transcripts.
    pub fn finish(&mut self, core: &mut ServeProcess, home: &TempHome, ended_at: Millis) {
        let mut sessions: HashMap<SessionId, RunId> = HashMap::new();
        for task in PLANS.into_iter().chain([EDITED]) {
            let runs = runs_of(core, task);
            if let Some(started_at) = self.begun.get(task) {
                check_times(task, &runs, *started_at);
            }
            check_retries(task, &runs, ended_at);
            check_apart(&runs);
            let (mut done, mut at_most) = (0, 0);
            for run in &runs {
                let Some(session) = run.session else { continue };
                let before = sessions.insert(session, run.id);
                assert!(before.is_none(), "two runs of one session: {before:?} {run:?}");
                let snapshot = core.call(OpenSession { session }).expect("the session opens");
                self.check_session(run, &snapshot);
                done += statuses(&snapshot, CallStatus::Done);
                at_most += [CallStatus::Interrupted, CallStatus::Stopped, CallStatus::Failed]
                    .map(|status| statuses(&snapshot, status))
                    .iter()
                    .sum::<usize>();
            }
            let log = std::fs::read_to_string(home.work().join(format!("{task}.log"))).unwrap_or_default();
            let lines = log.lines().count();
            assert!(
                (done..=done + at_most).contains(&lines),
                "{task}: {lines} lines, {done} done, {at_most} not"
            );
        }
        let call = ListSessions { query: String::new(), filter: Default::default(), offset: 0, limit: 200 };
        let listed = core.call(call).expect("the sessions are listed");
        assert_eq!(listed.total as usize, sessions.len(), "a session that no run has, or a run without one");
    }
}

/// Returns the runs of a task, oldest first.
pub fn runs_of(core: &mut ServeProcess, task: &str) -> Vec<TaskRun> {
    let call = ListRuns { task: Some(task.to_owned()), after: None, limit: 200 };
    let mut runs = core.call(call).expect("the runs are listed").runs;
    assert!(runs.len() < 200, "more than one page");
    runs.reverse();
    runs
}

/// Returns whether a run can have no further effect.
pub fn is_over(run: &TaskRun) -> bool {
    run.ended_at.is_some()
}

fn statuses(snapshot: &SessionSnapshot, status: CallStatus) -> usize {
    let blocks = snapshot.page.messages.iter().flat_map(|message| &message.blocks);
    let results = blocks
        .filter(|block| matches!(block, octo_protocol::Block::ToolResult(result) if result.status == status));
    results.count()
}

/// Checks that each scheduled time has at most one run.
fn check_slots(task: &str, runs: &[TaskRun]) {
    let mut slots = HashSet::new();
    for run in runs.iter().filter(|run| matches!(run.cause, RunCause::Time | RunCause::Missed { .. })) {
        assert_eq!(run.due.rem_euclid(5 * MINUTE), offset(task) * MINUTE, "not one of its times: {run:?}");
        assert!(slots.insert(run.due), "twice: {run:?}");
    }
}

/// Checks that every time from the first to the last is reported; without a question, by one entry.
fn check_times(task: &str, runs: &[TaskRun], started_at: Millis) {
    let mut runs_by_time: BTreeMap<Millis, Vec<&TaskRun>> = BTreeMap::new();
    for run in runs {
        let times = match run.cause {
            RunCause::Time => 1,
            RunCause::Missed { times } => times,
            RunCause::Hand | RunCause::Retry { .. } => continue,
        };
        for back in 0..Millis::from(times) {
            runs_by_time.entry(run.due - back * 5 * MINUTE).or_default().push(run);
        }
    }
    let last = *runs_by_time.keys().next_back().expect("a time");
    for at in super::times(offset(task), started_at, last) {
        let lines = runs_by_time.get(&at).map_or(0, Vec::len);
        assert!(lines > 0, "{task}: lost: {at}\n{runs:#?}");
        assert!(lines == 1 || missed(task) == MissedRun::Ask, "{task}: {at}: {:#?}", runs_by_time[&at]);
    }
    assert!(
        runs_by_time.keys().all(|at| *at >= started_at - 5 * MINUTE),
        "{task}: before it was there: {runs_by_time:#?}"
    );
}

/// Checks that every failed run was retried, once per attempt the plan allows.
fn check_retries(task: &str, runs: &[TaskRun], ended_at: Millis) {
    for run in runs {
        let tries: Vec<&TaskRun> = runs
            .iter()
            .filter(|other| matches!(other.cause, RunCause::Retry { of, .. } if of == run.id))
            .collect();
        let number = match run.cause {
            RunCause::Retry { number, .. } => number,
            RunCause::Time | RunCause::Missed { .. } | RunCause::Hand => 0,
        };
        let wanted = matches!(run.status, RunStatus::Failed { .. }) && number < retries(task);
        let is_late = run.ended_at.is_some_and(|at| at >= ended_at);
        assert!(tries.len() <= usize::from(wanted), "tried too often: {run:?}: {tries:#?}");
        assert!(!wanted || is_late || tries.len() == 1, "not tried again: {run:?}");
        assert!(
            tries
                .iter()
                .all(|next| matches!(next.cause, RunCause::Retry { number: next, .. } if next == number + 1))
        );
    }
}

/// Checks that no two runs of a task overlap.
fn check_apart(runs: &[TaskRun]) {
    let mut spans: Vec<(Millis, Millis)> =
        runs.iter().filter_map(|run| Some((run.started_at?, run.ended_at?))).collect();
    spans.sort_unstable();
    for pair in spans.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "two at once: {pair:?}\n{runs:#?}");
    }
}
