//! Recognises files that usually contain secrets.
//!
//! A table of names, matched without regard to ASCII case. A file counts as secret if its own name is in
//! [`NAMES`], matches [`PREFIXES`] or [`SUFFIXES`], if one of its folders is in [`FOLDERS`], or if its last
//! names are in [`TAILS`]. Templates (`.env.example`) are not secret. The table errs on the side of asking: a
//! false hit costs a question, a miss costs a key.

use std::path::{Component, Path};

/// File names.
const NAMES: &[&str] = &[
    ".env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".git-credentials",
    ".htpasswd",
    ".dockercfg",
    ".vault-token",
    ".s3cfg",
    ".boto",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "credentials.yml",
    "credentials.yaml",
    "credentials.xml",
    "application_default_credentials.json",
    "client_secret.json",
    "secrets.json",
    "secrets.toml",
    "secrets.yml",
    "secrets.yaml",
    "master.key",
    "terraform.tfstate",
    "kubeconfig",
    "key4.db",
    "logins.json",
    "cookies.sqlite",
    "cookies.binarycookies",
    "login data",
    "shadow",
    "gshadow",
    "sudoers",
    ".bash_history",
    ".zsh_history",
];

/// Prefixes of file names.
const PREFIXES: &[&str] = &[
    ".env.",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "ssh_host_",
    "client_secret_",
    "service-account",
];

/// Suffixes of file names.
const SUFFIXES: &[&str] = &[
    ".env",
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".ppk",
    ".kdbx",
    ".keychain",
    ".keychain-db",
    ".gpg",
    ".tfvars",
    ".ovpn",
];

/// Folders whose whole content is secret.
const FOLDERS: &[&str] =
    &[".ssh", ".aws", ".azure", ".gnupg", ".kube", ".password-store", ".1password", ".mozilla"];

/// Suffixes that mark a file as a template, which is meant to be read.
const TEMPLATES: &[&str] = &[".example", ".sample", ".template", ".dist", ".defaults", ".pub"];

/// Sequences of last names, the file's own last.
const TAILS: &[&[&str]] = &[
    &[".docker", "config.json"],
    &[".cargo", "credentials"],
    &[".gem", "credentials"],
    &[".m2", "settings.xml"],
    &[".gradle", "gradle.properties"],
    &["sudoers.d"],
    &[".octo", "octo.db"],
    &[".octo", "policy.toml"],
    &[".octo", "hooks.toml"],
];

/// Folders whose whole content is secret if one of [`DATA_ROOTS`] is above them: browser profiles and
/// keychains, whose names also occur in ordinary projects.
const DATA_FOLDERS: &[&str] = &[
    "google-chrome",
    "google-chrome-beta",
    "chrome",
    "chromium",
    "bravesoftware",
    "microsoft-edge",
    "microsoft edge",
    "edge",
    "vivaldi",
    "opera",
    "firefox",
    "safari",
    "gcloud",
    "keychains",
    "keyrings",
    "kwalletd",
    "gh",
    "1password",
    "bitwarden",
];
/// Folders with application data.
const DATA_ROOTS: &[&str] = &[".config", ".local", "library", "appdata", "snap", ".var"];

/// Whether a file usually contains secrets: keys, passwords, cookies. `path` must be real (see
/// [`crate::resolve`]): a link's own name says nothing about its target.
pub fn is_secret(path: &Path) -> bool {
    let names: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().to_ascii_lowercase()),
            _ => None,
        })
        .collect();
    let Some(name) = names.last() else { return false };
    in_secret_folder(&names) || (!is_template(name) && is_secret_name(name)) || is_secret_tail(&names)
}

fn is_template(name: &str) -> bool {
    TEMPLATES.iter().any(|end| name.ends_with(end))
}

fn is_secret_name(name: &str) -> bool {
    NAMES.contains(&name)
        || PREFIXES.iter().any(|start| name.starts_with(start))
        || SUFFIXES.iter().any(|end| name.ends_with(end))
}

fn in_secret_folder(names: &[String]) -> bool {
    let data = names.iter().position(|name| DATA_ROOTS.contains(&name.as_str()));
    names.iter().enumerate().any(|(index, name)| {
        FOLDERS.contains(&name.as_str())
            || (DATA_FOLDERS.contains(&name.as_str()) && data.is_some_and(|data| data < index))
    })
}

fn is_secret_tail(names: &[String]) -> bool {
    TAILS.iter().any(|suffix| {
        names.len() >= suffix.len() && names.iter().rev().zip(suffix.iter().rev()).all(|(a, b)| a == b)
    })
}

#[cfg(test)]
mod tests;
