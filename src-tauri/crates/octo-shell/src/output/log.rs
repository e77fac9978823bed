//! The file with a command's whole output.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// The maximum bytes in a log: half of it the head, half the tail. A command can write more in a second than
/// anyone will read, and a runaway one must not fill the disk.
const MAX_LOG_BYTES: u64 = 64 * 1024 * 1024;

/// A log that becomes a file only when the output no longer fits into a result.
#[derive(Debug)]
pub(crate) struct LogFile {
    path: PathBuf,
    limit: u64,
    /// Output kept until a file is needed.
    buffered: Vec<u8>,
    memory_limit: usize,
    state: State,
}

#[derive(Debug)]
enum State {
    /// All output is in memory.
    Memory,
    /// The head is being written.
    Head { file: File, written: u64 },
    /// The head is full; the tail alternates between two files.
    Tail(Box<LogTail>),
    /// Writing failed (a full disk); the log is lost.
    Failed,
}

#[derive(Debug)]
struct LogTail {
    head: File,
    paths: [PathBuf; 2],
    current: File,
    /// The index of the file being written.
    turn: usize,
    written: u64,
    /// The number of bytes that were overwritten.
    lost: u64,
    /// Whether the other file contains a full part.
    other_full: bool,
}

impl LogFile {
    /// Returns a log at `path`, which is created when more than `memory_limit` bytes arrive.
    pub(crate) fn new(path: PathBuf, memory_limit: usize) -> Self {
        Self { path, limit: MAX_LOG_BYTES, buffered: Vec::new(), memory_limit, state: State::Memory }
    }

    pub(super) fn write(&mut self, text: &str) {
        if matches!(self.state, State::Memory) {
            self.buffered.extend_from_slice(text.as_bytes());
            if self.buffered.len() > self.memory_limit {
                self.create_file();
            }
            return;
        }
        if let Err(error) = self.append(text.as_bytes()) {
            self.fail(&error);
        }
    }

    /// Returns the file, and creates it if necessary.
    pub(super) fn file(&mut self) -> Option<PathBuf> {
        if matches!(self.state, State::Memory) {
            self.create_file();
        }
        match &self.state {
            State::Failed | State::Memory => None,
            State::Head { .. } | State::Tail(_) => Some(self.path.clone()),
        }
    }

    /// Returns the file if it exists.
    pub(super) fn existing_file(&self) -> Option<PathBuf> {
        matches!(self.state, State::Head { .. } | State::Tail(_)).then(|| self.path.clone())
    }

    /// Joins head and tail at the end of the output.
    pub(super) fn finish(&mut self) {
        let LogTail { mut head, paths, turn, lost, other_full, .. } =
            match std::mem::replace(&mut self.state, State::Failed) {
                State::Tail(tail) => *tail,
                other => {
                    self.state = other;
                    return;
                }
            };
        let join = |head: &mut File| -> io::Result<()> {
            if lost > 0 {
                write!(head, "\n[… {lost} bytes left out …]\n")?;
            }
            let other = other_full.then_some(1 - turn);
            for part in other.into_iter().chain([turn]) {
                if let Some(path) = paths.get(part) {
                    io::copy(&mut File::open(path)?, head)?;
                }
            }
            Ok(())
        };
        let joined = join(&mut head);
        for path in &paths {
            let _ = std::fs::remove_file(path);
        }
        match joined {
            Ok(()) => self.state = State::Head { file: head, written: u64::MAX },
            Err(error) => self.fail(&error),
        }
    }

    fn create_file(&mut self) {
        match create_private(&self.path) {
            Ok(file) => {
                self.state = State::Head { file, written: 0 };
                let pending = std::mem::take(&mut self.buffered);
                if let Err(error) = self.append(&pending) {
                    self.fail(&error);
                }
            }
            Err(error) => self.fail(&error),
        }
    }

    fn fail(&mut self, error: &io::Error) {
        tracing::warn!(log = %self.path.display(), %error, "a command's log cannot be written");
        if let State::Tail(tail) = &self.state {
            for path in &tail.paths {
                let _ = std::fs::remove_file(path);
            }
        }
        let _ = std::fs::remove_file(&self.path);
        self.state = State::Failed;
    }

