use super::*;
use std::{fs, os::unix::fs::symlink};

#[test]
fn no_link_in_a_path_is_followed() {
    let folder = octo_testkit::test_folder();
    let base = folder.path().canonicalize().unwrap();
    fs::create_dir_all(base.join("real/deep")).unwrap();
    fs::write(base.join("real/deep/file"), "x").unwrap();
    symlink("real", base.join("link")).unwrap();
    assert!(Folder::open(&base.join("real/deep")).is_ok());
    for path in ["link", "link/deep", "real/deep/file", "missing"] {
        let error = Folder::open(&base.join(path)).unwrap_err();
        assert!(is_missing_parent(&error), "{path}: {error:?}");
    }
    for path in ["real/../real", "relative"] {
        let path = if path == "relative" { PathBuf::from(path) } else { base.join(path) };
        assert!(Folder::open(&path).is_err(), "{}", path.display());
    }
    let mut folders = FolderCache::default();
    assert!(matches!(folders.read_entry(&base.join("real/deep/file")).unwrap(), DiskEntry::File(..)));
    assert!(matches!(folders.read_entry(&base.join("link/deep/file")).unwrap(), DiskEntry::Absent));
    assert!(
        matches!(folders.read_entry(&base.join("link")).unwrap(), DiskEntry::Link(target, _) if target == Path::new("real"))
    );
}

#[test]
fn an_open_folder_stays_the_same_when_its_path_is_swapped() {
    let folder = octo_testkit::test_folder();
    let base = folder.path().canonicalize().unwrap();
    fs::create_dir(base.join("d")).unwrap();
    fs::create_dir(base.join("victim")).unwrap();
    let opened = Folder::open(&base.join("d")).unwrap();
    fs::rename(base.join("d"), base.join("moved")).unwrap();
    symlink("victim", base.join("d")).unwrap();
    opened.create("new".as_ref(), 0o600).unwrap();
    assert!(base.join("moved/new").exists());
    assert_eq!(fs::read_dir(base.join("victim")).unwrap().count(), 0);
}

#[test]
fn a_pipe_is_recognised_without_blocking() {
    let folder = octo_testkit::test_folder();
    let base = folder.path().canonicalize().unwrap();
    nix::unistd::mkfifo(&base.join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(matches!(FolderCache::default().read_entry(&base.join("pipe")).unwrap(), DiskEntry::Special(_)));
}
