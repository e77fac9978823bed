use super::*;
use std::{
    fs,
    io::{Read, Write},
    os::unix::fs::PermissionsExt,
    time::Duration,
};

/// Returns the environment of an application started from an icon: no terminal, no shell variables.
fn icon(home: &Path, shell: &Path) -> Variables {
    Variables::from([
        ("HOME".to_owned(), home.display().to_string()),
        ("SHELL".to_owned(), shell.display().to_string()),
        ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
        ("DISPLAY".to_owned(), ":0".to_owned()),
    ])
}

/// Returns the login environment of a person, and the home of Octo's it needs.
fn login(home: &Path, shell: &Path) -> (LoginEnvironment, tempfile::TempDir) {
    with_variables(icon(home, shell))
}

fn with_variables(own: Variables) -> (LoginEnvironment, tempfile::TempDir) {
    let octo = octo_testkit::test_folder();
    let sandbox = LoginSandbox {
        octo: octo.path().canonicalize().unwrap(),
        octo_others: Vec::new(),
        supervision: crate::testing::supervision(),
    };
    let cache = Arc::new(LoginShellCache::new(own));
    (LoginEnvironment(EnvironmentSource::Shell(cache, Arc::new(sandbox))), octo)
}

fn script(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn a_version_manager_set_up_in_a_start_up_file_is_found_when_started_from_an_icon() {
    for (shell, file, line) in [
        ("/bin/bash", ".bash_profile", "export PATH=\"$HOME/.tools/shims:$PATH\""),
        ("/bin/zsh", ".zshrc", "export PATH=\"$HOME/.tools/shims:$PATH\""),
        ("/usr/bin/fish", ".config/fish/config.fish", "fish_add_path --path $HOME/.tools/shims"),
    ] {
        if !Path::new(shell).is_file() {
            println!("skipped: {shell} is not installed");
            continue;
        }
        let home = octo_testkit::test_folder();
        let file = home.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::create_dir_all(home.path().join(".tools/shims")).unwrap();
        // Noise, a slow start, and a question without an answer.
        fs::write(&file, format!("echo welcome\nsleep 0.3\n{line}\nread answer\n")).unwrap();
        let (login, _octo) = login(home.path(), Path::new(shell));
        let variables = login.variables(&[]).await;
        let first_folder = variables["PATH"].split(':').next().unwrap();
        assert_eq!(first_folder, home.path().join(".tools/shims").display().to_string(), "{shell}");
        assert_eq!(variables["DISPLAY"], ":0", "{shell}");
    }
}

#[tokio::test]
async fn bash_replaces_a_shell_that_is_not_posix() {
    let home = octo_testkit::test_folder();
    fs::write(home.path().join(".bash_profile"), "export FROM=bash\n").unwrap();
    // Like nushell: it knows the flags, but not `command` and `;` within words.
    let nu = home.path().join("nu");
    script(&nu, "#!/bin/sh\necho 'Error: nu::shell::external_command' >&2\nexit 1\n");
    for shell in [nu, home.path().join("no-such-shell")] {
        let (login, _octo) = login(home.path(), &shell);
        assert_eq!(login.variables(&[]).await["FROM"], "bash");
    }
}

#[tokio::test]
async fn the_shell_is_queried_once_per_change_of_its_start_up_files() {
    let home = octo_testkit::test_folder();
    let profile = home.path().join(".bash_profile");
    // The start-up file cannot write, but it can take a number, one for each query.
    let tokens = home.path().join("tokens");
    nix::unistd::mkfifo(&tokens, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut numbers = fs::OpenOptions::new().read(true).write(true).open(&tokens).unwrap();
    numbers.write_all(b"1\n2\n3\n4\n").unwrap();
    let write = |version: &str| {
        fs::write(&profile, format!("read -r QUERY <~/tokens\nexport QUERY VERSION={version}\n")).unwrap();
    };
    let answer = |variables: &Variables| format!("{} {}", variables["VERSION"], variables["QUERY"]);
    write("one");
    let (login, _octo) = login(home.path(), Path::new("/bin/bash"));
    // Concurrent calls query once.
    let results = futures_of(8, || login.variables(&[])).await;
    assert!(results.iter().all(|variables| answer(variables) == "one 1"));
    write("three");
    assert_eq!(answer(&login.variables(&[]).await), "three 2");
    assert_eq!(answer(&login.variables(&[]).await), "three 2");
    // A new file counts as a change, and a shell that fails afterwards keeps its last answer.
    fs::write(home.path().join(".zshrc"), "").unwrap();
    fs::write(&profile, "read -r QUERY <~/tokens\nexit 3\n").unwrap();
    assert_eq!(answer(&login.variables(&[]).await), "three 2");
    assert_eq!(answer(&login.variables(&[]).await), "three 2");
    let mut next = [0; 2];
    numbers.read_exact(&mut next).unwrap();
    assert_eq!(&next, b"4\n", "not asked again and again");
}

async fn futures_of<F: Future<Output = Variables>>(count: usize, make: impl Fn() -> F) -> Vec<Variables> {
    let mut futures: Vec<_> = (0..count).map(|_| Box::pin(make())).collect();
    let mut results = Vec::new();
    for future in &mut futures {
        results.push(tokio::time::timeout(Duration::from_secs(60), future).await.unwrap());
    }
    results
}

#[tokio::test]
async fn secrets_are_neither_given_to_the_shell_nor_taken_from_it() {
    let home = octo_testkit::test_folder();
    fs::write(
        home.path().join(".bash_profile"),
        "export SEEN=\"[$OCTO_API_KEY$MINE]\" MINE=again OCTO_X=1\n",
    )
    .unwrap();
    let mut own = icon(home.path(), Path::new("/bin/bash"));
    own.extend([("OCTO_API_KEY".to_owned(), "sk".to_owned()), ("MINE".to_owned(), "sk".to_owned())]);
    let (login, _octo) = with_variables(own);
    let variables = login.variables(&["MINE".to_owned()]).await;
    assert_eq!(variables["SEEN"], "[]");
    assert!(!variables.contains_key("MINE") && !variables.contains_key("OCTO_X"));
}

#[tokio::test]
async fn what_a_start_up_file_says_does_not_change_unapproved_commands_and_hooks() {
    let home = octo_testkit::test_folder();
    fs::write(
        home.path().join(".bash_profile"),
        "export HOME=/elsewhere XDG_CONFIG_HOME=/elsewhere BASH_ENV=/e.sh LD_AUDIT=/e.so GIT_EXTERNAL_DIFF=/e GIT_SSH=/e
         export TOOL=yes DISPLAY=:1\nf() { :; }; export -f f\n",
    )
    .unwrap();
    let mut own = icon(home.path(), Path::new("/bin/bash"));
    own.insert("GIT_SSH".to_owned(), "/usr/bin/ssh".to_owned());
    let (login, _octo) = with_variables(own);
    let answer = login.variables(&[]).await;
    assert_eq!(answer["HOME"], "/elsewhere", "a command a person approves is as in their terminal");
    let unattended = login.of_unattended(answer.clone(), Path::new("/w"));
    assert_eq!(unattended["HOME"], home.path().display().to_string());
    for name in ["XDG_CONFIG_HOME", "BASH_ENV", "GIT_EXTERNAL_DIFF", "GIT_SSH"] {
        assert_eq!(unattended.get(name), None, "{name}");
    }
    let hook = login.of_hook(answer);
    assert_eq!((hook["TOOL"].as_str(), hook["DISPLAY"].as_str()), ("yes", ":1"));
    let loading = ["BASH_ENV", "LD_AUDIT", "GIT_EXTERNAL_DIFF", "GIT_SSH"];
    assert!(
        hook.keys().all(|name| !loading.contains(&name.as_str()) && !name.starts_with("BASH_FUNC_")),
        "{hook:?}"
    );
}
