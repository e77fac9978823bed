//! The crash campaign of scheduled tasks: `kill -9` of `octo-cli serve` at random moments while tasks are due,
//! start, run, fail and are retried, at times with a second process on the same home. After each kill every
//! scheduled time has its one run or its entry with the reason why not, everything reported about a run is
//! still true, and its session is complete.
//!
//! Uses a clock that runs [`SPEED`] times as fast. Seeded, with the length given by [`crate::campaign`].

mod history;
mod plans;

use crate::{
    campaign::{CampaignExtent, Random, kill},
    fast_time::{self, MINUTE},
    support::{PATIENCE, connect, is_gone, until},
};
use history::{DueSituations, RunHistory, is_over, runs_of};
use octo_protocol::{
    AcceptTask, AnswerMissed, ApiError, GetTask, Millis, MissedAnswer, RunId, RunStatus, RunTask, SaveTask,
    StopRun, Switch, SwitchTask, TaskContent, TaskState,
};
use octo_testkit::{FastTime, ModelServer, Script, ServeProcess, TempHome};
use plans::{EDITED, PLANS, edited, plan};
use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    time::Duration,
};

/// A minute of a plan takes a second.
const SPEED: u32 = 60;

/// Number of kills per home.
const KILLS_PER_HOME: usize = 20;

/// Sessions stay open here, as in a process that runs for minutes.
const IDLE_AFTER: Duration = Duration::from_secs(90);

#[test]
fn every_scheduled_time_fires_once_or_has_a_reason_despite_kill_9() {
    let mut seen = DueSituations::default();
    let extent = kill(20_261_122, KILLS_PER_HOME, |seed, kills| {
        let mut campaign = Campaign::begin(seed);
        for _ in 0..kills {
            campaign.run_process();
        }
        campaign.finish();
        seen.add(&campaign.history.seen);
        kills
    });
    println!("{seen:?}");
    assert!(seen.met_the_usual(), "nothing was tried: {seen:?}");
    assert!(
        seen.met_everything() || extent == CampaignExtent::Part,
        "a full campaign comes upon everything: {seen:?}"
    );
}

/// One home whose tasks continue through kills.
struct Campaign {
    home: TempHome,
    server: ModelServer,
    time: FastTime,
    random: Random,
    /// The process that survived the last kill of another.
    other: Option<ServeProcess>,
    history: RunHistory,
    /// Runs reported to a client.
    told: HashSet<RunId>,
    /// Number of edits of the edited task, and the last requested version.
    edits: usize,
}

impl Campaign {
    fn begin(seed: u64) -> Self {
        let home = TempHome::new();
        let random = Arc::new(Mutex::new(Random::new(seed ^ 0xABCD)));
        let script = Script::from_fn(move |request| plans::answer(request, &mut random.lock().unwrap()));
        let server = ModelServer::start(script);
        let time = FastTime::new(SPEED);
        let mut core = fast_time::serve(&time, &home, IDLE_AFTER);
        connect(&mut core, &server);
        let mut history = RunHistory::default();
        for name in PLANS {
            let save = SaveTask { task: None, plan: Box::new(plan(&home, name)), version: None };
            let card = core.call(save).expect("the task is saved");
            assert_eq!((card.file.as_str(), card.state), (name, TaskState::Active), "{card:?}");
            history.begins(name, time.now());
        }
        let save = SaveTask { task: None, plan: Box::new(edited(&home, 0)), version: None };
        core.call(save).expect("the task is saved");
        Self {
            home,
            server,
            time,
            random: Random::new(seed),
            other: Some(core),
            history,
            told: HashSet::new(),
            edits: 0,
        }
    }

