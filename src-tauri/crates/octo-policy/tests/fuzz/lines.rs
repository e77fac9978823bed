//! Randomly generated command lines.

/// A small deterministic generator.
pub struct LineRandom(u64);

impl LineRandom {
    pub fn new() -> Self {
        let seed =
            std::env::var("OCTO_CAMPAIGN_SEED").map_or(20_261_122, |seed| seed.parse().expect("a number"));
        Self(seed)
    }

    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).expect("64 bits") % sides
    }

    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

/// Constructs around a command: `@` is the command, `%` the command inside single quotes.
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

/// Harmless words and pieces that are inserted.
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
    "xargs tripwire",
    "env ls",
    "tar x",
    "npm test",
    "dir/../run",
    "bash -c tripwire",
    "bash run",
];

pub fn bad_line(dice: &mut LineRandom) -> String {
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

/// Returns a line of commands that change files inside and outside the folder, also through links.
pub fn change_line(dice: &mut LineRandom) -> String {
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
