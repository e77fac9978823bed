//! Runs work that blocks its thread.

use octo_protocol::ApiError;

/// Runs `work` on a thread that may block. If `work` panics, the error is `internal`.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(ApiError::new("internal").detail(error)))
}
