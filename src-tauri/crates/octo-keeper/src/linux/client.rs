//! Octo's side of the keeper.

use super::{
    network::{self, NetworkNamespace, NewNetwork},
    tree::ProcessTree,
    wire::{Description, MAX_DESCRIPTORS, ProgramStart, REPORT_BYTES, Report, StandardStreams},
};
use crate::supervision::KEEP;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use parking_lot::Mutex;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sendmsg,
    socketpair,
};
use std::{
    env,
    ffi::OsString,
    io::{self, IoSlice, Read, Write},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::{net::UnixStream, process::CommandExt},
    },
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, LazyLock},
    thread,
    time::{Duration, Instant},
};

/// Maximum time for a keeper to start and fork. The desktop's executable needs a tenth of a second on an idle machine.
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum time for a program to start. Its executable may be on a slow network.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// Maximum time for a keeper to end after its socket is closed.
const END_TIMEOUT: Duration = Duration::from_secs(4);

/// Interval between two checks whether the keeper has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// The only variable in the keeper's environment. An AppImage needs it to find its libraries.
const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// The program that runs as the keeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeeperProgram {
    /// Its path.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// A keeper, which starts together with its first program. Clones share it. When the last clone is dropped, all its
/// programs are killed.
#[derive(Clone, Debug)]
pub struct Keeper(Arc<KeeperState>);

#[derive(Debug)]
struct KeeperState {
    program: KeeperProgram,
    running: Mutex<Option<KeeperConnection>>,
}

/// A started keeper.
#[derive(Debug)]
struct KeeperConnection {
    /// The socket to the keeper; `None` while the keeper is being ended.
    control: Option<OwnedFd>,
    process: Child,
}

impl Keeper {
    /// Creates a keeper that runs another program, which must call [`crate::serve`].
    pub fn new(program: KeeperProgram) -> Self {
        Self(Arc::new(KeeperState { program, running: Mutex::default() }))
    }

    /// Returns the keeper of this process. It runs the executable of this process, even if the file was replaced.
    pub fn of_this_program() -> Self {
        static KEEPER: LazyLock<Keeper> = LazyLock::new(|| {
            Keeper::new(KeeperProgram { program: "/proc/self/exe".into(), arguments: vec![KEEP.into()] })
        });
        KEEPER.clone()
    }

    /// Returns the keeper's process ID; `None` before it is started.
    pub fn pid(&self) -> Option<u32> {
        self.0.running.lock().as_ref().map(|running| running.process.id())
    }

