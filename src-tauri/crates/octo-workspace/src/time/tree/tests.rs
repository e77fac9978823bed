use super::*;
use crate::time::bytes::bytes_of;
use octo_protocol::BlobHash;
use proptest::prelude::*;

fn task(number: StepNumber, parent: Option<StepNumber>, kind: StepKind) -> TimeStep {
    TimeStep {
        number,
        parent,
        kind,
        turn: None,
        summary: String::new(),
        folder: b"/p".to_vec(),
        started_at: 0,
        ended_at: Some(0),
        said_after: None,
        lasting_more: 0,
    }
}

fn tree(active: StepNumber, tasks: &[(StepNumber, StepNumber, StepKind)]) -> SessionStepTree {
    let mut steps = vec![task(0, None, StepKind::Start)];
    steps.extend(tasks.iter().map(|(number, parent, kind)| task(*number, Some(*parent), *kind)));
    SessionStepTree::new(TimeSteps { active, conversation: None, last: 99, steps })
}

fn file(content: u32) -> FileImage {
    FileImage::File { blob: BlobHash(content.to_string()), len: 1, mode: 0o644 }
}

fn state(number: StepNumber, moment: StateMoment, image: FileImage) -> RecordedState {
    RecordedState {
        path: bytes_of(Path::new("/p/a")),
        number,
        side: moment,
        source: StateSource::Named,
        image,
    }
}

#[test]
fn chains_undo_and_redo() {
    use StepKind::{Checkpoint, Run, Safety};
    //   0 - 1 - 2 - 3 (checkpoint) - 6
    //        \- 5    \- 4 (safety)
    let steps = [(1, 0, Run), (2, 1, Run), (3, 2, Checkpoint), (4, 2, Safety), (5, 1, Run), (6, 3, Run)];
    for (active, chain, undo, redo) in [
        (0, vec![0], None, Some(1)),
        (1, vec![1, 0], Some(0), Some(5)),
        (2, vec![2, 1, 0], Some(1), Some(3)),
        (3, vec![3, 2, 1, 0], Some(1), Some(6)),
        (4, vec![4, 2, 1, 0], Some(2), None),
        (5, vec![5, 1, 0], Some(1), None),
        (6, vec![6, 3, 2, 1, 0], Some(3), None),
    ] {
        let tree = tree(active, &steps);
        assert_eq!((tree.chain(active), tree.undo(), tree.redo()), (chain, undo, redo), "at {active}");
    }
    assert_eq!(SessionStepTree::default().undo(), None);
    // A damaged row leads nowhere, and causes no endless loop.
    assert_eq!(tree(1, &[(1, 1, Run)]).chain(1), [1]);
}

#[test]
fn the_end_of_a_task_is_the_nearest_known_state_else_the_first_before() {
    use StateMoment::{After, Before, Left};
    let path = Path::new("/p/a");
    let records = StateRecords::new(vec![
        state(4, Before, file(30)),
        state(2, After, file(20)),
        state(2, Before, file(10)),
        state(4, After, FileImage::Absent),
        state(3, Left, file(35)),
    ]);
    for (chain, expected) in [
        (&[0][..], file(10)),
        (&[1, 0], file(10)),
        (&[2, 1, 0], file(20)),
        (&[3, 2, 1, 0], file(35)),
        (&[4, 2, 1, 0], FileImage::Absent),
        (&[5, 2, 1, 0], file(20)),
        (&[6, 5, 0], file(10)),
    ] {
        assert_eq!(records.at_end(chain, path), Some(&expected), "{chain:?}");
    }
    assert_eq!(records.at_end(&[0], Path::new("/p/b")), None);
}

#[test]
fn what_others_changed_between_steps_is_known() {
    use StateMoment::{After, Before, Left};
    let path = Path::new("/p/a");
    //   0 - 1 - 2        1 wrote 10, others 15, then 2 wrote 20, 3 began from 10, 4 touched nothing itself
    //       |\- 3
    //        \- 4 - 5
    let records = StateRecords::new(vec![
        state(1, Before, file(0)),
        state(1, After, file(10)),
        state(1, Left, file(15)),
        state(2, Before, file(15)),
        state(2, After, file(20)),
        // Nothing but the step itself changed it.
        state(2, Left, file(20)),
        state(3, Before, file(10)),
        state(3, After, file(30)),
        state(4, Left, file(45)),
    ]);
    for (leaving, going, expected) in [
        (&[2, 1, 0][..], &[2, 1, 0][..], None),
        (&[2, 1, 0], &[1, 0], None),
        (&[2, 1, 0], &[0], Some(file(15))),
        (&[1, 0], &[0], Some(file(15))),
        // Redone from where it began; and from elsewhere.
        (&[1, 0], &[2, 1, 0], None),
        (&[1, 0], &[3, 1, 0], Some(file(15))),
        (&[2, 1, 0], &[3, 1, 0], Some(file(15))),
        (&[4, 1, 0], &[1, 0], Some(file(45))),
        (&[5, 4, 1, 0], &[4, 1, 0], None),
        (&[5, 4, 1, 0], &[0], Some(file(45))),
        (&[0], &[5, 4, 1, 0], None),
    ] {
        assert_eq!(records.by_others(leaving, going, path), expected.as_ref(), "{leaving:?} to {going:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Compares with a model that copies the whole state at the end of every step.
    #[test]
    fn random_trees_resolve_to_the_recorded_state(
        tasks in proptest::collection::vec((any::<usize>(), proptest::collection::vec((0..4usize, 0..5u32), 0..4)), 1..12)
    ) {
        let path = |number: usize| PathBuf::from(format!("/p/{number}"));
        let mut ends: Vec<[FileImage; 4]> = vec![[file(0), FileImage::Absent, file(0), FileImage::Absent]];
        let mut rows = Vec::new();
        let mut states = Vec::new();
        for (index, (from, changes)) in tasks.iter().enumerate() {
            let number = u32::try_from(index + 1).unwrap();
            let parent = from % ends.len();
            rows.push((number, u32::try_from(parent).unwrap(), StepKind::Run));
            let mut current = ends[parent].clone();
            let mut touched = BTreeMap::new();
            for (place, content) in changes {
                touched.entry(*place).or_insert_with(|| current[*place].clone());
                current[*place] = if *content == 0 { FileImage::Absent } else { file(number * 10 + content) };
            }
            for (place, before) in touched {
                for (moment, image) in [(StateMoment::Before, before), (StateMoment::After, current[place].clone())] {
                    states.push(RecordedState { path: bytes_of(&path(place)), ..state(number, moment, image) });
                }
            }
            ends.push(current);
        }
        let tree = tree(0, &rows);
        let records = StateRecords::new(states);
        for (number, end) in ends.iter().enumerate() {
            let chain = tree.chain(u32::try_from(number).unwrap());
            for (place, expected) in end.iter().enumerate() {
                if let Some(found) = records.at_end(&chain, &path(place)) {
                    prop_assert_eq!(found, expected, "task {}, path {}", number, place);
                } else {
                    prop_assert_eq!(expected, &ends[0][place], "what no task touched is as it was");
                }
            }
        }
    }
}
