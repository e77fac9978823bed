//! Downloads, which the browser saves into the folder the person chose.

use crate::{
    CallError, Link, NextEvent, SessionEvents,
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

/// Timeout for enabling download events.
const ENABLE_TIMEOUT: Duration = Duration::from_secs(5);

/// Subscription to download events. The browser reports all downloads; the caller filters by frame.
#[derive(Debug)]
pub struct Downloads {
    link: Link,
    events: SessionEvents,
}

/// A download event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DownloadEvent {
    /// A download began.
    Began {
        /// The download's id in later events.
        guid: String,
        /// The frame that asked for it.
        frame: FrameId,
        /// The source address.
        url: String,
        /// The file name given by the server or page; untrusted.
        name: String,
    },
    /// The download completed.
    Done {
        /// The download's id.
        guid: String,
        /// The path it was saved to, if the browser reports it.
        path: Option<PathBuf>,
        /// Its size in bytes.
        bytes: u64,
    },
    /// The person or the network stopped the download.
    Stopped {
        /// The download's id.
        guid: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DownloadBeginEvent {
    frame_id: FrameId,
    guid: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    suggested_filename: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DownloadProgressEvent {
    guid: String,
    #[serde(default)]
    received_bytes: f64,
    #[serde(default)]
    state: String,
    file_path: Option<PathBuf>,
}

impl Downloads {
    /// Subscribes to download events from now on. The download folder, and whether the browser asks the person,
    /// stay unchanged.
    ///
    /// # Errors
    ///
    /// [`CallError`].
    pub async fn watch(link: &Link) -> Result<Self, CallError> {
        let events = link.events(None);
        let params = SetDownloadBehaviorParams {
            events_enabled: Some(true),
            ..SetDownloadBehaviorParams::new(SetDownloadBehaviorBehavior::Default)
        };
        link.call(None, params, ENABLE_TIMEOUT).await?;
        Ok(Self { link: link.clone(), events })
    }

    /// Cancels a download immediately. A small file may complete before the browser receives the
    /// command; the next event of the download reports the outcome.
    pub fn stop(&self, guid: &str) {
        self.link.send(None, CancelDownloadParams::new(guid));
    }

    /// Returns the next event, or `None` once the connection has ended. Dropping the future loses no event.
    pub async fn next(&mut self) -> Option<DownloadEvent> {
        loop {
            let event = match self.events.next().await {
                NextEvent::Ended => return None,
                NextEvent::Missed(missed) => {
                    tracing::debug!(missed, "missed events of downloads");
                    continue;
                }
                NextEvent::Event(event) => event,
            };
            match event.method.as_ref() {
                EventDownloadWillBegin::IDENTIFIER => {
                    let Some(DownloadBeginEvent { frame_id: frame, guid, url, suggested_filename: name }) =
                        event.read()
                    else {
                        continue;
                    };
                    return Some(DownloadEvent::Began { guid, frame, url, name });
                }
                EventDownloadProgress::IDENTIFIER => {
                    let Some(DownloadProgressEvent { guid, received_bytes, state, file_path: path }) =
                        event.read()
                    else {
                        continue;
                    };
                    match state.as_str() {
                        // Sizes are whole numbers far below the precision limit of a float.
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
