//! Writes into fields.

use super::{
    ActError, ActMethod, Audience, CALL_TIMEOUT, UnsupportedAct,
    keys::KeyStroke,
    place::{NodeHandle, session},
};
use crate::{CallError, Page, PageError, cdp::browser_protocol::input::InsertTextParams, snapshot::NodeRef};
use serde_json::{Value, json};

/// Maximum number of characters that are typed key by key, so that pages listening for keys see them. Longer
/// texts are inserted at once, because a key takes some milliseconds (the tests print the figures).
const MAX_TYPED: usize = 60;

/// Returns the field's kind and places the caret: at the end of the content, or selecting all of it.
const CARET_SCRIPT: &str = "function(replace) {
    let one = this.nodeType === 1 ? this : this.parentElement;
    if (one && one.localName === 'label' && one.control) one = one.control;
    if (!one) return 'none';
    const kind = (one.type || '').toLowerCase();
    if (one.localName === 'select') return 'select';
    if (one.localName === 'input' && ['checkbox', 'radio'].includes(kind)) return 'tick';
    if (one.localName === 'input' && ['button', 'submit', 'reset', 'image', 'file', 'hidden'].includes(kind)) return 'none';
    if (['input', 'textarea'].includes(one.localName)) {
        if (one.disabled || one.readOnly) return 'closed';
        if (one.localName === 'input' && ['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'].includes(kind)) return 'value';
        one.focus({ preventScroll: true });
        if (replace) one.select();
        else try { one.setSelectionRange(one.value.length, one.value.length); } catch { /* Numbers and addresses of mail have no places. */ }
        return one.value === '' ? 'empty' : 'text';
    }
    if (!one.isContentEditable) {
        const inner = one.querySelector('[contenteditable=\"\"],[contenteditable=true],[contenteditable=plaintext-only],textarea,input');
        if (!inner || !inner.isContentEditable) return 'none';
        one = inner;
    }
    const top = one.closest('[contenteditable=\"\"],[contenteditable=true],[contenteditable=plaintext-only]') || one;
    if (!top.contains(one.ownerDocument.activeElement)) top.focus({ preventScroll: true });
    const range = one.ownerDocument.createRange();
    range.selectNodeContents(one);
    if (!replace) range.collapse(false);
    const selection = one.ownerDocument.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return one.textContent === '' ? 'empty' : 'text';
}";

/// Returns a field's content and whether it has the focus. A page may move the focus when a field gets it.
const READ_FIELD_SCRIPT: &str = "function() {
    const one = this.localName === 'label' && this.control ? this.control : this;
    const active = one.getRootNode().activeElement;
    const focused = !!active && (active === one || active.contains(one) || one.contains(active));
    return [focused, 'value' in one ? one.value : one.textContent];
}";

/// Sets the value of a field that is not typed into. The native setter makes pages that watch the property see
/// an outside change, as when a person picks a date.
const SET_SCRIPT: &str = "function(value) {
    const one = this.localName === 'label' && this.control ? this.control : this;
    one.focus({ preventScroll: true });
    const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
    const before = one.value;
    setter.call(one, value);
    const taken = one.type === 'range' ? Number(one.value) === Number(value) : value === '' || one.value !== '' && (one.value === value || one.value.startsWith(value) || value.startsWith(one.value));
    if (one.type === 'color' ? one.value !== value.toLowerCase() : !taken) { setter.call(one, before); return false; }
    one.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    one.dispatchEvent(new Event('change', { bubbles: true }));
    return true;
}";

/// Returns whether a checkbox is ticked.
const TICKED_SCRIPT: &str = "function() {
    const one = this.localName === 'label' && this.control ? this.control : this;
    return one.checked === true;
}";

impl Page {
    pub(super) async fn type_text(
        &self,
        node_ref: &NodeRef,
        text: &str,
        audience: Audience,
    ) -> Result<ActMethod, ActError> {
        let handle = self.resolve_visible_node(node_ref, audience).await?;
        match self.place_caret(&handle, WriteMode::Append).await? {
            FieldInput::Text | FieldInput::Empty => self.write(node_ref, &handle, text).await,
            FieldInput::Value => self.set_value(&handle, text).await,
            FieldInput::Checkbox | FieldInput::List => Err(UnsupportedAct::NotATextField.into()),
        }
    }

    pub(super) async fn fill(
        &self,
        node_ref: &NodeRef,
        text: &str,
        audience: Audience,
    ) -> Result<ActMethod, ActError> {
        let handle = self.resolve_visible_node(node_ref, audience).await?;
        match self.place_caret(&handle, WriteMode::Replace).await? {
            FieldInput::Empty if text.is_empty() => Ok(ActMethod::Nothing),
            FieldInput::Text if text.is_empty() => {
                let delete = KeyStroke::parse("Delete").ok_or(UnsupportedAct::UnknownKey)?;
                self.press_stroke(&session(node_ref), &delete).await?;
                Ok(ActMethod::Input)
            }
            FieldInput::Text | FieldInput::Empty => self.write(node_ref, &handle, text).await,
            FieldInput::Value => self.set_value(&handle, text.trim()).await,
            FieldInput::List => self.select(node_ref, &[text.to_owned()], audience).await,
            FieldInput::Checkbox => {
                let checked = match text.trim().to_lowercase().as_str() {
                    "true" | "on" | "yes" | "1" | "checked" => true,
                    "false" | "off" | "no" | "0" | "unchecked" | "" => false,
                    _ => return Err(UnsupportedAct::ValueRejected.into()),
                };
                if self.call_function(&handle, TICKED_SCRIPT, Vec::new()).await? == json!(checked) {
                    return Ok(ActMethod::Nothing);
                }
                self.click(node_ref, 1, audience).await?;
                Ok(ActMethod::Input)
            }
        }
    }

