//! Queries the login shell for its environment.

use super::is_hidden;
use octo_policy::Variables;

/// Returns the process's own variables; few if Octo was started from an icon.
pub(super) fn process_variables() -> Variables {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        // Windows ignores the case of names, and spells this one differently.
        .map(
            |(name, value)| {
                if cfg!(windows) && name == "Path" { ("PATH".to_owned(), value) } else { (name, value) }
            },
        )
        .collect()
}

/// Returns the environment a login shell started with `variables` gives a command, without hidden variables; `None`
/// if the query fails.
pub(super) async fn query_login_shell(inherited: &Variables, secret: &[String]) -> Option<Variables> {
    let is_visible = |(name, _): &(String, String)| !is_hidden(name, secret);
    let visible: Variables = inherited.clone().into_iter().filter(is_visible).collect();
    match tokio::task::spawn_blocking(move || login_shell::query(&visible)).await {
        Ok(Some(variables)) => Some(variables.into_iter().filter(is_visible).collect()),
        Ok(None) | Err(_) => {
            tracing::warn!(
                "the login shell did not tell its environment; commands get what is known without it"
            );
            None
        }
    }
}

#[cfg(not(unix))]
mod login_shell {
    use octo_policy::Variables;

    /// Returns the own variables: without login shells, every program already has the person's environment.
    pub(super) fn query(inherited: &Variables) -> Option<Variables> {
        Some(inherited.clone())
    }
}

#[cfg(unix)]
mod login_shell {
    use crate::shell::processes;
    use nix::unistd::{Uid, User};
    use octo_policy::Variables;
    use portable_pty::{CommandBuilder, PtySize, native_pty_system};
    use std::{
        fs,
        io::Read,
        path::{Path, PathBuf},
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
        thread,
        time::{Duration, Instant},
    };

    /// The time limit of a login shell. Heavy start-up files take a second or two.
    const QUERY_TIMEOUT: Duration = Duration::from_secs(10);

    /// How often to check whether it has finished.
    const POLL_INTERVAL: Duration = Duration::from_millis(10);

    /// Queries the person's shell, and `bash` if that one does not understand.
    pub(super) fn query(inherited: &Variables) -> Option<Variables> {
        let account = User::from_uid(Uid::current()).ok().flatten();
        let mut inherited = inherited.clone();
        // Variables set by a login, but perhaps not for an icon.
        if let Some(account) = &account {
            for (name, value) in [("HOME", account.dir.display().to_string()), ("USER", account.name.clone())]
            {
                inherited.entry(name.to_owned()).or_insert(value);
            }
            inherited.entry("LOGNAME".to_owned()).or_insert_with(|| account.name.clone());
        }
        inherited.entry("PATH".to_owned()).or_insert_with(|| "/usr/local/bin:/usr/bin:/bin".to_owned());
        let preferred = inherited.get("SHELL").map(PathBuf::from).or(account.map(|user| user.shell));
        let mut shells: Vec<PathBuf> = preferred.into_iter().filter(|shell| shell.is_file()).collect();
        if !shells.iter().any(|shell| shell.ends_with("bash")) {
            shells.push(PathBuf::from("/bin/bash"));
        }
        shells.iter().find_map(|shell| query_shell(shell, &inherited))
    }

