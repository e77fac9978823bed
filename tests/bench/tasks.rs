//! Three real tasks, from a folder with a few files to the result a person asked for: a slide deck, a marketing
//! plan, a content pipeline.
//!
//! The real core works on each in a temporary folder, in autonomous mode, with the model named on the command
//! line, by anyone who has a key for it. Usage, cost and duration of every call are read from the ledger into
//! `calls.csv`; `report.md` summarizes it and checks the results where that needs no opinion. Without a model
//! the scripted server shows the same.

mod checks;
mod given;
mod options;
mod rehearsal;
mod report;

use crate::{say, table::Table};
use anyhow::{Context as _, Result, bail, ensure};
use given::{BenchTask, TASKS};
use octo_core::{Config, HomeAtStart, HomeLocation, KeyStorage, NoHost, Octo, OpenTurnPolicy};
use octo_protocol::{
    Answer, AnswerBudget, AnswerQuestion, BilledCall, Block, BudgetAnswer, CallsOfTurn, ChangeSettings,
    Event, Mode, OpenSession, Profile, Question, QuestionContent, SaveModel, SessionId, SettingsPatch,
    Source, Spending, StartSession, Stop, Switch, TurnEnd,
};
use octo_testkit::TempHome;
use options::Options;
use report::FinishedTask;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{sync::broadcast::error::RecvError, time::timeout};

/// A task that takes longer is stopped.
const PATIENCE: Duration = Duration::from_secs(45 * 60);
/// A stopped turn that takes longer counts as hung.
const STOPPING: Duration = Duration::from_secs(60);
/// Answer to every question.
const DECIDE: &str = "Nobody is there to answer. Decide yourself, say what you assumed, and go on.";

/// Runs the tasks and adds their report.
///
/// # Errors
/// When the command line is wrong, the application does not do its part, or a check fails that the scripted
/// server's answers must pass.
pub async fn measure(table: &mut Table) -> Result<()> {
    let options = Options::read(std::env::args())?;
    let folder = options.out.join(jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S").to_string());
    let mut finished = Vec::new();
    for task in &TASKS {
        say(task.name);
        finished.push(perform(task, &options, &folder).await.context(task.name)?);
    }
    let report = report::markdown(&options, &finished);
    fs::write(folder.join("calls.csv"), report::csv(&finished))?;
    fs::write(folder.join("report.md"), &report)?;
    table.note(report);
    table.note(format!("What was made, `calls.csv` and `report.md` are in {}.", folder.display()));
    if options.model.is_none() {
        let failed =
            finished.iter().flat_map(|finished| &finished.checks).find(|check| check.fault.is_some());
        ensure!(failed.is_none(), "the scripted answers do what is asked for, so this holds: {failed:?}");
    }
    Ok(())
}

async fn perform(task: &BenchTask, options: &Options, folder: &Path) -> Result<FinishedTask> {
    let home = TempHome::new();
    for (path, content) in task.files {
        home.write(path, content);
    }
    let (server, draft) = match &options.model {
        Some(model) => (None, model.draft()),
        None => {
            let (server, draft) = rehearsal::start(task, &home)?;
            (Some(server), draft)
        }
    };
    let octo = Octo::start(Config {
        home: home.octo(),
        home_at_start: HomeAtStart::without_plan(HomeLocation::by_variable(home.octo())),
        source: Source::Headless,
        open_turns: OpenTurnPolicy::WaitForUse,
        keys: KeyStorage::Memory,
        host: Arc::new(NoHost),
        idle_after: octo_core::IDLE_AFTER,
        remover: octo_core::Remover::System,
        supervision: octo_core::Supervision::Session,
        budget: Some(options.budget),
        secret_variables: options.model.iter().map(|model| model.key_env.clone()).collect(),
    })
    .await?;
    octo.call(SaveModel { draft }).await?;
    let patch = SettingsPatch { suggestions: Some(Switch::Off), ..SettingsPatch::default() };
    octo.call(ChangeSettings { patch }).await?;

    let started = Instant::now();
    let (session, end) = work(&octo, &home, task.prompt).await?;
    let elapsed = started.elapsed();
    let (turns, calls, spending) = ledger(&octo, session).await?;
    octo.shutdown().await;
    if let Some(server) = server {
        let faults = server.faults();
        ensure!(faults.is_empty(), "requests no provider would take: {faults:?}");
    }
    let target = folder.join(task.name);
    let files = keep(&home.work(), &target, task)?;
    Ok(FinishedTask {
        task: task.name,
        end,
        took: elapsed,
        turns,
        calls,
        spending,
        files,
        checks: (task.check)(&target),
    })
}

/// Runs the turn to its end, without asking a person.
async fn work(octo: &Octo, home: &TempHome, prompt: &str) -> Result<(SessionId, TurnEnd)> {
    let mut events = octo.events();
    let started = octo
        .call(StartSession {
            folder: home.work().to_str().context("a path in Unicode")?.to_owned(),
            profile: Profile::GENERAL,
            mode: Mode::Autonomous,
            model: None,
            effort: None,
            title: None,
            blocks: vec![Block::Text { text: prompt.to_owned() }],
        })
        .await?;
    let session = started.id;
    let mut ended = async || loop {
        match events.recv().await {
            Ok(envelope) => match &envelope.event {
                Event::TurnEnded { turn } => return turn.end.clone().context("a turn ends somehow"),
                Event::QuestionAsked { question } => answer(octo, session, question).await?,
                Event::BudgetReached { .. } => {
                    octo.call(AnswerBudget { session, answer: BudgetAnswer::Stop }).await?;
                }
                _ => {}
            },
            Err(RecvError::Lagged(missed)) => bail!("{missed} events were missed"),
            Err(RecvError::Closed) => bail!("the application ended"),
        }
    };
    let end = match timeout(PATIENCE, ended()).await {
        Ok(end) => end?,
        Err(_) => {
            octo.call(Stop { session }).await?;
            timeout(STOPPING, ended()).await.context("the stopped turn hangs")??
        }
    };
    Ok((session, end))
}

async fn answer(octo: &Octo, session: SessionId, question: &Question) -> Result<()> {
    let reply = match question.ask {
        QuestionContent::Permission { .. } => Answer::No { reason: None },
        QuestionContent::Feedback { .. } => Answer::Text { text: DECIDE.to_owned() },
    };
    octo.call(AnswerQuestion { session, question: question.id, answer: reply }).await?;
    Ok(())
}

/// Returns the number of turns, their calls, and the session's total spending.
async fn ledger(octo: &Octo, session: SessionId) -> Result<(usize, Vec<BilledCall>, Spending)> {
    let snapshot = octo.call(OpenSession { session }).await?;
    let mut calls = Vec::new();
    for turn in &snapshot.page.turns {
        calls.extend(octo.call(CallsOfTurn { session, turn: turn.id }).await?.calls);
    }
    Ok((snapshot.page.turns.len(), calls, snapshot.spending))
}

/// Copies the folder of a task, and returns the new files with their sizes.
fn keep(source: &Path, target: &Path, task: &BenchTask) -> Result<Vec<(String, u64)>> {
    let mut made = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        fs::create_dir_all(target.join(&folder))?;
        for entry in fs::read_dir(source.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                let bytes = fs::copy(entry.path(), target.join(&path))?;
                let name = path.to_string_lossy().replace('\\', "/");
                if !task.files.iter().any(|(given_file, _)| *given_file == name) {
                    made.push((name, bytes));
                }
            }
        }
    }
    made.sort();
    Ok(made)
}
