//! The network of a session's commands under a network allow list: a namespace that all of them share, and the
//! filter of its connections. See `octo_network`.
//!
//! Each command has an address of the loopback interface as its proxy's, by which the filter knows which command a
//! connection is from. That names the command in a question; it is no limit between commands of one session.

use crate::{ShellError, Supervision};
#[cfg(target_os = "linux")]
use octo_keeper::{NetworkNamespace, NewNetwork};
use octo_network::Gate;
use octo_protocol::CallId;
use std::{io, sync::Arc};
#[cfg(target_os = "linux")]
use {
    octo_network::{FilterOptions, proxy_variables, serve},
    parking_lot::Mutex,
    std::{
        collections::HashMap,
        net::{Ipv4Addr, SocketAddrV4},
    },
    tokio::{net::TcpListener, task::spawn_blocking},
    tokio_util::sync::{CancellationToken, DropGuard},
};

/// The namespace of a command. There is none on other systems.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) enum NetworkNamespace {}

/// The network of a session's commands.
pub(crate) struct SessionNetwork {
    gate: Arc<dyn Gate>,
    /// `None` until the first command needs it.
    #[cfg(target_os = "linux")]
    running: tokio::sync::Mutex<Option<RunningNetwork>>,
}

/// The network of one command.
pub(crate) struct CommandNetwork {
    /// The namespace.
    pub(crate) namespace: Arc<NetworkNamespace>,
    /// The variables that name its proxy.
    pub(crate) variables: Vec<(String, String)>,
}

/// A namespace and its filter, which ends with it.
#[cfg(target_os = "linux")]
struct RunningNetwork {
    namespace: Arc<NetworkNamespace>,
    port: u16,
    calls: Arc<Mutex<HashMap<Ipv4Addr, CallId>>>,
    started: u16,
    _filter: DropGuard,
}

impl SessionNetwork {
    pub(crate) fn new(gate: Arc<dyn Gate>) -> Self {
        Self {
            gate,
            #[cfg(target_os = "linux")]
            running: tokio::sync::Mutex::default(),
        }
    }

    /// Returns whether the person is being asked about a connection of this call's command.
    pub(crate) fn is_asking(&self, call: CallId) -> bool {
        self.gate.is_asking(call)
    }

    /// Returns the network of a command that is about to start, or `None` if commands are not limited.
    ///
    /// # Errors
    ///
    /// [`ShellError::NoNetwork`] if they are limited and the system cannot do it. Nothing may be started then.
    pub(crate) async fn enter(
        &self,
        supervision: &Supervision,
        call: CallId,
    ) -> Result<Option<CommandNetwork>, ShellError> {
        if !self.gate.is_limiting() {
            return Ok(None);
        }
        self.limited(supervision, call).await.map(Some).map_err(ShellError::NoNetwork)
    }

    #[cfg(target_os = "linux")]
    async fn limited(&self, supervision: &Supervision, call: CallId) -> io::Result<CommandNetwork> {
        let mut running = self.running.lock().await;
        let network = match &mut *running {
            Some(network) => network,
            empty @ None => empty.insert(RunningNetwork::start(Arc::clone(&self.gate), supervision).await?),
        };
        Ok(network.command(call))
    }

    #[cfg(not(target_os = "linux"))]
    async fn limited(&self, _supervision: &Supervision, _call: CallId) -> io::Result<CommandNetwork> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(target_os = "linux")]
impl RunningNetwork {
    async fn start(gate: Arc<dyn Gate>, supervision: &Supervision) -> io::Result<Self> {
        let NewNetwork { namespace, listener } = new_network(supervision).await?;
        let port = listener.local_addr()?.port();
        listener.set_nonblocking(true)?;
        let calls = Arc::new(Mutex::new(HashMap::new()));
        let cancel = CancellationToken::new();
        let known = Arc::clone(&calls);
        let options = FilterOptions {
            gate,
            call_of: Arc::new(move |address| known.lock().get(&address).copied()),
            cancel: cancel.clone(),
        };
        tokio::spawn(serve(TcpListener::from_std(listener)?, options));
        Ok(Self { namespace: Arc::new(namespace), port, calls, started: 0, _filter: cancel.drop_guard() })
    }

    fn command(&mut self, call: CallId) -> CommandNetwork {
        self.started = self.started.wrapping_add(1);
        let [high, low] = self.started.to_be_bytes();
        let address = Ipv4Addr::new(127, 79, high, low);
        self.calls.lock().insert(address, call);
        let variables = proxy_variables(SocketAddrV4::new(address, self.port));
        CommandNetwork { namespace: Arc::clone(&self.namespace), variables }
    }
}

#[cfg(target_os = "linux")]
async fn new_network(supervision: &Supervision) -> io::Result<NewNetwork> {
    let Supervision::Keeper(keeper) = supervision else { return Err(io::ErrorKind::Unsupported.into()) };
    let keeper = keeper.clone();
    spawn_blocking(move || keeper.new_network()).await.map_err(io::Error::other)?
}

/// Tries whether commands can have a network of their own.
///
/// # Errors
///
/// Why they cannot: the system is not Linux, or it forbids namespaces to users.
pub async fn try_network(supervision: &Supervision) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return new_network(supervision).await.map(drop);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = supervision;
        Err(io::ErrorKind::Unsupported.into())
    }
}
