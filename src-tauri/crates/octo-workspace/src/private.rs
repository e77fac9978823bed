//! Folders of Octo's own, closed to other users of the machine.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Makes sure that a folder of Octo's own is there and readable by nobody else; its real path. Folders
/// above it that are missing are made too.
pub fn private_folder(path: &Path) -> io::Result<PathBuf> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    path.canonicalize()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn nobody_else_may_look_in() {
        let folder = tempfile::tempdir().unwrap();
        let made = private_folder(&folder.path().join("a/b")).unwrap();
        assert_eq!(fs::metadata(&made).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(private_folder(&made).unwrap(), made, "one that is there is no error");
        let file = made.join("file");
        fs::write(&file, "").unwrap();
        assert!(private_folder(&file.join("x")).is_err());
    }
}
