#![expect(clippy::indexing_slicing, reason = "tests report by failing")]

use super::*;
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

fn open(limit: u32) -> TurnLimiter {
    let admission = TurnLimiter::new(limit, Change::default());
    admission.open();
    admission
}

fn silent(admission: &TurnLimiter, turn: TurnId) -> Permit {
    admission.request_permit(turn, || {})
}

#[test]
fn what_began_first_comes_first_whenever_it_asked() {
    let admission = open(1);
    let turns: Vec<TurnId> = (0..4).map(|_| TurnId::new()).collect();
    let first = silent(&admission, turns[1]);
    assert!(first.is_admitted());
    let (late, early) = (silent(&admission, turns[3]), silent(&admission, turns[0]));
    let middle = silent(&admission, turns[2]);
    let ahead = |turn: usize| admission.ahead(turns[turn]);
    assert_eq!([ahead(0), ahead(1), ahead(2), ahead(3)], [Some(0), None, Some(1), Some(2)]);
    drop(first);
    assert!(early.is_admitted() && !middle.is_admitted() && !late.is_admitted());
    // A turn that has left the queue is skipped.
    drop(middle);
    drop(early);
    assert!(late.is_admitted());
    assert_eq!(admission.permits(), PermitCount { taken: 1, limit: 1 });
}

#[test]
fn the_queue_keeps_the_order_of_collected_turns_and_admits_none_at_the_end() {
    let admission = TurnLimiter::new(2, Change::default());
    let turns: Vec<TurnId> = (0..3).map(|_| TurnId::new()).collect();
    let permits: Vec<Permit> = turns.iter().rev().map(|turn| silent(&admission, *turn)).collect();
    assert!(permits.iter().all(|permit| !permit.is_admitted()));
    admission.open();
    let admitted: Vec<bool> = permits.iter().map(Permit::is_admitted).collect();
    assert_eq!(admitted, [false, true, true], "the last of the three waits");
    admission.close();
    drop(permits);
    assert!(!silent(&admission, TurnId::new()).is_admitted());
    assert_eq!(admission.permits().taken, 0);
}

#[test]
fn another_limit_takes_no_place_away_and_is_used_at_once() {
    let admission = open(2);
    let permits: Vec<Permit> = (0..4).map(|_| silent(&admission, TurnId::new())).collect();
    let inside = |permits: &[Permit]| permits.iter().filter(|permit| permit.is_admitted()).count();
    admission.set_limit(1);
    assert_eq!(inside(&permits), 2);
    admission.set_limit(3);
    assert_eq!(inside(&permits), 3);
}

#[test]
fn the_callback_runs_once_and_only_for_a_turn_that_waited() {
    let admission = open(1);
    let admitted = Arc::new(AtomicUsize::new(0));
    let ask = || {
        let admitted = Arc::clone(&admitted);
        admission.request_permit(TurnId::new(), move || {
            admitted.fetch_add(1, Ordering::SeqCst);
        })
    };
    let (one, two, three) = (ask(), ask(), ask());
    assert_eq!(admitted.load(Ordering::SeqCst), 0);
    drop(two);
    drop(one);
    assert_eq!(admitted.load(Ordering::SeqCst), 1, "for the third; the second left before");
    assert!(three.is_admitted());
}

/// An operation on the queue.
#[derive(Clone, Debug)]
enum QueueOperation {
    Ask(usize),
    Leave(usize),
    Limit(usize),
}

fn steps() -> impl Strategy<Value = Vec<QueueOperation>> {
    let step = prop_oneof![
        3 => (0..12_usize).prop_map(QueueOperation::Ask),
        2 => (0..12_usize).prop_map(QueueOperation::Leave),
        1 => (1..5_usize).prop_map(QueueOperation::Limit),
    ];
    prop::collection::vec(step, 0..80)
}

proptest! {
    #[test]
    fn no_place_is_free_while_somebody_waits_and_none_is_given_beyond_the_limit(steps in steps()) {
        let turns: Vec<TurnId> = (0..12).map(|_| TurnId::new()).collect();
        let (admitted, waiting) = (BTreeSet::new(), BTreeSet::new());
        let mut queue = PermitQueue { mode: LimiterMode::Open, limit: 2, admitted, waiting };
        for step in steps {
            match step {
                QueueOperation::Ask(turn) if !queue.admitted.contains(&turns[turn]) => {
                    queue.waiting.insert(turns[turn]);
                }
                QueueOperation::Ask(_) => {}
                QueueOperation::Leave(turn) => queue.leave(turns[turn]),
                QueueOperation::Limit(limit) => queue.limit = limit,
            }
            let before = queue.admitted.len();
            let admitted = queue.admit();
            prop_assert!(queue.admitted.len() <= queue.limit.max(before));
            prop_assert!(queue.waiting.is_empty() || queue.admitted.len() >= queue.limit);
            prop_assert!(queue.admitted.is_disjoint(&queue.waiting));
            if let (Some(last), Some(next)) = (admitted.last(), queue.waiting.first()) {
                prop_assert!(last < next, "whoever waits began later than who was let in");
            }
        }
    }
}
