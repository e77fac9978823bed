//! Whether a tab answers, and why it does not.

use super::{Core, Health, Page};
use crate::{
    CallError, Link,
    cdp::{
        browser_protocol::{page::HandleJavaScriptDialogParams, performance::GetMetricsParams, target::SessionId},
        js_protocol::runtime::EvaluateParams,
    },
};
use std::{fmt, time::Duration};

/// How long a tab may take to say what one is. Measured: 2 to 3 ms on a quiet machine, and nothing at all from a tab
/// that is discarded, hung, or held by a dialog.
const ANSWER: Duration = Duration::from_millis(1_500);

/// How long those parts of a silent tab that do not need its page may take.
const REASON: Duration = Duration::from_millis(500);

/// Whether a tab answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// It does.
    Alive,
    /// A dialog holds it. One that was open before we came can only be closed by its person.
    DialogOpen,
    /// The browser put it to sleep. Bringing it to the front loads it again.
    Discarded,
    /// Its script does not end.
    Hung,
}

impl fmt::Display for Liveness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Alive => "it answers",
            Self::DialogOpen => "a dialog is open in it",
            Self::Discarded => "the browser put it to sleep",
            Self::Hung => "its script does not end",
        })
    }
}

impl Page {
    /// Whether the page answers now.
    ///
    /// # Errors
    ///
    /// [`CallError`] when it cannot be asked at all.
    pub async fn liveness(&self) -> Result<Liveness, CallError> {
        let core: &Core = &self.0.core;
        if core.dialog.borrow().is_some() {
            return Ok(Liveness::DialogOpen);
        }
        if core.known().health == Health::Crashed {
            return Ok(Liveness::Discarded);
        }
        probe(&core.link, &core.session).await
    }
}

pub(super) async fn probe(link: &Link, session: &SessionId) -> Result<Liveness, CallError> {
    match link.call(Some(session), EvaluateParams::new("1"), ANSWER).await {
        Ok(_) => return Ok(Liveness::Alive),
        // A page between two documents answers, though not the question.
        Err(CallError::Refused { .. }) => return Ok(Liveness::Alive),
        Err(CallError::TimedOut { .. }) => {}
        Err(error) => return Err(error),
    }
    let _ = HandleJavaScriptDialogParams::new(false);
    // The one harmless command that interrupts a running script to be answered: no other silent tab can.
    match link.call(Some(session), GetMetricsParams {}, REASON).await {
        Ok(_) => Ok(Liveness::Hung),
        Err(CallError::TimedOut { .. }) => Ok(Liveness::Discarded),
        Err(error) => Err(error),
    }
}
