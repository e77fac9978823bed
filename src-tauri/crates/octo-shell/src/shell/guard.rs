//! Ends commands when Octo itself is killed without warning (`kill -9`, a crash, the out-of-memory killer).
//!
//! When Octo dies, its terminals receive a hang-up, which ends most commands; a command that ignores the
//! hang-up would continue unseen. Therefore one small process of the system's `sh` waits next to Octo, reading
//! a pipe only Octo holds open. Octo sends it the first process of every command that begins and ends; when the
//! pipe closes, Octo is gone, and the guard kills the remaining processes of these commands: all processes of
//! their terminals' sessions and the descendants of these. After an ordinary end it has nothing to do.
//!
//! It reads `/proc`, so it exists on Linux only. macOS has only the hang-up.

use super::processes;
use parking_lot::Mutex;
use std::{
    io::{self, Write},
    process::{ChildStdin, Command, Stdio},
    sync::LazyLock,
};

/// The only guard of this process, started with its first command.
static GUARD: LazyLock<ProcessGuard> = LazyLock::new(ProcessGuard::default);

/// A registration with the guard; dropping it removes the registration.
#[derive(Debug)]
pub(super) struct GuardRegistration(u32);

/// Registers a command's processes to be ended if Octo is killed. `leader` is the first of them. If the guard
/// cannot be started, logs a warning and lets the command run without it.
pub(super) fn guard(leader: u32) -> Option<GuardRegistration> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    // Nobody has waited for the process yet, so `/proc` lists it even if it has ended.
    let start = processes::start_of(leader)?;
    GUARD.send(&format!("+ {leader} {start}\n"));
    Some(GuardRegistration(leader))
}

impl Drop for GuardRegistration {
    fn drop(&mut self) {
        GUARD.send(&format!("- {}\n", self.0));
    }
}

#[derive(Default)]
struct ProcessGuard {
    pipe: Mutex<Option<ChildStdin>>,
}

impl ProcessGuard {
    /// Sends a line to the guard. Replaces a guard that was killed; the old one's registrations are lost.
    fn send(&self, line: &str) {
        let mut pipe = self.pipe.lock();
        if let Some(open) = pipe.as_mut()
            && open.write_all(line.as_bytes()).is_ok()
        {
            return;
        }
        if line.starts_with('-') {
            *pipe = None;
            return;
        }
        let started = start().and_then(|mut fresh| fresh.write_all(line.as_bytes()).map(|()| fresh));
        *pipe = match started {
            Ok(fresh) => Some(fresh),
            Err(error) => {
                tracing::warn!(%error, "commands are not ended with Octo if it is killed");
                None
            }
        };
    }
}

fn start() -> io::Result<ChildStdin> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT, "octo-guard"]).env_clear().env("PATH", "/usr/bin:/bin").current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Signals from keys in the terminal that Octo was started in must not reach the guard.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    child.stdin.take().ok_or_else(|| io::ErrorKind::BrokenPipe.into())
}

/// A POSIX `sh` script. A line is `+ LEADER START` or `- LEADER`. A command counts while its leader is the
/// registered process, or no process: the kernel reuses a number only when no session has it.
const SCRIPT: &str = r#"
trap '' HUP INT TERM QUIT PIPE
leaders=' '
while read -r sign leader start; do
  case $sign in
    +) leaders="$leaders$leader:$start " ;;
    -)
      rest=' '
      for one in $leaders; do
        [ "${one%%:*}" = "$leader" ] || rest="$rest$one "
      done
      leaders=$rest
      ;;
  esac
done
round=0
while [ "$round" -lt 25 ]; do
  ours=' '
  for one in $leaders; do
    leader=${one%%:*}
    if read -r line 2>/dev/null <"/proc/$leader/stat"; then
      set -f; set -- ${line##*) }; set +f
      shift 19 2>/dev/null || continue
      [ "$1" = "${one#*:}" ] || continue
    fi
    ours="$ours$leader "
  done
  found=
  grown=yes
  while [ "$grown" ]; do
    grown=
    for stat in /proc/[0-9]*/stat; do
      read -r line 2>/dev/null <"$stat" || continue
      pid=${stat#/proc/}; pid=${pid%/stat}
      set -f; set -- ${line##*) }; set +f
      [ "$1" = Z ] && continue
      case $found in *" $pid "*) continue ;; esac
      case $ours in
        *" $pid "* | *" $2 "* | *" $4 "*) found="$found $pid "; ours="$ours$pid "; grown=yes ;;
      esac
    done
  done
  [ "$found" ] || exit 0
  kill -KILL $found 2>/dev/null
  round=$((round + 1))
  sleep 0.02 2>/dev/null || sleep 1
done
"#;
