//! A full disk.

use crate::{create, emit, fold, home, sample};
use octo_protocol::*;
use octo_store::{OpenError, Store, StoreError};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A small separate file system; unmounted when dropped.
struct Disk(PathBuf);

impl Disk {
    fn mount(path: &Path, megabytes: u32) -> Option<Self> {
        let size = format!("size={megabytes}m");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "octo-test"]).arg(path).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(path.to_owned())),
            other => {
                eprintln!("skipped: a file system of its own needs root and mount: {other:?}");
                None
            }
        }
    }

    /// Writes a file that leaves only `spare` bytes free.
    fn fill(&self, spare: usize) -> PathBuf {
        let filler = self.0.join("filler");
        let mut size = 64 << 20;
        let mut written = 0;
        // As much as fits, in ever smaller pieces.
        while size > 0 {
            let mut file = fs::OpenOptions::new().create(true).append(true).open(&filler).unwrap();
            match std::io::Write::write_all(&mut file, &vec![0; size]) {
                Ok(()) => written += size,
                Err(_) => {
                    file.set_len(written as u64).unwrap();
                    size /= 2;
                }
            }
        }
        fs::OpenOptions::new()
            .write(true)
            .open(&filler)
            .unwrap()
            .set_len(written.saturating_sub(spare) as u64)
            .unwrap();
        filler
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("-l").arg(&self.0).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            eprintln!("{} could not be unmounted", self.0.display());
        }
    }
}

fn message(n: usize) -> Event {
    Event::MessageAdded {
        message: sample::person(TurnId::new(), vec![sample::text(&format!("{n} ").repeat(4_000))]),
    }
}

#[tokio::test]
async fn a_full_disk_is_reported_and_writes_resume_with_space() {
    let place = home();
    let Some(disk) = Disk::mount(place.path(), 24) else { return };
    let home = disk.0.join("home");
    let store = Store::open(&home).unwrap();
    let info = sample::head("full");
    let id = info.id;
    create(&store, &info).await;
    let filler = disk.fill(400_000);
    let mut stored = 0;
    let error = loop {
        match emit(&store, id, vec![message(stored)]).await {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
        assert!(stored < 10_000, "the disk never filled");
    };
    assert!(stored > 0);
    assert!(matches!(error, StoreError::Full), "{error:?}");
    let api = ApiError::from(error);
    assert_eq!((api.key.as_str(), api.retryable), ("store.full", true));
    assert!(matches!(emit(&store, id, vec![message(stored)]).await, Err(StoreError::Full)));

    let check = async |store: &Store, expected: usize| {
        let (snapshot, events) = store
            .read(move |reader| {
                Ok((reader.snapshot(id, 10_000)?, fold::all_events(reader, StoredTopic::Session { id })?))
            })
            .await
            .unwrap();
        let mut folded = fold::Fold::new();
        events.iter().for_each(|envelope| folded.apply(&envelope.event));
        assert_eq!(folded.messages.len(), expected);
        assert_eq!(snapshot.unwrap(), folded.snapshot(&events));
    };
    check(&store, stored).await;
    fs::remove_file(&filler).unwrap();
    for n in 0..5 {
        emit(&store, id, vec![message(stored + n)]).await.unwrap();
    }
    check(&store, stored + 5).await;

    // Closing on a full disk keeps the log; the next start reads it.
    disk.fill(0);
    store.close();
    let reopened = Store::open(&home);
    if let Ok(store) = &reopened {
        check(store, stored + 5).await;
        store.close();
    } else {
        assert!(matches!(reopened, Err(OpenError::Unavailable { .. })), "{:?}", reopened.err());
    }
    fs::remove_file(&filler).unwrap();
    let store = Store::open(&home).unwrap();
    check(&store, stored + 5).await;
    store.close();
}

#[test]
fn a_new_home_on_a_full_disk_is_refused_and_works_later() {
    let place = home();
    let Some(disk) = Disk::mount(place.path(), 2) else { return };
    let home = disk.0.join("home");
    fs::create_dir(&home).unwrap();
    let filler = disk.fill(40_000);
    match Store::open(&home) {
        Err(OpenError::Unavailable { .. }) => {}
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it opened"),
    }
    fs::remove_file(filler).unwrap();
    Store::open(&home).unwrap().close();
}
