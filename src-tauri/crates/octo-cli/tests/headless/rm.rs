//! `rm` as the commands of a session find it: the built binary under that name, compared with GNU's, and killed
//! at random.

use crate::support::{BINARY, run};
use octo_protocol::{RemovedBy, SessionId};
use octo_testkit::{ModelServer, Script, TempHome};
use octo_workspace::{PendingEntry, Trash, TrashScan, TrashSlip, rm};
use serde_json::json;
use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// A work folder and a home with a trash.
struct RmFolders {
    _keep: tempfile::TempDir,
    work: PathBuf,
    bin: PathBuf,
    trash: Trash,
}

#[derive(Debug)]
struct RmOutput {
    status: Option<i32>,
    output: String,
    errors: String,
}

impl RmFolders {
    /// Creates it with files of all kinds.
    fn with_files() -> Self {
        let place = Self::bare();
        for name in ["file", "it's", "q\"'", "new\nline", "文件", "-dash"] {
            fs::write(place.work.join(name), name).unwrap();
        }
        fs::write(place.work.join("void"), "").unwrap();
        fs::create_dir_all(place.work.join("full/sub")).unwrap();
        fs::write(place.work.join("full/sub/x"), "x").unwrap();
        fs::create_dir(place.work.join("empty")).unwrap();
        std::os::unix::fs::symlink("full", place.work.join("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", place.work.join("dangling")).unwrap();
        place
    }

    fn bare() -> Self {
        let keep = tempfile::tempdir().unwrap();
        let base = keep.path().canonicalize().unwrap();
        let (home, work) = (base.join("octo"), base.join("work"));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&work).unwrap();
        let bin = rm::install(&home, Path::new(BINARY)).unwrap();
        Self { trash: Trash::in_home(&home), work, bin, _keep: keep }
    }

    fn ours(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.bin.join(program));
        command.args(arguments).current_dir(&self.work).env("LC_ALL", "C.UTF-8");
        command.envs(rm::environment(self.trash.home(), SessionId::new(), &self.work));
        command
    }

    fn theirs(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(format!("/usr/bin/{program}"));
        command.args(arguments).current_dir(&self.work).env("LC_ALL", "C.UTF-8");
        command
    }

    fn everything(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        tree(&self.work)
    }

    fn in_trash(&self) -> Vec<TrashSlip> {
        let here = |arrival| match arrival {
            PendingEntry::InTrash(slip) => Some(*slip),
            PendingEntry::NotInTrash(_) => None,
        };
        self.trash.pending_entries(TrashScan::All).unwrap().into_iter().filter_map(here).collect()
    }
}

/// Returns every file below a folder with its content; folders have none, links have their target.
fn tree(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        let meta = fs::symlink_metadata(&path).unwrap();
        let content = if meta.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else if meta.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else {
            fs::read(&path).unwrap()
        };
        all.insert(path.strip_prefix(root).unwrap().to_owned(), content);
    }
    all
}

