use super::*;

fn entry(line: &str) -> DecisionEntry {
    DecisionEntry::new(1, SessionId::new(), LoggedVerdict::Ask, "command".to_owned(), (line, None))
}

#[test]
fn apparent_secrets_are_redacted() {
    for line in [
        "API_KEY=hunter2 make",
        "curl -H 'Authorization: Bearer hunter2' https://x",
        "curl https://me:hunter2@example.com/x",
        "curl -u hunter2 https://x",
        "mysql --password hunter2",
        "mysql --password=hunter2",
        "export TOKEN=\"hunter2\"",
        "gh auth login --with-token hunter2",
    ] {
        let clean = redacted(line);
        assert!(!clean.contains("hunter2") && clean.contains("[redacted]"), "{clean}");
    }
    let token = format!("make {}a1", "x9".repeat(20));
    assert_eq!(redacted(&token), "make [redacted]");
    for line in ["cargo test --workspace", "git push origin main", "rm -rf docs/a.md", "cat src/authors.rs"] {
        assert_eq!(redacted(line), line);
    }
}

#[test]
fn the_log_is_private_and_rotates() {
    let home = tempfile::tempdir().unwrap();
    let log = DecisionLog::new(&home.path().join("logs"));
    let long = DecisionEntry { line: "x".repeat(200_000), ..entry("make") };
    for _ in 0..40 {
        log.write(&long).unwrap();
    }
    let mut names: Vec<String> = fs::read_dir(home.path().join("logs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["policy.1.log", "policy.2.log", "policy.3.log", "policy.log"]);
    let newest = fs::read_to_string(home.path().join("logs/policy.log")).unwrap();
    for line in newest.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!((value["verdict"].as_str(), value["reason"].as_str()), (Some("ask"), Some("command")));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for name in names {
            let mode = fs::metadata(home.path().join("logs").join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
