use super::*;
use std::{fs, os::unix::fs::PermissionsExt};

/// Where a child process finds the folder of its test.
const PLACE: &str = "OCTO_TEST_PLACE";

/// A repository and a home whose settings and attributes name a program for everything git can start one for.
struct HostileFolder {
    root: PathBuf,
    repository: PathBuf,
}

impl HostileFolder {
    fn create(root: &Path) -> Self {
        let folder = Self { root: root.to_owned(), repository: root.join("work/repository") };
        fs::create_dir_all(folder.home()).unwrap();
        fs::create_dir_all(&folder.repository).unwrap();
        let evil = folder.evil();
        fs::write(&evil, format!("#!/bin/sh\ntouch {}\n[ -t 0 ] || cat\n", folder.canary().display()))
            .unwrap();
        fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
        folder.make_repositories();
        folder.make_hostile();
        folder
    }

    fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    fn evil(&self) -> PathBuf {
        self.root.join("evil")
    }

    /// The file that the hostile program makes.
    fn canary(&self) -> PathBuf {
        self.root.join("ran")
    }

    /// Runs git as a person does.
    fn git(&self, folder: &Path, arguments: &[&str]) -> std::process::Output {
        let mut git = Command::new("git");
        for name in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{name}_NAME"), "n").env(format!("GIT_{name}_EMAIL"), "e@example.org");
        }
        git.args(arguments)
            .current_dir(folder)
            .env("HOME", self.home())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn done(&self, folder: &Path, arguments: &[&str]) {
        let output = self.git(folder, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Makes a repository with a changed file, a stash, and a submodule with a changed file.
    fn make_repositories(&self) {
        let (repository, module) = (&self.repository, self.repository.join("module"));
        for folder in [repository, &module] {
            self.done(self.root.as_path(), &["init", "-q", &folder.display().to_string()]);
            fs::write(folder.join("a"), "one\n").unwrap();
            self.done(folder, &["add", "a"]);
            self.done(folder, &["commit", "-qm", "one"]);
        }
        self.done(repository, &["-c", "advice.addEmbeddedRepo=false", "add", "module"]);
        self.done(repository, &["commit", "-qm", "two"]);
        fs::write(repository.join("a"), "stashed\n").unwrap();
        self.done(repository, &["stash", "-q"]);
        self.stir();
    }

    /// Changes files so that git has to read them.
    fn stir(&self) {
        for folder in [&self.repository, &self.repository.join("module")] {
            fs::write(folder.join("a"), "two\n").unwrap();
            // Of the same content, with another time.
            fs::write(folder.join("b"), "one\n").unwrap();
        }
    }

    fn make_hostile(&self) {
        let module = self.repository.join("module");
        for scope in ["--global", "--local"] {
            for (name, value) in self.settings() {
                self.done(&self.repository, &["config", scope, &name, &value]);
            }
        }
        self.done(&module, &["config", "core.fsmonitor", &self.evil().display().to_string()]);
        let attributes = "* diff=x filter=x merge=x\n";
        fs::create_dir_all(self.home().join(".config/git")).unwrap();
        fs::create_dir_all(self.repository.join(".git/info")).unwrap();
        for file in [
            self.repository.join(".gitattributes"),
            self.repository.join(".git/info/attributes"),
            self.home().join(".config/git/attributes"),
            module.join(".gitattributes"),
        ] {
            fs::write(file, attributes).unwrap();
        }
        let hooks = self.repository.join(".git/hooks");
        for name in ["pre-commit", "post-index-change", "post-checkout", "reference-transaction"] {
            fs::copy(self.evil(), hooks.join(name)).unwrap();
        }
        // A folder of the repository that poses as one of the system.
        fs::create_dir_all(self.repository.join("bin")).unwrap();
        fs::copy(self.evil(), self.repository.join("bin/git")).unwrap();
    }

    fn settings(&self) -> Vec<(String, String)> {
        let evil = self.evil().display().to_string();
        const PROGRAMS: &[&str] = &[
            "alias.whatchanged",
            "core.alternateRefsCommand",
            "core.askPass",
            "core.editor",
            "core.fsmonitor",
            "core.pager",
            "core.sshCommand",
            "credential.helper",
            "diff.external",
            "diff.x.command",
            "diff.x.textconv",
            "filter.x.clean",
            "filter.x.process",
            "filter.x.smudge",
            "gc.recentObjectsHook",
            "gpg.program",
            "gpg.ssh.defaultKeyCommand",
            "gpg.ssh.program",
            "interactive.diffFilter",
            "merge.x.driver",
            "pager.diff",
            "pager.log",
            "sequence.editor",
        ];
        let programs = PROGRAMS.iter().map(|name| ((*name).to_owned(), evil.clone()));
        let others = [
            ("log.showSignature", "true".to_owned()),
            ("diff.submodule", "log".to_owned()),
            ("status.submoduleSummary", "true".to_owned()),
            ("filter.x.required", "true".to_owned()),
            ("core.hooksPath", self.repository.join(".git/hooks").display().to_string()),
            ("protocol.ext.allow", "always".to_owned()),
            ("trace2.normalTarget", self.canary().display().to_string()),
            ("trace2.eventTarget", self.canary().display().to_string()),
        ];
        programs.chain(others.map(|(name, value)| (name.to_owned(), value))).collect()
    }

    fn forget(&self) {
        if self.canary().exists() {
            fs::remove_file(self.canary()).unwrap();
        }
        self.stir();
    }
}

/// Every kind of query the policy makes.
const QUERIES: &[&[&str]] = &[
    &["config", "--list", "--null", "--name-only", "--show-scope"],
    &["config", "--list", "--null", "--show-scope"],
    &["config", "--null", "--get-regexp", r"^filter\."],
    &["ls-files", "--stage", "-z"],
    &["ls-files", "-z"],
    &["ls-files", "-z", "--full-name", "-m", "-o", "--exclude-standard", "--", ":/"],
    &["cat-file", "-t", "HEAD"],
    &["rev-parse", "-q", "--verify", "HEAD"],
    &["rev-parse", "-q", "--verify", "refs/stash"],
    &["diff", "--name-only", "-z", "--no-renames"],
    &["diff", "--name-only", "-z", "--no-renames", "-Gone", "--", "a"],
    &["diff", "--cached", "--name-only", "-z", "--no-renames"],
    &["diff", "--name-only", "-z", "--no-renames", "HEAD", "HEAD~1", "--"],
    &["diff-tree", "--name-only", "-z", "--no-renames", "HEAD"],
    &["log", "--name-only", "-z", "--format=", "-m", "-Gone"],
    &["show", "--name-only", "-z", "--format=", "-m", "--no-renames", "HEAD"],
    &["stash", "show", "--name-only", "-z", "--no-renames", "--include-untracked"],
    &["stash", "list", "--name-only", "-z", "--format=", "-m"],
    &["grep", "-l", "-z", "two"],
];

/// A child process has the home of the test and its folder on the path.
#[test]
fn no_query_starts_what_settings_or_attributes_name() {
    let Some(root) = std::env::var_os(PLACE) else {
        let folder = octo_testkit::test_folder();
        let root = folder.path().canonicalize().unwrap();
        let hostile = HostileFolder::create(&root);
        let path = std::env::var("PATH").unwrap();
        let path = format!("bin:{}:{path}", hostile.repository.join("bin").display());
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args([
            "--exact",
            "git::tests::no_query_starts_what_settings_or_attributes_name",
            "--nocapture",
        ]);
        child
            .env(PLACE, &root)
            .env("HOME", hostile.home())
            .env("PATH", path)
            .env("GIT_EXTERNAL_DIFF", hostile.evil());
        child.env_remove("XDG_CONFIG_HOME").env_remove("NEXTEST");
        let output = child.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    };
    let root = PathBuf::from(root);
    let hostile = HostileFolder { repository: root.join("work/repository"), root };
    for query in QUERIES {
        hostile.forget();
        let answer = git_answer(&hostile.repository, query);
        assert!(!hostile.canary().exists(), "{query:?} started a program");
        assert!(answer.is_some(), "{query:?} answers");
    }
    let changed = git_answer(&hostile.repository, &["diff", "--name-only", "-z"]);
    assert_eq!(changed.as_deref(), Some("a\0"));
    // The time machine's own.
    hostile.forget();
    let repository = crate::time::git::GitRepository::find(&hostile.repository).unwrap();
    assert_eq!(repository.data(), hostile.repository.join(".git"));
    assert!(!hostile.canary().exists());
    // As a person runs them, some do: the test can fail.
    let mut started = 0;
    for query in QUERIES {
        hostile.forget();
        hostile.git(&hostile.repository, query);
        started += usize::from(hostile.canary().exists());
    }
    assert!(started > QUERIES.len() / 2, "only {started}");
}

#[test]
fn the_persons_settings_apply_only_where_they_are_to() {
    let folder = octo_testkit::test_folder();
    let value = |personal| {
        let mut git = git_command(folder.path(), personal).unwrap();
        fs::write(folder.path().join(".gitconfig"), "[user]\nname = Ada\n").unwrap();
        let output =
            git.env("HOME", folder.path()).env_remove("XDG_CONFIG_HOME").args(["config", "user.name"]);
        String::from_utf8(output.output().unwrap().stdout).unwrap()
    };
    assert_eq!(value(PersonalSettings::Apply), "Ada\n");
    assert_eq!(value(PersonalSettings::Ignored), "");
}

#[test]
fn a_query_that_fails_has_no_answer() {
    let folder = octo_testkit::test_folder();
    assert!(git_answer(folder.path(), &["config", "--list"]).is_some(), "the overrides are settings too");
    assert_eq!(git_answer(folder.path(), &["no-such-command"]), None);
}
