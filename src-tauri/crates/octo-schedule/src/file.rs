//! A task's file: readable front matter with the prompt below it.
//!
//! Reading is lenient: omitted keys have plain defaults, and unknown keys survive a write. Writing is strict. A
//! file that cannot be read as a task is left as it is and does not run.

use crate::wording;
use octo_protocol::{
    ApiError, Cost, MissedRun, Mode, ModelId, Profile, TASK_FILE_MAX_BYTES, TaskNotifications, TaskPlan,
    TaskRetry,
};
use octo_skills::{FrontMatter, Yaml, split_markdown};
use octo_workspace::{private_folder, write_private};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 100_000;
/// Maximum number of files read; a folder with more does not contain tasks.
const MAX_FILES: usize = 1_000;
/// Maximum number of characters kept of a file without a valid plan.
const MAX_UNREADABLE_CHARS: usize = 2_000;
/// Default time limit of a run, in minutes.
pub const DEFAULT_MINUTES: u32 = 30;
/// Default delay before a retry, in minutes.
pub const DEFAULT_RETRY_MINUTES: u32 = 10;

/// The folder of tasks.
#[derive(Clone, Debug)]
pub struct TaskFiles {
    folder: PathBuf,
}

/// A file of the folder.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskFile {
    /// Its name without `.md`.
    pub file: String,
    /// A hash of its text.
    pub version: String,
    /// Its plan, or the error if it has none.
    pub plan: Result<TaskPlan, ApiError>,
    /// Its text; shortened if it has no valid plan.
    pub text: String,
}

/// The names of models used in task files.
pub trait ModelNames {
    /// Returns the entry with that name.
    fn find(&self, name: &str) -> Option<ModelId>;
    /// Returns the name of an entry.
    fn name(&self, id: ModelId) -> Option<String>;
}

impl TaskFiles {
    /// Returns the task files of a home, whose folder need not exist.
    pub fn in_home(home: &Path) -> Self {
        Self { folder: home.join("tasks") }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of a task's file, which need not exist.
    ///
    /// # Errors
    /// `task.name` for an invalid file name: a name never contains another part of a path.
    pub fn path(&self, file: &str) -> Result<PathBuf, ApiError> {
        if is_file_name(file) {
            Ok(self.folder.join(format!("{file}.md")))
        } else {
            Err(ApiError::new("task.name")
                .arg("file", file.chars().take(TASK_FILE_MAX_BYTES).collect::<String>()))
        }
    }

    /// Returns all task files, sorted by name.
    pub fn list(&self, models: &dyn ModelNames) -> Vec<TaskFile> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().take(MAX_FILES).filter_map(Result::ok);
        let mut names: Vec<String> = entries
            .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".md")?.to_owned()))
            .filter(|name| is_file_name(name))
            .collect();
        names.sort_unstable();
        names.iter().filter_map(|name| self.get(name, models).ok()).collect()
    }

    /// Returns one task file.
    ///
    /// # Errors
    /// `task.missing` if it does not exist, `task.name`.
    pub fn get(&self, file: &str, models: &dyn ModelNames) -> Result<TaskFile, ApiError> {
        let path = self.path(file)?;
        let unreadable =
            |reason: &str| ApiError::new("task.unreadable").arg("path", path.display()).detail(reason);
        let broken = |error| TaskFile {
            file: file.to_owned(),
            version: String::new(),
            plan: Err(error),
            text: String::new(),
        };
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ApiError::new("task.missing").arg("file", file));
            }
            Err(error) => return Ok(broken(unreadable(&error.to_string()))),
        };
        // A link could lead anywhere, and the text read here reaches a model.
        if !metadata.is_file() {
            return Ok(broken(unreadable("not a file")));
        }
        if metadata.len() > MAX_BYTES {
            return Ok(broken(unreadable("too large")));
        }
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) => return Ok(broken(unreadable(&error.to_string()))),
        };
        let version = version(&bytes);
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) => return Ok(TaskFile { version, ..broken(unreadable("not UTF-8")) }),
        };
        let plan = parse(&text, file, models);
        let text = if plan.is_ok() { text } else { text.chars().take(MAX_UNREADABLE_CHARS).collect() };
        Ok(TaskFile { file: file.to_owned(), version, plan, text })
    }

    /// Writes a complete task file.
    ///
    /// # Errors
    /// `task.disk`; the file is then unchanged.
    pub fn write(&self, file: &str, text: &str) -> Result<(), ApiError> {
        let path = self.path(file)?;
        let disk = |error| ApiError::new("task.disk").arg("path", path.display()).detail(error);
        private_folder(&self.folder).map_err(disk)?;
        write_private(&path, text.as_bytes()).map_err(disk)
    }

    /// Returns an unused file name for a new task.
    pub fn free_name(&self, task: &str) -> String {
        let slug = slug(task);
        let is_free = |name: &String| self.path(name).is_ok_and(|path| path.symlink_metadata().is_err());
        let numbered = (2..).map(|number| format!("{slug}-{number}"));
        std::iter::once(slug.clone()).chain(numbered).find(is_free).unwrap_or(slug)
    }
}

