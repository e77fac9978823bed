//! Start-up files of shells, in a home with a dotfiles repository that it links to.

use crate::{
    FileRole, Language, LineContext, OpenPaths, PathVerdict, Policy, PolicyContext, StartupFiles, assess,
    read_path, write_path,
};
use std::{fs, os::unix::fs::symlink, path::PathBuf};

struct Home {
    _keep: tempfile::TempDir,
    context: LineContext,
}

fn home() -> Home {
    let keep = tempfile::tempdir().unwrap();
    let home = keep.path().canonicalize().unwrap().join("ada");
    for folder in ["dotfiles/config/fish", "project", ".config"] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    fs::write(home.join("dotfiles/zsh-settings"), "").unwrap();
    symlink("dotfiles/zsh-settings", home.join(".zshrc")).unwrap();
    symlink("../dotfiles/config/fish", home.join(".config/fish")).unwrap();
    let context = LineContext {
        folder: home.clone(),
        octo_home: home.join(".octo"),
        home: Some(home),
        octo_others: Vec::new(),
        processes: Vec::new(),
        language: Language::Bash,
    };
    Home { _keep: keep, context }
}

impl Home {
    fn verdict(&self, path: &str) -> PathVerdict {
        let open = OpenPaths { folder: &self.context.folder, readable: &[], writable: &[] };
        let path = octo_workspace::resolve_links(&self.context.folder.join(path)).unwrap();
        write_path(&path, open, &self.context, &Policy::default(), &StartupFiles::default())
    }

    fn written(&self, line: &str) -> Option<PathBuf> {
        let (policy, startup) = (Policy::default(), StartupFiles::default());
        let policy_context = PolicyContext {
            context: &self.context,
            policy: &policy,
            rules: &[],
            startup: &startup,
            git: octo_testkit::git_answer,
        };
        let written = assess(line, &[], policy_context).change?.path;
        Some(written.strip_prefix(&self.context.folder).unwrap_or(&written).to_owned())
    }
}

#[test]
fn start_up_files_are_recognised_by_their_paths() {
    let home = home();
    for path in [
        ".profile",
        ".bash_profile",
        ".bash_login",
        ".bashrc",
        ".BASHRC",
        ".zshenv",
        ".zprofile",
        ".zshrc",
        ".zlogin",
        ".config/zsh/.zshrc",
        ".kshrc",
        ".mkshrc",
        ".inputrc",
        ".config/fish/config.fish",
        ".config/fish/conf.d/new.fish",
        ".config/fish/functions/ls.fish",
        ".config/nushell/config.nu",
        ".config/environment.d/x.conf",
        "Documents/PowerShell/profile.ps1",
        // Files that the home links to.
        "dotfiles/zsh-settings",
        "dotfiles/config/fish/config.fish",
        // It would replace the folder.
        ".config/nushell",
        "/etc/profile.d/new.sh",
    ] {
        assert_eq!(home.verdict(path), PathVerdict::Role(FileRole::Startup), "{path}");
    }
    for path in [
        "project/.bashrc",
        "project/.profile",
        "dotfiles/bashrc",
        ".cache/app/x",
        ".local/share/Trash/files/x",
        "a",
        "",
    ] {
        assert_eq!(home.verdict(path), PathVerdict::Open, "{path}");
    }
}

