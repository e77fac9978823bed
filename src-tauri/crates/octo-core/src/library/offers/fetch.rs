//! Fetches a repository of skills with the machine's git. Nothing fetched is run.

use super::super::RepositoryNetwork;
use octo_protocol::{ApiError, ProxyChoice};
use octo_workspace::PersonalSettings;
use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};
use tempfile::TempDir;
use tokio::process::Command;

/// Time limit of fetching.
const FETCH_TIMEOUT: Duration = Duration::from_secs(90);

/// Variables of this process's environment that git needs.
const PASSED_VARIABLES: [&str; 3] = ["PATH", "SSL_CERT_FILE", "SystemRoot"];
/// Variables that name the system's proxy.
const SYSTEM_PROXY: [&str; 6] =
    ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"];

/// Where systems keep their trusted certificates: a git that is given a file trusts no others.
const CERTIFICATE_BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// A fetched repository, deleted when dropped.
pub(super) struct FetchedRepository {
    /// The folder to inspect.
    pub(super) path: PathBuf,
    _folder: TempDir,
}

/// The address of a repository and the part of it to use.
#[derive(Debug, PartialEq, Eq)]
struct RepositoryAddress {
    repository: String,
    branch: Option<String>,
    /// A folder in it, without dots or links to follow.
    subfolder: PathBuf,
}

/// Fetches the newest state of a repository, without its history.
///
/// # Errors
/// `skills.only_https` for any other kind of address, `skills.not_fetched` if git fails or is missing.
pub(super) async fn clone(source: &str, network: &RepositoryNetwork) -> Result<FetchedRepository, ApiError> {
    let address = RepositoryAddress::parse(source)
        .ok_or_else(|| ApiError::new("skills.only_https").arg("from", source))?;
    let not_fetched = |detail: String| ApiError::new("skills.not_fetched").arg("from", source).detail(detail);
    let folder = tempfile::Builder::new()
        .prefix("octo-skills-")
        .tempdir()
        .map_err(|error| not_fetched(error.to_string()))?;
    let target = folder.path().join("repository");
    let mut git = Command::new("git");
    // The person's own settings could name programs to run: filters, helpers, hooks.
    git.env_clear()
        .envs(network.variables().filter_map(|name| Some((name, std::env::var_os(name)?))))
        .envs(octo_workspace::git_variables(PersonalSettings::Ignored))
        .envs([("GIT_ALLOW_PROTOCOL", "https"), ("GIT_LFS_SKIP_SMUDGE", "1")])
        .args(["-c", "core.symlinks=false"]);
    if let Some(proxy) = network.proxy() {
        git.args(["-c", &format!("http.proxy={proxy}")]);
    }
    let trusted = network.bundle(folder.path()).await.map_err(|error| not_fetched(error.to_string()))?;
    if let Some(trusted) = trusted {
        git.arg("-c").arg(trusted);
    }
    git.args(["clone", "--quiet", "--depth=1", "--no-recurse-submodules", "--template="]);
    if let Some(branch) = &address.branch {
        git.arg(format!("--branch={branch}"));
    }
    git.arg("--").arg(&address.repository).arg(&target);
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let result = tokio::time::timeout(FETCH_TIMEOUT, git.output()).await;
    let output =
        result.map_err(|_| not_fetched(format!("no answer within {} s", FETCH_TIMEOUT.as_secs())))?;
    let output = output.map_err(|error| not_fetched(format!("git: {error}")))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(not_fetched(errors.chars().take(500).collect()));
    }
    let inspected_folder = target.join(&address.subfolder);
    let real_folder = inspected_folder
        .canonicalize()
        .ok()
        .filter(|path| target.canonicalize().is_ok_and(|target| path.starts_with(target)) && path.is_dir());
    let inspected_folder = real_folder
        .ok_or_else(|| not_fetched(format!("there is no folder {}", address.subfolder.display())))?;
    Ok(FetchedRepository { path: inspected_folder, _folder: folder })
}

impl RepositoryNetwork {
    /// Returns the variables git sees: the system's proxy only if it is chosen.
    fn variables(&self) -> impl Iterator<Item = &'static str> + use<> {
        let proxy: &[&str] = if self.proxy == ProxyChoice::System { &SYSTEM_PROXY } else { &[] };
        PASSED_VARIABLES.into_iter().chain(proxy.iter().copied())
    }

    /// Returns git's proxy setting: `None` for the system's, empty to use no proxy.
    fn proxy(&self) -> Option<&str> {
        match &self.proxy {
            ProxyChoice::System => None,
            ProxyChoice::None => Some(""),
            ProxyChoice::Manual { url } => Some(url),
        }
    }

    /// Returns the setting that makes git trust the person's certificates in addition to the system's, which
    /// are written into a folder. `None` if the person added no certificates, or the system keeps its own in no
    /// file, as Windows does.
    async fn bundle(&self, target: &Path) -> std::io::Result<Option<OsString>> {
        let Some(own_certificates) = &self.certificates else { return Ok(None) };
        let from_environment = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
        let mut bundles = from_environment.into_iter().chain(CERTIFICATE_BUNDLES.map(PathBuf::from));
        let Some(system) = bundles.find(|file| file.is_file()) else { return Ok(None) };
        let mut content = tokio::fs::read(system).await?;
        content.push(b'\n');
        content.extend_from_slice(own_certificates.pem.as_bytes());
        let file = target.join("trusted.pem");
        tokio::fs::write(&file, content).await?;
        let mut setting = OsString::from("http.sslCAInfo=");
        setting.push::<&OsStr>(file.as_ref());
        Ok(Some(setting))
    }
}

