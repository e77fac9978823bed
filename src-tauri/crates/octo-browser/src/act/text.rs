//! Visible text of a page.

use super::CALL_TIMEOUT;
use crate::{Frame, Page, PageError, cdp::js_protocol::runtime::EvaluateParams};
use futures::future::join_all;

/// The action on a text that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoundTextAction {
    /// Scroll it into view.
    ScrollTo,
    /// No action.
    Nothing,
}

/// Searches the visible text of a document, including open shadow roots, ignoring case. A text that spans
/// several elements is found in their common ancestor. Field values are not searched: a caller that probes one
/// text after another could otherwise read a card number or a revealed password, which no snapshot shows.
const FIND_SCRIPT: &str = "((wanted, scroll) => {
    const tidy = (text) => text.replace(/\\s+/g, ' ').trim().toLowerCase();
    const seen = (one) => one && one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const holds = (root) => {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
        for (let node = walker.currentNode; node; node = walker.nextNode()) {
            if (node.nodeType === 1) {
                if (node.shadowRoot) { const inner = holds(node.shadowRoot); if (inner) return inner; }
                continue;
            }
            if (node.nodeType === 3 && tidy(node.data).includes(wanted) && seen(node.parentElement) && !['script', 'style', 'noscript', 'textarea'].includes(node.parentElement.localName)) return node.parentElement;
        }
        return null;
    };
    let found = holds(document);
    if (!found && document.body && tidy(document.body.innerText).includes(wanted)) {
        found = document.body;
        for (let next = found; next;) { next = [...found.children].find((one) => tidy(one.innerText || '').includes(wanted)); if (next) found = next; }
    }
    if (found && scroll) found.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    return !!found;
})";

impl Page {
    /// Returns whether a text is visible in any frame of the page.
    ///
    /// # Errors
    ///
    /// [`PageError`] if the page cannot be queried.
    pub async fn has_visible_text(&self, text: &str) -> Result<bool, PageError> {
        self.find_text(text, FoundTextAction::Nothing).await
    }

    pub(super) async fn find_text(&self, text: &str, action: FoundTextAction) -> Result<bool, PageError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let words = serde_json::Value::from(words.join(" ").to_lowercase());
        let script = format!("{FIND_SCRIPT}({words}, {})", action == FoundTextAction::ScrollTo);
        let frames = self.frames().await?;
        let mut answers =
            join_all(frames.iter().map(|frame| self.find_text_in(frame, &script))).await.into_iter();
        // A frame that disappeared meanwhile shows nothing; the main frame must answer.
        let Some(main) = answers.next() else { return Ok(false) };
        Ok(main? || answers.any(|result| result.unwrap_or(false)))
    }

    async fn find_text_in(&self, frame: &Frame, script: &str) -> Result<bool, PageError> {
        let world = self.world(&frame.session, frame.id.inner()).await?;
        let script = EvaluateParams {
            context_id: Some(world),
            return_by_value: Some(true),
            ..EvaluateParams::new(script)
        };
        let reply = self.call_in(&frame.session, script, CALL_TIMEOUT).await?;
        Ok(reply.result.value == Some(serde_json::Value::Bool(true)))
    }
}
