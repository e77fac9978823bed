//! Programs known to only print, against the real `sed`.

use crate::programs::sed;
use proptest::{
    prelude::*,
    sample::select,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use std::process::{Command, Stdio};

/// Parts of a pattern around which readers could differ.
const PARTS: &[&str] =
    &["[", "[^", "]", "[.", ".]", "[=", "=]", "[:", ":]", "\\", "\\]", "\\[", "a", ".", "-", "x/"];

/// What would run or write if a pattern ended elsewhere.
const TAILS: &[&str] = &["/X/;/]/p;/e;#/p", "/X/;/.]]/p;/e;#/p", "/X/;/]/p;/w out;#/p", "/X/"];

fn programs(count: usize) -> Vec<String> {
    let program =
        (prop::collection::vec(select(PARTS), 0..9), select(TAILS), select(&["s/", "/a/s/", "y/"][..]))
            .prop_map(|(parts, tail, head)| format!("{head}{}{tail}", parts.concat()));
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    (0..count).map(|_| program.new_tree(&mut runner).unwrap().current()).collect()
}

/// What `sed` says to a program that may neither write nor start anything; none where it is not GNU's.
fn objection(program: &str) -> Option<String> {
    let mut sed = Command::new("sed");
    sed.args(["--sandbox", "--", program]).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    let said = String::from_utf8(sed.output().ok()?.stderr).unwrap();
    (!said.contains("--sandbox")).then_some(said)
}

#[test]
fn sed_finds_nothing_to_run_or_write_in_a_program_that_is_known() {
    let Some(refused) = objection("s/a/b/e").filter(|said| said.contains("sandbox")) else {
        println!("left out: no GNU sed");
        return;
    };
    let reason = refused.rsplit(": ").next().unwrap();
    let known: Vec<String> =
        programs(20_000).into_iter().filter(|program| sed::only_prints(program)).take(600).collect();
    assert!(known.len() > 300, "only {}", known.len());
    for program in &known {
        let said = objection(program).unwrap();
        assert!(!said.contains(reason), "{program}: {said}");
    }
}
