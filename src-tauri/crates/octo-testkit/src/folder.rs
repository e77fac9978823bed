//! Where the homes and projects of tests are.

use std::path::PathBuf;
use tempfile::TempDir;

/// Names the folder below which tests create their homes and projects, instead of the system's temporary folder.
/// The gate's run as a person sets it: a temporary folder differs from the place where people's homes are.
const HOMES: &str = "OCTO_TEST_HOMES";

/// Returns the folder below which the homes and projects of tests are.
pub(crate) fn base() -> PathBuf {
    std::env::var_os(HOMES).map_or_else(std::env::temp_dir, PathBuf::from)
}

/// Creates an empty folder for a home or a project of one test. Dropping it removes it.
pub fn test_folder() -> TempDir {
    tempfile::Builder::new().prefix("octo-test-").tempdir_in(base()).expect("a folder for homes of tests")
}
