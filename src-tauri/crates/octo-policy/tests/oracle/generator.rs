//! Generates lines for the oracle: commands with the options of their own help, and programs of small languages.

use std::{
    collections::BTreeMap,
    process::{Command, Stdio},
};

/// Operands and values: files that may be read, files that may not, and words that could be either.
const WORDS: &[&str] = &[
    "notes.txt",
    "README.md",
    "data.csv",
    "data.json",
    "src",
    "src/main.rs",
    "sub",
    ".",
    ".env",
    "f01",
    "f02",
    "d01",
    "../outside.txt",
    "../outside",
    "/etc/shadow",
    "h01",
    "5",
    "1",
    "x",
    "a",
    "-",
    "--",
    "'*.txt'",
    "*.txt",
    "src/*",
    "f*",
    "HEAD",
    "'%s'",
    "','",
    "''",
    "%",
    "+1",
    "2,3",
    "always",
    "g02",
];

/// Parts of the small languages, most of them harmless.
const SED: &[&str] = &[
    "p",
    "1p",
    "$p",
    "/a/p",
    "s/a/b/",
    "s/[[.].]/X/",
    "/]/p",
    "e",
    "w out",
    "r .env",
    "R f01",
    "1,3d",
    "y/ab/ba/",
    "=",
    "q5",
    "a text",
    "i\\\\",
    "{p",
    "}",
    ":a",
    "ba",
    "s,a,b,g",
    "s/a/b/e",
    "s/a/b/w out",
    "/[/]/p",
    "s/[]/]/x/",
    "\\,a,p",
    "N;P;D",
    "# note",
    "l",
    "1~2p",
    "0,/a/d",
    "s/a/\\n/",
    "F",
    "z",
    "c\\\\",
    "s/x/[/",
    "/[^]/]/p",
    "1!G;h;$!d",
];
const AWK: &[&str] = &[
    "{print}",
    "$1 > 3",
    "{print $1 > \"out\"}",
    "{print ($1 > 2)}",
    "BEGIN{system(\"touch out\")}",
    "NR>1{print $2}",
    "{print | \"cat\"}",
    "BEGIN{while((getline l < \".env\")>0) print l}",
    "/a/{n++}END{print n/NR}",
    "{if($1>2)print;else print 1>2}",
    "BEGIN{print ENVIRON[\"HOME\"]}",
    "{print $1,\n$2 > \"out\"}",
    "$0 ~ /[/]/",
    "{gsub(/a/,\"b\");print}",
    "BEGIN{printf \"%s\\n\",1}",
    "{a[$1]++}END{for(k in a)print k,a[k]}",
    "{print > \"/dev/stderr\"}",
    "function f(x){return x>1}{print f($1)}",
    "{x=$1/2/3;print x}",
];
const JQ: &[&str] = &[
    ".",
    ".a",
    "env",
    "$ENV",
    "keys",
    "input_filename",
    "[.[]]",
    "\"\\(env)\"",
    "import \"a\" as a; .",
    "length",
    "@json",
    "$x",
];
const FIND: &[&str] = &[
    "-name '*.txt'",
    "-type f",
    "-delete",
    "-exec cat {} +",
    "-exec wc -l {} \\;",
    "-exec sh {} \\;",
    "-print0",
    "-fprint out",
    "-L",
    "-maxdepth 1",
    "-newer notes.txt",
    "-o",
    "\\! -name x",
    "-exec head -1 {} +",
    "-ls",
    "-follow",
    "-empty",
    "-name '*.rs'",
];
const GIT: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "branch",
    "tag",
    "grep a",
    "ls-files",
    "blame notes.txt",
    "cat-file -p",
    "stash list",
    "stash show",
    "rev-parse",
    "reflog",
    "config user.name",
    "for-each-ref",
    "worktree list",
    "count-objects",
    "describe",
    "shortlog",
    "ls-tree",
    "rev-list",
    "remote -v",
    "check-ignore",
    "symbolic-ref HEAD",
    "merge-base",
];
const GIT_WORDS: &[&str] = &[
    "HEAD",
    "v1",
    "evil",
    "main",
    "HEAD:.env",
    "HEAD:notes.txt",
    "--cached",
    "-p",
    "--stat",
    "-U",
    "--unified",
    "-U5",
    "--output=out",
    "--ext-diff",
    "--textconv",
    "--no-index",
    "--all",
    "-1",
    "--oneline",
    "--",
    "notes.txt",
    ".env",
    "f01",
    "-S a",
    "-G a",
    "--name-only",
    "-O",
    "--format=%H",
    "-L1,2:notes.txt",
    "main..evil",
    "--short",
    "-n",
    "5",
    "--",
    "src",
    "../outside.txt",
    "--word-diff",
    "-v",
    "-z",
];
/// Commands that change files. A word replaces each `@`.
const CHANGES: &[&str] = &[
    "cp @ @",
    "cp -r @ @",
    "cp -a @ new",
    "mv @ @",
    "mv @ new",
    "mkdir -p @",
    "mkdir new new/x",
    "touch @",
    "tee @ < notes.txt",
    "rm @",
    "rm -r @",
    "rmdir @",
    "ln -s @ new",
    "ln @ new",
    "ln -sf @ @",
    "sed -i s/a/b/ @",
    "sed -ni p @",
    "echo x > @",
    "echo x >> @",
    "cat @ > new",
    "awk '{print > \"new\"}' @",
    "awk '{print > \"src/new\"}' @",
    "git add @",
    "git add -A @",
    "git add -u",
    "git commit -qm x",
    "git commit -qam x",
    "git stash",
    "git checkout -q @",
    "git checkout -q -- @",
    "git restore @",
    "git reset -q",
    "git mv @ new",
    "git switch -q @",
    "git branch new",
    "git tag new",
    "git rm @",
    "chmod +x @",
    "chmod -R 755 @",
    "truncate -s 0 @",
    "cd src && touch @",
    "for f in *.txt; do cp \"$f\" \"$f.new\"; done",
    "sort @ > new && mv new @",
    "mkdir new && cp @ new",
    "git init new",
    "touch @ && git add @",
    "x=@; echo x > \"$x\"",
];

