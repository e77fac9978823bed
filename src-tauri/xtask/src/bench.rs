//! `cargo xtask bench`: figures of an optimised build, as a Markdown table on standard output.

use crate::{
    project::{Project, WITH_PAGE},
    setup::{self, Purpose},
    steps::Steps,
};
use anyhow::{Context as _, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use std::{env, path::PathBuf};

/// What to measure.
#[derive(Args)]
pub(crate) struct Choice {
    /// Only these parts; all of them if none is named.
    parts: Vec<Part>,
    #[command(flatten)]
    model: Model,
}

/// The model that does the tasks; the scripted server where none is named.
#[derive(Args)]
#[command(next_help_heading = "A model for `tasks`")]
struct Model {
    /// How it is spoken to.
    #[arg(long, requires_all = ["base_url", "model"], value_parser = ["anthropic", "openai-chat", "openai-responses", "bedrock"])]
    protocol: Option<String>,
    /// The server's address.
    #[arg(long, value_name = "URL", requires = "protocol")]
    base_url: Option<String>,
    /// The vendor's name of it.
    #[arg(long, value_name = "NAME", requires = "protocol")]
    model: Option<String>,
    /// The environment variable that holds the key [default: OCTO_API_KEY]
    #[arg(long, value_name = "VAR", requires = "protocol")]
    key_env: Option<String>,
    /// What a task may cost, in US dollars; calls of unknown price are not counted [default: 5]
    #[arg(long, value_name = "USD", requires = "protocol")]
    budget: Option<String>,
    /// Where what was made is kept [default: the build folder's tasks]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Model {
    /// As the figures read it: words that name no part.
    fn words(&self) -> Result<Vec<String>> {
        let out = self.out.as_deref().map(std::path::absolute).transpose().context("--out")?;
        let out = out.map(|out| out.into_os_string().into_string());
        let out = out.transpose().map_err(|_| anyhow!("--out is not Unicode text"))?;
        let options = [
            ("protocol", &self.protocol),
            ("base-url", &self.base_url),
            ("model", &self.model),
            ("key-env", &self.key_env),
            ("budget", &self.budget),
            ("out", &out),
        ];
        let given = options.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        Ok(given.map(|(name, value)| format!("--{name}={value}")).collect())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Opening, listing and searching sessions.
    Sessions,
    /// The window's start and the memory of its processes.
    Window,
    /// The window's frames while it streams and scrolls, beside a plain window's.
    Frames,
    /// What Octo costs between two calls of the model.
    Turn,
    /// Searching files, against ripgrep.
    Grep,
    /// What providers' prompt caches make of Octo's requests.
    Cache,
    /// The time machine's pictures of a folder of 100,000 files.
    Time,
    /// Three real tasks, done by a model in throw-away folders, in which it runs commands without asking.
    Tasks,
    /// Octo's browser beside Playwright MCP and chrome-devtools-mcp, on the same pages.
    Browser,
}

/// What is measured is what is released: the profile of the root manifest, and the folder its build is in.
const PROFILE: &str = "release";

/// The example that Octo's window is compared with.
const PLAIN: &str = "plain_window";

/// Sets up, builds, measures.
///
/// # Errors
/// The first step that fails.
pub(crate) fn run(project: &Project, steps: &mut Steps, choice: &Choice) -> Result<()> {
    let model = choice.model.words()?;
    if !model.is_empty() && choice.parts != [Part::Tasks] {
        bail!("a model is for the part `tasks` alone: cargo xtask bench tasks --protocol …");
    }
    setup::run(project, steps, Purpose::Bench)?;
    if choice.parts.is_empty() || choice.parts.contains(&Part::Browser) {
        steps.work("set-up: other tools", || setup::peers(project))?;
    }
    let mut bench = project.cargo(["bench"]);
    bench.args(["--profile", PROFILE, "--package", "octo-tests"]);
    if choice.parts.is_empty() || [Part::Window, Part::Frames].iter().any(|part| choice.parts.contains(part))
    {
        steps.run("page", project.npm(["run", "build"]))?;
        // The same packages and features in both, so that what they share is compiled once.
        let mut build = project.cargo(["build"]);
        build.args(["--profile", PROFILE, "--package", "octo-tests", "--package", "octo"]);
        build.args(WITH_PAGE).args(["--bin", "octo", "--example", PLAIN, "--bench", "figures"]);
        steps.run("build", build)?;
        bench.args(["--package", "octo"]).args(WITH_PAGE);
    }
    let built = project.target.join(PROFILE);
    let binary = built.join(format!("octo{}", env::consts::EXE_SUFFIX));
    let plain = built.join("examples").join(format!("{PLAIN}{}", env::consts::EXE_SUFFIX));
    bench.args(["--bench", "figures", "--"]);
    for part in choice.parts.iter().filter_map(Part::to_possible_value) {
        bench.arg(part.get_name());
    }
    bench.args(model);
    bench.env("OCTO_APP", binary).env("OCTO_PLAIN_WINDOW", plain).env("RUST_LIB_BACKTRACE", "0");
    steps.run("figures", bench)
}
