//! The reader of documents by itself: the child `file_reader` starts, as a program of its own. The installed
//! binary serves as the same child when it is called with `read-document`.

use std::process::ExitCode;

fn main() -> ExitCode {
    octo_documents::serve(&std::env::args().nth(1).unwrap_or_default())
}
