//! The faults of a plan, its unusual properties, and its next times.

use crate::file::ModelNames;
use crate::timing::{TimingError, ZonedTiming};
use octo_protocol::{
    ApiError, Millis, Mode, Profile, TaskFault, TaskPlan, TaskPreview, TaskRetry, TimeUnit, Timing,
};
use std::path::Path;

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 100;
/// Maximum size of a prompt, in bytes.
const MAX_PROMPT: usize = 50_000;
/// Maximum time limit of a run, in minutes: a day.
const MAX_MINUTES: u32 = 24 * 60;
/// Maximum number of retries of a failed run.
const MAX_RETRIES: u32 = 5;
/// Maximum delay before a retry, in minutes: a day.
const MAX_RETRY_MINUTES: u32 = 24 * 60;
/// Number of the next times in a preview.
pub(crate) const PREVIEWED_TIMES: usize = 3;
/// Number of times of a cron expression examined for their minimum distance.
const EXAMINED_TIMES: usize = 60;
/// Number of runs per day from which a plan without a cost limit gets a remark.
const MANY_RUNS: usize = 24;
const DAY: Millis = 24 * 60 * 60 * 1_000;
const MINUTE: Millis = 60 * 1_000;

/// Returns the IANA name of this computer's zone.
pub fn own_zone() -> String {
    jiff::tz::TimeZone::system().iana_name().unwrap_or("UTC").to_owned()
}

/// Returns the preview of a plan in a home with these models and profiles. Checks on disk whether the plan's
/// folder exists.
pub fn preview(plan: &TaskPlan, now: Millis, models: &dyn ModelNames, profiles: &[Profile]) -> TaskPreview {
    let times = ZonedTiming::new(&plan.when, &plan.zone);
    let upcoming: Vec<Millis> =
        times.as_ref().map(|times| times.after(now).take(PREVIEWED_TIMES).collect()).unwrap_or_default();
    let mut errors = faults(plan);
    let mut add_fault =
        |field: &str, error: ApiError| errors.push(TaskFault { field: field.to_owned(), error });
    match &times {
        Err(error @ TimingError::Zone(_)) => add_fault("zone", timing_error(error)),
        Err(error) => add_fault("when", timing_error(error)),
        Ok(times) => {
            if let Timing::Cron { .. } = plan.when {
                match min_distance(times, now) {
                    None => add_fault("when", ApiError::new("task.never")),
                    Some(distance) if distance < MINUTE * 5 => {
                        add_fault("when", ApiError::new("task.too_often"))
                    }
                    Some(_) => {}
                }
            }
        }
    }
    if octo_workspace::session_folder(Path::new(&plan.folder)).is_err() {
        add_fault("folder", ApiError::new("session.folder_gone").arg("folder", &plan.folder));
    }
    if !profiles.contains(&plan.profile) {
        add_fault("profile", ApiError::new("task.profile").arg("profile", &plan.profile));
    }
    if plan.model.is_some_and(|model| models.name(model).is_none()) {
        add_fault("model", ApiError::new("task.model"));
    }
    TaskPreview { remarks: remarks(plan, &times, now, &upcoming), next: upcoming, errors }
}

/// Checks a plan, without access to the disk.
///
/// # Errors
/// Returns the first fault.
pub(crate) fn check(plan: &TaskPlan) -> Result<(), ApiError> {
    if let Some(fault) = faults(plan).into_iter().next() {
        return Err(fault.error);
    }
    ZonedTiming::new(&plan.when, &plan.zone).map(|_| ()).map_err(|error| timing_error(&error))
}

