//! The system prompt, built once per session and byte-frozen, and the notices in the conversation for facts
//! that change: date, model, system and folder.
//!
//! Layers of the system prompt, joined by blank lines: the profile, the part common to all profiles, the
//! folder's own rules, SOUL.md and USER.md, and the skills. It does not depend on the clock, the model or the
//! machine, so the same folder gives the same bytes and sessions can share a provider's cache.

mod agents;
mod rules;

pub(crate) use agents::{AgentFiles, MAX_PERSONA};
use octo_protocol::{ApiError, Block, NoticeKind, PersonaKind, Profile};
use std::path::Path;

const BASE: &str = include_str!("prompt/base.md");

/// Builds the system prompt of a new session in this folder. Reads the person's files and the folder's rule
/// files; call it off the async threads.
///
/// # Errors
/// `session.profile_*` if the profile does not exist or cannot be read.
pub(crate) fn system_prompt(
    profile: &Profile,
    folder: &Path,
    agents: &AgentFiles,
    skills: &str,
) -> Result<String, ApiError> {
    let layers = [
        Some(agents.prompt(profile)?),
        Some(BASE.trim_end().to_owned()),
        rules::project_rules(folder),
        agents.persona(PersonaKind::Soul),
        agents.persona(PersonaKind::User),
        (!skills.is_empty()).then(|| skills.trim_end().to_owned()),
    ];
    Ok(layers.into_iter().flatten().collect::<Vec<_>>().join("\n\n"))
}

/// A session's surroundings in the form the model sees. A new notice is appended only if they differ from the
/// last notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Surroundings {
    /// Today's date and weekday, for example `2026-11-21, Saturday`.
    pub date: String,
    /// The vendor's name of the model, or `None` in the demo.
    pub model: Option<String>,
    /// The working directory.
    pub folder: String,
}

impl Surroundings {
    /// Returns the current surroundings.
    pub(crate) fn now(model: Option<String>, folder: String) -> Self {
        let date = jiff::Zoned::now().strftime("%Y-%m-%d, %A").to_string();
        Self { date, model, folder }
    }

    /// Returns the notice for the model.
    pub(crate) fn notice(&self) -> Block {
        let model = self.model.as_deref().map(|model| format!(" Model: {model}.")).unwrap_or_default();
        let text = format!(
            "Today is {}.{model} System: {}. Working directory: {}{}",
            self.date,
            system_name(),
            self.folder,
            shell_notice(octo_shell::language()),
        );
        Block::Notice { kind: NoticeKind::Context, text }
    }
}

/// Returns the facts about the shell that the terminal's description, which is the same on every system, does
/// not contain.
fn shell_notice(language: octo_policy::Language) -> &'static str {
    match language {
        octo_policy::Language::Bash => "",
        octo_policy::Language::PowerShell => {
            "\nThis machine has no bash: the terminal runs PowerShell, so write PowerShell. The directory and environment variables carry over, functions do not."
        }
    }
}

fn system_name() -> &'static str {
    match std::env::consts::OS {
        "macos" => "macOS",
        "windows" => "Windows",
        "linux" => "Linux",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_folder_gives_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("AGENTS.md"), "Use tabs.").unwrap();
        let agents = AgentFiles::new(folder.path());
        let prompt = |profile| system_prompt(&profile, folder.path(), &agents, "# Skills").unwrap();
        let first = prompt(Profile::CODING);
        assert_eq!(first, prompt(Profile::CODING));
        assert!(first.ends_with("\n\n# Skills"));
        assert!(first.contains("Use tabs."));
        assert!(
            !first.contains(&folder.path().display().to_string()),
            "the folder's path is not in the prefix"
        );
        assert_ne!(first, prompt(Profile::GENERAL));
    }

    #[test]
    fn the_fixed_prompt_stays_small() {
        // Part of every request of every session: at four bytes per token, under a thousand tokens.
        let folder = tempfile::tempdir().unwrap();
        for profile in [Profile::GENERAL, Profile::CODING] {
            let agents = AgentFiles::new(folder.path());
            let bytes = system_prompt(&profile, folder.path(), &agents, "").unwrap().len();
            assert!(bytes < 4_000, "{profile:?}: {bytes} bytes");
        }
    }

    #[test]
    fn surroundings_are_told_as_a_notice() {
        let surroundings =
            Surroundings { date: "2026-11-21, Saturday".into(), model: None, folder: "/w".into() };
        let Block::Notice { kind: NoticeKind::Context, text } = surroundings.notice() else {
            panic!("a context notice")
        };
        assert!(text.starts_with("Today is 2026-11-21, Saturday. System: "));
        assert!(text.ends_with("Working directory: /w"));
    }
}
