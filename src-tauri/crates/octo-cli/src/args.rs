//! Parses the command line.

use clap::{Args, Parser, Subcommand, ValueEnum, builder::PossibleValue};
use octo_llm::codec;
use octo_protocol::{Cost, Effort, Mode, Profile, Protocol, SessionId};
use std::{path::PathBuf, str::FromStr};

/// Default environment variable of the key.
pub(crate) const KEY_VARIABLE: &str = "OCTO_API_KEY";

/// Decimal places of an amount in dollars: [`Cost`] counts billionths.
const NANO_DIGITS: usize = 9;

/// Run Octo without a window.
#[derive(Debug, Parser)]
// Uses the name of the installed program, in both binaries.
#[command(name = "octo", version, about, long_about = None)]
pub(crate) struct CliArguments {
    /// Command to run.
    #[command(subcommand)]
    pub command: CliCommand,
}

/// A command of the program.
#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one, and it is read once")]
pub(crate) enum CliCommand {
    /// Run one turn and print its answer.
    Exec(ExecArguments),
    /// Serve the protocol on standard input and output, one JSON object per line.
    Serve,
}

/// Arguments of `exec`.
#[derive(Debug, Args)]
pub(crate) struct ExecArguments {
    /// Folder to work in; defaults to the current one.
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Session to continue: an id, or "last" for the folder's newest.
    #[arg(long, value_name = "ID|last")]
    pub session: Option<SessionChoice>,
    /// Protocol of the model server; "demo" plays a script and needs no model.
    #[arg(long)]
    pub protocol: Option<ProtocolChoice>,
    /// Address of the model server.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// The vendor's name of the model.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Environment variable that contains the key [default: OCTO_API_KEY]
    #[arg(long, value_name = "VAR")]
    pub key_env: Option<String>,
    /// Additional header for the model server, as NAME=VALUE; may be repeated. Octo keeps it only in memory,
    /// but other programs of this user can see it on the command line.
    #[arg(long = "header", value_name = "NAME=VALUE")]
    pub headers: Vec<String>,
    /// Reasoning effort of the model, for a new session; defaults to the model's own.
    #[arg(long)]
    pub effort: Option<EffortChoice>,
    /// Budget of the turn in US dollars, such as 0.50. Once it is spent, the turn stops before the next model
    /// call, and the exit status is 1. Calls with an unknown cost do not count.
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub budget: Option<Cost>,
    /// Which actions may run without asking; without a window, Octo answers every request for permission with
    /// no.
    #[arg(long)]
    pub mode: Option<ModeChoice>,
    /// The agent's profile, for a new session: general, coding, or a folder of `agents` in Octo's home.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<Profile>,
    /// Print every event as one JSON object per line instead of the final text.
    #[arg(long)]
    pub json: bool,
    /// The request to Octo; "-" reads it from standard input.
    pub prompt: String,
}

/// Session to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionChoice {
    /// The folder's newest session.
    Last,
    /// The session with this id.
    Id(SessionId),
}

impl FromStr for SessionChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "last" {
            return Ok(Self::Last);
        }
        text.parse()
            .map(Self::Id)
            .map_err(|_| "a session's id is 32 hex digits; \"last\" is the newest one".to_owned())
    }
}

/// Parses an amount of dollars: digits, optionally followed by a point and up to nine more. Nothing is rounded.
fn dollars(text: &str) -> Result<Cost, String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > NANO_DIGITS {
        return Err("an amount of US dollars is written like 2 or 0.50".to_owned());
    }
    let nano =
        format!("{whole}{fraction:0<NANO_DIGITS$}").parse().map_err(|_| "that is too much".to_owned())?;
    match Cost::from_nano_dollars(nano) {
        Cost::ZERO => Err("a budget is more than nothing".to_owned()),
        budget => Ok(budget),
    }
}

/// Protocol of the model server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProtocolChoice {
    /// A wire format.
    Model(Protocol),
    /// The built-in script, without a model.
    Demo,
}

impl ProtocolChoice {
    const ALL: [Self; Protocol::ALL.len() + 1] = {
        let mut all = [Self::Demo; Protocol::ALL.len() + 1];
        let mut index = 0;
        while index < Protocol::ALL.len() {
            all[index] = Self::Model(Protocol::ALL[index]);
            index += 1;
        }
        all
    };
}

