use super::*;

fn item(name: &str, modified: i64, content: ItemContent) -> SnapshotItem {
    SnapshotItem {
        name: name.as_bytes().into(),
        stamp: PathStamp { len: 3, modified, changed: -1, inode: 9, mode: 0o100_644 },
        content,
        racy: false,
    }
}

fn picture() -> FolderSnapshot {
    let items = vec![
        item("blob", 1, ItemContent::Blob([7; 32])),
        item("folder", 0, ItemContent::Folder),
        item("git", 2, ItemContent::Git([8; 32], [9; 20])),
        item("link", 3, ItemContent::Link(b"to \xff".as_slice().into())),
        SnapshotItem { racy: true, ..item("not", 4, ItemContent::Unsaved(UnsavedReason::OctoHome)) },
    ];
    FolderSnapshot {
        folder: PathBuf::from("/somewhere"),
        repository: Some(PathBuf::from("/somewhere/.git")),
        folders: HashMap::from([
            (RelativePath::default(), Arc::new(items)),
            (join(b"folder", b"x"), Arc::new(vec![])),
        ]),
        unknown: HashMap::from([(join(b"", b"dark"), UnsavedReason::Unreadable)]),
    }
}

#[test]
fn a_snapshot_loads_whole_or_not_at_all() {
    let home = octo_testkit::test_folder();
    let path = home.path().join("pictures/one");
    let picture = picture();
    let mut snapshot_file = SnapshotFile::new(path.clone());
    snapshot_file.store(&picture).unwrap();
    let read = FolderSnapshot::load(&path).unwrap();
    assert_eq!((read.folder, read.repository), (picture.folder, picture.repository));
    assert_eq!((read.folders, read.unknown), (picture.folders, picture.unknown));
    let full = std::fs::read(&path).unwrap();
    for len in [0, 1, 20, full.len() / 2, full.len() - 1] {
        std::fs::write(&path, &full[..len]).unwrap();
        assert!(FolderSnapshot::load(&path).is_none(), "cut at {len}");
    }
    assert!(FolderSnapshot::load(&home.path().join("missing")).is_none());
}

#[test]
fn changes_are_appended_and_a_torn_end_is_ignored() {
    let home = octo_testkit::test_folder();
    let path = home.path().join("pictures/one");
    let mut snapshot_file = SnapshotFile::new(path.clone());
    let first_snapshot = picture();
    snapshot_file.store(&first_snapshot).unwrap();
    let full = std::fs::read(&path).unwrap();
    // Changed, new, gone; a folder that appears, a folder that disappears, a folder that became readable.
    let mut second = first_snapshot.clone();
    let items = vec![
        item("blob", 5, ItemContent::Blob([6; 32])),
        item("folder", 0, ItemContent::Folder),
        item("new", 7, ItemContent::Blob([5; 32])),
        item("not", 4, ItemContent::Unsaved(UnsavedReason::OctoHome)),
    ];
    second.folders.insert(RelativePath::default(), Arc::new(items));
    second.folders.remove(&*join(b"folder", b"x"));
    second.folders.insert(join(b"", b"folder"), Arc::new(vec![item("f", 1, ItemContent::Blob([4; 32]))]));
    second.unknown.clear();
    snapshot_file.store(&second).unwrap();
    let mut third = second.clone();
    third.folders.insert(join(b"", b"folder"), Arc::new(vec![]));
    snapshot_file.store(&third).unwrap();
    snapshot_file.store(&third).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), full, "the whole one is not written again");

    let is_same = |one: &FolderSnapshot, other: &FolderSnapshot| {
        one.folders == other.folders && one.unknown == other.unknown
    };
    assert!(is_same(&FolderSnapshot::load(&path).unwrap(), &third));
    let added: Vec<_> = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|other| *other != path)
        .collect();
    let [added] = added.as_slice() else { panic!("one file beside the picture: {added:?}") };
    let appended = std::fs::read(added).unwrap();
    let mut seen_versions = [false; 3];
    for len in 0..=appended.len() {
        std::fs::write(added, &appended[..len]).unwrap();
        let read = FolderSnapshot::load(&path).unwrap();
        let index =
            [&first_snapshot, &second, &third].into_iter().position(|snapshot| is_same(snapshot, &read));
        seen_versions[index.unwrap_or_else(|| panic!("cut at {len}"))] = true;
    }
    assert_eq!(seen_versions, [true; 3]);
    for end in 0..appended.len() {
        let mut damaged = appended.clone();
        damaged[end] ^= 0x20;
        std::fs::write(added, damaged).unwrap();
        let read = FolderSnapshot::load(&path).unwrap();
        assert!(is_same(&read, &first_snapshot) || is_same(&read, &second), "damaged at {end}");
    }
    std::fs::write(added, appended).unwrap();
    let mut blobs = std::collections::BTreeSet::new();
    FolderSnapshot::load_each(&path, |item| blobs.extend(item.blob())).unwrap();
    assert_eq!(blobs.len(), 4, "also what was replaced is held on to");

    // Another process stores its own snapshot; from then on, this process's appended parts no longer count.
    SnapshotFile::new(path.clone()).store(&second).unwrap();
    assert!(is_same(&FolderSnapshot::load(&path).unwrap(), &second));
    snapshot_file.store(&first_snapshot).unwrap();
    assert!(is_same(&FolderSnapshot::load(&path).unwrap(), &first_snapshot));
}

