//! `octo task …`: an agent's work with tasks.
//!
//! Octo shows the person the agent's draft in words, with the plan and its next times, and then saves exactly
//! that or nothing.

use super::{HomeCommands, english_text, tool_error};
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
        command: TaskCommand,
        origin: &CommandOrigin,
    ) -> Result<ToolView, ToolError> {
        let language = self.tasks.language();
        let text = match command {
            TaskCommand::List | TaskCommand::Show { .. } => String::new(),
            TaskCommand::Save { task, draft } => {
                let (version, plan) = self.plan_from_draft(task.as_deref(), *draft, origin).await?;
                let preview = self.tasks.preview(plan.clone()).await.map_err(tool_error)?;
                if !preview.errors.is_empty() {
                    let faults = preview.errors.iter().map(|error| english_text(&error.error));
                    return Err(ToolError::new(faults.collect::<Vec<_>>().join("\n")));
                }
                let mut text = describe_plan(language, &plan, &preview.next, self.tasks.models());
                for remark in &preview.remarks {
                    let remark_text = words::say(language, &format!("error.{}", remark.key), &remark.args);
                    // Writing to a string cannot fail.
                    let _written = write!(text, "\n\n{remark_text}");
                }
                let plan = ShownPlan { call: origin.call, task, version, plan };
                self.tasks.hold(plan).map_err(|_| {
                    // The question is open: its meaning must not change.
                    ToolError::new("Not done: the task changed while the person was asked.")
                })?;
                text
            }
            TaskCommand::Run { task } | TaskCommand::Switch { task, .. } | TaskCommand::Delete { task } => {
                let card = self.tasks.get(task).await.map_err(tool_error)?;
                match card.content {
                    TaskContent::Plan { plan } => {
                        describe_plan(language, &plan, &card.next, self.tasks.models())
                    }
                    TaskContent::Broken { text, .. } => text,
                }
            }
        };
        Ok(ToolView::Plain { text })
    }

    /// Executes the command; the text is for the model.
    pub(super) async fn task(
        &self,
        command: TaskCommand,
        origin: &CommandOrigin,
    ) -> Result<String, ToolError> {
        match command {
            TaskCommand::List => {
                let cards = self.tasks.list().await.map_err(tool_error)?;
                if cards.tasks.is_empty() {
                    return Ok("There are no tasks.".to_owned());
                }
                Ok(cards.tasks.iter().map(line).collect())
            }
            TaskCommand::Show { task } => self.show_task(task).await,
            TaskCommand::Save { .. } => {
                let confirmed = self.tasks.take_held(origin.call).ok_or_else(|| {
                    ToolError::new("Not saved: it is not what the person was shown. Ask again.")
                })?;
                let saved = self
                    .tasks
                    .save(confirmed.task, confirmed.plan, confirmed.version)
                    .await
                    .map_err(tool_error)?;
                Ok(format!("Saved as {}. {}", saved.file, line(&saved)))
            }
            TaskCommand::Run { task } => {
                let run = self.tasks.run_now(task).await.map_err(tool_error)?;
                Ok(format!(
                    "A run of {} was set off. It works in a session of its own; `octo task show {}` tells how it goes.",
                    run.name, run.task
                ))
            }
            TaskCommand::Switch { task, on } => {
                let card = self.tasks.switch(task, on).await.map_err(tool_error)?;
                Ok(line(&card))
            }
            TaskCommand::Delete { task } => {
                let deletion = self.tasks.delete(task.clone(), RemovedBy::Agent, Some(origin.session)).await;
                deletion.map_err(tool_error)?;
                Ok(format!("{task} is in the trash, its runs are kept."))
            }
        }
    }

    async fn show_task(&self, task: String) -> Result<String, ToolError> {
        let card = self.tasks.get(task.clone()).await.map_err(tool_error)?;
        let mut text = line(&card);
        match &card.content {
            TaskContent::Plan { plan } => {
                let _written = write!(text, "\n{}", file::text(plan, None, self.tasks.models()));
            }
            TaskContent::Broken { error, text: source } => {
                let _written = write!(text, "\n{}\n{source}", english_text(error));
            }
        }
        let runs = self.tasks.runs(Some(task), None, RUNS).await.map_err(tool_error)?;
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
                format_local(run.due, TimeZone::system()),
                describe_status(&run.status),
                run.cost,
                run.result.as_ref().map(|result| format!(": {result}")).unwrap_or_default()
            );
        }
        Ok(text)
    }

    /// Returns the plan of a draft, and the version of the file it changes.
    async fn plan_from_draft(
        &self,
        task: Option<&str>,
        draft: TaskFields,
        origin: &CommandOrigin,
    ) -> Result<(Option<String>, TaskPlan), ToolError> {
        let (version, mut plan) = match task {
            Some(task) => {
                let card = self.tasks.get(task.to_owned()).await.map_err(tool_error)?;
                match card.content {
                    TaskContent::Plan { plan } => (Some(card.version), *plan),
                    TaskContent::Broken { error, .. } => return Err(tool_error(error)),
                }
            }
            None => (None, self.default_plan(origin)),
        };
        let invalid = |field: &str, value: &str, forms: &str| {
            ToolError::new(format!("Not done: --{field} {value:?} cannot be read. Write one of: {forms}"))
        };
        if let Some(timing) = draft.when {
            plan.when = wording::parse(&timing).ok_or_else(|| invalid("when", &timing, wording::FORMS))?;
        }
        if let Some(mode) = draft.mode {
            plan.mode = file::parse_mode(&mode)
                .ok_or_else(|| invalid("mode", &mode, "ask, ask_risky, autonomous"))?;
        }
        if let Some(profile) = draft.profile {
            plan.profile = profile
                .parse()
                .map_err(|_| invalid("profile", &profile, "general, coding, or one of the person's"))?;
        }
        if let Some(model) = draft.model {
            let available = self.tasks.models().names().join(", ");
            plan.model =
                Some(self.tasks.models().find(&model).ok_or_else(|| invalid("model", &model, &available))?);
        }
        if let Some(budget) = draft.budget {
            let dollars = file::parse_dollars(&budget)
                .ok_or_else(|| invalid("budget", &budget, "an amount such as 0.50"))?;
            plan.budget = Some(dollars);
        }
        if let Some(on_missed) = draft.missed {
            plan.missed = file::parse_missed(&on_missed)
                .ok_or_else(|| invalid("missed", &on_missed, "skip, run-once, ask"))?;
        }
        if let Some(notifications) = draft.tell {
            plan.tell = file::parse_notifications(&notifications)
                .ok_or_else(|| invalid("tell", &notifications, "all, trouble, nothing"))?;
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
    fn default_plan(&self, origin: &CommandOrigin) -> TaskPlan {
        let defaults = self.tasks.preferences().tasks;
        TaskPlan {
            name: String::new(),
            prompt: String::new(),
            when: octo_protocol::Timing::ByHand,
            zone: own_zone(),
            folder: origin.folder.display().to_string(),
            profile: octo_protocol::Profile::GENERAL,
            mode: Mode::AskRisky,
            model: None,
            budget: None,
            minutes: file::DEFAULT_MINUTES,
            retry: TaskRetry { times: 0, minutes: file::DEFAULT_RETRY_MINUTES },
            missed: defaults.missed,
            tell: defaults.tell,
        }
    }
}

/// Formats a task on one line.
fn line(card: &TaskCard) -> String {
    let state_text = match card.state {
        TaskState::Active => "",
        TaskState::Paused => ", paused",
        TaskState::Resting => ", does not run by itself any more",
        TaskState::Broken => ", cannot be read",
        TaskState::Unseen => ", waits until the person has looked at it on the Tasks page",
    };
    let TaskContent::Plan { plan } = &card.content else { return format!("- {}{state_text}\n", card.file) };
    let zone = TimeZone::get(&plan.zone).unwrap_or(TimeZone::UTC);
    let next_text = match (card.state, card.next.first()) {
        (TaskState::Active, Some(moment)) => format!("; next {}", format_local(*moment, zone)),
        _ => String::new(),
    };
    let last_run = card
        .last
        .as_ref()
        .map(|run| format!("; last run {}", describe_status(&run.status)))
        .unwrap_or_default();
    format!(
        "- {} ({}{state_text}): {}, {}{next_text}{last_run}\n",
        card.file,
        plan.name,
        wording::to_words(&plan.when),
        plan.zone
    )
}

fn describe_status(status: &RunStatus) -> String {
    let label = match status {
        RunStatus::Asked => "waits: the person is asked whether to run it",
        RunStatus::Waiting { .. } => "waits for its turn",
        RunStatus::Running => "runs",
        RunStatus::NeedsYou => "waits for the person's answer",
        RunStatus::Finished => "finished",
        RunStatus::Failed { error } => return format!("failed ({})", english_text(error)),
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
                return format!("left out from here on ({})", english_text(error));
            }
            SkipReason::CouldNotStart { error } => {
                return format!("left out: could not begin ({})", english_text(error));
            }
        },
    };
    label.to_owned()
}

