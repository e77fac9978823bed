//! The files a process leaves behind when it is killed during a write.

use super::*;
use crate::{FileScope, Files};
use std::{
    env,
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

const HOME: &str = "OCTO_UNFINISHED_HOME";
const WORK: &str = "OCTO_UNFINISHED_WORK";
const KILLS: usize = 12;
/// Large enough that a kill usually happens in the middle of a file.
const LARGE: usize = 8 << 20;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.ends_with(LIST))
        .collect();
    names.sort();
    names
}

fn lists(home: &Path) -> usize {
    fs::read_dir(home.join(FOLDER)).map_or(0, Iterator::count)
}

/// The process that is killed: the test below runs it, and it prints a line per file.
#[test]
#[ignore = "run by the test of kills as a process of its own"]
fn writer() {
    let (Some(home), Some(work)) = (env::var_os(HOME), env::var_os(WORK)) else { return };
    let unfinished = UnfinishedWrites::begin(home.as_ref());
    let scope = FileScope { folder: work.clone().into(), readable: vec![], writable: vec![] };
    let files = Files::new(scope).with_write_notes(unfinished.clone());
    let work = PathBuf::from(work);
    for n in 0_u8.. {
        println!("writes");
        files.write(&work.join("deep/a.txt"), &vec![n; LARGE]).unwrap();
        unfinished.write_private(&work.join("export.json"), &vec![n; LARGE]).unwrap();
        let copy = work.join("copy");
        let made = unfinished.make_folder(
            &copy,
            |error| error,
            |partial| fs::write(partial.join("b"), vec![n; LARGE]),
        );
        made.unwrap();
        fs::remove_dir_all(copy).unwrap();
    }
}

#[test]
fn kill_9_leaves_no_temporary_files() {
    let (home, work) = (octo_testkit::test_folder(), octo_testkit::test_folder());
    let resolved = work.path().canonicalize().unwrap();
    fs::create_dir(resolved.join("deep")).unwrap();
    fs::write(resolved.join(".octo-mine.tmp"), "the person's own").unwrap();
    let mut leftovers = 0;
    for kill in 0..KILLS {
        let mut victim = Command::new(env::current_exe().unwrap())
            .args(["--ignored", "--exact", "unfinished::tests::writer", "--nocapture"])
            .env(HOME, home.path())
            .env(WORK, &resolved)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().ends_with("writes")), "it writes");
        std::thread::sleep(Duration::from_millis(3 * kill as u64));
        let living = lists(home.path());
        UnfinishedWrites::sweep(home.path());
        assert_eq!(lists(home.path()), living, "what a living process writes is its own");
        victim.kill().unwrap();
        victim.wait().unwrap();

        let is_half = |name: &String| name.starts_with(OWN_PREFIX) && name != ".octo-mine.tmp";
        let partial_count = |folder: &Path| names(folder).into_iter().filter(is_half).count();
        leftovers += partial_count(&resolved) + partial_count(&resolved.join("deep"));
        UnfinishedWrites::sweep(home.path());
        assert_eq!(
            partial_count(&resolved) + partial_count(&resolved.join("deep")),
            0,
            "{:?}",
            names(&resolved)
        );
        assert_eq!(lists(home.path()), 0);
        assert_eq!(fs::read(resolved.join(".octo-mine.tmp")).unwrap(), b"the person's own");
        for whole in ["deep/a.txt", "export.json"] {
            if let Ok(bytes) = fs::read(resolved.join(whole)) {
                assert!(bytes.len() == LARGE && bytes.iter().all(|byte| *byte == bytes[0]), "{whole}");
            }
        }
        let _whole = fs::remove_dir_all(resolved.join("copy"));
    }
    assert!(leftovers > 0, "no kill fell into the middle of a file");
}

#[cfg(unix)]
#[test]
fn a_list_shrinks_when_idle_and_ends_with_its_process() {
    let (home, work) = (octo_testkit::test_folder(), octo_testkit::test_folder());
    let unfinished = UnfinishedWrites::begin(home.path());
    let path = unfinished.list.path.clone().unwrap();
    let (first_note, second) =
        (unfinished.note_path(Path::new("/a")), unfinished.clone().note_path(Path::new("/b/ c")));
    assert_eq!(decode_paths(&fs::read(&path).unwrap()), [Path::new("/a"), Path::new("/b/ c")]);
    drop(first_note);
    assert_eq!(decode_paths(&fs::read(&path).unwrap()).len(), 2, "one is still under way");
    drop(second);
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    for n in 0..50 {
        unfinished.write_private(&work.path().join("a"), &[n]).unwrap();
    }
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    drop(unfinished.note_path(Path::new("/after")));
    drop(unfinished);
    assert_eq!(lists(home.path()), 0);
}

#[test]
fn only_files_with_octos_names_are_removed() {
    let (home, work) = (octo_testkit::test_folder(), octo_testkit::test_folder());
    let work = work.path();
    let list = home.path().join(FOLDER).join("gone.list");
    fs::create_dir(list.parent().unwrap()).unwrap();
    fs::create_dir_all(work.join(".octo-copy/deep")).unwrap();
    fs::write(work.join(".octo-a.tmp"), "half").unwrap();
    fs::write(work.join("thesis.md"), "whole").unwrap();
    let away = work.join("unplugged/.octo-b.tmp");
    let noted = [work.join("thesis.md"), work.join(".octo-a.tmp"), work.join(".octo-copy"), away.clone()];
    let mut bytes: Vec<u8> = noted.iter().flat_map(|path| encode_path(path)).collect();
    // Truncated by the kill: no file was created under this name yet.
    bytes.extend_from_slice(&encode_path(&work.join("thesis.md"))[..9]);
    fs::write(&list, bytes).unwrap();
    UnfinishedWrites::sweep(home.path());
    assert_eq!(names(work), ["thesis.md"]);
    assert!(list.exists(), "the disk of one of them may come back");
    fs::create_dir(away.parent().unwrap()).unwrap();
    fs::write(&away, "half").unwrap();
    UnfinishedWrites::sweep(home.path());
    assert!(!away.exists() && !list.exists());
    fs::write(&list, [0xff; 7]).unwrap();
    UnfinishedWrites::sweep(home.path());
    assert!(!list.exists(), "one that says nothing is over");
}

#[test]
fn a_folder_appears_whole_or_not_at_all() {
    let (home, work) = (octo_testkit::test_folder(), octo_testkit::test_folder());
    let unfinished = UnfinishedWrites::begin(home.path());
    let path = work.path().join("copy");
    let made = unfinished.make_folder(
        &path,
        |error| error,
        |partial| {
            assert!(!path.exists());
            fs::write(partial.join("a"), "1")
        },
    );
    made.unwrap();
    assert_eq!(fs::read(path.join("a")).unwrap(), b"1");
    let second_attempt = unfinished.make_folder(&path, |error| error, |_| Ok(()));
    assert_eq!(second_attempt.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    let other_path = work.path().join("other");
    let failed = unfinished.make_folder(
        &other_path,
        |error| error,
        |partial| {
            fs::write(partial.join("a"), "1")?;
            Err::<(), _>(io::Error::other("no more"))
        },
    );
    assert_eq!(failed.unwrap_err().to_string(), "no more");
    assert_eq!(names(work.path()), ["copy"]);
}
