//! Fetching a repository of skills, with the machine's git. Nothing of what is fetched is run.

use octo_protocol::ApiError;
use std::{path::PathBuf, process::Stdio, time::Duration};
use tempfile::TempDir;
use tokio::process::Command;

/// How long fetching may take.
const TIME: Duration = Duration::from_secs(90);

/// What was fetched; gone when this is.
pub(super) struct Fetched {
    /// The folder to look into.
    pub(super) place: PathBuf,
    _folder: TempDir,
}

/// Where a repository is, and what of it is meant.
#[derive(Debug, PartialEq, Eq)]
struct Address {
    repository: String,
    branch: Option<String>,
    /// A folder in it, without dots and links to be followed.
    inside: PathBuf,
}

/// Fetches the newest state of a repository, without its history.
///
/// # Errors
/// `skills.only_https` for any other kind of address, `skills.not_fetched` where git fails or is not there.
pub(super) async fn clone(from: &str) -> Result<Fetched, ApiError> {
    let address = Address::of(from).ok_or_else(|| ApiError::new("skills.only_https").arg("from", from))?;
    let not_fetched = |why: String| ApiError::new("skills.not_fetched").arg("from", from).detail(why);
    let folder = tempfile::Builder::new().prefix("octo-skills-").tempdir().map_err(|error| not_fetched(error.to_string()))?;
    let target = folder.path().join("repository");
    let mut git = Command::new("git");
    // The person's own settings could name programs to run: filters, helpers, hooks.
    git.env_clear()
        .envs(["PATH", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SystemRoot"].iter().filter_map(
            |name| Some((*name, std::env::var_os(name)?)),
        ))
        .envs([
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", if cfg!(windows) { "NUL" } else { "/dev/null" }),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ALLOW_PROTOCOL", "https"),
            ("GIT_LFS_SKIP_SMUDGE", "1"),
        ])
        .args(["-c", "core.symlinks=false", "-c", "core.hooksPath=", "clone", "--quiet", "--depth=1"])
        .args(["--no-recurse-submodules", "--template="]);
    if let Some(branch) = &address.branch {
        git.arg(format!("--branch={branch}"));
    }
    git.arg("--").arg(&address.repository).arg(&target);
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let done = tokio::time::timeout(TIME, git.output()).await;
    let done = done.map_err(|_| not_fetched(format!("no answer within {} s", TIME.as_secs())))?;
    let done = done.map_err(|error| not_fetched(format!("git: {error}")))?;
    if !done.status.success() {
        let words = String::from_utf8_lossy(&done.stderr);
        return Err(not_fetched(words.chars().take(500).collect()));
    }
    let place = target.join(&address.inside);
    let real = place.canonicalize().ok().filter(|real| {
        target.canonicalize().is_ok_and(|target| real.starts_with(target)) && real.is_dir()
    });
    let place = real.ok_or_else(|| not_fetched(format!("there is no folder {}", address.inside.display())))?;
    Ok(Fetched { place, _folder: folder })
}

impl Address {
    /// None where it is no address of a repository over https.
    fn of(from: &str) -> Option<Self> {
        let url = url::Url::parse(from).ok().filter(|url| url.scheme() == "https")?;
        // A password in an address would end up in lists and errors.
        if url.host_str().is_none() || !url.username().is_empty() || url.password().is_some() {
            return None;
        }
        let mut repository = url.clone();
        repository.set_query(None);
        repository.set_fragment(None);
        let whole = Self { repository: repository.to_string(), branch: None, inside: PathBuf::new() };
        // As pages of repositories name a folder: owner/name/tree/branch/folder.
        let parts: Vec<&str> = url.path_segments()?.filter(|part| !part.is_empty()).collect();
        let [owner, name, rest @ ..] = parts.as_slice() else { return Some(whole) };
        let rest = rest.strip_prefix(&["-"]).unwrap_or(rest);
        let ["tree", branch, inside @ ..] = rest else { return Some(whole) };
        if inside.iter().any(|part| matches!(*part, "." | "..")) || branch.starts_with('-') {
            return None;
        }
        repository.set_path(&format!("{owner}/{name}"));
        Some(Self {
            repository: repository.to_string(),
            branch: Some((*branch).to_owned()),
            inside: inside.iter().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_a_repository_and_maybe_a_folder_in_it() {
        let of = |from: &str| {
            Address::of(from).map(|address| {
                (address.repository, address.branch.unwrap_or_default(), address.inside.display().to_string())
            })
        };
        let is = |repository: &str, branch: &str, inside: &str| {
            Some((repository.to_owned(), branch.to_owned(), inside.to_owned()))
        };
        for (from, expected) in [
            ("https://example.org/me/skills", is("https://example.org/me/skills", "", "")),
            ("https://example.org/me/skills.git?x#y", is("https://example.org/me/skills.git", "", "")),
            (
                "https://example.org/me/skills/tree/main/writing/notes",
                is("https://example.org/me/skills", "main", "writing/notes"),
            ),
            ("https://example.org/me/skills/-/tree/dev/a", is("https://example.org/me/skills", "dev", "a")),
            ("https://example.org/me/skills/tree/-x/a", None),
            ("https://me:secret@example.org/me/skills", None),
            ("http://example.org/me/skills", None),
            ("git@example.org:me/skills", None),
            ("file:///etc", None),
            ("ext::sh -c true", None),
        ] {
            assert_eq!(of(from), expected, "{from}");
        }
    }

    #[tokio::test]
    async fn only_https_is_fetched_and_a_server_that_is_not_there_is_an_error() {
        assert_eq!(clone("file:///etc").await.err().map(|error| error.key), Some("skills.only_https".into()));
        // A port nobody listens on.
        let refused = clone("https://127.0.0.1:9/me/skills").await.err().map(|error| error.key);
        assert_eq!(refused, Some("skills.not_fetched".into()));
    }
}
