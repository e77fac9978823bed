//! `cargo xtask release`: writes the update files of a release. Octo looks for updates at an address built into
//! it, and accepts only packages signed with the built-in key.

use crate::{project::Project, steps::say};
use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Environment variable with the private key that signs packages; Tauri itself reads it.
const PRIVATE_KEY_VARIABLE: &str = "TAURI_SIGNING_PRIVATE_KEY";
/// Environment variable with the matching public key, which is built into the app.
const PUBLIC_KEY_VARIABLE: &str = "TAURI_SIGNING_PUBLIC_KEY";

/// Selection of release files.
#[derive(Args)]
pub(crate) struct ReleaseOptions {
    #[command(subcommand)]
    part: ReleaseCommand,
}

#[derive(Subcommand)]
enum ReleaseCommand {
    /// Write the update address into a release's build configuration, if updates are signed.
    Config {
        /// The file, which is created or extended.
        #[arg(long, value_name = "FILE")]
        file: PathBuf,
        /// Repository of the release, as `owner/name`.
        #[arg(long)]
        repository: String,
    },
    /// Write `latest.json`, which announces this release to an installed Octo, next to the signed packages.
    Manifest {
        /// Folder with the packages and their signatures.
        #[arg(long)]
        folder: PathBuf,
        /// Repository of the release, as `owner/name`.
        #[arg(long)]
        repository: String,
        /// File with the changes, as Markdown.
        #[arg(long, value_name = "FILE")]
        notes: PathBuf,
        /// Release date, as RFC 3339.
        #[arg(long)]
        date: String,
    },
}

/// Writes one of the files.
///
/// # Errors
/// When files cannot be read or written, when one of the two keys is missing, and when a signature belongs to
/// no package.
pub(crate) fn run(project: &Project, choice: &ReleaseOptions) -> Result<()> {
    match &choice.part {
        ReleaseCommand::Config { file, repository } => {
            let file = project.root.join(file);
            let current = if file.exists() { read(&file)? } else { json!({}) };
            match configuration(
                current,
                repository,
                key_variable(PRIVATE_KEY_VARIABLE).as_deref(),
                key_variable(PUBLIC_KEY_VARIABLE).as_deref(),
            )? {
                Some(after) => write(&file, &after),
                None => {
                    say(&format!("{PRIVATE_KEY_VARIABLE} is not set: this build has no updates"));
                    Ok(())
                }
            }
        }
        ReleaseCommand::Manifest { folder, repository, notes, date } => {
            let packages = signed_packages(folder)?;
            if packages.is_empty() {
                say("nothing is signed: there is no latest.json");
                return Ok(());
            }
            let notes = fs::read_to_string(notes).with_context(|| format!("reading {}", notes.display()))?;
            let release =
                Release { version: env!("CARGO_PKG_VERSION"), notes: notes.trim(), date, repository };
            write(&folder.join("latest.json"), &manifest(&release, &packages)?)
        }
    }
}

/// Returns a key from the environment. CI passes an unset secret as an empty variable.
fn key_variable(name: &str) -> Option<String> {
    env::var(name).ok().map(|key| key.trim().to_owned()).filter(|key| !key.is_empty())
}

fn read(file: &Path) -> Result<Value> {
    let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no JSON", file.display()))
}

fn write(file: &Path, value: &Value) -> Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    fs::write(file, text + "\n").with_context(|| format!("writing {}", file.display()))?;
    say(&format!("{} is written", file.display()));
    Ok(())
}

/// Returns the configuration with the update settings, or `None` if nothing is signed.
///
/// # Errors
/// With only one of the keys: such a build would look for updates it cannot accept, or sign updates no app
/// looks for.
fn configuration(
    mut current: Value,
    repository: &str,
    private: Option<&str>,
    public: Option<&str>,
) -> Result<Option<Value>> {
    let public = match (private, public) {
        (None, None) => return Ok(None),
        (Some(_), Some(public)) => public,
        (Some(_), None) => bail!("{PRIVATE_KEY_VARIABLE} is set and {PUBLIC_KEY_VARIABLE} is not"),
        (None, Some(_)) => bail!("{PUBLIC_KEY_VARIABLE} is set and {PRIVATE_KEY_VARIABLE} is not"),
    };
    let latest = format!("https://github.com/{repository}/releases/latest/download/latest.json");
    merge(
        &mut current,
        json!({
            "bundle": { "createUpdaterArtifacts": true },
            // The release list is not signed: without the version in its signature, an older package could pose
            // as a newer one. The build puts it there.
            "plugins": {
                "updater": { "pubkey": public, "endpoints": [latest], "requireSignedVersion": true },
            },
        }),
    );
    Ok(Some(current))
}

/// Merges `overrides` into `base`: objects recursively, all other values replaced.
fn merge(base: &mut Value, overrides: Value) {
    match (base, overrides) {
        (Value::Object(base_object), Value::Object(overriding)) => {
            for (name, value) in overriding {
                merge(base_object.entry(name).or_insert(Value::Null), value);
            }
        }
        (base_value, overriding) => *base_value = overriding,
    }
}

/// A release as its manifest describes it.
struct Release<'a> {
    version: &'a str,
    notes: &'a str,
    date: &'a str,
    repository: &'a str,
}

/// A package with its signature.
struct SignedPackage {
    name: String,
    signature: String,
}

/// Returns the signed packages of a folder, by name.
fn signed_packages(folder: &Path) -> Result<Vec<SignedPackage>> {
    let mut packages = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".sig"));
        let Some(name) = name else { continue };
        if !folder.join(name).is_file() {
            bail!("{name} has a signature and is not there");
        }
        let signature = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        packages.push(SignedPackage { name: name.to_owned(), signature: signature.trim().to_owned() });
    }
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(packages)
}

