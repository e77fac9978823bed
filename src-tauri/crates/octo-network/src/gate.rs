//! Who decides.

use crate::{
    connection::{Resolver, SystemResolver},
    destination::Destination,
    upstream::UpstreamProxy,
};
use futures::future::BoxFuture;
use octo_protocol::{CallId, NetworkScope};
use std::sync::Arc;

/// A connection that a command wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRequest {
    /// The call that started the command, or `None` if the client did not use its command's address.
    pub call: Option<CallId>,
    /// Where to.
    pub destination: Destination,
    /// Whether the destination is on the internet or nearer, as far as known. A name of the internet that resolves
    /// to a nearer address is decided on a second time.
    pub scope: NetworkScope,
}

/// The decision on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessVerdict {
    /// It may be made.
    Allowed,
    /// It is refused.
    Refused,
}

/// Decides on the connections of a session's commands.
pub trait Gate: Send + Sync + 'static {
    /// Returns whether commands that start now are limited to the allow list.
    fn is_limiting(&self) -> bool;

    /// Decides on a connection. May wait for the person; a client that gives up meanwhile drops the future.
    fn decide(&self, request: AccessRequest) -> BoxFuture<'static, AccessVerdict>;

    /// Returns whether the person is being asked about a connection of this call's command.
    fn is_asking(&self, call: CallId) -> bool;

    /// Returns the proxy of the settings.
    fn upstream(&self) -> UpstreamProxy;

    /// Returns the resolver of names.
    fn resolver(&self) -> Arc<dyn Resolver> {
        Arc::new(SystemResolver)
    }
}