    /// Runs a process up to its kill.
    fn run_process(&mut self) {
        let mut core = match self.other.take() {
            Some(other) => other,
            None => fast_time::serve(&self.time, &self.home, IDLE_AFTER),
        };
        if self.random.one_in(5) {
            // During its start.
            std::thread::sleep(Duration::from_millis(self.random.below(0, 500)));
            core.kill();
            return;
        }
        self.check(&mut core);
        if self.random.one_in(4) {
            self.other = Some(fast_time::serve(&self.time, &self.home, IDLE_AFTER));
        }
        for _ in 0..self.random.below(0, 4) {
            self.act(&mut core);
            std::thread::sleep(Duration::from_millis(self.random.below(0, 300)));
        }
        if self.random.one_in(2) {
            // Shortly after an event.
            let place = core.events().len();
            let count = self.random.below(1, 12);
            let count = usize::try_from(count).unwrap() + place;
            // Some event happens within a few minutes of the plans.
            until("events", || (core.events().len() >= count).then_some(()));
            std::thread::sleep(Duration::from_micros(self.random.below(0, 8_000)));
        } else {
            std::thread::sleep(Duration::from_millis(self.random.below(0, 1_500)));
        }
        core.kill();
        self.take_over();
        if self.other.is_none() && self.random.one_in(4) {
            // The computer was off for a while.
            self.time.skip(Millis::try_from(self.random.below(1, 20)).unwrap() * MINUTE);
        }
    }

    /// If another process is running, it soon takes over the schedule.
    fn take_over(&mut self) {
        let Some(other) = &mut self.other else { return };
        let killed = self.time.now();
        until("the other process goes on with the schedule", || {
            let began = |run: &octo_protocol::TaskRun| run.started_at.is_some_and(|at| at > killed);
            PLANS.iter().any(|task| runs_of(other, task).iter().any(began)).then_some(())
        });
        self.history.seen.taken_over += 1;
    }

    /// Acts as a person meanwhile; a refusal is no fault if the state may have changed.
    fn act(&mut self, core: &mut ServeProcess) {
        let task = PLANS[usize::try_from(self.random.below(0, PLANS.len() as u64)).unwrap()];
        let open = |core: &mut ServeProcess| runs_of(core, task).into_iter().find(|run| !is_over(run));
        match self.random.below(0, 5) {
            0 => {
                if let Some(run) = allowed(core.call(RunTask { task: task.to_owned() }), "task.running") {
                    self.told.insert(run.id);
                }
            }
            1 => {
                if let Some(run) = open(core) {
                    allowed(core.call(StopRun { run: run.id }), "task.run_gone");
                }
            }
            2 => {
                if let Some(run) = open(core).filter(|run| run.status == RunStatus::Asked) {
                    let answers = [MissedAnswer::Run, MissedAnswer::Skip];
                    let answer = answers[usize::from(self.random.one_in(2))];
                    match core.call(AnswerMissed { run: run.id, answer }) {
                        Ok(_) => {}
                        Err(error) if matches!(error.key.as_str(), "task.running" | "task.run_gone") => {}
                        Err(error) => panic!("{error:?}"),
                    }
                }
            }
            3 => {
                if let Some(run) = allowed(core.call(RunTask { task: EDITED.to_owned() }), "task.running") {
                    self.told.insert(run.id);
                }
            }
            _ => {
                let card = core.call(GetTask { task: EDITED.to_owned() }).expect("the task is there");
                self.edits += 1;
                let plan = Box::new(edited(&self.home, self.edits));
                let save = SaveTask { task: Some(EDITED.to_owned()), plan, version: Some(card.version) };
                if self.random.one_in(2) {
                    // The process is killed while this request is in transit.
                    core.send(&save.into());
                } else {
                    core.call(save).expect("the task is saved");
                }
            }
        }
    }

    /// Checks that the next process's state matches everything known.
    fn check(&mut self, core: &mut ServeProcess) {
        self.check_edited(core);
        self.history.check(core);
        for task in PLANS.into_iter().chain([EDITED]) {
            let ids: HashSet<RunId> = runs_of(core, task).iter().map(|run| run.id).collect();
            self.history.note(task, ids);
        }
        for run in &self.told {
            assert!(self.history.knows(*run), "a run that was told of is gone: {run}");
        }
    }

