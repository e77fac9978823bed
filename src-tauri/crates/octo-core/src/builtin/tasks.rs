//! `octo task …`: an agent's work with tasks.
//!
//! Octo shows the person the agent's draft in words, with the plan and its next times, and then saves exactly
//! that or nothing.

use super::{HomeCommands, in_english, told};
use crate::{models::Models, schedule::ShownPlan};
use jiff::{Timestamp, tz::TimeZone};
use octo_protocol::{
    Language, Millis, MissedRun, Mode, Profile, RemovedBy, RunCause, RunStatus, SkipReason, TaskCard,
    TaskContent, TaskNotifications, TaskPlan, TaskRetry, TaskState, ToolView, words,
};
use octo_schedule::{file, own_zone, wording};
use octo_tools::{CommandOrigin, TaskCommand, TaskFields, ToolError};
use std::{collections::BTreeMap, fmt::Write};

/// Number of runs listed per task.
const RUNS: u32 = 10;

impl HomeCommands {
    /// Returns a preview of the effect, for the person who is asked.
    pub(super) async fn task_view(
        &self,
        errand: TaskCommand,
        asker: &CommandOrigin,
    ) -> Result<ToolView, ToolError> {
        let language = self.tasks.language();
        let text = match errand {
            TaskCommand::List | TaskCommand::Show { .. } => String::new(),
            TaskCommand::Save { task, draft } => {
                let (version, plan) = self.drafted(task.as_deref(), *draft, asker).await?;
                let preview = self.tasks.preview(plan.clone()).await.map_err(told)?;
                if !preview.errors.is_empty() {
                    let faults = preview.errors.iter().map(|fault| in_english(&fault.error));
                    return Err(ToolError::new(faults.collect::<Vec<_>>().join("\n")));
                }
                let mut text = in_words(language, &plan, &preview.next, self.tasks.models());
                for remark in &preview.remarks {
                    let said = words::say(language, &format!("error.{}", remark.key), &remark.args);
                    // Writing to a string cannot fail.
                    let _written = write!(text, "\n\n{said}");
                }
                let plan = ShownPlan { call: asker.call, task, version, plan };
                self.tasks.hold(plan).map_err(|_| {
                    // The question is open: its meaning must not change.
                    ToolError::new("Not done: the task changed while the person was asked.")
                })?;
                text
            }
            TaskCommand::Run { task } | TaskCommand::Switch { task, .. } | TaskCommand::Delete { task } => {
                let card = self.tasks.get(task).await.map_err(told)?;
                match card.content {
                    TaskContent::Plan { plan } => in_words(language, &plan, &card.next, self.tasks.models()),
                    TaskContent::Broken { text, .. } => text,
                }
            }
        };
        Ok(ToolView::Plain { text })
    }

    /// Executes the command; the text is for the model.
    pub(super) async fn task(&self, errand: TaskCommand, asker: &CommandOrigin) -> Result<String, ToolError> {
        match errand {
            TaskCommand::List => {
                let cards = self.tasks.list().await.map_err(told)?;
                if cards.tasks.is_empty() {
                    return Ok("There are no tasks.".to_owned());
                }
                Ok(cards.tasks.iter().map(line).collect())
            }
            TaskCommand::Show { task } => self.shown(task).await,
            TaskCommand::Save { .. } => {
                let shown = self.tasks.take_held(asker.call).ok_or_else(|| {
                    ToolError::new("Not saved: it is not what the person was shown. Ask again.")
                })?;
                let saved = self.tasks.save(shown.task, shown.plan, shown.version).await.map_err(told)?;
                Ok(format!("Saved as {}. {}", saved.file, line(&saved)))
            }
            TaskCommand::Run { task } => {
                let run = self.tasks.run_now(task).await.map_err(told)?;
                Ok(format!(
                    "A run of {} was set off. It works in a session of its own; `octo task show {}` tells how it goes.",
                    run.name, run.task
                ))
            }
            TaskCommand::Switch { task, on } => {
                let card = self.tasks.switch(task, on).await.map_err(told)?;
                Ok(line(&card))
            }
            TaskCommand::Delete { task } => {
                let gone = self.tasks.delete(task.clone(), RemovedBy::Agent, Some(asker.session)).await;
                gone.map_err(told)?;
                Ok(format!("{task} is in the trash, its runs are kept."))
            }
        }
    }

