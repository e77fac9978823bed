//! Work on many items by several threads.

use std::{
    panic::resume_unwind,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

/// The number of items below which one thread does the work.
const MIN_ITEMS: usize = 64;

/// The number of threads, whatever the number of processors: most of the time they wait for the disk, in particular
/// for the removal of a replaced file.
const THREADS: usize = 8;

/// Works on every item and returns the results in the items' order. Consecutive items share a thread and its state
/// from `new_state`. After a failure no thread begins another item.
///
/// # Errors
///
/// The failure of the first item, in their order, that failed.
pub(crate) fn try_map<T, S, R, E>(
    items: &[T],
    new_state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E>
where
    T: Sync,
    R: Send,
    E: Send,
{
    let failed = AtomicBool::new(false);
    let work_on = |part: &[T]| -> Result<Vec<R>, E> {
        let mut state = new_state();
        let mut results = Vec::with_capacity(part.len());
        for item in part {
            if failed.load(Ordering::Relaxed) {
                break;
            }
            match work(&mut state, item) {
                Ok(result) => results.push(result),
                Err(error) => {
                    failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(results)
    };
    if items.len() < MIN_ITEMS {
        return work_on(items);
    }
    let parts: Vec<Result<Vec<R>, E>> = thread::scope(|scope| {
        let workers: Vec<_> = items
            .chunks(items.len().div_ceil(THREADS))
            .map(|part| {
                let work_on = &work_on;
                (thread::Builder::new().spawn_scoped(scope, move || work_on(part)), part)
            })
            .collect();
        // A system that refuses another thread gets the work done by this one.
        let join = |(worker, part): (std::io::Result<thread::ScopedJoinHandle<'_, _>>, &[T])| match worker {
            Ok(worker) => worker.join().unwrap_or_else(|payload| resume_unwind(payload)),
            Err(_) => work_on(part),
        };
        workers.into_iter().map(join).collect()
    });
    let mut all = Vec::with_capacity(items.len());
    for part in parts {
        all.extend(part?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_a_failure_ends_the_work() {
        for count in [0, 1, MIN_ITEMS, 1_000, 1_001] {
            let items: Vec<usize> = (0..count).collect();
            let doubled = try_map(&items, || (), |(), item| Ok::<_, usize>(item * 2)).unwrap();
            assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
            let done = std::sync::atomic::AtomicUsize::new(0);
            let failing = |_: &mut (), item: &usize| {
                done.fetch_add(1, Ordering::Relaxed);
                if *item == count / 2 { Err(*item) } else { Ok(()) }
            };
            assert_eq!(try_map(&items, || (), failing).err(), (count > 0).then_some(count / 2));
            assert!(done.load(Ordering::Relaxed) <= count);
        }
    }

    #[test]
    fn consecutive_items_share_a_state() {
        let items = [0; 500];
        let numbers = try_map(
            &items,
            || 0,
            |state, _| {
                *state += 1;
                Ok::<usize, ()>(*state)
            },
        );
        let numbers = numbers.unwrap();
        assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1 || pair[1] == 1), "{numbers:?}");
    }
}
