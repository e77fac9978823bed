use super::{matching, *};
use crate::testing::Bench;
use proptest::prelude::*;
use serde_json::json;

fn input(old: &str, new: &str, all: bool) -> EditInput {
    EditInput { path: String::new(), old_string: old.into(), new_string: new.into(), replace_all: Some(all) }
}

/// Returns the content after an edit, or the text of its refusal.
fn edit(content: &str, old: &str, new: &str) -> Result<String, String> {
    bytes(content.as_bytes(), &input(old, new, false)).map(|after| String::from_utf8(after).unwrap())
}

fn edit_all(content: &str, old: &str, new: &str) -> Result<String, String> {
    bytes(content.as_bytes(), &input(old, new, true)).map(|after| String::from_utf8(after).unwrap())
}

fn bytes(content: &[u8], input: &EditInput) -> Result<Vec<u8>, String> {
    apply_edit(content, input, "f").map(|change| change.content).map_err(|error| error.text)
}

#[test]
fn exact_text_is_replaced_literally() {
    for (content, old, new, after) in [
        ("a b c", "b", "x", "a x c"),
        ("a b c", "b", r"\0 \1 \\ $1 ${x} \n &", r"a \0 \1 \\ $1 ${x} \n & c"),
        ("a\nb\n", "b\n", "", "a\n"),
        ("a\nb", "b", "b\n", "a\nb\n"),
        ("a\n", "a\n", "a", "a"),
        ("x", "x", "", ""),
        ("日本", "本", "木", "日木"),
        ("a\r\nb\r\nc\r\n", "a\nb", "1\n2\n3", "1\r\n2\r\n3\r\nc\r\n"),
        ("a\r\nb\r\n", "a\r\nb", "1\r\n2", "1\r\n2\r\n"),
        ("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"),
        ("a\r\nb", "b", "b\nc", "a\r\nb\r\nc"),
        ("a\r\nb\nc\nd\r\n", "b\nc", "1\n2", "a\r\n1\n2\nd\r\n"),
        ("a\nb\n", "a", "1\r\n2", "1\r\n2\nb\n"),
    ] {
        assert_eq!(edit(content, old, new), Ok(after.to_owned()), "{content:?} {old:?} {new:?}");
    }
}

#[test]
fn outer_white_space_of_a_quote_is_tolerated() {
    for (content, old, new, after) in [
        ("puts 'hello'\n", "puts 'hello'\n\n", "puts 'world'\n\n", "puts 'world'\n"),
        ("puts 'hello'", "puts 'hello'\n\n", "puts 'world'", "puts 'world'"),
        ("a\n  b\nc\n", "\n\n  b  \n", "\n\n  x  \n", "a\n  x\nc\n"),
        ("a\nb\n", "\nb ", "", "a\n\n"),
    ] {
        assert_eq!(edit(content, old, new), Ok(after.to_owned()), "{content:?} {old:?} {new:?}");
    }
    assert!(edit("max = 10\n", " x = 1", "y").is_err(), "not inside a longer word");
    assert!(edit("max = 10\n", "x = 1 ", "y").is_err());
    assert!(edit("a\n", " \n ", "y").is_err(), "white space alone names nothing");
}

