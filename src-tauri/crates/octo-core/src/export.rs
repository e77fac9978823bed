//! Gathers the content of an export.

use crate::{base::Base, services::Services};
use octo_protocol::{ApiError, SessionId};
use octo_store::StoreError;
use octo_transfer::{ExportedSession, SessionContent};

/// Gathers the whole session.
///
/// # Errors
/// `session.unknown`, `key.not_read`, `export.too_large`.
pub(crate) async fn gather(
    base: &Base,
    services: &Services,
    session: SessionId,
) -> Result<ExportedSession, ApiError> {
    let result = base.store.read(move |reader| {
        let Some(info) = reader.session(session)? else {
            return Err(StoreError::UnknownSession(session));
        };
        let context = reader.context_of(session)?.into_iter().map(|message| message.id).collect();
        Ok(SessionContent { info, page: reader.whole_transcript(session)?, context })
    });
    let content = result.await?;
    let secrets = services.secrets(&base.config.secret_variables).await?;
    let pictures = base.images_of(&content.page.messages).await;
    let model = content.info.model.and_then(|id| services.models.vendor_name(id));
    ExportedSession::new(content, model, pictures, secrets)
}
