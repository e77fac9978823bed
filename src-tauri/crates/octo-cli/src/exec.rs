//! The `exec` command: one turn, without a window.

mod begin;
mod follow;
mod rules;
mod watch;

use crate::{
    args::ExecArguments,
    exit::{Exit, Failure},
    feed::Feed,
    model::{ModelChoice, key_variable},
    output::{OutputLines, print_error, print_error_line},
    signals::Signals,
};
use begin::RunInput;
use follow::{Follower, OutputMode};
use octo_core::{Config, NoHost, Octo, OpenTurnPolicy, settle_home};
use octo_protocol::{ApiError, GetSettings, Language, Source};
use std::{
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Runs one turn.
pub(crate) async fn exec(arguments: ExecArguments) -> Exit {
    let mut language = Language::System;
    match run(arguments, &mut language).await {
        Ok(exit) => exit,
        Err(Failure::Usage(message)) => {
            print_error_line(&format!("error: {message}"));
            Exit::Usage
        }
        Err(Failure::Failed(error)) => {
            print_error(language, &error);
            Exit::Failed
        }
        Err(Failure::Interrupted) => Exit::Interrupted,
    }
}

async fn run(arguments: ExecArguments, language: &mut Language) -> Result<Exit, Failure> {
    let mut signals = Signals::listen().map_err(|error| ApiError::new("internal").detail(error))?;
    let prompt = prompt(&arguments.prompt, &mut signals).await?;
    let choice = ModelChoice::read(&arguments, |name| std::env::var(name).ok())?;
    let folder = folder(arguments.cwd.as_deref())?;
    let settled = settle_home()?;
    let home = settled.location.home.clone();
    let _logs = octo_core::logging::start(&home);
    for warning in &settled.remarks {
        print_error(*language, warning);
    }
    let config = Config {
        home,
        home_at_start: settled,
        source: Source::Headless,
        open_turns: OpenTurnPolicy::WaitForUse,
        keys: choice.keys(),
        host: Arc::new(NoHost),
        idle_after: octo_core::IDLE_AFTER,
        remover: octo_core::Remover::ThisProgram,
        supervision: octo_core::Supervision::by_this_program(),
        budget: arguments.budget,
        secret_variables: vec![key_variable(&arguments).to_owned()],
    };
    let octo = tokio::select! {
        biased;
        () = signals.next() => return Err(Failure::Interrupted),
        started = Octo::start(config) => started?,
    };
    let exit = turn(&octo, &arguments, &choice, RunInput { folder, prompt }, language, &mut signals).await;
    octo.shutdown().await;
    exit
}

async fn turn(
    octo: &Octo,
    arguments: &ExecArguments,
    choice: &ModelChoice,
    task: RunInput,
    language: &mut Language,
    signals: &mut Signals,
) -> Result<Exit, Failure> {
    let settings = octo.call(GetSettings {}).await?.settings;
    *language = settings.language;
    let _rules_watch = rules::watch_rules(octo, settings.language).await?;
    let (feed, _feed_end) = Feed::open(octo);
    let started = tokio::select! {
        biased;
        // Nothing was sent yet, or the core has stored it and continues it at the next start.
        () = signals.next() => return Err(Failure::Interrupted),
        begun = begin::begin(octo, arguments, choice, &settings, task) => begun?,
    };
    print_error_line(&format!("session: {}", started.session));
    let output_mode = if arguments.json { OutputMode::Events } else { OutputMode::FinalText };
    let follower = Follower::new(octo, started, settings.language, output_mode, OutputLines::stdout());
    follower.with_budget(arguments.budget).follow(feed, signals).await
}

/// Returns the prompt: the argument, or standard input for `-`.
async fn prompt(argument: &str, signals: &mut Signals) -> Result<String, Failure> {
    let prompt = if argument == "-" {
        let reading = tokio::task::spawn_blocking(|| {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        });
        let read = tokio::select! {
            biased;
            () = signals.next() => return Err(Failure::Interrupted),
            read = reading => read,
        };
        let bytes = match read {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(error)) => return Err(Failure::Usage(format!("standard input cannot be read: {error}"))),
            Err(error) => return Err(ApiError::new("internal").detail(error).into()),
        };
        String::from_utf8(bytes).map_err(|_| Failure::Usage("standard input is not UTF-8 text".to_owned()))?
    } else {
        argument.to_owned()
    };
    let prompt = prompt.trim_end_matches(['\n', '\r']);
    if prompt.trim().is_empty() {
        return Err(Failure::Usage("the prompt is empty".to_owned()));
    }
    Ok(prompt.to_owned())
}

/// Returns the working folder, absolute and without links.
fn folder(cwd: Option<&Path>) -> Result<PathBuf, ApiError> {
    let folder = cwd.unwrap_or(Path::new("."));
    let unusable =
        |error: std::io::Error| ApiError::new("exec.folder").arg("path", folder.display()).detail(error);
    let folder = folder.canonicalize().map_err(unusable)?;
    if !folder.is_dir() {
        return Err(unusable(std::io::ErrorKind::NotADirectory.into()));
    }
    Ok(folder)
}