#[test]
fn hidden_names_of_a_home_are_code_for_a_session_that_works_there() {
    let mut home = home();
    let hidden = [
        ".profile.bak",
        ".config",
        ".config/app/config.fish",
        ".config/openbox/autostart",
        ".cargo/env",
        ".local/lib/python3.11/site-packages/usercustomize.py",
        ".local/share/fish/fish_history",
        ".docker/cli-plugins/docker-compose",
        ".gradle/init.d/x.gradle",
        ".nvm/nvm.sh",
        ".forward",
        ".claude.json",
        "Library/LaunchAgents/x.plist",
        "AppData/Roaming/x",
    ];
    for path in hidden {
        assert_eq!(home.verdict(path), PathVerdict::Role(FileRole::Code), "{path}");
    }
    let person = home.context.folder.clone();
    home.context.folder = person.parent().unwrap().to_owned();
    let below = person.file_name().unwrap().to_str().unwrap().to_owned();
    for path in hidden {
        assert_eq!(home.verdict(&format!("{below}/{path}")), PathVerdict::Role(FileRole::Code), "{path}");
    }
    home.context.folder = person.join(".config");
    assert_eq!(home.verdict("openbox/autostart"), PathVerdict::Role(FileRole::Code));
    home.context.folder = person.join(".config/app");
    assert_eq!(home.verdict("settings.toml"), PathVerdict::Open);
    home.context.folder = person.join("project");
    assert_eq!(home.verdict(".eslintrc"), PathVerdict::Open);
}

#[test]
fn the_words_of_an_unknown_line_name_the_start_up_file_it_writes() {
    let home = home();
    for (line, written) in [
        ("make && echo x >> ~/.bashrc", ".bashrc"),
        ("make; cat x > $HOME/.profile", ".profile"),
        ("curl -o ~/.zshenv https://x.example", ".zshenv"),
        ("make | tee -a project/x .profile", ".profile"),
        ("cd project; cp -r skel/.profile ..", ".profile"),
        ("install -m 644 skel/.profile ~", ".profile"),
        ("cp -t ~ skel/.profile; make", ".profile"),
        ("sudo cp x /etc/profile.d/x.sh", "/etc/profile.d/x.sh"),
        ("bash -c 'echo x >> ~/.zshrc'", "dotfiles/zsh-settings"),
        ("make; dd if=x of=.bash_login", ".bash_login"),
        ("perl -pi -e s/a/b/ .config/fish/config.fish", "dotfiles/config/fish/config.fish"),
        ("for f in .bashrc .zshenv; do make > $f; done", ".bashrc"),
    ] {
        assert_eq!(home.written(line), Some(PathBuf::from(written)), "{line}");
    }
    for line in [
        "source ~/.bashrc && make",
        "make < .profile",
        "cat ~/.profile",
        "cp ~/.profile project/",
        "make > project/.profile",
        "bash .profile",
        "git diff --no-index .profile x",
    ] {
        assert_eq!(home.written(line), None, "{line}");
    }
}

/// Paths in temporary folders have the verdict of the same paths elsewhere: homes and projects can be there too.
#[test]
fn temporary_folders_are_like_others() {
    let policy = Policy::default();
    for base in ["/srv", "/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from) {
        let home = base.join("ada");
        let context = LineContext {
            folder: home.join("project"),
            octo_home: home.join(".octo"),
            home: Some(home.clone()),
            octo_others: Vec::new(),
            processes: Vec::new(),
            language: Language::Bash,
        };
        let own = base.join("octo-1a2b3c4d/session");
        let open = OpenPaths { folder: &context.folder, readable: &[], writable: std::slice::from_ref(&own) };
        for (path, expected) in [
            ("ada/project/a", PathVerdict::Open),
            ("octo-1a2b3c4d/session/a", PathVerdict::Open),
            ("octo-1a2b3c4d/other/a", PathVerdict::Outside),
            ("a", PathVerdict::Outside),
            ("ada/notes", PathVerdict::Outside),
            ("other-project/a", PathVerdict::Outside),
            ("ada/.ssh/authorized_keys", PathVerdict::Role(FileRole::Code)),
            ("ada/.profile", PathVerdict::Role(FileRole::Startup)),
        ] {
            let verdict = write_path(&base.join(path), open, &context, &policy, &StartupFiles::default());
            assert_eq!(verdict, expected, "{} {path}", base.display());
        }
        for (path, expected) in [
            ("ada/.ssh/id_rsa", PathVerdict::Secret),
            ("other/.ssh/id_rsa", PathVerdict::Secret),
            ("other-project/a", PathVerdict::Outside),
        ] {
            let verdict = read_path(&base.join(path), open, &context, &policy);
            assert_eq!(verdict, expected, "{} {path}", base.display());
        }
    }
}
