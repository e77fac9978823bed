use super::*;
use crate::{
    changes,
    plain::{Form, Word},
    programs,
};

fn specs() -> impl Iterator<Item = (&'static str, &'static str)> {
    let programs = programs::rows().map(|(name, spec, _)| (name, spec));
    programs.chain(programs::git::ROWS.iter().copied()).chain(changes::specs())
}

#[test]
fn every_token_of_every_table_is_an_option_and_unique() {
    for (name, spec) in specs() {
        let mut grammar = OptionGrammar::default();
        for token in spec.split_whitespace() {
            assert!(grammar.add(token).is_some(), "{name}: {token}");
        }
        let short = grammar.short.iter().map(|(letter, _)| format!("-{letter}"));
        let mut names: Vec<String> =
            short.chain(grammar.long.iter().map(|(name, _)| format!("--{name}"))).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(all, names.len(), "{name}: an option twice");
    }
}

/// Returns the operands and the paths that options name; `None` if a word is refused.
fn read(grammar: &OptionGrammar, line: &str) -> Option<(String, String)> {
    let word = |text: &str| Word { text: text.to_owned(), form: Form::Literal, span: 0..0 };
    let words: Vec<Word> = line.split(' ').filter(|text| !text.is_empty()).map(word).collect();
    let options = grammar.read(&words.iter().collect::<Vec<_>>())?;
    Some((options.paths().join(" "), options.option_reads().join(" ")))
}

#[test]
fn a_value_is_parsed_as_its_option_takes_it() {
    let grammar = OptionGrammar::new(
        "-c -n=NUM -U[NUM] -f=FILE --color[=WHEN] --lines=NUM --file=FILE -# !-o=FILE !--output=FILE",
    );
    for (line, operands, files) in [
        ("-n 5 a", "a", ""),
        ("-n5 a", "a", ""),
        ("-cn 5 a", "a", ""),
        ("-U 5 a", "5 a", ""),
        ("-U5 a", "a", ""),
        ("-cU 5", "5", ""),
        ("--color always", "always", ""),
        ("--color=always a", "a", ""),
        ("--lines 5 a", "a", ""),
        ("--lines=5 a", "a", ""),
        ("-f p a", "a", "p"),
        ("-fp a", "a", "p"),
        ("--file=p", "", "p"),
        ("-20 a", "a", ""),
        ("-- -n -o", "-n -o", ""),
        // To a program that stops parsing at its first operand, the value is an operand too.
        ("a -n /etc/x", "a", "/etc/x"),
        ("a -n5", "a", ""),
    ] {
        assert_eq!(read(&grammar, line), Some((operands.to_owned(), files.to_owned())), "{line}");
    }
    for line in [
        "-o x",
        "-co x",
        "--output=x",
        "--output x",
        "-x",
        "--lin 5",
        "--lines",
        "-n",
        "-c=1",
        "--colors",
        "-5c",
    ] {
        assert_eq!(read(&grammar, line), None, "{line}");
    }
}

#[test]
fn an_abbreviation_is_resolved_among_all_options() {
    let grammar =
        OptionGrammar::new("--reverse --recursive --lines=NUM !--random-source=FILE !--output=FILE")
            .spelled(LongSpelling::UniquePrefix);
    for line in ["--rev a", "--lin 5 a", "--l=5 a", "--rec a"] {
        assert_eq!(read(&grammar, line), Some(("a".to_owned(), String::new())), "{line}");
    }
    for line in ["--re a", "--ra x", "--out=x", "--o x", "--= a", "--outputs=x"] {
        assert_eq!(read(&grammar, line), None, "{line}");
    }
}

#[test]
fn only_the_first_letter_counts_where_a_grammar_says_so() {
    let grammar = OptionGrammar::new("-p -s=NUM").clustered(Clusters::FirstLetter);
    assert_eq!(read(&grammar, "-ps 1 a"), None);
    assert_eq!(read(&grammar, "-p a"), Some(("a".to_owned(), String::new())));
    assert_eq!(read(&grammar, "-s4 a"), Some(("a".to_owned(), String::new())));
}
