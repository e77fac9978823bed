//! Applies the browser's events to the page's recorded state.

use super::{
    ChildFrame, CommittedDocument, Dialog, DialogKind, DocumentChange, PageCore, PageEvent, PageHealth,
    attach, origin,
};
use crate::{
    BrowserEvent, CallError, Link, NextEvent, SessionEvents,
    cdp::browser_protocol::{
        inspector::EventTargetCrashed,
        page::{
            EventDocumentOpened, EventFrameAttached, EventFrameDetached, EventFrameNavigated,
            EventJavascriptDialogClosed, EventJavascriptDialogOpening, EventLoadEventFired,
            EventNavigatedWithinDocument, GetFrameTreeParams,
        },
        target::{EventAttachedToTarget, EventDetachedFromTarget, SessionId, TargetId},
    },
    wire::{
        AttachedEvent, DetachedEvent, DialogOpening, DocumentOpened, FragmentNavigation, FrameEvent,
        FrameNavigated, FrameTreeReply, LenientCommand, WireFrame,
    },
};
use futures::{StreamExt as _, stream::SelectAll};
use std::{sync::Arc, time::Duration};

/// Timeout for reading the page's state again.
const REREAD_TIMEOUT: Duration = Duration::from_secs(3);

/// Event with which a page reports a download, before the browser does. It is an old event, which chromiumoxide
/// does not list.
const DOWNLOAD_EVENT: &str = "Page.downloadWillBegin";

type EventSources = SelectAll<futures::stream::BoxStream<'static, (SessionId, NextEvent)>>;

/// Applies events until the page is gone. Holds no [`super::Page`], so the page can be dropped meanwhile.
pub(super) async fn listen(core: Arc<PageCore>, events: SessionEvents) {
    let mut sources = EventSources::new();
    sources.push(event_source(core.session.clone(), events));
    while let Some((session, received)) = sources.next().await {
        let is_main_session = session == core.session;
        match received {
            NextEvent::Event(event) => {
                if let Some((session, events)) = apply_event(&core, &session, &event).await {
                    sources.push(event_source(session, events));
                }
            }
            NextEvent::Missed(missed) => {
                tracing::debug!(missed, "missed events of a page");
                if is_main_session {
                    resynchronise(&core).await;
                }
                core.publish(PageEvent::Missed);
            }
            NextEvent::Ended if is_main_session => break,
            NextEvent::Ended => remove_child_frame(&core, &session),
        }
    }
    core.state().health = PageHealth::Gone;
    core.dialog.send_replace(None);
    core.publish(PageEvent::Detached);
}

fn event_source(
    session: SessionId,
    events: SessionEvents,
) -> futures::stream::BoxStream<'static, (SessionId, NextEvent)> {
    let step = |state: Option<(SessionId, SessionEvents)>| async move {
        let (session, mut events) = state?;
        let event = events.next().await;
        let next_state = (!matches!(event, NextEvent::Ended)).then(|| (session.clone(), events));
        Some(((session, event), next_state))
    };
    futures::stream::unfold(Some((session, events)), step).boxed()
}

