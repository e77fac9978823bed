use crate::{
    Footprint, Language, LineContext, NameChange, Policy, PolicyContext, Reliance, StartupFiles, Verdict,
    assess, changes::touches, plain,
};
use std::{fs, path::Path};

/// Answers no query: the folder is no repository.
fn no_git(_: &Path, _: &[&str]) -> Option<String> {
    None
}

/// Returns the footprint of a line that runs unasked in a folder with the files `a` and `sub/b`.
fn footprint(line: &str) -> Footprint {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().canonicalize().unwrap();
    fs::create_dir(folder.join("sub")).unwrap();
    for file in ["a", "sub/b"] {
        fs::write(folder.join(file), "text\n").unwrap();
    }
    let context = LineContext {
        folder,
        home: None,
        octo_home: "/octo-home".into(),
        octo_others: Vec::new(),
        processes: Vec::new(),
        language: Language::Bash,
    };
    let (policy, startup) = (Policy::default(), StartupFiles::default());
    let policy_context =
        PolicyContext { context: &context, policy: &policy, rules: &[], startup: &startup, git: no_git };
    match assess(line, &[], policy_context).verdict {
        Verdict::Known(touched) => touched.footprint,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn a_line_relies_on_the_paths_it_names_and_changes_what_it_places() {
    use {NameChange as Changes, Reliance as Relies};
    for (line, relies_on, changes) in [
        ("sleep 60", Relies::Nothing, Changes::Nothing),
        ("cat a", Relies::Paths, Changes::Nothing),
        ("sleep 3; cat a; tee c < sub/b", Relies::Paths, Changes::Entries),
        ("cd sub && sleep 3 && cat b", Relies::Paths, Changes::Nothing),
        ("find . -name '*.txt' | xargs wc", Relies::Names, Changes::Nothing),
        ("touch c", Relies::Paths, Changes::Entries),
        ("cp a c", Relies::Paths, Changes::Entries),
        ("rm a", Relies::Paths, Changes::Entries),
        ("mv a c", Relies::Paths, Changes::Links),
        ("mv sub other", Relies::Paths, Changes::Links),
        ("cp -a sub other", Relies::Paths, Changes::Links),
        ("ln -s a link", Relies::Paths, Changes::Links),
    ] {
        assert_eq!(footprint(line), Footprint { relies_on, changes }, "{line}");
    }
}

#[test]
fn git_commands_that_change_the_working_tree_may_place_links() {
    for (line, changes) in [
        ("git checkout evil", NameChange::Links),
        ("git switch evil", NameChange::Links),
        ("git restore a", NameChange::Links),
        ("git stash pop", NameChange::Links),
        ("git stash", NameChange::Links),
        ("git mv a c", NameChange::Links),
        ("git add a", NameChange::Nothing),
        ("git commit -m text", NameChange::Nothing),
        ("git branch b", NameChange::Nothing),
    ] {
        let read = plain::read(line).unwrap();
        let (name, arguments) = read.commands[0].words.split_first().unwrap();
        let touched = touches(&name.text, arguments).unwrap();
        let most = touched.iter().map(|touch| touch.footprint().changes).max();
        assert_eq!(most, Some(changes), "{line}");
    }
}

#[test]
fn only_what_the_other_relies_on_conflicts() {
    let footprint = |relies_on, changes| Footprint { relies_on, changes };
    let reads = footprint(Reliance::Paths, NameChange::Nothing);
    let finds = footprint(Reliance::Names, NameChange::Nothing);
    let writes = footprint(Reliance::Paths, NameChange::Entries);
    let places = footprint(Reliance::Paths, NameChange::Links);
    let waits = Footprint::default();
    for (one, other, conflict) in [
        (reads, reads, false),
        (reads, writes, false),
        (reads, places, true),
        (writes, places, true),
        (places, places, true),
        (finds, reads, false),
        (finds, writes, true),
        (finds, places, true),
        (finds, Footprint::FILE_WRITES, true),
        (reads, Footprint::FILE_WRITES, false),
        (reads, Footprint::RESTORES, true),
        (waits, places, false),
    ] {
        assert_eq!(one.conflicts_with(other), conflict, "{one:?} {other:?}");
        assert_eq!(other.conflicts_with(one), conflict, "{other:?} {one:?}");
    }
}
