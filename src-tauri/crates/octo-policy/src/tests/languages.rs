//! The small languages: programs that only print are known, and programs that could do more are not.

use super::is_read_only;
use crate::programs::{awk, sed};

#[test]
fn sed_programs_that_only_print_are_known() {
    for program in [
        "p",
        "1,5p",
        "$p",
        "/a/,/b/p",
        "/a/I,+3p",
        "1~2p",
        "0,/a/d",
        "s/a/b/",
        "s/a/b/gI",
        "s,a/b,c,2p",
        "s/[0-9]/#/g",
        "s/[[:space:]]+$//",
        "s/[^]]/x/",
        "y/abc/ABC/",
        "1!G;h;$!d",
        ":a;N;$!ba;s/\\n/ /g",
        "/a/{s/x/y/;p}",
        "/a/{p;q}",
        "# note\np",
        "a text of a line",
        "2i\\\ntext",
        "=",
        "q5",
        "\\,a/b,p",
        "s/a/[/",
        "$!N;P;D",
    ] {
        assert!(sed::only_prints(program), "{program}");
    }
}

#[test]
fn sed_programs_that_could_do_more_ask() {
    for program in [
        "e",
        "1e id",
        "w out",
        "W out",
        "r .env",
        "R .env",
        "s/a/b/e",
        "s/a/b/ge",
        "s/a/b/w out",
        "s/a/b/gw out",
        "/a/w out",
        "{e\n}",
        "a\\text",
        "a\\\ntext\\\nmore",
        "s/[[.].]/X/;/]/p;/e;#/p",
        "s/[[=]=]/X/;/]/p;/e;#/p",
        "s/[/]/X/",
        "s/[\\]/]/X/",
        "saxbxa",
        "s[a]b]",
        "p;e",
        "p\ne",
        "y/[/]/ab/",
        "v",
        "F;w out",
        "z;e",
        "1,2",
        "s/a/b",
        "a",
    ] {
        assert!(!sed::only_prints(program), "{program}");
    }
    for line in [
        "sed -f x a",
        "sed -i p a",
        "sed p a -e e",
        "sed -n --expression=e a",
        "sed --exp=e a",
        "sed -s -n p -e w",
    ] {
        assert!(!is_read_only(line), "{line}");
    }
}

#[test]
fn awk_programs_that_only_print_are_known() {
    for program in [
        "{print}",
        "{print $1, $2}",
        "$1 > 3",
        "$1 > 3 {print $2}",
        "NR>1 && $2>\"b\" {print}",
        "{if ($1 > 2) print; else next}",
        "{print ($1 > 2)}",
        "{print ($1 > 2 ? \"a\" : \"b\")}",
        "{s+=$1} END {print s/NR}",
        "{print (a+b)/2}",
        "/a/ || /b/",
        "$0 ~ /x/ {n++} END {print n}",
        "{gsub(/[0-9]+/, \"#\"); print}",
        "{print > \"/dev/stderr\"}",
        "BEGIN {for (i = 0; i < 3; i++) print i}",
        "{a[$1]++} END {for (k in a) print k, a[k]}",
        "function f(x) {return x > 1}\n{print f($1)}",
        "{printf \"%s\\n\", $1}",
        "!seen[$0]++",
    ] {
        assert_eq!(awk::writes(program), Some(Vec::new()), "{program}");
    }
    assert!(is_read_only("awk -F, -v n=3 '$n > 1' a"));
}

#[test]
fn awk_programs_that_could_do_more_ask() {
    for program in [
        "{print > \"out\"}",
        "{print >> \"out\"}",
        "{print $1 > $2}",
        "{print $1,\n$2 > \"out\"}",
        "{print(1)(2) > \"out\"}",
        "{printf(\"%s\", $1) > \"out\"}",
        "{print a[1 > 2] > \"out\"}",
        "{print | \"sh\"}",
        "{print |& \"sh\"}",
        "BEGIN{system(\"id\")}",
        "BEGIN{while ((getline l < \".env\") > 0) print l}",
        "BEGIN{\"id\" | getline x; print x}",
        "BEGIN{print ENVIRON[\"KEY\"]}",
        "BEGIN{ARGV[1]=\".env\";ARGC=2}{print}",
        "@include \"x\"\n{print}",
        "BEGIN{f=\"system\";@f(\"id\")}",
        "{print > \"/dev/stderr\" \"x\"}",
        "/[/]/{print > \"out\"}",
        "{x = $1 /a/; print > \"out\"}",
        "{print \"a\" > \"/dev/tcp\"}",
        "BEGIN{printf \"x\" > \"out\"}",
        "{if (x) /a/;print>\"out\"}",
    ] {
        assert_ne!(awk::writes(program), Some(Vec::new()), "{program}");
    }
    for line in [
        "awk -f x a",
        "awk -v ENVIRON=x '{print}' a",
        "gawk -i inplace '{print}' a",
        "gawk -e '{print}' a",
        "gawk -o '{print}' a",
    ] {
        assert!(!is_read_only(line), "{line}");
    }
}

#[test]
fn jq_and_find_are_judged_by_their_own_languages() {
    for line in [
        "jq . a",
        "jq -r '.a[]' a",
        "jq --arg x y '$x' a",
        "jq -n --argjson x 1 '$x'",
        "find . -name x -o -name y",
        "find . -newer a",
    ] {
        assert!(is_read_only(line), "{line}");
    }
    for line in [
        "jq env a",
        "jq '\"\\(env)\"' a",
        "jq '$ENV.KEY' a",
        "jq input_filename a",
        "jq 'import \"a\" as a; .' a",
        "jq 'include \"a\"; .' a",
        "jq -f p a",
        "jq -L . . a",
        "jq --slurpfile x a . b",
        "jq --rawfile x a . b",
        "jq --args . a",
        "find . -exec sh {} +",
        "find . -execdir cat {} +",
        "find . -fls x",
    ] {
        assert!(!is_read_only(line), "{line}");
    }
}
