//! Flushing many new files to disk at once.

#[cfg(any(target_os = "linux", target_os = "android"))]
use std::fs::File;
use std::{io, path::Path};

/// The largest number of files that are flushed one by one. For more files, flushing the whole file system
/// costs less, but also waits for other programs' writes.
pub(crate) const MAX_SINGLE_FLUSHES: usize = 256;

/// When a new file's content must be flushed to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushTiming {
    /// Before the call returns.
    Now,
    /// Later, with others: for many files at once, where flushing each would take minutes.
    Deferred,
}

/// How a batch of new files reaches the disk.
#[derive(Debug)]
pub(crate) enum FlushPlan {
    /// Every file is flushed when it is written.
    EachFile,
    /// Their file systems are flushed once all are written. Opened before the first write, so that an error of
    /// writing it out is reported.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    FileSystems(Vec<File>),
}

impl FlushPlan {
    /// Returns the plan for `count` files or names in these folders.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn new<'a>(count: usize, folders: impl Iterator<Item = &'a Path>) -> Self {
        use nix::fcntl::OFlag;
        use std::{
            collections::BTreeMap,
            os::unix::fs::{MetadataExt, OpenOptionsExt},
        };
        if count <= MAX_SINGLE_FLUSHES {
            return Self::EachFile;
        }
        let flags = (OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW).bits();
        let mut by_device = BTreeMap::new();
        let mut last = None;
        for folder in folders {
            // Consecutive files often share a folder.
            if last.replace(folder) == Some(folder) {
                continue;
            }
            let opened = File::options().read(true).custom_flags(flags).open(folder);
            // A folder that cannot be opened: its files are flushed by the descriptors that write them.
            let Ok((device, open)) = opened.and_then(|open| Ok((open.metadata()?.dev(), open))) else {
                return Self::EachFile;
            };
            by_device.entry(device).or_insert(open);
        }
        Self::FileSystems(by_device.into_values().collect())
    }

    /// Returns the plan for `count` files or names in these folders. No other system flushes one file system and
    /// waits for it.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(crate) fn new<'a>(_count: usize, _folders: impl Iterator<Item = &'a Path>) -> Self {
        Self::EachFile
    }

    /// Returns when a file of the batch must be flushed.
    pub(crate) fn timing(&self) -> FlushTiming {
        match self {
            Self::EachFile => FlushTiming::Now,
            #[cfg(any(target_os = "linux", target_os = "android"))]
            Self::FileSystems(_) => FlushTiming::Deferred,
        }
    }

    /// Flushes the deferred files.
    pub(crate) fn finish(&self) -> io::Result<()> {
        match self {
            Self::EachFile => Ok(()),
            #[cfg(any(target_os = "linux", target_os = "android"))]
            Self::FileSystems(open) => open.iter().try_for_each(|folder| Ok(nix::unistd::syncfs(folder)?)),
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn many_files_of_a_file_system_are_flushed_once() {
        let folder = octo_testkit::test_folder();
        let folders: Vec<_> = (0..3).map(|number| folder.path().join(number.to_string())).collect();
        folders.iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
        let plan = |count| FlushPlan::new(count, folders.iter().map(std::path::PathBuf::as_path));
        assert!(matches!(plan(MAX_SINGLE_FLUSHES), FlushPlan::EachFile));
        let many = plan(MAX_SINGLE_FLUSHES + 1);
        assert!(matches!(&many, FlushPlan::FileSystems(open) if open.len() == 1), "{many:?}");
        assert_eq!(many.timing(), FlushTiming::Deferred);
        many.finish().unwrap();
        let missing = [folder.path().join("missing")];
        let plan = FlushPlan::new(1_000, missing.iter().map(std::path::PathBuf::as_path));
        assert_eq!(plan.timing(), FlushTiming::Now);
    }
}
