use super::*;

fn item(name: &str, modified: i64, kept: Kept) -> Item {
    Item {
        name: name.as_bytes().into(),
        stamp: Stamp { len: 3, modified, changed: -1, inode: 9, mode: 0o100_644 },
        kept,
        racy: false,
    }
}

fn picture() -> Picture {
    let items = vec![
        item("blob", 1, Kept::Blob([7; 32])),
        item("folder", 0, Kept::Folder),
        item("git", 2, Kept::Git([8; 32], [9; 20])),
        item("link", 3, Kept::Link(b"to \xff".as_slice().into())),
        Item { racy: true, ..item("not", 4, Kept::Not(Unsaved::OctoHome)) },
    ];
    Picture {
        folder: PathBuf::from("/somewhere"),
        repository: Some(PathBuf::from("/somewhere/.git")),
        folders: HashMap::from([
            (Relative::default(), Arc::new(items)),
            (join(b"folder", b"x"), Arc::new(vec![])),
        ]),
        unknown: HashMap::from([(join(b"", b"dark"), Unsaved::Unreadable)]),
    }
}

#[test]
fn a_picture_comes_back_whole_or_not_at_all() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("pictures/one");
    let picture = picture();
    picture.save(&path).unwrap();
    let read = Picture::load(&path).unwrap();
    assert_eq!((read.folder, read.repository), (picture.folder, picture.repository));
    assert_eq!((read.folders, read.unknown), (picture.folders, picture.unknown));
    let whole = std::fs::read(&path).unwrap();
    for len in [0, 1, 20, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..len]).unwrap();
        assert!(Picture::load(&path).is_none(), "cut at {len}");
    }
    assert!(Picture::load(&home.path().join("missing")).is_none());
}

#[test]
fn times_too_close_to_the_look_are_not_trusted() {
    const SECOND: i64 = 1_000_000_000;
    let stamp = |modified, changed| Stamp { modified, changed, ..Stamp::default() };
    for (stamp, read_at, expected) in [
        (stamp(5 * SECOND + 1, 5 * SECOND + 1), 6 * SECOND, false),
        (stamp(5 * SECOND + 1, 5 * SECOND + 1), 5 * SECOND + 10_000_000, true),
        // A time that was put back does not hide the change.
        (stamp(1, 5 * SECOND + 1), 5 * SECOND + 10_000_000, true),
        // Whole seconds: perhaps a file system that has no others.
        (stamp(5 * SECOND, 5 * SECOND), 6 * SECOND, true),
        (stamp(5 * SECOND, 5 * SECOND), 8 * SECOND, false),
        // A clock that was set back.
        (stamp(9 * SECOND + 1, 9 * SECOND + 1), 6 * SECOND, true),
    ] {
        assert_eq!(is_racy(&stamp, read_at), expected, "{stamp:?} at {read_at}");
    }
}

#[test]
fn what_one_picture_does_not_know_is_no_difference() {
    let file = || vec![item("f", 1, Kept::Blob([1; 32]))];
    let with = |folders: Vec<(&str, Vec<Item>)>| Picture {
        folder: PathBuf::from("/somewhere"),
        repository: None,
        folders: folders
            .into_iter()
            .map(|(path, items)| (Relative::from(path.as_bytes()), Arc::new(items)))
            .collect(),
        unknown: HashMap::new(),
    };
    let left_out =
        |why| Item { stamp: Stamp { mode: 0o100_644, ..Stamp::default() }, ..item("d", 0, Kept::Not(why)) };
    let folder =
        || Item { stamp: Stamp { mode: 0o100_644, ..Stamp::default() }, ..item("d", 0, Kept::Folder) };
    let known = with(vec![("", vec![folder()]), ("d", file())]);
    let unknown = with(vec![("", vec![folder()])]);
    let skipped = with(vec![("", vec![left_out(Unsaved::Cache)])]);
    let empty = with(vec![("", vec![])]);
    let told = |one: &Picture, other: &Picture| -> Vec<(String, bool)> {
        diff(one, other)
            .into_iter()
            .map(|it| (String::from_utf8(it.path.to_vec()).unwrap(), it.before.is_some()))
            .collect()
    };
    for (one, other) in [(&known, &unknown), (&unknown, &known), (&known, &skipped), (&skipped, &known)] {
        assert_eq!(told(one, other), []);
    }
    let both = |is_there| vec![("d".to_owned(), is_there), ("d/f".to_owned(), is_there)];
    assert_eq!(told(&known, &empty), both(true));
    assert_eq!(told(&empty, &known), both(false));
}
