//! Caches a provider fills by itself or at breakpoints, and the two extremes: the ideal cache and none.

use super::*;

fn ask_chat(cache: &mut CacheSimulator, body: &Value) -> u64 {
    ask_in(cache, Protocol::OpenaiChat, body).usage.cache_read
}

#[test]
fn the_automatic_cache_reads_whole_steps_of_the_common_beginning() {
    let mut cache = simulator(CachePolicy::openai_automatic());
    let system = "x".repeat(8000);
    assert_eq!(ask_chat(&mut cache, &chat(&system, &["one"])), 0);
    assert_eq!(ask_chat(&mut cache, &chat(&system, &["two"])), 1920);
    assert_eq!(ask_chat(&mut cache, &chat(&"x".repeat(3900), &["two"])), 0, "below the minimum");
    let mut keyed = chat(&system, &["one"]);
    keyed["prompt_cache_key"] = json!("another");
    assert_eq!(ask_chat(&mut cache, &keyed), 0, "another key, another machine");
    keyed["reasoning_effort"] = json!("high");
    assert_eq!(ask_chat(&mut cache, &keyed), 1920, "effort is no part of it");
    cache.advance(MINUTES_5);
    assert_eq!(ask_chat(&mut cache, &keyed), 0);
}

#[test]
fn an_automatic_entry_lives_an_hour_at_most() {
    let mut cache = simulator(CachePolicy::openai_automatic());
    let body = chat(&"x".repeat(8000), &["one"]);
    let reads: Vec<u64> = (0..16)
        .map(|_| {
            cache.advance(Duration::from_secs(240));
            ask_chat(&mut cache, &body)
        })
        .collect();
    // The first is cold, and the one after an hour.
    let cold: Vec<usize> = (0..16).filter(|index| reads[*index] == 0).collect();
    assert_eq!(cold, [0, 15]);
}

#[test]
fn the_sixteenth_request_of_a_minute_reaches_another_machine() {
    let mut cache = simulator(CachePolicy::openai_automatic());
    let body = chat(&"x".repeat(8000), &["one"]);
    let cold: Vec<usize> = (0..20).filter(|_| ask_chat(&mut cache, &body) == 0).collect();
    assert_eq!(cold, [0, 15]);
    cache.advance(Duration::from_secs(60));
    assert!(ask_chat(&mut cache, &body) > 0);
}

#[test]
fn a_unit_is_read_as_a_whole() {
    let mut cache = simulator(CachePolicy::deepseek());
    let shared_text = "a".repeat(8000);
    let body = |suffix: &str| chat("You help.", &[&format!("{shared_text}{suffix}")]);
    // A+B leaves a unit at its end; A+C does not match it, but A is noticed; A+D reads A.
    assert_eq!(ask_chat(&mut cache, &body("first")), 0);
    assert_eq!(ask_chat(&mut cache, &body("second")), 0);
    let read = ask_chat(&mut cache, &body("third"));
    assert!((1984..=2060).contains(&read), "{read}");
    // The whole input is a unit, and so is the output.
    let full_read = ask_chat(&mut cache, &body("third"));
    assert!(full_read > read);
    let question = format!("{shared_text}third");
    let longer = chat("You help.", &[&question, &"b".repeat(4000), "and?"]);
    assert!(ask_chat(&mut cache, &longer) >= full_read + 1000, "the answer is part of a unit");
}

#[test]
fn units_live_for_hours() {
    let mut cache = simulator(CachePolicy::deepseek());
    let body = chat(&"a".repeat(8000), &["one"]);
    ask_chat(&mut cache, &body);
    cache.advance(Duration::from_secs(3600));
    assert!(ask_chat(&mut cache, &body) > 0);
}

fn ask_responses(cache: &mut CacheSimulator, body: &Value) -> Usage {
    ask_in(cache, Protocol::OpenaiResponses, body).usage
}

