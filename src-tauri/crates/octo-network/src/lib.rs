//! The network of commands: which hosts a folder's commands may reach, and the filter that enforces it.
//!
//! Commands under a network allow list run in a network namespace that has only a loopback interface. A socket
//! listens in it; Octo accepts its connections outside the namespace ([`serve`]). A client names its destination
//! in the words of a proxy (HTTP's `CONNECT` and absolute addresses, SOCKS5), and the [`Gate`] decides.
//!
//! What decides is pure and apart from what waits: [`Destination`], [`HostPattern`], [`Nearness`], the
//! readers of requests (`request`, `socks`). What waits is `filter`, `connection` and `upstream`.
//!
//! * A name is decided on before it is resolved: resolving it already tells its name server something.
//! * Every address that a name resolves to is checked, and the connection goes to a checked address. An address of
//!   this machine or of a private network needs a permission of its own, given by the host's name, so a name that
//!   is resolved to a nearer address later (DNS rebinding) is refused or asked about.
//! * Services of a cloud machine (link-local addresses) are never reached.

mod connection;
mod destination;
mod filter;
mod gate;
mod nearness;
mod pattern;
mod pending;
mod request;
mod socks;
mod upstream;
mod variables;

pub use connection::{Resolver, SystemResolver};
pub use destination::Destination;
pub use filter::{CallOfAddress, FilterOptions, serve};
pub use gate::{AccessRequest, AccessVerdict, Gate};
pub use nearness::{Nearness, nearness_of, nearness_of_host};
pub use pattern::HostPattern;
pub use pending::{AskingCalls, PendingConnection, PendingConnections, rule_allows};
pub use upstream::UpstreamProxy;
pub use variables::proxy_variables;
