//! The messages between Octo and the keeper's processes.
//!
//! Octo sends the keeper one packet per program: the reaper's end of a new socket, the program's standard streams, and
//! the program's network namespace if it has one. All other messages use that socket. The reaper sends
//! [`Report::Ready`], and Octo answers with the length and the bytes of the program's description. Then Octo sends
//! [`Demand`]s, and the reaper sends [`Report`]s of a fixed size. A packet for a new network namespace has only the
//! socket over which the namespace is sent.

use crate::{PathGrants, linux::NetworkNamespace};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage};
use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    io::{self, Read},
    os::{
        fd::OwnedFd,
        unix::ffi::{OsStrExt, OsStringExt},
    },
    path::PathBuf,
    sync::Arc,
};

/// The number of descriptors of a program: a socket and three standard streams.
pub(crate) const PROGRAM_DESCRIPTORS: usize = 4;

/// The number of descriptors of a network namespace: the user namespace and the network namespace.
pub(crate) const NETWORK_DESCRIPTORS: usize = 2;

/// The maximum number of descriptors in a packet for the keeper.
pub(crate) const MAX_DESCRIPTORS: usize = PROGRAM_DESCRIPTORS + NETWORK_DESCRIPTORS;

/// Maximum length of a program's description. The kernel accepts at most 6 MiB of arguments and variables; the rest are
/// granted paths.
const MAX_DESCRIPTION_BYTES: u32 = 64 * 1024 * 1024;

/// A program to start.
#[derive(Debug)]
pub struct ProgramStart {
    /// Its absolute path.
    pub program: PathBuf,
    /// Its arguments, without its name.
    pub arguments: Vec<OsString>,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The folder it runs in.
    pub folder: PathBuf,
    /// The paths it is confined to, or `None` for no confinement.
    pub grants: Option<PathGrants>,
    /// Its standard input, output and error.
    pub streams: StandardStreams,
    /// The network namespace it runs in, or `None` for that of Octo.
    pub network: Option<Arc<NetworkNamespace>>,
}

/// The standard input, output and error of a program, which leads its own session in either case.
#[derive(Debug)]
pub enum StandardStreams {
    /// One terminal, which becomes the program's controlling terminal.
    Terminal(OwnedFd),
    /// Any three descriptors, without a controlling terminal.
    Separate([OwnedFd; 3]),
}

/// A demand of Octo to a reaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Demand {
    /// Ask all processes to end, and kill those that do not.
    Terminate = b't',
    /// Kill all processes.
    Kill = b'k',
}

/// A report of a reaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// The reaper waits for the program's description. It has started nothing.
    Ready { reaper: i32 },
    /// The program runs.
    Started { pid: u32, started: u64 },
    /// The program was not started; `error` is the system's `errno`.
    NotStarted { error: i32 },
    /// The program was not started because it could not be confined; `error` is the system's `errno`, or 0.
    NotConfined { error: i32 },
    /// The program exited.
    Exited { code: i32 },
    /// A signal ended the program.
    Signalled { signal: i32 },
    /// The number of processes that could not be killed.
    Unkillable { count: u64 },
    /// No process is left. The reaper ends.
    Empty,
}

/// The length of a report.
pub(crate) const REPORT_BYTES: usize = 17;

impl Report {
    pub(crate) fn encode(self) -> [u8; REPORT_BYTES] {
        let small = |value: i32| i64::from(value).cast_unsigned();
        let (tag, first, second) = match self {
            Self::Ready { reaper } => (1, small(reaper), 0),
            Self::Started { pid, started } => (2, u64::from(pid), started),
            Self::NotStarted { error } => (3, small(error), 0),
            Self::NotConfined { error } => (4, small(error), 0),
            Self::Exited { code } => (5, small(code), 0),
            Self::Signalled { signal } => (6, small(signal), 0),
            Self::Unkillable { count } => (7, count, 0),
            Self::Empty => (8, 0, 0),
        };
        let mut bytes = [tag; REPORT_BYTES];
        let (_, numbers) = bytes.split_at_mut(1);
        let (first_bytes, second_bytes) = numbers.split_at_mut(8);
        first_bytes.copy_from_slice(&first.to_le_bytes());
        second_bytes.copy_from_slice(&second.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; REPORT_BYTES]) -> io::Result<Self> {
        let (tag, numbers) = bytes.split_first().ok_or_else(malformed)?;
        let (first, second) = numbers.split_at(8);
        let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).map_err(|_| malformed());
        let (first, second) = (number(first)?, number(second)?);
        let small = || i32::try_from(first.cast_signed()).map_err(|_| malformed());
        Ok(match tag {
            1 => Self::Ready { reaper: small()? },
            2 => Self::Started { pid: u32::try_from(first).map_err(|_| malformed())?, started: second },
            3 => Self::NotStarted { error: small()? },
            4 => Self::NotConfined { error: small()? },
            5 => Self::Exited { code: small()? },
            6 => Self::Signalled { signal: small()? },
            7 => Self::Unkillable { count: first },
            8 => Self::Empty,
            _ => return Err(malformed()),
        })
    }
}

/// A [`ProgramStart`] without its streams and network, as a reaper receives it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Description {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) folder: PathBuf,
    pub(crate) grants: Option<PathGrants>,
    pub(crate) has_terminal: bool,
}