/// Returns the faults of a plan that do not depend on the disk.
fn faults(plan: &TaskPlan) -> Vec<TaskFault> {
    let TaskRetry { times, minutes } = plan.retry;
    let checks = [
        ("name", plan.name.trim().is_empty(), ApiError::new("task.name_empty")),
        ("name", plan.name.chars().count() > MAX_NAME, ApiError::new("task.name_long").arg("most", MAX_NAME)),
        ("name", plan.name.chars().any(char::is_control), ApiError::new("task.name_empty")),
        ("prompt", plan.prompt.trim().is_empty(), ApiError::new("task.prompt_empty")),
        (
            "prompt",
            plan.prompt.len() > MAX_PROMPT,
            ApiError::new("task.prompt_long").arg("most", MAX_PROMPT / 1_000),
        ),
        (
            "minutes",
            plan.minutes == 0 || plan.minutes > MAX_MINUTES,
            ApiError::new("task.minutes").arg("most", MAX_MINUTES),
        ),
        ("retry", times > MAX_RETRIES, ApiError::new("task.retry_times").arg("most", MAX_RETRIES)),
        (
            "retry",
            times > 0 && (minutes == 0 || minutes > MAX_RETRY_MINUTES),
            ApiError::new("task.retry_minutes").arg("most", MAX_RETRY_MINUTES),
        ),
        (
            "budget",
            plan.budget.is_some_and(|budget| budget.as_nano_dollars() == 0),
            ApiError::new("task.budget"),
        ),
        ("when", has_needless_end(&plan.when), ApiError::new("task.days_until")),
    ];
    let failed_checks = checks.into_iter().filter(|(_, failed, _)| *failed);
    failed_checks.map(|(field, _, error)| TaskFault { field: field.to_owned(), error }).collect()
}

/// Returns whether a timing in days has a daily end time, which would have no effect.
fn has_needless_end(timing: &Timing) -> bool {
    matches!(timing, Timing::Every { unit: TimeUnit::Days, until: Some(_), .. })
}

/// Returns remarks on allowed but notable properties.
fn remarks(
    plan: &TaskPlan,
    times: &Result<ZonedTiming, TimingError>,
    now: Millis,
    upcoming: &[Millis],
) -> Vec<ApiError> {
    let runs_a_day = times.as_ref().map(|times| {
        times.after(now).take_while(|time| *time <= now.saturating_add(DAY)).take(MANY_RUNS + 1).count()
    });
    let is_frequent = runs_a_day.is_ok_and(|count| count >= MANY_RUNS) && plan.budget.is_none();
    let is_past = matches!(plan.when, Timing::Once { .. }) && times.is_ok() && upcoming.is_empty();
    let runs_by_itself = !matches!(plan.when, Timing::ByHand);
    let candidates = [
        (is_past, "task.remark.over"),
        (is_frequent, "task.remark.often"),
        (runs_by_itself && plan.mode == Mode::Ask, "task.remark.asks"),
        (runs_by_itself && plan.mode == Mode::Autonomous, "task.remark.autonomous"),
    ];
    candidates.into_iter().filter(|(applies, _)| *applies).map(|(_, key)| ApiError::new(key)).collect()
}

/// Returns the minimum distance between the next times, or `None` if there are none.
fn min_distance(times: &ZonedTiming, now: Millis) -> Option<Millis> {
    let upcoming: Vec<Millis> = times.after(now).take(EXAMINED_TIMES).collect();
    let distances = upcoming.windows(2).filter_map(|pair| match pair {
        [one, other] => Some(other - one),
        _ => None,
    });
    upcoming.first()?;
    Some(distances.min().unwrap_or(Millis::MAX))
}

fn timing_error(error: &TimingError) -> ApiError {
    match error {
        TimingError::Zone(zone) => ApiError::new("task.zone").arg("zone", zone),
        TimingError::Time(time) => ApiError::new("task.time").arg("time", time),
        TimingError::Moment(text) => ApiError::new("task.moment").arg("at", text),
        TimingError::TooOften => ApiError::new("task.too_often"),
        TimingError::Day(day) => ApiError::new("task.day").arg("day", day),
        TimingError::Empty => ApiError::new("task.no_days"),
        TimingError::EndsFirst => ApiError::new("task.ends_first"),
        TimingError::Cron(error) => ApiError::new("task.cron").detail(error),
    }
}