#[test]
fn appended_changes_are_bounded() {
    let home = octo_testkit::test_folder();
    let path = home.path().join("one");
    let mut snapshot_file = SnapshotFile::new(path.clone());
    let mut picture = picture();
    for round in 0..3_000_u32 {
        let name = format!("file {}", round % 100);
        let content = ItemContent::Blob(*blake3::hash(&round.to_le_bytes()).as_bytes());
        let items = vec![item(&name, i64::from(round), content)];
        picture.folders.insert(RelativePath::default(), Arc::new(items));
        snapshot_file.store(&picture).unwrap();
    }
    let len: u64 =
        std::fs::read_dir(home.path()).unwrap().map(|it| it.unwrap().metadata().unwrap().len()).sum();
    assert!(len < 300 << 10, "{len} bytes");
    assert_eq!(FolderSnapshot::load(&path).unwrap().folders, picture.folders);
}

#[test]
fn times_too_close_to_the_snapshot_are_not_trusted() {
    const SECOND: i64 = 1_000_000_000;
    let stamp = |modified, changed| PathStamp { modified, changed, ..PathStamp::default() };
    for (stamp, read_at, expected) in [
        (stamp(5 * SECOND + 1, 5 * SECOND + 1), 6 * SECOND, false),
        (stamp(5 * SECOND + 1, 5 * SECOND + 1), 5 * SECOND + 10_000_000, true),
        // A time that was set back does not hide the change.
        (stamp(1, 5 * SECOND + 1), 5 * SECOND + 10_000_000, true),
        // Whole seconds: perhaps a file system with no finer resolution.
        (stamp(5 * SECOND, 5 * SECOND), 6 * SECOND, true),
        (stamp(5 * SECOND, 5 * SECOND), 8 * SECOND, false),
        // A clock that was set back.
        (stamp(9 * SECOND + 1, 9 * SECOND + 1), 6 * SECOND, true),
    ] {
        assert_eq!(is_racy(&stamp, read_at), expected, "{stamp:?} at {read_at}");
    }
}

#[test]
fn unknown_items_are_no_difference() {
    let file = || vec![item("f", 1, ItemContent::Blob([1; 32]))];
    let snapshot_with = |folders: Vec<(&str, Vec<SnapshotItem>)>| FolderSnapshot {
        folder: PathBuf::from("/somewhere"),
        repository: None,
        folders: folders
            .into_iter()
            .map(|(path, items)| (RelativePath::from(path.as_bytes()), Arc::new(items)))
            .collect(),
        unknown: HashMap::new(),
    };
    let left_out = |reason| SnapshotItem {
        stamp: PathStamp { mode: 0o100_644, ..PathStamp::default() },
        ..item("d", 0, ItemContent::Unsaved(reason))
    };
    let folder = || SnapshotItem {
        stamp: PathStamp { mode: 0o100_644, ..PathStamp::default() },
        ..item("d", 0, ItemContent::Folder)
    };
    let with_file = snapshot_with(vec![("", vec![folder()]), ("d", file())]);
    let unknown = snapshot_with(vec![("", vec![folder()])]);
    let skipped = snapshot_with(vec![("", vec![left_out(UnsavedReason::Cache)])]);
    let empty = snapshot_with(vec![("", vec![])]);
    let differences = |one: &FolderSnapshot, other: &FolderSnapshot| -> Vec<(String, bool)> {
        diff(one, other)
            .into_iter()
            .map(|it| (String::from_utf8(it.path.to_vec()).unwrap(), it.before.is_some()))
            .collect()
    };
    for (one, other) in
        [(&with_file, &unknown), (&unknown, &with_file), (&with_file, &skipped), (&skipped, &with_file)]
    {
        assert_eq!(differences(one, other), []);
    }
    let both = |is_there| vec![("d".to_owned(), is_there), ("d/f".to_owned(), is_there)];
    assert_eq!(differences(&with_file, &empty), both(true));
    assert_eq!(differences(&empty, &with_file), both(false));
}
