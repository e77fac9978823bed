use super::*;
use proptest::prelude::*;
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = octo_testkit::test_folder();
    let resolved = folder.path().canonicalize().unwrap();
    (folder, resolved)
}

#[test]
fn paths_in_text_resolve_as_a_person_means_them() {
    let (_keep, base) = folder();
    fs::create_dir_all(base.join("project/src")).unwrap();
    let cwd = base.join("project");
    let home = base.join("home");
    for (text, expected) in [
        ("a.txt", cwd.join("a.txt")),
        ("./src/../src/./a", cwd.join("src/a")),
        ("..", base.clone()),
        ("../../../../../../../../..", PathBuf::from("/")),
        ("src/", cwd.join("src")),
        ("src//a", cwd.join("src/a")),
        ("~", home.clone()),
        ("~/x/../y", home.join("y")),
        ("~//x", home.join("x")),
        ("~other/x", cwd.join("~other/x")),
        ("a~", cwd.join("a~")),
        ("/x/../y", PathBuf::from("/y")),
        ("missing/../b", cwd.join("b")),
        ("spaces in name ", cwd.join("spaces in name ")),
        ("目录/文件", cwd.join("目录/文件")),
    ] {
        assert_eq!(resolve_from(text, &cwd, Some(&home)), Ok(expected), "{text:?}");
    }
    assert_eq!(resolve_from("", &cwd, Some(&home)), Err(PathError::Empty));
    assert_eq!(resolve_from(" \n", &cwd, Some(&home)), Err(PathError::Empty));
    assert_eq!(resolve_from("a\0b", &cwd, Some(&home)), Err(PathError::Nul));
    assert_eq!(resolve_from("~/x", &cwd, None), Err(PathError::NoHome));
    assert_eq!(resolve_from("~/x", &cwd, Some(Path::new("not/absolute"))), Err(PathError::NoHome));
    assert!(PathError::Empty.to_string().contains("cannot be empty"));
}

