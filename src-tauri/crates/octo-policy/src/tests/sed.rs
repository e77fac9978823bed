//! Compares programs known to only print with the real `sed`.

use crate::programs::sed;
use proptest::{
    prelude::*,
    sample::select,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use std::process::{Command, Stdio};

/// Parts of a pattern about which parsers could differ.
const PARTS: &[&str] =
    &["[", "[^", "]", "[.", ".]", "[=", "=]", "[:", ":]", "\\", "\\]", "\\[", "a", ".", "-", "x/"];

/// Ends of programs that would run or write something if the pattern ended elsewhere.
const TAILS: &[&str] = &["/X/;/]/p;/e;#/p", "/X/;/.]]/p;/e;#/p", "/X/;/]/p;/w out;#/p", "/X/"];

fn programs(count: usize) -> Vec<String> {
    let program =
        (prop::collection::vec(select(PARTS), 0..9), select(TAILS), select(&["s/", "/a/s/", "y/"][..]))
            .prop_map(|(parts, tail, head)| format!("{head}{}{tail}", parts.concat()));
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    (0..count).map(|_| program.new_tree(&mut runner).unwrap().current()).collect()
}

/// Returns the errors of `sed --sandbox`, which refuses programs that write or start anything; `None` without GNU
/// `sed`.
fn sandbox_errors(program: &str) -> Option<String> {
    let mut sed = Command::new("sed");
    sed.args(["--sandbox", "--", program]).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    let errors = String::from_utf8(sed.output().ok()?.stderr).unwrap();
    (!errors.contains("--sandbox")).then_some(errors)
}

#[test]
fn sed_runs_and_writes_nothing_in_a_known_program() {
    let Some(refusal) = sandbox_errors("s/a/b/e").filter(|errors| errors.contains("sandbox")) else {
        println!("left out: no GNU sed");
        return;
    };
    let reason = refusal.rsplit(": ").next().unwrap();
    let known: Vec<String> =
        programs(20_000).into_iter().filter(|program| sed::only_prints(program)).take(600).collect();
    assert!(known.len() > 300, "only {}", known.len());
    for program in &known {
        let errors = sandbox_errors(program).unwrap();
        assert!(!errors.contains(reason), "{program}: {errors}");
    }
}
