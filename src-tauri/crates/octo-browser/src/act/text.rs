//! Texts that are seen on a page.

use super::LIMIT;
use crate::{Frame, Page, PageError, cdp::js_protocol::runtime::EvaluateParams};
use futures::future::join_all;

/// What is done with a text that is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It is moved into view.
    ScrolledTo,
    /// Nothing.
    Left,
}

/// Looks for a text in what can be seen of a document, open shadow roots included, whatever its case; texts that run
/// over several elements are found in the one around them. What fields hold is not looked at: whoever may ask for one text
/// after the other would read a card's number or a shown password out of them, which no snapshot shows.
const LOOK: &str = "((wanted, scroll) => {
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
    /// Whether a text is seen in any frame of the page.
    ///
    /// # Errors
    ///
    /// [`PageError`] when the page cannot be asked.
    pub async fn shows(&self, text: &str) -> Result<bool, PageError> {
        self.find_text(text, Found::Left).await
    }

    pub(super) async fn find_text(&self, text: &str, found: Found) -> Result<bool, PageError> {
        let wanted: Vec<&str> = text.split_whitespace().collect();
        let wanted = serde_json::Value::from(wanted.join(" ").to_lowercase());
        let look = format!("{LOOK}({wanted}, {})", found == Found::ScrolledTo);
        let frames = self.frames().await?;
        let mut answers = join_all(frames.iter().map(|frame| self.look_in(frame, &look))).await.into_iter();
        // A frame that went while it was asked shows nothing; the page itself has to answer.
        let Some(main) = answers.next() else { return Ok(false) };
        Ok(main? || answers.any(|answer| answer.unwrap_or(false)))
    }

    async fn look_in(&self, frame: &Frame, look: &str) -> Result<bool, PageError> {
        let world = self.world(&frame.session, frame.id.inner()).await?;
        let look = EvaluateParams {
            context_id: Some(world),
            return_by_value: Some(true),
            ..EvaluateParams::new(look)
        };
        let answer = self.call_in(&frame.session, look, LIMIT).await?;
        Ok(answer.result.value == Some(serde_json::Value::Bool(true)))
    }
}
