//! Network namespaces for programs.
//!
//! A process that ends at once makes a namespace, without rights of its own on the machine: a user namespace in which
//! only the person's own user exists, and in it a network namespace with nothing but a loopback interface. It
//! sends Octo their descriptors and that of a socket that listens inside. A socket stays in the namespace it was made
//! in, so Octo accepts the connections of programs inside while it is outside itself, and no process has to stay.
//! The namespaces exist as long as Octo has their descriptors, or a program runs in them.

use super::{client::wait_readable, system, wire};
use nix::libc;
use rustix::net::{
    RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::{
    fs::{self, File},
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    net::{Ipv4Addr, TcpListener},
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    time::Duration,
};

/// The number of descriptors of a namespace: the user namespace, the network namespace, the listening socket.
const DESCRIPTORS: usize = 3;

/// How long making a namespace may take.
const WAIT: Duration = Duration::from_secs(10);

/// A network namespace without a network, for programs of one session.
#[derive(Debug)]
pub struct NetworkNamespace {
    user: OwnedFd,
    network: OwnedFd,
}

/// A new namespace, and a socket that listens on every address of its loopback interface.
#[derive(Debug)]
pub struct NewNetwork {
    /// The namespace.
    pub namespace: NetworkNamespace,
    /// The socket. Only programs in the namespace can connect to it.
    pub listener: TcpListener,
}

impl NetworkNamespace {
    /// Returns descriptors for a program's start.
    pub(crate) fn descriptors(&self) -> [&OwnedFd; 2] {
        [&self.user, &self.network]
    }
}

/// Makes a namespace and sends it to Octo. Returns the exit status.
pub(super) fn serve(socket: OwnedFd) -> i32 {
    let socket = UnixStream::from(socket);
    let sent = match make() {
        Ok(descriptors) => {
            let descriptors = descriptors.each_ref().map(AsFd::as_fd);
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
            let mut ancillary = SendAncillaryBuffer::new(&mut space);
            ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
            sendmsg(&socket, &[IoSlice::new(&0i32.to_le_bytes())], &mut ancillary, SendFlags::NOSIGNAL)
        }
        Err(error) => {
            let number = error.raw_os_error().unwrap_or(libc::EIO).to_le_bytes();
            let mut ancillary = SendAncillaryBuffer::default();
            sendmsg(&socket, &[IoSlice::new(&number)], &mut ancillary, SendFlags::NOSIGNAL)
        }
    };
    i32::from(sent.is_err())
}

/// Enters a new user and network namespace and returns their descriptors.
fn make() -> io::Result<[OwnedFd; DESCRIPTORS]> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    system::enter_new_network()?;
    // Without this a process without rights may not name its group.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1\n"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1\n"))?;
    system::start_loopback()?;
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    let descriptor = |name| File::open(name).map(OwnedFd::from);
    Ok([descriptor("/proc/self/ns/user")?, descriptor("/proc/self/ns/net")?, listener.into()])
}

/// Receives a namespace from the process that makes it.
pub(super) fn receive(socket: &UnixStream) -> io::Result<NewNetwork> {
    wait_readable(socket.as_fd(), Some(WAIT));
    let mut number = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(&mut number)];
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let received = recvmsg(socket, &mut parts, &mut ancillary, flags)?;
    if received.bytes != number.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let descriptors = wire::take_descriptors(&mut ancillary);
    match (i32::from_le_bytes(number), <[OwnedFd; DESCRIPTORS]>::try_from(descriptors)) {
        (0, Ok([user, network, listener])) => {
            Ok(NewNetwork { namespace: NetworkNamespace { user, network }, listener: listener.into() })
        }
        (0, Err(_)) => Err(io::ErrorKind::InvalidData.into()),
        (error, _) => Err(io::Error::from_raw_os_error(error)),
    }
}
