//! Requests only a desktop can perform.

use super::{Octo, json};
use octo_protocol::{ApiError, HostRequest};
use serde_json::Value;

impl Octo {
    pub(super) async fn host(&self, request: HostRequest) -> Result<Value, ApiError> {
        json(self.base.config.host.perform(request).await?)
    }
}
