//! Commands that take a whole folder containing something closed.

use super::*;

/// Creates a folder with a key in `keys`, files the person never wants touched in `papers`, files they count as
/// secret in `vault`, and nothing of the kind in `src`.
fn scene() -> (tempfile::TempDir, PathBuf, Arc<Policy>) {
    let (keep, folder) = work();
    for file in ["keys/deep/.ssh/id", "papers/deep/private/x", "vault/deep/a.token", "src/deep/a.rs", "top"] {
        std::fs::create_dir_all(folder.join(file).parent().unwrap()).unwrap();
        std::fs::write(folder.join(file), "x").unwrap();
    }
    let paths = PathRules {
        secret: vec!["*.token".into()],
        deny: vec![folder.join("papers/deep/private").display().to_string()],
    };
    let policy = Policy::new(PolicyRules { paths, ..PolicyRules::default() }, None);
    (keep, folder, Arc::new(policy))
}

/// Lines that take everything in a folder and are known to do nothing else.
const KNOWN: &[&str] = &[
    "cp -r {} copy",
    "cp -a {} copy",
    "cp -rp ./{} copy",
    "cp -R {}/. copy",
    "cp -r {}/* copy",
    "cp -r {} src copy",
    "cd {} && cp -r deep copy",
    "for d in {}; do cp -r \"$d\" copy; done",
    "mv {} moved",
    "mv {}/deep moved",
    "mkdir m && mv {}/* m",
    "grep -r x {}",
    "grep -rn x .",
    "grep -r x {}/deep | head -1",
    "rg --hidden x {}",
    "diff -r {} src",
];

/// Lines of programs that may do anything with their arguments.
const UNKNOWN: &[&str] = &[
    "tar czf a.tgz {}",
    "tar czf - . | cat",
    "zip -r a.zip {}",
    "7z a a.7z {}",
    "rsync -a {}/ copy/",
    "scp -r {} host:",
    "find {} -type f -exec cat {} +",
    "find {} -type f | xargs cat",
];

#[test]
fn what_is_closed_is_asked_about_where_a_folder_above_it_is_taken() {
    let (_keep, folder, policy) = scene();
    for mode in [Mode::Ask, Mode::AskRisky] {
        let context = PermissionContext { policy: policy.clone(), ..ground(mode, &folder) };
        for above in ["keys", "papers", "vault"] {
            for line in KNOWN.iter().chain(UNKNOWN) {
                let line = line.replacen("{}", above, 1);
                let decision = decide(&context, &command(&line)).decision;
                assert!(!matches!(decision, Decision::Run(_)), "{mode:?} {line}");
            }
        }
        let closed = |line: &str| decide(&context, &command(line)).decision;
        for line in ["cat keys/deep/.ssh/*", "cat vault/deep/*", "cat papers/deep/private/*"] {
            assert!(!matches!(closed(line), Decision::Run(_)), "{mode:?} {line}");
        }
    }
    let risky = PermissionContext { policy, ..ground(Mode::AskRisky, &folder) };
    for (line, file) in [("cp -r keys copy", "keys/deep/.ssh"), ("mv vault moved", "vault/deep/a.token")] {
        let path = folder.join(file).display().to_string();
        assert_eq!(reason(&risky, &command(line)), Some(AskReason::Secret { path }), "{line}");
    }
    for line in
        ["cp -r src copy", "cp -a src/deep copy", "mv src moved", "grep -r x src", "cat src/*", "cp top b"]
    {
        assert_eq!(decide(&risky, &command(line)).decision, Decision::Run(RunBasis::Policy), "{line}");
    }
}

#[test]
fn what_is_never_to_be_touched_is_not_taken_with_a_folder_in_any_mode() {
    let (_keep, folder, policy) = scene();
    for mode in [Mode::Ask, Mode::AskRisky, Mode::Autonomous] {
        let context = PermissionContext { policy: policy.clone(), ..ground(mode, &folder) };
        for line in KNOWN {
            let line = line.replacen("{}", "papers", 1);
            assert_eq!(refusal(&context, &command(&line)), Some(Refusal::Ruled), "{mode:?} {line}");
        }
    }
}

#[test]
fn octos_own_is_not_taken_with_a_folder_above_it() {
    let (_keep, folder) = work();
    let home = folder.join("person/.octo");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("octo.db"), "x").unwrap();
    for mode in [Mode::AskRisky, Mode::Autonomous] {
        let context = PermissionContext { home: home.clone(), ..ground(mode, &folder) };
        for line in ["cp -r person copy", "cp -r person/.octo copy", "grep -r x person"] {
            assert_eq!(refusal(&context, &command(line)), Some(Refusal::OctoOwn), "{mode:?} {line}");
        }
    }
}
