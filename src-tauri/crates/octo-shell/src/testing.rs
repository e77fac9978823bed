//! How the tests of this crate start processes: by a keeper, where there is one.

use crate::Supervision;

/// Returns a supervision of its own: its keeper is this test's executable.
#[cfg(target_os = "linux")]
pub(crate) fn supervision() -> Supervision {
    use octo_keeper::{Keeper, KeeperProgram};
    let program = KeeperProgram { program: "/proc/self/exe".into(), arguments: vec!["keep".into()] };
    Supervision::Keeper(Keeper::new(program))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn supervision() -> Supervision {
    Supervision::Session
}

/// Runs before the test harness: it has threads, and the keeper must have one.
#[cfg(target_os = "linux")]
#[used]
#[expect(unsafe_code, reason = "nothing else runs before the test harness")]
// SAFETY: the section holds pointers to functions of this type.
#[unsafe(link_section = ".init_array")]
static KEEP: extern "C" fn() = {
    extern "C" fn keep() {
        if octo_keeper::run_as_keeper(std::env::args_os()).is_some() {
            std::process::exit(0);
        }
    }
    keep
};
