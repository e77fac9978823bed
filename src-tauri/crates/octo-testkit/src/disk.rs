//! A disk that can be full.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// More than the capacity of any small disk.
const BALLAST: usize = 64 * 1024 * 1024;

/// Whether a disk accepts writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskMode {
    /// The disk is writable.
    Yes,
    /// The disk is read-only.
    No,
}

/// A small separate disk mounted over a folder until it is dropped.
#[derive(Debug)]
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts a small disk over the folder. Returns `None` if this system or user cannot create one.
    ///
    /// # Panics
    ///
    /// When the folder cannot be created.
    pub fn mount(folder: &Path) -> Option<Self> {
        std::fs::create_dir_all(folder).expect("the folder is made");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=6m", "octo-test"])
            .arg(folder)
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then(|| Self(folder.to_path_buf()))
    }

    /// Fills the remaining space.
    ///
    /// # Panics
    ///
    /// When more fits than a small disk has.
    pub fn fill(&self) {
        std::fs::write(self.ballast(), vec![0; BALLAST]).expect_err("the disk is small");
    }

    /// Frees the space taken by [`SmallDisk::fill`].
    ///
    /// # Panics
    ///
    /// When the disk was not filled.
    pub fn free(&self) {
        std::fs::remove_file(self.ballast()).expect("the disk was filled");
    }

    /// Makes the disk read-only, or writable again. No file on it may be open for writing.
    ///
    /// # Panics
    ///
    /// When the system refuses.
    pub fn remount(&self, mode: DiskMode) {
        let option = match mode {
            DiskMode::Yes => "remount,rw",
            DiskMode::No => "remount,ro",
        };
        let status = Command::new("mount").args(["-o", option]).arg(&self.0).status().expect("mount runs");
        assert!(status.success(), "{option}");
    }

    fn ballast(&self) -> PathBuf {
        self.0.join("ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazy unmount: a database on it may still be open when a test fails.
        let _unmounted = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}
