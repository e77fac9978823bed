//! Scripts in the home: shipped with Octo, editable by the person.

use serde_json::{Map, Value};
use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

/// A script as shipped.
#[derive(Clone, Copy, Debug)]
pub struct ShippedScript {
    /// Its file name.
    pub name: &'static str,
    /// Its text; one of its first lines contains `# VERSION: n`.
    pub text: &'static str,
}

/// The folder of scripts. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Scripts {
    folder: PathBuf,
}

/// The result of installing a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptInstallOutcome {
    /// The script did not exist.
    New,
    /// The script exists in this version or a newer one, as shipped or changed.
    Unchanged,
    /// An older, unchanged script was replaced.
    Replaced,
    /// An older, changed script was renamed, and this one took its name.
    BackedUp {
        /// The new path of the changed script.
        backup: PathBuf,
    },
}

/// The file with the hashes of shipped scripts: a script that still has its hash is unchanged.
const SHIPPED: &str = ".shipped.json";
/// The number of lines searched for a version.
const HEAD_LINES: usize = 40;
/// The maximum number of backups of one version of a script.
const MAX_BACKUPS: u32 = 1_000;

impl Scripts {
    /// Returns the scripts in `folder`.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns a script's path, or `None` if it does not exist.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let path = self.folder.join(name);
        path.is_file().then_some(path)
    }

    /// Installs shipped scripts into the folder. A script the person changed is never lost: if a newer version
    /// takes its name, it stays in the folder as `NAME.v<old>.bak`.
    ///
    /// # Errors
    ///
    /// I/O errors. Scripts installed before the error stay.
    pub fn install(
        &self,
        shipped: &[ShippedScript],
    ) -> io::Result<Vec<(&'static str, ScriptInstallOutcome)>> {
        crate::private_folder(&self.folder)?;
        let mut hashes = self.hashes();
        let mut outcomes = Vec::new();
        for script in shipped {
            let known_hash = hashes.get(script.name).and_then(Value::as_str).map(str::to_owned);
            let outcome = self.install_one(script, known_hash.as_deref())?;
            let hash = blake3::hash(script.text.as_bytes()).to_hex().to_string();
            if outcome != ScriptInstallOutcome::Unchanged || self.has_hash(script.name, &hash) {
                hashes.insert(script.name.to_owned(), Value::from(hash));
            }
            outcomes.push((script.name, outcome));
        }
        self.put(SHIPPED, &Value::Object(hashes).to_string(), 0o600)?;
        Ok(outcomes)
    }

    fn install_one(
        &self,
        script: &ShippedScript,
        recorded_hash: Option<&str>,
    ) -> io::Result<ScriptInstallOutcome> {
        let path = self.folder.join(script.name);
        let present = match fs::read(&path) {
            Ok(present) => present,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.put(script.name, script.text, 0o700)?;
                return Ok(ScriptInstallOutcome::New);
            }
            Err(error) => return Err(error),
        };
        let text = String::from_utf8_lossy(&present);
        let installed_version = version(&text);
        if present == script.text.as_bytes() || installed_version >= version(script.text) {
            return Ok(ScriptInstallOutcome::Unchanged);
        }
        if recorded_hash == Some(blake3::hash(&present).to_hex().as_str()) {
            self.put(script.name, script.text, 0o700)?;
            return Ok(ScriptInstallOutcome::Replaced);
        }
        let backup = self.free_backup(script.name, installed_version)?;
        fs::rename(&path, &backup)?;
        self.put(script.name, script.text, 0o700)?;
        Ok(ScriptInstallOutcome::BackedUp { backup })
    }

    fn free_backup(&self, name: &str, version: u32) -> io::Result<PathBuf> {
        let backup = |more: &str| self.folder.join(format!("{name}.v{version}{more}.bak"));
        (1..MAX_BACKUPS)
            .map(|count| if count == 1 { backup("") } else { backup(&format!("-{count}")) })
            .find(|path| !path.exists())
            .ok_or_else(|| io::Error::other("too many versions were put aside"))
    }

    fn has_hash(&self, name: &str, hash: &str) -> bool {
        fs::read(self.folder.join(name)).is_ok_and(|present| blake3::hash(&present).to_hex().as_str() == hash)
    }

    /// Returns the hashes of scripts shipped before. If the file cannot be read, every script counts as
    /// changed.
    fn hashes(&self) -> Map<String, Value> {
        let text = fs::read_to_string(self.folder.join(SHIPPED)).unwrap_or_default();
        match serde_json::from_str(&text) {
            Ok(Value::Object(hashes)) => hashes,
            _ => Map::new(),
        }
    }

    fn put(&self, name: &str, text: &str, mode: u32) -> io::Result<()> {
        let mut temporary = tempfile::Builder::new().prefix(".script-").tempfile_in(&self.folder)?;
        temporary.write_all(text.as_bytes())?;
        set_mode(temporary.path(), mode)?;
        temporary.as_file().sync_all()?;
        temporary.persist(self.folder.join(name)).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Returns the number after `VERSION:` in a script's first lines; a script without one is older than any.
fn version(text: &str) -> u32 {
    let version_text = text.lines().take(HEAD_LINES).find_map(|line| line.split_once("VERSION:"));
    version_text.and_then(|(_, number)| number.trim().parse().ok()).unwrap_or(0)
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: ShippedScript = ShippedScript { name: "read.sh", text: "#!/bin/sh\n# VERSION: 1\necho one\n" };
    const TWO: ShippedScript = ShippedScript { name: "read.sh", text: "#!/bin/sh\n# VERSION: 2\necho two\n" };

    fn outcome(scripts: &Scripts, shipped: ShippedScript) -> ScriptInstallOutcome {
        scripts.install(&[shipped]).unwrap().remove(0).1
    }

    #[test]
    fn an_update_replaces_unchanged_scripts_and_backs_up_changed_ones() {
        let home = octo_testkit::test_folder();
        let scripts = Scripts::new(home.path().join("scripts"));
        assert_eq!(scripts.find("read.sh"), None);
        assert_eq!(outcome(&scripts, ONE), ScriptInstallOutcome::New);
        assert_eq!(outcome(&scripts, ONE), ScriptInstallOutcome::Unchanged);
        assert_eq!(outcome(&scripts, TWO), ScriptInstallOutcome::Replaced);
        let path = scripts.find("read.sh").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), TWO.text);

        let changed_text = "#!/bin/sh\n# VERSION: 2\necho mine\n";
        fs::write(&path, changed_text).unwrap();
        assert_eq!(
            outcome(&scripts, TWO),
            ScriptInstallOutcome::Unchanged,
            "of the same version, it stays in use"
        );
        assert_eq!(
            outcome(&scripts, ONE),
            ScriptInstallOutcome::Unchanged,
            "an older Octo takes nothing back"
        );
        let three = ShippedScript { text: "#!/bin/sh\n# VERSION: 3\necho three\n", ..TWO };
        let backup = path.with_file_name("read.sh.v2.bak");
        assert_eq!(outcome(&scripts, three), ScriptInstallOutcome::BackedUp { backup: backup.clone() });
        assert_eq!(fs::read_to_string(&backup).unwrap(), changed_text);
        assert_eq!(fs::read_to_string(&path).unwrap(), three.text);

        // A second changed script of the same version does not overwrite the backup of the first.
        fs::write(&path, "# VERSION: 2\nagain\n").unwrap();
        let second = path.with_file_name("read.sh.v2-2.bak");
        assert_eq!(outcome(&scripts, three), ScriptInstallOutcome::BackedUp { backup: second });
        assert_eq!(fs::read_to_string(&backup).unwrap(), changed_text);
        fs::remove_file(&path).unwrap();
        assert_eq!(outcome(&scripts, three), ScriptInstallOutcome::New, "one that was removed comes back");
    }

    #[test]
    fn without_a_record_or_a_version_nothing_is_lost() {
        let home = octo_testkit::test_folder();
        let scripts = Scripts::new(home.path());
        fs::write(home.path().join("read.sh"), "echo no version\n").unwrap();
        fs::write(home.path().join(SHIPPED), "broken").unwrap();
        let backup = home.path().join("read.sh.v0.bak");
        assert_eq!(outcome(&scripts, ONE), ScriptInstallOutcome::BackedUp { backup: backup.clone() });
        assert_eq!(fs::read_to_string(backup).unwrap(), "echo no version\n");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(home.path().join("read.sh")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
    }
}
