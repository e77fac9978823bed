//! Table-driven tests of tracker: none appears twice or for a visible session.

mod runs;

use super::*;
use SessionStatus::{Failed, Idle, Running, Waiting};
use proptest::prelude::*;

fn line(id: SessionId, status: SessionStatus) -> SessionInfo {
    SessionInfo {
        title: "Tidy the notes".to_owned(),
        status,
        ..SessionInfo::new(id, "/home/mei/notes", Source::Window, 0)
    }
}

fn here(session: Option<SessionId>) -> PersonView {
    PersonView { attention: Attention::Here, session }
}

fn kind(command: Option<NotificationCommand>) -> Option<NotificationKind> {
    match command {
        Some(NotificationCommand::Show { kind, .. }) => Some(kind),
        Some(NotificationCommand::Withdraw { .. }) | None => None,
    }
}

#[test]
fn one_notification_for_each_change_that_is_not_seen() {
    use NotificationKind::{Failed as F, Finished as D, Question as Q};
    let id = SessionId::new();
    let (away, other, this) = (PersonView::default(), here(None), here(Some(id)));
    for (before, after, view, reported) in [
        (Running, Waiting, away, Some(Q)),
        (Running, Waiting, other, Some(Q)),
        (Running, Waiting, this, None),
        (Idle, Waiting, away, Some(Q)),
        (Waiting, Waiting, away, None),
        (Running, Idle, away, Some(D)),
        (Running, Idle, other, None),
        (Running, Idle, this, None),
        (Waiting, Idle, away, Some(D)),
        (Running, Failed, away, Some(F)),
        (Running, Failed, other, None),
        (Idle, Running, away, None),
        (Idle, Idle, away, None),
        (Failed, Failed, away, None),
        (Failed, Running, away, None),
        (Waiting, Running, away, None),
    ] {
        let mut tracker = NotificationTracker::default();
        tracker.session_changed(&line(id, before));
        tracker.set_view(view);
        assert_eq!(
            kind(tracker.session_changed(&line(id, after))),
            reported,
            "{before:?} {after:?} {view:?}"
        );
        assert_eq!(kind(tracker.session_changed(&line(id, after))), None, "told twice: {before:?} {after:?}");
    }
}

#[test]
fn settings_choose_the_notifications() {
    let id = SessionId::new();
    let off = Switch::Off;
    for (wanted, end) in [
        (NoticeSettings { question: off, ..NoticeSettings::default() }, Waiting),
        (NoticeSettings { finished: off, ..NoticeSettings::default() }, Idle),
        (NoticeSettings { failed: off, ..NoticeSettings::default() }, Failed),
    ] {
        let mut tracker = NotificationTracker::default();
        tracker.set_wanted(wanted);
        tracker.session_changed(&line(id, Running));
        assert_eq!(tracker.session_changed(&line(id, end)), None, "{end:?}");
    }
}

#[test]
fn a_task_setting_overrides_the_notifications() {
    use NotificationKind::{Failed, Finished, Question};
    use octo_protocol::TaskNotifications::{All, Nothing, Trouble};
    for (task, reported) in
        [(All, vec![Question, Finished, Failed]), (Trouble, vec![Question, Failed]), (Nothing, vec![])]
    {
        let kinds: Vec<_> =
            [Question, Finished, Failed].into_iter().filter(|kind| kind.is_allowed_by(task)).collect();
        assert_eq!(kinds, reported, "{task:?}");
    }
}

#[test]
fn a_notification_is_withdrawn_when_seen_or_over() {
    let id = SessionId::new();
    let withdrawal = Some(NotificationCommand::Withdraw { subject: NotificationSubject::Session(id) });
    let asked = || {
        let mut tracker = NotificationTracker::default();
        tracker.session_changed(&line(id, Running));
        assert_eq!(kind(tracker.session_changed(&line(id, Waiting))), Some(NotificationKind::Question));
        tracker
    };
    assert_eq!(asked().set_view(here(Some(id))), withdrawal);
    assert_eq!(asked().set_view(here(None)), None);
    assert_eq!(asked().session_changed(&line(id, Running)), withdrawal, "answered elsewhere");
    assert_eq!(asked().session_removed(id), withdrawal);
    let mut seen = asked();
    seen.set_view(here(Some(id)));
    assert_eq!(seen.session_changed(&line(id, Running)), None, "withdrawn once");
}

