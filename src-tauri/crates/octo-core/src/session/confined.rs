//! What the system lets a session's commands touch: see [`octo_shell::Confinement`].

use crate::{
    base::Base,
    permission::{Basis, Decision, Nature},
};
use octo_protocol::{Risk, Switch};
use octo_shell::{Confinement, temporary_folders};
use octo_workspace::is_secret;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// What a command that was allowed to work on other machines needs of the person's keys and accounts, relative to the
/// home. Read, never written.
const ACCOUNTS: &[&str] = &[
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

/// Where a session's commands are held to.
#[derive(Clone)]
pub(super) struct Fence {
    base: Arc<Base>,
    folder: PathBuf,
    scratch: PathBuf,
}

impl Fence {
    pub(super) fn new(base: Arc<Base>, folder: PathBuf, scratch: PathBuf) -> Self {
        Self { base, folder, scratch }
    }

    /// What a command may touch by this decision; none for all that the person may: where the system has no means,
    /// the person does not want it, or the command was allowed to change the machine itself, which it could not.
    pub(super) fn confinement(&self, decision: &Decision, nature: &Nature) -> Option<Confinement> {
        if self.base.preferences().confinement == Switch::Off || !octo_shell::confines() {
            return None;
        }
        let home = std::env::home_dir().and_then(|home| octo_workspace::real(&home).ok());
        let octo = self.base.paths.real_home();
        let mut writable = temporary_folders();
        writable.extend([self.folder.clone(), self.scratch.clone()]);
        let (mut secrets, mut entered) = (Vec::new(), Vec::new());
        // Found harmless, it gets no more than what was looked at; allowed by the person, what it names as well.
        if !matches!(decision, Decision::Run(Basis::Policy)) {
            match nature.risk {
                Some(Risk::Privileged | Risk::Installs | Risk::System) => return None,
                Some(Risk::Pushes | Risk::Remote | Risk::Publishes | Risk::Keychain) => {
                    secrets.extend(accounts(home.as_deref()));
                }
                Some(Risk::RunsDownload | Risk::RewritesHistory | Risk::Deletes | Risk::Ruled) | None => {}
            }
            if nature.ruled {
                secrets.extend(accounts(home.as_deref()));
            }
            for path in nature.writes.iter().filter(|path| !path.starts_with(&self.folder)) {
                entered.extend(path.ancestors().skip(1).find(|parent| parent.is_dir()).map(Path::to_owned));
                writable.push(path.clone());
            }
            secrets.extend(nature.reads.iter().filter(|path| is_secret(path)).cloned());
        }
        let readable = ["archives", "bin", "logs", "memories", "outputs", "received", "scripts", "skills"];
        Some(Confinement {
            writable,
            entered,
            secrets,
            home,
            octo_readable: readable.iter().map(|name| octo.join(name)).collect(),
            octo,
            octo_others: self.base.paths.other_homes(),
        })
    }
}

fn accounts(home: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    home.into_iter().flat_map(|home| ACCOUNTS.iter().map(|name| home.join(name)))
}