fn output_of(mut command: Command, input: &str) -> RmOutput {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that does not read closes its end.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    RmOutput {
        status: output.status.code(),
        output: String::from_utf8(output.stdout).unwrap(),
        errors: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Commands whose output, status and effect on the folder must equal those of GNU's tools.
const SAME: &[(&str, &[&str], &str)] = &[
    ("rm", &["file"], ""),
    ("rm", &["-v", "file", "it's", "文件"], ""),
    ("rm", &["missing"], ""),
    ("rm", &["-f", "missing", "file"], ""),
    ("rm", &["missing", "file"], ""),
    ("rm", &["file/"], ""),
    ("rm", &["-f", "file/"], ""),
    ("rm", &["file/below"], ""),
    ("rm", &["full"], ""),
    ("rm", &["-f", "full"], ""),
    ("rm", &["-d", "full"], ""),
    ("rm", &["-d", "empty"], ""),
    ("rm", &["-dv", "empty"], ""),
    ("rm", &["empty"], ""),
    ("rm", &["-r", "full"], ""),
    ("rm", &["-rv", "full"], ""),
    ("rm", &["-rf", "full/", "missing"], ""),
    ("rm", &["-R", "full", "file", "--", "-dash"], ""),
    ("rm", &["file", "-v"], ""),
    ("rm", &["link"], ""),
    ("rm", &["-r", "link"], ""),
    ("rm", &["link/"], ""),
    ("rm", &["dangling"], ""),
    ("rm", &["."], ""),
    ("rm", &["-r", "."], ""),
    ("rm", &["-r", ".."], ""),
    ("rm", &["-r", "full/.", "full/sub/.."], ""),
    ("rm", &["-rf", "./"], ""),
    ("rm", &[], ""),
    ("rm", &["-f"], ""),
    ("rm", &["-x", "file"], ""),
    ("rm", &["--wrong"], ""),
    ("rm", &["--recursive", "--force", "full"], ""),
    ("rm", &["--rec", "full"], ""),
    ("rm", &["--force=1", "file"], ""),
    ("rm", &["-dash"], ""),
    ("rm", &["-i", "file", "void", "link"], "y\nn\ny\n"),
    ("rm", &["-i", "file"], ""),
    ("rm", &["-if", "file"], "n\n"),
    ("rm", &["-fi", "file"], "n\n"),
    ("rm", &["-I", "file", "void", "link", "it's"], "n\n"),
    ("rm", &["-I", "file", "void", "link", "it's"], "yes\n"),
    ("rm", &["-I", "file", "void"], ""),
    ("rm", &["-Ir", "full"], "n\n"),
    ("rm", &["-Ir", "full", "empty"], "y\n"),
    ("rm", &["-ri", "full"], "y\ny\ny\ny\ny\n"),
    ("rm", &["-ri", "full"], "y\ny\nn\n"),
    ("rm", &["-ri", "empty"], "y\n"),
    ("rm", &["-ri", "full"], "n\n"),
    ("rm", &["--interactive=always", "file"], "n\n"),
    ("rm", &["--interactive=never", "file"], ""),
    ("rm", &["--interactive=once", "file", "void", "link", "it's"], "n\n"),
    ("rm", &["--preserve-root", "-v", "q\"'", "new\nline"], ""),
    ("rm", &["--one-file-system", "-r", "full"], ""),
    ("rm", &["miss'ing", "miss\"'ing", "miss\ning", "mi\tss\u{1}"], ""),
    ("rm", &["file", "file"], ""),
    ("rm", &["-v", "file", "missing", "void"], ""),
    ("unlink", &["file"], ""),
    ("unlink", &["link"], ""),
    ("unlink", &["missing"], ""),
    ("unlink", &["full"], ""),
    ("unlink", &["file", "void"], ""),
    ("unlink", &[], ""),
    ("unlink", &["--", "-dash"], ""),
];

/// Returns whether the system's `rm` is GNU's, which ours imitates.
fn is_gnu() -> bool {
    let version = Command::new("/usr/bin/rm").arg("--version").output();
    version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("GNU coreutils"))
}

#[test]
fn rm_behaves_and_reports_like_gnu() {
    if !is_gnu() {
        return;
    }
    for (program, arguments, input) in SAME {
        let (folders, other) = (RmFolders::with_files(), RmFolders::with_files());
        let before = folders.everything();
        let ours = output_of(folders.ours(program, arguments), input);
        // The system's `rm` calls itself by its path.
        let theirs = output_of(other.theirs(program, arguments), input);
        let theirs_said = theirs.errors.replace(&format!("/usr/bin/{program}"), program);
        let ours_said = ours.errors.replace(&format!("{}", folders.bin.join(program).display()), program);
        assert_eq!(ours_said, theirs_said, "{program} {arguments:?}");
        assert_eq!((ours.output, ours.status), (theirs.output, theirs.status), "{program} {arguments:?}");
        assert_eq!(folders.everything(), other.everything(), "{program} {arguments:?}");
        assert_eq!(!folders.in_trash().is_empty(), folders.everything() != before, "{program} {arguments:?}");
    }
}

#[test]
fn roots_and_homes_are_refused_despite_options() {
    let folders = RmFolders::with_files();
    let home = folders.trash.home().display().to_string();
    let beside = folders.work.parent().unwrap().display().to_string();
    for path in ["/", "/etc", "/usr/lib", "/home", &home, &beside, "/dev/null"] {
        let output = output_of(folders.ours("rm", &["-rf", "--no-preserve-root", path]), "");
        assert_eq!(output.status, Some(1), "{output:?}");
        assert!(
            output.errors.contains("refusing to remove") || output.errors.contains("dangerous"),
            "{output:?}"
        );
    }
    assert!(folders.in_trash().is_empty());
}

#[test]
fn files_the_trash_cannot_take_stay() {
    let folders = RmFolders::with_files();
    // No trash can be created because a file is in its way.
    fs::write(folders.trash.home().join("trash"), "in the way").unwrap();
    let before = folders.everything();
    let output = output_of(folders.ours("rm", &["-rf", "file", "full"]), "");
    assert_eq!(output.status, Some(1));
    assert!(output.errors.contains("it could not be moved to the trash in"), "{}", output.errors);
    assert_eq!(folders.everything(), before);
}

#[test]
fn without_environment_rm_finds_the_trash_or_removes_nothing() {
    let folders = RmFolders::with_files();
    let mut command = Command::new(folders.bin.join("rm"));
    command.arg("file").current_dir(&folders.work).env_clear().env("PATH", &folders.bin);
    assert_eq!(output_of(command, "").status, Some(0));
    assert_eq!(folders.in_trash()[0].removal.remover, RemovedBy::Person);
    let mut command = Command::new(folders.bin.join("rm"));
    command.arg("void").current_dir(&folders.work).env_clear();
    let said = output_of(command, "");
    assert!(said.errors.contains("Octo's trash cannot be found"), "{said:?}");
    assert!(folders.work.join("void").exists());
}

#[test]
fn a_trash_slip_names_the_remover_and_the_command() {
    let folders = RmFolders::with_files();
    output_of(folders.ours("rm", &["-rf", "full"]), "");
    let slip = folders.in_trash().pop().unwrap();
    assert_eq!(slip.path, folders.work.join("full"));
    assert_eq!(slip.removal.remover, RemovedBy::Agent);
    assert_eq!(slip.removal.command.as_deref(), Some("rm -rf full"));
    assert_eq!(slip.removal.project, Some(folders.work.display().to_string()));
}

#[test]
fn a_command_removes_in_a_fresh_home() {
    let elsewhere = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let temporary = std::env::temp_dir();
    for (mode, folder) in [("ask-risky", elsewhere), ("autonomous", elsewhere), ("ask-risky", &temporary)] {
        let home = TempHome::new_in(folder);
        home.write("file", "content\n");
        let script = Script::new().call("terminal", json!({ "command": "rm file" })).text("Removed.");
        let server = ModelServer::start(script);
        run(&home, &server, &["--mode", mode, "remove it"]).expect(0);
        let said = &server.requests()[1].results()[0].text;
        assert!(!home.work().join("file").exists(), "{mode}: {said}");
        let arrivals = Trash::in_home(&home.octo()).pending_entries(TrashScan::All).unwrap();
        assert!(matches!(arrivals.as_slice(), [PendingEntry::InTrash(_)]), "{mode}: {said}");
        server.assert_clean();
    }
}

/// Number of kills in a full run; the gate runs a tenth.
const KILLS: u32 = 400;

#[test]
fn killed_at_any_moment_nothing_is_lost_and_nothing_doubled() {
    let kills = if std::env::var_os("OCTO_SOAK").is_some() { KILLS } else { KILLS / 10 };
    // Half of them on another file system, if one exists, where files must be copied.
    let shm = Path::new("/dev/shm");
    let device = |path: &Path| fs::metadata(path).map(|meta| meta.dev()).ok();
    let far = device(shm).filter(|shm| Some(*shm) != device(&std::env::temp_dir())).map(|_| shm);
    let (mut random, mut interrupted) = (0x2545_f491_4f6c_dd1d_u64, 0);
    for round in 0..kills {
        let folders = RmFolders::bare();
        let elsewhere = far.filter(|_| round % 2 == 1).map(|far| tempfile::tempdir_in(far).unwrap());
        let base = elsewhere.as_ref().map_or(folders.work.clone(), |far| far.path().canonicalize().unwrap());
        let root = base.join("tree");
        fs::create_dir_all(root.join("a/b")).unwrap();
        for n in 0..40_u32 {
            fs::write(root.join(format!("a/{n}")), n.to_le_bytes().repeat(500)).unwrap();
        }
        std::os::unix::fs::symlink("a/1", root.join("a/b/link")).unwrap();
        let before = tree(&root);
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let moment = Duration::from_micros(random % 30_000);
        let mut child = folders.ours("rm", &["-r", root.to_str().unwrap()]).spawn().unwrap();
        let started = Instant::now();
        while started.elapsed() < moment {
            std::hint::spin_loop();
        }
        let _ = child.kill();
        interrupted += u32::from(!child.wait().unwrap().success());
        let here = folders.in_trash();
        let left: Vec<_> = fs::read_dir(&base).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        match here.as_slice() {
            [] => {
                assert_eq!(left, ["tree"], "round {round}");
                assert_eq!(tree(&root), before, "round {round}");
            }
            [slip] => {
                assert!(left.is_empty(), "round {round}: {left:?}");
                assert_eq!(tree(&folders.trash.content_path(slip.id)), before, "round {round}");
            }
            several => panic!("round {round}: {several:?}"),
        }
    }
    assert!(interrupted > kills / 10, "the kills must hit: {interrupted} of {kills}");
}

#[test]
fn ten_thousand_files_go_in_one_step() {
    let fill = |root: &Path| {
        fs::create_dir(root).unwrap();
        (0..10_000).for_each(|n| fs::write(root.join(n.to_string()), "x").unwrap());
    };
    let folders = RmFolders::bare();
    let (one, other) = (folders.work.join("one"), folders.work.join("other"));
    fill(&one);
    fill(&other);
    let started = Instant::now();
    assert_eq!(output_of(folders.ours("rm", &["-r", "one"]), "").status, Some(0));
    let ours = started.elapsed();
    let started = Instant::now();
    assert_eq!(output_of(folders.theirs("rm", &["-r", "other"]), "").status, Some(0));
    let theirs = started.elapsed();
    eprintln!("10,000 files: {ours:?} with the trash, {theirs:?} with the system's rm");
    let slip = folders.in_trash().pop().unwrap();
    assert_eq!(folders.trash.measure(slip.id, &slip.path).unwrap().files, 10_000);
    assert!(!one.exists() && !other.exists());
}
