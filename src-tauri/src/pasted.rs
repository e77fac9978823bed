//! What the person pastes and the page is given nothing of: on Linux the web view hands a pasted picture, and files that
//! were copied, to no page.

use octo_protocol::ApiError;
use std::path::PathBuf;
use tauri::AppHandle;

/// What was copied.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum Pasted {
    /// A picture, as PNG.
    Picture(Vec<u8>),
    /// Files, by their absolute paths.
    Files(Vec<PathBuf>),
    /// Nothing of these.
    #[default]
    Nothing,
}

/// Reads it. Elsewhere the page is given all there is.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unused_async, reason = "as on Linux, where another program is asked")]
pub(crate) async fn read(_app: &AppHandle) -> Result<Pasted, ApiError> {
    Ok(Pasted::Nothing)
}

/// Reads it from the program that has it. One that does not answer has nothing.
#[cfg(target_os = "linux")]
pub(crate) async fn read(app: &AppHandle) -> Result<Pasted, ApiError> {
    let (tell, told) = tokio::sync::oneshot::channel();
    app.run_on_main_thread(move || {
        clipboard::ask(move |pasted| {
            // Who asked may have stopped waiting.
            let _ = tell.send(pasted);
        });
    })
    .map_err(|error| ApiError::new("host.failed").detail(error))?;
    Ok(tokio::time::timeout(clipboard::PATIENCE, told).await.ok().and_then(Result::ok).unwrap_or_default())
}

#[cfg(target_os = "linux")]
mod clipboard {
    use super::Pasted;
    use gtk::{
        Clipboard,
        gdk::{self, Atom, SELECTION_CLIPBOARD},
    };
    use std::{path::PathBuf, time::Duration};
    use tauri::Url;

    /// How long the program that has it may take to give it.
    pub(super) const PATIENCE: Duration = Duration::from_secs(10);

    /// Asks for files first: with a copied picture file many programs give its small picture as well. Then for the picture
    /// as it was copied, and for one of any other kind.
    pub(super) fn ask(tell: impl FnOnce(Pasted) + 'static) {
        Clipboard::get(&SELECTION_CLIPBOARD).request_uris(move |clipboard, uris| {
            let paths: Vec<PathBuf> = uris.iter().filter_map(|uri| path_of(uri)).collect();
            if !paths.is_empty() {
                return tell(Pasted::Files(paths));
            }
            clipboard.request_contents(&Atom::intern("image/png"), move |clipboard, given| {
                let bytes = given.data();
                if !bytes.is_empty() {
                    return tell(Pasted::Picture(bytes));
                }
                clipboard.request_image(move |_, picture| tell(picture.map_or(Pasted::Nothing, encoded)));
            });
        });
    }

    fn path_of(uri: &str) -> Option<PathBuf> {
        let url = Url::parse(uri).ok()?;
        // One of another computer is none here.
        (url.scheme() == "file").then(|| url.to_file_path().ok()).flatten()
    }

    fn encoded(picture: &gdk::gdk_pixbuf::Pixbuf) -> Pasted {
        match picture.save_to_bufferv("png", &[]) {
            Ok(bytes) => Pasted::Picture(bytes),
            Err(error) => {
                tracing::info!(%error, "a pasted picture could not be read");
                Pasted::Nothing
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
            for other in ["https://example.org/a.png", "file://server/share/a", "smb://server/a", "a.png", ""]
            {
                assert_eq!(path_of(other), None, "{other}");
            }
        }
    }
}
