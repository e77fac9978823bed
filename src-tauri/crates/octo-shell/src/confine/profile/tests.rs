use super::*;
use proptest::prelude::*;
use std::fs;

/// A parser of the used part of the profile's language: lists, words and strings.
#[derive(Debug, PartialEq, Eq)]
enum Term {
    List(Vec<Term>),
    Word(String),
    Text(String),
}

fn read(text: &str) -> Vec<Term> {
    let mut chars = text.chars().peekable();
    let mut open: Vec<Vec<Term>> = vec![Vec::new()];
    while let Some(c) = chars.next() {
        match c {
            '(' => open.push(Vec::new()),
            ')' => {
                let list = open.pop().unwrap();
                open.last_mut().expect("brackets are paired").push(Term::List(list));
            }
            '"' => {
                let mut string = String::new();
                loop {
                    match chars.next().expect("a string has its end") {
                        '"' => break,
                        '\\' => string.push(match chars.next().unwrap() {
                            'n' => '\n',
                            'r' => '\r',
                            't' => '\t',
                            same => same,
                        }),
                        other => string.push(other),
                    }
                }
                open.last_mut().unwrap().push(Term::Text(string));
            }
            c if c.is_whitespace() => {}
            start => {
                let mut word = start.to_string();
                while let Some(character) =
                    chars.peek().filter(|c| !c.is_whitespace() && !"()\"".contains(**c))
                {
                    word.push(*character);
                    chars.next();
                }
                open.last_mut().unwrap().push(Term::Word(word));
            }
        }
    }
    assert_eq!(open.len(), 1, "brackets are paired");
    open.pop().unwrap()
}

/// Whether the profile allows an operation on a path, evaluated like the system does: the last matching rule
/// applies.
fn allows(profile: &str, operation: &str, path: &Path) -> bool {
    let mut allowed = false;
    for rule in read(profile) {
        let Term::List(terms) = rule else { panic!("a rule: {rule:?}") };
        let mut terms = terms.into_iter();
        let Some(Term::Word(verdict)) = terms.next() else { panic!("a verdict") };
        if verdict == "version" {
            continue;
        }
        let (mut operations, mut filters) = (Vec::new(), Vec::new());
        for term in terms {
            match term {
                Term::Word(word) => operations.push(word),
                Term::List(filter) => filters.push(filter),
                Term::Text(text) => panic!("a string of its own: {text}"),
            }
        }
        let about = operations.iter().any(|candidate| {
            candidate == "default"
                || candidate == operation
                || candidate.strip_suffix('*').is_some_and(|start| operation.starts_with(start))
        });
        let fits = filters.is_empty()
            || filters.iter().any(|filter| match filter.as_slice() {
                [Term::Word(kind), Term::Text(text)] if kind == "subpath" => path.starts_with(text),
                [Term::Word(kind), Term::Text(text)] if kind == "literal" => path == Path::new(text),
                [Term::Word(kind), ..] if kind == "regex" => false,
                other => panic!("a filter: {other:?}"),
            });
        if about && fits {
            allowed = verdict == "allow";
        }
    }
    allowed
}

fn paths(names: &[&str]) -> BTreeSet<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

#[test]
fn the_last_matching_rule_decides_as_the_confinement_does() {
    let bounds = ProfileBounds {
        write: paths(&[
            "/Users/a/work",
            "/private/tmp/octo-1a2b3c4d/s",
            "/Users/a/.ssh/known_hosts",
            "/Users/a/.octo/shells/s",
        ]),
        hidden: paths(&["/Users/a/.ssh", "/Users/a/.config/gh", "/Users/a/.octo", "/Users/a/work/.aws"]),
        readable: paths(&["/Users/a/.octo/skills", "/Users/a/.config/gh/hosts.yml"]),
    };
    let profile = profile(&bounds).unwrap();
    for (operation, path, allowed) in [
        ("process-exec", "/bin/ls", true),
        ("network-outbound", "/", true),
        ("file-read-data", "/etc/hosts", true),
        ("file-read-data", "/Users/a/notes", true),
        ("file-write-data", "/Users/a/notes", false),
        ("file-write-create", "/Users/a/work/new", true),
        ("file-write-unlink", "/Users/a/work/old", true),
        ("file-write-data", "/Users/a/workshop", false),
        ("file-write-create", "/private/tmp/octo-1a2b3c4d/s/x", true),
        ("file-write-create", "/private/tmp/octo-1a2b3c4d/other", false),
        ("file-write-create", "/private/tmp/x", false),
        ("file-write-data", "/private/tmp/project/x", false),
        ("file-read-data", "/private/tmp/project/x", true),
        ("file-write-create", "/private/var/folders/a/T/x", false),
        ("file-write-data", "/dev/null", true),
        ("file-write-data", "/dev/disk0", false),
        ("file-read-data", "/Users/a/.ssh/id_rsa", false),
        ("file-read-metadata", "/Users/a/.ssh/id_rsa", true),
        ("file-write-data", "/Users/a/.ssh/id_rsa", false),
        ("file-write-data", "/Users/a/.ssh/known_hosts", true),
        ("file-read-data", "/Users/a/.config/gh/hosts.yml", true),
        ("file-write-data", "/Users/a/.config/gh/hosts.yml", false),
        ("file-read-data", "/Users/a/.config/gh/other", false),
        ("file-read-data", "/Users/a/.octo/octo.db", false),
        ("file-write-data", "/Users/a/.octo/policy.toml", false),
        ("file-read-data", "/Users/a/.octo/skills/x", true),
        ("file-write-data", "/Users/a/.octo/skills/x", false),
        ("file-write-data", "/Users/a/.octo/shells/s/state", true),
        ("file-read-data", "/Users/a/work/.aws/credentials", false),
        ("file-write-unlink", "/Users/a/work/.aws", false),
        // A folder that contains a secret cannot be moved, wherever writing is allowed.
        ("file-write-unlink", "/Users/a/work", false),
        ("file-write-unlink", "/Users/a/.config", false),
    ] {
        assert_eq!(allows(&profile, operation, Path::new(path)), allowed, "{operation} {path}\n{profile}");
    }
}

