//! Uploads files to a page.

use super::{
    ActError, ActMethod, Audience, CALL_TIMEOUT, UnsupportedAct,
    chooser::ChooserGuard,
    place::{node, session},
};
use crate::{
    CallError, Page, PageError,
    cdp::browser_protocol::{
        dom::{BackendNodeId, SetFileInputFilesParams},
        target::SessionId,
    },
    snapshot::NodeRef,
};
use std::{path::PathBuf, time::Duration};
use tokio::time::timeout;

/// Timeout for a clicked button to ask for files.
const FILE_REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns the kind of an element's file field: `one`, `many`, `closed` if it is disabled, or an empty string if
/// the element is no file field.
const FILE_FIELD_CHECK: &str = "function() {
    return this.localName === 'input' && this.type === 'file' ? (this.disabled ? 'closed' : this.multiple ? 'many' : 'one') : '';
}";

impl Page {
    pub(super) async fn upload(
        &self,
        node_ref: &NodeRef,
        files: &[PathBuf],
        audience: Audience,
    ) -> Result<ActMethod, ActError> {
        self.highlight(node_ref, audience).await?;
        let kind = self.call_function_on_node(node_ref, FILE_FIELD_CHECK, Vec::new()).await?;
        match kind.as_str().unwrap_or_default() {
            "closed" => Err(UnsupportedAct::Disabled.into()),
            "one" if files.len() > 1 => Err(UnsupportedAct::SingleFile.into()),
            "one" | "many" => self.set_files(&session(node_ref), node(node_ref), files).await,
            _ => self.upload_by_click(node_ref, files, audience).await,
        }
    }

    /// Clicks the element that asks for files, and gives them to the field that the page requested.
    async fn upload_by_click(
        &self,
        node_ref: &NodeRef,
        files: &[PathBuf],
        audience: Audience,
    ) -> Result<ActMethod, ActError> {
        let session_id = session(node_ref);
        // A page in the background opens no file chooser.
        self.bring_to_front().await?;
        let mut chooser = ChooserGuard::suppress(self, session_id.clone());
        self.click(node_ref, 1, audience).await?;
        let request = timeout(FILE_REQUEST_TIMEOUT, chooser.file_request())
            .await
            .map_err(|_| UnsupportedAct::NotAFileField)?;
        drop(chooser);
        let request = request.ok_or(ActError::Page(PageError::Detached))?;
        let field = request.backend_node_id.ok_or(UnsupportedAct::NotAFileField)?;
        if request.mode == "selectSingle" && files.len() > 1 {
            return Err(UnsupportedAct::SingleFile.into());
        }
        self.set_files(&session_id, BackendNodeId::new(field), files).await
    }

    async fn set_files(
        &self,
        session_id: &SessionId,
        field: BackendNodeId,
        files: &[PathBuf],
    ) -> Result<ActMethod, ActError> {
        let files = files.iter().map(|file| file.to_string_lossy().into_owned());
        let command = SetFileInputFilesParams {
            backend_node_id: Some(field),
            ..SetFileInputFilesParams::new(files.collect::<Vec<_>>())
        };
        match self.call_in(session_id, command, CALL_TIMEOUT).await.map_err(ActError::from) {
            Ok(_) => Ok(ActMethod::Set),
            Err(ActError::Page(PageError::Call(CallError::Refused { .. }))) => {
                Err(UnsupportedAct::NotAFileField.into())
            }
            Err(error) => Err(error),
        }
    }
}
