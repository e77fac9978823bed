//! What everyone but the tools themselves must know of a tool: its names and its kind.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The kind of work a tool does; the page counts calls by it. Each name is that of a step kind of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum ToolKind {
    /// Reads files or Octo's own records.
    Look,
    /// Changes files.
    Change,
    /// Runs commands.
    Command,
    /// Works in the person's browser.
    Browser,
    /// Reads the web.
    Web,
    /// Invokes a skill.
    Skill,
    /// Anything else.
    Other,
}

/// A tool's names and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolNames {
    /// Its own name.
    pub name: &'static str,
    /// What it does.
    pub kind: ToolKind,
    /// Names under which models know such a tool, in lower case.
    pub aliases: &'static [&'static str],
    /// Names of such a tool in skills for other programs, in lower case.
    pub skill_aliases: &'static [&'static str],
}

/// All tools, in the order of the tool set.
pub const TOOL_NAMES: &[ToolNames] = &[
    ToolNames {
        name: "terminal",
        kind: ToolKind::Command,
        aliases: &["shell", "bash", "exec", "execute", "run_command", "run", "command"],
        skill_aliases: &[
            "bash",
            "bashoutput",
            "killshell",
            "killbash",
            "shell",
            "powershell",
            "exec",
            "run_command",
        ],
    },
    ToolNames {
        name: "file_reader",
        kind: ToolKind::Look,
        aliases: &["read", "read_file", "filereader", "file_read", "cat"],
        skill_aliases: &["read", "read_file", "notebookread", "view"],
    },
    ToolNames {
        name: "write",
        kind: ToolKind::Change,
        aliases: &["write_file", "create_file", "file_write"],
        skill_aliases: &["write_file", "create_file"],
    },
    ToolNames {
        name: "edit",
        kind: ToolKind::Change,
        aliases: &["file_edit", "replace", "replace_in_file", "str_replace"],
        skill_aliases: &["multiedit", "notebookedit", "str_replace", "apply_patch"],
    },
    ToolNames {
        name: "glob",
        kind: ToolKind::Look,
        aliases: &["find_files", "list_files", "file_glob", "search_filenames"],
        skill_aliases: &["ls", "list", "find_files"],
    },
    ToolNames {
        name: "grep",
        kind: ToolKind::Look,
        aliases: &["search_files", "search_in_files", "find_in_files", "search_code"],
        skill_aliases: &["search_files"],
    },
    ToolNames {
        name: "web_search",
        kind: ToolKind::Web,
        aliases: &["search", "websearch", "internet_search", "online_search"],
        skill_aliases: &["websearch"],
    },
    ToolNames {
        name: "web_fetch",
        kind: ToolKind::Web,
        aliases: &["fetch", "webfetch", "browse", "url_fetch", "http_get"],
        skill_aliases: &["webfetch", "fetch"],
    },
    ToolNames {
        name: "todo_manager",
        kind: ToolKind::Other,
        aliases: &["todo", "task_manager"],
        skill_aliases: &["todowrite", "todoread", "taskcreate", "taskupdate", "tasklist", "taskget"],
    },
    ToolNames {
        name: "request_user_feedback",
        kind: ToolKind::Other,
        aliases: &["ask_user", "user_feedback", "ask"],
        skill_aliases: &["askuserquestion", "ask_user"],
    },
    ToolNames {
        name: "invoke_skill",
        kind: ToolKind::Skill,
        aliases: &["skill", "run_skill"],
        skill_aliases: &["task", "agent", "skill", "slashcommand"],
    },
    ToolNames { name: "undo_task", kind: ToolKind::Change, aliases: &["undo"], skill_aliases: &[] },
    ToolNames { name: "redo_task", kind: ToolKind::Change, aliases: &["redo"], skill_aliases: &[] },
    ToolNames {
        name: "list_tasks",
        kind: ToolKind::Look,
        aliases: &["tasks", "task_history"],
        skill_aliases: &[],
    },
    ToolNames {
        name: "browser",
        kind: ToolKind::Browser,
        aliases: &["browser_use", "web_browser", "chrome"],
        skill_aliases: &["browser_use", "chrome"],
    },
    ToolNames {
        name: "trash_manager",
        kind: ToolKind::Other,
        aliases: &["rm", "delete", "trash", "remove"],
        skill_aliases: &["trash", "delete"],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use ts_rs::Config;

    /// The kind of each tool as the page's constant `TOOL_KINDS`. ts-rs writes types only, so the constant follows
    /// the declaration of its type.
    struct ToolKinds;

    impl TS for ToolKinds {
        type WithoutGenerics = Self;
        type OptionInnerType = Self;

        fn name(_: &Config) -> String {
            "ToolKinds".to_owned()
        }

        fn inline(_: &Config) -> String {
            "Readonly<Record<string, ToolKind>>".to_owned()
        }

        fn docs() -> Option<String> {
            Some("/**\n * The kind of each tool, by its name.\n */\n".to_owned())
        }

        fn decl(config: &Config) -> String {
            let kind = |kind: ToolKind| serde_json::to_string(&kind).unwrap();
            let entry = |tool: &ToolNames| format!("\n  {}: {},", tool.name, kind(tool.kind));
            let kinds: String = TOOL_NAMES.iter().map(entry).collect();
            let kind = Self::inline(config);
            format!("type ToolKinds = {kind};\nexport const TOOL_KINDS: ToolKinds = {{{kinds}\n}};")
        }

        fn output_path() -> Option<PathBuf> {
            Some("protocol.ts".into())
        }
    }

    #[test]
    fn export_bindings_tool_kinds() {
        ToolKinds::export_all(&Config::from_env()).unwrap();
    }

    #[test]
    fn names_are_unambiguous() {
        let sorted_names = |field: fn(&ToolNames) -> &'static [&'static str]| {
            let mut names: Vec<&str> =
                TOOL_NAMES.iter().flat_map(|tool| field(tool).iter().copied().chain([tool.name])).collect();
            names.sort_unstable();
            names
        };
        for names in [sorted_names(|tool| tool.aliases), sorted_names(|tool| tool.skill_aliases)] {
            assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        }
    }
}
