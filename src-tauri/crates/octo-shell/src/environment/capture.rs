//! Queries the login shell for its environment.

use super::is_hidden;
#[cfg(unix)]
use super::login_shell;
use octo_keeper::Supervision;
use octo_policy::Variables;
use std::path::PathBuf;

/// The limits of the login shell that is queried. Start-up files may be the agent's work, and Octo reads them without
/// being asked.
#[derive(Clone, Debug)]
pub struct LoginSandbox {
    /// The real path of Octo's own home, from which the shell reads nothing.
    pub octo: PathBuf,
    /// Other real paths of Octo's home, and its former locations.
    pub octo_others: Vec<PathBuf>,
    /// How its processes are started and ended.
    pub supervision: Supervision,
}

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

/// Returns the environment a login shell started with `inherited` gives a command, without hidden variables; `None`
/// if the query fails. The shell is always confined; where the system cannot confine it, none is started.
pub(super) async fn query_login_shell(
    inherited: &Variables,
    secret: &[String],
    sandbox: &LoginSandbox,
) -> Option<Variables> {
    let is_visible = |(name, _): &(String, String)| !is_hidden(name, secret);
    let visible: Variables = inherited.clone().into_iter().filter(is_visible).collect();
    let sandbox = sandbox.clone();
    match tokio::task::spawn_blocking(move || login_shell::query(&visible, &sandbox)).await {
        Ok(Some(variables)) => Some(variables.into_iter().filter(is_visible).collect()),
        Ok(None) | Err(_) => {
            tracing::warn!(
                "the login shell did not answer in its sandbox; commands get the environment Octo already has"
            );
            None
        }
    }
}

#[cfg(not(unix))]
mod login_shell {
    use super::LoginSandbox;
    use octo_policy::Variables;

    /// Returns the own variables: without login shells, every program already has the person's environment.
    pub(super) fn query(inherited: &Variables, _sandbox: &LoginSandbox) -> Option<Variables> {
        Some(inherited.clone())
    }
}
