//! A chat's operations on sessions: it starts them, sends messages to them and stores received files for them.

use super::ChatBridge;
use crate::{
    attachments::attach_files,
    session::{ChatOrigin, UserMessage},
    sessions::NewSessionKind,
};
use octo_protocol::{ApiError, Block, ChatAccount, ChatService, SendOutcome, SessionId, SessionInfo};
use octo_workspace::session_folder;
use std::path::{Path, PathBuf};

/// Maximum length of a kept file's name, in bytes: most file systems allow 255.
const NAME: usize = 200;

impl ChatBridge {
    /// Stores the account an untested token turned out to belong to.
    pub(super) async fn learn_account(
        &self,
        service: ChatService,
        account: ChatAccount,
    ) -> Result<(), ApiError> {
        self.settings
            .change(move |_, settings| {
                if let Some(service) = settings.chats.of_mut(service) {
                    service.bot = Some(account);
                }
                Ok(())
            })
            .await
    }

    /// Sends a person's chat message to its session.
    pub(super) async fn send_via(
        &self,
        session: SessionId,
        blocks: Vec<Block>,
        via: ChatOrigin,
    ) -> Result<SendOutcome, ApiError> {
        self.sessions.send(session, UserMessage::in_chat(blocks, via)).await
    }

    /// Checks that a session can be started from a chat now: there is a model, and the folder.
    ///
    /// # Errors
    /// The missing part.
    pub(super) async fn may_start_in_chat(&self, service: ChatService) -> Result<(), ApiError> {
        let settings = self.chats.service(service);
        let service_settings = settings.ok_or_else(|| ApiError::new("chat.token_missing"))?;
        session_folder(Path::new(&service_settings.folder))?;
        self.sessions.model_or_default(None).await.map(drop)
    }

    /// Starts the session `id` with a person's chat message.
    pub(super) async fn start_in_chat(
        &self,
        id: SessionId,
        chat: i64,
        blocks: Vec<Block>,
        via: ChatOrigin,
    ) -> Result<SessionInfo, ApiError> {
        let settings = self.base.preferences();
        // As last read from the store: another window may have chosen them.
        let service_settings = self.chats.service(via.service());
        let service_settings = service_settings.ok_or_else(|| ApiError::new("chat.token_missing"))?;
        let model = self.sessions.model_or_default(None).await?;
        let folder = session_folder(Path::new(&service_settings.folder))?;
        let kind = NewSessionKind::Chat { id, model, chat, via };
        let started =
            self.sessions.start(folder, settings.default_profile, service_settings.mode, kind, blocks).await;
        self.chats.session_changed().notify_one();
        started
    }

    /// Keeps a file a session received through a chat: a picture for the model, any other file by its path.
    pub(super) async fn receive_file(
        &self,
        session: SessionId,
        name: String,
        bytes: Vec<u8>,
    ) -> Result<Block, ApiError> {
        let path = self.base.paths.received(session);
        let result = tokio::task::spawn_blocking(move || save_file(&path, &name, &bytes)).await;
        let path = result.map_err(|error| ApiError::new("internal").detail(error))??;
        let path = path.display().to_string();
        let attachment = attach_files(self.base.blobs.clone(), vec![path.clone()]).await?;
        let refusal = attachment.refused.into_iter().next();
        attachment
            .blocks
            .into_iter()
            .next()
            .ok_or_else(|| refusal.unwrap_or_else(|| ApiError::new("attach.unreadable").arg("path", path)))
    }
}

/// Writes a file into a folder of its own below `base`, under its original name where that is a valid name.
fn save_file(base: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, ApiError> {
    let write_error =
        |error: std::io::Error| ApiError::new("chat.file_unkept").arg("name", name).detail(error);
    let folder = base.join(uuid::Uuid::now_v7().simple().to_string());
    octo_workspace::private_folder(&folder).map_err(write_error)?;
    let path = folder.join(file_name(name));
    octo_workspace::write_private(&path, bytes).map_err(write_error)?;
    Ok(path)
}

/// Returns a name that is a single path component on every system and hides nothing.
fn file_name(name: &str) -> String {
    let visible: String = name
        .chars()
        .map(|c| if c.is_control() || is_invisible(c) || "/\\:*?\"<>|".contains(c) { '_' } else { c })
        .scan(0, |bytes, c| {
            *bytes += c.len_utf8();
            (*bytes <= NAME).then_some(c)
        })
        .collect();
    let trimmed = visible.trim_matches(['.', ' ']);
    if trimmed.is_empty() { "file".to_owned() } else { trimmed.to_owned() }
}

/// Whether a character is invisible or reverses the following text.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_name_stays_in_its_folder() {
        for (name, expected) in [
            ("plan.pdf", "plan.pdf"),
            ("../../.bashrc", "_.._.bashrc"),
            ("a/b\\c:d", "a_b_c_d"),
            (".env", "env"),
            ("..", "file"),
            ("", "file"),
            ("合同.docx", "合同.docx"),
            ("x\u{0}\n", "x__"),
            ("invoice\u{202e}fdp.exe", "invoice_fdp.exe"),
        ] {
            assert_eq!(file_name(name), expected, "{name:?}");
        }
        assert_eq!(file_name(&"字".repeat(300)).len(), 198);
    }
}
