//! Programs that run unasked only to print their version. `cargo` and `rustc` may be rustup's, which starts the
//! toolchain that the folder chooses: see [`crate::folder`].
//!
//! Other commands of these programs ask, although some seem to only read: with `[build] rustc-wrapper` in the folder's
//! settings `cargo metadata` and `cargo tree` run the wrapper, `npm ls` reads the folder's `.npmrc`, and `docker
//! inspect` prints secrets of containers. Pagers (`less`, `more`, `man`) start programs that variables and their
//! settings name, so no table has them.

use super::{Operands::Only, ProgramRow};

/// The programs, each with the only words with which it runs unasked.
pub(crate) const ROWS: &[ProgramRow] = &[
    ("bash", "", Only(VERSION)),
    ("cargo", "", Only(&[&["--version"], &["-V"], &["version"]])),
    ("clang", "", Only(VERSION)),
    ("cmake", "", Only(VERSION)),
    ("docker", "", Only(VERSION_OR_LOWER_V)),
    ("gcc", "", Only(VERSION)),
    ("java", "", Only(&[&["-version"], &["--version"]])),
    ("make", "", Only(VERSION)),
    ("node", "", Only(VERSION_OR_LOWER_V)),
    ("npm", "", Only(VERSION_OR_LOWER_V)),
    ("python", "", Only(VERSION_OR_UPPER_V)),
    ("python3", "", Only(VERSION_OR_UPPER_V)),
    ("ruby", "", Only(VERSION_OR_LOWER_V)),
    ("rustc", "", Only(VERSION_OR_UPPER_V)),
    ("rustup", "", Only(VERSION_OR_UPPER_V)),
    ("sqlite3", "", Only(&[&["--version"], &["-version"]])),
];

const VERSION: &[&[&str]] = &[&["--version"]];
const VERSION_OR_LOWER_V: &[&[&str]] = &[&["--version"], &["-v"]];
const VERSION_OR_UPPER_V: &[&[&str]] = &[&["--version"], &["-V"]];

/// Returns whether a version manager may take the place of a program.
pub(crate) fn is_versioned(name: &str) -> bool {
    ROWS.iter().any(|(known, ..)| *known == name)
}
