use super::*;
use std::{fs, path::Path};

#[test]
fn a_name_that_is_not_utf_8_has_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let name = OsStr::from_bytes(b"l\xff.txt");
    assert_eq!(text_of(name), None);
    assert_eq!(text_of_path(&Path::new("/w").join(name)), None);
    assert_eq!(text_of(OsStr::new("l\u{e9}.txt")).as_deref(), Some("l\u{e9}.txt"));
    assert_eq!(names_in("a\0l\u{fffd}.txt\0"), None);
    assert_eq!(names_in("a\0b\nc\0"), Some(vec!["a", "b", "c"]));
}

/// Only this module may convert a name, because a converted name is that of another file.
#[test]
fn no_other_module_converts_names() {
    fn check(folder: &Path) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() {
                check(&path);
            } else if name != "names.rs" && name != "tests.rs" && !path.iter().any(|part| part == "tests") {
                let text = fs::read_to_string(&path).unwrap();
                assert!(!text.contains("_lossy("), "{}", path.display());
            }
        }
    }
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
}
