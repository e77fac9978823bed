//! Files that become code or instructions.
//!
//! A change to such a file has effects beyond the file: a shell, git, an editor, the desktop or an agent runs or
//! follows its content later, outside the limits of the session. The file tools and the policy on commands use the same
//! roles.
//!
//! Build files, scripts and CI files have no role. They are the project's own code: a person runs them knowingly, a
//! command that runs them asks, and CI runs them on another machine after a push, which asks.

mod home;
mod links;

pub(crate) use links::RoleLinks;

use crate::{context::LineContext, names, startup::StartupFiles};
use octo_workspace::is_inside;
use std::path::{Component, Path, PathBuf};

/// The way in which a file takes effect later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRole {
    /// A shell runs it at its start.
    Startup,
    /// It instructs the agent in every session: a skill, a memory, a task.
    Instructs,
    /// A program runs it or a program it names: git's hooks and settings, editors' tasks, units, programs on the path.
    Code,
    /// Agents that work in its folder follow it.
    ProjectRules,
}

/// The folder that the entries of a row of [`LISTED`] are relative to.
#[derive(Clone, Copy)]
enum FileBase {
    /// In any folder.
    Anywhere,
    /// Directly in the person's home.
    Home,
    /// At the root of the file system.
    Root,
}

use {FileBase::*, FileRole::*};

/// The roles of files and folders, whose names are in lower case here. A folder includes everything below it. The first
/// matching row applies.
#[rustfmt::skip]
const LISTED: &[(FileBase, FileRole, &[&str])] = &[
    // Git runs hooks, and programs that its settings name.
    (Anywhere, Code, &[
        ".git/hooks", ".git/config", ".git/config.worktree", ".git/modules", ".githooks", ".hg/hgrc", ".husky",
        ".jj/repo/config.toml",
    ]),
    (Home, Code, &[".gitconfig", ".config/git", ".hgrc", ".config/hg"]),
    // Editors run tasks, and some editors run the settings of a folder.
    (Anywhere, Code, &[
        ".dir-locals.el", ".devcontainer", ".devcontainer.json", ".exrc", ".fleet", ".gvimrc", ".idea", ".lvimrc", ".nvim", ".nvim.lua", ".nvimrc",
        ".vimrc", ".vscode/launch.json", ".vscode/mcp.json", ".vscode/settings.json", ".vscode/tasks.json", ".vscode",
        ".zed",
    ]),
    (Home, Code, &[
        ".config/code", ".config/emacs", ".config/helix", ".config/nvim", ".config/vim", ".config/zed", ".emacs",
        ".emacs.d", ".vim", "library/application support/code",
    ]),
    // Agents run hooks and tool servers; the other files of their folders instruct them.
    (Anywhere, Code, &[
        ".claude/hooks", ".claude/settings.json", ".claude/settings.local.json", ".codex/config.toml",
        ".cursor/environment.json", ".cursor/hooks.json", ".cursor/mcp.json", ".gemini/settings.json", ".kiro/settings",
        ".mcp.json", ".roo/mcp.json", "mcp.json", ".aider.conf.yml",
    ]),
    (Anywhere, ProjectRules, &[
        ".agents", ".amazonq/rules", ".claude", ".clinerules", ".codex", ".continue", ".cursor", ".cursorrules", ".gemini",
        ".github/agents", ".github/chatmodes", ".github/copilot-instructions.md", ".github/instructions",
        ".github/prompts", ".goosehints", ".junie", ".kilocode", ".kiro", ".octorules", ".roo", ".roomodes", ".roorules",
        ".rules", ".windsurf", ".windsurfrules", "agents.md", "agents.override.md", "claude.local.md", "claude.md",
        "crush.md", "gemini.md", "qwen.md", "warp.md",
    ]),
    // The desktop or the system starts these.
    (Home, Code, &[
        ".config/autostart", ".config/hypr", ".config/i3", ".config/plasma-workspace", ".config/sway",
        ".config/systemd", ".local/share/applications", ".local/share/dbus-1", ".local/share/gnome-shell",
        ".local/share/systemd", ".xinitrc", ".xsession", ".xmonad", "library/launchagents",
    ]),
    // Programs on the path, and settings that name programs.
    (Home, Code, &[
        ".cargo/bin", ".cargo/config", ".cargo/config.toml", ".config/pip", ".config/tmux", ".curlrc", ".gdbinit",
        ".irbrc", ".lesskey", ".lessfilter", ".lldbinit", ".local/bin", ".mailcap", ".pdbrc", ".procmailrc", ".psqlrc",
        ".pythonrc.py", ".rprofile", ".screenrc", ".sqliterc", ".ssh", ".tmux.conf", ".wgetrc", ".yarnrc", ".yarnrc.yml",
        "bin",
    ]),
    (Root, Code, &[
        "etc/cron.d", "etc/cron.daily", "etc/cron.hourly", "etc/cron.monthly", "etc/cron.weekly", "etc/crontab",
        "etc/gitconfig", "etc/ld.so.conf.d", "etc/ld.so.preload", "etc/sudoers", "etc/sudoers.d", "etc/systemd",
        "etc/xdg/autostart", "library/launchagents", "library/launchdaemons", "usr/lib/systemd", "var/spool/cron",
    ]),
];