impl RepositoryAddress {
    /// Parses an address. Returns `None` if it is not a repository over https.
    fn parse(source: &str) -> Option<Self> {
        let url = url::Url::parse(source).ok().filter(|url| url.scheme() == "https")?;
        // A password in an address would appear in lists and errors.
        if url.host_str().is_none() || !url.username().is_empty() || url.password().is_some() {
            return None;
        }
        let mut repository = url.clone();
        repository.set_query(None);
        repository.set_fragment(None);
        let repository_only =
            Self { repository: repository.to_string(), branch: None, subfolder: PathBuf::new() };
        // The form in which repository pages name a folder: owner/name/tree/branch/folder.
        let parts: Vec<&str> = url.path_segments()?.filter(|part| !part.is_empty()).collect();
        let [owner, name, tail @ ..] = parts.as_slice() else { return Some(repository_only) };
        let tail = tail.strip_prefix(&["-"]).unwrap_or(tail);
        let ["tree", branch, subfolder @ ..] = tail else { return Some(repository_only) };
        if subfolder.iter().any(|part| matches!(*part, "." | "..")) || branch.starts_with('-') {
            return None;
        }
        repository.set_path(&format!("{owner}/{name}"));
        Some(Self {
            repository: repository.to_string(),
            branch: Some((*branch).to_owned()),
            subfolder: subfolder.iter().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_a_repository_and_maybe_a_folder_in_it() {
        let parse_parts = |source: &str| {
            RepositoryAddress::parse(source).map(|address| {
                (
                    address.repository,
                    address.branch.unwrap_or_default(),
                    address.subfolder.display().to_string(),
                )
            })
        };
        let expected_parts = |repository: &str, branch: &str, subfolder: &str| {
            Some((repository.to_owned(), branch.to_owned(), subfolder.to_owned()))
        };
        for (from, expected) in [
            ("https://example.org/me/skills", expected_parts("https://example.org/me/skills", "", "")),
            (
                "https://example.org/me/skills.git?x#y",
                expected_parts("https://example.org/me/skills.git", "", ""),
            ),
            (
                "https://example.org/me/skills/tree/main/writing/notes",
                expected_parts("https://example.org/me/skills", "main", "writing/notes"),
            ),
            (
                "https://example.org/me/skills/-/tree/dev/a",
                expected_parts("https://example.org/me/skills", "dev", "a"),
            ),
            ("https://example.org/me/skills/tree/-x/a", None),
            ("https://me:secret@example.org/me/skills", None),
            ("http://example.org/me/skills", None),
            ("git@example.org:me/skills", None),
            ("file:///etc", None),
            ("ext::sh -c true", None),
        ] {
            assert_eq!(parse_parts(from), expected, "{from}");
        }
    }

    #[tokio::test]
    async fn only_https_is_fetched_and_a_server_that_is_not_there_is_an_error() {
        let network = RepositoryNetwork::default();
        let error_key = clone("file:///etc", &network).await.err().map(|error| error.key);
        assert_eq!(error_key, Some("skills.only_https".into()));
        // A port without a listener.
        let error_key = clone("https://127.0.0.1:9/me/skills", &network).await.err().map(|error| error.key);
        assert_eq!(error_key, Some("skills.not_fetched".into()));
    }

    #[tokio::test]
    async fn repositories_are_reached_as_the_settings_say() {
        let manual = |url: &str| ProxyChoice::Manual { url: url.to_owned() };
        for (proxy, expected, sees_system) in [
            (ProxyChoice::System, None, true),
            (ProxyChoice::None, Some(""), false),
            (manual("http://proxy.example:3128"), Some("http://proxy.example:3128"), false),
            (manual("socks5h://127.0.0.1:1080"), Some("socks5h://127.0.0.1:1080"), false),
        ] {
            let network = RepositoryNetwork { proxy, certificates: None };
            assert_eq!(network.proxy(), expected);
            for variable in ["https_proxy", "ALL_PROXY"] {
                assert_eq!(network.variables().any(|name| name == variable), sees_system, "{expected:?}");
            }
            assert!(network.variables().any(|name| name == "PATH"));
        }
        // git uses the chosen proxy and no other.
        let proxy = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}", proxy.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (stream, _) = proxy.accept().unwrap();
            let mut line = String::new();
            std::io::BufRead::read_line(&mut std::io::BufReader::new(&stream), &mut line).unwrap();
            line
        });
        let network = RepositoryNetwork { proxy: manual(&url), certificates: None };
        let error_key =
            clone("https://skills.example/me/skills", &network).await.err().map(|error| error.key);
        assert_eq!(error_key, Some("skills.not_fetched".into()));
        assert_eq!(server.join().unwrap().trim_end(), "CONNECT skills.example:443 HTTP/1.1");
    }

    #[tokio::test]
    async fn own_certificates_are_trusted_beside_the_systems() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(RepositoryNetwork::default().bundle(folder.path()).await.unwrap(), None);
        let own = octo_protocol::TrustedCertificates { pem: "own".to_owned(), count: 1, file: None };
        let network = RepositoryNetwork { certificates: Some(Box::new(own)), ..RepositoryNetwork::default() };
        if network.bundle(folder.path()).await.unwrap().is_some() {
            let bundle = std::fs::read_to_string(folder.path().join("trusted.pem")).unwrap();
            assert!(bundle.ends_with("\nown") && bundle.len() > 4, "the system's come first");
        }
    }
}
