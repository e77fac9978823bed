//! Generates the PowerShell scripts that run a command line and write the state for the next one. The scripts
//! are generated the same way on every system, so every system can test them.
//!
//! PowerShell reads the line from a file and runs it as a separate block in the session's scope; an
//! unterminated quote is then an error PowerShell reports. Whatever its outcome, the script writes the
//! directory and the environment at the end, in the format [`super::carry::read`] reads; functions are not
//! carried.

use std::path::Path;

/// Returns PowerShell's arguments: without double quotes, whatever the paths are.
pub(super) fn arguments(script: &Path) -> Vec<String> {
    let begin = format!(". ([ScriptBlock]::Create([IO.File]::ReadAllText({})))", quote(script));
    ["-NoLogo", "-NoProfile", "-Command"].map(str::to_owned).into_iter().chain([begin]).collect()
}

/// Returns the script: it runs the line in `line` and writes its state to `state`.
pub(super) fn script(line: &Path, state: &Path) -> String {
    SCRIPT.replace("@LINE@", &quote(line)).replace("@STATE@", &quote(state))
}

/// `exit` in the line runs the `finally` too. The status is that of the last program, else 1 after an error.
const SCRIPT: &str = r"
[Console]::OutputEncoding = New-Object Text.UTF8Encoding $false
$OutputEncoding = [Console]::OutputEncoding
$ProgressPreference = 'SilentlyContinue'
$global:LASTEXITCODE = 0
$__octo_ok = $false
try {
  . ([ScriptBlock]::Create([IO.File]::ReadAllText(@LINE@)))
  $__octo_ok = $?
} catch {
  $_ | Out-Default
} finally {
  $__octo_end = [string][char]0
  $__octo_text = New-Object Text.StringBuilder
  [void]$__octo_text.Append((Get-Location -PSProvider FileSystem).ProviderPath).Append([char]10).Append($__octo_end)
  foreach ($__octo_one in [Environment]::GetEnvironmentVariables().GetEnumerator()) {
    [void]$__octo_text.Append($__octo_one.Key).Append('=').Append($__octo_one.Value).Append($__octo_end)
  }
  [void]$__octo_text.Append($__octo_end).Append($__octo_end).Append($__octo_end).Append('end').Append($__octo_end)
  [IO.File]::WriteAllText(@STATE@, $__octo_text.ToString(), (New-Object Text.UTF8Encoding $false))
}
if ($global:LASTEXITCODE) { exit $global:LASTEXITCODE }
if (-not $__octo_ok) { exit 1 }
exit 0
";

/// Returns a path as a verbatim PowerShell string. The quotes that look like an apostrophe end such a string
/// too.
fn quote(path: &Path) -> String {
    let mut text = String::from("'");
    for character in path.to_string_lossy().chars() {
        if matches!(character, '\'' | '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}') {
            text.push(character);
        }
        text.push(character);
    }
    text.push('\'');
    text
}

#[cfg(test)]
mod tests {
    use super::{super::carry, *};
    use proptest::prelude::*;

    /// Returns the strings of a script, parsed as PowerShell does.
    fn strings(script: &str) -> Vec<String> {
        let is_quote = |c: char| matches!(c, '\'' | '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}');
        let mut chars = script.chars().peekable();
        let mut found = Vec::new();
        while let Some(c) = chars.next() {
            if !is_quote(c) {
                continue;
            }
            let mut text = String::new();
            loop {
                match chars.next().expect("a string has its end") {
                    c if is_quote(c) => match chars.peek() {
                        Some(next) if is_quote(*next) => text.extend(chars.next()),
                        _ => break,
                    },
                    other => text.push(other),
                }
            }
            found.push(text);
        }
        found
    }

    #[test]
    fn the_command_line_does_not_contain_the_line() {
        let arguments = arguments(Path::new(r"C:\Users\O'Neil\x.begin"));
        assert_eq!(arguments.len(), 4);
        assert_eq!(strings(&arguments[3]), [r"C:\Users\O'Neil\x.begin"]);
        assert!(!arguments.iter().any(|argument| argument.contains('"')));
    }

    #[test]
    fn the_scripts_output_parses() {
        // The pieces in the order in which the script appends them.
        let nul = "\0";
        let state =
            [r"C:\work", "\n", nul, "A", "=", "1", nul, "B", "=", "x=y", nul, nul, nul, nul, "end", nul]
                .concat();
        let end_state = carry::read(state.as_bytes()).expect("it is whole");
        let debug = format!("{end_state:?}");
        assert!(
            debug.contains(r"C:\\work") && debug.contains(r#""A": "1""#) && debug.contains(r#""B": "x=y""#),
            "{debug}"
        );
        let empty_state = [r"C:\work", "\n", nul, nul, nul, nul, "end", nul].concat();
        assert!(carry::read(empty_state.as_bytes()).is_some());
        let appended: usize = SCRIPT.matches(".Append($__octo_end)").count();
        assert_eq!(
            appended, 6,
            "after the directory, each variable, all of them, functions, their list, the end"
        );
    }

    proptest! {
        #[test]
        fn any_path_is_quoted_safely(line in "[^\0]{0,40}", state in "['\u{2018}\u{2019}\u{201a}\u{201b}a\\$`;\"\n]{0,20}") {
            let script = script(Path::new(&line), Path::new(&state));
            // A path with a placeholder's name would be the caller's fault: handles are letters and digits.
            prop_assume!(!line.contains("@STATE@"));
            let found = strings(&script);
            prop_assert!(found.contains(&line), "{script}");
            prop_assert!(found.contains(&state), "{script}");
            prop_assert_eq!(found.len(), 5, "{}", script);
        }
    }
}
