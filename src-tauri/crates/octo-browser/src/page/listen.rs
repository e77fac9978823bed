//! What the browser tells of the page, put into what is known of it.

use super::{Child, Committed, Core, Dialog, DialogKind, Document, Health, PageEvent, attach};
use crate::{
    CallError, Event, Events, Heard,
    cdp::browser_protocol::{
        inspector::EventTargetCrashed,
        page::{
            EventFrameNavigated, EventJavascriptDialogClosed, EventJavascriptDialogOpening,
            EventLoadEventFired, EventNavigatedWithinDocument, GetFrameTreeParams,
        },
        target::{EventAttachedToTarget, EventDetachedFromTarget, SessionId},
    },
    wire::{
        Attached, Detached, DialogOpening, FrameNavigated, FrameTreeAnswer, Leniently, NavigatedWithin,
        WireFrame,
    },
};
use futures::{StreamExt as _, stream::SelectAll};
use reqwest::Url;
use std::{sync::Arc, time::Duration};

/// How long the page may take to say again what it shows.
const AGAIN: Duration = Duration::from_secs(3);

type Sources = SelectAll<futures::stream::BoxStream<'static, (SessionId, Heard)>>;

/// Listens for as long as the page is there. It holds no handle of the page.
pub(super) async fn listen(core: Arc<Core>, events: Events) {
    let mut sources = Sources::new();
    sources.push(source(core.session.clone(), events));
    while let Some((session, heard)) = sources.next().await {
        let of_page = session == core.session;
        match heard {
            Heard::Event(event) => {
                if let Some((session, events)) = hear(&core, &session, &event) {
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
fn hear(core: &Arc<Core>, session: &SessionId, event: &Event) -> Option<(SessionId, Events)> {
    let of_page = *session == core.session;
    match event.method.as_ref() {
        EventFrameNavigated::IDENTIFIER if of_page => {
            let FrameNavigated { frame, kind } = event.read()?;
            if frame.parent_id.is_none() {
                commit(core, &frame);
                if kind == "BackForwardCacheRestore" {
                    // It was loaded before it was put away, and is not loaded again.
                    core.tell(PageEvent::Loaded);
                }
            }
        }
        EventNavigatedWithinDocument::IDENTIFIER if of_page => {
            let NavigatedWithin { frame_id, url } = event.read()?;
            if frame_id == core.main_frame {
                let committed = Committed { origin: origin(&url), url, document: Document::Same };
                core.known().committed = committed.clone();
                core.tell(PageEvent::Committed(committed));
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
            core.known().children.insert(session_id.clone(), child);
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

fn commit(core: &Core, frame: &WireFrame) {
    let committed = committed(frame);
    {
        let mut known = core.known();
        known.loader = frame.loader_id.inner().clone();
        known.committed = committed.clone();
        known.health = Health::Well;
    }
    // A document that went took its dialog along.
    core.dialog.send_replace(None);
    core.tell(PageEvent::Committed(committed));
}

pub(super) fn committed(frame: &WireFrame) -> Committed {
    let url = format!("{}{}", frame.url, frame.url_fragment);
    // An error page is not of the site it stands in for.
    let origin = match &frame.unreachable_url {
        Some(_) => "null".to_owned(),
        None => origin(&url),
    };
    Committed { url, origin, document: Document::New(frame.loader_id.inner().clone()) }
}

/// An address's origin. Those without one of the web's own (`chrome:`, `file:`, extensions) keep their scheme, for
/// they must not be taken for a page without an origin.
fn origin(url: &str) -> String {
    let Ok(url) = Url::parse(url) else { return "null".to_owned() };
    let origin = url.origin();
    if origin.is_tuple() {
        return origin.ascii_serialization();
    }
    match (url.scheme(), url.host_str()) {
        ("about" | "data" | "javascript", _) => "null".to_owned(),
        (scheme, host) => format!("{scheme}://{}", host.unwrap_or_default()),
    }
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
                core.known().committed = committed(frame);
            } else {
                commit(core, frame);
            }
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

#[cfg(test)]
mod tests {
    use super::origin;

    #[test]
    fn origins() {
        for (url, expected) in [
            ("https://example.org/a?b#c", "https://example.org"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
            ("https://bücher.example/", "https://xn--bcher-kva.example"),
            ("blob:https://example.org/1234", "https://example.org"),
            ("chrome://settings/", "chrome://settings"),
            ("chrome-extension://abcdef/popup.html", "chrome-extension://abcdef"),
            ("file:///etc/passwd", "file://"),
            ("about:blank", "null"),
            ("data:text/html,hello", "null"),
            ("", "null"),
        ] {
            assert_eq!(origin(url), expected, "{url}");
        }
    }
}
