//! Pasted content that the page does not receive: on Linux the web view passes neither pasted images nor copied
//! files to a page.

use octo_protocol::ApiError;
use std::path::PathBuf;
use tauri::AppHandle;

/// Content of the clipboard.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ClipboardContent {
    /// Files, by their absolute paths.
    Files(Vec<PathBuf>),
    /// Text.
    Text(String),
    /// An image, as PNG, JPEG, WebP or GIF.
    Picture(Vec<u8>),
    /// None of these.
    Nothing,
}

/// Returns [`ClipboardContent::Nothing`]: on other systems the page itself receives all pasted content.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unused_async, reason = "as on Linux, where another program is asked")]
pub(crate) async fn read(_app: &AppHandle) -> Result<ClipboardContent, ApiError> {
    Ok(ClipboardContent::Nothing)
}

/// Reads the clipboard from the program that owns it.
#[cfg(target_os = "linux")]
pub(crate) async fn read(app: &AppHandle) -> Result<ClipboardContent, ApiError> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    app.run_on_main_thread(move || clipboard::ask(sender))
        .map_err(|error| ApiError::new("host.failed").detail(error))?;
    let timeout_error = || ApiError::new("host.paste_silent").retryable();
    tokio::time::timeout(clipboard::READ_TIMEOUT, receiver)
        .await
        .map_err(|_| timeout_error())?
        .map_err(|_| timeout_error())
}

#[cfg(target_os = "linux")]
mod clipboard {
    use super::ClipboardContent;
    use gtk::{
        Clipboard,
        gdk::{Atom, SELECTION_CLIPBOARD, gdk_pixbuf::Pixbuf},
    };
    use std::{path::PathBuf, time::Duration};
    use tauri::Url;
    use tokio::sync::oneshot::Sender;

    /// Maximum time that the owning program may take to deliver the content.
    pub(super) const READ_TIMEOUT: Duration = Duration::from_secs(10);

    /// Image types accepted unchanged.
    const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

    /// Asks for files first, because many programs add a thumbnail to a copied image file. Text is next,
    /// because a copied table includes an image of itself.
    pub(super) fn ask(sender: Sender<ClipboardContent>) {
        Clipboard::get(&SELECTION_CLIPBOARD).request_uris(move |clipboard, uris| {
            let paths: Vec<PathBuf> = uris.iter().filter_map(|uri| path_of(uri)).collect();
            if !paths.is_empty() {
                return send(sender, ClipboardContent::Files(paths));
            }
            clipboard.request_text(move |clipboard, text| match text {
                Some(text) if !text.is_empty() => send(sender, ClipboardContent::Text(text.to_owned())),
                _ => ask_for_picture(clipboard, &PICTURES, sender),
            });
        });
    }

    /// Asks for the image in its original format first, then in any other.
    fn ask_for_picture(
        clipboard: &Clipboard,
        kinds: &'static [&'static str],
        sender: Sender<ClipboardContent>,
    ) {
        // The requester may have stopped waiting: a large image is then not encoded in vain.
        if sender.is_closed() {
            return;
        }
        match kinds {
            [] => clipboard.request_image(move |_, picture| send(sender, encode(picture))),
            [kind, kinds @ ..] => {
                clipboard.request_contents(&Atom::intern(kind), move |clipboard, contents| {
                    let bytes = contents.data();
                    if bytes.is_empty() {
                        ask_for_picture(clipboard, kinds, sender);
                    } else {
                        send(sender, ClipboardContent::Picture(bytes));
                    }
                })
            }
        }
    }

    fn send(sender: Sender<ClipboardContent>, content: ClipboardContent) {
        // As above.
        let _unheard = sender.send(content);
    }

    fn path_of(uri: &str) -> Option<PathBuf> {
        let url = Url::parse(uri).ok()?;
        // A file on another computer does not exist here.
        (url.scheme() == "file").then(|| url.to_file_path().ok()).flatten()
    }

    fn encode(picture: Option<&Pixbuf>) -> ClipboardContent {
        match picture.map(|picture| picture.save_to_bufferv("png", &[])) {
            None => ClipboardContent::Nothing,
            Some(Ok(bytes)) => ClipboardContent::Picture(bytes),
            Some(Err(error)) => {
                tracing::info!(%error, "a pasted picture could not be read");
                ClipboardContent::Nothing
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_files_of_this_computer_are_files() {
            assert_eq!(path_of("file:///home/mei/a%20b.png"), Some("/home/mei/a b.png".into()));
            assert_eq!(path_of("file://localhost/tmp/a"), Some("/tmp/a".into()));
            for address in
                ["https://example.org/a.png", "file://server/share/a", "smb://server/a", "a.png", ""]
            {
                assert_eq!(path_of(address), None, "{address}");
            }
        }
    }
}
