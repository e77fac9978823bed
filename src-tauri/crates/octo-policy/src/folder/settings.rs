//! Which settings of git could start a program in a command that runs without approval.
//!
//! The environment of such a command switches off what it can ([`octo_workspace::git_overrides`]). Left are programs
//! whose settings have names of their own, `diff.external`, and what a repository may choose.

use super::GitQuery;
use crate::{plain::Simple, programs};
use std::path::Path;

/// What the git commands of a line do that makes git look at more settings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GitUse {
    differences: Differences,
    new_repository: NewRepository,
}

/// Whether git may show differences, for which it starts external diffs and text converters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Differences {
    Shown,
    #[default]
    None,
}

/// Whether git makes a repository, for which conditional settings may begin to apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum NewRepository {
    Made,
    #[default]
    None,
}

impl GitUse {
    /// Returns what the git commands among these do.
    pub(crate) fn of<'a>(commands: impl Iterator<Item = &'a Simple>) -> Self {
        let mut all = Self::default();
        for words in commands.map(|command| command.words.as_slice()) {
            let [name, arguments @ ..] = words else { continue };
            if name.text != "git" {
                continue;
            }
            if programs::git::may_show_differences(arguments) {
                all.differences = Differences::Shown;
            }
            if arguments.iter().any(|word| word.text == "init") {
                all.new_repository = NewRepository::Made;
            }
        }
        all
    }
}

/// Whether no setting that applies in a repository could start a program, and it has no submodules.
pub(crate) fn is_harmless(repository: &Path, git: GitQuery, git_use: GitUse) -> bool {
    if !are_harmless(repository, git, git_use) {
        return false;
    }
    let Some(index) = git(repository, &["ls-files", "--stage", "-z"]) else { return false };
    !index.split('\0').any(|entry| entry.starts_with("160000"))
}

/// Whether no setting that applies in a folder could start a program.
pub(crate) fn are_harmless(folder: &Path, git: GitQuery, git_use: GitUse) -> bool {
    let Some(settings) = git(folder, &["config", "--list", "--null", "--name-only", "--show-scope"]) else {
        return false;
    };
    let mut fields = settings.split('\0');
    let mut has_filter = false;
    while let Some(scope) = fields.next().filter(|scope| !scope.is_empty()) {
        let Some(name) = fields.next() else { return false };
        let is_harmless = match scope {
            // Settings of the system are an administrator's, and those of the command are Octo's.
            "system" | "command" => true,
            "global" => is_harmless_personal_setting(name, git_use),
            _ => is_harmless_setting(name),
        };
        if !is_harmless {
            return false;
        }
        has_filter |= scope == "global" && name.starts_with("filter.");
    }
    !has_filter || has_only_usual_filter(folder, git)
}

/// Settings in the person's home. Most of them name no program that a command without approval could start, or the
/// environment replaces them.
fn is_harmless_personal_setting(name: &str, git_use: GitUse) -> bool {
    let Some((section, rest)) = name.split_once('.') else { return false };
    let last = rest.rsplit('.').next().unwrap_or(rest);
    match section {
        // Newer versions of git let an alias replace a deprecated command.
        "alias" => !rest.split('.').next().is_some_and(programs::git::is_known_command),
        "diff" if git_use.differences == Differences::None => true,
        "diff" => rest != "external" && !matches!(last, "command" | "textconv"),
        // Its value is looked at too.
        "filter" => rest.starts_with("lfs."),
        "gc" => rest != "recentobjectshook",
        "hook" => false,
        // Included settings are listed too, unless their condition becomes true only while the line runs.
        "includeif" => !rest.starts_with("onbranch:") && git_use.new_repository == NewRepository::None,
        "lfs" => {
            let names_program = ["customtransfer.", "extension."].iter().any(|start| rest.starts_with(start));
            !names_program && !matches!(last, "standalonetransferagent" | "url")
        }
        "merge" => last != "driver",
        _ => true,
    }
}

/// Whether the filter that the person's settings name is the one `git lfs install` sets up.
fn has_only_usual_filter(folder: &Path, git: GitQuery) -> bool {
    const USUAL: &[(&str, &[&str])] = &[
        ("filter.lfs.clean", &["git-lfs clean -- %f"]),
        ("filter.lfs.smudge", &["git-lfs smudge -- %f", "git-lfs smudge --skip -- %f"]),
        ("filter.lfs.process", &["git-lfs filter-process", "git-lfs filter-process --skip"]),
        ("filter.lfs.required", &["true", "false"]),
    ];
    let Some(filters) = git(folder, &["config", "--null", "--get-regexp", r"^filter\."]) else {
        return false;
    };
    filters.split('\0').filter(|setting| !setting.is_empty()).all(|setting| {
        let Some((name, value)) = setting.split_once('\n') else { return false };
        USUAL.iter().any(|(usual, values)| *usual == name && values.contains(&value))
    })
}

