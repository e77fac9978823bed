//! What a press on a notice or on a button of it does.

use crate::{
    desk::{Desk, run_errand},
    setup::Core,
};
use octo_desktop::{Deed, Subject};
use octo_protocol::{Errand, RetryTurn, Stop};
use tauri::{AppHandle, Manager as _};

/// The buttons by the names the system tells of them with.
pub(super) const BUTTONS: [(&str, Deed); 3] =
    [("open", Deed::Open), ("stop", Deed::Stop), ("again", Deed::TryAgain)];

/// What the button of a name does.
pub(super) fn deed_of(name: &str) -> Option<Deed> {
    BUTTONS.iter().find(|(known, _)| *known == name).map(|(_, deed)| *deed)
}

/// The person pressed a notice or a button of it. What cannot be done is shown: the session says why.
pub(super) fn pressed(app: &AppHandle, of: Subject, deed: Deed) {
    let session = match of {
        Subject::Session(session) => session,
        // All there is to do about it is on the page of tasks.
        Subject::Run(_) => return run_errand(app, Errand::OpenTasks),
    };
    let open = || run_errand(app, Errand::OpenSession { session });
    let Some(octo) = app.try_state::<Core>().and_then(|core| core.running()) else { return open() };
    if deed == Deed::Open {
        return open();
    }
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let done = match deed {
            Deed::Open => Ok(()),
            Deed::Stop => {
                app.state::<Desk>().stop(session);
                octo.call(Stop { session }).await.map(|_| ())
            }
            Deed::TryAgain => octo.call(RetryTurn { session }).await.map(|_| ()),
        };
        if let Err(error) = done {
            tracing::info!(%session, %error, "a notice's button did nothing");
            run_errand(&app, Errand::OpenSession { session });
        }
    });
}
