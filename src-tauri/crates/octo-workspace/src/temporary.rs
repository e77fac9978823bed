//! The temporary folders of sessions: what `TMPDIR` names for their commands.
//!
//! They are in the system's own folder for temporary files and not in Octo's home, because a socket is made by its
//! path, which the system limits to about a hundred bytes. Everyone may create entries there: one that belongs to
//! another user, or that others may enter, is never used.

use octo_protocol::SessionId;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The temporary folders of the sessions of one home.
#[derive(Clone, Debug)]
pub struct TemporaryFolders {
    /// The folder that contains them and nothing else.
    base: PathBuf,
}

/// The temporary folder of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemporaryFolder {
    path: PathBuf,
    /// Used while the other cannot be.
    substitute: PathBuf,
}

impl TemporaryFolders {
    /// Those of a home, by its real path. Creates nothing.
    pub fn of_home(home: &Path) -> Self {
        // The folder that `TMPDIR` names on macOS has too long a path.
        let system = if cfg!(target_os = "macos") { PathBuf::from("/tmp") } else { std::env::temp_dir() };
        Self::below(&system, home)
    }

    fn below(system: &Path, home: &Path) -> Self {
        let system = crate::resolve_links(system).unwrap_or_else(|_| system.to_owned());
        let hash = blake3::hash(home.as_os_str().as_encoded_bytes()).to_hex();
        let short_hash = hash.get(..8).unwrap_or_default();
        Self { base: system.join(format!("octo-{short_hash}")) }
    }

    /// Returns the folder of a session. While it cannot be used, `substitute` is.
    pub fn of_session(&self, session: SessionId, substitute: PathBuf) -> TemporaryFolder {
        TemporaryFolder { path: self.base.join(name_of(session)), substitute }
    }

    /// Removes the folder of a session, if there is one.
    ///
    /// # Errors
    ///
    /// When part of it remains.
    pub fn remove(&self, session: SessionId) -> io::Result<()> {
        if !is_private(&self.base) {
            return Ok(());
        }
        remove(&self.base.join(name_of(session)))
    }

    /// Returns the sessions that have a folder.
    pub fn sessions(&self) -> Vec<SessionId> {
        if !is_private(&self.base) {
            return Vec::new();
        }
        let entries = fs::read_dir(&self.base).into_iter().flatten().flatten();
        entries.filter_map(|entry| session_of(entry.file_name().to_str()?)).collect()
    }

    /// Removes all of them.
    ///
    /// # Errors
    ///
    /// When part of them remains.
    pub fn remove_all(&self) -> io::Result<()> {
        if is_private(&self.base) { remove(&self.base) } else { Ok(()) }
    }
}

impl TemporaryFolder {
    /// A folder at this path, used whatever is there.
    pub fn at(path: PathBuf) -> Self {
        Self { substitute: path.clone(), path }
    }

    /// Returns its path, whether it exists or not.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the real path of the folder, made where it is missing: the system may remove what is old.
    ///
    /// # Errors
    ///
    /// When neither it nor the substitute can be made.
    pub fn create(&self) -> io::Result<PathBuf> {
        if self.path == self.substitute {
            return crate::private_folder(&self.path);
        }
        let base = self.path.parent().map_or(Ok(()), make_private);
        match base.and_then(|()| make_private(&self.path)).and_then(|()| self.path.canonicalize()) {
            Ok(made) => Ok(made),
            Err(error) => {
                tracing::warn!(path = %self.path.display(), %error, "another temporary folder is used");
                crate::private_folder(&self.substitute)
            }
        }
    }
}

/// Creates a folder that only its owner may enter, in one that exists; fails if something else is there.
fn make_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(false);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ if is_private(path) => Ok(()),
        _ => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

/// Whether a path is a folder, no link, of this user's, that others may not enter.
fn is_private(path: &Path) -> bool {
    let Ok(meta) = path.symlink_metadata() else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        meta.is_dir() && meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o077 == 0
    }
    #[cfg(not(unix))]
    meta.is_dir()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// The name of a session's folder: its id without dashes.
fn name_of(session: SessionId) -> String {
    session.to_string().replace('-', "")
}

