//! The policy against the programs of this machine: what a line opens, starts and writes when it runs, compared with
//! what the policy said about it.
//!
//! Lines are generated from each program's own `--help`, from the languages the policy reads, and at random. Those
//! the policy would run unasked are run in a namespace without a network under one `strace` for many, in the
//! environment of commands that run unasked. A line may read what a session may read, and must start nothing that it
//! does not name, change nothing, and connect nowhere. The gate runs 3,000 lines, the soak 200,000.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a test")]
#![cfg(target_os = "linux")]

mod family;
mod generator;
#[path = "../support/project.rs"]
mod project;
mod trace;

use family::Family;
use generator::Generator;
use octo_policy::{TouchedPaths, Variables, unattended};
use project::Project;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use trace::{Event, events};

/// Lines of the gate's run.
const LINES: usize = 3_000;
/// Lines of the soak.
const SOAK_LINES: usize = 200_000;
/// Lines that one `strace` watches.
const BATCH: usize = 500;

#[test]
fn what_runs_unasked_does_what_the_policy_believes() {
    if !works("strace", &["-V"]) || !works("unshare", &["-rn", "true"]) {
        assert!(std::env::var_os("CI").is_none(), "strace is missing; cargo xtask test installs it");
        println!("left out: no strace or no namespaces");
        return;
    }
    let total = if std::env::var_os("OCTO_SOAK").is_some() { SOAK_LINES } else { LINES };
    let project = Project::new();
    let families = family::installed(&project.root);
    let mut disagreements = Vec::new();
    for family in &families {
        let mut generator = Generator::new(octo_policy::known_programs(), &family.path);
        let (mut lines, mut ran, mut programs) = (0, 0, BTreeMap::<String, usize>::new());
        let before = disagreements.len();
        while lines < total / families.len() {
            let mut batch = Vec::new();
            while batch.len() < BATCH && lines < total / families.len() {
                let line = generator.line();
                lines += 1;
                if let Some(known) = project.unasked(&line) {
                    for name in octo_policy::known_programs()
                        .filter(|name| line.split([' ', '(']).any(|word| word == *name))
                    {
                        *programs.entry(name.to_owned()).or_default() += 1;
                    }
                    batch.push((line, known));
                }
            }
            ran += batch.len();
            disagreements.extend(watch(&project, family, &batch));
        }
        println!(
            "{}: {lines} lines, {ran} ran unasked, with {} programs: {} disagreements",
            family.name,
            programs.len(),
            disagreements.len() - before
        );
        println!("{programs:?}");
        assert!(ran * 10 > lines, "only {ran} of {lines} ran");
    }
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
}

