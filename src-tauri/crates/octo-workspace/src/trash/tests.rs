use super::*;
use octo_protocol::{RemovedBy, TrashForm};
use proptest::prelude::*;
use std::{collections::BTreeMap, fs, time::SystemTime};

pub(crate) fn removal() -> Removal {
    Removal { remover: RemovedBy::Agent, session: None, project: None, command: Some("rm".to_owned()) }
}

struct Fixture {
    _keep: tempfile::TempDir,
    work: PathBuf,
    trash: Trash,
}

impl Fixture {
    fn new() -> Self {
        let folder = octo_testkit::test_folder();
        let base = folder.path().canonicalize().unwrap();
        let (work, home) = (base.join("work"), base.join("octo"));
        fs::create_dir(&work).unwrap();
        fs::create_dir(&home).unwrap();
        Self { trash: Trash::in_home(&home), work, _keep: folder }
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn take(&self, path: &Path) -> TrashSlip {
        self.trash.move_in(path, &removal()).unwrap()
    }

    fn trashed(&self) -> Vec<TrashSlip> {
        let arrivals = self.trash.pending_entries(TrashScan::All).unwrap();
        arrivals
            .into_iter()
            .filter_map(|entry| match entry {
                PendingEntry::InTrash(slip) => Some(*slip),
                PendingEntry::NotInTrash(_) => None,
            })
            .collect()
    }
}

/// Returns everything below a folder: kind, content, mode and modification time.
fn picture(root: &Path) -> BTreeMap<PathBuf, (String, Vec<u8>, u32, SystemTime)> {
    let mut entries = BTreeMap::new();
    tree::walk(root, &mut |path, meta| {
        let relative = path.strip_prefix(root).unwrap().to_owned();
        let (kind, content) = match tree::kind(meta) {
            tree::TreePartKind::Link => ("link", path_bytes(&fs::read_link(path)?)),
            tree::TreePartKind::Folder => ("folder", Vec::new()),
            tree::TreePartKind::File => ("file", fs::read(path)?),
            tree::TreePartKind::Special => ("special", Vec::new()),
        };
        let mode = std::os::unix::fs::PermissionsExt::mode(&meta.permissions());
        // A link's own time cannot be set.
        let time = if kind == "link" { SystemTime::UNIX_EPOCH } else { meta.modified()? };
        entries.insert(relative, (kind.to_owned(), content, mode, time));
        Ok(())
    })
    .unwrap();
    entries
}

/// Creates a tree with everything that is hard to preserve.
fn hard_tree(fixture: &Fixture) -> PathBuf {
    use std::os::unix::{ffi::OsStrExt, fs::PermissionsExt};
    let root = fixture.work.join("hard");
    fixture.put("hard/a/plain.txt", "plain");
    fixture.put("hard/it's \"quoted\"\nand more", "quoted");
    fs::write(root.join(std::ffi::OsStr::from_bytes(b"not \xff text")), [0, 255]).unwrap();
    std::os::unix::fs::symlink("a/plain.txt", root.join("link")).unwrap();
    std::os::unix::fs::symlink("../gone", root.join("dangling")).unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    let locked = fixture.put("hard/locked", "read only");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o444)).unwrap();
    let script = fixture.put("hard/run.sh", "#!/bin/sh\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(&script).unwrap().set_modified(modified).unwrap();
    fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o750)).unwrap();
    root
}

#[test]
fn a_tree_is_restored_unchanged() {
    let fixture = Fixture::new();
    let root = hard_tree(&fixture);
    let before = picture(&root);
    let slip = fixture.take(&root);
    assert!(!exists(&root) && fixture.trash.contains(slip.id));
    let measure = fixture.trash.measure(slip.id, &slip.path).unwrap();
    assert_eq!((measure.form, measure.files, measure.mode & 0o700), (TrashForm::Folder, 7, 0o700));
    assert_eq!(slip.path, root);
    let restored = fixture.trash.restore(slip.id, &root, &TakenNamePolicy::Refuse).unwrap();
    assert_eq!((restored.path, restored.replaced), (root.clone(), None));
    assert_eq!(picture(&root), before);
    assert!(fixture.trashed().is_empty() && !fixture.trash.contains(slip.id));
}