/// Constructs around a command. The command replaces each `@`.
const FRAMES: &[&str] = &[
    "@",
    "@",
    "@",
    "@",
    "@",
    "@ | head -3",
    "cd src && @",
    "cat notes.txt | @",
    "x=$(@); echo \"$x\"",
    "for f in *.txt; do @; done",
    "@; @",
    "! @",
    "(@)",
    "diff <(@) notes.txt",
    "@ < notes.txt",
    "find src -type f | xargs @",
    "if @; then echo y; fi",
    "timeout 3 @",
];

/// Generates lines.
pub struct Generator {
    state: u64,
    /// The options in each program's own help.
    options: BTreeMap<&'static str, Vec<String>>,
}

impl Generator {
    /// Creates a generator for the programs that are found on a path.
    pub fn new(programs: impl Iterator<Item = &'static str>, path: &str) -> Self {
        let seed = std::env::var("OCTO_CAMPAIGN_SEED").ok().and_then(|seed| seed.parse().ok());
        let options = programs.filter_map(|name| Some((name, options_of(name, path)?))).collect();
        Self { state: seed.unwrap_or(20_261_126), options }
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 16).unwrap_or_default() % sides.max(1)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        let at = self.roll(from.len());
        from.get(at).copied().unwrap_or_default()
    }

    /// Returns the next line.
    pub fn line(&mut self) -> String {
        let frame = self.pick(FRAMES);
        let mut line = String::new();
        for (number, piece) in frame.split('@').enumerate() {
            if number > 0 {
                line.push_str(&self.command());
            }
            line.push_str(piece);
        }
        line
    }

    fn command(&mut self) -> String {
        if self.roll(20) == 0 {
            let mut line = String::new();
            for (number, piece) in self.pick(CHANGES).split('@').enumerate() {
                if number > 0 {
                    line.push_str(self.pick(WORDS));
                }
                line.push_str(piece);
            }
            return line;
        }
        let names: Vec<&'static str> = self.options.keys().copied().collect();
        match self.roll(10) {
            0 => {
                let options = self.pick(&["", "-n", "-E", "-ne", "-s", "-e p -e"]);
                let program: Vec<&str> = (0..=self.roll(3)).map(|_| self.pick(SED)).collect();
                let joint = self.pick(&[";", "\n"]);
                format!("sed {options} {} {}", quoted(&program.join(joint)), self.words(2))
            }
            1 => format!(
                "awk {} {} {}",
                self.pick(&["", "-F,", "-v x=1"]),
                quoted(self.pick(AWK)),
                self.words(2)
            ),
            2 => format!(
                "jq {} {} {}",
                self.pick(&["", "-r", "-n", "--arg x y", "-R"]),
                quoted(self.pick(JQ)),
                self.words(2)
            ),
            3 => {
                let parts: Vec<&str> = (0..=self.roll(3)).map(|_| self.pick(FIND)).collect();
                format!("find {} {}", self.words(1), parts.join(" "))
            }
            4 | 5 => {
                let words: Vec<&str> = (0..self.roll(4)).map(|_| self.pick(GIT_WORDS)).collect();
                format!("git {} {}", self.pick(GIT), words.join(" "))
            }
            _ => {
                let at = self.roll(names.len());
                let name = names.get(at).copied().unwrap_or("ls");
                let mut line = name.to_owned();
                for _ in 0..self.roll(4) {
                    line.push(' ');
                    line.push_str(&self.option(name));
                }
                line.push(' ');
                line.push_str(&self.words(3));
                line
            }
        }
    }

    /// Returns an option of a program, with or without a value, perhaps abbreviated.
    fn option(&mut self, name: &str) -> String {
        let known = self.options.get(name).cloned().unwrap_or_default();
        let at = self.roll(known.len());
        let Some(option) = known.get(at) else { return self.pick(WORDS).to_owned() };
        let value = self.pick(WORDS);
        let long = option.starts_with("--");
        match self.roll(6) {
            0 => format!("{option} {value}"),
            1 if long => format!("{option}={value}"),
            1 => format!("{option}{value}"),
            2 if long && option.len() > 5 => {
                let cut = 4 + self.roll(option.len() - 4);
                option.get(..cut).unwrap_or(option).to_owned()
            }
            _ => option.clone(),
        }
    }

    fn words(&mut self, max_count: usize) -> String {
        let words: Vec<&str> = (0..=self.roll(max_count)).map(|_| self.pick(WORDS)).collect();
        words.join(" ")
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Returns the options in a program's own help; `None` if the program is not installed.
fn options_of(name: &str, path: &str) -> Option<Vec<String>> {
    let output = Command::new("timeout")
        .args(["5", name, "--help"])
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.code() != Some(127))?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    let mut options: Vec<String> = text
        .split(|c: char| c.is_whitespace() || ",;|()[]<>\"'`=".contains(c))
        .filter(|word| word.starts_with('-') && word.len() > 1 && !word.starts_with("---"))
        .map(|word| word.trim_end_matches(['.', ':']).to_owned())
        .filter(|word| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
        .collect();
    options.sort();
    options.dedup();
    Some(options)
}