#[test]
fn doubled_escapes_are_tolerated() {
    assert_eq!(edit("x = '\u{c}'\n", r"x = '\u000C'", r"x = '\f'"), Ok("x = '\\f'\n".into()));
    assert_eq!(edit("x = '\u{c}'\n", "\nx = '\\u000C'", "x = 1"), Ok("x = 1\n".into()));
    assert_eq!(edit("say \"hi\"\n", r#"say \"hi\""#, "say it"), Ok("say it\n".into()));
    assert_eq!(edit("a\nb\n", r"a\nb", "x"), Ok("x\n".into()));
    let error = edit("a\nb\n", r"a\nb", r"x\ny").unwrap_err();
    assert!(error.contains("real line breaks"), "{error}");
    // An escape that matches literally needs no tolerance.
    assert_eq!(edit(r#"print("a\n")"#, r#""a\n""#, r#""b\n""#), Ok(r#"print("b\n")"#.into()));
}

#[test]
fn escapes_in_both_texts_are_not_guessed_at() {
    for (content, old, new, escape) in [
        ("print(\"hi\")\n", r#"print(\"hi\")"#, r#"print(\"bye\")"#, r#"\""#),
        ("\n  print(\"hi\")\n  x\n", "print(\\\"hi\\\")\n\tx", r#"print(\"bye\")"#, r#"\""#),
        ("  a\n    print(\"hi\")\n", "a\n  print(\\\"hi\\\")", "a\n  print(\\\"bye\\\")", r#"\""#),
        (r"a\b", r"a\\b", r"c\\d", r"\\"),
        ("a\tb\n", r"a\tb", r"c\td", r"\t"),
        ("a\nb\n", "a\\nb\n", "x\\ny\n", r"\n"),
        ("x = '\u{c}'", r"x = '\u000C'", r"x = '\u000D'", r"\u"),
    ] {
        let error = edit(content, old, new).expect_err(old);
        let explanation =
            format!("when its {escape} is taken as what it stands for, and new_string has {escape} too");
        assert!(error.contains(&explanation), "{error}");
    }
    // An escape that matched literally was not interpreted, and does not affect the replacement.
    let content = "    a(\"\\n\");\n    b(\"c\");\n";
    let edited = edit(content, "a(\"\\n\");\nb(\\\"c\\\");", "a(\"\\n\");\nd();");
    assert_eq!(edited, Ok("    a(\"\\n\");\n    d();\n".into()));
    // Lines that match literally take precedence.
    let content = "  \\\"\n  \"\n";
    assert_eq!(edit(content, "\\\" \n", "x\n"), Ok("  x\n  \"\n".into()));
}

#[test]
fn the_reported_match_method_is_correct() {
    for (content, old, new, method) in [
        (
            "say \"hi\"\n",
            r#"say \"hi\""#,
            "x",
            "(matched after undoing its escapes; new_string was used as it is)",
        ),
        (
            "  say \"hi\"\n",
            "\n  say \\\"hi\\\"",
            "\n  x",
            "undoing its escapes, without its outer white space;",
        ),
        (
            "    a\n    \"b\"\n",
            "a\n\\\"b\\\"",
            "x\ny",
            "undoing its escapes, ignoring white space; new_string was ind",
        ),
        ("    a\n    b\n", "a\nb", "x\ny", "(matched ignoring white space; new_string was indented"),
    ] {
        let bench = Bench::new();
        bench.put("a", content);
        let output = bench.text("edit", json!({"path": "a", "old_string": old, "new_string": new}));
        assert!(output.contains(method), "{output}");
    }
}

#[test]
fn text_in_utf_16_is_changed_as_text_and_stays_what_it_is() {
    for (bom, pair) in
        [([0xFF, 0xFE], u16::to_le_bytes as fn(u16) -> [u8; 2]), ([0xFE, 0xFF], u16::to_be_bytes)]
    {
        let bytes = |text: &str| [bom.to_vec(), text.encode_utf16().flat_map(pair).collect()].concat();
        let bench = Bench::new();
        bench.put("a.txt", bytes("one\r\n中文 two\r\n🐙\r\n"));
        let arguments = json!({"path": "a.txt", "old_string": "中文 two\n🐙", "new_string": "zwei\ndrei"});
        let Ok(ToolView::Diff(view)) = bench.preview("edit", arguments.clone()) else { panic!("a diff") };
        assert_eq!((view.added, view.removed), (2, 2));
        assert_eq!(view.hunks[0].lines[0].parts[0].text, "one", "the person sees text");
        let output = bench.call("edit", arguments).unwrap();
        assert_eq!(output.text, "Replaced 1 occurrence in a.txt, line 2.");
        assert_eq!(bench.get("a.txt"), bytes("one\r\nzwei\r\ndrei\r\n"));
        let error = bench.error("edit", json!({"path": "a.txt", "old_string": "zwo i", "new_string": "x"}));
        assert!(error.contains("not found in a.txt") && !error.contains('\0'), "{error}");
    }
    let bench = Bench::new();
    let broken = b"\xFF\xFEa\0\x00\xD8b\0".to_vec();
    bench.put("b.txt", &broken);
    let error = bench.error("edit", json!({"path": "b.txt", "old_string": "a", "new_string": "x"}));
    assert!(error.contains("begins like UTF-16 text and is none"), "{error}");
    assert_eq!(bench.get("b.txt"), broken);
}

#[test]
fn lines_are_matched_without_their_indent_and_indented_like_the_file() {
    for (content, old, new, after) in [
        // A tab for four spaces.
        (
            "def test\n    puts 'hello'\nend",
            "def test\n\tputs 'hello'\nend",
            "def test\n\tputs 'world'\nend",
            "def test\n    puts 'world'\nend",
        ),
        // Everything at another depth, with a new deeper line.
        (
            "x {\n    if a {\n        b();\n    }\n}\n",
            "if a {\n    b();\n}",
            "if a {\n    if c {\n        b();\n    }\n}",
            "x {\n    if a {\n        if c {\n            b();\n        }\n    }\n}\n",
        ),
        // Spaces for tabs.
        (
            "\tif a:\n\t\tb\n",
            "    if a:\n        b\n",
            "    if a:\n        c\n            d\n",
            "\tif a:\n\t\tc\n\t\t\td\n",
        ),
        // Two spaces for four.
        (
            "a:\n    b:\n        c\n",
            "a:\n  b:\n    c",
            "a:\n  b:\n    c\n      d",
            "a:\n    b:\n        c\n            d\n",
        ),
        // White space at the ends of lines, and CRLF.
        ("a  \r\nb\t\r\nc\r\n", "a\nb\n", "x\ny\n", "x\r\ny\r\nc\r\n"),
        // All blank lines are equal, and stay unchanged.
        ("a\n   \nb\n", "a \n\nb", "a\n\nc", "a\n\nc\n"),
        // The line end of the last line is kept, and removed only with the lines themselves.
        ("  a\n  b\n  c\n", "a\nb\n", "x", "  x\n  c\n"),
        ("  a\n  b\n  c\n", "a\nb\n", "", "  c\n"),
        ("  a\n  b", "a\nb\n", "x\ny\n", "  x\n  y"),
    ] {
        assert_eq!(edit(content, old, new), Ok(after.to_owned()), "{content:?} {old:?} {new:?}");
    }
    // One indent cannot correspond to two.
    assert!(edit("if a:\n    b\nc\n", "if a:\nb\nc", "x").is_err());
    assert!(edit("a\nb\n", "a\nc", "x").is_err());
}

#[test]
fn a_shallower_line_is_unindented_proportionally() {
    let content = "\t\tdeep();\n\t\tdeeper();\n";
    let edited = edit(content, "        deep();\n        deeper();", "    shallow();\n        deeper();");
    assert_eq!(edited, Ok("\tshallow();\n\t\tdeeper();\n".into()));
}

#[test]
fn several_matches_need_replace_all() {
    let error = edit("foo foo foo", "foo", "bar").unwrap_err();
    assert!(error.contains("appears 3 times") && error.contains("lines 1, 1, 1"), "{error}");
    let error = edit("foo\nx\nfoo\n", "foo", "bar").unwrap_err();
    assert!(error.contains("appears 2 times in f, on lines 1, 3."), "{error}");
    assert_eq!(edit_all("foo foo foo", "foo", "bar"), Ok("bar bar bar".into()));
    assert_eq!(edit_all("aaa", "aa", "b"), Ok("ba".into()), "without overlaps");
    let twice = "  if a\n  end\n    if a\n    end\n";
    assert!(edit(twice, "\tif a \n\tend", "x").unwrap_err().contains("on lines 1, 3."));
    assert_eq!(
        edit_all(twice, "\tif a \n\tend", "\tif b\n\tend"),
        Ok("  if b\n  end\n    if b\n    end\n".into()),
        "each place keeps its own indent"
    );
    let repeated = "x\n".repeat(30);
    assert!(edit(&repeated, "x", "y").unwrap_err().contains("10, …."));
}

#[test]
fn nonsensical_edits_are_refused() {
    assert!(edit("a", "", "x").unwrap_err().contains("old_string is empty"));
    assert!(edit("a", "a", "a").unwrap_err().contains("identical"));
    assert!(edit("    a\n", "a \n", "a\n").unwrap_err().contains("exactly as it is"));
    let error = edit("one\ntwo = 1\nthree\nfour\n", "two  = 1\nelse", "x").unwrap_err();
    assert!(
        error.contains("not found in f. The nearest is line 2:\n     1\tone\n     2\ttwo = 1\n     3\tthree"),
        "{error}"
    );
    let error = edit("  two = 1\n", "two = 1\nthree\n", "x").unwrap_err();
    assert!(error.contains("nearest is line 1"), "{error}");
    let error = edit("alpha\n", "zzzz", "x").unwrap_err();
    assert!(error.contains("not found in f. Read the file again"), "{error}");
}

#[test]
fn other_bytes_are_not_touched() {
    let content = b"\xff\xfe needle \x80\n\0\n".to_vec();
    assert_eq!(bytes(&content, &input("needle", "pin", false)), Ok(b"\xff\xfe pin \x80\n\0\n".to_vec()));
    let fuzzy = b"\xff\n\tneedle\n\xfe".to_vec();
    assert_eq!(bytes(&fuzzy, &input("  needle \n", "  pin\n", false)), Ok(b"\xff\n\tpin\n\xfe".to_vec()));
}

#[test]
fn the_tool_edits_files_and_says_how() {
    let bench = Bench::new();
    bench.put("a.rs", "fn a() {\n    b();\n}\n");
    let output =
        bench.call("edit", json!({"path": "a.rs", "old_string": "b()", "new_string": "c()"})).unwrap();
    assert_eq!(output.text, "Replaced 1 occurrence in a.rs, line 2.");
    let ToolView::Diff(view) = output.view else { panic!("a diff") };
    assert_eq!((view.added, view.removed), (1, 1));
    let output = bench.text("edit", json!({"path": "a.rs", "old_str": "\tc();\n}", "new_str": "\td();\n}"}));
    assert!(output.contains("line 2 (matched without its outer white space"), "{output}");
    assert_eq!(bench.get("a.rs"), b"fn a() {\n    d();\n}\n");
    bench.put("many", "x\nx\n");
    let output = bench
        .text("edit", json!({"path": "many", "old_string": "x", "new_string": "y", "replace_all": "true"}));
    assert_eq!(output, "Replaced 2 occurrences in many, lines 1, 2.");

    bench.put("dir/x", "");
    for (arguments, expected) in [
        (json!({"path": "none", "old_string": "a", "new_string": "b"}), "does not exist"),
        (json!({"path": "dir", "old_string": "a", "new_string": "b"}), "is a folder"),
        (json!({"path": "a.rs", "old_string": "a"}), "Missing required parameters: new_string."),
        (json!({"path": "a.rs", "old_string": "d", "new_string": ""}), ""),
    ] {
        let result = bench.call("edit", arguments.clone());
        match expected {
            "" => assert!(result.is_ok(), "an empty new_string deletes"),
            expected => {
                assert!(
                    result.clone().is_err_and(|error| error.contains(expected)),
                    "{arguments}: {result:?}"
                )
            }
        }
    }
    bench.text("file_reader", json!({"path": "many"}));
    bench.put("many", "y\nz\n");
    let error = bench.error("edit", json!({"path": "many", "old_string": "z", "new_string": "w"}));
    assert!(error.contains("changed on disk since you read it"), "{error}");
    assert_eq!(bench.get("many"), b"y\nz\n");
}

#[test]
fn previews_fail_like_the_edit_and_reveal_no_other_files() {
    let bench = Bench::new();
    bench.put("a", "one\n");
    let arguments = json!({"path": "a", "old_string": "one", "new_string": "two"});
    assert!(matches!(bench.preview("edit", arguments), Ok(ToolView::Diff(view)) if view.added == 1));
    assert_eq!(bench.get("a"), b"one\n");
    let error =
        bench.preview("edit", json!({"path": "a", "old_string": "none", "new_string": "two"})).unwrap_err();
    assert!(error.contains("not found"));

    std::fs::write(bench.out.join("b"), "PASSWORD=1\n").unwrap();
    let arguments = json!({"path": "../out/b", "old_string": "PASSWORD=2", "new_string": "x"});
    let view = bench.preview("edit", arguments.clone());
    let Ok(ToolView::Diff(view)) = view else { panic!("the person is asked with what is wanted: {view:?}") };
    assert_eq!((view.added, view.removed), (1, 1));
    assert!(bench.error("edit", arguments).contains("outside what this call may write"));
}

/// Generates text in which the matching methods overlap: few letters, much white space, both line ends.
fn tangled() -> impl Strategy<Value = String> {
    let fragment =
        prop::sample::select(vec!["a", "b", "ab", " ", "  ", "\t", "\n", "\n", "\r\n", "\\n", "\\t", "\""]);
    prop::collection::vec(fragment, 0..24).prop_map(|fragments| fragments.concat())
}

fn without_blanks(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// The bytes before, between and after the spans are those of the file; replaced text differs from quoted
    /// text only in white space and escapes; a line end after a fuzzy match stays.
    #[test]
    fn only_spans_change(content in tangled(), old in tangled(), new in tangled()) {
        prop_assume!(!old.is_empty());
        let content = content.as_bytes();
        let matching::MatchResult::Found(found) = matching::find(content, &old, &new) else { return Ok(()) };
        let after = matching::replace(content, &found.spans);
        let (mut start, mut remaining) = (0, after.as_slice());
        for span in &found.spans {
            prop_assert!(start <= span.start && span.start <= span.end && span.end <= content.len());
            for unchanged in [&content[start..span.start], &span.replacement] {
                prop_assert!(remaining.starts_with(unchanged));
                remaining = &remaining[unchanged.len()..];
            }
            start = span.end;
            let replaced = &content[span.start..span.end];
            match found.method {
                MatchMethod::Exact => prop_assert_eq!(String::from_utf8_lossy(replaced).replace("\r\n", "\n"), old.replace("\r\n", "\n")),
                MatchMethod::Trimmed => prop_assert_eq!(without_blanks(replaced), without_blanks(old.as_bytes())),
                MatchMethod::Unescaped | MatchMethod::UnescapedTrimmed | MatchMethod::Lines | MatchMethod::UnescapedLines => {}
            }
            if matches!(found.method, MatchMethod::Lines | MatchMethod::UnescapedLines) && !new.is_empty() {
                prop_assert!(matches!(content.get(span.end), None | Some(b'\n' | b'\r')));
                prop_assert!(span.start == 0 || content[span.start - 1] == b'\n', "whole lines");
            }
            if found.method == MatchMethod::Trimmed {
                let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphabetic);
                let begins = old.starts_with([' ', '\t', '\n', '\r']) && span.start > 0;
                prop_assert!(!(begins && is_word(content.get(span.start - 1))));
                let ends = old.ends_with([' ', '\t', '\n', '\r']);
                prop_assert!(!(ends && is_word(content.get(span.end))));
            }
        }
        prop_assert_eq!(remaining, &content[start..]);
    }

    /// In a file of arbitrary bytes, a text that occurs once becomes the new one, byte for byte.
    #[test]
    fn one_place_in_any_bytes(
        before in prop::collection::vec(any::<u8>(), 0..80),
        old in "[a-z ]{1,6}",
        new in "[\\PC\\\\$0-9]{0,12}",
        after in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        prop_assume!(old != new);
        let content = [before.as_slice(), old.as_bytes(), &after].concat();
        prop_assume!(content.windows(old.len()).filter(|window| *window == old.as_bytes()).count() == 1);
        let edited = bytes(&content, &input(&old, &new, false)).unwrap();
        prop_assert_eq!(&edited, &[before.as_slice(), new.as_bytes(), &after].concat());
        // And back, if the new text occurs once.
        if !new.is_empty() && edited.windows(new.len()).filter(|window| *window == new.as_bytes()).count() == 1 {
            prop_assert_eq!(bytes(&edited, &input(&new, &old, false)).unwrap(), content);
        }
    }

    /// An edit of several lines keeps a file's uniform line ends uniform.
    #[test]
    fn line_ends_stay_of_one_kind(
        lines in prop::collection::vec("[a-c]{1,3}", 3..12),
        index in 0_usize..10,
        new in prop::collection::vec("[d-f]{1,3}", 1..4),
        crlf in any::<bool>(),
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let index = index % (lines.len() - 1);
        let content: String = lines.iter().map(|line| format!("{line}{end}")).collect();
        let old = format!("{}\n{}", lines[index], lines[index + 1]);
        if let Ok(after) = edit_all(&content, &old, &new.join("\n")) {
            prop_assert_eq!(after.matches('\n').count(), after.matches(end).count());
            prop_assert_eq!(after.contains('\r'), crlf);
            prop_assert!(after.ends_with(end));
        } else {
            prop_assert!(false, "a text of the file is found");
        }
    }
}
