use super::*;
use std::{fs, os::unix::fs::PermissionsExt, time::Duration};

/// Returns the environment of an application started from an icon: no terminal, no shell variables.
fn icon(home: &Path, shell: &Path) -> Variables {
    Variables::from([
        ("HOME".to_owned(), home.display().to_string()),
        ("SHELL".to_owned(), shell.display().to_string()),
        ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
        ("DISPLAY".to_owned(), ":0".to_owned()),
    ])
}

fn login(home: &Path, shell: &Path) -> LoginEnvironment {
    LoginEnvironment(EnvironmentSource::Shell(Arc::new(LoginShellCache::new(icon(home, shell)))))
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
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::create_dir_all(home.path().join(".tools/shims")).unwrap();
        // Noise, a slow start, and a question without an answer.
        fs::write(&file, format!("echo welcome\nsleep 0.3\n{line}\nread answer\n")).unwrap();
        let variables = login(home.path(), Path::new(shell)).variables(&[]).await;
        let first_folder = variables["PATH"].split(':').next().unwrap();
        assert_eq!(first_folder, home.path().join(".tools/shims").display().to_string(), "{shell}");
        assert_eq!(variables["DISPLAY"], ":0", "{shell}");
    }
}

#[tokio::test]
async fn bash_replaces_a_shell_that_is_not_posix() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join(".bash_profile"), "export FROM=bash\n").unwrap();
    // Like nushell: it knows the flags, but not `command` and `;` within words.
    let nu = home.path().join("nu");
    script(&nu, "#!/bin/sh\necho 'Error: nu::shell::external_command' >&2\nexit 1\n");
    assert_eq!(login(home.path(), &nu).variables(&[]).await["FROM"], "bash");
    let missing_shell = home.path().join("no-such-shell");
    assert_eq!(login(home.path(), &missing_shell).variables(&[]).await["FROM"], "bash");
}

#[tokio::test]
async fn the_shell_is_queried_once_per_change_of_its_start_up_files() {
    let home = tempfile::tempdir().unwrap();
    let profile = home.path().join(".bash_profile");
    let write = |version: &str| {
        fs::write(&profile, format!("echo asked >>~/asked\nexport VERSION={version}\n")).unwrap();
    };
    let queries = || fs::read_to_string(home.path().join("asked")).unwrap().lines().count();
    write("one");
    let login = login(home.path(), Path::new("/bin/bash"));
    // Concurrent calls query once.
    let results = futures_of(8, || login.variables(&[])).await;
    assert!(results.iter().all(|variables| variables["VERSION"] == "one"));
    assert_eq!(queries(), 1);
    write("three");
    assert_eq!(login.variables(&[]).await["VERSION"], "three");
    assert_eq!((login.variables(&[]).await["VERSION"].as_str(), queries()), ("three", 2));
    // A new file counts as a change, and a shell that fails afterwards keeps its last answer.
    fs::write(home.path().join(".zshrc"), "").unwrap();
    fs::write(&profile, "echo asked >>~/asked\nexit 3\n").unwrap();
    assert_eq!(login.variables(&[]).await["VERSION"], "three");
    assert_eq!(login.variables(&[]).await["VERSION"], "three");
    assert_eq!(queries(), 3, "not asked again and again");
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
    let home = tempfile::tempdir().unwrap();
    fs::write(
        home.path().join(".bash_profile"),
        "export SEEN=\"[$OCTO_API_KEY$MINE]\" MINE=again OCTO_X=1\n",
    )
    .unwrap();
    let mut own = icon(home.path(), Path::new("/bin/bash"));
    own.extend([("OCTO_API_KEY".to_owned(), "sk".to_owned()), ("MINE".to_owned(), "sk".to_owned())]);
    let login = LoginEnvironment(EnvironmentSource::Shell(Arc::new(LoginShellCache::new(own))));
    let variables = login.variables(&["MINE".to_owned()]).await;
    assert_eq!(variables["SEEN"], "[]");
    assert!(!variables.contains_key("MINE") && !variables.contains_key("OCTO_X"));
}
