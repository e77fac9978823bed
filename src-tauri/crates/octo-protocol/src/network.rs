//! The network of commands.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The part of the network a host belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum NetworkScope {
    /// The internet.
    Internet,
    /// This machine or a private network.
    Private,
}

/// The network of commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum CommandNetwork {
    /// That of the machine.
    #[default]
    Open,
    /// Only hosts of the folder's network allow list. Octo asks about others. Linux only.
    AllowList,
}

impl CommandNetwork {
    /// Returns whether it is that of the machine.
    pub fn is_open(&self) -> bool {
        *self == Self::Open
    }
}
