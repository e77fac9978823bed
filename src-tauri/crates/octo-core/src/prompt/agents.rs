//! The person's texts about the agent in `agents/` of the home: profiles, SOUL.md and USER.md.

use octo_protocol::{ApiError, PERSONA_MAX_CHARS, PersonaFile, PersonaKind, Profile, ProfileInfo};
use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// A profile's own prompt, in its folder.
const PROFILE: &str = "PROFILE.md";
/// Maximum size of a profile's prompt, in bytes; the rest is ignored.
const LONGEST_PROFILE: u64 = 16 * 1024;
/// Maximum size of SOUL.md or USER.md that is read, in bytes.
const LONGEST_PERSONA: u64 = 64 * 1024;
/// Maximum number of profiles listed.
const PROFILES: usize = 100;
/// Maximum length of a profile's description, in characters.
const DESCRIPTION: usize = 120;
/// Maximum size of SOUL.md or USER.md that is written, in bytes.
pub(crate) const MAX_PERSONA: usize = 50_000;

const GENERAL: &str = include_str!("general.md");
const CODING: &str = include_str!("coding.md");
const SOUL: &str = include_str!("soul.md");

/// The folder `agents` of a home.
#[derive(Clone, Debug)]
pub(crate) struct AgentFiles {
    folder: PathBuf,
}

impl AgentFiles {
    /// Creates the access to this home's folder, which need not exist.
    pub(crate) fn new(home: &Path) -> Self {
        Self { folder: home.join("agents") }
    }

    /// Returns the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a profile's prompt: the person's, otherwise Octo's own.
    ///
    /// # Errors
    /// `session.profile_unknown` if neither exists; those of the disk.
    pub(super) fn prompt(&self, profile: &Profile) -> Result<String, ApiError> {
        let path = self.folder.join(profile.name()).join(PROFILE);
        let unreadable = |error: io::Error| {
            ApiError::new("session.profile_unreadable").arg("path", path.display()).detail(error)
        };
        if let Some(text) = read_bounded(&path, LONGEST_PROFILE).map_err(unreadable)? {
            return Ok(text);
        }
        match builtin_text(profile) {
            Some(text) => Ok(text.trim_end().to_owned()),
            None => Err(ApiError::new("session.profile_unknown")
                .arg("profile", profile)
                .arg("path", path.display())),
        }
    }

    /// Returns the existing profiles: Octo's own, then the person's by name.
    pub(crate) fn profiles(&self) -> Vec<ProfileInfo> {
        let builtin = [Profile::GENERAL, Profile::CODING];
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().take(PROFILES);
        let mut custom: Vec<ProfileInfo> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| entry.file_name().to_str()?.parse::<Profile>().ok())
            .filter(|profile| !builtin.contains(profile))
            .filter_map(|profile| {
                let path = self.folder.join(profile.name()).join(PROFILE);
                let text = read_bounded(&path, LONGEST_PROFILE).ok()??;
                Some(ProfileInfo { profile, description: first_line(&text) })
            })
            .collect();
        custom.sort_by(|left, right| left.profile.cmp(&right.profile));
        builtin.into_iter().map(|profile| ProfileInfo { profile, description: None }).chain(custom).collect()
    }

    /// Returns SOUL.md or USER.md as part of the system prompt, or `None` if empty.
    pub(super) fn persona(&self, kind: PersonaKind) -> Option<String> {
        let text = self.stored_persona(kind);
        let text = if text.is_empty() { default_persona(kind).to_owned() } else { text };
        let heading = match kind {
            PersonaKind::Soul => "# Who you are",
            PersonaKind::User => "# Who you work for",
        };
        (!text.is_empty()).then(|| format!("{heading}\n\n{}", shorten(&text)))
    }

    /// Returns SOUL.md or USER.md, for the person.
    pub(crate) fn file(&self, kind: PersonaKind) -> PersonaFile {
        PersonaFile {
            kind,
            path: self.path(kind).display().to_string(),
            text: self.stored_persona(kind),
            standard: default_persona(kind).to_owned(),
        }
    }

    /// Returns the path of SOUL.md or USER.md.
    pub(crate) fn path(&self, kind: PersonaKind) -> PathBuf {
        self.folder.join(match kind {
            PersonaKind::Soul => "SOUL.md",
            PersonaKind::User => "USER.md",
        })
    }

    /// Returns the person's text; empty if it is missing or unreadable.
    fn stored_persona(&self, kind: PersonaKind) -> String {
        let path = self.path(kind);
        read_bounded(&path, LONGEST_PERSONA)
            .inspect_err(|error| tracing::warn!(path = %path.display(), %error, "Octo's own words are used"))
            .ok()
            .flatten()
            .unwrap_or_default()
    }
}

