use super::{edit::render, *};
use octo_protocol::{ApiError, words};
use std::fs;

struct TestFile {
    keep: tempfile::TempDir,
    file: PolicyFile,
}

impl TestFile {
    fn new(text: &str) -> Self {
        let test_file = Self::empty();
        test_file.write(text);
        test_file
    }

    fn empty() -> Self {
        let keep = tempfile::tempdir().unwrap();
        let file = PolicyFile::new(keep.path().join("policy.toml"), Some(PathBuf::from("/home/ada")));
        Self { keep, file }
    }

    fn write(&self, text: &str) {
        fs::write(self.file.path(), text).unwrap();
    }

    fn written(&self) -> String {
        fs::read_to_string(self.file.path()).unwrap()
    }

    fn change(&self, change: &PolicyChange) -> Result<PolicyReading, PolicyChangeError> {
        self.file.change(change, &self.file.read().stamp)
    }
}

fn load(text: &str) -> (Policy, Option<PolicyFault>) {
    let PolicyReading { policy, fault, .. } = TestFile::new(text).file.read();
    (policy, fault)
}

fn rule(list: PolicyList, text: &str) -> PolicyRule {
    PolicyRule { list, text: text.to_owned() }
}

fn add(list: PolicyList, text: &str) -> PolicyChange {
    PolicyChange::Add(rule(list, text))
}

#[test]
fn an_unusable_file_means_the_strict_policy_and_a_fault() {
    for (text, key, line) in [
        ("[commands", "policy.malformed", 1),
        ("\n\n[commands]\nallw = []", "policy.malformed", 4),
        ("[commands]\n\nallow = 'ls'", "policy.malformed", 3),
        ("# a\n[other]", "policy.malformed", 2),
        ("[commands]\nallow = [\n  'ls',\n  'ls; rm x',\n]", "policy.pattern", 4),
        ("[commands]\ndeny = ['docker > x']", "policy.pattern", 2),
        ("[commands]\nallow = ['*']", "policy.pattern", 2),
        ("[commands]\nallow = ['']", "policy.pattern", 2),
        ("[commands]\nallow = ['ls $(x)']", "policy.pattern", 2),
        ("[commands]\nask = ['A=b ls']", "policy.pattern", 2),
        ("[paths]\ndeny = ['~/x', 'private/x']", "policy.place", 2),
        ("[paths]\nsecret = ['/srv/*']", "policy.place", 2),
    ] {
        let (policy, fault) = load(text);
        assert!(policy.is_strict() && policy.rules() == &PolicyRules::default(), "{text}");
        let errors = fault.unwrap().to_api_error();
        assert_eq!(
            (errors.key.as_str(), errors.args["line"].as_str()),
            (key, line.to_string().as_str()),
            "{text}: {errors}"
        );
    }
    let PolicyReading { policy, fault, .. } = TestFile::empty().file.read();
    assert_eq!((policy.is_strict(), fault), (false, None));
    let folder = tempfile::tempdir().unwrap();
    let unreadable = PolicyFile::new(folder.path().to_owned(), None).read();
    assert_eq!(unreadable.fault.unwrap().to_api_error().key, "policy.unreadable");
    assert!(unreadable.policy.is_strict());
}

#[test]
fn every_fault_has_a_text_in_the_catalogue() {
    let folder = tempfile::tempdir().unwrap();
    let faults = [
        load("[commands").1,
        load("[commands]\nallow = ['*']").1,
        load("[paths]\ndeny = ['a/b']").1,
        PolicyFile::new(folder.path().to_owned(), None).read().fault,
    ];
    let errors = faults.map(|fault| fault.unwrap().to_api_error());
    let rules = RuleFault::ALL.map(|why| ApiError::new(why.key()));
    for language in [octo_protocol::Language::En, octo_protocol::Language::Zh] {
        for error in errors.iter().chain(&rules) {
            let words = words::explain(language, error);
            assert!(!words.contains(&error.key) && !words.contains(['{', '}']), "{error}: {words}");
            for (name, value) in &error.args {
                assert!(words.contains(value.as_str()), "{error}: {name} is not told: {words}");
            }
        }
    }
}

