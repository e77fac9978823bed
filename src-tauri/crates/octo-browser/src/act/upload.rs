//! Uploads files to a page.

use super::{
    ActError, ActMethod, Audience, LIMIT, UnsupportedAct,
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

/// How long a button may take to ask for a file.
const ASKING: Duration = Duration::from_secs(2);

/// Returns whether an element is a file field, or the label of one.
const FILE_FIELD_CHECK: &str = "function() {
    return this.localName === 'input' && this.type === 'file' ? (this.disabled ? 'closed' : this.multiple ? 'many' : 'one') : '';
}";

impl Page {
    pub(super) async fn upload(
        &self,
        place: &NodeRef,
        files: &[PathBuf],
        audience: Audience,
    ) -> Result<ActMethod, ActError> {
        self.point_out(place, audience).await?;
        let kind = self.call_function_on_node(place, FILE_FIELD_CHECK, Vec::new()).await?;
        match kind.as_str().unwrap_or_default() {
            "closed" => Err(UnsupportedAct::Disabled.into()),
            "one" if files.len() > 1 => Err(UnsupportedAct::OneFile.into()),
            "one" | "many" => self.give(&session(place), node(place), files).await,
            _ => self.upload_through(place, files, audience).await,
        }
    }

    /// Clicks the element that asks for files, and gives them to the field that the page requested.
    async fn upload_through(
        &self,
        place: &NodeRef,
        files: &[PathBuf],
        audience: Audience,
    ) -> Result<ActMethod, ActError> {
        let on = session(place);
        // A page in the background opens no file chooser.
        self.bring_to_front().await?;
        let mut chooser = ChooserGuard::suppress(self, on.clone());
        self.click(place, 1, audience).await?;
        let asked = timeout(ASKING, chooser.file_request()).await.map_err(|_| UnsupportedAct::NoFiles)?;
        drop(chooser);
        let asked = asked.ok_or(ActError::Page(PageError::Detached))?;
        let field = asked.backend_node_id.ok_or(UnsupportedAct::NoFiles)?;
        if asked.mode == "selectSingle" && files.len() > 1 {
            return Err(UnsupportedAct::OneFile.into());
        }
        self.give(&on, BackendNodeId::new(field), files).await
    }

    async fn give(
        &self,
        on: &SessionId,
        field: BackendNodeId,
        files: &[PathBuf],
    ) -> Result<ActMethod, ActError> {
        let files = files.iter().map(|file| file.to_string_lossy().into_owned());
        let give = SetFileInputFilesParams {
            backend_node_id: Some(field),
            ..SetFileInputFilesParams::new(files.collect::<Vec<_>>())
        };
        match self.call_in(on, give, LIMIT).await.map_err(ActError::from) {
            Ok(_) => Ok(ActMethod::Set),
            Err(ActError::Page(PageError::Call(CallError::Refused { .. }))) => {
                Err(UnsupportedAct::NoFiles.into())
            }
            Err(error) => Err(error),
        }
    }
}
