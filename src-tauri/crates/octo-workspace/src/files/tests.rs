use super::*;
use proptest::prelude::*;
use std::{
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
};

struct Home {
    _keep: tempfile::TempDir,
    base: PathBuf,
    folder: PathBuf,
    files: Files,
}

/// A session's folder `in` next to `out` (outside the scope), `lib` (readable) and `tmp` (writable).
fn home() -> Home {
    let keep = octo_testkit::test_folder();
    let base = keep.path().canonicalize().unwrap();
    for name in ["in", "out", "lib", "tmp"] {
        fs::create_dir(base.join(name)).unwrap();
    }
    let folder = base.join("in");
    let scope = FileScope {
        folder: folder.clone(),
        readable: vec![base.join("lib")],
        writable: vec![base.join("tmp")],
    };
    Home { _keep: keep, base, folder, files: Files::new(scope) }
}

impl Home {
    /// Returns the names in a folder, to which a failed write must add nothing.
    fn names(&self, folder: &str) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.base.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

const LIMIT: u64 = 1 << 20;

#[test]
fn the_scope_decides_and_grants_widen_it_by_exactly_what_they_name() {
    let home = home();
    for name in ["in/a", "in/.env", "lib/a", "lib/.env", "tmp/a", "out/a", "out/b", "out/.env"] {
        fs::write(home.base.join(name), "x").unwrap();
    }
    let granted = home
        .files
        .with_grants(&[home.base.join("out")], &[home.base.join("out/b"), home.base.join("in/.env")]);
    // path, readable, writable, readable if granted, writable if granted
    for (path, read, write, granted_read, granted_write) in [
        ("in/a", true, true, true, true),
        ("in/new/er", true, true, true, true),
        ("in/.env", false, false, true, true),
        ("in/../out/b", false, false, true, true),
        ("lib/a", true, false, true, false),
        ("lib/.env", false, false, false, false),
        ("tmp/a", true, true, true, true),
        ("out/a", false, false, true, false),
        ("out/b", false, false, true, true),
        ("out/.env", false, false, false, false),
        ("out", false, false, true, false),
        ("", false, false, false, false),
    ] {
        let path = crate::resolve(path.trim_end_matches('/'), &home.base).unwrap_or(home.base.clone());
        assert_eq!(home.files.check_read(&path).is_ok(), read, "read {}", path.display());
        assert_eq!(home.files.check_write(&path).is_ok(), write, "write {}", path.display());
        assert_eq!(granted.check_read(&path).is_ok(), granted_read, "granted read {}", path.display());
        assert_eq!(granted.check_write(&path).is_ok(), granted_write, "granted write {}", path.display());
        assert!(home.files.for_person().check_write(&path).is_err(), "what is for the person only reads");
        assert!(home.files.for_person().check_read(&path).is_ok());
    }
    let secret_folder = home.base.join("out/.ssh");
    fs::create_dir(&secret_folder).unwrap();
    let granted = home.files.with_grants(std::slice::from_ref(&secret_folder), &[]);
    assert!(
        granted.check_read(&secret_folder.join("config")).is_ok(),
        "who granted .ssh meant what is in it"
    );
}

/// Denies everything below `denied`, and treats names like `*.token` or `vault` as secret.
#[derive(Debug)]
struct Rules(PathBuf);

impl ClosedPaths for Rules {
    fn restriction(&self, path: &Path) -> PathRestriction {
        let text = path.to_string_lossy();
        if path.starts_with(&self.0) {
            PathRestriction::Denied
        } else if text.ends_with(".token") || text.contains("/vault") {
            PathRestriction::Secret
        } else {
            PathRestriction::No
        }
    }
}

#[test]
fn restricted_paths_are_closed_everywhere() {
    let home = home();
    for name in ["in/a", "in/x.token", "in/private/a", "in/vault/a"] {
        fs::create_dir_all(home.base.join(name).parent().unwrap()).unwrap();
        fs::write(home.base.join(name), "x").unwrap();
    }
    let (open, token) = (home.folder.join("a"), home.folder.join("x.token"));
    let (denied, vault) = (home.folder.join("private/a"), home.folder.join("vault"));
    let files = home.files.with_closed_paths(Arc::new(Rules(home.folder.join("private"))));
    assert!(files.read(&open, LIMIT).is_ok() && files.write(&open, b"y").is_ok());
    for secret in [&token, &vault.join("a")] {
        assert!(matches!(files.read(secret, LIMIT), Err(FilesError::Outside { .. })));
        assert!(matches!(files.write(secret, b"y"), Err(FilesError::Outside { .. })));
    }
    let granted = files.with_grants(&[home.folder.clone(), vault.clone()], std::slice::from_ref(&token));
    assert!(granted.write(&token, b"y").is_ok());
    assert!(granted.read(&vault.join("a"), LIMIT).is_ok(), "who granted the folder meant what is in it");
    // No grant opens a denied path, not even to show it to the person.
    let restricted = [home.folder.join("private"), denied.clone()];
    for files in [&files, &files.with_grants(&restricted, &restricted), &files.for_person()] {
        assert_eq!(files.read(&denied, LIMIT), Err(FilesError::Closed { path: denied.clone() }));
        assert_eq!(files.write(&denied, b"y"), Err(FilesError::Closed { path: denied.clone() }));
    }
}

#[test]
fn an_edit_replaces_the_content_it_read() {
    let home = home();
    let path = home.folder.join("unread");
    fs::write(&path, "one").unwrap();
    assert_eq!(home.files.read_to_change(&path, LIMIT).unwrap(), b"one");
    fs::write(&path, "two").unwrap();
    assert_eq!(home.files.write(&path, b"one and more"), Err(FilesError::Changed { path: path.clone() }));
    assert_eq!(fs::read(&path).unwrap(), b"two");

    let shown = home.folder.join("shown");
    fs::write(&shown, "one").unwrap();
    home.files.for_person().read_to_change(&shown, LIMIT).unwrap();
    fs::write(&shown, "two").unwrap();
    assert!(home.files.write(&shown, b"x").is_ok(), "what the person is shown the session has not seen");
}

#[test]
fn a_write_creates_replaces_and_reports() {
    let home = home();
    let path = home.folder.join("sub/dir/test.txt");
    let report = home.files.write(&path, b"one").unwrap();
    assert_eq!((report.before, report.after.len, &report.path), (None, 3, &path));
    let report = home.files.write(&path, b"three").unwrap();
    assert_eq!(report.before, Some(FileState { len: 3, hash: blake3::hash(b"one") }));
    assert_eq!(report.after, FileState { len: 5, hash: blake3::hash(b"three") });
    assert_eq!(fs::read(&path).unwrap(), b"three");
    assert_eq!(home.names("in/sub/dir"), ["test.txt"], "no temporary file stays");
}

#[cfg(unix)]
#[test]
fn modes_are_kept_and_new_files_get_the_usual_one() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let home = home();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let path = home.folder.join("run.sh");
    for kept in [0o755, 0o600, 0o640, 0o200] {
        let _ = fs::remove_file(&path);
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
        if kept == 0o200 && fs::File::open(&path).is_err() {
            continue; // Not root: a file nobody may read has no former content to report.
        }
        Files::new((*home.files.scope).clone()).write(&path, b"new").unwrap();
        assert_eq!(mode(&path), kept);
    }
    let usual = home.folder.join("usual");
    fs::write(&usual, "").unwrap();
    let own_file = home.folder.join("ours");
    home.files.write(&own_file, b"").unwrap();
    assert_eq!(mode(&own_file), mode(&usual));
    if fs::metadata(&path).unwrap().uid() == 0 {
        std::os::unix::fs::chown(&path, Some(1234), Some(4321)).unwrap();
        home.files.write(&path, b"newer").unwrap();
        let meta = fs::metadata(&path).unwrap();
        assert_eq!((meta.uid(), meta.gid()), (1234, 4321), "root keeps the owner");
    }
}

