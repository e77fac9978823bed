//! A disk that can be full.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// More than any small disk has.
const BALLAST: usize = 64 * 1024 * 1024;

/// Whether a disk can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writable {
    /// It can.
    Yes,
    /// It can only be read.
    No,
}

/// A small disk of its own in a folder's place, until it is dropped.
#[derive(Debug)]
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Puts one into the folder's place; none where this system or user cannot make one.
    ///
    /// # Panics
    ///
    /// When the folder cannot be made.
    pub fn mount(folder: &Path) -> Option<Self> {
        std::fs::create_dir_all(folder).expect("the folder is made");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=6m", "octo-test"])
            .arg(folder)
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then(|| Self(folder.to_path_buf()))
    }

    /// Takes all that is left of it.
    ///
    /// # Panics
    ///
    /// When more fits than a small disk has.
    pub fn fill(&self) {
        std::fs::write(self.ballast(), vec![0; BALLAST]).expect_err("the disk is small");
    }

    /// Gives back what was taken.
    ///
    /// # Panics
    ///
    /// When nothing was.
    pub fn free(&self) {
        std::fs::remove_file(self.ballast()).expect("the disk was filled");
    }

    /// Lets nobody write to it, or everybody again. Nothing on it may be open for writing.
    ///
    /// # Panics
    ///
    /// When the system refuses.
    pub fn remount(&self, how: Writable) {
        let option = match how {
            Writable::Yes => "remount,rw",
            Writable::No => "remount,ro",
        };
        let done = Command::new("mount").args(["-o", option]).arg(&self.0).status().expect("mount runs");
        assert!(done.success(), "{option}");
    }

    fn ballast(&self) -> PathBuf {
        self.0.join("ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a database on it may still be open when a test fails.
        let _unmounted = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}