    /// Scrolls to an element, points at it, and acquires a handle on it.
    async fn resolve_visible_node(
        &self,
        node_ref: &NodeRef,
        audience: Audience,
    ) -> Result<NodeHandle, ActError> {
        let (highlighted, handle) =
            tokio::join!(biased; self.highlight(node_ref, audience), self.resolve_node(node_ref));
        highlighted?;
        Ok(handle?)
    }

    async fn place_caret(&self, handle: &NodeHandle, mode: WriteMode) -> Result<FieldInput, ActError> {
        let replace = json!(mode == WriteMode::Replace);
        let kind = self.call_function(handle, CARET_SCRIPT, vec![replace]).await?;
        match kind.as_str().unwrap_or_default() {
            "select" => Ok(FieldInput::List),
            "tick" => Ok(FieldInput::Checkbox),
            "value" => Ok(FieldInput::Value),
            "closed" => Err(UnsupportedAct::Disabled.into()),
            "empty" => Ok(FieldInput::Empty),
            "text" => Ok(FieldInput::Text),
            _ => Err(UnsupportedAct::NotATextField.into()),
        }
    }

    /// Writes at the caret. A page that ignores keys there may still take inserted text.
    async fn write(
        &self,
        node_ref: &NodeRef,
        handle: &NodeHandle,
        text: &str,
    ) -> Result<ActMethod, ActError> {
        // Not in the same call as placing the caret: a page that moves the focus may do so a moment later.
        let before = self.call_function(handle, READ_FIELD_SCRIPT, Vec::new()).await?;
        if before.get(0) != Some(&Value::Bool(true)) {
            return Err(UnsupportedAct::Disabled.into());
        }
        let session_id = session(node_ref);
        let strokes: Option<Vec<KeyStroke>> = if text.chars().count() <= MAX_TYPED {
            text.chars().map(KeyStroke::for_character).collect()
        } else {
            None
        };
        if let Some(strokes) = strokes {
            self.press_strokes(&session_id, &strokes).await?;
            if self.has_accepted_text(handle, &before, text).await? {
                return Ok(ActMethod::Input);
            }
        }
        // Insert text that no keys produce or that is too long to type. Inserting never presses Enter.
        self.call_in(&session_id, InsertTextParams::new(text), CALL_TIMEOUT).await?;
        match self.has_accepted_text(handle, &before, text).await? {
            true => Ok(ActMethod::Input),
            false => Err(UnsupportedAct::TextReverted.into()),
        }
    }

    /// Returns whether a field's content changed, or equals the written text. A field that is gone counts as
    /// having accepted it.
    async fn has_accepted_text(
        &self,
        handle: &NodeHandle,
        before: &Value,
        text: &str,
    ) -> Result<bool, ActError> {
        match self.call_function(handle, READ_FIELD_SCRIPT, Vec::new()).await.map_err(ActError::from) {
            Ok(after) => {
                Ok(after.get(1) != before.get(1) || after.get(1).and_then(Value::as_str) == Some(text))
            }
            Err(ActError::Gone) => Ok(true),
            Err(error) => Err(error),
        }
    }

    async fn set_value(&self, handle: &NodeHandle, value: &str) -> Result<ActMethod, ActError> {
        match self.call_function(handle, SET_SCRIPT, vec![json!(value)]).await? == json!(true) {
            true => Ok(ActMethod::Set),
            false => Err(UnsupportedAct::ValueRejected.into()),
        }
    }

    /// Scrolls to an element that is about to be used, and points at it. An element without size (a field that
    /// its page hides behind an image) can still be written to.
    pub(super) async fn highlight(&self, node_ref: &NodeRef, audience: Audience) -> Result<(), ActError> {
        match self.visible_parts(node_ref).await {
            Ok((parts, _)) => {
                if audience != Audience::Unwatched
                    && let Some(part) = parts.first()
                {
                    let (x, y) = self.session_offset(node_ref).await?;
                    let (left, top) = part.middle();
                    self.show_pointer(audience, (left + x, top + y), Some((*part, (x, y)))).await;
                }
                Ok(())
            }
            Err(ActError::NoVisibleArea | ActError::Page(PageError::Call(CallError::Refused { .. }))) => {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WriteMode {
    Append,
    Replace,
}

/// The kind of a field in which the caret was placed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldInput {
    /// A text field with content.
    Text,
    /// A text field without content.
    Empty,
    /// A field whose value is set instead of typed, such as a date.
    Value,
    Checkbox,
    List,
}
