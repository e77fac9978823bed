//! Permissions of builtin commands.

use super::*;

fn desk(effect: BuiltinCommandEffect) -> Effects {
    Effects { builtin: Some(effect), ..Effects::none() }
}

const CHANGES: [LibraryChange; 11] = [
    LibraryChange::FetchSkills,
    LibraryChange::InstallSkills,
    LibraryChange::ProposeSkill,
    LibraryChange::ExportSkill,
    LibraryChange::SaveMemory,
    LibraryChange::DeleteMemory,
    LibraryChange::WritePersona,
    LibraryChange::SaveTask,
    LibraryChange::RunTask,
    LibraryChange::SwitchTask,
    LibraryChange::DeleteTask,
];

#[test]
fn at_the_desk_looking_runs_and_changes_ask_and_no_answer_lasts() {
    let (_keep, folder) = work();
    let inside = folder.join("pack");
    for mode in [Mode::Ask, Mode::AskRisky] {
        let context = ground(mode, &folder);
        assert_eq!(
            decide(&context, &desk(BuiltinCommandEffect::Reads)).decision,
            Decision::Run(RunBasis::Policy)
        );
        let reads = Effects { reads: vec![inside.clone()], ..desk(BuiltinCommandEffect::Reads) };
        assert_eq!(decide(&context, &reads).decision, Decision::Run(RunBasis::Policy));
        for change in CHANGES {
            let expected = Decision::Ask { reason: AskReason::Library { change }, rule: None };
            assert_eq!(
                decide(&context, &desk(BuiltinCommandEffect::Changes(change))).decision,
                expected,
                "{mode:?}"
            );
        }
    }
    let autonomous = ground(Mode::Autonomous, &folder);
    for change in CHANGES {
        let reason = reason(&autonomous, &desk(BuiltinCommandEffect::Changes(change)));
        let always = matches!(
            change,
            LibraryChange::InstallSkills | LibraryChange::WritePersona | LibraryChange::SaveTask
        );
        assert_eq!(reason, always.then_some(AskReason::Library { change }), "what becomes instructions asks");
    }
}

#[test]
fn no_rule_and_no_writable_folder_covers_the_desk() {
    let (_keep, folder) = work();
    let file = folder.join("out.zip");
    let path_text = |path: &Path| path.display().to_string();
    let rules = vec![
        Rule::Command { words: vec!["octo".into()] },
        Rule::Command { words: vec!["octo".into(), "skill".into()] },
        Rule::Line { line: "octo skill install x".into() },
        Rule::Write { path: path_text(&file) },
        Rule::Read { path: path_text(&folder) },
        Rule::Host { host: "example.org:443".into() },
    ];
    let context = PermissionContext { rules, ..ground(Mode::AskRisky, &folder) };
    for change in CHANGES {
        let effects = Effects {
            reads: vec![folder.join("x")],
            writes: vec![file.clone()],
            ..desk(BuiltinCommandEffect::Changes(change))
        };
        let expected = Decision::Ask { reason: AskReason::Library { change }, rule: None };
        assert_eq!(decide(&context, &effects).decision, expected);
    }
}

#[test]
fn what_the_desk_reads_and_writes_is_judged_too() {
    let (_keep, folder) = work();
    let context = ground(Mode::AskRisky, &folder);
    for effect in [BuiltinCommandEffect::Reads, BuiltinCommandEffect::Changes(LibraryChange::SaveMemory)] {
        let asks = |path: &str| {
            let effects = Effects { reads: vec![path.into()], ..desk(effect) };
            decide(&context, &effects).decision
        };
        let outside_reason = AskReason::ReadsOutside { path: "/etc/hosts".into() };
        assert_eq!(
            asks("/etc/hosts"),
            Decision::Ask { reason: outside_reason, rule: None },
            "no rule for it either"
        );
        let env = folder.join(".env").display().to_string();
        assert_eq!(asks(&env), Decision::Ask { reason: AskReason::Secret { path: env.clone() }, rule: None });
        assert!(matches!(asks("/octo-home/octo.db"), Decision::Deny { .. }));
    }
    let effects = Effects {
        writes: vec![PathBuf::from("/octo-home/policy.toml")],
        ..desk(BuiltinCommandEffect::Changes(LibraryChange::ExportSkill))
    };
    for mode in [Mode::Ask, Mode::AskRisky, Mode::Autonomous] {
        let decided = decide(&PermissionContext { mode, ..context.clone() }, &effects).decision;
        assert!(matches!(decided, Decision::Deny { .. }), "in no mode");
    }
}

#[test]
fn leave_covers_one_kind_of_change_and_no_more() {
    let (_keep, folder) = work();
    for (leave, covered) in [
        (BuiltinGrant::Ask, None),
        (BuiltinGrant::Memories, Some(LibraryChange::SaveMemory)),
        (BuiltinGrant::Proposals, Some(LibraryChange::ProposeSkill)),
    ] {
        for mode in [Mode::Ask, Mode::AskRisky] {
            let context = PermissionContext { builtin: leave, ..ground(mode, &folder) };
            let strict = PermissionContext { policy: Arc::new(Policy::strict()), ..context.clone() };
            for change in CHANGES {
                let effects = desk(BuiltinCommandEffect::Changes(change));
                assert_eq!(
                    reason(&context, &effects).is_none(),
                    covered == Some(change),
                    "{leave:?} {change:?}"
                );
                assert!(reason(&strict, &effects).is_some(), "not while the person's policy cannot be read");
            }
            // A secret given as a body still asks.
            let env = Effects {
                reads: vec![folder.join(".env")],
                ..desk(BuiltinCommandEffect::Changes(covered.unwrap_or(LibraryChange::SaveMemory)))
            };
            assert!(matches!(reason(&context, &env), Some(AskReason::Secret { .. })));
        }
    }
}

#[test]
fn a_stricter_mode_stops_what_waits_to_begin() {
    let (_keep, folder) = work();
    let saves = desk(BuiltinCommandEffect::Changes(LibraryChange::SaveMemory));
    assert!(is_forbidden_now(&ground(Mode::Ask, &folder), &saves));
    assert!(!is_forbidden_now(&ground(Mode::Autonomous, &folder), &saves));
    assert!(!is_forbidden_now(&ground(Mode::Ask, &folder), &desk(BuiltinCommandEffect::Reads)));
}
