use super::*;

fn load(text: &str) -> (Policy, Option<PolicyFault>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.toml");
    fs::write(&path, text).unwrap();
    Policy::load(&path, Some(Path::new("/home/ada")))
}

#[test]
fn a_file_that_cannot_be_used_means_the_strict_policy_and_a_word_about_it() {
    for (text, key) in [
        ("[commands", "policy.malformed"),
        ("[commands]\nallw = []", "policy.malformed"),
        ("[commands]\nallow = 'ls'", "policy.malformed"),
        ("[other]", "policy.malformed"),
        ("[commands]\nallow = ['ls; rm x']", "policy.pattern"),
        ("[commands]\ndeny = ['docker > x']", "policy.pattern"),
        ("[commands]\nallow = ['*']", "policy.pattern"),
        ("[commands]\nallow = ['']", "policy.pattern"),
        ("[commands]\nallow = ['ls $(x)']", "policy.pattern"),
        ("[commands]\nask = ['A=b ls']", "policy.pattern"),
    ] {
        let (policy, fault) = load(text);
        assert!(policy.is_strict(), "{text}");
        let fault = fault.unwrap();
        assert_eq!(fault.key(), key, "{text}: {fault}");
        assert_eq!(fault.arguments().first().unwrap().0, "path");
    }
    let (policy, fault) = Policy::load(Path::new("/no/such/policy.toml"), None);
    assert_eq!((policy.is_strict(), fault), (false, None));
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Policy::load(folder.path(), None).1.unwrap().key(), "policy.unreadable");
}

#[test]
fn words_for_every_fault_are_in_the_catalogue() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../words");
    for language in ["en", "zh"] {
        let text = fs::read_to_string(root.join(language).join("errors.json")).unwrap();
        let words: serde_json::Value = serde_json::from_str(&text).unwrap();
        for fault in [load("[commands").1, load("[commands]\nallow = ['*']").1, Policy::load(&root, None).1] {
            let fault = fault.unwrap();
            let line = words[format!("error.{}", fault.key())].as_str().unwrap();
            for (name, _) in fault.arguments() {
                assert!(line.contains(&format!("{{{name}}}")), "{language} {}: {name}", fault.key());
            }
        }
    }
}

#[test]
fn paths_are_given_by_place_or_by_name() {
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
fn rules_are_written_without_losing_the_persons_comments() {
    let text = "# mine\n[commands]\nallow = [\n  \"just lint\", # quick\n  \"old\",\n]\n\n[paths]\n# never\ndeny = [\"~/x\"]\n";
    let mut rules = parse(text).ok().unwrap();
    rules.commands.allow = vec!["just lint".to_owned(), "just fmt".to_owned()];
    rules.commands.deny = vec!["docker".to_owned()];
    let made = render(text, &rules);
    for kept in ["# mine", "# quick", "# never", "just lint", "just fmt", "docker"] {
        assert!(made.contains(kept), "{kept}: {made}");
    }
    assert!(!made.contains("\"old\""), "{made}");
    assert_eq!(parse(&made).ok().unwrap(), rules);
    assert_eq!(parse(&render("", &rules)).ok().unwrap(), rules);
    assert_eq!(parse(&render("[broken", &rules)).ok().unwrap(), rules);
}
