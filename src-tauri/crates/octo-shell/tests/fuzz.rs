//! The policy against the real bash, by lines made at random: what it lets run must start no tripwire, and must
//! change nothing outside the folder.
//!
//! Every line runs with a `PATH` that holds tripwires and a few harmless tools and nothing else, in name spaces of
//! its own where the system lends them. A seeded tenth of the full numbers, unless `OCTO_SOAK` is set.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a test")]
#![cfg(target_os = "linux")]

use octo_shell::{Around, Known, Policy, Standing, Verdict, assess};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// How many lines the full campaigns have.
const FULL: usize = 20_000;

fn lines() -> usize {
    if std::env::var_os("OCTO_SOAK").is_some() { FULL } else { FULL / 10 }
}

/// A small generator, the same every time.
struct Dice(u64);

impl Dice {
    fn new() -> Self {
        let seed =
            std::env::var("OCTO_CAMPAIGN_SEED").map_or(20_261_122, |seed| seed.parse().expect("a number"));
        Self(seed)
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).expect("64 bits") % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

/// Programs that must never run unasked, each a tripwire here.
const WIRES: &[&str] =
    &["tripwire", "make", "curl", "sudo", "sh", "python3", "npm", "xargs", "env", "tar", "vim"];

/// Tools that are what they are called.
const TOOLS: &[&str] = &[
    "awk", "basename", "cat", "chmod", "cp", "cut", "dirname", "find", "grep", "head", "ln", "ls", "mkdir",
    "mv", "rm", "rmdir", "sed", "seq", "sort", "tail", "tee", "timeout", "touch", "tr", "truncate", "uniq",
    "wc", "date", "nice", "tac", "bash",
];

/// Constructs around a command: `@` is the command, `%` the same inside single quotes.
const WRAPS: &[&str] = &[
    "@",
    "ls; @",
    "@; ls",
    "ls && @",
    "ls || @",
    "false || @",
    "true && @",
    "ls | @",
    "@ | cat",
    "ls\n@",
    "@\nls",
    "@ &",
    "(@)",
    "( @; ls )",
    "{ @; }",
    "! @",
    "$(@)",
    "echo $(@)",
    "echo \"$(@)\"",
    "echo `@`",
    "echo \"`@`\"",
    "x=$(@)",
    "x=\"$(@)\"",
    "x=`@`; echo hi",
    "if @; then ls; fi",
    "if true; then @; fi",
    "if false; then ls; else @; fi",
    "while @; do break; done",
    "for i in a b; do @; done",
    "for i in $(@); do echo \"$i\"; done",
    "for i in \"$(@)\"; do echo hi; done",
    "case x in x) @;; esac",
    "case $(@) in *) ls;; esac",
    "case x in $(@)) ls;; *) ls;; esac",
    "f() { @; }; f",
    "function f { @; }; f",
    "ls() { @; }; ls",
    "eval '%'",
    "eval \"@\"",
    "bash -c '%'",
    "trap '%' EXIT",
    "trap '%' DEBUG; ls",
    "cat <<E\n$(@)\nE",
    "cat <<E\n`@`\nE",
    "cat <<E\n${x:-$(@)}\nE",
    "cat <<'E'\nx\nE\n@",
    "cat <<E; @\nx\nE",
    "cat <<E | @\nx\nE",
    "cat <<-E\n\tE\n@",
    "cat <<\\E\nx\nE\n@",
    "cat <<A <<B\nx\nA\ny\nB\n@",
    "cat <<< \"$(@)\"",
    "cat <<<`@`",
    "cat <(@)",
    "ls > >(@)",
    "cat < <(@)",
    "echo ${x:-$(@)}",
    "echo \"${x:-$(@)}\"",
    "echo \"${x:-`@`}\"",
    "echo ${x:=$(@)}",
    "echo ${x+$(@)}$(ls)",
    "echo ${x/$(@)/y}",
    "echo ${x%$(@)}",
    "echo ${x@P}$(@)",
    "x='$(%)'; echo \"${x@P}\"",
    "x='`%`'; echo ${x@P}",
    "echo $((1+$(@)))",
    "echo $(( a[$(@)] ))",
    "((x=$(@)))",
    "let \"x=a[\\$(@)]\"",
    "x='a[$(%)]'; echo $((x))",
    "x='a[$(%)]'; [[ x -eq 0 ]]",
    "x='a[$(%)]'; test -v \"$x\"",
    "test -v 'a[$(%)]'",
    "[ -v 'a[$(%)]' ]",
    "[[ -v a[$(@)] ]]",
    "[[ $(@) ]]",
    "[[ x = $(@) ]]",
    "[ \"$(@)\" ]",
    "test $(@)",
    "a[$(@)]=1",
    "a=([$(@)]=1)",
    "a=($(@))",
    "declare x=$(@)",
    "export x=$(@)",
    "local x=$(@)",
    "printf -v 'a[$(%)]' x",
    "read 'a[$(%)]' < in",
    "unset 'a[$(%)]'",
    "echo {$(@),x}",
    "echo {a,\"$(@)\"}",
    "PS4='$(%)'; set -x; ls",
    "PROMPT_COMMAND='%'; ls",
    "BASH_ENV=x ls; @",
    "x=$(@) ls",
    "LC_ALL=$(@) ls",
    "PATH=. @",
    "ls > $(@)",
    "ls 2>\"$(@)\"",
    "find . -maxdepth 0 -exec @ \\;",
    "find . -maxdepth 0 -exec bash -c '%' \\;",
    "find . -maxdepth 0 -ok @ \\;",
    "command @",
    "time @",
    "nice @",
    "timeout 5 @",
    "builtin eval '%'",
    "exec @",
    "nohup @",
    "coproc @",
    "time { @; }",
    "until @; do break; done",
    "select x in a; do @; break; done < in",
    "awk 'BEGIN { system(\"%\") }'",
    "awk 'BEGIN { \"%\" | getline x }'",
    "awk 'BEGIN { print | \"%\" }'",
    "sed -n '1e %' in",
    "sed 's/.*/%/e' in",
    "sed -n '1{e %\n}' in",
    "x='%'; $x",
    "x='%'; eval \"$x\"",
    "x='%'; bash -c \"$x\"",
    "x=tripwire; $x",
    "for c in '%'; do $c; done",
    "d=./run; \"$d\"",
    "for t in ./run; do \"$t\"; done",
    "for t in ./ru*; do \"$t\"; done",
    "./ru?",
    "./run",
    "bash run",
    "source run",
    ". ./run",
    "bash < run",
    "cat run | bash",
    "\"./run\"",
    "dir/../run",
    "set -- @; \"$@\"",
    "alias ls='%'; ls",
    "ls # x\n@",
    "ls #\\\n@",
    "ls \\\n; @",
    "l\\\ns; @",
    "echo 'a\nb'; @",
    "echo \"a\nb\"; @",
    "echo a\\ ; @",
    "echo a\\'; @; echo \\'",
    "echo \"\\\"\"; @",
    "echo '\\'; @; echo ''",
    "echo $'\\''; @",
    "echo $'a\\'b' ; @",
    "echo \"${x-\"}; @; echo \"}\"",
    "echo ${x-'}; @; echo '}",
    "echo \"$(echo ')'; @)\"",
    "echo $(echo \\); @)",
    "case x in (x) @;; esac",
    "case x in x) ls;& y) @;; esac",
    "[[ a =~ b ]] || @",
    "[[ ( a = b ) || c ]] && @",
    "echo a{b,c}; @",
    "echo {1..3}; @",
    "echo a | { @; }",
    "echo a | while read x; do @; done",
    "{ ls; } > out; @",
    "(ls) 2>&1 | @",
    "2>out @",
    ">out @",
    "x=1 @",
    "x=1 y=2; @",
];

/// Harmless words and pieces to mix in.
const PIECES: &[&str] = &[
    " ", "\n", ";", "\\\n", "'", "\"", "\\", "$", "`", "(", ")", "{", "}", "&", "|", "<", ">", "#", "*", "~",
    "=", "!", "\t", "a", "x=1 ", "<<E\n", "E\n", "$(", "${x}", "$x", "''", "\"\"", "[", "]", "&&", "||",
    ";;", "do ", "done", "fi", "then ", "esac", "in ", "2>&1", "\r", "-", "1", "@P", "%",
];

const BAD: &[&str] = &[
    "tripwire",
    "tripwire -rf x",
    "./run",
    "make all",
    "curl x",
    "sudo ls",
    "sh -c ls",
    "python3 -c 1",
    "xargs ls",
    "env ls",
    "tar x",
    "npm test",
    "dir/../run",
    "bash -c tripwire",
    "bash run",
];

fn bad_line(dice: &mut Dice) -> String {
    let mut line = dice.pick(BAD).to_owned();
    for _ in 0..=dice.roll(3) {
        let wrap = dice.pick(WRAPS);
        line = wrap.replace('%', &line.replace('\'', "'\\''")).replace('@', &line);
    }
    if dice.roll(3) == 0 {
        for _ in 0..=dice.roll(2) {
            let places: Vec<usize> = line.char_indices().map(|(at, _)| at).chain([line.len()]).collect();
            let at = places[dice.roll(places.len())];
            if dice.roll(3) == 0 && at < line.len() {
                line.remove(at);
            } else {
                line.insert_str(at, dice.pick(PIECES));
            }
        }
    }
    line
}

struct Ground {
    _keep: tempfile::TempDir,
    root: PathBuf,
    around: Around,
}

fn ground() -> Ground {
    let keep = tempfile::tempdir().expect("a folder");
    let root = keep.path().canonicalize().expect("a real path");
    let bin = root.join("bin");
    fs::create_dir_all(&bin).expect("a folder");
    let real = std::env::var("PATH").expect("a path");
    for tool in TOOLS {
        if let Some(found) =
            std::env::split_paths(&real).map(|folder| folder.join(tool)).find(|path| path.is_file())
        {
            symlink(found, bin.join(tool)).expect("a link");
        }
    }
    for wire in WIRES {
        script(&bin.join(wire), &root);
    }
    fs::create_dir(root.join("outside")).expect("a folder");
    let around = Around {
        folder: root.join("project"),
        home: Some(root.join("home")),
        octo_home: root.join("home/.octo"),
        octo_others: Vec::new(),
        processes: vec![],
        language: octo_shell::Language::Bash,
    };
    Ground { _keep: keep, root, around }
}

fn script(path: &Path, root: &Path) {
    fs::write(path, format!("#!/bin/bash\n: >'{}/tripped'\n", root.display())).expect("a tripwire");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
}

impl Ground {
    /// The project as it is before every line.
    fn fresh(&self) {
        let folder = &self.around.folder;
        let _missing = fs::remove_dir_all(folder);
        fs::create_dir_all(folder.join("dir/deep")).expect("folders");
        for name in ["a", "b.txt", "in", "dir/c", "dir/deep/d", ".hidden", "-n"] {
            fs::write(folder.join(name), "one\ntwo\n").expect("a file");
        }
        script(&folder.join("run"), &self.root);
        symlink("../outside", folder.join("out-link")).expect("a link");
        symlink("../../outside/file", folder.join("dir/a")).expect("a link");
        symlink("dir", folder.join("in-link")).expect("a link");
        let outside = self.root.join("outside");
        fs::write(outside.join("file"), "kept\n").expect("a file");
    }

