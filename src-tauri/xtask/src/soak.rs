//! `cargo xtask soak`: runs the large test campaigns in full.

use crate::{
    project::Project,
    setup::{self, Purpose},
    steps::{Steps, say},
    test,
};
use anyhow::Result;

/// Read by the tests: if set, a campaign runs in full; otherwise it runs a seeded tenth.
const FULL_VARIABLE: &str = "OCTO_SOAK";

/// The long-use test of the real window.
const LONG_TESTS: &str = "binary(window) and test(/^long::/)";

/// The test against a third-party server, which it installs; only a soak runs it.
const THIRD_PARTY_TESTS: &str = "binary(headless) and test(/^third_party::/)";

/// Runs every test with full campaigns, and the test against a third-party server.
///
/// # Errors
/// The first step that fails.
pub(crate) fn run(project: &Project, steps: &mut Steps) -> Result<()> {
    setup::run(project, steps, Purpose::Test)?;
    steps.run("page", project.npm(["run", "build"]))?;
    let mut campaigns = project.workspace(["nextest", "run", "--profile", "soak"]);
    campaigns.env(FULL_VARIABLE, "1");
    steps.run("campaigns", campaigns)?;
    if cfg!(target_os = "linux") {
        steps.run("window build", test::build(project))?;
        let mut window = test::window(project, LONG_TESTS);
        window.args(["--profile", "soak", "--no-capture"]);
        steps.run("window", window)?;
    } else {
        say("not on this system: long use of the real window (only Linux has a driver for its webview)");
    }
    // The test reports a failed installation on standard error, which is normally hidden for a test that
    // passed.
    let mut third_party = project.workspace(["nextest", "run", "--profile", "soak", "--run-ignored", "only"]);
    third_party.args(["--no-capture", "-E", THIRD_PARTY_TESTS]);
    steps.run("third party", third_party)
}