fn works(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// Runs lines and returns what they did beyond what the policy believed.
fn watch(project: &Project, family: &Family, lines: &[(String, TouchedPaths)]) -> Vec<String> {
    let script = project.root.join("script");
    let written = project.root.join("trace");
    let mut text = "GLOBIGNORE='-*:.[!/]*:*/.*'\n".to_owned();
    let (folder, whole) = (&project.context.folder, project.root.join("whole"));
    if !whole.exists() {
        let copied = Command::new("cp").arg("-a").arg(folder).arg(&whole).status().expect("cp");
        assert!(copied.success());
    }
    for (number, (line, known)) in lines.iter().enumerate() {
        let quoted = line.replace('\'', "'\\''");
        text.push_str(&format!(
            ": < {}{number}\n( builtin ulimit -t 2; builtin eval -- '{quoted}' )\n",
            trace::MARKER
        ));
        if !only_reads(known) {
            // The policy judged the next line by this state.
            let (folder, whole) = (folder.display(), whole.display());
            text.push_str(&format!(
                ": < {}restored\ncd /; /bin/rm -rf {folder}; /bin/cp -a {whole} {folder}; cd {folder}\n",
                trace::MARKER
            ));
        }
    }
    text.push_str(&format!(": < {}end\n", trace::MARKER));
    fs::write(&script, text).expect("a script");
    let login = Variables::from([
        ("PATH".to_owned(), family.path.clone()),
        ("HOME".to_owned(), project.root.join("home").display().to_string()),
    ]);
    let mut command = Command::new("timeout");
    command.args([
        "-s",
        "KILL",
        "600",
        "unshare",
        "-rn",
        "strace",
        "-f",
        "--seccomp-bpf",
        "-y",
        "-s",
        "4096",
        "-qq",
    ]);
    command.args(["-e", trace::CALLS, "-o"]).arg(&written);
    command.args(["bash", "--noprofile", "--norc"]).arg(&script);
    command
        .env_clear()
        .envs(unattended(login, &project.context.folder))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .current_dir(&project.context.folder)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    command.status().expect("strace");
    let trace = fs::read(&written).expect("a trace");
    let trace = String::from_utf8_lossy(&trace);
    let mut found = Vec::new();
    let mut ended = false;
    for (marker, event) in events(&trace) {
        let Some((line, known)) = marker.parse::<usize>().ok().and_then(|number| lines.get(number)) else {
            ended |= marker == "end";
            continue;
        };
        if let Some(surprise) = surprise(project, line, known, &event) {
            found.push(format!("{line:?}: {surprise}"));
        }
    }
    if !ended && !lines.is_empty() && !trace.contains(&format!("{}end", trace::MARKER)) {
        found.push("a line did not end".to_owned());
    }
    found.dedup();
    found
}

fn only_reads(known: &TouchedPaths) -> bool {
    known.writes.is_empty() && known.removes.is_empty() && known.repositories.is_empty()
}

/// Whether the policy believed that a line changes a path, or something above it.
fn is_believed(project: &Project, known: &TouchedPaths, path: &Path) -> bool {
    let folder = &project.context.folder;
    let in_repository = path.starts_with(folder.join(".git"));
    if in_repository && !known.repositories.is_empty() {
        return !path.starts_with(folder.join(".git/hooks")) && !path.starts_with(folder.join(".git/config"));
    }
    let believed: Vec<PathBuf> = known
        .writes
        .iter()
        .chain(&known.removes)
        .filter_map(|text| octo_workspace::resolve(text, folder).ok())
        .collect();
    // `sed -i` writes a new file beside the one it replaces.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = |other: &PathBuf| {
        let other_name = other.file_name().unwrap_or_default().to_string_lossy();
        other.parent() == path.parent() && (name.starts_with("sed") || name.starts_with(&*other_name))
    };
    if believed.iter().any(beside) {
        return true;
    }
    if path.is_relative() {
        // A new file of `sed -i`: that of GNU's and that of busybox's for `.`.
        if name.starts_with("sed") || (name.starts_with('.') && name.len() == 7) {
            return true;
        }
        let above = |believed: &PathBuf| {
            path.ancestors().any(|above| above != Path::new("") && believed.ends_with(above))
        };
        return !known.repositories.is_empty() || believed.iter().any(above);
    }
    // A link is changed itself where it is removed or replaced.
    believed.iter().any(|believed| {
        path.starts_with(believed) && (!in_repository || believed.starts_with(folder.join(".git")))
    }) || known.removes.iter().any(|text| path.starts_with(folder.join(text)))
}

/// Returns the effect of an event that the policy did not expect of a line.
fn surprise(project: &Project, line: &str, known: &TouchedPaths, event: &Event) -> Option<String> {
    match event {
        Event::Reads(path) => {
            let ours = path.starts_with(&project.root) && *path != project.root.join("script");
            let private =
                path.ends_with("environ") || path.starts_with("/etc/shadow") || path.starts_with("/root");
            // Git's own settings, which name what `rg` ignores too.
            let asks_git = line.contains("git") || line.contains("rg");
            let settings = [".gitconfig", ".config/git"]
                .iter()
                .any(|name| asks_git && path.starts_with(project.root.join("home").join(name)));
            let open = !(ours || private) || settings || project.may_read(path);
            (!open).then(|| format!("reads {}", path.display()))
        }
        Event::Writes(path) => {
            let device = path.starts_with("/dev") || path.starts_with("/proc");
            (!device && !is_believed(project, known, path)).then(|| format!("writes {}", path.display()))
        }
        Event::Starts(path) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let gits = line.contains("git") && path.starts_with("/usr/lib/git-core");
            // A distribution resolves some names: `awk` is `mawk`.
            let named = line.contains(name.as_str()) || gits || name == "busybox";
            (!named).then(|| format!("starts {}", path.display()))
        }
        Event::Changes(paths) => paths
            .iter()
            .find(|path| !is_believed(project, known, path))
            .map(|path| format!("changes {}", path.display())),
        Event::Connects(call) => Some(format!("connects: {call}")),
    }
}
