use super::*;
use octo_protocol::BlobHash;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn file(content: &str) -> FileImage {
    FileImage::File { blob: BlobHash(content.to_owned()), len: 1, mode: 0o644 }
}

fn folder() -> FileImage {
    FileImage::Folder { mode: 0o755 }
}

fn unsaved(reason: UnsavedReason) -> FileImage {
    FileImage::Unsaved { why: reason, len: 5, modified: 7 }
}

#[test]
fn every_combination_has_its_decision() {
    use FileImage::Absent;
    let (a, b, c) = (file("a"), file("b"), file("c"));
    let large = unsaved(UnsavedReason::TooLarge);
    let modules = unsaved(UnsavedReason::Dependencies);
    let not_kept = |reason| UnrestorableReason::NotKept { why: reason };
    let not_saved = |reason| UnrestorableReason::PresentNotSaved { why: reason };
    // state at the step left, target state, present state; decision
    for (current, target, present, expected) in [
        (&a, &a, &a, "nothing"),
        (&a, &b, &b, "nothing"),
        (&a, &b, &a, "clean"),
        (&a, &Absent, &a, "clean"),
        (&Absent, &a, &Absent, "clean"),
        (&a, &b, &c, "both"),
        (&a, &a, &c, "others"),
        (&a, &a, &Absent, "others"),
        (&a, &large, &a, "not kept"),
        (&large, &large, &large, "nothing"),
        (&large, &Absent, &large, "not saved"),
        (&a, &b, &large, "not saved"),
        (&modules, &Absent, &folder(), "not saved"),
        (&modules, &modules, &folder(), "nothing"),
        (&Absent, &modules, &Absent, "not kept"),
        (&folder(), &Absent, &folder(), "clean"),
    ] {
        let candidate = RestoreCandidate {
            path: PathBuf::from("/p"),
            at_current: current.clone(),
            at_target: target.clone(),
            by_others: None,
            present: present.clone(),
            stamp: None,
        };
        let step =
            RestoreStep { path: PathBuf::from("/p"), from: present.clone(), to: target.clone(), stamp: None };
        let reason = |image: &FileImage| match image {
            FileImage::Unsaved { why: reason, .. } => *reason,
            _ => UnsavedReason::Dependencies,
        };
        let expected = match expected {
            "nothing" => PathDecision::Nothing,
            "clean" => PathDecision::Clean(step),
            "both" => PathDecision::Conflict { step, source: ConflictSource::Both, to_others: None },
            "others" => PathDecision::Conflict { step, source: ConflictSource::OthersOnly, to_others: None },
            "not kept" => PathDecision::Impossible(not_kept(reason(target))),
            _ => PathDecision::Impossible(not_saved(reason(present))),
        };
        assert_eq!(decide(candidate), expected, "{current:?} {target:?} {present:?}");
    }
}

#[test]
fn a_restore_ends_at_what_others_made_in_between() {
    use FileImage::Absent;
    let (a, b, c, d) = (file("a"), file("b"), file("c"), file("d"));
    let large = unsaved(UnsavedReason::TooLarge);
    // at the current step, at the target, by others in between, present; state it leads to unasked
    for (current, target, theirs, present, unasked) in [
        (&b, &a, &c, &b, Some(&c)),
        (&b, &Absent, &c, &b, Some(&c)),
        (&b, &a, &Absent, &b, Some(&Absent)),
        // They made it what it is now.
        (&c, &a, &c, &c, None),
        // It cannot be restored, so the present state stays.
        (&b, &a, &large, &b, None),
        // They have changed it once more.
        (&b, &a, &c, &d, None),
    ] {
        let candidate = RestoreCandidate {
            path: PathBuf::from("/p"),
            at_current: current.clone(),
            at_target: target.clone(),
            by_others: Some(theirs.clone()),
            present: present.clone(),
            stamp: None,
        };
        let to = |image: &FileImage| RestoreStep {
            path: PathBuf::from("/p"),
            from: present.clone(),
            to: image.clone(),
            stamp: None,
        };
        let expected = PathDecision::Conflict {
            step: to(target),
            source: ConflictSource::Both,
            to_others: unasked.map(to),
        };
        assert_eq!(decide(candidate), expected, "{current:?} {target:?} {theirs:?} {present:?}");
    }
    let same = RestoreCandidate {
        path: PathBuf::from("/p"),
        at_current: b.clone(),
        at_target: a.clone(),
        by_others: Some(a.clone()),
        present: b.clone(),
        stamp: None,
    };
    assert!(matches!(decide(same), PathDecision::Clean(step) if step.to == a));
}

/// An in-memory disk.
#[derive(Clone, Debug, Default)]
struct Memory(BTreeMap<PathBuf, DiskKind>);

impl DiskQueries for Memory {
    fn kind(&mut self, path: &Path) -> io::Result<DiskKind> {
        Ok(self.0.get(path).copied().unwrap_or(if path == Path::new("/") {
            DiskKind::Folder
        } else {
            DiskKind::Absent
        }))
    }

    fn names(&mut self, path: &Path) -> io::Result<Vec<OsString>> {
        Ok(self
            .0
            .keys()
            .filter(|it| it.parent() == Some(path))
            .map(|it| it.file_name().unwrap().into())
            .collect())
    }
}

