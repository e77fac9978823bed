use super::*;
use proptest::prelude::*;

fn of(before: Option<&str>, after: &str) -> DiffView {
    diff(Path::new("/p/a.txt"), before.map(str::as_bytes), after.as_bytes())
}

/// Renders the lines as `-old +new` text, with emphasis in brackets.
fn drawn(view: &DiffView) -> Vec<String> {
    let mut drawn = Vec::new();
    for hunk in &view.hunks {
        drawn.push("@@".to_owned());
        for line in &hunk.lines {
            let sign = match (line.old, line.new) {
                (Some(old), Some(new)) => format!(" {old},{new} "),
                (Some(old), None) => format!("-{old} "),
                (None, Some(new)) => format!("+{new} "),
                (None, None) => unreachable!("a line is of one side at least"),
            };
            let text: String = line
                .parts
                .iter()
                .map(|part| if part.emphasis { format!("[{}]", part.text) } else { part.text.clone() })
                .collect();
            drawn.push(sign + &text);
        }
    }
    drawn
}

#[test]
fn a_change_is_shown_with_three_lines_around_it() {
    let before: String = (1..=12).map(|n| format!("line {n}\n")).collect();
    let view = of(Some(&before), &before.replace("line 6\n", "line six\n"));
    assert_eq!((view.added, view.removed, view.change, view.truncated), (1, 1, FileChange::Edited, false));
    assert_eq!(
        drawn(&view),
        [
            "@@",
            " 3,3 line 3",
            " 4,4 line 4",
            " 5,5 line 5",
            "-6 line [6]",
            "+6 line [six]",
            " 7,7 line 7",
            " 8,8 line 8",
            " 9,9 line 9"
        ]
    );
}

#[test]
fn created_emptied_and_unchanged_files() {
    let view = of(None, "a\nb");
    assert_eq!((view.added, view.removed, view.change), (2, 0, FileChange::Created));
    assert_eq!(drawn(&view), ["@@", "+1 a", "+2 b"]);
    let view = of(Some("a\nb\n"), "");
    assert_eq!((view.added, view.removed, view.change), (0, 2, FileChange::Edited));
    let view = of(Some("a\n"), "a\n");
    assert_eq!((view.added, view.removed, view.hunks.len()), (0, 0, 0));
    let view = of(None, "");
    assert_eq!((view.added, view.hunks.len(), view.change), (0, 0, FileChange::Created));
}

#[test]
fn bytes_that_are_not_text_are_compared_as_they_are() {
    let view = diff(Path::new("/p/a"), Some(b"same\n\xff\xfe\nend\n"), b"same\n\xff\xfd\nend\n");
    assert_eq!((view.added, view.removed), (1, 1), "two different bad bytes differ");
    assert!(drawn(&view).iter().any(|line| line.contains('\u{FFFD}')));
    let view = of(Some("a\r\nb\r\n"), "a\r\nc\r\n");
    assert_eq!(drawn(&view), ["@@", " 1,1 a", "-2 [b]", "+2 [c]"]);
}

#[test]
fn a_very_large_change_is_cut_but_counted() {
    let after: String = (0..5_000).map(|n| format!("{n}\n")).collect();
    let view = of(None, &after);
    assert_eq!(view.added, 5_000);
    assert!(view.truncated);
    assert_eq!(view.hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>(), MAX_LINES);

    let long_line = "x".repeat(1 << 20);
    let view = of(Some(&format!("{long_line}\n")), &format!("{long_line}y\n"));
    assert_eq!((view.added, view.removed), (1, 1));
    let shown_bytes: usize = view.hunks[0].lines[0].parts.iter().map(|part| part.text.len()).sum();
    assert!(shown_bytes <= MAX_LINE_BYTES + "…".len());
}

#[test]
fn the_worst_files_take_bounded_time() {
    let noise = |seed: u64| -> String {
        let mut state = seed;
        (0..60_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                format!("{}\n", state >> 50)
            })
            .collect()
    };
    let (before, after) = (noise(1), noise(2));
    let start = Instant::now();
    let view = of(Some(&before), &after);
    assert!(view.truncated && view.added > 0);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

proptest! {
    /// A view can be replayed: replacing its old lines with its new lines gives the new file.
    #[test]
    fn the_shown_lines_turn_before_into_after(
        before in prop::collection::vec("[ab]{0,2}", 0..20),
        after in prop::collection::vec("[ab]{0,2}", 0..20),
    ) {
        let join = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let view = of(Some(&join(&before)), &join(&after));
        let mut old = before.iter();
        let mut rebuilt: Vec<String> = Vec::new();
        let mut at = 1;
        for line in view.hunks.iter().flat_map(|hunk| &hunk.lines) {
            let text: String = line.parts.iter().map(|part| part.text.as_str()).collect();
            if let Some(number) = line.old {
                while at < number {
                    rebuilt.push(old.next().unwrap().clone());
                    at += 1;
                }
                prop_assert_eq!(old.next().unwrap(), &text);
                at += 1;
            }
            if line.new.is_some() {
                if line.old.is_none() {
                    let number = line.new.unwrap() as usize;
                    while rebuilt.len() + 1 < number {
                        rebuilt.push(old.next().unwrap().clone());
                        at += 1;
                    }
                }
                rebuilt.push(text);
            }
        }
        rebuilt.extend(old.cloned());
        prop_assert_eq!(&rebuilt, &after);
        let (added, removed) = (i64::from(view.added), i64::from(view.removed));
        prop_assert!(added - removed == view_len_delta(&join(&before), &join(&after)));
    }
}

fn view_len_delta(before: &str, after: &str) -> i64 {
    after.lines().count() as i64 - before.lines().count() as i64
}
