//! The printed table: figures with their goals, and the machine they were measured on.

use anyhow::{Result, bail};
use std::{fmt, fs, thread, time::Duration};

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Milliseconds,
    /// Millions of bytes.
    Megabytes,
    /// A ratio.
    Times,
}

/// Statistics of several runs.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// The median.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// The number of runs.
    pub runs: usize,
}

impl Figures {
    /// Computes the statistics of several runs.
    ///
    /// # Errors
    /// When there are none.
    pub fn of(runs: impl IntoIterator<Item = f64>) -> Result<Self> {
        let mut runs: Vec<f64> = runs.into_iter().collect();
        runs.sort_by(f64::total_cmp);
        let (Some(min), Some(max)) = (runs.first(), runs.last()) else { bail!("nothing was measured") };
        let middle = runs.len() / 2;
        let median =
            if runs.len() % 2 == 1 { runs[middle] } else { f64::midpoint(runs[middle - 1], runs[middle]) };
        Ok(Self { median, min: *min, max: *max, runs: runs.len() })
    }

    /// Computes the statistics of durations, in milliseconds.
    ///
    /// # Errors
    /// When there are none.
    pub fn of_times(runs: &[Duration]) -> Result<Self> {
        Self::of(runs.iter().map(|run| run.as_secs_f64() * 1e3))
    }
}

/// The rows so far.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
    notes: Vec<String>,
}

#[derive(Debug)]
struct Row {
    what: String,
    unit: Unit,
    figures: Figures,
    /// Upper limit for the median, if there is one.
    aim: Option<f64>,
}

impl Table {
    /// Adds a figure with the goal that its median stays below `aim`.
    pub fn add_with_goal(&mut self, label: impl Into<String>, unit: Unit, figures: Figures, goal: f64) {
        self.rows.push(Row { what: label.into(), unit, figures, aim: Some(goal) });
    }

    /// Adds a figure without a goal.
    pub fn add(&mut self, label: impl Into<String>, unit: Unit, figures: Figures) {
        self.rows.push(Row { what: label.into(), unit, figures, aim: None });
    }

    /// Adds a line below the table.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.rows.is_empty() {
            writeln!(f, "| Measured | Median | Least | Most | Aim | Runs |")?;
            writeln!(f, "| :-- | --: | --: | --: | --: | --: |")?;
        }
        for Row { what, unit, figures: Figures { median, min, max, runs }, aim: goal } in &self.rows {
            let (median, min, max) = (unit.say(*median), unit.say(*min), unit.say(*max));
            let goal = goal.map_or_else(String::new, |goal| format!("< {}", unit.say_round(goal)));
            writeln!(f, "| {what} | {median} | {min} | {max} | {goal} | {runs} |")?;
        }
        for note in &self.notes {
            write!(f, "\n{note}\n")?;
        }
        Ok(())
    }
}

impl Unit {
    /// Formats a number with three digits; two runs never agree on more.
    fn say(self, number: f64) -> String {
        let digits = if number < 10.0 {
            2
        } else if number < 100.0 {
            1
        } else {
            0
        };
        self.with(format!("{number:.digits$}"))
    }

    fn say_round(self, number: f64) -> String {
        self.with(number.to_string())
    }

    fn with(self, number: String) -> String {
        match self {
            Self::Milliseconds => format!("{number} ms"),
            Self::Megabytes => format!("{number} MB"),
            Self::Times => format!("{number} ×"),
        }
    }
}

/// Returns the date and the machine's description, if the system provides it. Called before the first figure,
/// because the load is part of it.
pub fn machine() -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut parts = vec![
        jiff::Timestamp::now().strftime("%F").to_string(),
        format!("{cores} cores of {}", field("/proc/cpuinfo", "model name").unwrap_or("unknown".to_owned())),
    ];
    let memory =
        field("/proc/meminfo", "MemTotal").and_then(|size| size.split(' ').next()?.parse::<f64>().ok());
    parts.extend(memory.map(|kibibytes| format!("{:.0} GiB", kibibytes / 1024.0 / 1024.0)));
    parts.extend(
        field_of("/etc/os-release", "PRETTY_NAME", '=').map(|name| name.trim_matches('"').to_owned()),
    );
    let load = fs::read_to_string("/proc/loadavg").ok();
    let load = load.as_deref().and_then(|load| load.split(' ').next());
    parts.extend(load.map(|load| format!("load {load} before the first run")));
    parts.join(" · ")
}

fn field(path: &str, name: &str) -> Option<String> {
    field_of(path, name, ':')
}

fn field_of(path: &str, name: &str, separator: char) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(separator)?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}
