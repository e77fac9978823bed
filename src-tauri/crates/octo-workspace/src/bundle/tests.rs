use super::*;

const ONE: &[BundledFile] = &[
    BundledFile { path: "a/SKILL.md", bytes: b"one" },
    BundledFile { path: "a/docs/x.md", bytes: b"x" },
    BundledFile { path: "b/SKILL.md", bytes: b"b" },
];
const TWO: &[BundledFile] = &[BundledFile { path: "a/SKILL.md", bytes: b"two" }];

fn home() -> (tempfile::TempDir, PathBuf) {
    let home = octo_testkit::test_folder();
    let folder = home.path().canonicalize().unwrap().join("bundled-skills");
    (home, folder)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_bundle_is_written_once_and_replaced_whole() {
    let (home, folder) = home();
    assert_eq!(install_bundle(&folder, ONE).unwrap(), BundleState::Written);
    assert_eq!(fs::read(folder.join("a/docs/x.md")).unwrap(), b"x");
    assert_eq!(install_bundle(&folder, ONE).unwrap(), BundleState::Present);
    assert_eq!(install_bundle(&folder, TWO).unwrap(), BundleState::Written);
    assert_eq!(names(&folder), [".version", "a"], "what the new version has not is gone");
    assert_eq!(names(&folder.join("a")), ["SKILL.md"]);
    assert_eq!(fs::read(folder.join("a/SKILL.md")).unwrap(), b"two");
    assert_eq!(names(home.path()), ["bundled-skills"], "nothing is left beside it");
}

#[test]
fn changes_in_a_bundle_are_repaired() {
    let (home, folder) = home();
    let spoil: &[fn(&Path)] = &[
        |folder| fs::write(folder.join("a/SKILL.md"), "changed").unwrap(),
        |folder| fs::write(folder.join("a/more.md"), "more").unwrap(),
        |folder| fs::write(folder.join(".version"), "another\n").unwrap(),
        |folder| fs::remove_file(folder.join("b/SKILL.md")).unwrap(),
        |folder| fs::remove_dir_all(folder).unwrap(),
        |folder| {
            fs::remove_dir_all(folder).unwrap();
            fs::write(folder, "a file").unwrap();
        },
        #[cfg(unix)]
        |folder| {
            fs::remove_file(folder.join("a/SKILL.md")).unwrap();
            std::os::unix::fs::symlink(folder.join("b/SKILL.md"), folder.join("a/SKILL.md")).unwrap();
        },
    ];
    for (index, spoil) in spoil.iter().enumerate() {
        install_bundle(&folder, ONE).unwrap();
        for path in list_files(&folder, 10).unwrap() {
            set_writable(path.parent().unwrap()).unwrap();
            set_writable(&path).unwrap();
        }
        spoil(&folder);
        assert_eq!(install_bundle(&folder, ONE).unwrap(), BundleState::Written, "{index}");
        assert_eq!(install_bundle(&folder, ONE).unwrap(), BundleState::Present, "{index}");
        assert_eq!(names(home.path()), ["bundled-skills"], "{index}");
    }
}

#[cfg(unix)]
#[test]
fn a_bundle_is_read_only_and_follows_no_links() {
    use std::os::unix::fs::PermissionsExt;
    let (home, folder) = home();
    install_bundle(&folder, ONE).unwrap();
    for path in list_files(&folder, 10).unwrap() {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o222, 0, "{}", path.display());
    }
    assert_eq!(fs::metadata(folder.join("a/docs")).unwrap().permissions().mode() & 0o222, 0);

    // A link at that path is removed; its target stays unchanged.
    let own_file = home.path().join("mine");
    fs::create_dir(&own_file).unwrap();
    fs::write(own_file.join("kept"), "kept").unwrap();
    remove(&folder).unwrap();
    std::os::unix::fs::symlink(&own_file, &folder).unwrap();
    assert_eq!(install_bundle(&folder, ONE).unwrap(), BundleState::Written);
    assert!(!fs::symlink_metadata(&folder).unwrap().is_symlink());
    assert_eq!(names(&own_file), ["kept"]);
}

#[test]
fn leftovers_of_a_crash_are_removed() {
    let (home, folder) = home();
    install_bundle(&home.path().join(".bundle-new-1"), ONE).unwrap();
    fs::write(home.path().join(".bundle-old-2"), "").unwrap();
    assert_eq!(install_bundle(&folder, ONE).unwrap(), BundleState::Written);
    assert_eq!(names(home.path()), ["bundled-skills"]);
}
