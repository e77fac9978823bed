//! Warns on standard error when `policy.toml` is not in effect, in a run without a window.

use crate::output::print_error;
use octo_core::{Octo, Subscription};
use octo_protocol::{ApiError, GetPolicy, Language, StoredTopic, Update};
use tokio_util::task::AbortOnDropHandle;

/// Reports the file's current problems, and later ones whenever they change, as long as the result is kept.
pub(super) async fn watch_rules(octo: &Octo, language: Language) -> Result<AbortOnDropHandle<()>, ApiError> {
    let watch = octo.subscribe(StoredTopic::Settings).await?;
    let fault = octo.call(GetPolicy {}).await?.fault;
    if let Some(fault) = &fault {
        print_error(language, fault);
    }
    Ok(AbortOnDropHandle::new(tokio::spawn(follow_rules(watch, language, fault))))
}

async fn follow_rules(mut watch: Subscription, language: Language, mut reported: Option<ApiError>) {
    while let Some(updates) = watch.next().await {
        for update in updates {
            if let Update::Policy { policy } = update
                && policy.fault != reported
            {
                if let Some(fault) = &policy.fault {
                    print_error(language, fault);
                }
                reported = policy.fault;
            }
        }
    }
}