impl ValueEnum for ProtocolChoice {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Model(protocol) => (codec(*protocol).name, codec(*protocol).description),
            Self::Demo => ("demo", "The built-in script, without a model"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

/// Reasoning effort of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EffortChoice {
    /// Little reasoning.
    Low,
    /// Medium reasoning.
    Medium,
    /// Much reasoning.
    High,
}

impl From<EffortChoice> for Effort {
    fn from(choice: EffortChoice) -> Self {
        match choice {
            EffortChoice::Low => Self::Low,
            EffortChoice::Medium => Self::Medium,
            EffortChoice::High => Self::High,
        }
    }
}

/// Which actions may run without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeChoice {
    /// Every change and every command asks.
    Ask,
    /// Changes inside the folder and known read-only commands run; everything else asks.
    AskRisky,
    /// Nothing asks.
    Autonomous,
}

impl From<ModeChoice> for Mode {
    fn from(choice: ModeChoice) -> Self {
        match choice {
            ModeChoice::Ask => Self::Ask,
            ModeChoice::AskRisky => Self::AskRisky,
            ModeChoice::Autonomous => Self::Autonomous,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        CliArguments::command().debug_assert();
    }

    #[test]
    fn the_command_line_grammar_is_frozen() {
        let list =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/frozen-names.txt");
        let mut command = CliArguments::command();
        command.build();
        octo_testkit::check_names(&list, "command line", &octo_testkit::grammar(&command));
    }

    #[test]
    fn every_option_is_read() {
        let id = SessionId::new();
        let parsed = CliArguments::try_parse_from([
            "octo",
            "exec",
            "--cwd",
            "/tmp",
            "--session",
            &id.to_string(),
            "--protocol",
            "openai-chat",
            "--base-url",
            "http://127.0.0.1:1/v1",
            "--model",
            "m",
            "--key-env",
            "K",
            "--header",
            "X-One=1",
            "--header",
            "x-two=a=b",
            "--effort",
            "high",
            "--budget",
            "0.50",
            "--mode",
            "ask-risky",
            "--profile",
            "coding",
            "--json",
            "-",
        ])
        .unwrap();
        let CliCommand::Exec(exec) = parsed.command else { panic!("exec") };
        assert_eq!(exec.session, Some(SessionChoice::Id(id)));
        assert_eq!(exec.protocol, Some(ProtocolChoice::Model(Protocol::OpenaiChat)));
        assert_eq!(exec.headers, ["X-One=1", "x-two=a=b"]);
        assert_eq!(exec.effort.map(Effort::from), Some(Effort::High));
        assert_eq!(exec.budget, Some(Cost::from_nano_dollars(500_000_000)));
        assert_eq!(exec.mode.map(Mode::from), Some(Mode::AskRisky));
        assert_eq!(exec.profile, Some(Profile::CODING));
        assert!(exec.json);
        assert_eq!(exec.prompt, "-");
    }

    #[test]
    fn dollars_are_read_to_the_billionth_and_nothing_else_is() {
        for (text, nano) in [
            ("2", 2_000_000_000),
            ("0.50", 500_000_000),
            ("007.1", 7_100_000_000),
            ("0.000000001", 1),
            ("18446744073.709551615", u64::MAX),
        ] {
            assert_eq!(dollars(text), Ok(Cost::from_nano_dollars(nano)), "{text}");
        }
        for invalid in [
            "",
            "0",
            "0.0",
            "-1",
            "+1",
            "1.",
            ".5",
            ".",
            "1e3",
            "$1",
            "1 ",
            "1,5",
            "1_000",
            "1.2.3",
            "inf",
            "NaN",
            "0.0000000001",
            "18446744073.709551616",
            "99999999999999999999999",
            "١",
        ] {
            assert!(dollars(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn wrong_values_are_usage_errors() {
        for invalid in [
            &["octo", "exec"][..],
            &["octo"],
            &["octo", "exec", "--session", "0123", "x"],
            &["octo", "exec", "--mode", "yolo", "x"],
            &["octo", "exec", "--protocol", "smtp", "x"],
            &["octo", "exec", "--effort", "huge", "x"],
            &["octo", "exec", "--budget", "0", "x"],
            &["octo", "exec", "--budget", "-1", "x"],
            &["octo", "exec", "--budget=-1", "x"],
            &["octo", "exec", "--budget", "a dollar", "x"],
            &["octo", "exec", "two", "prompts"],
            &["octo", "serve", "x"],
        ] {
            let error = CliArguments::try_parse_from(invalid).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{invalid:?}");
        }
    }
}