#[test]
fn entries_are_pending_until_recorded_and_again_after_a_lost_store() {
    let fixture = Fixture::new();
    let slip = fixture.take(&fixture.put("a.txt", "a"));
    let pending_count = |fixture: &Fixture| fixture.trash.pending_entries(TrashScan::New).unwrap().len();
    assert_eq!((pending_count(&fixture), pending_count(&fixture)), (1, 1));
    fixture.trash.mark_recorded(slip.id);
    assert_eq!(pending_count(&fixture), 0);
    assert_eq!(fixture.trashed(), [slip]);
}

#[test]
fn a_name_that_is_not_utf_8_is_kept_exactly() {
    use std::os::unix::ffi::OsStrExt;
    let fixture = Fixture::new();
    for name in [&b"a\xff\xfe"[..], b"line\nend", b"'\"\\$(x)", b" ", b"-rf"] {
        let path = fixture.work.join(std::ffi::OsStr::from_bytes(name));
        fs::write(&path, name).unwrap();
        let slip = fixture.take(&path);
        assert_eq!(fixture.trashed(), std::slice::from_ref(&slip));
        assert_eq!(slip.path, path);
        fixture.trash.restore(slip.id, &slip.path, &TakenNamePolicy::Refuse).unwrap();
        assert_eq!(fs::read(&path).unwrap(), name);
    }
}

#[test]
fn a_taken_name_is_refused_numbered_or_replaced() {
    let fixture = Fixture::new();
    let path = fixture.put("a.tar.gz", "old");
    let slip = fixture.take(&path);
    fixture.put("a.tar.gz", "new");
    match fixture.trash.restore(slip.id, &path, &TakenNamePolicy::Refuse) {
        Err(TrashError::Taken(present)) => assert_eq!((present.size, &present.path), (3, &path)),
        other => panic!("{other:?}"),
    }
    fixture.put("a.tar (2).gz", "mine");
    let restored = fixture.trash.restore(slip.id, &path, &TakenNamePolicy::KeepBoth).unwrap();
    assert_eq!(restored.path, fixture.work.join("a.tar (3).gz"));
    assert_eq!(
        (fs::read(&path).unwrap(), fs::read(&restored.path).unwrap()),
        (b"new".to_vec(), b"old".to_vec())
    );

    let slip = fixture.take(&restored.path);
    let restored = fixture.trash.restore(slip.id, &path, &TakenNamePolicy::Replace(removal())).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    let replaced = restored.replaced.unwrap();
    assert_eq!(fs::read(fixture.trash.content_path(replaced.id)).unwrap(), b"new");
    assert_eq!(fixture.trashed(), [replaced]);
}

#[test]
fn a_folder_that_became_a_link_is_not_restored_through() {
    let fixture = Fixture::new();
    let path = fixture.put("sub/a.txt", "a");
    let slip = fixture.take(&path);
    fs::remove_dir(fixture.work.join("sub")).unwrap();
    fs::create_dir(fixture.work.join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", fixture.work.join("sub")).unwrap();
    assert!(matches!(
        fixture.trash.restore(slip.id, &path, &TakenNamePolicy::Refuse),
        Err(TrashError::Elsewhere(_))
    ));
    assert!(fixture.trash.contains(slip.id) && !exists(&fixture.work.join("elsewhere/a.txt")));
    // A link itself is removed as a link, through a real folder.
    let link = fixture.take(&fixture.work.join("sub"));
    assert_eq!(fs::read_link(fixture.trash.content_path(link.id)).unwrap(), Path::new("elsewhere"));
}

#[test]
fn missing_parents_are_created_and_missing_items_reported() {
    let fixture = Fixture::new();
    let path = fixture.put("x/y/a.txt", "a");
    let slip = fixture.take(&path);
    fs::remove_dir_all(fixture.work.join("x")).unwrap();
    fixture.trash.restore(slip.id, &path, &TakenNamePolicy::Refuse).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"a");
    assert!(matches!(fixture.trash.restore(slip.id, &path, &TakenNamePolicy::Refuse), Err(TrashError::Gone)));
}

