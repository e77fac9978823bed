//! Files that the browser fetches, into the folder its person chose.

use crate::{
    CallError, Events, Heard, Link,
    cdp::browser_protocol::{
        browser::{
            CancelDownloadParams, EventDownloadProgress, EventDownloadWillBegin, SetDownloadBehaviorBehavior,
            SetDownloadBehaviorParams,
        },
        page::FrameId,
    },
};
use serde::Deserialize;
use std::{path::PathBuf, time::Duration};

/// How long the browser may take to begin to tell.
const BROWSER: Duration = Duration::from_secs(5);

/// What happens to downloads. The browser tells of all of them: whoever listens looks at the frames.
#[derive(Debug)]
pub struct Downloads {
    link: Link,
    events: Events,
}

/// Something that happened to a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DownloadEvent {
    /// One began.
    Began {
        /// Its name in what follows.
        guid: String,
        /// The frame that asked for it.
        frame: FrameId,
        /// Where from.
        url: String,
        /// The name its server or page gave it: a stranger's words.
        name: String,
    },
    /// It is there.
    Done {
        /// Which.
        guid: String,
        /// Where it was put, if the browser says so.
        path: Option<PathBuf>,
        /// Its size in bytes.
        bytes: u64,
    },
    /// It was stopped, by its person or by the network.
    Stopped {
        /// Which.
        guid: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Begin {
    frame_id: FrameId,
    guid: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    suggested_filename: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Progress {
    guid: String,
    #[serde(default)]
    received_bytes: f64,
    #[serde(default)]
    state: String,
    file_path: Option<PathBuf>,
}

impl Downloads {
    /// Listens from now on. Where files go, and whether the browser asks its person, stays as it is.
    ///
    /// # Errors
    ///
    /// [`CallError`].
    pub async fn watch(link: &Link) -> Result<Self, CallError> {
        let events = link.events(None);
        let tell = SetDownloadBehaviorParams {
            events_enabled: Some(true),
            ..SetDownloadBehaviorParams::new(SetDownloadBehaviorBehavior::Default)
        };
        link.call(None, tell, BROWSER).await?;
        Ok(Self { link: link.clone(), events })
    }

    /// Stops one at once. A small file may be there before the browser hears of it: what became of it is told next.
    pub fn stop(&self, guid: &str) {
        self.link.tell(None, CancelDownloadParams::new(guid));
    }

    /// The next one; `None` when the connection is over. Dropping the future loses none.
    pub async fn next(&mut self) -> Option<DownloadEvent> {
        loop {
            let event = match self.events.next().await {
                Heard::Over => return None,
                Heard::Missed(missed) => {
                    tracing::debug!(missed, "news of downloads were missed");
                    continue;
                }
                Heard::Event(event) => event,
            };
            match event.method.as_ref() {
                EventDownloadWillBegin::IDENTIFIER => {
                    let Some(Begin { frame_id: frame, guid, url, suggested_filename: name }) = event.read()
                    else {
                        continue;
                    };
                    return Some(DownloadEvent::Began { guid, frame, url, name });
                }
                EventDownloadProgress::IDENTIFIER => {
                    let Some(Progress { guid, received_bytes, state, file_path: path }) = event.read() else {
                        continue;
                    };
                    match state.as_str() {
                        // Sizes are whole numbers and far below where a float loses them.
                        "completed" => {
                            return Some(DownloadEvent::Done { guid, path, bytes: received_bytes as u64 });
                        }
                        "canceled" => return Some(DownloadEvent::Stopped { guid }),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }
}