fn session_of(name: &str) -> Option<SessionId> {
    let id: SessionId = name.parse().ok()?;
    (name_of(id) == name).then_some(id)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    struct Fixture {
        root: tempfile::TempDir,
        folders: TemporaryFolders,
        session: SessionId,
    }

    impl Fixture {
        fn new() -> Self {
            let root = octo_testkit::test_folder();
            let folders = TemporaryFolders::below(root.path(), Path::new("/home/me/.octo"));
            Self { root, folders, session: SessionId::new() }
        }

        fn folder(&self) -> TemporaryFolder {
            self.folders.of_session(self.session, self.substitute())
        }

        fn substitute(&self) -> PathBuf {
            self.root.path().canonicalize().unwrap().join("scratch/tmp")
        }
    }

    #[test]
    fn a_folder_is_private_and_made_again() {
        let fixture = Fixture::new();
        let folder = fixture.folder();
        assert!(!folder.path().exists());
        for _ in 0..2 {
            let made = folder.create().unwrap();
            assert_eq!(made, folder.path());
            for folder in [&made, &fixture.folders.base] {
                assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
            }
            fs::write(made.join("file"), "").unwrap();
            assert_eq!(folder.create().unwrap(), made, "one that is there is kept");
            assert!(made.join("file").exists());
            assert_eq!(fixture.folders.sessions(), [fixture.session]);
            fixture.folders.remove(fixture.session).unwrap();
            assert!(!made.exists() && fixture.folders.sessions().is_empty());
        }
        fixture.folders.remove(fixture.session).unwrap();
        // A socket below the real one, as Chromium makes it, has a path the system accepts.
        let real = TemporaryFolders::of_home(Path::new("/home/me/.octo"));
        let length = real.of_session(fixture.session, PathBuf::new()).path().as_os_str().len();
        if std::env::var_os("TMPDIR").is_none() {
            assert!(length + "/.org.chromium.Chromium.XXXXXX/SingletonSocket".len() < 108, "{length}");
        }
    }

    #[test]
    fn what_another_could_have_put_there_is_neither_used_nor_removed() {
        for prepare in [
            |base: &Path, elsewhere: &Path| symlink(elsewhere, base).unwrap(),
            |base: &Path, _: &Path| {
                fs::create_dir(base).unwrap();
                fs::set_permissions(base, fs::Permissions::from_mode(0o777)).unwrap();
            },
            |base: &Path, _: &Path| fs::write(base, "").unwrap(),
        ] {
            let fixture = Fixture::new();
            let elsewhere = fixture.root.path().join("elsewhere");
            let kept = elsewhere.join(name_of(fixture.session));
            fs::create_dir_all(&kept).unwrap();
            prepare(&fixture.folders.base, &elsewhere);
            assert_eq!(fixture.folder().create().unwrap(), fixture.substitute());
            assert!(fixture.folders.sessions().is_empty());
            fixture.folders.remove(fixture.session).unwrap();
            fixture.folders.remove_all().unwrap();
            assert!(kept.exists() && fs::symlink_metadata(&fixture.folders.base).is_ok());
        }
    }

    #[test]
    fn a_link_inside_is_removed_and_not_followed() {
        let fixture = Fixture::new();
        let made = fixture.folder().create().unwrap();
        let outside = fixture.root.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "").unwrap();
        symlink(&outside, made.join("link")).unwrap();
        fs::create_dir(fixture.folders.base.join("of-no-session")).unwrap();
        assert_eq!(fixture.folders.sessions(), [fixture.session]);
        fixture.folders.remove(fixture.session).unwrap();
        assert!(outside.join("file").exists());
        // A link in place of the folder is not entered.
        symlink(&outside, &made).unwrap();
        assert_eq!(fixture.folder().create().unwrap(), fixture.substitute());
        fixture.folders.remove_all().unwrap();
        assert!(outside.join("file").exists() && !fixture.folders.base.exists());
    }

    #[test]
    fn homes_have_different_folders() {
        let [one, other] =
            ["/home/me/.octo", "/home/me/octo"].map(|home| TemporaryFolders::of_home(Path::new(home)).base);
        assert_ne!(one, other);
    }
}