#[test]
fn an_invalid_rule_has_a_fault() {
    use PolicyList::{Allow, Ask, Deny, DenyPath, Secret};
    for (list, text, why) in [
        (Allow, "just lint", None),
        (Deny, "git push", None),
        (Ask, "git * --force", None),
        (Allow, "echo 'a b'", None),
        (Allow, "", Some(RuleFault::Empty)),
        (Allow, "  ", Some(RuleFault::Empty)),
        (Allow, "ls; rm x", Some(RuleFault::Joined)),
        (Allow, "ls;", Some(RuleFault::Joined)),
        (Allow, "ls && rm x", Some(RuleFault::Joined)),
        (Allow, "ls | sh", Some(RuleFault::Joined)),
        (Allow, "ls &", Some(RuleFault::Joined)),
        (Allow, "ls\nrm x", Some(RuleFault::Joined)),
        (Allow, "ls $(rm x)", Some(RuleFault::Expanded)),
        (Allow, "ls \"$(rm x)\"", Some(RuleFault::Expanded)),
        (Allow, "ls $HOME", Some(RuleFault::Expanded)),
        (Allow, "ls `rm x`", Some(RuleFault::Expanded)),
        (Allow, "ls > x", Some(RuleFault::Redirected)),
        (Allow, "ls < x", Some(RuleFault::Redirected)),
        (Allow, "PATH=. ls", Some(RuleFault::Assigned)),
        (Allow, "*", Some(RuleFault::Everything)),
        (Allow, "l* x", Some(RuleFault::Pattern)),
        (Allow, "ls 'x", Some(RuleFault::Unreadable)),
        (Allow, "ls \u{202e}x", Some(RuleFault::Invisible)),
        (Secret, "~/vault", None),
        (Secret, "*.token", None),
        (DenyPath, "/srv/private", None),
        (DenyPath, " ", Some(RuleFault::Empty)),
        (DenyPath, "a/b", Some(RuleFault::Relative)),
        (DenyPath, "~eve/x", Some(RuleFault::Relative)),
        (Secret, "~/vault/*", Some(RuleFault::PlacePattern)),
        (Secret, "x\u{200b}", Some(RuleFault::Invisible)),
    ] {
        assert_eq!(check(&rule(list, text)).err(), why, "{text:?}");
        // The same parser judges typed rules and those in a file.
        let in_file = render("", &{
            let mut rules = PolicyRules::default();
            rules.list_mut(list).push(text.to_owned());
            rules
        });
        assert_eq!(load(&in_file).1.is_some(), why.is_some(), "{text:?}");
    }
}

#[test]
fn a_change_keeps_what_the_person_wrote() {
    let text =
        "# mine\n[commands]\nallow = [\n  \"just lint\", # quick\n]\n\n[paths] # places\nsecret = []\n";
    let test_file = TestFile::new(text);
    let reading = test_file.change(&add(PolicyList::Allow, "just fmt")).unwrap();
    assert_eq!(reading.policy.rules().commands.allow, ["just lint", "just fmt"]);
    test_file.change(&add(PolicyList::Allow, "just fmt")).unwrap();
    test_file.change(&add(PolicyList::DenyPath, "/srv/x")).unwrap();
    let written = test_file.written();
    for kept in ["# mine", "# quick", "# places", "just lint", "secret = []"] {
        assert!(written.contains(kept), "{kept}: {written}");
    }
    for text in ["just fmt", "just lint"] {
        test_file.change(&PolicyChange::Remove(rule(PolicyList::Allow, text))).unwrap();
    }
    test_file.change(&PolicyChange::Remove(rule(PolicyList::Deny, "never there"))).unwrap();
    let rules = test_file.file.read().policy.rules().all();
    assert_eq!(rules, [rule(PolicyList::DenyPath, "/srv/x")]);
    assert!(test_file.written().contains("# mine"));
}

