//! The system confinement of a session's commands: see [`octo_shell::Confinement`].

use crate::{
    base::Base,
    permission::{CommandFacts, Decision, RunBasis},
};
use octo_protocol::{Risk, Switch};
use octo_shell::Confinement;
use octo_workspace::is_secret;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// The person's keys and accounts that a command allowed to work on other machines needs, relative to the
/// person's home. Read-only.
const ACCOUNT_PATHS: &[&str] = &[
    ".aws",
    ".azure",
    ".cargo/credentials.toml",
    ".config/gcloud",
    ".config/gh",
    ".docker",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".ssh",
];

/// The limits of a session's commands.
#[derive(Clone)]
pub(super) struct SessionConfinement {
    base: Arc<Base>,
    folder: PathBuf,
    scratch: PathBuf,
}

impl SessionConfinement {
    pub(super) fn new(base: Arc<Base>, folder: PathBuf, scratch: PathBuf) -> Self {
        Self { base, folder, scratch }
    }

    /// Returns the confinement of a command under this decision. `None` leaves it unconfined: the system offers
    /// no confinement, the person switched it off, or the command was allowed to change the machine itself,
    /// which confinement would prevent.
    pub(super) fn confinement(&self, decision: &Decision, facts: &CommandFacts) -> Option<Confinement> {
        if self.base.preferences().confinement == Switch::Off || !octo_shell::confines() {
            return None;
        }
        let home = std::env::home_dir().and_then(|home| octo_workspace::resolve_links(&home).ok());
        let octo = self.base.paths.resolved_home();
        let mut writable = vec![self.folder.clone(), self.scratch.clone()];
        let (mut secrets, mut enterable) = (Vec::new(), Vec::new());
        // A command judged harmless gets only the inspected paths; after the person's approval it also gets the
        // paths it names.
        if !matches!(decision, Decision::Run(RunBasis::Policy)) {
            match facts.risk {
                Some(Risk::Privileged | Risk::Installs | Risk::System) => return None,
                Some(Risk::Pushes | Risk::Remote | Risk::Publishes | Risk::Keychain) => {
                    secrets.extend(account_paths(home.as_deref()));
                }
                Some(Risk::RunsDownload | Risk::RewritesHistory | Risk::Deletes | Risk::Ruled) | None => {}
            }
            if facts.has_rule {
                secrets.extend(account_paths(home.as_deref()));
            }
            for path in facts.writes.iter().filter(|path| !path.starts_with(&self.folder)) {
                enterable.extend(path.ancestors().skip(1).find(|parent| parent.is_dir()).map(Path::to_owned));
                writable.push(path.clone());
            }
            secrets.extend(facts.reads.iter().filter(|path| is_secret(path)).cloned());
        }
        let readable = ["archives", "bin", "logs", "memories", "outputs", "received", "scripts", "skills"];
        Some(Confinement {
            writable,
            enterable,
            secrets,
            home,
            octo_readable: readable.iter().map(|name| octo.join(name)).collect(),
            octo,
            octo_others: self.base.paths.other_homes(),
        })
    }
}

fn account_paths(home: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    home.into_iter().flat_map(|home| ACCOUNT_PATHS.iter().map(|name| home.join(name)))
}
