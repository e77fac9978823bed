//! Profiles: the base prompts of sessions.

use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt, str::FromStr};
use ts_rs::TS;

/// The maximum number of characters in a profile's name.
const MAX_NAME_CHARS: usize = 40;

/// The agent's profile, by name: one of Octo's two, or a folder of the person's in `agents/`. The name is one
/// component of a path, and therefore consists only of lower-case letters, digits, `-` and `_`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(try_from = "String", into = "String")]
#[ts(export, export_to = "protocol.ts", type = "string")]
pub struct Profile(Cow<'static, str>);

/// An error for text that is not a valid profile name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no name of a profile: lower-case letters, digits, - and _")]
pub struct InvalidProfile(String);

impl Profile {
    /// Any kind of work.
    pub const GENERAL: Self = Self(Cow::Borrowed("general"));
    /// Software.
    pub const CODING: Self = Self(Cow::Borrowed("coding"));

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self::GENERAL
    }
}

impl TryFrom<String> for Profile {
    type Error = InvalidProfile;

    fn try_from(name: String) -> Result<Self, InvalidProfile> {
        let may_begin = name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if may_begin && name.len() <= MAX_NAME_CHARS && name.chars().all(is_plain) {
            Ok(Self(Cow::Owned(name)))
        } else {
            Err(InvalidProfile(name))
        }
    }
}

impl FromStr for Profile {
    type Err = InvalidProfile;

    fn from_str(name: &str) -> Result<Self, InvalidProfile> {
        name.to_owned().try_into()
    }
}

impl From<Profile> for String {
    fn from(profile: Profile) -> Self {
        profile.0.into_owned()
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A profile in the list of profiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct ProfileInfo {
    /// Its name.
    pub profile: Profile,
    /// Its purpose, in the person's words; `None` for Octo's own profiles, which `profile.<name>` of the word
    /// catalogue describes.
    pub description: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_single_path_components() {
        for name in ["general", "coding", "my-team_2", "0"] {
            assert_eq!(name.parse::<Profile>().unwrap().name(), name);
        }
        let too_long = "a".repeat(MAX_NAME_CHARS + 1);
        for name in ["", "..", "a/b", "A", "-a", "_", "a b", "ä", "a.md", "a\0", too_long.as_str()] {
            assert!(name.parse::<Profile>().is_err(), "{name:?}");
            assert!(serde_json::from_value::<Profile>(name.into()).is_err(), "{name:?}");
        }
        assert_eq!(serde_json::to_value(Profile::CODING).unwrap(), "coding");
    }
}
