//! `hooks.toml`.

use serde::Deserialize;
use std::{fs, io, path::Path, time::Duration};

/// Maximum run time of a hook, in seconds: the agent waits for it.
const MAX_SECONDS: u64 = 60;
/// Default run time limit, in seconds.
const DEFAULT_SECONDS: u64 = 10;

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HookMoment {
    /// Before a session's first message goes to the model.
    SessionStart,
    /// Before a tool runs, and before the person is asked about it.
    BeforeTool,
    /// After a tool ran.
    AfterTool,
    /// After a turn failed.
    Error,
    /// After a turn finished.
    Finish,
}

impl HookMoment {
    /// Returns the name the hook receives.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session_start",
            Self::BeforeTool => "before_tool",
            Self::AfterTool => "after_tool",
            Self::Error => "error",
            Self::Finish => "finish",
        }
    }
}

/// A program and the moment it runs at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hook {
    pub(crate) moment: HookMoment,
    /// Tools it applies to; empty for all.
    pub(crate) tools: Vec<String>,
    /// A bash command line.
    pub(crate) command: String,
    pub(crate) timeout: Duration,
}

impl Hook {
    /// Whether it runs at this moment for this tool.
    pub(crate) fn applies_to(&self, moment: HookMoment, tool: Option<&str>) -> bool {
        self.moment == moment
            && tool.is_none_or(|tool| self.tools.is_empty() || self.tools.iter().any(|name| name == tool))
    }
}

/// The person's hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HookFile {
    /// The hooks in file order; empty if there is no file.
    Hooks(Vec<Hook>),
    /// The file exists but cannot be read.
    Broken {
        /// The fault and its position.
        reason: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HooksToml {
    #[serde(default, rename = "hook")]
    hooks: Vec<HookEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HookEntry {
    on: HookMoment,
    #[serde(default)]
    tools: Vec<String>,
    command: String,
    #[serde(default)]
    seconds: Option<u64>,
}

impl HookFile {
    /// Reads the file from disk. `tools` lists the names of all tools.
    pub(crate) fn read(path: &Path, tools: &[&str]) -> Self {
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, tools),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Hooks(Vec::new()),
            Err(error) => Self::Broken { reason: error.to_string() },
        }
    }

    fn parse(text: &str, tools: &[&str]) -> Self {
        let parsed: HooksToml = match toml_edit::de::from_str(text) {
            Ok(parsed) => parsed,
            Err(error) => return Self::Broken { reason: error.to_string().trim().to_owned() },
        };
        let mut hooks = Vec::with_capacity(parsed.hooks.len());
        for (index, hook) in parsed.hooks.into_iter().enumerate() {
            let about_tools = matches!(hook.on, HookMoment::BeforeTool | HookMoment::AfterTool);
            let unknown = hook.tools.iter().find(|name| !tools.contains(&name.as_str()));
            let reason = if hook.command.trim().is_empty() {
                "its command is empty".to_owned()
            } else if !about_tools && !hook.tools.is_empty() {
                format!("{} is not about tools", hook.on.name())
            } else if let Some(unknown) = unknown {
                // A hook for a misspelt name would never run.
                format!("there is no tool {unknown:?}")
            } else {
                let timeout =
                    Duration::from_secs(hook.seconds.unwrap_or(DEFAULT_SECONDS).clamp(1, MAX_SECONDS));
                hooks.push(Hook { moment: hook.on, tools: hook.tools, command: hook.command, timeout });
                continue;
            };
            return Self::Broken { reason: format!("hook {}: {reason}", index + 1) };
        }
        Self::Hooks(hooks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> HookFile {
        HookFile::parse(text, &["terminal", "write"])
    }

    #[test]
    fn a_file_is_read_whole_or_not_at_all() {
        let valid = "[[hook]]\non='before_tool'\ntools=['terminal']\ncommand='check'\nseconds=900\n[[hook]]\non='finish'\ncommand='done'\n";
        let HookFile::Hooks(hooks) = parse(valid) else { panic!("it is good") };
        assert_eq!(hooks.len(), 2);
        assert_eq!(hooks[0].timeout, Duration::from_secs(MAX_SECONDS));
        assert_eq!(hooks[1].timeout, Duration::from_secs(DEFAULT_SECONDS));
        assert!(hooks[0].applies_to(HookMoment::BeforeTool, Some("terminal")));
        assert!(!hooks[0].applies_to(HookMoment::BeforeTool, Some("write")));
        assert!(!hooks[0].applies_to(HookMoment::AfterTool, Some("terminal")));
        assert!(hooks[1].applies_to(HookMoment::Finish, None));
        assert_eq!(parse(""), HookFile::Hooks(Vec::new()));
        for (invalid, word) in [
            ("[[hook]]\non='before_tools'\ncommand='x'", "before_tools"),
            ("[[hook]]\non='finish'", "command"),
            ("[[hook]]\non='finish'\ncommand='  '", "empty"),
            ("[[hook]]\non='finish'\ncommand='x'\ntools=['write']", "not about tools"),
            ("[[hook]]\non='before_tool'\ncommand='x'\ntools=['writ']", "writ"),
            ("[[hook]]\non='finish'\ncommand='x'\nsecond=1", "second"),
            ("[[hooks]]\non='finish'\ncommand='x'", "hooks"),
            ("half a file [", "expected"),
        ] {
            let HookFile::Broken { reason } = parse(invalid) else { panic!("{invalid}") };
            assert!(reason.contains(word), "{invalid}: {reason}");
        }
    }
}