    /// Checks that the task's file is either the last version or the requested one, never a mixture.
    fn check_edited(&mut self, core: &mut ServeProcess) {
        let card = core.call(GetTask { task: EDITED.to_owned() }).expect("the task is there");
        let TaskContent::Plan { plan } = &card.content else { panic!("not whole: {card:?}") };
        let is_one =
            (0..=self.edits).rev().take(5).any(|number| plan.prompt == edited(&self.home, number).prompt);
        assert!(is_one, "none of what was saved: {} bytes", plan.prompt.len());
        if card.state == TaskState::Unseen {
            // Written, but not yet recorded as the person's: it waits for review.
            self.history.seen.unseen += 1;
            let accept = AcceptTask { task: EDITED.to_owned(), version: card.version };
            core.call(accept).expect("the task is accepted");
        }
        let folder = self.home.octo().join("tasks");
        for entry in std::fs::read_dir(folder).expect("the folder of tasks") {
            let name = entry.expect("an entry").file_name().into_string().expect("a name");
            let known = |task: &str| name == format!("{task}.md");
            // A leftover of an interrupted file write is hidden and not a task.
            assert!(PLANS.iter().any(|task| known(task)) || known(EDITED) || name.starts_with('.'), "{name}");
        }
    }

    /// Stops the kills: lets everything finish, and checks the whole history.
    fn finish(&mut self) {
        let mut core =
            self.other.take().unwrap_or_else(|| fast_time::serve(&self.time, &self.home, IDLE_AFTER));
        self.check(&mut core);
        // One more time of each plan, so that all earlier ones are decided.
        let last = self.time.now() + MINUTE;
        until("every task was due again", || {
            let due = |task: &&str| runs_of(&mut core, task).iter().any(|run| run.due >= last);
            PLANS.iter().all(due).then_some(())
        });
        let off = self.time.now();
        for task in PLANS {
            let switch = SwitchTask { task: task.to_owned(), on: Switch::Off };
            core.call(switch).expect("the task is paused");
        }
        until("no run is open", || {
            let all = PLANS.into_iter().chain([EDITED]).flat_map(|task| runs_of(&mut core, task));
            let open: Vec<_> = all.filter(|run| !is_over(run)).collect::<Vec<_>>();
            for run in open.iter().filter(|run| run.status == RunStatus::Asked) {
                allowed(core.call(AnswerMissed { run: run.id, answer: MissedAnswer::Skip }), "task.run_gone");
            }
            open.is_empty().then_some(())
        });
        self.history.check(&mut core);
        self.history.finish(&mut core, &self.home, off);
        core.close(PATIENCE);
        self.server.assert_clean();
        until("nothing that was begun is left behind", || leftover(&self.home).is_none().then_some(()));
    }
}

/// Returns a reply, or `None` if it was refused for this reason.
fn allowed<T>(reply: Result<T, ApiError>, error_key: &str) -> Option<T> {
    match reply {
        Ok(reply) => Some(reply),
        Err(error) if error.key == error_key => None,
        Err(error) => panic!("{error:?}"),
    }
}

/// Returns a process that still works in the home.
fn leftover(home: &TempHome) -> Option<i32> {
    let work = home.work();
    let all = std::fs::read_dir("/proc").expect("the processes").flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let works = |id: &i32| std::fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|cwd| cwd == work);
    ids.filter(works).find(|id| !is_gone(*id))
}

/// Returns the times of a plan between two moments, the later one included.
fn times(offset: Millis, after: Millis, until: Millis) -> impl Iterator<Item = Millis> {
    let step = 5 * MINUTE;
    let first = (after - offset * MINUTE).div_euclid(step) * step + offset * MINUTE + step;
    (0..).map(move |number| first + number * step).take_while(move |at| *at <= until)
}
