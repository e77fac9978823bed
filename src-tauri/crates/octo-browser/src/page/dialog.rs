//! `alert` and similar dialogs.

use super::PageCore;
use crate::{CallError, cdp::browser_protocol::page::HandleJavaScriptDialogParams, wire::DialogOpening};
use std::time::Duration;

/// Timeout for closing a dialog.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of stored characters of a dialog's message, which the page controls.
const MAX_MESSAGE_CHARS: usize = 2_000;

/// An open dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialog {
    /// The kind.
    pub kind: DialogKind,
    /// The page's message, at most 2,000 characters.
    pub message: String,
    /// Default text of a prompt's field.
    pub default: String,
    /// The address of the frame that opened it.
    pub url: String,
}

/// The kinds of dialogs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialogKind {
    /// Shows a message.
    Alert,
    /// Asks yes or no.
    Confirm,
    /// Asks for text.
    Prompt,
    /// Asks whether to leave the page.
    BeforeUnload,
}

impl DialogKind {
    /// Returns its name in the protocol and in JavaScript.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alert => "alert",
            Self::Confirm => "confirm",
            Self::Prompt => "prompt",
            Self::BeforeUnload => "beforeunload",
        }
    }
}

/// The answer that closes a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DialogReply {
    /// With OK.
    Accept,
    /// With OK and this text.
    AcceptWith(String),
    /// With Cancel.
    Dismiss,
}

pub(super) enum DialogCloseError {
    NotOpen,
    Call(CallError),
}

impl From<DialogOpening> for Dialog {
    fn from(opening: DialogOpening) -> Self {
        let truncate = |text: String| text.chars().take(MAX_MESSAGE_CHARS).collect();
        Self {
            kind: match opening.kind.as_str() {
                "confirm" => DialogKind::Confirm,
                "prompt" => DialogKind::Prompt,
                "beforeunload" => DialogKind::BeforeUnload,
                _ => DialogKind::Alert,
            },
            message: truncate(opening.message),
            default: truncate(opening.default_prompt.unwrap_or_default()),
            url: opening.url,
        }
    }
}

/// Closes the dialog. The browser decides whether one is open, since the person may have closed it.
pub(super) async fn answer(core: &PageCore, reply: DialogReply) -> Result<(), DialogCloseError> {
    let (accept, prompt_text) = match reply {
        DialogReply::Accept => (true, core.dialog.borrow().as_ref().map(|dialog| dialog.default.clone())),
        DialogReply::AcceptWith(text) => (true, Some(text)),
        DialogReply::Dismiss => (false, None),
    };
    let command = HandleJavaScriptDialogParams { accept, prompt_text };
    match core.link.call(Some(&core.session), command, CLOSE_TIMEOUT).await {
        Ok(_) => Ok(()),
        Err(CallError::Refused { .. }) => {
            core.dialog.send_replace(None);
            Err(DialogCloseError::NotOpen)
        }
        Err(error) => Err(DialogCloseError::Call(error)),
    }
}
