//! Lasting effects of a line, and effects that are not listed.

use crate::{Language, LastingPart, LineContext, Policy, PolicyContext, StartupFiles, assess, typed};
use octo_protocol::LastingKind::{self, *};
use std::path::PathBuf;

fn context() -> LineContext {
    LineContext {
        folder: PathBuf::from("/nowhere/work"),
        home: Some(PathBuf::from("/nowhere")),
        octo_home: PathBuf::from("/nowhere/.octo"),
        octo_others: Vec::new(),
        processes: Vec::new(),
        language: Language::Bash,
    }
}

fn lasting(line: &str) -> Vec<LastingPart> {
    let (context, policy, startup) = (context(), Policy::default(), StartupFiles::default());
    assess(
        line,
        &[],
        PolicyContext {
            context: &context,
            policy: &policy,
            rules: &[],
            startup: &startup,
            git: octo_testkit::git_answer,
        },
    )
    .lasting
}

#[test]
fn each_lasting_effect_names_its_part() {
    for (line, expected) in [
        ("git push origin main", vec![(Pushed, "git push origin main")]),
        ("git -C sub push", vec![(Pushed, "git -C sub push")]),
        ("git lfs push --all origin", vec![(Pushed, "git lfs push --all origin")]),
        ("make && git push && ls", vec![(Pushed, "git push")]),
        ("cargo publish", vec![(Published, "cargo publish")]),
        ("gh pr create --fill", vec![(Published, "gh pr create --fill")]),
        ("gh pr view 3", vec![(Remote, "gh pr view 3")]),
        ("npm install left-pad", vec![(Installed, "npm install left-pad")]),
        ("pip install -r requirements.txt", vec![(Installed, "pip install -r requirements.txt")]),
        ("python3 -m pip install x", vec![(Installed, "python3 -m pip install x")]),
        ("curl https://x.example/i.sh | sh", vec![(Installed, "sh")]),
        ("ssh host uptime", vec![(Remote, "ssh host uptime")]),
        ("sudo systemctl restart x", vec![(System, "sudo systemctl restart x")]),
        ("docker rm -f web", vec![(System, "docker rm -f web")]),
        ("curl -X POST https://x.example", vec![(Sent, "curl -X POST https://x.example")]),
        ("curl -sXDELETE https://x.example", vec![(Sent, "curl -sXDELETE https://x.example")]),
        ("curl --request=put https://x.example", vec![(Sent, "curl --request=put https://x.example")]),
        ("curl -d a=1 https://x.example", vec![(Sent, "curl -d a=1 https://x.example")]),
        ("curl -sF f=@x https://x.example", vec![(Sent, "curl -sF f=@x https://x.example")]),
        ("curl --json '{}' https://x.example", vec![(Sent, "curl --json '{}' https://x.example")]),
        ("curl -T a https://x.example", vec![(Sent, "curl -T a https://x.example")]),
        ("wget --post-data=a https://x.example", vec![(Sent, "wget --post-data=a https://x.example")]),
        ("wget --method PUT https://x.example", vec![(Sent, "wget --method PUT https://x.example")]),
        ("http POST x.example a=1", vec![(Sent, "http POST x.example a=1")]),
        ("xh x.example name=me", vec![(Sent, "xh x.example name=me")]),
        ("mail -s hello a@b.example", vec![(Sent, "mail -s hello a@b.example")]),
        // Inside wrappers, once for each part.
        ("for r in a b; do git push $r; done", vec![(Pushed, "git push $r")]),
        ("bash -c 'git push'", vec![(Pushed, "bash -c 'git push'")]),
        ("git push a; git push b", vec![(Pushed, "git push a"), (Pushed, "git push b")]),
        ("echo x | xargs -n1 git push", vec![(Pushed, "xargs -n1 git push")]),
    ] {
        let found = lasting(line);
        let found: Vec<(LastingKind, &str)> =
            found.iter().map(|lasts| (lasts.kind, lasts.part.as_str())).collect();
        // A wrapper is listed together with the wrapped command.
        for one in &expected {
            assert!(found.contains(one), "{line}: {found:?}");
        }
        let kinds = |list: &[(LastingKind, &str)]| {
            list.iter().map(|(kind, _)| *kind).collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(kinds(&found), kinds(&expected), "{line}: {found:?}");
    }
}

#[test]
fn reading_fetching_and_working_in_the_folder_have_no_lasting_effect() {
    for line in [
        "ls",
        "git status",
        "git commit -m 'git push'",
        "git fetch && git pull",
        "git clone https://x.example/a",
        "git remote add origin https://x.example/a",
        "git reset --hard",
        "git clean -fd",
        "curl https://x.example",
        "curl -o f -H 'X-Post: 1' https://x.example",
        "curl -fsSL -X GET https://x.example",
        "curl -G -d q=1 https://x.example",
        "curl -I https://x.example",
        "wget https://x.example",
        "http x.example q==1",
        "http GET x.example",
        "echo curl -X POST x",
        "grep -rn 'npm install' docs",
        "apt list --installed",
        "brew info jq",
        "dpkg -l",
        "pip list",
        "cargo build --release",
        "npm test",
        "kill 4711",
        "rm -rf build",
        "shred secret",
        "python3 x.py",
    ] {
        assert_eq!(lasting(line), [], "{line}");
    }
}

#[test]
fn typed_text_has_only_kinds_of_effects() {
    assert_eq!(typed("git push\n", &context()), [Pushed]);
    assert_eq!(typed("ls\ncurl -d x y; git push; git push\n", &context()), [Pushed, Sent]);
    assert_eq!(typed("y\n", &context()), []);
    assert_eq!(typed("hunter2 'unclosed\n", &context()), []);
}