    /// Starts a program. Blocks until its executable is loaded.
    ///
    /// # Errors
    ///
    /// If the keeper or the program cannot be started, or the program cannot be confined. Then nothing runs.
    pub fn start(&self, start: ProgramStart) -> io::Result<ProcessTree> {
        let ProgramStart { program, arguments, environment, folder, grants, streams, network } = start;
        let has_terminal = matches!(streams, StandardStreams::Terminal(_));
        let description =
            Description { program, arguments, environment, folder, grants, has_terminal }.encode()?;
        let (mut socket, reaper) = match self.reaper(&streams, network.as_deref()) {
            Ok(ready) => ready,
            // The keeper was killed or does not answer. It has received no program.
            Err(ReaperError { error, keeper }) => {
                tracing::warn!(%error, "the keeper is replaced");
                self.abandon(keeper);
                self.reaper(&streams, network.as_deref()).map_err(|failure| failure.error)?
            }
        };
        // From here on only the program has these open.
        drop((streams, network));
        socket.write_all(&description)?;
        match read_report(&mut socket, START_TIMEOUT)? {
            Report::Started { pid, started } => ProcessTree::new(socket, reaper, pid, started),
            Report::NotStarted { error } => Err(io::Error::from_raw_os_error(error)),
            Report::NotConfined { error } => {
                Err(io::Error::other(format!("the system refused the confinement (error {error})")))
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Makes a network namespace.
    ///
    /// # Errors
    ///
    /// If the system forbids it to this user, as some distributions do.
    pub fn new_network(&self) -> io::Result<NewNetwork> {
        let (socket, maker) = UnixStream::pair()?;
        self.send(&[maker.as_fd()]).map_err(|failure| failure.error)?;
        drop(maker);
        network::receive(&socket)
    }

    /// Returns the socket and the process ID of a new reaper, which waits for its program.
    fn reaper(
        &self,
        streams: &StandardStreams,
        network: Option<&NetworkNamespace>,
    ) -> Result<(UnixStream, i32), ReaperError> {
        let to_error = |error| ReaperError { error, keeper: None };
        let (mut socket, reaper) = UnixStream::pair().map_err(to_error)?;
        let [input, output, errors] = match streams {
            StandardStreams::Terminal(terminal) => [terminal.as_fd(); 3],
            StandardStreams::Separate(streams) => streams.each_ref().map(AsFd::as_fd),
        };
        let mut descriptors = vec![reaper.as_fd(), input, output, errors];
        descriptors.extend(network.into_iter().flat_map(NetworkNamespace::descriptors).map(AsFd::as_fd));
        let keeper = self.send(&descriptors)?;
        drop(reaper);
        let ready = read_report(&mut socket, READY_TIMEOUT).and_then(|report| match report {
            Report::Ready { reaper } => {
                socket.set_read_timeout(None)?;
                socket.set_write_timeout(Some(START_TIMEOUT))?;
                Ok(reaper)
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        });
        match ready {
            Ok(reaper) => Ok((socket, reaper)),
            Err(error) => Err(ReaperError { error, keeper: Some(keeper) }),
        }
    }

    /// Sends a packet's descriptors to the keeper, and starts the keeper if necessary. Returns the keeper's process ID.
    fn send(&self, descriptors: &[BorrowedFd<'_>]) -> Result<u32, ReaperError> {
        let mut running = self.0.running.lock();
        let connection = match running.take() {
            Some(connection) => connection,
            None => KeeperConnection::start(&self.0.program)
                .map_err(|error| ReaperError { error, keeper: None })?,
        };
        let keeper = connection.process.id();
        let sent = connection.send(descriptors);
        *running = Some(connection);
        sent.map(|()| keeper).map_err(|error| ReaperError { error, keeper: Some(keeper) })
    }

    /// Kills a keeper that does not work, unless another thread has replaced it. Its reapers continue.
    fn abandon(&self, keeper: Option<u32>) {
        let mut running = self.0.running.lock();
        if running.as_ref().is_some_and(|running| Some(running.process.id()) == keeper)
            && let Some(mut connection) = running.take()
        {
            // Killed before its socket closes: otherwise it would end the programs of its reapers.
            let _ = connection.process.kill();
        }
    }
}

/// The error of a reaper that could not be started.
struct ReaperError {
    error: io::Error,
    /// The process ID of the keeper that failed; `None` if no keeper runs.
    keeper: Option<u32>,
}

impl KeeperConnection {
    fn start(program: &KeeperProgram) -> io::Result<Self> {
        let (control, keeper_end) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        rustix::net::sockopt::set_socket_timeout(
            &control,
            rustix::net::sockopt::Timeout::Send,
            Some(READY_TIMEOUT),
        )?;
        let mut command = Command::new(&program.program);
        command.arg0("octo").args(&program.arguments).env_clear().current_dir("/");
        if let Some(path) = env::var_os(LIBRARY_PATH) {
            command.env(LIBRARY_PATH, path);
        }
        command.stdin(Stdio::from(keeper_end)).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn()?;
        Ok(Self { control: Some(control), process })
    }

    fn send(&self, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
        let control = self.control.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        sendmsg(control, &[IoSlice::new(b"+")], &mut ancillary, SendFlags::NOSIGNAL)?;
        Ok(())
    }
}

impl Drop for KeeperConnection {
    fn drop(&mut self) {
        drop(self.control.take());
        let deadline = Instant::now() + END_TIMEOUT;
        while Instant::now() < deadline {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(POLL_INTERVAL);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits until a socket is readable or closed. Without a timeout, waits indefinitely.
pub(super) fn wait_readable(socket: BorrowedFd<'_>, timeout: Option<Duration>) {
    let timeout = timeout.map_or(PollTimeout::NONE, |time| {
        // Adds a millisecond, because timeouts are rounded down.
        PollTimeout::try_from(time + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)
    });
    // After an interruption the caller checks again.
    let _ = poll(&mut [PollFd::new(socket, PollFlags::POLLIN)], timeout);
}

fn read_report(socket: &mut UnixStream, timeout: Duration) -> io::Result<Report> {
    socket.set_read_timeout(Some(timeout))?;
    let mut bytes = [0; REPORT_BYTES];
    socket.read_exact(&mut bytes)?;
    Report::decode(&bytes)
}