#[test]
fn only_missed_runs_are_reported_at_start() {
    let (a, b) = (SessionId::new(), SessionId::new());
    let mut tracker = NotificationTracker::default();
    assert_eq!(tracker.start_over(&[line(a, Waiting), line(b, Running)]), []);
    assert_eq!(tracker.work(), CurrentWork { running: 1, waiting: 1, missed_runs: 0 });
    let commands = tracker.start_over(&[line(a, Waiting), line(b, Idle)]);
    assert_eq!(
        commands.into_iter().map(Some).map(kind).collect::<Vec<_>>(),
        [Some(NotificationKind::Finished)]
    );
    assert_eq!(tracker.work(), CurrentWork { running: 0, waiting: 1, missed_runs: 0 });
    tracker.start_over(&[]);
    assert!(tracker.work().is_none());
}

#[test]
fn a_turn_the_person_stopped_is_not_reported() {
    let (a, b) = (SessionId::new(), SessionId::new());
    let mut tracker = NotificationTracker::default();
    tracker.session_changed(&line(a, Running));
    tracker.session_changed(&line(b, Waiting));
    assert_eq!(tracker.stop_all(), [a, b], "nothing of them runs in this process");
    assert_eq!(kind(tracker.session_changed(&line(a, Idle))), None);
    assert_eq!(kind(tracker.session_changed(&line(b, Idle))), None);
    tracker.session_changed(&line(a, Running));
    assert_eq!(
        kind(tracker.session_changed(&line(a, Idle))),
        Some(NotificationKind::Finished),
        "only that turn was stopped"
    );
}

#[test]
fn a_turn_stopped_from_its_notification_is_not_reported() {
    let id = SessionId::new();
    let mut tracker = NotificationTracker::default();
    tracker.session_changed(&line(id, Running));
    assert_eq!(kind(tracker.session_changed(&line(id, Waiting))), Some(NotificationKind::Question));
    tracker.stop(id);
    assert_eq!(
        tracker.session_changed(&line(id, Idle)),
        Some(NotificationCommand::Withdraw { subject: NotificationSubject::Session(id) })
    );
    tracker.session_changed(&line(id, Running));
    assert_eq!(
        kind(tracker.session_changed(&line(id, Failed))),
        Some(NotificationKind::Failed),
        "only that turn was stopped"
    );
}

#[test]
fn a_notification_offers_opening_first_and_never_allowing() {
    for kind in [NotificationKind::Question, NotificationKind::Finished, NotificationKind::Failed] {
        assert_eq!(kind.actions().first(), Some(&NotificationAction::Open), "{kind:?}");
    }
    assert_eq!(NotificationKind::Question.actions(), [NotificationAction::Open, NotificationAction::Stop]);
    assert_eq!(NotificationKind::Failed.actions(), [NotificationAction::Open, NotificationAction::TryAgain]);
}

#[test]
fn a_sub_agent_is_part_of_its_session() {
    let id = SessionId::new();
    let mut tracker = NotificationTracker::default();
    for status in [Running, Waiting, Idle] {
        let info = SessionInfo { source: Source::SubAgent, ..line(id, status) };
        assert_eq!(tracker.session_changed(&info), None);
        assert!(tracker.work().is_none());
    }
}

proptest! {
    /// For any order of entries: a notification is shown only for a change, and withdrawn only if one is shown.
    #[test]
    fn shown_and_withdrawn_in_turn(
        steps in proptest::collection::vec((0..3_usize, 0..4_usize, 0..3_usize), 0..60)
    ) {
        let ids = [SessionId::new(), SessionId::new(), SessionId::new()];
        let statuses = [Idle, Running, Waiting, Failed];
        let mut tracker = NotificationTracker::default();
        let mut last = BTreeMap::new();
        let mut open = BTreeSet::new();
        for (which, status, looks) in steps {
            let (id, status) = (ids[which], statuses[status]);
            let looked = match looks {
                0 => tracker.set_view(PersonView::default()),
                1 => tracker.set_view(here(Some(id))),
                _ => None,
            };
            let command = tracker.session_changed(&line(id, status));
            for command in [looked, command.clone()].into_iter().flatten() {
                match command {
                    NotificationCommand::Show { subject: of, .. } => {
                        open.insert(of);
                    }
                    NotificationCommand::Withdraw { subject: of } => prop_assert!(open.remove(&of)),
                }
            }
            if let Some(NotificationCommand::Show { .. }) = command {
                prop_assert_ne!(last.get(&id), Some(&status));
            }
            last.insert(id, status);
        }
    }
}
