//! The key is sent to the model's server and nowhere else.

use crate::support::{ExecResult, exec};
use octo_testkit::{ModelServer, Script, ServerOptions, TempHome};
use serde_json::json;
use std::path::{Path, PathBuf};

const KEY: &str = "sk-test-5d1f0c37e2b94a68";
/// A header's value, which may also be a key.
const TENANT: &str = "tenant-77c1a90be2d4";

fn files_with(folder: &Path, secret: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        // A link's own kind: `rm` of commands is one to the whole program.
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            found.extend(files_with(&path, secret));
        } else if kind.is_file() && String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains(secret) {
            found.push(path);
        }
    }
    found
}

#[test]
fn the_key_is_in_no_file_no_output_and_no_command() {
    for variable in ["OCTO_API_KEY", "MY_OWN_KEY"] {
        let home = TempHome::new();
        let script = Script::new()
            .call("terminal", json!({ "command": "env; tr '\\0' '\\n' < /proc/$$/environ" }))
            .call("terminal", json!({ "command": "env > env.txt", "env": { "OTHER": "1" } }))
            .text("Looked.");
        let options = ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() };
        let server = ModelServer::start_with(script, options);
        let url = server.url();
        let header = format!("x-tenant={TENANT}");
        let mut arguments =
            vec!["--protocol", "anthropic", "--base-url", &url, "--model", "m", "--header", &header];
        if variable != "OCTO_API_KEY" {
            arguments.extend(["--key-env", variable]);
        }
        arguments.extend(["--mode", "autonomous", "--json", "look"]);
        let mut command = exec(&home, &arguments);
        // The other variable must be neither needed nor leaked.
        command.env(variable, KEY).env("OCTO_LOG", "trace");
        let exec_result = ExecResult::of(command.output().unwrap()).expect(0);
        assert_eq!(server.requests().len(), 3, "the server took the key");
        server.assert_clean();
        assert!(server.requests().iter().all(|request| request.header("x-tenant") == Some(TENANT)));

        assert!(!exec_result.out.contains(TENANT) && !exec_result.err.contains(TENANT));
        assert!(!exec_result.out.contains(KEY) && !exec_result.err.contains(KEY));
        let environment = &server.requests()[1].results()[0].text;
        assert!(environment.contains("HOME="), "the command ran: {environment}");
        assert!(!environment.contains(KEY) && !environment.contains("MY_OWN_KEY"), "{environment}");
        assert!(!home.read("env.txt").contains(KEY));
        for root in [home.octo(), home.home(), home.work()] {
            assert_eq!(files_with(&root, KEY), Vec::<PathBuf>::new());
            assert_eq!(files_with(&root, TENANT), Vec::<PathBuf>::new());
        }
        assert!(!files_with(&home.octo(), "look").is_empty(), "the search finds what is there");
        assert!(!files_with(&home.octo().join("logs"), "TRACE").is_empty(), "everything was logged");
    }
}