#[test]
fn homes_and_octo_itself_are_refused_and_nothing_is_written() {
    let fixture = Fixture::new();
    let home = fixture.trash.home().to_owned();
    for path in [home.clone(), home.parent().unwrap().to_owned(), "/etc/passwd".into(), "/dev/null".into()] {
        assert!(
            matches!(fixture.trash.move_in(&path, &removal()), Err(TrashError::Refused(_))),
            "{}",
            path.display()
        );
        assert!(exists(&path));
    }
    assert!(!exists(&home.join("trash")));
}

#[test]
fn purging_removes_items_in_protected_folders() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new();
    fixture.put("a/b/c.txt", "c");
    fs::set_permissions(fixture.work.join("a/b"), fs::Permissions::from_mode(0o555)).unwrap();
    let slip = fixture.take(&fixture.work.join("a"));
    fixture.trash.purge(slip.id).unwrap();
    fixture.trash.purge(slip.id).unwrap();
    assert!(fixture.trashed().is_empty());
    assert_eq!(
        fs::read_dir(fixture.trash.home().join("trash")).unwrap().count(),
        1,
        "only the marks' folder"
    );
}

#[test]
fn entries_locked_by_another_process_are_left_alone() {
    let fixture = Fixture::new();
    let slip = fixture.take(&fixture.put("a.txt", "a"));
    let lock = fs::File::open(fixture.trash.entry_path(slip.id).join("slip.json")).unwrap();
    lock.lock().unwrap();
    assert!(fixture.trash.pending_entries(TrashScan::All).unwrap().is_empty());
    drop(lock);
    assert_eq!(fixture.trashed(), [slip]);
}

