//! The table that is printed: figures with what was aimed for, and the machine they were taken on.

use anyhow::{Result, bail};
use std::{fmt, fs, thread, time::Duration};

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Milliseconds,
    /// Millions of bytes.
    Megabytes,
    /// How many times as much.
    Times,
}

/// What several runs gave.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// The one in the middle.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// How many there were.
    pub runs: usize,
}

impl Figures {
    /// Of the numbers of several runs.
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

    /// Of durations, in milliseconds.
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
    /// The median is to stay below this.
    aim: Option<f64>,
}

impl Table {
    /// Adds a figure whose median is aimed to stay below `aim`.
    pub fn aimed(&mut self, what: impl Into<String>, unit: Unit, figures: Figures, aim: f64) {
        self.rows.push(Row { what: what.into(), unit, figures, aim: Some(aim) });
    }

    /// Adds a figure that is only told.
    pub fn told(&mut self, what: impl Into<String>, unit: Unit, figures: Figures) {
        self.rows.push(Row { what: what.into(), unit, figures, aim: None });
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
        for Row { what, unit, figures: Figures { median, min, max, runs }, aim } in &self.rows {
            let (median, min, max) = (unit.say(*median), unit.say(*min), unit.say(*max));
            let aim = aim.map_or_else(String::new, |aim| format!("< {}", unit.say_round(aim)));
            writeln!(f, "| {what} | {median} | {min} | {max} | {aim} | {runs} |")?;
        }
        for note in &self.notes {
            write!(f, "\n{note}\n")?;
        }
        Ok(())
    }
}

impl Unit {
    /// Three figures, which is more than two runs ever agree on.
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

/// When and on what the figures are taken, as far as the system says. Asked before the first of them, since the
/// load is part of it.
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
