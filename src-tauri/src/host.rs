//! Functions that only a desktop can provide.

use crate::{
    exit, notifications,
    paste::{self, ClipboardContent},
    quick_ask,
    shell_state::{ShellState, open_in_window},
    updates, windows,
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use octo_core::Host;
use octo_protocol::{ApiError, HostReply, HostRequest, OpenRequest, OpenRequestSource, SessionId};
use std::{
    future::Future,
    path::{Path, PathBuf},
    pin::Pin,
};
use tauri::{AppHandle, Manager, State, Url, Wry};
use tauri_plugin_dialog::{DialogExt as _, FileDialogBuilder, FilePath};
use tauri_plugin_opener::OpenerExt as _;
use tokio::sync::oneshot;

/// The largest image that can be pasted, in bytes; see [`octo_protocol::PutBlob`].
const MAX_PICTURE_BYTES: usize = 20 << 20;

/// The functions of the desktop on which the window is shown.
pub(crate) struct DesktopHost {
    app: AppHandle,
}

impl DesktopHost {
    pub(crate) fn new(app: AppHandle) -> Self {
        Self { app }
    }

    async fn pick_folder(&self, start: Option<PathBuf>) -> Result<Option<String>, ApiError> {
        let (sender, receiver) = oneshot::channel();
        self.dialog(start).pick_folder(move |folder| {
            // If the page is gone, no one waits for the answer.
            let _ = sender.send(folder);
        });
        // A dialog that disappeared without an answer was closed.
        match receiver.await.ok().flatten() {
            None => Ok(None),
            Some(folder) => path_text(folder, "host.path_not_text").map(Some),
        }
    }

    async fn pick_files(&self, start: Option<PathBuf>) -> Result<Vec<String>, ApiError> {
        let (sender, receiver) = oneshot::channel();
        self.dialog(start).pick_files(move |files| {
            // As above.
            let _ = sender.send(files);
        });
        let files = receiver.await.ok().flatten().unwrap_or_default();
        files.into_iter().map(|file| path_text(file, "host.file_not_text")).collect()
    }

    async fn read_pasted(&self) -> Result<HostReply, ApiError> {
        let (mut picture, mut text, mut paths) = (None, None, Vec::new());
        match paste::read(&self.app).await? {
            ClipboardContent::Files(files) => {
                let files =
                    files.into_iter().map(|file| path_text(FilePath::Path(file), "host.file_not_text"));
                paths = files.collect::<Result<_, _>>()?;
            }
            ClipboardContent::Text(content) => text = Some(content),
            // The core's limit: a larger image would only be sent there to be refused.
            ClipboardContent::Picture(bytes) if bytes.len() > MAX_PICTURE_BYTES => {
                return Err(ApiError::new("blob.too_large").arg("limit_mib", MAX_PICTURE_BYTES >> 20));
            }
            ClipboardContent::Picture(bytes) => picture = Some(BASE64_STANDARD.encode(bytes)),
            ClipboardContent::Nothing => {}
        }
        Ok(HostReply::Pasted { picture, paths, text })
    }

    fn shell_state(&self) -> State<'_, ShellState> {
        self.app.state()
    }

    /// Hides the window only if it can be brought back.
    fn hide(&self) -> Result<(), ApiError> {
        self.shell_state().mark_close_answered();
        if !self.shell_state().can_hide() {
            return Err(ApiError::new("desktop.no_bus"));
        }
        exit::hide(&self.app);
        Ok(())
    }

    fn leave_quick_ask(&self, session: Option<SessionId>) {
        quick_ask::hide_window(&self.app);
        if let Some(session) = session {
            open_in_window(&self.app, OpenRequest::OpenSession { session });
        }
    }

    /// Opens a dialog over the focused window, starting in an existing folder.
    fn dialog(&self, start: Option<PathBuf>) -> FileDialogBuilder<Wry> {
        let mut dialog = self.app.dialog().file();
        if let Some(window) = windows::focused(&self.app) {
            dialog = dialog.set_parent(&window);
        }
        match start.filter(|start| start.is_dir()) {
            Some(start) => dialog.set_directory(start),
            None => dialog,
        }
    }

    async fn reveal(&self, path: PathBuf) -> Result<(), ApiError> {
        require_exists(&path)?;
        let app = self.app.clone();
        // The call uses D-Bus or COM and waits for the answer.
        tauri::async_runtime::spawn_blocking(move || app.opener().reveal_item_in_dir(path))
            .await
            .map_err(|error| ApiError::new("host.failed").detail(error))?
            .map_err(|error| ApiError::new("host.failed").detail(error))
    }

    async fn open(&self, url: String) -> Result<(), ApiError> {
        let url = web_address(&url)?;
        let app = self.app.clone();
        tauri::async_runtime::spawn_blocking(move || app.opener().open_url(url, None::<&str>))
            .await
            .map_err(|error| ApiError::new("host.failed").detail(error))?
            .map_err(|error| ApiError::new("host.failed").detail(error))
    }
}

