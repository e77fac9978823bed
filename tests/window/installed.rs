//! The installed application: `cargo xtask bundle --check` runs this with a package's files.

use anyhow::Result;
use octo_tests::{BareApplication, Desktop};

#[test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
fn the_installed_program_opens_in_a_fresh_home_and_ends_with_its_window() -> Result<()> {
    let desktop = Desktop::start()?;
    let home = desktop.folder().join("octo");
    let mut app = BareApplication::start(&desktop, &home)?;
    app.painted()?;
    assert!(home.is_dir(), "its home is where it was told");
    app.close()
}
