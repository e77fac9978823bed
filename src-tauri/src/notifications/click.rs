//! Handles a click on a notification or one of its buttons.

use crate::{
    setup::Core,
    shell_state::{ShellState, open_in_window},
};
use octo_desktop::{NotificationAction, NotificationSubject};
use octo_protocol::{OpenRequest, RetryTurn, Stop};
use tauri::{AppHandle, Manager as _};

/// The buttons, by the names under which the system reports them.
pub(super) const BUTTONS: [(&str, NotificationAction); 3] = [
    ("open", NotificationAction::Open),
    ("stop", NotificationAction::Stop),
    ("again", NotificationAction::TryAgain),
];

/// Returns the action of the button with this name.
pub(super) fn action_of(name: &str) -> Option<NotificationAction> {
    BUTTONS.iter().find(|(button, _)| *button == name).map(|(_, action)| *action)
}

/// Carries out a click on a notification or its button. If the action is not possible, the session is shown, which
/// says why.
pub(super) fn handle_click(app: &AppHandle, subject: NotificationSubject, action: NotificationAction) {
    let session = match subject {
        NotificationSubject::Session(session) => session,
        // The tasks page offers all further actions.
        NotificationSubject::Run(_) => return open_in_window(app, OpenRequest::OpenTasks),
    };
    let open = || open_in_window(app, OpenRequest::OpenSession { session });
    let Some(octo) = app.try_state::<Core>().and_then(|core| core.running()) else { return open() };
    if action == NotificationAction::Open {
        return open();
    }
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let result = match action {
            NotificationAction::Open => Ok(()),
            NotificationAction::Stop => {
                app.state::<ShellState>().stop(session);
                octo.call(Stop { session }).await.map(|_| ())
            }
            NotificationAction::TryAgain => octo.call(RetryTurn { session }).await.map(|_| ()),
        };
        if let Err(error) = result {
            tracing::info!(%session, %error, "the action of a notification failed");
            open_in_window(&app, OpenRequest::OpenSession { session });
        }
    });
}