    fn outside(&self) -> BTreeMap<PathBuf, (u32, u64, i64, Vec<u8>)> {
        let mut all = BTreeMap::new();
        for folder in [self.root.join("outside"), self.root.join("bin"), self.root.clone()] {
            for entry in fs::read_dir(&folder).expect("a folder").flatten() {
                let meta = entry.path().symlink_metadata().expect("an entry");
                let content =
                    if meta.is_file() { fs::read(entry.path()).expect("a file") } else { Vec::new() };
                // A folder's own time says nothing that its entries do not.
                let time = if meta.is_file() { meta.mtime_nsec() } else { 0 };
                all.insert(entry.path(), (meta.mode(), meta.ino(), time, content));
            }
        }
        all.retain(|path, _| !path.ends_with("project") && !path.ends_with("line"));
        all
    }

    /// Runs a line as a command nobody was asked about runs; whether a tripwire was started.
    fn run(&self, line: &str) -> bool {
        fs::write(self.root.join("line"), line).expect("the line");
        let tripped = self.root.join("tripped");
        let _missing = fs::remove_file(&tripped);
        let script = format!(
            "GLOBIGNORE='-*:.[!/]*:*/.*'\nbuiltin eval -- \"$(</{}/line)\"",
            self.root.display().to_string().trim_start_matches('/')
        );
        let mut command = match isolation() {
            Some(arguments) => {
                let mut command = Command::new("unshare");
                command.args(arguments).args(["timeout", "-s", "KILL", "5"]);
                command
            }
            None => {
                let mut command = Command::new("timeout");
                command.args(["-s", "KILL", "5"]);
                command
            }
        };
        let bash = self.root.join("bin/bash");
        command.arg("/usr/bin/env").arg("-i");
        command.arg(format!("PATH={}", self.root.join("bin").display()));
        command.arg(format!("HOME={}", self.root.join("home").display()));
        command.arg("LC_ALL=C.UTF-8").arg(bash).args(["--noprofile", "--norc", "-c", &script]);
        command
            .current_dir(&self.around.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().expect("bash");
        tripped.exists()
    }

    /// What a line would touch, if the policy and the paths let it run.
    fn allowed(&self, line: &str) -> Option<Known> {
        let policy = Policy::default();
        let assessment = assess(line, &[], Standing { around: &self.around, policy: &policy, rules: &[] });
        let Verdict::Known(known) = assessment.verdict else { return None };
        let folder = &self.around.folder;
        let open = |text: &String| {
            octo_workspace::resolve(text, folder).is_ok_and(|path| {
                octo_workspace::is_inside(folder, &path) && !octo_workspace::is_secret(&path)
            })
        };
        let taken = |text: &String| octo_workspace::resolve(text, folder).is_ok_and(|path| path != *folder);
        let all =
            known.reads.iter().all(open) && known.writes.iter().all(open) && known.removes.iter().all(open);
        (all && known.removes.iter().all(taken)).then_some(known)
    }
}

/// How a command gets name spaces of its own here; none where the system lends none.
fn isolation() -> Option<&'static [&'static str]> {
    static FOUND: std::sync::LazyLock<Option<&'static [&'static str]>> = std::sync::LazyLock::new(|| {
        let ways: [&[&str]; 2] = [&["-rmpfn", "--kill-child"], &["-rmpf"]];
        let works = |arguments: &&&[&str]| {
            Command::new("unshare")
                .args(**arguments)
                .arg("true")
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
        };
        let found = ways.iter().find(works).copied();
        if found.is_none() {
            println!(
                "no name spaces here: lines run in an empty folder with nothing but tripwires on their PATH"
            );
        }
        found
    });
    *FOUND
}

