//! Commands.
/// x
#[derive(Clone, Debug)] pub struct Shell;
