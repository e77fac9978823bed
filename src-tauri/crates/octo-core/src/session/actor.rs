//! A session's actor as its jobs see it: the recipient of their reports and the signals that end them.

use super::{Inbox, JobReport, StopSignal};
use octo_shell::NewsListener;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// The actor's inbox and the signals that end its work.
pub(super) struct Actor {
    reporter: Reporter,
    stop: StopSignal,
    /// Cancelled when the actor ends; parent of every turn's token.
    cancel: CancellationToken,
}

/// Sends a job's reports to the actor. Clones share the inbox.
#[derive(Clone)]
pub(super) struct Reporter(mpsc::UnboundedSender<Inbox>);

impl Reporter {
    /// Sends a report. The report is dropped if the actor has ended.
    pub(super) fn send(&self, report: JobReport) {
        let _gone = self.0.send(Inbox::Report(Box::new(report)));
    }
}

impl Actor {
    pub(super) fn new(inbox: mpsc::UnboundedSender<Inbox>, stop: StopSignal) -> Self {
        Self { reporter: Reporter(inbox), stop, cancel: CancellationToken::new() }
    }

    pub(super) fn reporter(&self) -> Reporter {
        self.reporter.clone()
    }

    /// Returns a listener that passes the shell's news of commands to the actor.
    pub(super) fn command_listener(&self) -> NewsListener {
        let reporter = self.reporter();
        Arc::new(move |update| reporter.send(JobReport::Command(update)))
    }

    pub(super) fn stop(&self) -> &StopSignal {
        &self.stop
    }

    /// Returns a token that is cancelled when the actor ends.
    pub(super) fn child_token(&self) -> CancellationToken {
        self.cancel.child_token()
    }

    /// Waits for the end of the actor.
    pub(super) fn ended(&self) -> WaitForCancellationFutureOwned {
        self.cancel.clone().cancelled_owned()
    }

    /// Cancels everything that still runs.
    pub(super) fn end(&self) {
        self.cancel.cancel();
    }
}