/// Returns the part of a release an installed Octo reads: its version, its changes, and for each platform a
/// package with its signature.
///
/// # Errors
/// For a package of unknown kind or processor, and for two packages of the same platform.
fn manifest(release: &Release<'_>, packages: &[SignedPackage]) -> Result<Value> {
    let base_url =
        format!("https://github.com/{}/releases/download/v{}", release.repository, release.version);
    let mut platforms = Map::new();
    for package in packages {
        let entry = json!({ "url": format!("{base_url}/{}", package.name), "signature": package.signature });
        for platform in platforms_of(&package.name)? {
            if platforms.insert(platform.clone(), entry.clone()).is_some() {
                bail!("{} is a second package for {platform}", package.name);
            }
        }
    }
    Ok(json!({
        "version": release.version,
        "notes": release.notes,
        "pub_date": release.date,
        "platforms": platforms,
    }))
}

/// Returns the platforms of a package, as the updater names them: the system, the processor and the package
/// kind of the installed Octo. On a Mac there is only one kind, so the name without a kind is listed too.
fn platforms_of(name: &str) -> Result<Vec<String>> {
    let kinds = [
        (".deb", "linux", "deb"),
        (".rpm", "linux", "rpm"),
        (".AppImage", "linux", "appimage"),
        (".app.tar.gz", "darwin", "app"),
        (".msi", "windows", "msi"),
        ("-setup.exe", "windows", "nsis"),
    ];
    let processors = [("aarch64", ["aarch64", "arm64"].as_slice()), ("x86_64", &["x86_64", "amd64", "x64"])];
    let (_, system, kind) = kinds
        .into_iter()
        .find(|(extension, _, _)| name.ends_with(extension))
        .with_context(|| format!("{name} is signed and no package that is known"))?;
    let (processor, _) = processors
        .into_iter()
        .find(|(_, names)| names.iter().any(|name_part| name.contains(name_part)))
        .with_context(|| format!("{name} names no processor"))?;
    let platform = format!("{system}-{processor}");
    let key = format!("{platform}-{kind}");
    Ok(if system == "darwin" { vec![key, platform] } else { vec![key] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str) -> SignedPackage {
        SignedPackage { name: name.to_owned(), signature: format!("signature of {name}") }
    }

    const RELEASE: Release<'_> = Release {
        version: "0.2.0",
        notes: "- It *works*",
        date: "2026-01-02T03:04:05Z",
        repository: "octo-agent/octo",
    };

    #[test]
    fn every_package_updates_its_own_format() {
        let names = [
            "Octo-0.2.0-1.x86_64.rpm",
            "Octo_0.2.0_amd64.AppImage",
            "Octo_0.2.0_amd64.deb",
            "Octo_0.2.0_x64-setup.exe",
            "Octo_0.2.0_x64_en-US.msi",
            "Octo_macos-aarch64.app.tar.gz",
            "Octo_macos-x86_64.app.tar.gz",
        ];
        let manifest = manifest(&RELEASE, &names.map(package)).unwrap();
        assert_eq!(manifest["version"], "0.2.0");
        assert_eq!(manifest["notes"], "- It *works*");
        assert_eq!(manifest["pub_date"], "2026-01-02T03:04:05Z");
        let mut platforms: Vec<(&str, &str)> = manifest["platforms"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(platform, entry)| {
                let (_, name) = entry["url"].as_str().unwrap().rsplit_once('/').unwrap();
                assert_eq!(entry["signature"], format!("signature of {name}"));
                (platform.as_str(), name)
            })
            .collect();
        platforms.sort_unstable();
        assert_eq!(
            platforms,
            [
                ("darwin-aarch64", names[5]),
                ("darwin-aarch64-app", names[5]),
                ("darwin-x86_64", names[6]),
                ("darwin-x86_64-app", names[6]),
                ("linux-x86_64-appimage", names[1]),
                ("linux-x86_64-deb", names[2]),
                ("linux-x86_64-rpm", names[0]),
                ("windows-x86_64-msi", names[4]),
                ("windows-x86_64-nsis", names[3]),
            ]
        );
        assert_eq!(
            manifest["platforms"]["linux-x86_64-deb"]["url"],
            "https://github.com/octo-agent/octo/releases/download/v0.2.0/Octo_0.2.0_amd64.deb"
        );
    }

    #[test]
    fn an_ambiguous_package_fails_the_release() {
        for names in [
            vec!["Octo.app.tar.gz"],
            vec!["Octo_0.2.0_amd64.zip"],
            vec!["Octo_0.2.0_amd64.deb", "Octo_0.1.0_amd64.deb"],
        ] {
            let packages: Vec<SignedPackage> = names.iter().map(|name| package(name)).collect();
            assert!(manifest(&RELEASE, &packages).is_err(), "{names:?}");
        }
    }

    #[test]
    fn a_signed_release_has_an_update_address() {
        let certificate = json!({ "bundle": { "windows": { "certificateThumbprint": "AB" } } });
        let configure =
            |private, public| configuration(certificate.clone(), "octo-agent/octo", private, public);
        assert_eq!(configure(None, None).unwrap(), None);
        assert!(configure(Some("private"), None).is_err() && configure(None, Some("public")).is_err());
        assert_eq!(
            configure(Some("private"), Some("public")).unwrap().unwrap(),
            json!({
                "bundle": { "windows": { "certificateThumbprint": "AB" }, "createUpdaterArtifacts": true },
                "plugins": { "updater": {
                    "pubkey": "public",
                    "endpoints": ["https://github.com/octo-agent/octo/releases/latest/download/latest.json"],
                    "requireSignedVersion": true,
                } },
            })
        );
    }
}
