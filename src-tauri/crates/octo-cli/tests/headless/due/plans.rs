//! The tasks of the campaign, and their model's replies.

use crate::campaign::Random;
use octo_protocol::{Millis, MissedRun, Mode, Profile, TaskNotifications, TaskPlan, TaskRetry, Timing};
use octo_testkit::{RecordedRequest, Reply, TempHome};
use serde_json::json;

/// Tasks with a time every five minutes, each a minute after the one before.
pub const PLANS: [&str; 5] = ["steady", "skipping", "asking", "shaky", "slow"];
/// The task that is run manually, and edited repeatedly.
pub const EDITED: &str = "edited";

/// Returns the minutes after each five at which a task is due.
pub fn offset(name: &str) -> Millis {
    PLANS.iter().position(|entry| *entry == name).map_or(0, |index| index as Millis)
}

/// Returns the missed-run policy of a task.
pub fn missed(name: &str) -> MissedRun {
    match name {
        "skipping" => MissedRun::Skip,
        "asking" => MissedRun::Ask,
        _ => MissedRun::RunOnce,
    }
}

/// Returns the number of retries of a task.
pub fn retries(name: &str) -> u32 {
    if name == "shaky" { 2 } else { 0 }
}

pub fn plan(home: &TempHome, name: &str) -> TaskPlan {
    let expression = format!("{}-59/5 * * * *", offset(name));
    TaskPlan {
        name: name.to_owned(),
        prompt: prompt(name),
        when: Timing::Cron { expression },
        zone: "UTC".to_owned(),
        folder: home.work().display().to_string(),
        profile: Profile::GENERAL,
        mode: Mode::Autonomous,
        model: None,
        budget: None,
        // The slow one is stopped in the middle, now and then.
        minutes: if name == "slow" { 2 } else { 60 },
        retry: TaskRetry { times: retries(name), minutes: 1 },
        missed: missed(name),
        tell: TaskNotifications::Trouble,
    }
}

/// Returns the edited task after `edits` edits. Long enough that half of it could be written.
pub fn edited(home: &TempHome, edits: usize) -> TaskPlan {
    let prompt = format!("{}\n\n{}", prompt(EDITED), format!("This is edit {edits}. ").repeat(1_500));
    TaskPlan { prompt: prompt.trim().to_owned(), when: Timing::ByHand, ..plan(home, EDITED) }
}

pub fn prompt(name: &str) -> String {
    format!("Do the task {name} now.")
}

/// Returns a reply that writes a line to the task's log; sometimes it fails or takes long.
pub fn answer(request: &RecordedRequest, random: &mut Random) -> Reply {
    let said = String::from_utf8_lossy(&request.raw);
    let name = PLANS.into_iter().chain([EDITED]).find(|name| said.contains(&prompt(name)));
    let name = name.unwrap_or_else(|| panic!("a request of no task: {said}"));
    if request.answers() > 0 {
        return Reply::text(format!("The task {name} is done.")).in_chunks(6);
    }
    if name == "shaky" && random.one_in(2) {
        return Reply::error(400, "invalid_request_error", "not this time");
    }
    let sleep = if name == "slow" && random.one_in(2) { "5" } else { "0.05" };
    Reply::text("I write it down.")
        .and_call("terminal", json!({ "command": format!("echo {name} >> {name}.log; sleep {sleep}") }))
        .in_chunks(6)
}
