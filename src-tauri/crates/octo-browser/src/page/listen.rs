//! What the browser tells of the page, put into what is known of it.

use super::{Child, Committed, Core, Dialog, DialogKind, Document, Health, PageEvent, attach, origin};
use crate::{
    CallError, Event, Events, Heard, Link,
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
        Attached, Detached, DialogOpening, DocumentOpened, FrameNavigated, FrameTreeAnswer, Leniently,
        NavigatedWithin, OfFrame, WireFrame,
    },
};
use futures::{StreamExt as _, stream::SelectAll};
use std::{sync::Arc, time::Duration};

/// How long the page may take to say again what it shows.
const AGAIN: Duration = Duration::from_secs(3);

/// A page tells of its downloads before the browser does. The browser's word for it is an older one, which the list of
/// chromiumoxide leaves out.
const DOWNLOAD: &str = "Page.downloadWillBegin";

type Sources = SelectAll<futures::stream::BoxStream<'static, (SessionId, Heard)>>;

/// Listens for as long as the page is there. It holds no handle of the page.
pub(super) async fn listen(core: Arc<Core>, events: Events) {
    let mut sources = Sources::new();
    sources.push(source(core.session.clone(), events));
    while let Some((session, heard)) = sources.next().await {
        let of_page = session == core.session;
        match heard {
            Heard::Event(event) => {
                if let Some((session, events)) = hear(&core, &session, &event).await {
                    sources.push(source(session, events));
                }
            }
            Heard::Missed(missed) => {
                tracing::debug!(missed, "news of a page were missed");
                if of_page {
                    read_again(&core).await;
                }
                core.tell(PageEvent::Missed);
            }
            Heard::Over if of_page => break,
            Heard::Over => forget(&core, &session),
        }
    }
    core.known().health = Health::Gone;
    core.dialog.send_replace(None);
    core.tell(PageEvent::Detached);
}

fn source(session: SessionId, events: Events) -> futures::stream::BoxStream<'static, (SessionId, Heard)> {
    let next = |state: Option<(SessionId, Events)>| async move {
        let (session, mut events) = state?;
        let heard = events.next().await;
        let left = (!matches!(heard, Heard::Over)).then(|| (session.clone(), events));
        Some(((session, heard), left))
    };
    futures::stream::unfold(Some((session, events)), next).boxed()
}

/// Takes one event in. A frame that came is returned with its events, to be listened to as well.
async fn hear(core: &Arc<Core>, session: &SessionId, event: &Event) -> Option<(SessionId, Events)> {
    let of_page = *session == core.session;
    match event.method.as_ref() {
        EventFrameNavigated::IDENTIFIER => {
            let FrameNavigated { frame, kind } = event.read()?;
            core.known().frames.came(frame.id.clone());
            if of_page && frame.parent_id.is_none() {
                commit(core, &frame).await;
                if kind == "BackForwardCacheRestore" {
                    // It was loaded before it was put away, and is not loaded again.
                    core.tell(PageEvent::Loaded);
                }
            }
        }
        // The latter also tells of a frame that nothing else has told of.
        EventFrameAttached::IDENTIFIER | DOWNLOAD => {
            core.known().frames.came(event.read::<OfFrame>()?.frame_id);
        }
        EventFrameDetached::IDENTIFIER => {
            let OfFrame { frame_id, reason } = event.read()?;
            // One that goes to another process stays.
            if reason != "swap" {
                core.known().frames.went(&frame_id);
            }
        }
        EventNavigatedWithinDocument::IDENTIFIER if of_page => {
            let NavigatedWithin { frame_id, url } = event.read()?;
            if frame_id == core.main_frame {
                // Another part of an empty page is whose the page was.
                let origin = match origin::is_inherited(&url) {
                    true => core.known().committed.origin.clone(),
                    false => origin::of_address(&url),
                };
                became(core, url, origin);
            }
        }
        EventDocumentOpened::IDENTIFIER if of_page => {
            let DocumentOpened { frame } = event.read()?;
            if frame.parent_id.is_none() {
                // What is written anew has the address of the page that writes it.
                let now = committed(&core.link, &core.session, &core.target, &frame).await;
                let before = core.known().committed.clone();
                if (&now.url, &now.origin) != (&before.url, &before.origin) {
                    became(core, now.url, now.origin);
                }
            }
        }
        EventLoadEventFired::IDENTIFIER if of_page => core.tell(PageEvent::Loaded),
        EventJavascriptDialogOpening::IDENTIFIER => {
            let dialog = super::Dialog::from(event.read::<DialogOpening>()?);
            core.dialog.send_replace(Some(dialog.clone()));
            core.tell(PageEvent::DialogOpened(dialog));
        }
        EventJavascriptDialogClosed::IDENTIFIER => {
            core.dialog.send_replace(None);
            core.tell(PageEvent::DialogClosed);
        }
        EventTargetCrashed::IDENTIFIER if of_page => {
            core.known().health = Health::Crashed;
            core.dialog.send_replace(None);
            core.tell(PageEvent::Crashed);
        }
        EventAttachedToTarget::IDENTIFIER => {
            let Attached { session_id, target_info } = event.read()?;
            if target_info.kind != "iframe" {
                // Nothing else was asked for; it goes on as if nobody had come.
                attach::release(core, &session_id);
                return None;
            }
            // The name of such a target is that of its frame.
            let frame =
                crate::cdp::browser_protocol::page::FrameId::new(target_info.target_id.inner().clone());
            let child = Child { frame: frame.clone(), parent: target_info.parent_frame_id };
            let events = core.link.events(Some(&session_id));
            {
                let mut known = core.known();
                known.frames.came(frame.clone());
                known.children.insert(session_id.clone(), child);
            }
            attach::begin_child(core, &session_id);
            core.tell(PageEvent::FrameAttached(frame));
            return Some((session_id, events));
        }
        EventDetachedFromTarget::IDENTIFIER => {
            let Detached { session_id } = event.read()?;
            forget(core, &session_id);
        }
        _ => {}
    }
    None
}