#[cfg(unix)]
#[test]
fn special_files_are_refused_and_unchanged() {
    use std::os::unix::{fs::PermissionsExt, net::UnixListener};
    let home = home();
    let (files, folder) = (&home.files, &home.folder);
    fs::create_dir(folder.join("dir")).unwrap();
    let _socket = UnixListener::bind(folder.join("socket")).unwrap();
    fs::write(folder.join("file"), "keep").unwrap();
    fs::write(folder.join("locked"), "keep").unwrap();
    fs::set_permissions(folder.join("locked"), fs::Permissions::from_mode(0o444)).unwrap();

    let write_error = |name: &str| files.write(&folder.join(name), b"new").unwrap_err();
    assert!(matches!(write_error("dir"), FilesError::IsFolder { .. }));
    assert!(matches!(write_error("socket"), FilesError::Special { .. }));
    assert!(matches!(write_error("file/below"), FilesError::Failed { .. }));
    assert!(matches!(write_error("locked"), FilesError::ReadOnly { .. }));
    assert!(write_error("locked").to_string().contains("read-only"));
    assert!(matches!(files.write(folder, b"new"), Err(FilesError::IsFolder { .. })));
    assert!(matches!(files.read(&folder.join("dir"), LIMIT), Err(FilesError::IsFolder { .. })));
    assert!(matches!(files.read(&folder.join("socket"), LIMIT), Err(FilesError::Special { .. })));
    assert!(matches!(files.read(&folder.join("none"), LIMIT), Err(FilesError::NotFound { .. })));
    assert!(matches!(files.list(&folder.join("file"), 9), Err(FilesError::NotFolder { .. })));
    assert!(matches!(
        files.read(&folder.join("file"), 3),
        Err(FilesError::TooLarge { len: 4, limit: 3, .. })
    ));
    assert_eq!(fs::read(folder.join("file")).unwrap(), b"keep");
    assert_eq!(fs::read(folder.join("locked")).unwrap(), b"keep");
    assert_eq!(home.names("in"), ["dir", "file", "locked", "socket"]);
}

