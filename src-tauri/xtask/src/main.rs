//! The project's own commands. `cargo xtask` lists them.

mod app;
mod bench;
mod bindings;
mod bundle;
mod licences;
#[cfg(target_os = "linux")]
mod person;
mod platforms;
mod project;
mod release;
mod setup;
mod soak;
mod steps;
mod test;

use clap::{Parser, Subcommand};
use project::Project;
use std::process::ExitCode;
use steps::Steps;

/// Sets up, builds, opens and checks Octo.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: XtaskCommand,
}

#[derive(Subcommand)]
enum XtaskCommand {
    /// Install missing tools, build the app and open it.
    App,
    /// Install missing tools and run every check.
    Test(test::TestOptions),
    /// Install missing tools and check the headless crates for Windows and macOS.
    Platforms,
    /// Run the large test campaigns in full.
    Soak,
    /// Measure an optimised build and print the figures as a table.
    Bench(bench::BenchOptions),
    /// Regenerate the page's TypeScript types from the Rust types.
    Types,
    /// Build installable packages for this system, or check existing ones.
    Bundle(bundle::BundleOptions),
    /// Write the files a release needs for its updates; called by the release workflow.
    Release(release::ReleaseOptions),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut steps = Steps::default();
    let outcome = Project::find().and_then(|project| match arguments.task {
        XtaskCommand::App => app::run(&project, &mut steps),
        XtaskCommand::Test(choice) => test::run(&project, &mut steps, &choice),
        XtaskCommand::Platforms => platforms::run(&project, &mut steps),
        XtaskCommand::Soak => soak::run(&project, &mut steps),
        XtaskCommand::Bench(choice) => bench::run(&project, &mut steps, &choice),
        XtaskCommand::Types => bindings::write(&project, &mut steps),
        XtaskCommand::Bundle(choice) => bundle::run(&project, &mut steps, &choice),
        XtaskCommand::Release(choice) => release::run(&project, &choice),
    });
    steps.report(&outcome)
}
