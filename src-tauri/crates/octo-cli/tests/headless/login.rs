//! The login shell that Octo queries runs nothing outside the sandbox, whatever its start-up files say.
#![cfg(target_os = "linux")]

use crate::support::{ExecResult, exec, model};
use octo_testkit::{ModelServer, Script, TempHome};
use serde_json::json;
use std::fs;

#[test]
fn a_start_up_file_that_the_agent_wrote_runs_in_the_sandbox_only() {
    let home = TempHome::new();
    let outside = home.work();
    let profile = |version: &str| {
        let line = format!("touch ~/ran OUTSIDE/ran\nexport VERSION={version}\n");
        line.replace("OUTSIDE", &outside.display().to_string())
    };
    // Of a session before Octo started.
    fs::write(home.home().join(".bash_profile"), profile("one")).unwrap();
    // In a session whose folder is the home, a program may write the file that is read next.
    let program = format!("cat >~/.bash_profile <<'E'\n{}E\n", profile("two-longer"));
    fs::write(home.home().join("program.sh"), program).unwrap();
    let server = ModelServer::start(
        Script::new()
            .call("terminal", json!({ "command": "echo \"[$VERSION]\"" }))
            .call("terminal", json!({ "command": "sh program.sh" }))
            .call("terminal", json!({ "command": "echo \"[$VERSION]\"" }))
            .text("Looked."),
    );
    let mut arguments = model(&server);
    arguments.extend(["--mode", "autonomous", "look"].map(str::to_owned));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = exec(&home, &arguments);
    command.current_dir(home.home());
    ExecResult::of(command.output().unwrap()).expect(0);
    server.assert_clean();
    let results: Vec<String> = server
        .requests()
        .iter()
        .skip(1)
        .map(|request| request.results().last().unwrap().text.clone())
        .collect();
    assert!(
        results[0].contains("[one]") && results[2].contains("[two-longer]"),
        "both are answers: {results:?}"
    );
    for folder in [home.home(), outside] {
        assert!(!folder.join("ran").exists(), "{}", folder.display());
    }
}
