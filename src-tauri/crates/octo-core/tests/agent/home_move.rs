//! The home's location: a restored copy, a home move, and obstacles to both.

use super::rig::{Rig, config, open, process};
use octo_core::{Config, HomeLocation, Octo};
use octo_protocol::{
    BackUpHome, CancelHomePlan, DeleteOldHome, EraseHome, GetHomeState, HomePlan, InspectHomeCopy,
    ListSessions, Mode, MoveHome, RestoreHome, SessionFilter, TurnEnd,
};
use octo_testkit::{Script, TempHome};
use octo_workspace::carry_out_home_plan;
use std::{fs, path::Path};

fn text(path: &Path) -> String {
    path.to_str().expect("Unicode").to_owned()
}

async fn session_count(octo: &Octo) -> usize {
    let list = ListSessions { query: String::new(), filter: SessionFilter::default(), offset: 0, limit: 10 };
    octo.call(list).await.expect("the sessions").sessions.len()
}

/// Carries out the planned change of a home, then starts Octo in it.
async fn start_in(home: &TempHome) -> Octo {
    let settled = carry_out_home_plan(HomeLocation::by_octo(home.octo()).expect("a home"))
        .expect("the plan is carried out");
    let config = Config { home: settled.location.home.clone(), home_at_start: settled, ..config(home) };
    Octo::start(config).await.expect("the application starts")
}

#[test]
fn a_backup_is_inspected_and_restored_at_the_next_start() {
    let (home, aside) = process(plan_restore());
    process(async {
        let octo = start_in(&home).await;
        assert!(octo.remarks().is_empty(), "{:?}", octo.remarks());
        assert_eq!(session_count(&octo).await, 1, "as of the copy");
        let state = octo.call(GetHomeState {}).await.expect("the state of the home");
        assert_eq!((state.planned, state.kept.len()), (None, 1));
        assert_eq!(state.kept[0].path, aside);
        let error =
            octo.call(DeleteOldHome { path: text(&home.work()) }).await.expect_err("it is not an old home");
        assert_eq!(error.key, "home.not_kept");
        let deletion = octo.call(DeleteOldHome { path: aside.clone() }).await.expect("it is deleted");
        assert_eq!((deletion.left, deletion.state.kept), (vec![], vec![]));
        assert!(!Path::new(&aside).exists());
        octo.shutdown().await;
    });
}

/// Plans to restore a backup. Returns the home, and the path where its present content will be set aside.
async fn plan_restore() -> (TempHome, String) {
    let mut rig = Rig::new(Script::new().text("One.").text("Two.")).await;
    rig.start(Mode::Autonomous, "one").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let copy = rig.octo.call(BackUpHome { to: text(&rig.home.work()) }).await.expect("a copy");
    rig.start(Mode::Autonomous, "two").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(session_count(&rig.octo).await, 2);

    let inspected_copy =
        rig.octo.call(InspectHomeCopy { from: copy.path.clone() }).await.expect("the backup is inspected");
    assert_eq!(
        (inspected_copy.sessions, inspected_copy.octo.as_deref()),
        (1, Some(env!("CARGO_PKG_VERSION")))
    );
    assert_eq!(inspected_copy.files, copy.files + 1, "and the text on how to restore it");
    let none = rig.octo.call(InspectHomeCopy { from: text(&rig.home.work()) }).await.expect_err("no copy");
    assert_eq!(none.key, "home.no_copy");

    rig.octo.call(RestoreHome { from: copy.path.clone() }).await.expect("it is planned");
    let again =
        rig.octo.call(RestoreHome { from: copy.path.clone() }).await.expect_err("another plan exists");
    assert_eq!(again.key, "home.planned");
    // The plan can be cancelled and made again.
    assert_eq!(rig.octo.call(CancelHomePlan {}).await.expect("the plan is cancelled").planned, None);
    let planned = rig.octo.call(RestoreHome { from: copy.path.clone() }).await.expect("it is planned");
    let Some(HomePlan::Restore { aside, .. }) = planned.planned else { panic!("{planned:?}") };
    rig.octo.shutdown().await;
    (rig.home, aside)
}

#[test]
fn a_home_moves_and_can_no_longer_be_used_at_its_old_location() {
    let home = TempHome::new();
    let to = home.work().join("new");
    fs::create_dir(&to).expect("a folder");
    process(async {
        let octo = start_in(&home).await;
        let planned = octo.call(MoveHome { to: text(&to) }).await.expect("it is planned");
        assert_eq!((planned.planned, planned.move_obstacle), (Some(HomePlan::Move { to: text(&to) }), None));
        octo.shutdown().await;
    });
    process(async {
        let octo = start_in(&home).await;
        let state = octo.call(GetHomeState {}).await.expect("the state of the home");
        assert_eq!((state.home.as_str(), state.kept.len()), (text(&to).as_str(), 1));
        let error = Octo::start(config(&home)).await.err().expect("it is no longer used");
        assert_eq!(error.key, "start.home_moved");
        // Deleting everything also deletes the copy set aside, and forgets its location.
        octo.call(EraseHome { confirm: text(&to) }).await.expect("it is deleted");
        assert!(!home.octo().join("octo.db").exists() && !to.join("octo.db").exists());
    });
    process(async {
        let reopened = start_in(&home).await;
        assert_eq!(
            reopened.call(GetHomeState {}).await.expect("the state of the home").home,
            text(&home.octo())
        );
        reopened.shutdown().await;
    });
}

#[tokio::test]
async fn a_home_in_use_elsewhere_or_set_by_the_variable_is_not_moved_or_restored() {
    let home = TempHome::new();
    let one = open(&home).await;
    let state = one.call(GetHomeState {}).await.expect("the state of the home");
    assert_eq!(state.move_obstacle.map(|error| error.key).as_deref(), Some("home.by_variable"));
    let error =
        one.call(MoveHome { to: text(&home.work()) }).await.expect_err("the home is set by the variable");
    assert_eq!(error.key, "home.by_variable");
    let copy = one.call(BackUpHome { to: text(&home.work()) }).await.expect("a copy").path;
    let other = open(&home).await;
    let error = one.call(RestoreHome { from: copy }).await.expect_err("another process uses it");
    assert_eq!(error.key, "home.change_in_use");
    for octo in [one, other] {
        assert_eq!(octo.call(GetHomeState {}).await.expect("the state of the home").planned, None);
        octo.shutdown().await;
    }
}
