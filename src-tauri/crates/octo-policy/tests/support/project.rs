//! The project of the corpora: a repository with a secret, and with links as a hostile repository may have them.

use octo_policy::{
    Assessment, Language, LineContext, OpenPaths, PathVerdict, Policy, PolicyContext, StartupFiles,
    TouchedPaths, Verdict, assess, read_path, write_path,
};
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

/// A project and its surroundings in a temporary folder.
pub struct Project {
    _keep: tempfile::TempDir,
    /// The temporary folder, with links resolved.
    pub root: PathBuf,
    /// The context in which lines run.
    pub context: LineContext,
}

/// The committed files.
const COMMITTED: &[&str] = &[
    "README.md",
    "notes.txt",
    "data.csv",
    "data.json",
    "src/main.rs",
    "src/lib.rs",
    "src/app.py",
    "sub/deep/a.txt",
];

/// The committed links and their targets.
const LINKS: &[(&str, &str)] = &[
    ("f01", ".env"),
    ("f02", "../outside.txt"),
    ("g01", ".git/hooks/post-commit"),
    ("g02", ".git/config"),
    ("h01", "../outside/written"),
    ("d01", "../outside"),
];

impl Project {
    /// Creates a project.
    pub fn new() -> Self {
        let keep = tempfile::tempdir().expect("a folder");
        let root = keep.path().canonicalize().expect("a real path");
        let (folder, home) = (root.join("project"), root.join("home"));
        for made in ["project/src", "project/sub/deep", "outside", "home/.ssh"] {
            fs::create_dir_all(root.join(made)).expect("a folder");
        }
        for (name, text) in [
            ("outside.txt", "outside\n"),
            ("outside/secret.txt", "secret\n"),
            ("outside/old.txt", "old\n"),
            ("home/.ssh/id_ed25519", "key\n"),
            ("home/.bashrc", "\n"),
            ("home/.gitconfig", "[user]\n name = n\n email = n@example.org\n"),
        ] {
            fs::write(root.join(name), text).expect("a file");
        }
        for name in COMMITTED {
            fs::write(folder.join(name), "{\"a\": 1}\n").expect("a file");
        }
        for (link, target) in LINKS {
            symlink(target, folder.join(link)).expect("a link");
        }
        let context = LineContext {
            folder: folder.clone(),
            home: Some(home.clone()),
            octo_home: home.join(".octo"),
            octo_others: Vec::new(),
            processes: vec![4242],
            language: Language::Bash,
        };
        let project = Self { _keep: keep, root, context };
        for arguments in [
            &["init", "-q", "-b", "main"][..],
            &["add", "-A"],
            &["commit", "-qm", "first"],
            &["commit", "-q", "--allow-empty", "-m", "second"],
            &["tag", "v1"],
            &["checkout", "-q", "-b", "evil"],
        ] {
            project.git(arguments);
        }
        symlink(".git/hooks/post-commit", folder.join("swap2.txt")).expect("a link");
        for arguments in [&["add", "-A"][..], &["commit", "-qm", "evil"], &["checkout", "-q", "main"]] {
            project.git(arguments);
        }
        fs::write(folder.join(".env"), "KEY=secret\n").expect("a file");
        fs::write(folder.join("notes.txt"), "{\"a\": 1}\nmore\n").expect("a file");
        fs::write(folder.join("draft.txt"), "draft\n").expect("a file");
        project
    }

    fn git(&self, arguments: &[&str]) {
        let done = Command::new("git")
            .args(arguments)
            .current_dir(&self.context.folder)
            .env("HOME", self.root.join("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .status()
            .expect("git");
        assert!(done.success(), "{arguments:?}");
    }

    /// Returns the assessment of a line.
    pub fn assessment(&self, line: &str) -> Assessment {
        let (policy, startup) = (Policy::default(), StartupFiles::default());
        let git = octo_testkit::git_answer;
        assess(
            line,
            &[],
            PolicyContext { context: &self.context, policy: &policy, rules: &[], startup: &startup, git },
        )
    }

    /// Returns the paths that a line touches, if a session that asks before risky actions would run it unasked.
    pub fn unasked(&self, line: &str) -> Option<TouchedPaths> {
        let assessment = self.assessment(line);
        let Verdict::Known(known) = assessment.verdict else { return None };
        // Another line would run instead.
        if assessment.rewritten.is_some() {
            return None;
        }
        let resolved = |text: &String| octo_workspace::resolve(text, &self.context.folder).ok();
        let all = |paths: &[String], open: &dyn Fn(&Path) -> bool| {
            paths.iter().all(|path| resolved(path).is_some_and(|path| open(&path)))
        };
        let is_project_folder = |path: &Path| path == self.context.folder;
        let open = assessment.change.is_none()
            && all(&known.reads, &|path| self.may_read(path))
            && all(&known.writes, &|path| self.may_write(path))
            && all(&known.removes, &|path| self.may_write(path) && !is_project_folder(path))
            && known.repositories.iter().all(|path| octo_workspace::is_inside(&self.context.folder, path));
        open.then_some(known)
    }

    fn open_paths(&self) -> OpenPaths<'_> {
        OpenPaths { folder: &self.context.folder, readable: &[], writable: &[] }
    }

    /// Returns whether the policy opens a real path for reading.
    pub fn may_read(&self, path: &Path) -> bool {
        read_path(path, self.open_paths(), &self.context, &Policy::default()) == PathVerdict::Open
    }

    /// Returns whether the policy opens a real path for writing.
    pub fn may_write(&self, path: &Path) -> bool {
        let (policy, startup) = (Policy::default(), StartupFiles::default());
        write_path(path, self.open_paths(), &self.context, &policy, &startup) == PathVerdict::Open
    }
}
