//! A session's temporary folder as its commands know it.

use octo_policy::Variables;
use std::path::Path;

/// The variables that name the folder for temporary files.
const NAMES: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

/// The options of every Java machine, which reads none of [`NAMES`]. It reports the variable in its output.
const JAVA_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// Makes `folder` the one for temporary files.
pub(super) fn set_variables(variables: &mut Variables, folder: &Path) {
    // A folder in a system's own one, or in Octo's home: a path that is not text is no use as a variable.
    let Some(folder) = folder.to_str() else { return };
    for name in NAMES {
        variables.insert(name.to_owned(), folder.to_owned());
    }
    if has_java(variables) && !folder.contains(|c: char| c.is_whitespace() || "'\"".contains(c)) {
        let options = variables.get(JAVA_OPTIONS).map(|options| format!("{options} ")).unwrap_or_default();
        if !options.contains("-Djava.io.tmpdir=") {
            variables.insert(JAVA_OPTIONS.to_owned(), format!("{options}-Djava.io.tmpdir={folder}"));
        }
    }
}

fn has_java(variables: &Variables) -> bool {
    let path = variables.get("PATH").map(String::as_str).unwrap_or_default();
    variables.contains_key("JAVA_HOME")
        || std::env::split_paths(path).any(|folder| folder.is_absolute() && folder.join("java").is_file())
}
