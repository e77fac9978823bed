//! Standalone document reader: the child process that `file_reader` starts. The installed binary serves as the
//! same child when called with `read-document`.

use std::process::ExitCode;

fn main() -> ExitCode {
    octo_documents::serve(&std::env::args().nth(1).unwrap_or_default())
}