/// Opening a pipe without a writer would block without end.
#[cfg(unix)]
#[test]
fn pipes_are_judged_without_opening_them() {
    let home = home();
    for name in ["in/pipe", "out/pipe"] {
        let made = std::process::Command::new("mkfifo").arg(home.base.join(name)).status().unwrap();
        assert!(made.success());
    }
    let granted = home.files.with_grants(&[], &[home.base.join("in/a")]);
    assert!(matches!(granted.read(&home.base.join("out/pipe"), LIMIT), Err(FilesError::Outside { .. })));
    assert!(matches!(granted.read(&home.base.join("in/pipe"), LIMIT), Err(FilesError::Special { .. })));
    assert!(matches!(granted.write(&home.base.join("in/pipe"), b"x"), Err(FilesError::Special { .. })));
}

#[test]
fn a_folder_of_very_many_files_is_listed_from_the_start() {
    let home = home();
    for n in 0..2_000 {
        fs::write(home.folder.join(format!("{n:04}")), "").unwrap();
    }
    let listing = home.files.list(&home.folder, 3).unwrap();
    let names: Vec<&str> = listing.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!((names, listing.files), (vec!["0000", "0001", "0002"], 2_000));
}

#[cfg(unix)]
#[test]
fn links_are_written_through_and_judged_by_their_target() {
    use std::os::unix::fs::symlink;
    let home = home();
    fs::write(home.folder.join("real"), "old").unwrap();
    fs::write(home.base.join("out/real"), "old").unwrap();
    symlink("real", home.folder.join("link")).unwrap();
    symlink("../out/real", home.folder.join("escape")).unwrap();
    symlink("../out/new", home.folder.join("dangling")).unwrap();
    symlink("../out", home.folder.join("folder")).unwrap();

    let report = home.files.write(&home.folder.join("link"), b"new").unwrap();
    assert_eq!(report.path, home.folder.join("real"));
    assert!(home.folder.join("link").is_symlink(), "the link stays a link");
    assert_eq!(fs::read(home.folder.join("real")).unwrap(), b"new");

    for name in ["escape", "dangling", "folder/x"] {
        let error = home.files.write(&home.folder.join(name), b"new").unwrap_err();
        assert!(matches!(error, FilesError::Outside { access: Access::Write, .. }), "{name}: {error}");
    }
    assert!(matches!(home.files.read(&home.folder.join("escape"), LIMIT), Err(FilesError::Outside { .. })));
    assert_eq!(fs::read(home.base.join("out/real")).unwrap(), b"old");
    assert_eq!(home.names("out"), ["real"]);

    // An allowed path that is swapped for a link before the write is checked again.
    let allowed = crate::resolve("later", &home.folder).unwrap();
    assert!(home.files.check_write(&allowed).is_ok());
    symlink("../out/real", &allowed).unwrap();
    assert!(matches!(home.files.write(&allowed, b"new"), Err(FilesError::Outside { .. })));
    let granted = home.files.with_grants(&[], std::slice::from_ref(&allowed));
    assert!(
        matches!(granted.write(&allowed, b"new"), Err(FilesError::Outside { .. })),
        "a grant is for the real path"
    );
    assert_eq!(fs::read(home.base.join("out/real")).unwrap(), b"old");
}

