//! Families of programs: those of this system, and busybox's if it is installed.

use std::{os::unix::fs::symlink, path::Path, process::Command};

/// A family of programs.
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// The `PATH` on which its programs come first.
    pub path: String,
}

/// Returns the installed families. Creates links to their programs in `root`.
pub fn installed(root: &Path) -> Vec<Family> {
    let system = std::env::var("PATH").expect("a path");
    let mut families = vec![Family { name: "system", path: system.clone() }];
    let busybox =
        std::env::split_paths(&system).map(|folder| folder.join("busybox")).find(|path| path.is_file());
    let Some(busybox) = busybox else {
        println!("left out: no busybox");
        return families;
    };
    let listed = Command::new(&busybox).arg("--list").output().expect("busybox");
    let folder = root.join("busybox");
    std::fs::create_dir(&folder).expect("a folder");
    let known: Vec<&str> = octo_policy::known_programs().collect();
    for name in
        String::from_utf8_lossy(&listed.stdout).lines().filter(|name| known.contains(name) && *name != "bash")
    {
        symlink(&busybox, folder.join(name)).expect("a link");
    }
    families.push(Family { name: "busybox", path: format!("{}:{system}", folder.display()) });
    families
}