#[test]
fn what_starts_a_tripwire_was_not_allowed() {
    let (ground, mut dice) = (ground(), Dice::new());
    let (mut allowed, mut checked, mut tripping) = (0, 0, 0);
    for number in 0..lines() {
        let line = bad_line(&mut dice);
        if number % 64 == 0 {
            ground.fresh();
        }
        if ground.allowed(&line).is_some() {
            allowed += 1;
            ground.fresh();
            assert!(!ground.run(&line), "line {number} was allowed and started a tripwire: {line:?}");
        } else if number % 40 == 0 {
            // That the lines are what they are meant to be.
            checked += 1;
            ground.fresh();
            tripping += usize::from(ground.run(&line));
        }
    }
    println!(
        "{} lines: {allowed} allowed, none started a tripwire; of {checked} others {tripping} did",
        lines()
    );
    assert!(tripping * 3 > checked, "only {tripping} of {checked} lines do what they are made for");
}

/// Commands that change files, with names inside, outside, and links between.
fn change_line(dice: &mut Dice) -> String {
    const NAMES: &[&str] = &[
        "a",
        "b.txt",
        "dir",
        "dir/c",
        "dir/a",
        "dir/deep",
        "in-link",
        "in-link/a",
        "out-link",
        "out-link/file",
        "new",
        "new/x",
        "dir/new",
        "../outside",
        "../outside/file",
        ".",
        "..",
        "*",
        "dir/*",
        "*.txt",
        "-n",
        "new2",
        "new2/file",
        "in-link/../a",
        "\"$f\"",
        "$f",
        "\"$PWD/a\"",
        "~/x",
        "{a,new}",
        "./dir",
        "dir/",
        "new/",
        "out-link/",
        "dir/deep/../a",
    ];
    const COMMANDS: &[&str] = &[
        "cp N N",
        "cp -r N/. N",
        "cp -rT N N",
        "cp -r N N",
        "cp -a N N",
        "cp N N N",
        "mv N N",
        "mv N N N",
        "ln -s N N",
        "ln N N",
        "ln -sf N N",
        "ln -sfn N N",
        "rm N",
        "rm -rf N",
        "rm -f N N",
        "rmdir N",
        "mkdir N",
        "mkdir -p N",
        "touch N",
        "touch N N",
        "echo x > N",
        "echo x >> N",
        "cat a > N",
        "cat a | tee N",
        "tee -a N < a",
        "sed -i s/one/1/ N",
        "truncate -s 0 N",
        "chmod -R 700 N",
        "chmod +x N",
        "cd N",
        "cat N",
        "ls N",
        "f=N",
        "f=a",
        "echo x &> N",
        "sort a 2> N",
        "cat <<E > N\nx\nE",
        "find N -name c",
        "head N",
    ];
    const JOINTS: &[&str] = &["; ", " && ", " || ", "\n", " | "];
    let mut line = String::new();
    for at in 0..=dice.roll(4) {
        if at > 0 {
            line.push_str(dice.pick(JOINTS));
        }
        let mut command = dice.pick(COMMANDS).to_owned();
        while let Some(place) = command.find('N') {
            command.replace_range(place..=place, &dice.pick(NAMES).replace('N', "n"));
        }
        line.push_str(&match dice.roll(8) {
            0 => format!("({command})"),
            1 => format!("{{ {command}; }}"),
            2 => format!("if true; then {command}; fi"),
            3 => format!("for f in a dir/c new; do {command}; done"),
            _ => command,
        });
    }
    line
}

#[test]
fn what_is_allowed_changes_nothing_outside_the_folder() {
    let (ground, mut dice) = (ground(), Dice::new());
    let mut allowed = 0;
    ground.fresh();
    for number in 0..lines() / 2 {
        let line = change_line(&mut dice);
        if ground.allowed(&line).is_none() {
            continue;
        }
        ground.fresh();
        // The folder as it was when the line was looked at.
        if ground.allowed(&line).is_none() {
            continue;
        }
        allowed += 1;
        let before = ground.outside();
        let tripped = ground.run(&line);
        let after = ground.outside();
        if tripped || before != after {
            panic!("line {number} was allowed and changed something outside: {line:?}");
        }
        ground.fresh();
    }
    println!("{} lines: {allowed} allowed, nothing outside changed", lines() / 2);
    assert!(allowed > lines() / 60, "only {allowed} were allowed");
}