/// Processes one event. Returns a newly added frame with its events, to be listened to as well.
async fn apply_event(
    core: &Arc<PageCore>,
    session: &SessionId,
    event: &BrowserEvent,
) -> Option<(SessionId, SessionEvents)> {
    let is_main_session = *session == core.session;
    match event.method.as_ref() {
        EventFrameNavigated::IDENTIFIER => {
            let FrameNavigated { frame, kind } = event.read()?;
            core.state().frame_ids.add(frame.id.clone());
            if is_main_session && frame.parent_id.is_none() {
                commit(core, &frame).await;
                if kind == "BackForwardCacheRestore" {
                    // The page was loaded before it entered the back/forward cache and is not loaded again.
                    core.publish(PageEvent::Loaded);
                }
            }
        }
        // The download event also mentions frames that no other event has reported.
        EventFrameAttached::IDENTIFIER | DOWNLOAD_EVENT => {
            core.state().frame_ids.add(event.read::<FrameEvent>()?.frame_id);
        }
        EventFrameDetached::IDENTIFIER => {
            let FrameEvent { frame_id, reason } = event.read()?;
            // A frame that moves to another process remains.
            if reason != "swap" {
                core.state().frame_ids.remove(&frame_id);
            }
        }
        EventNavigatedWithinDocument::IDENTIFIER if is_main_session => {
            let FragmentNavigation { frame_id, url } = event.read()?;
            if frame_id == core.main_frame {
                // A fragment navigation within an empty page keeps the page's origin.
                let origin = match origin::is_inherited(&url) {
                    true => core.state().committed.origin.clone(),
                    false => origin::of_address(&url),
                };
                update_committed(core, url, origin);
            }
        }
        EventDocumentOpened::IDENTIFIER if is_main_session => {
            let DocumentOpened { frame } = event.read()?;
            if frame.parent_id.is_none() {
                // A rewritten document (`document.open`) has the address of the page that writes it.
                let current = read_committed(&core.link, &core.session, &core.target, &frame).await;
                let before = core.state().committed.clone();
                if (&current.url, &current.origin) != (&before.url, &before.origin) {
                    update_committed(core, current.url, current.origin);
                }
            }
        }
        EventLoadEventFired::IDENTIFIER if is_main_session => core.publish(PageEvent::Loaded),
        EventJavascriptDialogOpening::IDENTIFIER => {
            let dialog = super::Dialog::from(event.read::<DialogOpening>()?);
            core.dialog.send_replace(Some(dialog.clone()));
            core.publish(PageEvent::DialogOpened(dialog));
        }
        EventJavascriptDialogClosed::IDENTIFIER => {
            core.dialog.send_replace(None);
            core.publish(PageEvent::DialogClosed);
        }
        EventTargetCrashed::IDENTIFIER if is_main_session => {
            core.state().health = PageHealth::Crashed;
            core.dialog.send_replace(None);
            core.publish(PageEvent::Crashed);
        }
        EventAttachedToTarget::IDENTIFIER => {
            let AttachedEvent { session_id, target_info } = event.read()?;
            if target_info.kind != "iframe" {
                // Release any other target, which then continues undisturbed.
                attach::release(core, &session_id);
                return None;
            }
            // A frame target's id equals its frame's id.
            let frame =
                crate::cdp::browser_protocol::page::FrameId::new(target_info.target_id.inner().clone());
            let child = ChildFrame { frame: frame.clone(), parent: target_info.parent_frame_id };
            let events = core.link.events(Some(&session_id));
            {
                let mut state = core.state();
                state.frame_ids.add(frame.clone());
                state.child_frames.insert(session_id.clone(), child);
            }
            attach::enable_in_child_frame(core, &session_id);
            core.publish(PageEvent::FrameAttached(frame));
            return Some((session_id, events));
        }
        EventDetachedFromTarget::IDENTIFIER => {
            let DetachedEvent { session_id } = event.read()?;
            remove_child_frame(core, &session_id);
        }
        _ => {}
    }
    None
}

fn remove_child_frame(core: &PageCore, session: &SessionId) {
    let removed = core.state().child_frames.remove(session);
    if let Some(child) = removed {
        core.publish(PageEvent::FrameDetached(child.frame));
    }
}

async fn commit(core: &PageCore, frame: &WireFrame) {
    let committed = read_committed(&core.link, &core.session, &core.target, frame).await;
    {
        let mut state = core.state();
        state.loader = frame.loader_id.inner().clone();
        state.committed = committed.clone();
        state.health = PageHealth::Alive;
        state.frame_ids.reset_to(&core.main_frame);
    }
    // The dialog of an unloaded document is gone too.
    core.dialog.send_replace(None);
    core.publish(PageEvent::Committed(committed));
}

/// Records that the same document has another address or origin.
fn update_committed(core: &PageCore, url: String, origin: String) {
    let committed = CommittedDocument { url, origin, document: DocumentChange::Same };
    core.state().committed = committed.clone();
    core.publish(PageEvent::Committed(committed));
}

/// Reads the document that a main frame shows.
pub(super) async fn read_committed(
    link: &Link,
    session: &SessionId,
    target: &TargetId,
    frame: &WireFrame,
) -> CommittedDocument {
    let origin = origin::of_frame(link, session, target, frame).await;
    let url = format!("{}{}", frame.url, frame.url_fragment);
    CommittedDocument { url, origin, document: DocumentChange::New(frame.loader_id.inner().clone()) }
}

/// Reads the page's state again. If the page does not answer, a dialog whose opening event was missed may block
/// it: recording it lets Octo answer it, and ends pending waits.
async fn resynchronise(core: &PageCore) {
    let command = LenientCommand::<_, FrameTreeReply>::new(GetFrameTreeParams {});
    match core.link.call(Some(&core.session), command, REREAD_TIMEOUT).await {
        Ok(reply) => {
            let frame = &reply.frame_tree.frame;
            if core.state().loader == *frame.loader_id.inner() {
                // The same document keeps its dialog.
                let current = read_committed(&core.link, &core.session, &core.target, frame).await;
                core.state().committed = current;
            } else {
                commit(core, frame).await;
            }
            core.state().frame_ids.add_tree(&reply.frame_tree);
        }
        Err(CallError::TimedOut { .. }) if core.dialog.borrow().is_none() => {
            let url = core.state().committed.url.clone();
            let unknown_dialog =
                Dialog { kind: DialogKind::Confirm, message: String::new(), default: String::new(), url };
            core.dialog.send_replace(Some(unknown_dialog.clone()));
            core.publish(PageEvent::DialogOpened(unknown_dialog));
        }
        Err(_) => {}
    }
}