impl Host for DesktopHost {
    fn perform(
        &self,
        request: HostRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HostReply, ApiError>> + Send + '_>> {
        Box::pin(async move {
            match request {
                HostRequest::PickFolder { start } => {
                    let path = self.pick_folder(start.map(PathBuf::from)).await?;
                    Ok(HostReply::Folder { path })
                }
                HostRequest::PickFiles { start } => {
                    let paths = self.pick_files(start.map(PathBuf::from)).await?;
                    Ok(HostReply::Files { paths })
                }
                HostRequest::ReadPasted => self.read_pasted().await,
                HostRequest::Reveal { path } => {
                    self.reveal(PathBuf::from(path)).await.map(|()| HostReply::Done)
                }
                HostRequest::RevealFile { path, folder } => {
                    self.reveal(resolve_path(&path, Path::new(&folder))?).await.map(|()| HostReply::Done)
                }
                HostRequest::OpenUrl { url } => self.open(url).await.map(|()| HostReply::Done),
                HostRequest::GetDesktop => {
                    let state = self.shell_state().state(updates::require_source(&self.app));
                    Ok(HostReply::Desktop { state: Box::new(state) })
                }
                HostRequest::TakeOpenRequests => {
                    Ok(HostReply::OpenRequests { errands: self.shell_state().take_open_requests() })
                }
                HostRequest::ReportView { window, session } => {
                    if let Some(command) = self.shell_state().set_shown_session(window, session) {
                        notifications::carry_out(&self.app, command);
                    }
                    Ok(HostReply::Done)
                }
                HostRequest::OpenWindow { session } => {
                    windows::open_further(&self.app, session)
                        .map_err(|error| ApiError::new("host.failed").detail(error))?;
                    Ok(HostReply::Done)
                }
                HostRequest::StayOpen => {
                    self.shell_state().mark_close_answered();
                    Ok(HostReply::Done)
                }
                HostRequest::HideWindow => self.hide().map(|()| HostReply::Done),
                HostRequest::Quit => {
                    self.app.exit(0);
                    Ok(HostReply::Done)
                }
                HostRequest::Restart => {
                    exit::restart(&self.app);
                    Ok(HostReply::Done)
                }
                HostRequest::CloseQuickAsk { session } => {
                    self.leave_quick_ask(session);
                    Ok(HostReply::Done)
                }
                HostRequest::MovePrompt { prompt } => {
                    self.leave_quick_ask(None);
                    let source = OpenRequestSource::Person;
                    open_in_window(&self.app, OpenRequest::NewSession { prompt, folder: None, from: source });
                    Ok(HostReply::Done)
                }
                HostRequest::CheckForUpdate => {
                    updates::check_for_update(&self.app).await.map(|offer| HostReply::Update { offer })
                }
                HostRequest::InstallUpdate { version } => {
                    updates::install(&self.app, &version).await.map(|()| HostReply::Done)
                }
                HostRequest::GetUpdateDownload => {
                    Ok(HostReply::UpdateDownload { download: updates::download(&self.app) })
                }
                HostRequest::CancelUpdate => {
                    updates::cancel(&self.app);
                    Ok(HostReply::Done)
                }
            }
        })
    }
}

/// Converts a path to text.
///
/// # Errors
/// `error_key` if the path is not Unicode: it could not be passed to the core unchanged.
fn path_text(path: FilePath, error_key: &str) -> Result<String, ApiError> {
    let path = path.into_path().map_err(|error| ApiError::new("host.failed").detail(error))?;
    path.into_os_string()
        .into_string()
        .map_err(|path| ApiError::new(error_key).arg("path", path.to_string_lossy()))
}

/// Returns the path of a file mentioned in a conversation.
fn resolve_path(path: &str, folder: &Path) -> Result<PathBuf, ApiError> {
    octo_workspace::linked_file(path, folder).ok_or_else(|| ApiError::new("host.no_file").arg("path", path))
}

fn require_exists(path: &Path) -> Result<(), ApiError> {
    if path.is_absolute() && path.exists() {
        Ok(())
    } else {
        Err(ApiError::new("host.path_missing").arg("path", path.display()))
    }
}

/// Accepts web addresses only: a `file:` address or an application's own scheme would run something on this
/// machine.
fn web_address(text: &str) -> Result<String, ApiError> {
    let refusal = || ApiError::new("host.url_refused").arg("url", text);
    let url = Url::parse(text).map_err(|_| refusal())?;
    if matches!(url.scheme(), "http" | "https") && url.has_host() { Ok(url.into()) } else { Err(refusal()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_opened() {
        assert_eq!(web_address("https://example.org/a b").unwrap(), "https://example.org/a%20b");
        assert_eq!(web_address("HTTP://example.org").unwrap(), "http://example.org/");
        for text in [
            "",
            "example.org",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,x",
            "vscode://file/etc/passwd",
            "smb://server/share",
            "--help",
            " ",
            "https://",
        ] {
            assert_eq!(web_address(text).unwrap_err().key, "host.url_refused", "{text}");
        }
    }

    #[test]
    fn only_existing_files_are_revealed() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src-tauri/src");
        assert_eq!(require_exists(&resolve_path("host.rs", &source).unwrap()), Ok(()));
        assert_eq!(resolve_path("https://example.org/a.png", &source).unwrap_err().key, "host.no_file");
        assert_eq!(
            require_exists(&resolve_path("gone.rs", &source).unwrap()).unwrap_err().key,
            "host.path_missing"
        );
        assert_eq!(require_exists(Path::new("/")), Ok(()));
        assert_eq!(require_exists(Path::new("/no/such/folder")).unwrap_err().args["path"], "/no/such/folder");
        assert_eq!(require_exists(Path::new("src")).unwrap_err().key, "host.path_missing");
    }
}
