//! Reports sessions that cannot be stored: these reports cannot be events, since events are stored.

use octo_core::Octo;
use octo_protocol::{ApiError, ServerLine, SessionId, StoredTopic, Trouble, TroubleStage, Update};
use std::collections::HashMap;
use tokio::sync::mpsc;

/// Current trouble of each session.
type SessionTroubles = HashMap<SessionId, Trouble>;

/// Writes a line whenever a session cannot be stored, ends for that reason, or can be stored again.
pub(super) async fn report_troubles(octo: Octo, lines: mpsc::UnboundedSender<ServerLine>) {
    let mut current = SessionTroubles::new();
    let mut watch = match octo.subscribe(StoredTopic::Sessions).await {
        Ok(watch) => watch,
        Err(error) => {
            // A missing reader is not an error.
            let _gone = lines.send(ServerLine::Error { id: None, error });
            return;
        }
    };
    while let Some(updates) = watch.next().await {
        let now = apply_updates(&current, updates);
        for error in change_messages(&current, &now) {
            if lines.send(ServerLine::Error { id: None, error }).is_err() {
                return;
            }
        }
        current = now;
    }
}

/// Returns the troubles after these updates.
fn apply_updates(current: &SessionTroubles, updates: Vec<Update>) -> SessionTroubles {
    let mut now = current.clone();
    for update in updates {
        match update {
            // The complete list follows.
            Update::Snapshot { .. } => now.clear(),
            Update::Trouble { session, trouble: Some(trouble) } => {
                now.insert(session, trouble);
            }
            Update::Trouble { session, trouble: None } => {
                now.remove(&session);
            }
            _ => {}
        }
    }
    now
}

/// Returns the messages to the client about a change.
fn change_messages(previous: &SessionTroubles, now: &SessionTroubles) -> Vec<ApiError> {
    let new_troubles = now.iter().filter(|(session, trouble)| previous.get(*session) != Some(*trouble));
    let new_messages = new_troubles.map(|(session, trouble)| {
        let key = match trouble.stage {
            TroubleStage::Waiting => "serve.session_waits",
            TroubleStage::Ended => "serve.session_ended",
        };
        let error = ApiError::new(key).arg("session", session).arg("cause", &trouble.error.key);
        match &trouble.error.detail {
            Some(detail) => error.detail(detail),
            None => error,
        }
    });
    let ended = previous.keys().filter(|session| !now.contains_key(*session));
    new_messages
        .chain(ended.map(|session| ApiError::new("serve.session_stored").arg("session", session)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(session: SessionId, stage: Option<TroubleStage>) -> Update {
        let error = ApiError::new("store.full").detail("no space");
        Update::Trouble { session, trouble: stage.map(|stage| Trouble { error, stage }) }
    }

    #[test]
    fn each_change_is_reported_once_with_session_and_cause() {
        let session = SessionId::new();
        let mut current = SessionTroubles::new();
        let mut apply = |updates: Vec<Update>| {
            let now = apply_updates(&current, updates);
            let messages = change_messages(&current, &now);
            current = now;
            messages.into_iter().map(|error| (error.key.clone(), error)).collect::<Vec<_>>()
        };
        let keys =
            |messages: &[(String, ApiError)]| messages.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
        let waits = apply(vec![trouble(session, Some(TroubleStage::Waiting))]);
        assert_eq!(keys(&waits), ["serve.session_waits"]);
        assert_eq!(waits[0].1.args["session"], session.to_string());
        assert_eq!(waits[0].1.args["cause"], "store.full");
        assert_eq!(waits[0].1.detail.as_deref(), Some("no space"));
        assert_eq!(apply(vec![trouble(session, Some(TroubleStage::Waiting))]), []);
        assert_eq!(
            keys(&apply(vec![trouble(session, Some(TroubleStage::Ended))])),
            ["serve.session_ended"],
            "it goes on to its end"
        );
        assert_eq!(keys(&apply(vec![trouble(session, None)])), ["serve.session_stored"]);
        assert_eq!(apply(vec![trouble(session, None)]), []);
    }
}