fn forget(core: &Core, session: &SessionId) {
    let gone = core.known().children.remove(session);
    if let Some(child) = gone {
        core.tell(PageEvent::FrameDetached(child.frame));
    }
}

async fn commit(core: &Core, frame: &WireFrame) {
    let committed = committed(&core.link, &core.session, &core.target, frame).await;
    {
        let mut known = core.known();
        known.loader = frame.loader_id.inner().clone();
        known.committed = committed.clone();
        known.health = Health::Well;
        known.frames.only(&core.main_frame);
    }
    // A document that went took its dialog along.
    core.dialog.send_replace(None);
    core.tell(PageEvent::Committed(committed));
}

/// The same document is under another address, or is another one's now.
fn became(core: &Core, url: String, origin: String) {
    let committed = Committed { url, origin, document: Document::Same };
    core.known().committed = committed.clone();
    core.tell(PageEvent::Committed(committed));
}

/// What a main frame shows.
pub(super) async fn committed(
    link: &Link,
    session: &SessionId,
    target: &TargetId,
    frame: &WireFrame,
) -> Committed {
    let origin = origin::of_frame(link, session, target, frame).await;
    let url = format!("{}{}", frame.url, frame.url_fragment);
    Committed { url, origin, document: Document::New(frame.loader_id.inner().clone()) }
}

/// Reads anew what the page shows. That it does not answer says that a dialog may hold it whose opening was missed: it
/// can be answered, and whoever waits for the page is let go on.
async fn read_again(core: &Core) {
    let command = Leniently::<_, FrameTreeAnswer>::new(GetFrameTreeParams {});
    match core.link.call(Some(&core.session), command, AGAIN).await {
        Ok(answer) => {
            let frame = &answer.frame_tree.frame;
            if core.known().loader == *frame.loader_id.inner() {
                // The same document keeps its dialog.
                let now = committed(&core.link, &core.session, &core.target, frame).await;
                core.known().committed = now;
            } else {
                commit(core, frame).await;
            }
            core.known().frames.all_came(&answer.frame_tree);
        }
        Err(CallError::TimedOut { .. }) if core.dialog.borrow().is_none() => {
            let url = core.known().committed.url.clone();
            let unknown =
                Dialog { kind: DialogKind::Confirm, message: String::new(), default: String::new(), url };
            core.dialog.send_replace(Some(unknown.clone()));
            core.tell(PageEvent::DialogOpened(unknown));
        }
        Err(_) => {}
    }
}
