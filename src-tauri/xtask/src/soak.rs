//! `cargo xtask soak`: the large test campaigns at their full numbers.

use crate::{
    project::Project,
    setup::{self, Purpose},
    steps::Steps,
};
use anyhow::Result;

/// Tests read it: set, a campaign runs in full; not set, it runs a seeded tenth.
const FULL: &str = "OCTO_SOAK";

/// Runs every test with campaigns in full.
///
/// # Errors
/// The first step that fails.
pub(crate) fn run(project: &Project, steps: &mut Steps) -> Result<()> {
    setup::run(project, steps, Purpose::Test)?;
    steps.run("page", project.npm(["run", "build"]))?;
    let mut campaigns = project.workspace(["nextest", "run", "--profile", "soak"]);
    campaigns.env(FULL, "1");
    steps.run("campaigns", campaigns)
}
