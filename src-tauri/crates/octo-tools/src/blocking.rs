//! Runs blocking file work on separate threads, not on those that serve conversations.

use crate::ToolError;

/// Runs `work` on a thread that may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(ToolError::new(format!("The tool failed inside: {error}"))))
}