    async fn shown(&self, task: String) -> Result<String, ToolError> {
        let card = self.tasks.get(task.clone()).await.map_err(told)?;
        let mut text = line(&card);
        match &card.content {
            TaskContent::Plan { plan } => {
                let _written = write!(text, "\n{}", file::text(plan, None, self.tasks.models()));
            }
            TaskContent::Broken { error, text: written } => {
                let _written = write!(text, "\n{}\n{written}", in_english(error));
            }
        }
        let runs = self.tasks.runs(Some(task), None, RUNS).await.map_err(told)?;
        text.push_str("\nRuns, newest first:\n");
        for run in &runs.runs {
            let cause = match run.cause {
                RunCause::Time => "",
                RunCause::Missed { .. } => ", missed before",
                RunCause::Hand => ", by hand",
                RunCause::Retry { .. } => ", another try",
            };
            let _written = writeln!(
                text,
                "- {}{cause}: {}, {}{}",
                local(run.due, TimeZone::system()),
                standing(&run.status),
                run.cost,
                run.result.as_ref().map(|result| format!(": {result}")).unwrap_or_default()
            );
        }
        Ok(text)
    }

    /// Returns the plan of a draft, and the version of the file it changes.
    async fn drafted(
        &self,
        task: Option<&str>,
        draft: TaskFields,
        asker: &CommandOrigin,
    ) -> Result<(Option<String>, TaskPlan), ToolError> {
        let (version, mut plan) = match task {
            Some(task) => {
                let card = self.tasks.get(task.to_owned()).await.map_err(told)?;
                match card.content {
                    TaskContent::Plan { plan } => (Some(card.version), *plan),
                    TaskContent::Broken { error, .. } => return Err(told(error)),
                }
            }
            None => (None, self.usual(asker)),
        };
        let wrong = |what: &str, given: &str, forms: &str| {
            ToolError::new(format!("Not done: --{what} {given:?} cannot be read. Write one of: {forms}"))
        };
        if let Some(when) = draft.when {
            plan.when = wording::parse(&when).ok_or_else(|| wrong("when", &when, wording::FORMS))?;
        }
        if let Some(mode) = draft.mode {
            plan.mode =
                file::mode_named(&mode).ok_or_else(|| wrong("mode", &mode, "ask, ask_risky, autonomous"))?;
        }
        if let Some(profile) = draft.profile {
            plan.profile = profile
                .parse()
                .map_err(|_| wrong("profile", &profile, "general, coding, or one of the person's"))?;
        }
        if let Some(model) = draft.model {
            let known = self.tasks.models().names().join(", ");
            plan.model =
                Some(self.tasks.models().find(&model).ok_or_else(|| wrong("model", &model, &known))?);
        }
        if let Some(budget) = draft.budget {
            let amount =
                file::budget(&budget).ok_or_else(|| wrong("budget", &budget, "an amount such as 0.50"))?;
            plan.budget = Some(amount);
        }
        if let Some(missed) = draft.missed {
            plan.missed =
                file::missed_named(&missed).ok_or_else(|| wrong("missed", &missed, "skip, run-once, ask"))?;
        }
        if let Some(tell) = draft.tell {
            plan.tell = file::notifications_named(&tell)
                .ok_or_else(|| wrong("tell", &tell, "all, trouble, nothing"))?;
        }
        plan.name = draft.name.unwrap_or(plan.name);
        plan.prompt = draft.prompt.unwrap_or(plan.prompt);
        plan.folder = draft.folder.map_or(plan.folder, |folder| folder.display().to_string());
        plan.zone = draft.zone.unwrap_or(plan.zone);
        plan.minutes = draft.minutes.unwrap_or(plan.minutes);
        plan.retry = TaskRetry {
            times: draft.retries.unwrap_or(plan.retry.times),
            minutes: draft.retry_minutes.unwrap_or(plan.retry.minutes),
        };
        Ok((version, plan))
    }

    /// Returns the defaults of a new task: the cautious mode, in the folder of the request.
    fn usual(&self, asker: &CommandOrigin) -> TaskPlan {
        let chosen = self.tasks.preferences().tasks;
        TaskPlan {
            name: String::new(),
            prompt: String::new(),
            when: octo_protocol::Timing::ByHand,
            zone: own_zone(),
            folder: asker.folder.display().to_string(),
            profile: octo_protocol::Profile::GENERAL,
            mode: Mode::AskRisky,
            model: None,
            budget: None,
            minutes: file::MINUTES,
            retry: TaskRetry { times: 0, minutes: file::RETRY_MINUTES },
            missed: chosen.missed,
            tell: chosen.tell,
        }
    }
}

/// Formats a task on one line.
fn line(card: &TaskCard) -> String {
    let state = match card.state {
        TaskState::Active => "",
        TaskState::Paused => ", paused",
        TaskState::Resting => ", does not run by itself any more",
        TaskState::Broken => ", cannot be read",
        TaskState::Unseen => ", waits until the person has looked at it on the Tasks page",
    };
    let TaskContent::Plan { plan } = &card.content else { return format!("- {}{state}\n", card.file) };
    let zone = TimeZone::get(&plan.zone).unwrap_or(TimeZone::UTC);
    let next = match (card.state, card.next.first()) {
        (TaskState::Active, Some(next)) => format!("; next {}", local(*next, zone)),
        _ => String::new(),
    };
    let last =
        card.last.as_ref().map(|run| format!("; last run {}", standing(&run.status))).unwrap_or_default();
    format!(
        "- {} ({}{state}): {}, {}{next}{last}\n",
        card.file,
        plan.name,
        wording::to_words(&plan.when),
        plan.zone
    )
}