/// Returns the version of a file's text.
pub fn version(text: &[u8]) -> String {
    blake3::hash(text).to_hex().to_string()
}

/// Returns whether a name is a valid path component on every system: lower-case letters, digits, dashes and
/// underscores, starting with a letter or digit.
fn is_file_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.len() <= TASK_FILE_MAX_BYTES
        && name.bytes().next().is_some_and(is_allowed)
        && name.bytes().all(|byte| is_allowed(byte) || matches!(byte, b'-' | b'_'))
        && !RESERVED_NAMES.contains(&name)
}

/// Names that Windows reserves for devices, with any extension.
const RESERVED_NAMES: &[&str] = &[
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
    "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Returns a file name for a task's name. Names without Latin letters are distinguished by a hash.
fn slug(task: &str) -> String {
    let lower = task.trim().to_lowercase();
    let mut slug = String::new();
    for c in lower.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    // Leaves room for the suffix that makes the name unique.
    let slug: String = slug.chars().take(TASK_FILE_MAX_BYTES - 16).collect();
    let slug = slug.trim_end_matches('-');
    let hash: String = blake3::hash(lower.as_bytes()).to_hex().chars().take(8).collect();
    if !slug.is_empty() && lower.is_ascii() && !RESERVED_NAMES.contains(&slug) {
        slug.to_owned()
    } else if slug.is_empty() {
        format!("task-{hash}")
    } else {
        format!("{slug}-{hash}")
    }
}

/// Returns the text of a plan's file, with the unknown keys of `previous_text`.
pub fn text(plan: &TaskPlan, previous_text: Option<&str>, models: &dyn ModelNames) -> String {
    let mut front_matter = previous_text.map(|text| split_markdown(text).front).unwrap_or_default();
    let mut set = |key: &str, value: Option<String>| match value {
        Some(value) => front_matter.set(key, Yaml::text(value)),
        None => front_matter.remove(key),
    };
    set("name", Some(plan.name.clone()));
    set("when", Some(wording::to_words(&plan.when)));
    set("zone", Some(plan.zone.clone()));
    set("folder", Some(plan.folder.clone()));
    set("profile", Some(plan.profile.to_string()));
    set("mode", Some(mode_word(plan.mode).to_owned()));
    set("model", plan.model.map(|id| model_word(id, models)));
    set("budget", plan.budget.map(format_dollars));
    set("minutes", Some(plan.minutes.to_string()));
    set("retry", (plan.retry.times > 0).then(|| retry_words(plan.retry)));
    set("missed", Some(missed_word(plan.missed).to_owned()));
    set("tell", Some(notifications_word(plan.tell).to_owned()));
    for key in ["minutes", "budget"] {
        let number = front_matter.get(key).and_then(Yaml::as_text).map(str::to_owned);
        if let Some(number) = number {
            front_matter.set(key, Yaml::plain(number));
        }
    }
    front_matter.with_body(&plan.prompt)
}

/// Returns the model's name if it identifies the model, otherwise its id.
fn model_word(id: ModelId, models: &dyn ModelNames) -> String {
    models.name(id).filter(|name| models.find(name) == Some(id)).unwrap_or_else(|| id.to_string())
}

/// Returns an id that no model has, the same for each name: a task whose model was renamed or removed is still
/// valid, and the fault is reported at its next run.
fn missing_model_id(name: &str) -> Option<ModelId> {
    blake3::hash(name.as_bytes()).to_hex().get(..32)?.parse().ok()
}

fn parse(text: &str, file: &str, models: &dyn ModelNames) -> Result<TaskPlan, ApiError> {
    let parts = split_markdown(text);
    let front_matter = TaskFrontMatter(&parts.front);
    if parts.body.is_empty() {
        return Err(ApiError::new("task.prompt_empty"));
    }
    let plan = TaskPlan {
        name: front_matter.text_value("name").map_or_else(|| file.to_owned(), str::to_owned),
        when: front_matter.value("when", wording::parse)?.unwrap_or(octo_protocol::Timing::ByHand),
        zone: front_matter.text_value("zone").map_or_else(crate::plan::own_zone, str::to_owned),
        folder: front_matter
            .text_value("folder")
            .map(str::to_owned)
            .ok_or_else(|| ApiError::new("task.line_missing").arg("line", "folder"))?,
        profile: front_matter.value("profile", |text| text.parse::<Profile>().ok())?.unwrap_or_default(),
        // An omitted mode is the most restrictive.
        mode: front_matter.value("mode", parse_mode)?.unwrap_or(Mode::Ask),
        model: front_matter.value("model", |text| {
            text.parse().ok().or_else(|| models.find(text)).or_else(|| missing_model_id(text))
        })?,
        budget: front_matter.value("budget", parse_dollars)?,
        minutes: front_matter.value("minutes", |text| text.parse().ok())?.unwrap_or(DEFAULT_MINUTES),
        retry: front_matter.value("retry", parse_retry)?.unwrap_or_default(),
        missed: front_matter.value("missed", parse_missed)?.unwrap_or_default(),
        tell: front_matter.value("tell", parse_notifications)?.unwrap_or_default(),
        prompt: parts.body.clone(),
    };
    crate::plan::check(&plan)?;
    Ok(plan)
}

struct TaskFrontMatter<'a>(&'a FrontMatter);

