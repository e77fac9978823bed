//! Detects whether a tab answers, and the reason if it does not.

use super::{Page, PageCore, PageHealth};
use crate::{
    CallError, Link, NextEvent,
    cdp::{
        browser_protocol::{
            inspector::{self, EventTargetCrashed},
            system_info::GetProcessInfoParams,
            target::SessionId,
        },
        js_protocol::runtime::EvaluateParams,
    },
};
use std::{
    collections::{HashMap, HashSet},
    fmt,
    time::Duration,
};
use tokio::time::{Instant, timeout, timeout_at};

/// Timeout for a trivial evaluation in a tab. Measured: 2 to 3 ms on an idle machine, and no answer from a tab
/// that is discarded, hung, or blocked by a dialog.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(1_500);

/// Delay after which the reason for the silence is investigated, while the wait for the answer continues.
const INVESTIGATE_AFTER: Duration = Duration::from_millis(300);

/// Timeout for an answer of the browser itself.
const BROWSER_TIMEOUT: Duration = Duration::from_secs(2);

/// Minimum share of CPU time that indicates an endless loop. On an idle machine a loop uses all of it; with ten
/// other programs on two processors, a quarter was measured.
const LOOP_CPU_SHARE: f64 = 0.1;

/// Number of sampling intervals; a loop must reach the share in each.
const SAMPLING_INTERVALS: u32 = 3;

/// The result of asking whether a tab answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// It answers.
    Alive,
    /// A dialog blocks it. Only the person can close a dialog that was open before Octo attached. (On an
    /// overloaded computer a page that is just starting looks the same.)
    DialogOpen,
    /// It has no process: the browser discarded it, or it crashed. Bringing it to the front or reloading it
    /// restores it.
    Discarded,
    /// Its script does not end.
    Hung,
}

impl fmt::Display for Liveness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Alive => "it answers",
            Self::DialogOpen => "a dialog is open in it",
            Self::Discarded => "the browser put it to sleep, or it crashed",
            Self::Hung => "its script does not end",
        })
    }
}

impl Page {
    /// Returns whether the page answers now.
    ///
    /// # Errors
    ///
    /// [`CallError`] if it cannot be asked at all.
    pub async fn liveness(&self) -> Result<Liveness, CallError> {
        let core: &PageCore = &self.0.core;
        if core.dialog.borrow().is_some() {
            return Ok(Liveness::DialogOpen);
        }
        if core.state().health == PageHealth::Crashed {
            return Ok(Liveness::Discarded);
        }
        probe(&core.link, &core.session).await
    }
}

/// Asks a page whether it answers. The reason for its silence is found without the page: the browser immediately reports
/// a missing process, and an endless script uses CPU while a dialog does not. (Another page that computes
/// meanwhile makes a dialog look like such a script; the person can see which it is.)
pub(super) async fn probe(link: &Link, session: &SessionId) -> Result<Liveness, CallError> {
    let mut events = link.events(Some(session));
    link.send(Some(session), inspector::EnableParams::default());
    let crashed = async {
        loop {
            match events.next().await {
                NextEvent::Event(event) if event.method == EventTargetCrashed::IDENTIFIER => return,
                NextEvent::Event(_) | NextEvent::Missed(_) => {}
                // The pending call reports that.
                NextEvent::Ended => std::future::pending().await,
            }
        }
    };
    let reply = link.call(Some(session), EvaluateParams::new("1"), ANSWER_TIMEOUT);
    tokio::pin!(crashed, reply);
    let deadline = Instant::now() + ANSWER_TIMEOUT;
    let early_reply = tokio::select! {
        biased;
        () = &mut crashed => return Ok(Liveness::Discarded),
        reply = timeout(INVESTIGATE_AFTER, &mut reply) => reply,
    };
    if let Ok(reply) = early_reply {
        return interpret_answer(reply.map(drop)).unwrap_or(Ok(Liveness::Alive));
    }
    let (mut previous, mut started) = (cpu_seconds(link).await?, Instant::now());
    let remaining = deadline.saturating_duration_since(started);
    let mut looping_processes: Option<HashSet<i64>> = None;
    // A briefly busy page computes during one interval, an endless loop during each.
    for interval in 1..=SAMPLING_INTERVALS {
        let end = deadline - remaining * (SAMPLING_INTERVALS - interval) / SAMPLING_INTERVALS;
        let reply_in_interval = tokio::select! {
            biased;
            () = &mut crashed => return Ok(Liveness::Discarded),
            reply = timeout_at(end, &mut reply) => reply,
        };
        if let Ok(reply) = reply_in_interval {
            match interpret_answer(reply.map(drop)) {
                Some(result) => return result,
                None => break,
            }
        }
        let (current, elapsed_seconds) = (cpu_seconds(link).await?, started.elapsed().as_secs_f64());
        let busy_processes = current.iter().filter(|(process, seconds)| {
            previous
                .get(process)
                .is_some_and(|previous| *seconds - previous > elapsed_seconds * LOOP_CPU_SHARE)
        });
        let busy_processes: HashSet<i64> = busy_processes.map(|(process, _)| *process).collect();
        looping_processes = Some(
            looping_processes.map_or_else(|| busy_processes.clone(), |so_far| &so_far & &busy_processes),
        );
        (previous, started) = (current, Instant::now());
    }
    let is_looping = looping_processes.is_some_and(|processes| !processes.is_empty());
    Ok(if is_looping { Liveness::Hung } else { Liveness::DialogOpen })
}

/// Interprets an answer. Returns `None` if it did not arrive in time.
fn interpret_answer(reply: Result<(), CallError>) -> Option<Result<Liveness, CallError>> {
    match reply {
        // A page between two documents answers, though with an error.
        Ok(()) | Err(CallError::Refused { .. }) => Some(Ok(Liveness::Alive)),
        Err(CallError::TimedOut { .. }) => None,
        Err(error) => Some(Err(error)),
    }
}

/// Returns the CPU seconds used by each page's process.
async fn cpu_seconds(link: &Link) -> Result<HashMap<i64, f64>, CallError> {
    let processes = link.call(None, GetProcessInfoParams {}, BROWSER_TIMEOUT).await?.process_info;
    let pages = processes.into_iter().filter(|process| process.r#type == "renderer");
    Ok(pages.map(|process| (process.id, process.cpu_time)).collect())
}