impl Description {
    /// Returns the bytes of the description after their length.
    pub(crate) fn encode(&self) -> io::Result<Vec<u8>> {
        let mut text = TextEncoder(vec![0; 4]);
        text.put(self.program.as_os_str())?;
        text.put(self.folder.as_os_str())?;
        text.put_all(self.arguments.iter().map(OsString::as_os_str))?;
        text.put_all(self.environment.iter().map(|(name, _)| name.as_os_str()))?;
        text.put_all(self.environment.iter().map(|(_, value)| value.as_os_str()))?;
        text.0.push(u8::from(self.has_terminal));
        text.0.push(u8::from(self.grants.is_some()));
        if let Some(PathGrants { write, enter, read, devices }) = &self.grants {
            for paths in [write, enter, read, devices] {
                text.put_all(paths.iter().map(|path| path.as_os_str()))?;
            }
        }
        let length = size(text.0.len() - 4)?;
        if let Some(first) = text.0.get_mut(..4) {
            first.copy_from_slice(&length.to_le_bytes());
        }
        Ok(text.0)
    }

    /// Reads it with its length.
    pub(crate) fn read(mut from: impl Read) -> io::Result<Self> {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length);
        if length > MAX_DESCRIPTION_BYTES {
            return Err(malformed());
        }
        let mut bytes = vec![0; length as usize];
        from.read_exact(&mut bytes)?;
        let mut text = TextDecoder(&bytes);
        let (program, folder) = (text.take()?.into(), text.take()?.into());
        let (arguments, names, values) = (text.take_all()?, text.take_all()?, text.take_all()?);
        let has_terminal = text.flag()?;
        let grants = if text.flag()? {
            let mut paths = || {
                Ok::<_, io::Error>(text.take_all()?.into_iter().map(PathBuf::from).collect::<BTreeSet<_>>())
            };
            Some(PathGrants { write: paths()?, enter: paths()?, read: paths()?, devices: paths()? })
        } else {
            None
        };
        let environment = names.into_iter().zip(values).collect();
        Ok(Self { program, arguments, environment, folder, grants, has_terminal })
    }
}

struct TextEncoder(Vec<u8>);

impl TextEncoder {
    fn put(&mut self, text: &OsStr) -> io::Result<()> {
        self.0.extend(size(text.len())?.to_le_bytes());
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn put_all<'a>(&mut self, texts: impl ExactSizeIterator<Item = &'a OsStr>) -> io::Result<()> {
        self.0.extend(size(texts.len())?.to_le_bytes());
        texts.into_iter().try_for_each(|text| self.put(text))
    }
}

struct TextDecoder<'a>(&'a [u8]);

impl TextDecoder<'_> {
    fn number(&mut self) -> io::Result<usize> {
        let (number, rest) = self.0.split_first_chunk::<4>().ok_or_else(malformed)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*number) as usize)
    }

    fn flag(&mut self) -> io::Result<bool> {
        let (flag, rest) = self.0.split_first().ok_or_else(malformed)?;
        self.0 = rest;
        Ok(*flag != 0)
    }

    fn take(&mut self) -> io::Result<OsString> {
        let length = self.number()?;
        let (text, rest) = self.0.split_at_checked(length).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(OsString::from_vec(text.to_vec()))
    }

    fn take_all(&mut self) -> io::Result<Vec<OsString>> {
        (0..self.number()?).map(|_| self.take()).collect()
    }
}

fn size(length: usize) -> io::Result<u32> {
    u32::try_from(length)
        .ok()
        .filter(|length| *length <= MAX_DESCRIPTION_BYTES)
        .ok_or_else(|| io::Error::from(io::ErrorKind::ArgumentListTooLong))
}

fn malformed() -> io::Error {
    io::Error::from(io::ErrorKind::InvalidData)
}

/// Returns the file descriptors that a received message carries.
pub(super) fn take_descriptors(ancillary: &mut RecvAncillaryBuffer<'_>) -> Vec<OwnedFd> {
    let descriptors = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    descriptors.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_arrives_unchanged_and_complete() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect();
        let description = Description {
            program: "/bin/bash".into(),
            arguments: vec!["-c".into(), OsString::from_vec(vec![0xff, b'\n'])],
            environment: vec![("A".into(), "".into()), ("B=".into(), "b".into())],
            folder: "/tmp".into(),
            grants: Some(PathGrants {
                write: paths(&["/w", "/w2"]),
                enter: paths(&[]),
                read: paths(&["/r"]),
                devices: paths(&["/dev/null"]),
            }),
            has_terminal: true,
        };
        let bytes = description.encode().unwrap();
        assert_eq!(Description::read(bytes.as_slice()).unwrap(), description);
        for length in 0..bytes.len() {
            assert!(Description::read(&bytes[..length]).is_err(), "{length}");
        }
        let unconfined = Description { grants: None, has_terminal: false, ..description };
        assert_eq!(Description::read(unconfined.encode().unwrap().as_slice()).unwrap(), unconfined);
    }

    #[test]
    fn a_report_arrives_unchanged() {
        for report in [
            Report::Ready { reaper: 7 },
            Report::Started { pid: u32::MAX, started: u64::MAX },
            Report::NotStarted { error: 2 },
            Report::NotConfined { error: -1 },
            Report::Exited { code: -3 },
            Report::Signalled { signal: 64 },
            Report::Unkillable { count: 3 },
            Report::Empty,
        ] {
            assert_eq!(Report::decode(&report.encode()).unwrap(), report);
        }
        assert!(Report::decode(&[0; REPORT_BYTES]).is_err());
    }
}