#[test]
fn a_vanished_folder_is_named_and_not_recreated() {
    let home = home();
    fs::remove_dir(&home.folder).unwrap();
    let vanished = FilesError::FolderVanished { folder: home.folder.clone() };
    assert_eq!(home.files.write(&home.folder.join("a/b"), b"x"), Err(vanished.clone()));
    assert_eq!(home.files.read(&home.folder.join("a"), LIMIT), Err(vanished.clone()));
    assert_eq!(home.files.list(&home.folder, 9), Err(vanished));
    assert!(!home.folder.exists());
}

#[test]
fn a_file_that_changed_since_it_was_read_is_not_overwritten() {
    let home = home();
    let path = home.folder.join("a");
    let changed = FilesError::Changed { path: path.clone() };
    fs::write(&path, "one").unwrap();
    home.files.read(&path, LIMIT).unwrap();
    // The same length and, within the clock's resolution, perhaps the same time: the content decides.
    fs::write(&path, "two").unwrap();
    assert_eq!(home.files.write(&path, b"new"), Err(changed.clone()));
    assert_eq!(home.files.read_to_change(&path, LIMIT), Err(changed.clone()));
    assert_eq!(
        home.files.clone().with_grants(&[], &[]).write(&path, b"new"),
        Err(changed.clone()),
        "all clones know"
    );
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert!(changed.to_string().contains("changed on disk since you read it"));

    assert_eq!(home.files.for_person().read(&path, LIMIT).unwrap(), b"two");
    assert_eq!(
        home.files.write(&path, b"new"),
        Err(changed),
        "what the person is shown the model has not seen"
    );
    home.files.read(&path, LIMIT).unwrap();
    home.files.write(&path, b"new").unwrap();
    home.files.write(&path, b"newer").unwrap();
    assert_eq!(home.files.read_to_change(&path, LIMIT).unwrap(), b"newer", "its own writes are no surprise");

    fs::write(&path, "newer").unwrap();
    home.files.write(&path, b"only touched").unwrap();
    fs::remove_file(&path).unwrap();
    home.files.write(&path, b"made anew").unwrap();

    let streamed = home.folder.join("big.log");
    fs::write(&streamed, "one").unwrap();
    home.files.open(&streamed).unwrap();
    fs::write(&streamed, "longer").unwrap();
    assert!(matches!(home.files.write(&streamed, b"x"), Err(FilesError::Changed { .. })));

    let unread_file = home.folder.join("unread");
    fs::write(&unread_file, "x").unwrap();
    home.files.write(&unread_file, b"y").unwrap();
}

#[test]
fn folders_are_listed_in_order_and_bounded() {
    let home = home();
    for name in ["zzz", "yyy"] {
        fs::create_dir(home.folder.join(name)).unwrap();
    }
    for name in ["b.txt", "aaa.txt"] {
        fs::write(home.folder.join(name), "").unwrap();
    }
    let listing = home.files.list(&home.folder, 3).unwrap();
    let names: Vec<&str> = listing.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!((names, listing.folders, listing.files), (vec!["yyy", "zzz", "aaa.txt"], 2, 2));
    assert_eq!(listing.entries[0].kind, FileKind::Folder);
    assert_eq!(listing.entries[2].kind, FileKind::File);
}

/// A concurrent reader gets either content, complete.
#[test]
fn readers_see_the_old_content_or_the_new_one() {
    let home = home();
    let path = home.folder.join("a");
    let contents: Vec<Vec<u8>> =
        (0..4_u8).map(|n| vec![b'a' + n; 50_000 + 10_000 * usize::from(n)]).collect();
    fs::write(&path, &contents[0]).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            while !is_done.load(Ordering::Relaxed) || reads == 0 {
                let content = fs::read(&path).unwrap();
                assert!(
                    contents.contains(&content),
                    "{} bytes, starting {:?}",
                    content.len(),
                    content.first()
                );
                reads += 1;
            }
        });
        for round in 0..40 {
            home.files.write(&path, &contents[round % 4]).unwrap();
        }
        is_done.store(true, Ordering::Relaxed);
        reader.join().unwrap();
    });
    assert_eq!(home.names("in"), ["a"]);
}

