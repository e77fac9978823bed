//! The keeper: Octo's side ([`client`], [`tree`]) and the side of the keeper's processes ([`keeping`], [`reaper`],
//! [`network`]).

mod client;
mod keeping;
mod network;
mod reaper;
mod sweep;
mod system;
mod tree;
mod wire;

pub use client::{Keeper, KeeperProgram};
pub use keeping::serve;
pub use network::{NetworkNamespace, NewNetwork};
pub use tree::{ProcessTree, ProgramEnd};
pub use wire::{ProgramStart, StandardStreams};

#[cfg(test)]
mod tests;
