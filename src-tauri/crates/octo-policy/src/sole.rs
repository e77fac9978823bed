//! Lines that consist of exactly one command.
//!
//! An application that answers a command itself must be sure that bash would see exactly that command with those
//! words. So both parsers must see it, without a doubt.

use crate::Language;
use crate::{
    bash,
    context::LineContext,
    scan,
    script::{Command, Execution, Negation, Parsed, Part, Quoting, Simple, Word},
    tree,
};
use std::path::Path;

/// Returns the words of a line that is exactly one simple command of literal words: no expansion, substitution,
/// pattern, redirection, assignment or comment, and nothing that joins, ends or surrounds it. Its first two
/// words must be unquoted; later ones may be quoted and may begin with `~/`, which is kept. `None` for any
/// other line.
pub fn sole_command(line: &str) -> Option<Vec<String>> {
    let parsed = bash::parse(line).ok()?;
    let simple = sole_simple_command(&parsed)?;
    // Only blanks may surround the command: a `;`, a comment or another command makes it a different line.
    if line.get(simple.span.clone())? != line.trim_matches([' ', '\t', '\n']) {
        return None;
    }
    let outline = tree::outline(line)?;
    if outline.commands().count() != 1 || !outline.agrees_on_commands(&parsed) {
        return None;
    }
    let words = simple.words.iter().map(literal_value).collect::<Option<Vec<_>>>()?;
    let check_unquoted = |at: usize| {
        let (word, text) = simple.words.get(at).zip(words.get(at))?;
        (line.get(word.span.clone())? == text).then_some(())
    };
    check_unquoted(0)?;
    if words.len() > 1 {
        check_unquoted(1)?;
    }
    Some(words)
}

fn sole_simple_command(parsed: &Parsed) -> Option<&Simple> {
    if !parsed.doubts.is_empty() || !parsed.documents.is_empty() {
        return None;
    }
    let [list] = parsed.script.lists.as_slice() else { return None };
    let [(_, pipeline)] = list.pipelines.as_slice() else { return None };
    let ([Command::Simple(simple)], Execution::Foreground, Negation::No) =
        (pipeline.stages.as_slice(), list.execution, pipeline.negation)
    else {
        return None;
    };
    (simple.assignments.is_empty() && simple.redirects.is_empty()).then_some(simple)
}

/// Returns the value of a word that means itself, or `None` for any other word.
fn literal_value(word: &Word) -> Option<String> {
    if let Some(text) = word.literal() {
        return Some(text);
    }
    let (first, rest) = word.parts.split_first()?;
    let rest = Word { parts: rest.to_vec(), span: 0..0 }.literal()?;
    match (first, word.parts.get(1)) {
        (Part::Home(user), None) if user.is_empty() => Some("~".to_owned()),
        (Part::Home(user), Some(Part::Text(_, Quoting::Unquoted)))
            if user.is_empty() && rest.starts_with('/') =>
        {
            Some(format!("~{rest}"))
        }
        _ => None,
    }
}

