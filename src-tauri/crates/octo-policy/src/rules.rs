//! The commands that the person may always allow, and the words of such rules.
//!
//! A rule trusts a command's first words with any arguments after them. Octo offers rules only for the tools of daily
//! building and testing, which run the project's own code anyway. For the other commands (shells, interpreters, `sudo`,
//! `env`, `xargs`, `rm`, downloads, …) the arguments decide, so Octo neither offers nor honours rules made of words.
//! The same applies to commands whose later words could lose data: a permission for `git stash` does not mean `git
//! stash clear`.

use crate::{
    plain::{Form, Simple},
    risk,
    scan::Call,
};
use octo_protocol::Risk;

/// Tools and the subcommands that a rule may name; a rule for a tool without subcommands names only the tool.
const TOOLS: &[(&str, &[&str])] = &[
    ("bun", &["build", "install", "test"]),
    ("bundle", &["check", "install"]),
    (
        "cargo",
        &[
            "bench", "build", "check", "clean", "clippy", "doc", "fetch", "fmt", "metadata", "nextest",
            "run", "test", "tree", "update", "xtask",
        ],
    ),
    ("ctest", &[]),
    ("dart", &["analyze", "format", "pub", "test"]),
    ("deno", &["check", "fmt", "lint", "test"]),
    ("dotnet", &["build", "clean", "format", "publish", "restore", "run", "test"]),
    ("eslint", &[]),
    ("flutter", &["analyze", "build", "pub", "test"]),
    ("git", &["add", "commit", "merge", "stash", "switch", "tag"]),
    ("go", &["build", "fmt", "mod", "test", "vet"]),
    ("gofmt", &[]),
    ("gradle", &["assemble", "build", "check", "clean", "test"]),
    ("jest", &[]),
    ("just", &["build", "check", "fmt", "lint", "test"]),
    ("make", &["all", "build", "check", "clean", "fmt", "install", "lint", "test"]),
    ("mix", &["compile", "credo", "deps.get", "format", "test"]),
    ("mkdir", &[]),
    ("mvn", &["clean", "compile", "install", "package", "test", "verify"]),
    ("mypy", &[]),
    ("ninja", &[]),
    ("npm", &["audit", "ci", "install", "run", "start", "test"]),
    ("phpunit", &[]),
    ("pnpm", &["audit", "build", "install", "lint", "run", "start", "test"]),
    ("poetry", &["build", "check", "install", "lock"]),
    ("prettier", &[]),
    ("pytest", &[]),
    ("rake", &["build", "spec", "test"]),
    ("rspec", &[]),
    ("rubocop", &[]),
    ("ruff", &["check", "format"]),
    ("rustfmt", &[]),
    ("swift", &["build", "test"]),
    ("tsc", &[]),
    ("uv", &["build", "lock", "sync"]),
    ("vitest", &[]),
    ("vue-tsc", &[]),
    ("yarn", &["audit", "build", "install", "lint", "run", "start", "test"]),
    ("zig", &["build", "fmt", "test"]),
];

/// Tools whose rule for `run` must also name the script.
const SCRIPT_RUNNERS: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// Returns the words of the rule for a command; `None` if no rule made of words is safe.
pub(crate) fn words(command: &Simple) -> Option<Vec<String>> {
    let plain = |at: usize| {
        command.words.get(at).filter(|word| word.form == Form::Literal).map(|word| word.text.as_str())
    };
    let name = plain(0)?;
    if matches!(risk::of(&Call::of(command)), Some(Risk::RewritesHistory | Risk::Deletes)) {
        return None;
    }
    let (_, subcommands) = TOOLS.iter().find(|(tool, _)| *tool == name)?;
    if subcommands.is_empty() {
        return Some(vec![name.to_owned()]);
    }
    let subcommand = plain(1).filter(|word| subcommands.contains(word))?;
    let mut words = vec![name.to_owned(), subcommand.to_owned()];
    if subcommand == "run" && SCRIPT_RUNNERS.contains(&name) {
        let script = plain(2).filter(|word| word.starts_with(|c: char| c.is_ascii_alphanumeric()))?;
        words.push(script.to_owned());
    }
    Some(words)
}

/// Returns whether one of the rules covers a command.
pub(crate) fn cover(rules: &[Vec<String>], command: &Simple) -> bool {
    // Octo makes no shorter rule for the command, so a shorter one came from elsewhere and does not count.
    let Some(shortest) = words(command) else { return false };
    let literal = command.words.iter().all(|word| word.form == Form::Literal);
    literal
        && rules.iter().any(|rule| {
            rule.len() >= shortest.len()
                && rule.len() <= command.words.len()
                && rule.iter().zip(&command.words).all(|(rule, word)| *rule == word.text)
        })
}
