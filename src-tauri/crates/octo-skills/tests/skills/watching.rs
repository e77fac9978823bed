//! Changes are reported, wherever a root exists or appears.

use crate::world::{World, put, skill};
use octo_skills::SkillWatch;
use std::{fs, sync::mpsc, time::Duration};

const SOON: Duration = Duration::from_secs(20);

#[test]
fn new_and_changed_roots_are_reported() {
    let world = World::new();
    let (sender, receiver) = mpsc::channel();
    let watch = SkillWatch::new(&world.roots(), move || sender.send(()).unwrap()).unwrap();
    // Neither `skills` nor the project's `.octo` exist yet.
    let folder = skill(&world.user(), "first", "d");
    receiver.recv_timeout(SOON).expect("the root that appeared");
    put(folder.join("SKILL.md"), "Changed.");
    receiver.recv_timeout(SOON).expect("the file that changed");
    skill(&world.in_project(), "second", "d");
    receiver.recv_timeout(SOON).expect("the project's");
    fs::remove_dir_all(world.project.join(".octo")).unwrap();
    receiver.recv_timeout(SOON).expect("that it went");
    skill(&world.in_project(), "third", "d");
    receiver.recv_timeout(SOON).expect("that it came back");
    drop(watch);
    // The thread ends, and its callbacks with it.
    while receiver.recv_timeout(SOON).is_ok() {}
    assert_eq!(receiver.try_recv(), Err(mpsc::TryRecvError::Disconnected));
}