/// Returns whether a repository may have this setting. `name` is as git prints it: in lower case except for the middle
/// part.
fn is_harmless_setting(name: &str) -> bool {
    // Without `verbose`, with which a commit prints differences.
    const COMMIT: &[&str] = &["cleanup", "gpgsign", "status", "template"];
    #[rustfmt::skip]
    const CORE: &[&str] = &[
        "abbrev", "autocrlf", "bare", "bigfilethreshold", "checkstat", "commitgraph", "compression", "eol",
        "filemode", "ignorecase", "logallrefupdates", "longpaths", "multipackindex", "precomposeunicode",
        "preloadindex", "protecthfs", "protectntfs", "quotepath", "repositoryformatversion", "safecrlf",
        "sharedrepository", "sparsecheckout", "sparsecheckoutcone", "symlinks", "trustctime", "untrackedcache",
        "whitespace",
    ];
    #[rustfmt::skip]
    const DIFF: &[&str] = &[
        "algorithm", "colormoved", "colormovedws", "context", "indentheuristic", "interhunkcontext",
        "mnemonicprefix", "noprefix", "renamelimit", "renames", "wserrorhighlight",
    ];
    #[rustfmt::skip]
    const EXTENSIONS: &[&str] = &["compatobjectformat", "noop", "objectformat", "refstorage", "relativeworktrees", "worktreeconfig"];
    // Without `recentobjectshook`, which names a program.
    #[rustfmt::skip]
    const GC: &[&str] = &[
        "aggressivedepth", "aggressivewindow", "auto", "autodetach", "autopacklimit", "bigpackthreshold", "cruftpacks",
        "logexpiry", "maxcruftsize", "packrefs", "pruneexpire", "reflogexpire", "reflogexpireunreachable",
        "rerereresolved", "rerereunresolved", "worktreepruneexpire", "writecommitgraph",
    ];
    // Without `templatedir`, whose folder may contain hooks.
    const INIT: &[&str] = &["defaultbranch", "defaultobjectformat", "defaultrefformat"];
    // Without extensions and transfer agents, which are programs, and `lfs.url`, from which the filter fetches.
    const LFS: &[&str] = &["fetchexclude", "fetchinclude", "repositoryformatversion"];
    const LFS_OF_URL: &[&str] = &["access", "locksverify"];
    // Without drivers, which are programs that `.gitattributes` assigns to files.
    #[rustfmt::skip]
    const MERGE: &[&str] = &[
        "autostash", "branchdesc", "conflictstyle", "defaulttoupstream", "directoryrenames", "ff", "log", "renamelimit",
        "renames", "renormalize", "stat", "suppressdest", "verbosity", "verifysignatures",
    ];
    #[rustfmt::skip]
    const PACK: &[&str] = &[
        "allowpackreuse", "compression", "deltacachelimit", "deltacachesize", "depth", "indexversion", "packsizelimit",
        "readreverseindex", "threads", "usebitmaps", "usesparse", "window", "windowmemory", "writebitmaphashcache",
        "writereverseindex",
    ];
    const REMOTE: &[&str] =
        &["fetch", "gh-resolved", "prune", "prunetags", "push", "pushurl", "tagopt", "url"];
    let Some((section, rest)) = name.split_once('.') else { return false };
    let last = rest.rsplit('.').next().unwrap_or(rest);
    match section {
        "commit" => COMMIT.contains(&rest),
        "core" => CORE.contains(&rest),
        "diff" => DIFF.contains(&rest),
        "extensions" => EXTENSIONS.contains(&rest),
        "gc" => GC.contains(&rest),
        "init" => INIT.contains(&rest),
        // `git lfs install --local` writes a filter, which asks like any other filter.
        "lfs" => LFS.contains(&rest) || LFS_OF_URL.contains(&last),
        "merge" => MERGE.contains(&rest),
        "pack" => PACK.contains(&rest),
        "remote" => REMOTE.contains(&last),
        // No setting of these sections names a program for a command that runs unasked.
        "advice" | "apply" | "branch" | "checkout" | "clean" | "color" | "column" | "fetch" | "gui"
        | "i18n" | "index" | "maintenance" | "notes" | "pull" | "push" | "rebase" | "receive" | "rerere"
        | "reset" | "stash" | "status" | "tag" | "transfer" | "user" | "versionsort" => true,
        _ => false,
    }
}