fn builtin_text(profile: &Profile) -> Option<&'static str> {
    [(Profile::GENERAL, GENERAL), (Profile::CODING, CODING)]
        .into_iter()
        .find_map(|(builtin, text)| (builtin == *profile).then_some(text))
}

fn default_persona(kind: PersonaKind) -> &'static str {
    match kind {
        PersonaKind::Soul => SOUL.trim_ascii_end(),
        // Octo knows nothing about a person before they say it.
        PersonaKind::User => "",
    }
}

/// Returns a file's text, trimmed and cut, or `None` if it is missing or empty.
fn read_bounded(path: &Path, limit: u64) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let text = text.trim();
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

/// Cuts a text to [`PERSONA_MAX_CHARS`] characters, because every request contains it.
fn shorten(text: &str) -> String {
    if text.chars().count() <= PERSONA_MAX_CHARS {
        return text.to_owned();
    }
    let beginning: String = text.chars().take(PERSONA_MAX_CHARS).collect();
    format!("{}… (cut here)", beginning.trim_end())
}

fn first_line(text: &str) -> Option<String> {
    let line = text.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty())?;
    Some(line.chars().take(DESCRIPTION).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn agents() -> (tempfile::TempDir, AgentFiles) {
        let home = tempfile::tempdir().unwrap();
        let agents = AgentFiles::new(home.path());
        (home, agents)
    }

    fn write(agents: &AgentFiles, path: &str, text: &str) {
        let path = agents.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_profile_of_the_persons_takes_the_place_of_octos_own() {
        let (_home, agents) = agents();
        assert_eq!(agents.prompt(&Profile::CODING).unwrap(), CODING.trim_end());
        let team: Profile = "team".parse().unwrap();
        assert_eq!(agents.prompt(&team).unwrap_err().key, "session.profile_unknown");
        write(&agents, "coding/PROFILE.md", "\u{feff}# Mine\r\nWork so.\r\n");
        write(&agents, "team/PROFILE.md", "# The team's way\n\nBe kind.");
        write(&agents, "empty/PROFILE.md", " \n");
        write(&agents, "Bad Name/PROFILE.md", "x");
        write(&agents, "SOUL.md", "x");
        assert_eq!(agents.prompt(&Profile::CODING).unwrap(), "# Mine\nWork so.");
        assert_eq!(agents.prompt(&team).unwrap(), "# The team's way\n\nBe kind.");
        let profiles: Vec<(String, Option<String>)> =
            agents.profiles().into_iter().map(|info| (info.profile.to_string(), info.description)).collect();
        let expected = [
            ("general".to_owned(), None),
            ("coding".to_owned(), None),
            ("team".to_owned(), Some("The team's way".to_owned())),
        ];
        assert_eq!(profiles, expected);
    }

    #[test]
    fn a_profile_that_cannot_be_read_is_an_error_and_not_another_profile() {
        let (_home, agents) = agents();
        fs::create_dir_all(agents.folder.join("coding/PROFILE.md")).unwrap();
        assert_eq!(agents.prompt(&Profile::CODING).unwrap_err().key, "session.profile_unreadable");
    }

    #[test]
    fn soul_and_user_are_the_persons_own_and_bounded() {
        let (_home, agents) = agents();
        assert!(agents.persona(PersonaKind::Soul).unwrap().contains(SOUL.trim_end()));
        assert_eq!(agents.persona(PersonaKind::User), None);
        write(&agents, "SOUL.md", "Call yourself Otto.");
        write(&agents, "USER.md", &"é".repeat(5_000));
        assert_eq!(agents.persona(PersonaKind::Soul).unwrap(), "# Who you are\n\nCall yourself Otto.");
        let user = agents.persona(PersonaKind::User).unwrap();
        assert!(user.ends_with("é… (cut here)") && user.chars().count() < PERSONA_MAX_CHARS + 50, "{user}");
        assert_eq!(agents.file(PersonaKind::User).text.chars().count(), 5_000, "the person sees all of it");
    }
}