fn step(path: &str, before: FileImage, after: FileImage) -> RestoreStep {
    RestoreStep { path: PathBuf::from(path), from: before, to: after, stamp: None }
}

#[test]
fn a_folder_is_removed_only_if_it_ends_empty() {
    let mut disk = Memory(BTreeMap::from([
        (PathBuf::from("/d"), DiskKind::Folder),
        (PathBuf::from("/d/e"), DiskKind::Folder),
        (PathBuf::from("/d/e/ours"), DiskKind::Other),
    ]));
    let steps = vec![
        step("/d", folder(), FileImage::Absent),
        step("/d/e", folder(), FileImage::Absent),
        step("/d/e/ours", file("a"), FileImage::Absent),
    ];
    let (arranged, impossible) = arrange(steps.clone(), &mut disk).unwrap();
    assert_eq!((arranged.len(), impossible.len()), (3, 0));
    disk.0.insert(PathBuf::from("/d/e/theirs"), DiskKind::Other);
    let (remaining, impossible) = arrange(steps, &mut disk).unwrap();
    assert_eq!(remaining.iter().map(|it| it.path.to_str().unwrap()).collect::<Vec<_>>(), ["/d/e/ours"]);
    assert!(
        impossible.values().all(|reason| *reason == UnrestorableReason::FolderNotEmpty)
            && impossible.len() == 2
    );
}

#[test]
fn missing_parents_are_created_and_nothing_behind_a_link() {
    let mut disk = Memory(BTreeMap::from([(PathBuf::from("/link"), DiskKind::Other)]));
    let steps = vec![
        step("/new/deep/a", FileImage::Absent, file("a")),
        step("/link/a", FileImage::Absent, file("a")),
        step("/link/deep/b", FileImage::Absent, file("a")),
    ];
    let (remaining, impossible) = arrange(steps, &mut disk).unwrap();
    assert_eq!(
        remaining.iter().map(|it| (it.path.to_str().unwrap(), &it.to)).collect::<Vec<_>>(),
        [("/new", &folder()), ("/new/deep", &folder()), ("/new/deep/a", &file("a"))]
    );
    assert!(
        impossible.values().all(|reason| *reason == UnrestorableReason::ParentNotFolder)
            && impossible.len() == 2
    );
}

#[test]
fn a_folder_is_created_once_its_obstacle_is_removed() {
    let mut disk = Memory(BTreeMap::from([
        (PathBuf::from("/a"), DiskKind::Folder),
        (PathBuf::from("/a/d"), DiskKind::Other),
    ]));
    let steps = vec![
        step("/a", folder(), file("new")),
        step("/a/b", FileImage::Absent, folder()),
        step("/a/b/c", FileImage::Absent, folder()),
    ];
    let (remaining, impossible) = arrange(steps, &mut disk).unwrap();
    assert_eq!(remaining.iter().map(|it| it.path.to_str().unwrap()).collect::<Vec<_>>(), ["/a/b", "/a/b/c"]);
    assert_eq!(
        impossible.into_iter().collect::<Vec<_>>(),
        [(PathBuf::from("/a"), UnrestorableReason::FolderNotEmpty)]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// For any request, the arranged steps can be carried out on any disk.
    #[test]
    fn arranged_steps_can_be_executed(
        present in proptest::collection::vec((0..7usize, any::<bool>()), 0..7),
        wanted in proptest::collection::vec((0..7usize, 0..3u8), 0..7),
    ) {
        let paths = ["/a", "/a/b", "/a/b/c", "/a/d", "/e", "/e/f", "/e/f/g"];
        let mut disk = Memory::default();
        for (number, is_folder) in present {
            let path = Path::new(paths[number]);
            if disk.kind(path.parent().unwrap()).unwrap() == DiskKind::Folder {
                let kind = if is_folder { DiskKind::Folder } else { DiskKind::Other };
                disk.0.entry(path.to_owned()).or_insert(kind);
            }
        }
        let mut steps = BTreeMap::new();
        for (number, target) in wanted {
            let path = PathBuf::from(paths[number]);
            let current = match disk.kind(&path).unwrap() {
                DiskKind::Absent => FileImage::Absent,
                DiskKind::Folder => folder(),
                DiskKind::Other => file("old"),
            };
            let target = [FileImage::Absent, folder(), file("new")][usize::from(target)].clone();
            if current != target {
                steps.insert(path.clone(), RestoreStep { path, from: current, to: target, stamp: None });
            }
        }
        let requested = steps.len();
        let (remaining, impossible) = arrange(steps.into_values().collect(), &mut disk).unwrap();
        prop_assert!(remaining.len() + impossible.len() >= requested);
        for step in &remaining {
            prop_assert!(!impossible.contains_key(&step.path));
            match step.to {
                FileImage::Absent => disk.0.remove(&step.path),
                FileImage::Folder { .. } => disk.0.insert(step.path.clone(), DiskKind::Folder),
                _ => disk.0.insert(step.path.clone(), DiskKind::Other),
            };
        }
        for path in disk.0.keys() {
            let parent = path.parent().unwrap();
            prop_assert!(
                parent == Path::new("/") || disk.0.get(parent) == Some(&DiskKind::Folder),
                "{} lies in no folder", path.display()
            );
        }
    }
}