#[test]
fn previews_are_capped_and_distinguish_kinds() {
    let fixture = Fixture::new();
    let preview = |path: &Path| {
        let slip = fixture.take(path);
        fixture.trash.preview(slip.id).unwrap()
    };
    let long_text: String = (0..5_000).map(|n| format!("行 {n}\n")).collect();
    match preview(&fixture.put("long.txt", &long_text)) {
        ItemPreview::Text { text, more } => {
            assert!(more && text.lines().count() == 200 && text.starts_with("行 0\n"))
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        preview(&fixture.put("short", "a\nb\n")),
        ItemPreview::Text { text: "a\nb\n".to_owned(), more: false }
    );
    assert_eq!(preview(&fixture.put("raw", [0, 1, 2])), ItemPreview::Nothing);
    assert_eq!(preview(&fixture.put("latin", [0xe4, b'a', b'b', b'c', b'd', b'e'])), ItemPreview::Nothing);
    fixture.put("folder/sub/x", "");
    fixture.put("folder/a", "");
    assert_eq!(
        preview(&fixture.work.join("folder")),
        ItemPreview::Folder { entries: vec!["sub/".to_owned(), "a".to_owned()], total: 2 }
    );
    std::os::unix::fs::symlink("over/there", fixture.work.join("l")).unwrap();
    assert_eq!(preview(&fixture.work.join("l")), ItemPreview::Link("over/there".to_owned()));
}

#[test]
fn only_marked_folders_are_recreatable() {
    let fixture = Fixture::new();
    let is_recreatable = |path: &Path| {
        let slip = fixture.take(path);
        fixture.trash.measure(slip.id, &slip.path).unwrap().recreatable
    };
    fixture.put("site/package.json", "{}");
    fixture.put("site/node_modules/x", "");
    fixture.put("bare/node_modules/x", "");
    fixture.put("rust/target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55");
    fixture.put("mine/dist/x", "");
    let made: Vec<bool> = ["site/node_modules", "bare/node_modules", "rust/target", "mine/dist"]
        .iter()
        .map(|path| is_recreatable(&fixture.work.join(path)))
        .collect();
    assert_eq!(made, [true, false, true, false]);
}

/// Returns a folder on another file system, if this machine has one.
fn elsewhere() -> Option<tempfile::TempDir> {
    let shm = Path::new("/dev/shm");
    let is_same_device = |one: &Path, other: &Path| {
        use std::os::unix::fs::MetadataExt;
        Some(fs::metadata(one).ok()?.dev() == fs::metadata(other).ok()?.dev())
    };
    if is_same_device(shm, octo_testkit::test_folder().path())? {
        return None;
    }
    tempfile::tempdir_in(shm).ok()
}

#[test]
fn across_file_systems_a_tree_is_copied_both_ways_and_stays_the_same() {
    let Some(other_disk) = elsewhere() else { return };
    let fixture = Fixture::new();
    let moved_path = other_disk.path().canonicalize().unwrap().join("hard");
    let root = hard_tree(&fixture);
    tree::copy(&root, &moved_path).unwrap();
    let before = picture(&moved_path);
    assert_eq!(before, picture(&root), "a copy keeps modes and times");
    let slip = fixture.take(&moved_path);
    assert!(!exists(&moved_path));
    assert_eq!(picture(&fixture.trash.content_path(slip.id)), before);
    assert_eq!(fs::read_dir(other_disk.path()).unwrap().count(), 0, "nothing is left aside");
    fixture.trash.restore(slip.id, &moved_path, &TakenNamePolicy::Refuse).unwrap();
    assert_eq!(picture(&moved_path), before);
    assert_eq!(fs::read_dir(other_disk.path()).unwrap().count(), 1);
    assert!(!fixture.trash.contains(slip.id));
}

#[test]
fn items_that_cannot_be_copied_stay() {
    let Some(other_disk) = elsewhere() else { return };
    let fixture = Fixture::new();
    let folder = other_disk.path().canonicalize().unwrap().join("d");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("big"), vec![0; 4096]).unwrap();
    assert!(matches!(fixture.trash.move_in_within(&folder, &removal(), 4095), Err(TrashError::TooLarge)));
    let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket")).unwrap();
    match fixture.trash.move_in(&folder, &removal()) {
        Err(TrashError::Special(path)) => assert_eq!(path, Path::new("socket")),
        other_disk => panic!("{other_disk:?}"),
    }
    assert!(folder.join("big").exists() && fixture.trashed().is_empty());
}

