//! Attaches to a tab and to its cross-site frames.

use super::{
    EVENT_BUFFER, Liveness, Page, PageCore, PageError, PageHealth, PageInner, PageState, frames::FrameIds,
    listen, liveness,
};
use crate::{
    CallError, Link,
    cdp::{
        browser_protocol::{
            accessibility, dom, page,
            target::{
                AttachToTargetParams, DetachFromTargetParams, SessionId, SetAutoAttachParams, TargetId,
            },
        },
        js_protocol::runtime::RunIfWaitingForDebuggerParams,
    },
    tabs::target_kinds_filter,
    wire::{FrameTreeReply, LenientCommand},
};
use chromiumoxide::Method as _;
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};
use tokio::sync::{broadcast, watch};

/// Timeout for each of the first commands on a page that answers.
const FIRST_COMMAND_TIMEOUT: Duration = Duration::from_secs(5);

/// Time for which Octo waits for an abandoned session, to end it when it arrives.
const LATE_SESSION_WINDOW: Duration = Duration::from_secs(300);

impl Page {
    /// Attaches to a tab. Detaches again from a tab that does not answer, leaving it as it was.
    ///
    /// # Errors
    ///
    /// [`PageError::Silent`] with the reason; [`PageError::Call`] with [`CallError::Gone`] if no such tab
    /// exists.
    pub async fn attach(link: &Link, target: &TargetId) -> Result<Self, PageError> {
        let guard = attach_to(link, target).await?;
        let session = guard.session.clone().ok_or(PageError::Detached)?;
        match liveness::probe(link, &session).await? {
            Liveness::Alive => {}
            silent => return Err(PageError::Silent(silent)),
        }
        // Events from here on belong to the domains enabled below.
        let events = link.events(Some(&session));
        let session_id = Some(&session);
        // Send all together: one round trip instead of five.
        let (page, dom, accessibility, tree, frames) = tokio::join!(
            link.call(session_id, page::EnableParams::default(), FIRST_COMMAND_TIMEOUT),
            link.call(session_id, dom::EnableParams::default(), FIRST_COMMAND_TIMEOUT),
            link.call(session_id, accessibility::EnableParams::default(), FIRST_COMMAND_TIMEOUT),
            link.call(
                session_id,
                LenientCommand::<_, FrameTreeReply>::new(page::GetFrameTreeParams {}),
                FIRST_COMMAND_TIMEOUT
            ),
            link.call(session_id, auto_attach_cross_site_frames(), FIRST_COMMAND_TIMEOUT),
        );
        let replies = async { Ok((page?, dom?, accessibility?, frames?, tree?).4.frame_tree) };
        let tree = match replies.await {
            Ok(tree) => tree,
            // The page answered a moment ago, so a dialog just opened or a script does not end.
            Err(CallError::TimedOut { method, limit }) => {
                return Err(match liveness::probe(link, &session).await? {
                    Liveness::Alive => CallError::TimedOut { method, limit }.into(),
                    silent => PageError::Silent(silent),
                });
            }
            Err(error) => return Err(error.into()),
        };
        let frame = &tree.frame;
        let committed = listen::read_committed(link, &session, target, frame).await;
        let core = Arc::new(PageCore {
            link: link.clone(),
            target: target.clone(),
            session,
            main_frame: frame.id.clone(),
            state: Mutex::new(PageState {
                committed,
                loader: frame.loader_id.inner().clone(),
                health: PageHealth::Alive,
                child_frames: HashMap::new(),
                frame_ids: FrameIds::from_tree(&tree),
            }),
            dialog: watch::Sender::new(None),
            overlay_generation: AtomicU64::new(0),
            event_sender: broadcast::Sender::new(EVENT_BUFFER),
        });
        guard.disarm();
        let listener = tokio::spawn(listen::listen(Arc::clone(&core), events));
        Ok(Self(Arc::new(PageInner { core, listener })))
    }
}

/// Requests a session. If the caller gives up before it arrives (Stop or timeout), the session is ended on arrival.
async fn attach_to(link: &Link, target: &TargetId) -> Result<DetachGuard, PageError> {
    let attach = AttachToTargetParams { target_id: target.clone(), flatten: Some(true) };
    let method = attach.identifier().to_string();
    let task_link = link.clone();
    let attach_task = tokio::spawn(async move {
        let session =
            task_link.call(None, attach, LATE_SESSION_WINDOW).await.map_err(gone_if_no_target)?.session_id;
        Ok(DetachGuard { link: task_link, session: Some(session) })
    });
    match tokio::time::timeout(FIRST_COMMAND_TIMEOUT, attach_task).await {
        Ok(Ok(result)) => result.map_err(PageError::Call),
        Ok(Err(_)) => Err(PageError::Detached),
        Err(_) => Err(CallError::TimedOut { method, limit: FIRST_COMMAND_TIMEOUT }.into()),
    }
}

/// Guard that detaches if attaching is not completed.
struct DetachGuard {
    link: Link,
    session: Option<SessionId>,
}

impl DetachGuard {
    fn disarm(mut self) {
        self.session = None;
    }
}

impl Drop for DetachGuard {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.link.send(None, DetachFromTargetParams { session_id: Some(session) });
        }
    }
}

fn gone_if_no_target(error: CallError) -> CallError {
    match error {
        CallError::Refused { method, refusal } if refusal.message.contains("No target with given id") => {
            CallError::Gone { method }
        }
        error => error,
    }
}

fn auto_attach_cross_site_frames() -> SetAutoAttachParams {
    SetAutoAttachParams {
        auto_attach: true,
        wait_for_debugger_on_start: false,
        flatten: Some(true),
        filter: Some(target_kinds_filter(&["iframe"])),
    }
}

/// Enables in a cross-site frame everything that is enabled in its page. Some browsers pause such a frame although
/// they were told not to, so it is resumed first. Does not wait for answers: the browser handles the commands in
/// order.
pub(super) fn enable_in_child_frame(core: &PageCore, session: &SessionId) {
    let scope = Some(session);
    core.link.send(scope, RunIfWaitingForDebuggerParams {});
    core.link.send(scope, page::EnableParams::default());
    core.link.send(scope, dom::EnableParams::default());
    core.link.send(scope, accessibility::EnableParams::default());
    core.link.send(scope, auto_attach_cross_site_frames());
}

/// Releases a target that was attached to without being requested.
pub(super) fn release(core: &PageCore, session: &SessionId) {
    core.link.send(Some(session), RunIfWaitingForDebuggerParams {});
    core.link.send(None, DetachFromTargetParams { session_id: Some(session.clone()) });
}