impl TaskFrontMatter<'_> {
    fn text_value(&self, key: &str) -> Option<&str> {
        let value = self.0.get(key).filter(|value| !value.is_null())?;
        value.as_text().map(str::trim).filter(|text| !text.is_empty())
    }

    /// Reads a value that must be valid if it is present.
    fn value<T>(&self, key: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>, ApiError> {
        let Some(entry) = self.0.get(key).filter(|value| !value.is_null()) else { return Ok(None) };
        let text = entry.as_text().map(str::trim).unwrap_or_default();
        let excerpt: String = text.chars().take(80).collect();
        let invalid = || ApiError::new("task.line").arg("line", key).arg("value", excerpt);
        parse(text).map(Some).ok_or_else(invalid)
    }
}

fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Ask => "ask",
        Mode::AskRisky => "ask_risky",
        Mode::Autonomous => "autonomous",
    }
}

/// Parses a mode.
pub fn parse_mode(text: &str) -> Option<Mode> {
    match text.to_lowercase().replace(['-', ' '], "_").as_str() {
        "ask" => Some(Mode::Ask),
        "ask_risky" => Some(Mode::AskRisky),
        "autonomous" => Some(Mode::Autonomous),
        _ => None,
    }
}

fn missed_word(mode: MissedRun) -> &'static str {
    match mode {
        MissedRun::Skip => "skip",
        MissedRun::RunOnce => "run once",
        MissedRun::Ask => "ask",
    }
}

/// Parses a policy for missed runs.
pub fn parse_missed(text: &str) -> Option<MissedRun> {
    match text.to_lowercase().replace(['-', '_'], " ").as_str() {
        "skip" => Some(MissedRun::Skip),
        "run once" | "once" => Some(MissedRun::RunOnce),
        "ask" => Some(MissedRun::Ask),
        _ => None,
    }
}

fn notifications_word(notifications: TaskNotifications) -> &'static str {
    match notifications {
        TaskNotifications::All => "all",
        TaskNotifications::Trouble => "trouble",
        TaskNotifications::Nothing => "nothing",
    }
}

/// Parses a notification setting.
pub fn parse_notifications(text: &str) -> Option<TaskNotifications> {
    match text.to_lowercase().as_str() {
        "all" => Some(TaskNotifications::All),
        "trouble" => Some(TaskNotifications::Trouble),
        "nothing" => Some(TaskNotifications::Nothing),
        _ => None,
    }
}

fn retry_words(retry: TaskRetry) -> String {
    let times = if retry.times == 1 { "time" } else { "times" };
    let minutes = if retry.minutes == 1 { "minute" } else { "minutes" };
    format!("{} {times} after {} {minutes}", retry.times, retry.minutes)
}

fn parse_retry(text: &str) -> Option<TaskRetry> {
    let lower = text.to_lowercase();
    if matches!(lower.as_str(), "no" | "never") {
        return Some(TaskRetry::default());
    }
    let mut numbers =
        lower.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).map(str::parse::<u32>);
    let times = numbers.next()?.ok()?;
    let minutes = match numbers.next() {
        Some(minutes) => minutes.ok()?,
        None => DEFAULT_RETRY_MINUTES,
    };
    Some(TaskRetry { times, minutes })
}

/// Formats dollars, with as many digits as necessary.
pub fn format_dollars(cost: Cost) -> String {
    let text = cost.to_string();
    let text = text.trim_start_matches('$');
    let (dollars, part) = text.split_once('.').unwrap_or((text, ""));
    let part = part.trim_end_matches('0');
    if part.len() < 2 { format!("{dollars}.{part:0<2}") } else { format!("{dollars}.{part}") }
}

/// Parses an amount in dollars.
pub fn parse_dollars(text: &str) -> Option<Cost> {
    let text = text.trim().trim_start_matches('$').trim();
    let (dollars, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if dollars.is_empty() || part.len() > 9 || !is_number(dollars) || !is_number(part) {
        return None;
    }
    let nano = format!("{part:0<9}").parse::<u64>().ok()?;
    let dollars = dollars.parse::<u64>().ok()?.checked_mul(Cost::DOLLAR.as_nano_dollars())?;
    dollars.checked_add(nano).map(Cost::from_nano_dollars)
}

#[cfg(test)]
mod tests;