    fn append(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let (head_limit, part_limit) = (self.limit / 2, self.limit / 4);
        while !bytes.is_empty() {
            match &mut self.state {
                State::Head { file, written } => {
                    let room = usize::try_from(head_limit.saturating_sub(*written)).unwrap_or(usize::MAX);
                    let (fitting, remaining) = bytes.split_at(room.min(bytes.len()));
                    file.write_all(fitting)?;
                    *written += fitting.len() as u64;
                    bytes = remaining;
                    if !bytes.is_empty() {
                        let paths = ["a", "b"].map(|part| self.path.with_extension(part));
                        let current = create_private(&paths[0])?;
                        let head = file.try_clone()?;
                        self.state = State::Tail(Box::new(LogTail {
                            head,
                            paths,
                            current,
                            turn: 0,
                            written: 0,
                            lost: 0,
                            other_full: false,
                        }));
                    }
                }
                State::Tail(tail) => {
                    let room = usize::try_from(part_limit.saturating_sub(tail.written)).unwrap_or(usize::MAX);
                    let (fitting, remaining) = bytes.split_at(room.min(bytes.len()));
                    tail.current.write_all(fitting)?;
                    tail.written += fitting.len() as u64;
                    bytes = remaining;
                    if !bytes.is_empty() {
                        tail.turn = 1 - tail.turn;
                        tail.lost += if tail.other_full { part_limit } else { 0 };
                        tail.other_full = true;
                        tail.written = 0;
                        tail.current =
                            create_private(tail.paths.get(tail.turn).ok_or(io::ErrorKind::NotFound)?)?;
                    }
                }
                State::Memory | State::Failed => return Ok(()),
            }
        }
        Ok(())
    }
}

impl Drop for LogFile {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Creates a file only its owner can read.
fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(limit: u64) -> (tempfile::TempDir, LogFile) {
        let folder = octo_testkit::test_folder();
        let mut log = LogFile::new(folder.path().join("one.log"), 10);
        log.limit = limit;
        (folder, log)
    }

    #[test]
    fn little_output_makes_no_file() {
        let (_folder, mut log) = log(1000);
        log.write("0123456789");
        log.finish();
        assert_eq!(log.existing_file(), None);
    }

    #[test]
    fn a_file_requested_late_contains_the_earlier_output() {
        let (_folder, mut log) = log(1000);
        log.write("early ");
        let path = log.file().unwrap();
        log.write("late");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "early late");
    }

    #[test]
    fn a_flood_leaves_head_and_tail() {
        for lines in [9, 10, 12, 15, 20, 21, 100, 1000] {
            let (_folder, mut log) = log(80);
            let text: Vec<String> = (0..lines).map(|n| format!("{n:03}\n")).collect();
            text.iter().for_each(|line| log.write(line));
            log.finish();
            let path = log.existing_file();
            if lines <= 2 {
                assert_eq!(path, None);
                continue;
            }
            let content = std::fs::read_to_string(path.as_ref().unwrap()).unwrap();
            let expected = text.concat();
            if expected.len() <= 80 {
                assert_eq!(content, expected);
            } else {
                assert!(content.starts_with(expected.get(..40).unwrap()), "{content}");
                assert!(content.ends_with(expected.get(expected.len() - 20..).unwrap()), "{content}");
                assert!(content.len() <= 80 + 40, "{content}");
            }
            let files: Vec<_> = std::fs::read_dir(path.unwrap().parent().unwrap()).unwrap().collect();
            assert_eq!(files.len(), 1, "the parts are gone");
        }
    }

    #[test]
    fn an_unwritable_folder_means_no_log() {
        let folder = octo_testkit::test_folder();
        let mut log = LogFile::new(folder.path().join("missing/one.log"), 1);
        log.write("more than one");
        log.write("and more");
        assert_eq!(log.file(), None);
    }
}