#[test]
fn an_invalid_or_changed_file_is_never_written() {
    let broken = "[commands]\nallow = ['ls; rm x'] # half done";
    let test_file = TestFile::new(broken);
    let refused = test_file.change(&add(PolicyList::Deny, "docker")).unwrap_err();
    assert!(matches!(refused, PolicyChangeError::Broken(PolicyFault::Rule { line: 2, .. })), "{refused}");
    assert_eq!(test_file.written(), broken);

    test_file.write("[commands]\nallow = []\n");
    let stamp = test_file.file.read().stamp;
    test_file.write("[commands]\nallow = ['just lint']\n");
    let refused = test_file.file.change(&add(PolicyList::Deny, "docker"), &stamp).unwrap_err();
    assert!(matches!(refused, PolicyChangeError::Changed), "{refused}");
    fs::remove_file(test_file.file.path()).unwrap();
    let refused = test_file.file.change(&add(PolicyList::Deny, "docker"), &stamp).unwrap_err();
    assert!(matches!(refused, PolicyChangeError::Changed), "{refused}");
    assert!(!test_file.file.path().exists());

    let refused = test_file.change(&add(PolicyList::Allow, "ls; rm x")).unwrap_err();
    assert!(matches!(refused, PolicyChangeError::Rule(RuleFault::Joined)), "{refused}");
    assert!(!test_file.file.path().exists());
    let left = fs::read_dir(test_file.keep.path()).unwrap().count();
    assert_eq!(left, 0, "no half of a file is left behind");
}

#[cfg(unix)]
#[test]
fn the_written_file_is_private_and_a_link_stays_a_link() {
    use std::os::unix::fs::PermissionsExt;
    let test_file = TestFile::empty();
    test_file.change(&add(PolicyList::Deny, "docker")).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(test_file.file.path()), 0o600);
    let real = test_file.keep.path().join("dotfiles.toml");
    fs::rename(test_file.file.path(), &real).unwrap();
    std::os::unix::fs::symlink(&real, test_file.file.path()).unwrap();
    test_file.change(&add(PolicyList::Ask, "git commit")).unwrap();
    assert!(fs::symlink_metadata(test_file.file.path()).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("git commit"));
}

#[test]
fn a_path_rule_is_a_path_or_a_pattern_for_a_name() {
    let (policy, fault) = load("[paths]\nsecret = ['~/vault', '*.token']\ndeny = ['/srv/private']");
    assert_eq!(fault, None);
    for (path, secret, denied) in [
        ("/home/ada/vault/a", true, false),
        ("/home/ada/vaults/a", false, false),
        ("/x/y.TOKEN", true, false),
        ("/x/tokens", false, false),
        ("/srv/private", false, true),
        ("/srv/private/deep/er", false, true),
        ("/srv/privateer", false, false),
    ] {
        assert_eq!(
            (policy.is_secret(Path::new(path)), policy.is_denied(Path::new(path))),
            (secret, denied),
            "{path}"
        );
    }
}

#[test]
fn rendered_rules_keep_the_persons_comments() {
    let text = "# mine\n[commands]\nallow = [\n  \"just lint\", # quick\n  \"old\",\n]\n\n[paths]\n# never\ndeny = [\"~/x\"]\n";
    let mut rules = parse(text).ok().unwrap();
    rules.commands.allow = vec!["just lint".to_owned(), "just fmt".to_owned()];
    rules.commands.deny = vec!["docker".to_owned()];
    let rendered = render(text, &rules);
    for kept in ["# mine", "# quick", "# never", "just lint", "just fmt", "docker"] {
        assert!(rendered.contains(kept), "{kept}: {rendered}");
    }
    assert!(!rendered.contains("\"old\""), "{rendered}");
    assert_eq!(parse(&rendered).ok().unwrap(), rules);
    assert_eq!(parse(&render("", &rules)).ok().unwrap(), rules);
}

#[test]
fn hosts_that_commands_may_reach_are_patterns_of_the_file() {
    use octo_network::{AccessRequest, Destination};
    use octo_protocol::NetworkScope;
    let (policy, fault) = load("[network]\nallow = ['*.example.com', 'localhost:3000']");
    assert_eq!(fault, None);
    let allows = |host, scope| {
        let destination = Destination::parse(host, None).unwrap();
        policy.rules().network.allow(&AccessRequest { call: None, destination, scope })
    };
    assert!(allows("www.example.com:443", NetworkScope::Internet));
    assert!(!allows("www.example.com:443", NetworkScope::Private), "a pattern names no private host");
    assert!(!allows("example.org:443", NetworkScope::Internet));
    assert!(allows("localhost:3000", NetworkScope::Private));
    let (policy, fault) = load("[network]\nallow = [\n  'a.example',\n  '*',\n]");
    assert!(matches!(fault, Some(PolicyFault::Malformed { .. })), "{fault:?}");
    assert!(policy.is_strict() && policy.rules().network.allow.is_empty());
}