#[test]
fn the_two_generations_of_openai_on_the_same_trace() {
    let mut before = simulator(CachePolicy::openai_automatic());
    let mut after = simulator(CachePolicy::openai_breakpoints());
    for (step, count) in [1, 3, 5].into_iter().enumerate() {
        let body = responses(count, &[], true);
        let (before_reply, after_reply) =
            (ask_responses(&mut before, &body), ask_responses(&mut after, &body));
        assert_eq!(before_reply.cache_write, 0, "writing is free");
        assert_eq!(before_reply.cache_read % 128, 0);
        assert_eq!(after_reply.input, 0, "all is written up to the newest message");
        assert_eq!(after_reply.cache_read > 0, step > 0);
        // One side loses the step, the other nothing: its breakpoint is exact.
        assert!(
            after_reply.cache_read >= before_reply.cache_read
                && after_reply.cache_read - before_reply.cache_read < 128 + 256
        );
    }
    // Half an hour against five minutes.
    for cache in [&mut before, &mut after] {
        cache.advance(Duration::from_secs(1200));
    }
    let body = responses(7, &[], true);
    assert_eq!(ask_responses(&mut before, &body).cache_read, 0);
    assert!(ask_responses(&mut after, &body).cache_read > 0);
    // The last message is taken back: the longest common beginning against the last breakpoint.
    let shorter = responses(4, &[], true);
    assert!(ask_responses(&mut before, &shorter).cache_read > 0);
    assert!(ask_responses(&mut after, &shorter).cache_read > 0);
    // A message in the middle changes: only the first cache falls back to the unmarked part before it.
    let mut changed = responses(7, &[], true);
    changed["input"][1]["content"][0]["text"] = json!("new");
    assert!(ask_responses(&mut before, &changed).cache_read > 0);
    assert_eq!(ask_responses(&mut after, &changed).cache_read, 0);
}

#[test]
fn breakpoints_are_where_the_request_says() {
    let mut cache = simulator(CachePolicy::openai_breakpoints());
    let without_breakpoints = ask_responses(&mut cache, &responses(3, &[], false));
    assert_eq!(
        (without_breakpoints.cache_write, without_breakpoints.cache_read),
        (0, 0),
        "explicit mode without one caches nothing"
    );
    let with_breakpoint = ask_responses(&mut cache, &responses(3, &[0], false));
    assert!(with_breakpoint.cache_write > 2000 && with_breakpoint.input > 0);
    assert_eq!(ask_responses(&mut cache, &responses(3, &[2], false)).cache_read, with_breakpoint.cache_write);
    let is_refused = |body: &Value| cache.serve(Protocol::OpenaiResponses, "m", body).is_err();
    let mut is_refused = is_refused;
    assert!(!is_refused(&responses(9, &[0, 2, 4, 6], false)));
    assert!(is_refused(&responses(9, &[0, 2, 4, 6, 8], false)));
    assert!(is_refused(&responses(9, &[0, 2, 4, 6], true)), "with the server's own there is room for three");
    assert!(is_refused(&responses(9, &[1], false)), "an answer takes none");
}

#[test]
fn geminis_hits_depend_on_the_seed() {
    let reads = |seed: u64| -> Vec<u64> {
        let mut cache = simulator(CachePolicy::gemini(seed));
        (0..400).map(|_| ask_chat(&mut cache, &chat(&"x".repeat(40_000), &["one"]))).collect()
    };
    assert_eq!(reads(1), reads(1));
    assert_ne!(reads(1), reads(2));
    let hit_count = reads(1).iter().filter(|read| **read > 9_000).count();
    assert!((290..=350).contains(&hit_count), "{hit_count} of 400 at 0.8");
}

#[test]
fn the_ideal_writes_each_token_once() {
    let mut cache = simulator(CachePolicy::ideal(CachePrices::SONNET));
    let mut sent = 0;
    for blocks in [1, 3, 9, 40] {
        let usage = ask(&mut cache, &marked(300, blocks, &[])).usage;
        assert_eq!((usage.input, usage.cache_read), (0, sent));
        sent = usage.total_input();
        cache.advance(Duration::from_secs(1_000_000));
    }
    let shortened = ask(&mut cache, &marked(300, 20, &[])).usage;
    assert_eq!(shortened.cache_write, 0, "also what was taken back to");
}

#[test]
fn a_server_without_a_cache_bills_everything() {
    let mut cache = simulator(CachePolicy::none());
    for _ in 0..2 {
        let usage = ask(&mut cache, &marked(2000, 3, &[0, 2])).usage;
        assert!(usage.input > 2000 && usage.cache_read == 0 && usage.cache_write == 0);
    }
}