/// Suffixes of files that an editor opens as a project with its own tasks.
const SUFFIXES: &[(&str, FileRole)] = &[(".code-workspace", Code), (".sublime-project", Code)];

/// Returns the role of a resolved path, if it has one. A file that a link with a listed name leads to has the role of
/// the link.
pub(crate) fn role(path: &Path, context: &LineContext, startup: &StartupFiles) -> Option<FileRole> {
    own_role(path, context, startup).or_else(|| RoleLinks::around(path, context).role(path))
}

/// Returns the role that a resolved path has by its own name.
pub(crate) fn own_role(path: &Path, context: &LineContext, startup: &StartupFiles) -> Option<FileRole> {
    if startup.include(path, context) {
        return Some(Startup);
    }
    if context.instructs(path) {
        return Some(Instructs);
    }
    if context.is_in_octo_home(path) || startup.is_on_path(path) {
        return Some(Code);
    }
    listed_role(path, context.home.as_deref()).or_else(|| home::is_hidden(path, context).then_some(Code))
}

/// Returns whether a folder has no role and files get one by being in it: it is the beginning of a listed path.
pub(crate) fn begins_role(path: &Path, context: &LineContext) -> bool {
    let names = self::names(path);
    let below_home =
        context.home.as_deref().and_then(|home| names.strip_prefix(self::names(home).as_slice()));
    LISTED.iter().any(|(base, _, entries)| {
        entries.iter().any(|entry| {
            let sequence: Vec<&str> = entry.split('/').collect();
            (1..sequence.len()).filter_map(|length| sequence.get(..length)).any(|beginning| match base {
                Anywhere => ends_with(&names, beginning),
                Home => below_home
                    .is_some_and(|below| below.len() == beginning.len() && begins_with(below, beginning)),
                Root => names.len() == beginning.len() && begins_with(&names, beginning),
            })
        })
    })
}

fn listed_role(path: &Path, home: Option<&Path>) -> Option<FileRole> {
    let names = names(path);
    let below_home = home.and_then(|home| {
        let home = self::names(home);
        names.strip_prefix(home.as_slice())
    });
    let last = names.last()?;
    let row = LISTED.iter().find(|(base, _, entries)| {
        entries.iter().any(|entry| {
            let sequence: Vec<&str> = entry.split('/').collect();
            match base {
                Anywhere => contains_sequence(&names, &sequence),
                Home => below_home.is_some_and(|below| begins_with(below, &sequence)),
                Root => begins_with(&names, &sequence),
            }
        })
    });
    let suffix = || SUFFIXES.iter().find(|(suffix, _)| last.ends_with(suffix)).map(|(_, role)| *role);
    row.map(|(_, role, _)| *role).or_else(suffix)
}

/// Returns the names in a path in lower case, because many file systems ignore case.
fn names(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(names::for_comparison(name).to_lowercase()),
            _ => None,
        })
        .collect()
}

fn begins_with(names: &[String], prefix: &[&str]) -> bool {
    names.len() >= prefix.len() && names.iter().zip(prefix).all(|(name, expected)| name == expected)
}

fn ends_with(names: &[String], end: &[&str]) -> bool {
    names
        .len()
        .checked_sub(end.len())
        .and_then(|at| names.get(at..))
        .is_some_and(|last| begins_with(last, end))
}

fn contains_sequence(names: &[String], sequence: &[&str]) -> bool {
    names.windows(sequence.len()).any(|window| begins_with(window, sequence))
}

impl LineContext {
    /// Returns whether a path lies in Octo's home, outside the folders that belong to sessions: their notes and
    /// received files, and the folder of the line itself.
    fn is_in_octo_home(&self, path: &Path) -> bool {
        const SESSION_FOLDERS: &[&str] = &["scratch", "received"];
        self.octo_homes().iter().any(|home| {
            let belongs_to_session = SESSION_FOLDERS.iter().any(|name| is_inside(&home.join(name), path))
                || (self.folder != *home && is_inside(home, &self.folder) && is_inside(&self.folder, path));
            is_inside(home, path) && !belongs_to_session
        })
    }

    /// Returns every path of Octo's home, its default path included.
    fn octo_homes(&self) -> Vec<PathBuf> {
        let default = self.home.as_ref().map(|home| home.join(".octo"));
        [&self.octo_home].into_iter().chain(&self.octo_others).chain(&default).cloned().collect()
    }
}

#[cfg(test)]
mod tests;
