//! Files that become code or instructions ask in every mode.

use super::*;

#[test]
fn what_becomes_instructions_is_asked_about_in_every_mode_and_every_folder() {
    let (_keep, folder) = work();
    let skill = "/octo-home/skills/mine/SKILL.md";
    let expected = Some(AskReason::Instructs { path: skill.into() });
    let rules = vec![Rule::Write { path: skill.into() }];
    for mode in [Mode::Ask, Mode::AskRisky, Mode::Autonomous] {
        for folder in [folder.clone(), "/octo-home".into(), "/octo-home/skills".into()] {
            let context = PermissionContext { rules: rules.clone(), ..ground(mode, &folder) };
            assert_eq!(reason(&context, &writes(skill)), expected, "{mode:?}");
            for line in [
                format!("touch {skill}"),
                format!("cp /etc/hosts {skill}"),
                format!("echo x > {skill}"),
                format!("rm {skill}"),
            ] {
                assert_eq!(reason(&context, &command(&line)), expected, "{mode:?} {line}");
            }
        }
    }
    let context = ground(Mode::Autonomous, &folder);
    for path in [
        "/octo-home/agents/SOUL.md",
        "/octo-home/bin/rm",
        "/octo-home/bundled-skills/onboard/SKILL.md",
        "/octo-home/memories/a.md",
        "/octo-home/scripts/read.py",
        "/octo-home/tasks/a.md",
    ] {
        assert_eq!(reason(&context, &writes(path)), Some(AskReason::Instructs { path: path.into() }));
        assert_eq!(reason(&context, &reads(path)), None);
    }
    assert_eq!(reason(&context, &writes("/octo-home/scratch/s/skills/a.md")), None);
    // Protected files stay protected, whatever else a line names.
    let both = decide(&context, &command(&format!("cp {skill} /octo-home/octo.db"))).decision;
    assert!(matches!(both, Decision::Deny { .. }), "{both:?}");
}

#[test]
fn what_a_program_runs_later_is_asked_about_in_every_mode() {
    let (_keep, folder) = work();
    for name in [".git/hooks/pre-commit", ".vscode/tasks.json", ".mcp.json"] {
        let path = folder.join(name).display().to_string();
        let asks = Some(AskReason::RunsLater { path: path.clone() });
        for mode in [Mode::Ask, Mode::AskRisky, Mode::Autonomous] {
            let rules = vec![Rule::Write { path: path.clone() }];
            let ground = PermissionContext { rules, ..ground(mode, &folder) };
            assert_eq!(reason(&ground, &writes(&path)), asks, "{mode:?}");
            for line in [format!("echo x > {name}"), format!("make; echo x > {name}")] {
                assert_eq!(reason(&ground, &command(&line)), asks, "{mode:?} {line}");
            }
        }
    }
    let rules = folder.join("AGENTS.md").display().to_string();
    assert_eq!(reason(&ground(Mode::Autonomous, &folder), &writes(&rules)), None);
}

#[test]
fn a_start_up_file_of_a_shell_is_asked_about_in_every_mode_and_every_folder() {
    let (_keep, elsewhere) = work();
    let home = octo_workspace::resolve_links(&std::env::home_dir().unwrap()).unwrap();
    let file = home.join(".profile").display().to_string();
    let expected = Some(AskReason::Startup { path: file.clone() });
    let rules = vec![Rule::Write { path: file.clone() }, Rule::Line { line: format!("make >> {file}") }];
    for mode in [Mode::Ask, Mode::AskRisky, Mode::Autonomous] {
        for folder in [&elsewhere, &home] {
            let context = PermissionContext { rules: rules.clone(), ..ground(mode, folder) };
            assert_eq!(reason(&context, &writes(&file)), expected, "{mode:?}");
            for line in [
                "echo x >> ~/.profile",
                "touch ~/.profile",
                "cp /etc/hosts ~/.profile",
                "rm ~/.profile",
                "cd ~ && echo x > .profile",
                "make && echo x | tee -a \"$HOME/.profile\"",
                "python3 x.py; sed -i s/a/b/ ~/.profile",
                &format!("make >> {file}"),
            ] {
                assert_eq!(reason(&context, &command(line)), expected, "{mode:?} {line}");
            }
        }
    }
    let context = ground(Mode::Autonomous, &elsewhere);
    for line in ["cat ~/.profile", "source ~/.profile && make", "cp ~/.profile here", "make > .profile"] {
        assert_eq!(reason(&context, &command(line)), None, "{line}");
    }
    assert_eq!(reason(&context, &reads(&file)), None);
    assert_eq!(reason(&context, &writes(elsewhere.join(".bashrc").to_str().unwrap())), None);
}