#[cfg(unix)]
#[test]
fn links_are_resolved() {
    let (_keep, base) = folder();
    let cwd = base.join("in");
    fs::create_dir_all(cwd.join("dir")).unwrap();
    fs::create_dir_all(base.join("out/deep")).unwrap();
    fs::write(base.join("out/file"), "x").unwrap();
    symlink(base.join("out/file"), cwd.join("to_file")).unwrap();
    symlink("../out", cwd.join("to_dir")).unwrap();
    symlink(base.join("out/new"), cwd.join("dangling")).unwrap();
    symlink("dangling", cwd.join("to_dangling")).unwrap();
    symlink("../out/deep/..", cwd.join("up")).unwrap();
    symlink("loop_b", cwd.join("loop_a")).unwrap();
    symlink("loop_a", cwd.join("loop_b")).unwrap();
    symlink(&cwd, base.join("out/back")).unwrap();
    for (text, expected) in [
        ("to_file", "out/file"),
        ("to_dir/new/x", "out/new/x"),
        ("dangling", "out/new"),
        ("to_dangling", "out/new"),
        ("dangling/x", "out/new/x"),
        ("up/x", "out/x"),
        ("to_dir/back/dir/x", "in/dir/x"),
        // As text: the parent of the name, not of its target. Octo opens this result.
        ("to_dir/../x", "in/x"),
    ] {
        let resolved = resolve(text, &cwd).unwrap();
        assert_eq!(resolved, base.join(expected), "{text}");
        assert_eq!(is_inside(&cwd, &resolved), expected.starts_with("in/"), "{text}");
    }
    assert!(matches!(resolve("loop_a/x", &cwd), Err(PathError::Links(_))));
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf_8_are_preserved() {
    use std::os::unix::ffi::OsStrExt;
    let (_keep, base) = folder();
    let odd_path = base.join(OsStr::from_bytes(b"bad\xffname"));
    fs::create_dir(&odd_path).unwrap();
    symlink(&odd_path, base.join("link")).unwrap();
    assert_eq!(resolve("link/a", &base), Ok(odd_path.join("a")));
    assert_eq!(resolve("a", &odd_path), Ok(odd_path.join("a")));
}

#[test]
fn inside_means_the_folder_itself_and_below() {
    let (_keep, base) = folder();
    fs::create_dir_all(base.join("a/b")).unwrap();
    fs::create_dir_all(base.join("ab")).unwrap();
    let folder = base.join("a");
    for (path, expected) in
        [("a", true), ("a/b", true), ("a/b/new/er", true), ("ab", false), ("ab/x", false), ("", false)]
    {
        assert_eq!(is_inside(&folder, &base.join(path)), expected, "{path:?}");
    }
    assert!(!is_inside(&folder, &folder.join("../ab")), "a path that still has `..` is nowhere");
    assert!(!is_inside(&folder, Path::new("b")));
    assert_eq!(display_path(&base.join("a/b"), &folder), "b");
    assert_eq!(display_path(&folder, &folder), ".");
    assert_eq!(display_path(&base.join("ab"), &folder), base.join("ab").to_string_lossy());
}

/// A folder reached under another spelling is the same folder, as on a file system that ignores case.
#[cfg(unix)]
#[test]
fn a_folder_under_another_name_is_still_itself() {
    let (_keep, base) = folder();
    fs::create_dir_all(base.join("Project/src")).unwrap();
    symlink(base.join("Project"), base.join("project")).unwrap();
    assert!(is_inside(&base.join("Project"), &base.join("project/src/new.rs")));
    assert!(!is_inside(&base.join("Project/src"), &base.join("project/new.rs")));
    assert!(
        !is_inside(&base.join("project"), &base.join("Project/src/new.rs")),
        "a folder that was swapped for a link is not what was meant"
    );
}

#[cfg(unix)]
mod trees {
    use super::*;

    const NAMES: [&str; 5] = ["a", "b", "c", "in", "out"];

    /// A link or folder to create: its path and, for a link, its target.
    #[derive(Clone, Debug)]
    enum Made {
        Folder(Vec<usize>),
        Link(Vec<usize>, Target),
    }

    #[derive(Clone, Debug)]
    enum Target {
        Relative(Vec<usize>),
        Absolute(Vec<usize>),
    }

    fn path() -> impl Strategy<Value = Vec<usize>> {
        // NAMES.len() means `..`.
        prop::collection::vec(0..=NAMES.len(), 1..5)
    }

    fn text(path: &[usize]) -> String {
        path.iter().map(|index| NAMES.get(*index).copied().unwrap_or("..")).collect::<Vec<_>>().join("/")
    }

    fn made() -> impl Strategy<Value = Made> {
        let location = || prop::collection::vec(0..NAMES.len(), 1..4);
        prop_oneof![
            location().prop_map(Made::Folder),
            (location(), path())
                .prop_map(|(location, target)| Made::Link(location, Target::Relative(target))),
            (location(), path())
                .prop_map(|(location, target)| Made::Link(location, Target::Absolute(target))),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        /// For any links, a path judged to be inside is inside according to the system itself, including a path
        /// created only now; and a file the system finds is the named one.
        #[test]
        fn no_outside_path_counts_as_inside(made in prop::collection::vec(made(), 0..12), queried in path()) {
            let (_keep, base) = folder();
            let root = base.join("root");
            let inner = root.join("in");
            fs::create_dir_all(&inner).unwrap();
            fs::create_dir_all(root.join("out")).unwrap();
            for thing in &made {
                // Only below the root: a target's `..` may leave it, a created file or link may not.
                match thing {
                    Made::Folder(location) => { let _ = fs::create_dir_all(root.join(text(location))); }
                    Made::Link(location, target) => {
                        let location = root.join(text(location));
                        let target = match target {
                            Target::Relative(target) => PathBuf::from(text(target)),
                            Target::Absolute(target) => root.join(text(target)),
                        };
                        if location.parent().unwrap().canonicalize().is_ok_and(|parent| parent.starts_with(&root)) {
                            let _ = symlink(target, location);
                        }
                    }
                }
            }
            let queried = text(&queried);
            let Ok(resolved) = resolve(&queried, &inner) else { return Ok(()) };
            prop_assert!(resolved.is_absolute());
            prop_assert!(!resolved.components().any(|part| part == Component::ParentDir));
            if !queried.contains("..")
                && let Ok(canonical) = inner.join(&queried).canonicalize()
            {
                prop_assert_eq!(&canonical, &resolved);
            }
            if is_inside(&inner, &resolved) && resolved.symlink_metadata().is_err() {
                let parent = resolved.parent().unwrap();
                if fs::create_dir_all(parent).is_ok() && fs::write(&resolved, "x").is_ok() {
                    prop_assert!(resolved.canonicalize().unwrap().starts_with(inner.canonicalize().unwrap()));
                }
            } else if is_inside(&inner, &resolved) {
                prop_assert!(resolved.canonicalize().unwrap().starts_with(inner.canonicalize().unwrap()));
            }
        }
    }
}
