//! Figures of this build on this machine, all from one run, as a Markdown table. `cargo xtask bench` runs it.
//!
//! They gate nothing, because they depend on the machine. Their input is recreated identically each time: a
//! home of 10,000 sessions, a tree of 20,000 files, a scripted model.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is what it says to the person")]

mod browser;
mod cache;
mod frames;
mod grep;
mod memory;
mod seed;
mod sessions;
mod table;
mod tasks;
mod time;
mod turn;
mod window;

use anyhow::{Context as _, Result, bail};
use seed::SeededHome;
use std::{process::ExitCode, time::Instant};
use table::Table;

/// Parts that can be measured separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Sessions,
    Window,
    Frames,
    Turn,
    Grep,
    Cache,
    Tasks,
    Time,
    Browser,
}

/// The parts by their names, in the order they run.
const PARTS: [(&str, Part); 9] = [
    ("sessions", Part::Sessions),
    ("window", Part::Window),
    ("frames", Part::Frames),
    ("turn", Part::Turn),
    ("grep", Part::Grep),
    ("cache", Part::Cache),
    ("tasks", Part::Tasks),
    ("time", Part::Time),
    ("browser", Part::Browser),
];

fn main() -> ExitCode {
    let outcome = tokio::runtime::Runtime::new()
        .context("a runtime")
        .and_then(|runtime| runtime.block_on(async { measure(&chosen()?).await }));
    match outcome {
        Ok((table, machine)) => {
            println!("\n{table}\n{machine}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the parts named on the command line, or all. Cargo adds its own options, and `tasks` has some.
fn chosen() -> Result<Vec<(&'static str, Part)>> {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_known = |argument: &String| PARTS.iter().any(|(name, _)| name == argument);
    if let Some(unknown) = arguments.iter().find(|argument| !is_known(argument)) {
        bail!("there is no part {unknown}; there are {}", PARTS.map(|(name, _)| name).join(", "));
    }
    Ok(PARTS
        .into_iter()
        .filter(|(name, _)| arguments.is_empty() || arguments.iter().any(|argument| argument == name))
        .collect())
}

async fn measure(parts: &[(&str, Part)]) -> Result<(Table, String)> {
    let machine = table::machine();
    let mut table = Table::default();
    let mut home = None;
    for (name, part) in parts {
        let started = Instant::now();
        say(name);
        let outcome = match part {
            Part::Sessions => sessions::measure(&mut table, filled(&mut home).await?).await,
            Part::Window => window::measure(&mut table, filled(&mut home).await?).await,
            Part::Frames => frames::measure(&mut table, filled(&mut home).await?).await,
            Part::Turn => turn::measure(&mut table).await,
            Part::Grep => grep::measure(&mut table),
            Part::Cache => cache::measure(&mut table).await,
            Part::Tasks => tasks::measure(&mut table).await,
            Part::Time => time::measure(&mut table),
            Part::Browser => browser::measure(&mut table).await,
        };
        outcome.with_context(|| (*name).to_owned())?;
        say(&format!("{name} took {:.0} s", started.elapsed().as_secs_f64()));
    }
    Ok((table, machine))
}

/// Returns the filled home shared by all parts that need one.
async fn filled(home: &mut Option<SeededHome>) -> Result<&SeededHome> {
    if home.is_none() {
        say("filling a home with 10,000 sessions");
        *home = Some(seed::home().await.context("filling a home")?);
    }
    home.as_ref().context("it was filled above")
}

/// Reports progress on standard error; standard output is for the table.
fn say(message: &str) {
    eprintln!("    {message}");
}