#[test]
fn secrets_stay_closed_where_the_sessions_folder_is_the_home() {
    let keep = octo_testkit::test_folder();
    let home = keep.path().canonicalize().unwrap();
    let folders =
        [".ssh", ".config/google-chrome", ".octo/skills", ".octo-before-2026-01-02-030405", "docs", ".cache"];
    for folder in folders {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    fs::write(home.join(".netrc"), "x").unwrap();
    let confinement = Confinement {
        writable: vec![home.clone()],
        enterable: Vec::new(),
        secrets: Vec::new(),
        home: Some(home.clone()),
        octo: home.join(".octo"),
        octo_others: vec![home.join("moved")],
        octo_readable: vec![home.join(".octo/skills")],
    };
    let profile = profile(&confinement.bounds()).unwrap();
    for (path, read, write) in [
        ("docs/a", true, true),
        (".ssh/id_rsa", false, false),
        (".netrc", false, false),
        (".config/google-chrome/Cookies", false, false),
        (".octo/octo.db", false, false),
        (".octo/skills/a", true, false),
        (".octo-before-2026-01-02-030405/octo.db", false, false),
        ("moved/octo.db", false, false),
    ] {
        let path = home.join(path);
        let found = (allows(&profile, "file-read-data", &path), allows(&profile, "file-write-data", &path));
        assert_eq!(found, (read, write), "{}", path.display());
    }
}

#[cfg(unix)]
#[test]
fn an_unquotable_secret_path_prevents_the_start() {
    use std::os::unix::ffi::OsStrExt;
    let name = PathBuf::from(std::ffi::OsStr::from_bytes(b"/home/\xff"));
    let hidden = ProfileBounds { hidden: [name.clone()].into(), ..ProfileBounds::default() };
    assert!(profile(&hidden).is_err());
    let bounds = ProfileBounds { write: [name].into(), ..ProfileBounds::default() };
    assert!(!allows(&profile(&bounds).unwrap(), "file-write-data", Path::new("/home/x")));
}

proptest! {
    #[test]
    fn no_name_of_a_path_changes_what_the_profile_says(
        work in "/[^/\0]{1,24}", secret in "/[^/\0]{1,24}", other in "/[^/\0]{1,24}",
    ) {
        let bounds = ProfileBounds {
            write: paths(&[&work]),
            hidden: paths(&[&secret]),
            readable: BTreeSet::new(),
        };
        let profile = profile(&bounds).unwrap();
        let child = |place: &str| PathBuf::from(format!("{place}/x"));
        let are_disjoint = |a: &str, b: &str| !Path::new(a).starts_with(b) && !Path::new(b).starts_with(a);
        if are_disjoint(&work, &secret) {
            prop_assert!(allows(&profile, "file-write-data", &child(&work)), "{profile}");
        }
        // A hidden path named for the command was approved by the person. `/.` is the root: a path named below
        // it opens only itself, and no sibling.
        let is_covered = Path::new(&work).starts_with(&secret) && child(&secret).starts_with(&work);
        prop_assert_eq!(allows(&profile, "file-read-data", &child(&secret)), is_covered, "{}", profile);
        if are_disjoint(&other, &work) {
            prop_assert!(!allows(&profile, "file-write-data", &child(&other)), "{profile}");
        }
    }
}