/// A folder and a link to another one take turns under one name while files are read and written through it.
#[cfg(target_os = "linux")]
#[test]
fn a_link_that_replaces_a_folder_redirects_neither_reading_nor_writing() {
    use rustix::fs::{CWD, RenameFlags};
    let home = home();
    let (sub, link) = (home.folder.join("sub"), home.folder.join("link"));
    let outside = home.base.join("out");
    fs::create_dir(&sub).unwrap();
    fs::write(sub.join("a"), "mine").unwrap();
    fs::write(outside.join("a"), "outside").unwrap();
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let mut swaps = 0_u32;
            while !is_done.load(Ordering::Relaxed) || swaps == 0 {
                rustix::fs::renameat_with(CWD, &sub, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                swaps += 1;
            }
        });
        let mut read = 0;
        for round in 0..3_000 {
            if let Ok(content) = home.files.read(&sub.join("a"), LIMIT) {
                assert_ne!(content, b"outside", "round {round}");
                read += 1;
            }
            if round % 10 == 0 {
                let _refused_or_done = home.files.write(&sub.join("a"), b"mine");
            }
            assert_eq!(fs::read(outside.join("a")).unwrap(), b"outside", "round {round}");
        }
        is_done.store(true, Ordering::Relaxed);
        swapper.join().unwrap();
        assert!(read > 0, "the folder was there at times");
    });
    assert_eq!(home.names("out"), ["a"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn written_content_reads_back(
        first in prop::collection::vec(any::<u8>(), 0..4_000),
        second in prop::collection::vec(any::<u8>(), 0..4_000),
    ) {
        let home = home();
        let path = home.folder.join("dir/file");
        home.files.write(&path, &first).unwrap();
        prop_assert_eq!(&home.files.read(&path, LIMIT).unwrap(), &first);
        let report = home.files.write(&path, &second).unwrap();
        prop_assert_eq!(report.before.unwrap().hash, blake3::hash(&first));
        prop_assert_eq!(&fs::read(&path).unwrap(), &second);
        prop_assert_eq!(home.names("in/dir").len(), 1);
    }
}

/// The variable that tells the child process below where its small disk is.
#[cfg(target_os = "linux")]
const SMALL_DISK: &str = "OCTO_TEST_SMALL_DISK";

/// Runs the next test in its own mount namespace, where a disk of 64 KiB is mounted.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_content_whole() {
    let disk = octo_testkit::test_folder();
    let script = "mount -t tmpfs -o size=64k none \"$OCTO_TEST_SMALL_DISK\" || exit 77; exec \"$0\" \"$@\"";
    let output = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "files::tests::on_a_small_disk", "--ignored", "--nocapture"])
        .env(SMALL_DISK, disk.path())
        .output();
    match output {
        Ok(output) if output.status.success() => {
            assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
        }
        Ok(output) => {
            let message = format!(
                "{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
            // Where users may not create namespaces, the test cannot mount a small disk.
            assert!(message.contains("unshare: ") || output.status.code() == Some(77), "{message}");
            println!("skipped: {message}");
        }
        Err(error) => println!("skipped: {error}"),
    }
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "runs on a small disk, started by the test above"]
fn on_a_small_disk() {
    let folder = PathBuf::from(std::env::var_os(SMALL_DISK).unwrap());
    let files = Files::new(FileScope { folder: folder.clone(), readable: vec![], writable: vec![] });
    let path = folder.join("a");
    files.write(&path, &[b'o'; 16 << 10]).unwrap();
    assert_eq!(files.write(&path, &[b'n'; 128 << 10]), Err(FilesError::Full { path: path.clone() }));
    assert_eq!(fs::read(&path).unwrap(), vec![b'o'; 16 << 10]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "the temporary file is gone");
    files.write(&path, &[b'n'; 8 << 10]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), vec![b'n'; 8 << 10]);
    let blobs = crate::Blobs::new(folder.join("blobs"));
    assert!(matches!(blobs.put(&[0; 128 << 10]), Err(crate::BlobError::Io(_))));
    assert!(blobs.put(b"small").is_ok());
}