#[test]
fn an_interrupted_copy_is_finished_or_undone() {
    let Some(other_disk) = elsewhere() else { return };
    let base = other_disk.path().canonicalize().unwrap();
    // The stages: nothing, part of the copy, all of it, the original renamed, settled.
    for stage in 0..5 {
        let fixture = Fixture::new();
        let path = base.join(format!("thing-{stage}"));
        fs::write(&path, "precious").unwrap();
        fixture.trash.make_root().unwrap();
        let id = TrashId::new();
        let slip = TrashSlip::new(id, path.clone(), removal(), slip::MoveMethod::Copy);
        let entry = fixture.trash.entry_path(id);
        fs::create_dir(&entry).unwrap();
        drop(slip::write(&entry, &slip).unwrap());
        if stage == 1 {
            fs::write(entry.join("part"), "prec").unwrap();
        }
        if stage >= 2 {
            fs::write(fixture.trash.content_path(id), "precious").unwrap();
        }
        if stage >= 3 {
            fs::rename(&path, slip.aside_path()).unwrap();
        }
        if stage >= 4 {
            fs::write(entry.join("there"), "").unwrap();
        }
        let trashed = fixture.trashed();
        assert!(!exists(&slip.aside_path()), "{stage}");
        if stage >= 3 {
            assert_eq!(trashed, [slip], "{stage}");
            assert_eq!(fs::read(fixture.trash.content_path(id)).unwrap(), b"precious");
            assert!(!exists(&path), "not doubled: {stage}");
        } else {
            assert!(trashed.is_empty(), "not doubled: {stage}");
            assert_eq!(fs::read(&path).unwrap(), b"precious", "{stage}");
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Write(u8, Vec<u8>),
    Remove(u8),
    Restore(usize, u8),
    Purge(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..6u8, proptest::collection::vec(any::<u8>(), 0..16)).prop_map(|(index, bytes)| Step::Write(index, bytes)),
        3 => (0..6u8).prop_map(Step::Remove),
        3 => (0..8usize, 0..3u8).prop_map(|(which, policy)| Step::Restore(which, policy)),
        1 => (0..8usize).prop_map(Step::Purge),
    ]
}

/// The paths of the steps: two folders and their content.
const PATHS: [&str; 6] = ["a", "d", "d/x", "d/y", "e", "e/z"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    /// For any order of removals and restores, every byte that was not overwritten or purged is either at its
    /// path or in the trash, once.
    #[test]
    fn no_byte_is_lost_or_doubled(steps in proptest::collection::vec(step(), 1..30)) {
        let fixture = Fixture::new();
        let mut bytes = 0_u32;
        // A unique number identifies every content.
        let mut existing: Vec<Vec<u8>> = Vec::new();
        let contents = |fixture: &Fixture| {
            let mut found = Vec::new();
            let mut gather = |root: &Path| tree::walk(root, &mut |path, meta| {
                if meta.is_file() { found.push(fs::read(path)?); }
                Ok(())
            });
            gather(&fixture.work).unwrap();
            for slip in fixture.trashed() { gather(&fixture.trash.content_path(slip.id)).unwrap(); }
            found.sort();
            found
        };
        for step in steps {
            match step {
                Step::Write(index, mut content) => {
                    let path = fixture.work.join(PATHS[index as usize]);
                    if exists(&path) || !path.parent().unwrap().is_dir() { continue; }
                    if matches!(index, 1 | 4) { fs::create_dir(&path).unwrap(); continue; }
                    bytes += 1;
                    content.extend(bytes.to_le_bytes());
                    fs::write(&path, &content).unwrap();
                    existing.push(content);
                }
                Step::Remove(index) => {
                    let path = fixture.work.join(PATHS[index as usize]);
                    let was = exists(&path);
                    prop_assert_eq!(fixture.trash.move_in(&path, &removal()).is_ok(), was);
                    prop_assert!(!exists(&path));
                }
                Step::Restore(which, policy) => {
                    let Some(slip) = fixture.trashed().into_iter().nth(which) else { continue };
                    let if_taken = match policy {
                        0 => TakenNamePolicy::Refuse,
                        1 => TakenNamePolicy::KeepBoth,
                        _ => TakenNamePolicy::Replace(removal()),
                    };
                    // A parent that is now a file refuses, correctly.
                    let _ = fixture.trash.restore(slip.id, &slip.path, &if_taken);
                }
                Step::Purge(which) => {
                    let Some(slip) = fixture.trashed().into_iter().nth(which) else { continue };
                    let mut purged = Vec::new();
                    tree::walk(&fixture.trash.content_path(slip.id), &mut |path, meta| {
                        if meta.is_file() { purged.push(fs::read(path)?); }
                        Ok(())
                    }).unwrap();
                    fixture.trash.purge(slip.id).unwrap();
                    existing.retain(|content| !purged.contains(content));
                }
            }
            existing.sort();
            prop_assert_eq!(&contents(&fixture), &existing);
        }
    }
}