/// Describes a complete plan in words for the person, with its next times.
fn describe_plan(language: Language, plan: &TaskPlan, next: &[Millis], models: &Models) -> String {
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
    let text_of = |key: &str| words::say(language, key, &BTreeMap::new());
    let zone = TimeZone::get(zone_name).unwrap_or(TimeZone::UTC);
    let times: Vec<String> =
        next.iter().filter_map(|moment| wording::format_moment(language, *moment, zone.clone())).collect();
    let limit = budget
        .map_or_else(|| text_of("taskdesk.no_limit"), |budget| format!("${}", file::format_dollars(budget)));
    let mode = match mode {
        Mode::Ask => "taskdesk.mode.ask",
        Mode::AskRisky => "taskdesk.mode.ask_risky",
        Mode::Autonomous => "taskdesk.mode.autonomous",
    };
    let model = model
        .and_then(|model| models.vendor_name(model))
        .unwrap_or_else(|| text_of("taskdesk.model.default"));
    let profile = match profile {
        profile if *profile == Profile::GENERAL => text_of("profile.general"),
        profile if *profile == Profile::CODING => text_of("profile.coding"),
        custom => custom.to_string(),
    };
    let retry = match retry.times {
        0 => text_of("taskdesk.retry.never"),
        times => {
            let args = [("times", times.to_string()), ("minutes", retry.minutes.to_string())];
            words::say(language, "taskdesk.retry", &word_arguments(args))
        }
    };
    let missed_text = match missed {
        MissedRun::Skip => "tasks.missed.skip.sub",
        MissedRun::RunOnce => "tasks.missed.run_once.sub",
        MissedRun::Ask => "tasks.missed.ask.sub",
    };
    let notify_text = match tell {
        TaskNotifications::All => "tasks.tell.all.sub",
        TaskNotifications::Trouble => "tasks.tell.trouble.sub",
        TaskNotifications::Nothing => "tasks.tell.nothing.sub",
    };
    let args = [
        ("name", name.clone()),
        ("when", wording::to_sentence(language, when)),
        ("zone", zone_name.clone()),
        (
            "next",
            if times.is_empty() { text_of("taskdesk.never") } else { times.join(words::LIST_SEPARATOR) },
        ),
        ("folder", folder.clone()),
        ("mode", text_of(mode)),
        ("model", model),
        ("profile", profile),
        ("budget", limit),
        ("minutes", minutes.to_string()),
        ("retry", retry),
        ("missed", text_of(missed_text)),
        ("tell", text_of(notify_text)),
        ("prompt", prompt.clone()),
    ];
    words::say(language, "taskdesk.plan", &word_arguments(args))
}

fn word_arguments<const N: usize>(args: [(&str, String); N]) -> BTreeMap<String, String> {
    args.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn format_local(moment: Millis, zone: TimeZone) -> String {
    Timestamp::from_millisecond(moment)
        .map(|moment| moment.to_zoned(zone).strftime("%a %Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
}
