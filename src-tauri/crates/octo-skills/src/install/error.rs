//! Errors of an installation.

use crate::{MAX_BYTES, MAX_FILES};
use octo_protocol::ApiError;
use std::io;

/// Error of an installation. Nothing was written, unless the variant says so.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The source cannot be read, or the target cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not a valid zip file.
    #[error("not a zip file that can be read: {0}")]
    Zip(String),
    /// The zip file has a password.
    #[error("the zip file is locked with a password")]
    Locked,
    /// Its size exceeds the maximum of a skill.
    #[error("more than {MAX_BYTES} bytes")]
    TooLarge,
    /// Its number of files exceeds the maximum of a skill.
    #[error("more than {MAX_FILES} files")]
    TooManyFiles,
    /// A path in it leads outside, or means another file on some systems.
    #[error("the path {0:?} leads out of the skill or is no safe name")]
    UnsafePath(String),
    /// Two files in it have the same path.
    #[error("two files have the path {0:?}")]
    SamePath(String),
    /// It contains no SKILL.md.
    #[error("there is no SKILL.md in it")]
    NoSkill,
    /// The skill itself cannot be used.
    #[error("the skill {0} cannot be used")]
    Broken(String),
    /// A skill or folder of that name exists, and replacing it was not requested.
    #[error("there is a skill {0} already")]
    Exists(String),
}

impl From<&InstallError> for ApiError {
    fn from(error: &InstallError) -> Self {
        match error {
            InstallError::Io(error) => ApiError::new("skill.install.io").arg("reason", error.to_string()),
            InstallError::Zip(reason) => ApiError::new("skill.install.zip").arg("reason", reason.clone()),
            InstallError::Locked => ApiError::new("skill.install.locked"),
            InstallError::TooLarge => {
                ApiError::new("skill.install.too_large").arg("most", (MAX_BYTES >> 20).to_string())
            }
            InstallError::TooManyFiles => {
                ApiError::new("skill.install.too_many").arg("most", MAX_FILES.to_string())
            }
            InstallError::UnsafePath(path) => {
                ApiError::new("skill.install.unsafe_path").arg("path", display_path(path))
            }
            InstallError::SamePath(path) => {
                ApiError::new("skill.install.same_path").arg("path", display_path(path))
            }
            InstallError::NoSkill => ApiError::new("skill.install.none"),
            InstallError::Broken(name) => ApiError::new("skill.install.broken").arg("name", name.clone()),
            InstallError::Exists(name) => ApiError::new("skill.install.exists").arg("name", name.clone()),
        }
    }
}

/// Returns an untrusted path, shortened and on one line.
fn display_path(path: &str) -> String {
    crate::fields::cut(&crate::fields::collapse(path), 120)
}
