//! `cargo xtask bench`: measures an optimised build and prints a Markdown table on standard output.

use crate::{
    project::{Project, WITH_PAGE},
    setup::{self, Purpose},
    steps::Steps,
};
use anyhow::{Context as _, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use std::{env, path::PathBuf};

/// Selection of measurements.
#[derive(Args)]
pub(crate) struct BenchOptions {
    /// Measure only these parts; all by default.
    parts: Vec<BenchPart>,
    #[command(flatten)]
    model: BenchModel,
}

/// The model that runs the tasks; the scripted server by default.
#[derive(Args)]
#[command(next_help_heading = "A model for `tasks`")]
struct BenchModel {
    /// Wire protocol.
    #[arg(long, requires_all = ["base_url", "model"], value_parser = ["anthropic", "openai-chat", "openai-responses", "bedrock"])]
    protocol: Option<String>,
    /// Server address.
    #[arg(long, value_name = "URL", requires = "protocol")]
    base_url: Option<String>,
    /// The vendor's model name.
    #[arg(long, value_name = "NAME", requires = "protocol")]
    model: Option<String>,
    /// The environment variable that holds the key [default: OCTO_API_KEY]
    #[arg(long, value_name = "VAR", requires = "protocol")]
    key_env: Option<String>,
    /// Budget for each task, in US dollars; calls of unknown price are not counted [default: 5]
    #[arg(long, value_name = "USD", requires = "protocol")]
    budget: Option<String>,
    /// Folder for the results [default: the build folder's tasks]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl BenchModel {
    /// Returns the options as words that name no part, as the benchmark reads them.
    fn to_words(&self) -> Result<Vec<String>> {
        let output = self.out.as_deref().map(std::path::absolute).transpose().context("--out")?;
        let output = output.map(|output| output.into_os_string().into_string());
        let output = output.transpose().map_err(|_| anyhow!("--out is not Unicode text"))?;
        let options = [
            ("protocol", &self.protocol),
            ("base-url", &self.base_url),
            ("model", &self.model),
            ("key-env", &self.key_env),
            ("budget", &self.budget),
            ("out", &output),
        ];
        let arguments = options.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        Ok(arguments.map(|(name, value)| format!("--{name}={value}")).collect())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BenchPart {
    /// Open, list and search sessions.
    Sessions,
    /// Window start and memory of its processes.
    Window,
    /// Window frames while streaming and scrolling, compared with a plain window's.
    Frames,
    /// Octo's overhead between two model calls.
    Turn,
    /// File search, compared with ripgrep.
    Grep,
    /// How well providers' prompt caches handle Octo's requests.
    Cache,
    /// Time machine snapshots of a folder of 100,000 files, and an undo of 11,200 changes.
    Time,
    /// Three real tasks, run by a model in temporary folders, in which it executes commands without asking.
    Tasks,
    /// Octo's browser, compared with Playwright MCP and chrome-devtools-mcp on the same pages.
    Browser,
}

/// The release profile is measured: the profile of the root manifest, and the folder of its build.
const PROFILE: &str = "release";

/// The example Octo's window is compared with.
const PLAIN_EXAMPLE: &str = "plain_window";

/// Sets up, builds, measures.
///
/// # Errors
/// The first step that fails.
pub(crate) fn run(project: &Project, steps: &mut Steps, choice: &BenchOptions) -> Result<()> {
    let model = choice.model.to_words()?;
    if !model.is_empty() && choice.parts != [BenchPart::Tasks] {
        bail!("a model is for the part `tasks` alone: cargo xtask bench tasks --protocol …");
    }
    setup::run(project, steps, Purpose::Bench)?;
    if choice.parts.is_empty() || choice.parts.contains(&BenchPart::Browser) {
        steps.work("set-up: other tools", || setup::install_bench_tools(project))?;
    }
    let mut bench = project.cargo(["bench"]);
    bench.args(["--profile", PROFILE, "--package", "octo-tests"]);
    if choice.parts.is_empty()
        || [BenchPart::Window, BenchPart::Frames].iter().any(|window_part| choice.parts.contains(window_part))
    {
        steps.run("page", project.npm(["run", "build"]))?;
        // The same packages and features in both builds, so that shared dependencies are compiled once.
        let mut build = project.cargo(["build"]);
        build.args(["--profile", PROFILE, "--package", "octo-tests", "--package", "octo"]);
        build.args(WITH_PAGE).args(["--bin", "octo", "--example", PLAIN_EXAMPLE, "--bench", "figures"]);
        steps.run("build", build)?;
        bench.args(["--package", "octo"]).args(WITH_PAGE);
    }
    let built = project.target.join(PROFILE);
    let binary = built.join(format!("octo{}", env::consts::EXE_SUFFIX));
    let plain_example = built.join("examples").join(format!("{PLAIN_EXAMPLE}{}", env::consts::EXE_SUFFIX));
    bench.args(["--bench", "figures", "--"]);
    for part in choice.parts.iter().filter_map(BenchPart::to_possible_value) {
        bench.arg(part.get_name());
    }
    bench.args(model);
    bench.env("OCTO_APP", binary).env("OCTO_PLAIN_WINDOW", plain_example).env("RUST_LIB_BACKTRACE", "0");
    steps.run("figures", bench)
}