    /// Runs the shell and returns its environment. It runs in its own terminal, because interactive shells need
    /// one and must not take the one Octo may have been started in; its input is empty, so start-up files that
    /// ask a question get no answer instead of waiting.
    pub(super) fn query_shell(shell: &Path, inherited: &Variables) -> Option<Variables> {
        let output_file = tempfile::NamedTempFile::new().ok()?;
        let marker = uuid::Uuid::new_v4().simple().to_string();
        let question = format!("printf '%s\\n' {marker}; command env -0; printf '%s\\n' {marker}");
        let mut command = CommandBuilder::from_argv(
            ["/bin/sh", "-c", "exec \"$0\" -l -i -c \"$1\" </dev/null >\"$2\" 2>/dev/null"]
                .iter()
                .map(Into::into)
                .chain([
                    shell.as_os_str().to_owned(),
                    question.into(),
                    output_file.path().as_os_str().to_owned(),
                ])
                .collect(),
        );
        command.env_clear();
        for (name, value) in inherited {
            command.env(name, value);
        }
        command.env("TERM", "xterm-256color");
        command.env("HISTFILE", "/dev/null");
        let pty = native_pty_system().openpty(PtySize::default()).ok()?;
        let mut child = pty.slave.spawn_command(command).ok()?;
        drop(pty.slave);
        let mut screen = pty.master.try_clone_reader().ok()?;
        // The terminal must be read, or start-up files that write to it would block. While no process has it
        // open, reading fails; it must stay open on this side, or its session would receive a hang-up.
        let is_over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_over);
        let drain = thread::Builder::new().name("login-shell".to_owned()).spawn(move || {
            let mut buffer = [0; 4096];
            while !stop.load(Ordering::SeqCst) {
                if !matches!(screen.read(&mut buffer), Ok(1..)) {
                    thread::sleep(POLL_INTERVAL);
                }
            }
        });
        drain.ok()?;
        let deadline = Instant::now() + QUERY_TIMEOUT;
        let ended = loop {
            match child.try_wait() {
                Ok(Some(_)) => break true,
                Ok(None) if Instant::now() < deadline => thread::sleep(POLL_INTERVAL),
                Ok(None) | Err(_) => break false,
            }
        };
        is_over.store(true, Ordering::SeqCst);
        if !ended {
            if let Some(leader) = child.process_id() {
                processes::kill_now(leader);
            }
            let _ = child.wait();
            tracing::warn!(shell = %shell.display(), "the login shell took too long");
            return None;
        }
        parse(&fs::read(output_file.path()).ok()?, &marker)
    }

    /// Returns the variables between two markers, without other output of start-up files.
    fn parse(output: &[u8], marker: &str) -> Option<Variables> {
        let output = String::from_utf8_lossy(output);
        let (_, after) = output.split_once(&format!("{marker}\n"))?;
        let (listing, _) = after.split_once(marker)?;
        let variables: Variables = listing
            .split('\0')
            .filter_map(|entry| entry.split_once('='))
            // A value that is not UTF-8 would be altered.
            .filter(|(name, value)| !name.is_empty() && !value.contains('\u{fffd}'))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        variables.contains_key("PATH").then_some(variables)
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::time::Instant;

        fn own_variables(home: &Path) -> Variables {
            Variables::from([
                ("HOME".to_owned(), home.display().to_string()),
                ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ])
        }

        /// Returns the shell; prints a message if it is not installed, and the test has nothing to check.
        fn installed(name: &str) -> Option<PathBuf> {
            let found = ["/bin", "/usr/bin", "/usr/local/bin"]
                .iter()
                .map(|folder| Path::new(folder).join(name))
                .find(|path| path.is_file());
            if found.is_none() {
                println!("skipped: {name} is not installed");
            }
            found
        }

        #[test]
        fn each_shells_own_start_up_files_are_watched() {
            for (shell, file, text) in [
                (
                    "bash",
                    ".bashrc",
                    "echo noise\nexport FROM_RC='one\ntwo'\nexport PATH=\"/opt/tools:$PATH\"\n",
                ),
                (
                    "zsh",
                    ".zshrc",
                    "echo noise\nexport FROM_RC='one\ntwo'\nexport PATH=\"/opt/tools:$PATH\"\n",
                ),
                (
                    "fish",
                    ".config/fish/config.fish",
                    "echo noise\nset -gx FROM_RC 'one\ntwo'\nset -gx PATH /opt/tools $PATH\n",
                ),
            ] {
                let Some(path) = installed(shell) else { continue };
                let home = tempfile::tempdir().unwrap();
                let file = home.path().join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, text).unwrap();
                // bash reads .bashrc only through the profile.
                fs::write(home.path().join(".bash_profile"), ". ~/.bashrc\n").unwrap();
                let variables = query_shell(&path, &own_variables(home.path()))
                    .unwrap_or_else(|| panic!("{shell} answers"));
                assert_eq!(variables.get("FROM_RC").map(String::as_str), Some("one\ntwo"), "{shell}");
                assert!(variables["PATH"].starts_with("/opt/tools:"), "{shell}: {}", variables["PATH"]);
            }
        }

        #[test]
        fn a_start_up_file_that_asks_does_not_block_the_query() {
            let Some(bash) = installed("bash") else { return };
            let home = tempfile::tempdir().unwrap();
            fs::write(
                home.path().join(".bash_profile"),
                "read -p 'update? ' answer\nexport ANSWER=\"[$answer]\"\n",
            )
            .unwrap();
            let started = Instant::now();
            let variables = query_shell(&bash, &own_variables(home.path())).unwrap();
            assert_eq!(variables["ANSWER"], "[]");
            assert!(started.elapsed() < QUERY_TIMEOUT);
        }

        #[test]
        fn an_incompatible_shell_yields_nothing() {
            let home = tempfile::tempdir().unwrap();
            assert_eq!(query_shell(Path::new("/bin/true"), &own_variables(home.path())), None);
            assert_eq!(query_shell(Path::new("/bin/false"), &own_variables(home.path())), None);
        }
    }
}
