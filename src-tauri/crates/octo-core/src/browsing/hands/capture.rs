//! A page read for a snapshot.

use super::LIMIT;
use octo_browser::{
    Frame, Page, PageError,
    cdp::{
        browser_protocol::{dom::GetFrameOwnerParams, page::GetLayoutMetricsParams, target::SessionId},
        js_protocol::runtime::EvaluateParams,
    },
    snapshot::{Captured, CapturedFrame, CapturedSession, DocumentId, Owner, ReadLayout, ReadTree, Viewport},
};

/// The accessibility tree of every frame and one layout for each session. Nothing is written into the page.
pub(in super::super) async fn capture(page: &Page) -> Result<Captured, PageError> {
    let words = EvaluateParams {
        return_by_value: Some(true),
        ..EvaluateParams::new("[document.title, devicePixelRatio]")
    };
    let (frames, metrics, words) =
        tokio::join!(page.frames(), page.call(GetLayoutMetricsParams {}, LIMIT), page.call(words, LIMIT));
    let (frames, view, words) =
        (frames?, metrics?.css_layout_viewport, words?.result.value.unwrap_or_default());
    let mut sessions: Vec<SessionId> = vec![page.session().clone()];
    for frame in &frames {
        if !sessions.contains(&frame.session) {
            sessions.push(frame.session.clone());
        }
    }
    let scale = words.get(1).and_then(serde_json::Value::as_f64).unwrap_or(1.0);
    let layouts = sessions.iter().map(|session| page.call_in(session, ReadLayout::default(), LIMIT));
    let trees = frames.iter().map(|frame| tree(page, &frames, frame));
    let (layouts, trees) = tokio::join!(futures::future::join_all(layouts), futures::future::join_all(trees));
    let mut captured = Captured {
        title: words.get(0).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned(),
        viewport: Viewport { width: view.client_width as f64, height: view.client_height as f64 },
        ..Captured::default()
    };
    for (session, layout) in sessions.iter().zip(layouts) {
        // A frame that goes while it is read is left out; the page itself is what was asked for.
        let layout = match layout {
            Err(error) if session == page.session() => return Err(error),
            layout => layout.unwrap_or_default(),
        };
        captured.sessions.push(CapturedSession { session: session.inner().clone(), scale, layout });
    }
    for (frame, read) in frames.iter().zip(trees) {
        let (tree, owner) = match read {
            Err(error) if frame.parent.is_none() => return Err(error),
            Err(_) => continue,
            Ok(read) => read,
        };
        captured.frames.push(CapturedFrame {
            document: DocumentId(frame.document.clone()),
            frame: frame.id.inner().clone(),
            session: sessions.iter().position(|session| *session == frame.session).unwrap_or_default(),
            url: frame.url.clone(),
            origin: frame.origin.clone(),
            tree,
            owner,
        });
    }
    Ok(captured)
}

async fn tree(
    page: &Page,
    frames: &[Frame],
    frame: &Frame,
) -> Result<(octo_browser::snapshot::TreeReply, Option<Owner>), PageError> {
    let tree = ReadTree { frame_id: frame.parent.as_ref().map(|_| frame.id.inner().clone()) };
    let parent = frame.parent.as_ref().and_then(|parent| frames.iter().find(|known| known.id == *parent));
    let owner = async {
        let parent = parent?;
        let owner =
            page.call_in(&parent.session, GetFrameOwnerParams::new(frame.id.clone()), LIMIT).await.ok()?;
        Some(Owner { frame: parent.id.inner().clone(), node: *owner.backend_node_id.inner() })
    };
    let (tree, owner) = tokio::join!(page.call_in(&frame.session, tree, LIMIT), owner);
    Ok((tree?, owner))
}