fn standing(status: &RunStatus) -> String {
    let word = match status {
        RunStatus::Asked => "waits: the person is asked whether to run it",
        RunStatus::Waiting { .. } => "waits for its turn",
        RunStatus::Running => "runs",
        RunStatus::NeedsYou => "waits for the person's answer",
        RunStatus::Finished => "finished",
        RunStatus::Failed { error } => return format!("failed ({})", in_english(error)),
        RunStatus::TimedOut => "was stopped after its time",
        RunStatus::OverBudget => "was stopped at its budget",
        RunStatus::Stopped => "was stopped",
        RunStatus::Interrupted => "was interrupted",
        RunStatus::Skipped { reason } => match reason {
            SkipReason::StillRunning => "left out: the one before still ran",
            SkipReason::Missed { .. } => "left out: missed",
            SkipReason::Declined => "left out: the person said no",
            SkipReason::Replaced => "not tried again: a new run took its place",
            SkipReason::DayBudget => "left out: the day's budget was used up",
            SkipReason::Unrunnable { error } => {
                return format!("left out from here on ({})", in_english(error));
            }
            SkipReason::CouldNotStart { error } => {
                return format!("left out: could not begin ({})", in_english(error));
            }
        },
    };
    word.to_owned()
}

/// Describes a complete plan in words for the person, with its next times.
fn in_words(language: Language, plan: &TaskPlan, next: &[Millis], models: &Models) -> String {
    // A field added to a plan causes a compile error here, so that the person sees everything they agree to.
    let TaskPlan {
        name,
        prompt,
        when,
        zone: zone_name,
        folder,
        profile,
        mode,
        model,
        budget,
        minutes,
        retry,
        missed,
        tell,
    } = plan;
    let say = |key: &str| words::say(language, key, &BTreeMap::new());
    let zone = TimeZone::get(zone_name).unwrap_or(TimeZone::UTC);
    let times: Vec<String> =
        next.iter().filter_map(|at| wording::format_moment(language, *at, zone.clone())).collect();
    let limit =
        budget.map_or_else(|| say("taskdesk.no_limit"), |budget| format!("${}", file::dollars(budget)));
    let mode = match mode {
        Mode::Ask => "taskdesk.mode.ask",
        Mode::AskRisky => "taskdesk.mode.ask_risky",
        Mode::Autonomous => "taskdesk.mode.autonomous",
    };
    let model =
        model.and_then(|model| models.vendor_name(model)).unwrap_or_else(|| say("taskdesk.model.default"));
    let profile = match profile {
        profile if *profile == Profile::GENERAL => say("profile.general"),
        profile if *profile == Profile::CODING => say("profile.coding"),
        own => own.to_string(),
    };
    let retry = match retry.times {
        0 => say("taskdesk.retry.never"),
        times => {
            let args = [("times", times.to_string()), ("minutes", retry.minutes.to_string())];
            words::say(language, "taskdesk.retry", &named(args))
        }
    };
    let missed = match missed {
        MissedRun::Skip => "tasks.missed.skip.sub",
        MissedRun::RunOnce => "tasks.missed.run_once.sub",
        MissedRun::Ask => "tasks.missed.ask.sub",
    };
    let tell = match tell {
        TaskNotifications::All => "tasks.tell.all.sub",
        TaskNotifications::Trouble => "tasks.tell.trouble.sub",
        TaskNotifications::Nothing => "tasks.tell.nothing.sub",
    };
    let args = [
        ("name", name.clone()),
        ("when", wording::to_sentence(language, when)),
        ("zone", zone_name.clone()),
        ("next", if times.is_empty() { say("taskdesk.never") } else { times.join(words::LIST_SEPARATOR) }),
        ("folder", folder.clone()),
        ("mode", say(mode)),
        ("model", model),
        ("profile", profile),
        ("budget", limit),
        ("minutes", minutes.to_string()),
        ("retry", retry),
        ("missed", say(missed)),
        ("tell", say(tell)),
        ("prompt", prompt.clone()),
    ];
    words::say(language, "taskdesk.plan", &named(args))
}

fn named<const N: usize>(args: [(&str, String); N]) -> BTreeMap<String, String> {
    args.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn local(at: Millis, zone: TimeZone) -> String {
    Timestamp::from_millisecond(at)
        .map(|at| at.to_zoned(zone).strftime("%a %Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
}
