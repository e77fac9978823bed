//! The list in the prompt: within its budget, in order, the same bytes each time.

use crate::world::{World, put, skill};
use octo_skills::{announce, listing};

#[test]
fn the_list_is_ordered_cut_and_reproducible() {
    let world = World::new();
    skill(&world.bundled, "alpha", "Came with it");
    skill(&world.user(), "beta", "The person's");
    skill(&world.in_project(), "zeta", "The folder's");
    put(
        world.user().join("long/SKILL.md"),
        format!("---\ndescription: |\n  {}\n  second line\nwhen_to_use: never\n---\nDo it.", "é".repeat(350)),
    );
    put(
        world.user().join("when/SKILL.md"),
        "---\ndescription: Short.\nwhen_to_use: Use it at night\npaths: \"*.sql, db/**\"\n---\nDo it.",
    );
    let catalogue = world.trusting();
    let text = listing(&catalogue, "general", 4_000);
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(lines[0], "- zeta: The folder's");
    assert_eq!(lines[1], "- beta: The person's");
    assert_eq!(lines[2].chars().count(), "- long: ".len() + 300);
    assert!(lines[2].ends_with("é…"));
    assert_eq!(lines[3], "- when: Short. Use it at night (for *.sql, db/**)");
    assert_eq!(lines[4], "- alpha: Came with it");
    assert_eq!(text, listing(&world.trusting(), "general", 4_000));
    assert!(text.contains("invoke_skill"));
}

#[test]
fn the_budget_holds_and_the_end_is_left_out_first() {
    let world = World::new();
    for number in 0..40 {
        skill(&world.bundled, &format!("bundled-{number:02}"), &"word ".repeat(20));
    }
    skill(&world.in_project(), "project", "The folder's");
    let catalogue = world.trusting();
    let mut listed = Vec::new();
    for budget in [0, 20, 100, 200, 500, 1_000, 1_500, 100_000] {
        let text = listing(&catalogue, "general", budget);
        assert!(text.len() <= budget * 4, "{budget}: {}", text.len());
        let count = text.lines().filter(|line| line.starts_with("- ")).count();
        if count > 0 {
            assert!(text.contains("- project:"), "the folder's own is never the one left out");
            assert_eq!(text.contains(&format!("({} more are not listed", 41 - count)), count < 41);
        }
        listed.push(count);
    }
    assert!(listed.is_sorted() && listed[0] == 0 && listed[7] == 41, "{listed:?}");
    assert_eq!(listing(&World::new().trusting(), "general", 1_000), "");
}

#[test]
fn a_new_skill_is_announced() {
    let world = World::new();
    skill(&world.user(), "beta", "Second");
    skill(&world.user(), "alpha", "First");
    let catalogue = world.trusting();
    let skills: Vec<_> = ["beta", "alpha"].iter().map(|name| catalogue.get(name).unwrap()).collect();
    let text = announce(&skills);
    assert_eq!(
        text,
        "These skills are there from now on, for invoke_skill:\n\n- alpha: First\n- beta: Second"
    );
    assert_eq!(announce(&[]), "");
}
