//! Questions for a version. `cargo` and `rustc` may be rustup's, which asks the folder what to start: see
//! [`crate::folder`].
//!
//! Nothing else of these programs is known, although some of it only seems to read: with `[build] rustc-wrapper` in the
//! folder's settings both `cargo metadata` and `cargo tree` run the wrapper, `npm ls` reads the folder's `.npmrc`, and
//! `docker inspect` prints secrets of containers. Pagers (`less`, `more`, `man`) start what variables and their own
//! settings name, so no row of any table has them.

use super::{Operands::Only, ProgramRow};

/// Programs that run unasked with these words only.
pub(crate) const ROWS: &[ProgramRow] = &[
    ("bash", "", Only(LONG)),
    ("cargo", "", Only(&[&["--version"], &["-V"], &["version"]])),
    ("clang", "", Only(LONG)),
    ("cmake", "", Only(LONG)),
    ("docker", "", Only(LONG_OR_SMALL)),
    ("gcc", "", Only(LONG)),
    ("java", "", Only(&[&["-version"], &["--version"]])),
    ("make", "", Only(LONG)),
    ("node", "", Only(LONG_OR_SMALL)),
    ("npm", "", Only(LONG_OR_SMALL)),
    ("python", "", Only(LONG_OR_LARGE)),
    ("python3", "", Only(LONG_OR_LARGE)),
    ("ruby", "", Only(LONG_OR_SMALL)),
    ("rustc", "", Only(LONG_OR_LARGE)),
    ("rustup", "", Only(LONG_OR_LARGE)),
    ("sqlite3", "", Only(&[&["--version"], &["-version"]])),
];

const LONG: &[&[&str]] = &[&["--version"]];
const LONG_OR_SMALL: &[&[&str]] = &[&["--version"], &["-v"]];
const LONG_OR_LARGE: &[&[&str]] = &[&["--version"], &["-V"]];

/// Whether a program is one that a version manager may stand for.
pub(crate) fn is_versioned(name: &str) -> bool {
    ROWS.iter().any(|(known, ..)| *known == name)
}
