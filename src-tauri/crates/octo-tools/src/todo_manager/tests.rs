use crate::testing::Bench;
use octo_protocol::{TodoStatus, ToolView};
use serde_json::{Value, json};

/// Runs a call; returns the text and the plan that the person sees, as `id status`.
fn run(bench: &Bench, arguments: Value) -> (String, Vec<(u32, TodoStatus)>) {
    let output = bench.call("todo_manager", arguments).unwrap();
    let ToolView::Todos { todos } = output.view else { panic!("todos") };
    (output.text, todos.iter().map(|todo| (todo.id, todo.status)).collect())
}

fn kept(bench: &Bench) -> Vec<u32> {
    bench.context.todos.0.lock().items.iter().map(|todo| todo.id).collect()
}

use TodoStatus::{Completed, InProgress, Pending};

#[test]
fn tasks_are_added_marked_and_cleared() {
    let bench = Bench::new();
    let (text, todos) = run(&bench, json!({"action": "add", "task": ["Task 1", "", " ", " Task 2 "]}));
    assert_eq!(todos, [(1, Pending), (2, Pending)]);
    assert_eq!(text, "Added 2 tasks.\nPlan (0/2 done):\n[ ] 1. Task 1\n[ ] 2. Task 2");
    let (text, todos) = run(&bench, json!({"action": "in_progress", "id": 2}));
    assert_eq!(
        (text.lines().next(), todos),
        (Some("Now in progress: 2."), vec![(1, Pending), (2, InProgress)])
    );
    let (text, _) = run(&bench, json!({"action": "complete", "id": [1, 9]}));
    assert_eq!(text, "Now completed: 1. Task not found: 9.\nPlan (1/2 done):\n[x] 1. Task 1\n[>] 2. Task 2");
    assert!(run(&bench, json!({"action": "complete", "id": 1})).0.starts_with("Already completed: 1."));
    let (text, _) = run(&bench, json!({"action": "list"}));
    assert!(text.starts_with("Plan (1/2 done):"));
    let (_, todos) = run(&bench, json!({"action": "add", "task": "New Task"}));
    assert_eq!(todos, [(2, InProgress), (3, Pending)], "completed ones make room");
    let (text, todos) = run(&bench, json!({"action": "remove", "id": "#3"}));
    assert_eq!((text.lines().next(), todos), (Some("Removed: 3."), vec![(2, InProgress)]));
    assert_eq!(run(&bench, json!({"action": "clear"})).0, "Cleared 1 tasks.\nThe plan is empty.");
}

#[test]
fn the_last_completion_clears_the_plan_but_shows_it() {
    let bench = Bench::new();
    run(&bench, json!({"action": "add", "task": ["a", "b", "c"]}));
    let (text, todos) = run(&bench, json!({"action": "complete", "id": [1, 2, 3]}));
    assert!(text.ends_with("All tasks completed and cleared! (3/3)"), "{text}");
    assert_eq!(todos, [(1, Completed), (2, Completed), (3, Completed)]);
    assert_eq!(kept(&bench), Vec::<u32>::new());
    let (_, todos) = run(&bench, json!({"action": "add", "task": "d"}));
    assert_eq!(todos, [(4, Pending)], "numbers are never used twice");
    run(&bench, json!({"action": "remove", "id": 4}));
    assert_eq!(run(&bench, json!({"action": "add", "task": "e"})).1, [(5, Pending)]);
}

#[test]
fn ids_and_tasks_are_read_leniently() {
    let bench = Bench::new();
    run(&bench, json!({"action": "ADD", "task": "[\"a\", \"b\"]"}));
    assert_eq!(kept(&bench), [1, 2], "an array written as text");
    for id in [json!("1"), json!("#1"), json!(1.0), json!(["1"]), json!("[1]")] {
        let (text, _) = run(&bench, json!({"action": "in_progress", "id": id}));
        assert!(text.contains("n progress: 1."), "{id}: {text}");
    }
}

#[test]
fn missing_parameters_are_reported_and_change_nothing() {
    let bench = Bench::new();
    run(&bench, json!({"action": "add", "task": "a"}));
    for (arguments, expected) in [
        (json!({"action": "add", "task": [" "]}), "A task is required"),
        (json!({"action": "add"}), "A task is required"),
        (json!({"action": "complete"}), "Task ID is required"),
        (json!({"action": "complete", "id": ""}), "Task ID is required"),
        (json!({"action": "complete", "id": []}), "Task ID is required"),
        (json!({"action": "remove", "id": 7}), "Task not found: 7."),
        (
            json!({"action": "finish", "id": 1}),
            "`action` must be one of add, list, in_progress, complete, remove, clear",
        ),
        (json!({"action": "complete", "id": -1}), "`id` must be an integer from 0 or an array"),
        (json!({}), "Missing required parameters: action."),
    ] {
        let error = bench.error("todo_manager", arguments.clone());
        assert!(error.contains(expected), "{arguments}: {error}");
    }
    assert_eq!(kept(&bench), [1]);
}

#[test]
fn a_question_waits_for_the_person() {
    use crate::{AsksPerson, Outcome};
    let bench = Bench::new();
    let arguments = json!({"question": " Which? ", "context": "", "options": ["a", "b", " a ", ""]});
    let output = bench.call("request_user_feedback", arguments.clone()).unwrap();
    assert_eq!(output.outcome, Outcome::AwaitsPerson);
    assert_eq!(
        output.view,
        ToolView::Feedback {
            question: "Which?".into(),
            context: None,
            options: vec!["a".into(), "b".into()],
            answer: None
        }
    );
    assert_eq!(bench.effects("request_user_feedback", arguments).asks_person, AsksPerson::Yes);
    let single = bench.call("ask_user", json!({"question": "x", "options": "only"})).unwrap();
    assert!(matches!(single.view, ToolView::Feedback { options, .. } if options == ["only"]));
    assert!(bench.error("request_user_feedback", json!({"question": " "})).contains("question is empty"));
}
