//! Collection: unreferenced content is deleted, referenced content stays, whatever happens in between.

use crate::world::{Home, World};
use octo_protocol::{BlobHash, Block, Draft, UnrestorableReason, UnsavedReason};
use octo_workspace::{Blobs, RestoreSelection};
use std::{
    collections::{BTreeSet, HashSet},
    fs::{self, File},
    path::Path,
    time::{Duration, SystemTime},
};

const EVERYTHING: u64 = u64::MAX;

/// Makes all blobs as old as if they had been written yesterday.
fn age(blobs: &Blobs) {
    let yesterday = SystemTime::now() - Duration::from_secs(86_400);
    let mut paths = Vec::new();
    blobs.for_each(|hash, _, _| paths.push(hash)).unwrap();
    for hash in paths {
        let file = File::options().write(true).open(blobs.path(&hash).unwrap()).unwrap();
        file.set_modified(yesterday).unwrap();
    }
}

fn there(home: &Home) -> BTreeSet<BlobHash> {
    let mut hashes = BTreeSet::new();
    home.blobs
        .for_each(|hash, _, _| {
            hashes.insert(hash);
        })
        .unwrap();
    hashes
}

/// Returns three turns over one file, an attachment, and unreferenced content.
fn filled(home: &Home) -> (World, BlobHash, BlobHash) {
    let world = home.world();
    let unreferenced = home.blobs.put(b"nobody's").unwrap();
    let attached = home.blobs.put(b"a picture").unwrap();
    let block =
        Block::Image { blob: attached.clone(), media_type: "image/png".to_owned(), name: "a".to_owned() };
    let draft = Draft { text: String::new(), attachments: vec![block], foreign: false };
    home.store.write_blocking(move |tx| tx.set_new_draft(&draft)).unwrap();
    for content in ["one", "two", "three"] {
        world.write(&world.path("a"), content.repeat(1_000).as_bytes());
    }
    world.command(|folder| fs::write(folder.join("b"), "by a command").unwrap());
    (world, unreferenced, attached)
}

#[test]
fn only_old_unreferenced_blobs_are_removed() {
    let home = Home::new();
    let (world, unreferenced, attached) = filled(&home);
    let hashes = there(&home);
    let collected = world.machine.collect(EVERYTHING).unwrap();
    assert_eq!((collected.freed_blobs, there(&home)), (0, hashes.clone()), "it may still be referred to");
    age(&home.blobs);
    let collected = world.machine.collect(EVERYTHING).unwrap();
    assert_eq!((collected.freed_blobs, collected.freed_bytes, collected.forgotten_tasks), (1, 8, 0));
    let remaining: BTreeSet<BlobHash> = hashes.into_iter().filter(|hash| *hash != unreferenced).collect();
    assert_eq!(there(&home), remaining);
    assert!(remaining.contains(&attached));
    let space = world.machine.space(7).unwrap();
    assert_eq!((space.blobs, space.bytes, space.budget), (remaining.len() as u64, collected.kept_bytes, 7));
    for task in [0, 2, 1, 4] {
        world.switch(task);
    }
}

#[test]
fn over_the_budget_the_oldest_content_is_dropped_and_reported() {
    let home = Home::new();
    let (world, _, attached) = filled(&home);
    age(&home.blobs);
    // Turn 1 recorded "one", which turn 2 recorded too; with both gone one content is free.
    let total = world.machine.collect(EVERYTHING).unwrap().kept_bytes;
    let collected = world.machine.collect(total - 1).unwrap();
    assert_eq!((collected.forgotten_tasks, collected.freed_blobs), (2, 1), "{collected:?}");
    assert!(collected.kept_bytes < total);
    let plan = world.machine.plan(world.session, 1, RestoreSelection::All).unwrap();
    let impossible = plan.preview().impossible;
    assert_eq!(impossible[0].why, UnrestorableReason::NotKept { why: UnsavedReason::Forgotten });
    let report = world.machine.restore(&plan, &BTreeSet::new()).unwrap();
    assert_eq!(report.active, 1);
    assert_eq!(fs::read_to_string(world.path("a")).unwrap(), "three".repeat(1_000), "left alone");
    world.switch(4);
    assert!(home.blobs.verify(&attached).is_ok());

    let collected = world.machine.collect(0).unwrap();
    assert!(collected.forgotten_tasks > 0);
    assert!(home.blobs.verify(&attached).is_ok(), "an attachment is nobody's to forget");
}

#[test]
fn a_crash_during_collection_loses_nothing() {
    let home = Home::new();
    let (world, unreferenced, _) = filled(&home);
    age(&home.blobs);
    let hashes = there(&home);
    // A process killed after moving content aside: here all content, needed or not.
    let removal_folder = home.octo().join("blobs/leaving");
    fs::create_dir_all(&removal_folder).unwrap();
    for hash in &hashes {
        fs::rename(home.blobs.path(hash).unwrap(), removal_folder.join(&hash.0)).unwrap();
    }
    assert!(there(&home).is_empty());
    world.machine.restore_set_apart_blobs().unwrap();
    assert_eq!(there(&home), hashes);
    world.switch(1);
    assert_eq!(world.machine.collect(EVERYTHING).unwrap().freed_blobs, 1);
    assert!(!there(&home).contains(&unreferenced));
}

#[test]
fn content_stored_again_during_collection_stays() {
    let home = Home::new();
    let hash = home.blobs.put(b"again").unwrap();
    age(&home.blobs);
    let unused: HashSet<BlobHash> = HashSet::from([hash.clone()]);
    // Found unused, then written again before its deletion.
    assert_eq!(home.blobs.put(b"again").unwrap(), hash);
    assert_eq!(home.blobs.sweep(&unused).unwrap().blobs, 0);
    assert_eq!(home.blobs.get(&hash).unwrap(), b"again");
    age(&home.blobs);
    assert_eq!(home.blobs.sweep(&unused).unwrap().blobs, 1);
    assert!(!Path::new(&home.blobs.path(&hash).unwrap()).exists());
}