/// Returns whether a line would start `program` with one of `first_arguments` as its first argument, also through
/// wrappers, nested shells and substitutions. The answer is inferred from the words, and generous: it may be true for
/// a line that would not, but is never false for a line as people write them that would.
pub fn would_start(line: &str, program: &str, first_arguments: &[&str], folder: &Path) -> bool {
    let context = LineContext {
        folder: folder.to_owned(),
        home: None,
        octo_home: folder.to_owned(),
        octo_others: Vec::new(),
        processes: Vec::new(),
        language: Language::Bash,
    };
    let found = match bash::parse(line) {
        Ok(parsed) => scan::scan(&parsed, &context),
        Err(_) => scan::rough_scan(line, &context),
    };
    found.calls.iter().any(|call| {
        call.name() == program
            && call.arguments().next().is_some_and(|argument| first_arguments.contains(&argument))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_command_of_plain_words_is_parsed_as_bash_parses_it() {
        for (line, words) in [
            ("octo skill list", &["octo", "skill", "list"][..]),
            ("  octo\tskill   list \n", &["octo", "skill", "list"]),
            ("octo a 'b c' \"d'e\" f\\ g", &["octo", "a", "b c", "d'e", "f g"]),
            ("octo a 'first\nsecond'", &["octo", "a", "first\nsecond"]),
            ("octo a \"first\nsecond\"", &["octo", "a", "first\nsecond"]),
            ("octo a ~/x ~ '~/y'", &["octo", "a", "~/x", "~", "~/y"]),
            ("octo a ''", &["octo", "a", ""]),
            ("octo a 'it'\\''s'", &["octo", "a", "it's"]),
            ("octo a --b=c \"\\$5 \\\"q\\\"\"", &["octo", "a", "--b=c", "$5 \"q\""]),
            ("octo a $'x\\ny'", &["octo", "a", "x\ny"]),
            ("octo a 记忆 'naïve'", &["octo", "a", "记忆", "naïve"]),
            ("octo \\\n  skill list", &["octo", "skill", "list"]),
            ("octo", &["octo"]),
        ] {
            let seen = sole_command(line).unwrap_or_default();
            assert_eq!(seen, words, "{line:?}");
        }
    }

    #[test]
    fn a_line_with_anything_else_is_no_sole_command() {
        for line in [
            "",
            "octo skill list; rm x",
            "octo skill list;",
            "octo skill list &",
            "octo skill list && true",
            "true; octo skill list",
            "octo skill list | cat",
            "cat | octo skill list",
            "octo skill list\nrm x",
            "octo skill l\\\nist",
            "octo skill list > x",
            "octo skill list 2>&1",
            "octo skill list < x",
            "octo skill list <<< x",
            "octo skill list <<'E'\nx\nE",
            "octo skill list # and more",
            "# octo\nocto skill list",
            "! octo skill list",
            "time octo skill list | cat",
            "A=b octo skill list",
            "(octo skill list)",
            "{ octo skill list; }",
            "if true; then octo skill list; fi",
            "octo() { rm x; }",
            "$(octo skill list)",
            "`octo skill list`",
            "octo skill show $NAME",
            "octo skill show \"$NAME\"",
            "octo skill show \"$(id)\"",
            "octo skill show \"`id`\"",
            "octo skill show $\"x\"",
            "octo skill show <(id)",
            "octo skill show *",
            "octo skill show a?",
            "octo skill show [a]",
            "octo skill show {a,b}",
            "octo skill show ~root/x",
            "octo skill show a:~/x",
            "'octo' skill list",
            "oc''to skill list",
            "\\octo skill list",
            "octo \"skill\" list",
            "octo s\\kill list",
            "octo skill 'unclosed",
            "octo skill show a\u{202e}b",
            "octo skill show a\u{200b}b",
            "octo\u{a0}skill list",
            "octo skill list\r",
            "octo skill list\0",
            "octo skill show x)",
        ] {
            let words = sole_command(line);
            let is_found =
                words.as_ref().is_some_and(|words| words.iter().take(2).eq(["octo", "skill"].iter()));
            assert!(!is_found, "{line:?}: {words:?}");
        }
    }

    #[test]
    fn would_start_finds_a_command_wherever_it_starts() {
        let folder = Path::new("/w");
        let starts = |line: &str| would_start(line, "octo", &["skill", "memory"], folder);
        for line in [
            "octo skill list | cat",
            "cd x && octo memory list",
            "sudo octo skill list",
            "/usr/bin/octo skill list",
            "bash -c 'octo skill list'",
            "echo $(octo skill list)",
            "X=1 octo skill list",
            "env X=1 octo skill list",
            "octo \"skill\" list",
            "octo skill show $X",
            "octo() { rm x; }; octo skill list",
            "octo skill 'unclosed",
        ] {
            assert!(starts(line), "{line}");
        }
        for line in [
            "git commit -m 'octo skill list'",
            "grep -rn 'octo skill' .",
            "octo exec hi",
            "octo",
            "cat octo skill",
            "octopus skill list",
            "echo octo skill list",
        ] {
            assert!(!starts(line), "{line}");
        }
    }
}
