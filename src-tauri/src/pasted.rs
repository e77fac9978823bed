//! What the person pastes and the page is given nothing of: on Linux the web view hands a pasted picture, and files that were
//! copied, to no page.

use octo_protocol::ApiError;
use std::path::PathBuf;
use tauri::AppHandle;

/// What was copied.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pasted {
    /// Files, by their absolute paths.
    Files(Vec<PathBuf>),
    /// Words.
    Text(String),
    /// A picture, as PNG, JPEG, WebP or GIF.
    Picture(Vec<u8>),
    /// Nothing of these.
    Nothing,
}

/// Reads it. Elsewhere the page is given all there is.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unused_async, reason = "as on Linux, where another program is asked")]
pub(crate) async fn read(_app: &AppHandle) -> Result<Pasted, ApiError> {
    Ok(Pasted::Nothing)
}

/// Reads it from the program that has it.
#[cfg(target_os = "linux")]
pub(crate) async fn read(app: &AppHandle) -> Result<Pasted, ApiError> {
    let (tell, told) = tokio::sync::oneshot::channel();
    app.run_on_main_thread(move || clipboard::ask(tell))
        .map_err(|error| ApiError::new("host.failed").detail(error))?;
    let silent = || ApiError::new("host.paste_silent").retryable();
    tokio::time::timeout(clipboard::PATIENCE, told).await.map_err(|_| silent())?.map_err(|_| silent())
}

#[cfg(target_os = "linux")]
mod clipboard {
    use super::Pasted;
    use gtk::{
        Clipboard,
        gdk::{Atom, SELECTION_CLIPBOARD, gdk_pixbuf::Pixbuf},
    };
    use std::{path::PathBuf, time::Duration};
    use tauri::Url;
    use tokio::sync::oneshot::Sender;

    /// How long the program that has it may take to give it.
    pub(super) const PATIENCE: Duration = Duration::from_secs(10);

    /// The kinds of pictures that are taken as they are.
    const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

    /// Asks for files first: with a copied picture's file many programs give its small picture as well. Then for words: a
    /// table comes with a picture of it.
    pub(super) fn ask(tell: Sender<Pasted>) {
        Clipboard::get(&SELECTION_CLIPBOARD).request_uris(move |clipboard, uris| {
            let paths: Vec<PathBuf> = uris.iter().filter_map(|uri| path_of(uri)).collect();
            if !paths.is_empty() {
                return give(tell, Pasted::Files(paths));
            }
            clipboard.request_text(move |clipboard, text| match text {
                Some(text) if !text.is_empty() => give(tell, Pasted::Text(text.to_owned())),
                _ => ask_for_picture(clipboard, &PICTURES, tell),
            });
        });
    }

    /// Asks for the picture as it was copied, and then for one of any other kind.
    fn ask_for_picture(clipboard: &Clipboard, kinds: &'static [&'static str], tell: Sender<Pasted>) {
        // Who asked may have stopped waiting: a large picture is not encoded for nobody.
        if tell.is_closed() {
            return;
        }
        match kinds {
            [] => clipboard.request_image(move |_, picture| give(tell, encoded(picture))),
            [kind, others @ ..] => {
                clipboard.request_contents(&Atom::intern(kind), move |clipboard, given| {
                    let bytes = given.data();
                    if bytes.is_empty() {
                        ask_for_picture(clipboard, others, tell);
                    } else {
                        give(tell, Pasted::Picture(bytes));
                    }
                })
            }
        }
    }

    fn give(tell: Sender<Pasted>, pasted: Pasted) {
        // As above.
        let _unheard = tell.send(pasted);
    }

    fn path_of(uri: &str) -> Option<PathBuf> {
        let url = Url::parse(uri).ok()?;
        // One of another computer is none here.
        (url.scheme() == "file").then(|| url.to_file_path().ok()).flatten()
    }

    fn encoded(picture: Option<&Pixbuf>) -> Pasted {
        match picture.map(|picture| picture.save_to_bufferv("png", &[])) {
            None => Pasted::Nothing,
            Some(Ok(bytes)) => Pasted::Picture(bytes),
            Some(Err(error)) => {
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
