//! Files: roots, paths, atomic writes, search and blobs.
/// x
#[derive(Clone, Debug)] pub struct Files;
