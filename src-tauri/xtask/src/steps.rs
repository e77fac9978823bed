//! Runs the steps of a command and reports at the end how long each took.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is what the tasks say to the person")]

use anyhow::{Context as _, Result, anyhow};
use std::{
    fmt::Write as _,
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

/// The steps run so far.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<TimedStep>,
}

struct TimedStep {
    name: &'static str,
    duration: Duration,
    succeeded: bool,
}

impl Steps {
    /// Runs a command as a step.
    ///
    /// # Errors
    /// When the command cannot be started or does not succeed; the error contains the command line to repeat
    /// it.
    pub(crate) fn run(&mut self, name: &'static str, mut command: Command) -> Result<()> {
        self.work(name, || run(&mut command))
    }

    /// Runs a function as a step.
    ///
    /// # Errors
    /// The function's own.
    pub(crate) fn work<T>(&mut self, name: &'static str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        println!("\n==> {name}");
        let started = Instant::now();
        let outcome = step();
        self.done.push(TimedStep { name, duration: started.elapsed(), succeeded: outcome.is_ok() });
        outcome.with_context(|| format!("step \"{name}\" failed"))
    }

    /// Prints the outcome. The table is written to standard error, so that a test runner's last line remains
    /// the last line on standard output.
    pub(crate) fn report(self, outcome: &Result<()>) -> ExitCode {
        if self.done.len() > 1 {
            eprintln!("\n{}", self.table());
        }
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("\nerror: {error:#}");
                ExitCode::FAILURE
            }
        }
    }

    fn table(&self) -> String {
        let total = Duration::from_secs_f64(self.done.iter().map(|step| step.duration.as_secs_f64()).sum());
        let width = self.done.iter().map(|step| step.name.len()).max().unwrap_or(0).max("all".len());
        let mut table = String::new();
        for step in &self.done {
            let marker = if step.succeeded { "" } else { "  failed" };
            // Writing to a string cannot fail.
            let _ = writeln!(table, "  {:width$}  {:>7.1} s{marker}", step.name, step.duration.as_secs_f64());
        }
        let _ = write!(table, "  {:width$}  {:>7.1} s", "all", total.as_secs_f64());
        table
    }
}

/// Runs a command that must succeed.
///
/// # Errors
/// When it cannot be started or does not succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = command_line(command);
    println!("    {line}");
    let status = command.status().with_context(|| format!("could not start: {line}"))?;
    if status.success() { Ok(()) } else { Err(anyhow!("{status}; to repeat it: {line}")) }
}

/// Prints a message for the person.
pub(crate) fn say(text: &str) {
    println!("    {text}");
}

/// Returns the command as a person would type it in the checkout.
fn command_line(command: &Command) -> String {
    let quoted = |text: &std::ffi::OsStr| {
        let text = text.to_string_lossy();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
        if !text.is_empty() && text.chars().all(is_plain) {
            text.into_owned()
        } else {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
    };
    let mut words: Vec<String> = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_string_lossy(), quoted(value?))))
        .collect();
    words.push(quoted(command.get_program()));
    words.extend(command.get_args().map(quoted));
    let line = words.join(" ");
    match command.get_current_dir() {
        Some(folder) => format!("(cd {} && {line})", quoted(folder.as_os_str())),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_it_can_be_typed() {
        let mut command = Command::new("npm");
        command.args(["run", "it's here", ""]).env("CI", "true").env_remove("HOME").current_dir("/a b");
        assert_eq!(command_line(&command), r"(cd '/a b' && CI=true npm run 'it'\''s here' '')");
    }

    #[test]
    fn the_first_failure_ends_the_steps_and_is_marked() {
        let mut steps = Steps::default();
        steps.work("first", || Ok(())).unwrap();
        let error = steps.work("second", || -> Result<()> { Err(anyhow!("broken")) }).unwrap_err();
        assert_eq!(format!("{error:#}"), "step \"second\" failed: broken");
        let table = steps.table();
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[0].contains("first") && !lines[0].contains("failed"));
        assert!(lines[1].contains("second") && lines[1].ends_with("failed"));
        assert!(lines[2].contains("all"));
    }
}
