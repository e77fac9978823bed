use super::*;

fn role_of(path: &str) -> Option<FileRole> {
    listed_role(Path::new(path), Some(Path::new("/home/ada")))
}

#[test]
fn files_that_programs_run_later_are_code() {
    for path in [
        "/w/.git/hooks/pre-commit",
        "/w/.git/config",
        "/w/sub/.GIT/Config",
        "/w/.git/modules/x/config",
        "/w/.vscode/tasks.json",
        "/w/sub/.vscode/settings.json",
        "/w/.vscode",
        "/w/.idea/workspace.xml",
        "/w/x.code-workspace",
        "/w/.vimrc",
        "/w/.nvim/init.lua",
        "/w/.claude/settings.json",
        "/w/.mcp.json",
        "/home/ada/.gitconfig",
        "/home/ada/.config/git/config",
        "/home/ada/.config/autostart/x.desktop",
        "/home/ada/.config/systemd/user/x.service",
        "/home/ada/.local/bin/git",
        "/home/ada/.cargo/bin/rg",
        "/home/ada/.ssh/authorized_keys",
        "/etc/cron.d/x",
    ] {
        assert_eq!(role_of(path), Some(Code), "{path}");
    }
}

#[test]
fn files_that_agents_follow_are_project_rules() {
    for path in [
        "/w/AGENTS.md",
        "/w/sub/CLAUDE.md",
        "/w/.octorules",
        "/w/.cursorrules",
        "/w/.github/copilot-instructions.md",
        "/w/GEMINI.md",
        "/w/.cursor/rules/x.mdc",
        "/w/.claude/commands/x.md",
    ] {
        assert_eq!(role_of(path), Some(ProjectRules), "{path}");
    }
}

#[test]
fn ordinary_files_have_no_role() {
    for path in [
        "/w/README.md",
        "/w/Makefile",
        "/w/package.json",
        "/w/.github/workflows/ci.yml",
        "/w/.gitignore",
        "/w/.git/COMMIT_EDITMSG",
        "/w/bin/x",
        "/w/agents.md.txt",
        "/home/ada/.config/app/x",
    ] {
        assert_eq!(role_of(path), None, "{path}");
    }
}
