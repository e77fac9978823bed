//! A running download of an update: its progress, its failure, and cancellation by the person.

use octo_protocol::UpdateDownload;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Maximum time in which a download may receive nothing.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// A download in progress. Clones share it.
#[derive(Clone)]
pub(super) struct UpdateTransfer(Arc<UpdateTransferInner>);

struct UpdateTransferInner {
    version: String,
    received: AtomicU64,
    /// Total size in bytes; 0 if the server does not report it.
    total: AtomicU64,
    progress: Notify,
    cancelled: CancellationToken,
}

/// The reason why a download failed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TransferError {
    /// The person cancelled it.
    Cancelled,
    /// The signature, or this build's key, does not match the download.
    Untrusted(String),
    /// Another failure.
    Failed(String),
}

impl From<tauri_plugin_updater::Error> for TransferError {
    fn from(error: tauri_plugin_updater::Error) -> Self {
        use tauri_plugin_updater::Error;
        match error {
            Error::Minisign(_)
            | Error::Base64(_)
            | Error::SignatureUtf8(_)
            | Error::SignedVersionMismatch { .. }
            | Error::MissingSignedVersion => Self::Untrusted(error.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl UpdateTransfer {
    pub fn new(version: &str) -> Self {
        Self(Arc::new(UpdateTransferInner {
            version: version.to_owned(),
            received: AtomicU64::new(0),
            total: AtomicU64::new(0),
            progress: Notify::new(),
            cancelled: CancellationToken::new(),
        }))
    }

    /// Records `bytes` more bytes received, and the total if known.
    pub fn record_progress(&self, bytes: usize, total: Option<u64>) {
        self.0.received.fetch_add(bytes as u64, Ordering::Relaxed);
        self.0.total.store(total.unwrap_or_default(), Ordering::Relaxed);
        self.0.progress.notify_one();
    }

    /// Returns the progress.
    pub fn state(&self) -> UpdateDownload {
        let total = self.0.total.load(Ordering::Relaxed);
        UpdateDownload {
            version: self.0.version.clone(),
            received: self.0.received.load(Ordering::Relaxed),
            total: (total > 0).then_some(total),
        }
    }

    /// Cancels the download for the person.
    pub fn cancel(&self) {
        self.0.cancelled.cancel();
    }

    /// Waits for the download while data arrives and it is not cancelled.
    pub async fn run<T, E: Into<TransferError>>(
        &self,
        download: impl Future<Output = Result<T, E>>,
    ) -> Result<T, TransferError> {
        let mut download = std::pin::pin!(download);
        loop {
            tokio::select! {
                biased;
                () = self.0.cancelled.cancelled() => return Err(TransferError::Cancelled),
                fetched = &mut download => return fetched.map_err(Into::into),
                waited = tokio::time::timeout(STALL_TIMEOUT, self.0.progress.notified()) => if waited.is_err() {
                    return Err(TransferError::Failed(format!("nothing came for {} seconds", STALL_TIMEOUT.as_secs())));
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A download of 100 bytes at a time, with pauses between.
    async fn download(transfer: &UpdateTransfer, pauses: &[u64]) -> Result<&'static str, TransferError> {
        for pause in pauses {
            tokio::time::sleep(Duration::from_secs(*pause)).await;
            transfer.record_progress(100, Some(300));
        }
        Ok("whole")
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_transfer_succeeds_and_a_stalled_one_fails() {
        let transfer = UpdateTransfer::new("9.1.0");
        assert_eq!(
            transfer.state(),
            UpdateDownload { version: "9.1.0".to_owned(), received: 0, total: None }
        );
        assert_eq!(transfer.run(download(&transfer, &[59, 59, 59])).await, Ok("whole"));
        assert_eq!(
            transfer.state(),
            UpdateDownload { version: "9.1.0".to_owned(), received: 300, total: Some(300) }
        );

        let transfer = UpdateTransfer::new("9.1.0");
        let ended = transfer.run(download(&transfer, &[1, 61])).await;
        assert!(
            matches!(&ended, Err(TransferError::Failed(reason)) if reason.contains("60 seconds")),
            "{ended:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancelled_transfer_ends_at_once_and_a_failed_one_has_its_reason() {
        let transfer = UpdateTransfer::new("9.1.0");
        let clone = transfer.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(5)).await;
            clone.cancel();
        });
        let started = tokio::time::Instant::now();
        assert_eq!(transfer.run(download(&transfer, &[4, 4])).await, Err(TransferError::Cancelled));
        assert_eq!(started.elapsed(), Duration::from_secs(5));

        use tauri_plugin_updater::Error;
        for (error, trusted) in [
            (Error::Network("gone".to_owned()), true),
            (Error::InvalidUpdaterFormat, true),
            (Error::SignatureUtf8("?".to_owned()), false),
            (Error::MissingSignedVersion, false),
        ] {
            let message = error.to_string();
            let ended = UpdateTransfer::new("9.1.0").run(async { Err::<(), _>(error) }).await;
            let expected =
                if trusted { TransferError::Failed(message) } else { TransferError::Untrusted(message) };
            assert_eq!(ended, Err(expected));
        }
    }
}
