//! The work that is done.

use octo_protocol::Switch;

/// A workload.
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    /// Its acts.
    pub acts: fn() -> Vec<Act>,
    /// Target ratio to the ideal, if there is one.
    pub aim: Option<f64>,
    /// Whether its conversation is compacted during the run.
    pub compacts: bool,
    /// Whether Octo may look back at its turns. Off if a turn is long enough for that: the progress of a look
    /// back before the next message ends it varies.
    pub looks_back: Switch,
}

/// An act of the person.
pub enum Act {
    /// Creates files of these sizes, in bytes.
    Files { bytes: Vec<usize> },
    /// Sends a message, and the model takes these steps.
    Say { words: usize, steps: Vec<Step> },
    /// The same, but stops it while its last step streams, and retries.
    SayAndStop { words: usize, steps: Vec<Step>, again: Vec<Step> },
    /// Is away.
    Pause,
    /// Switches to another model.
    Model(usize),
}

/// A step of the model.
pub enum Step {
    /// Writes text and reads this many files at once.
    Read { files: usize, words: usize },
    /// Writes text and finishes.
    Say { words: usize },
    /// The same, but pauses halfway.
    Hold { words: usize },
}

/// All of them.
pub const WORKLOADS: &[Workload] = &[
    Workload { name: "coding", acts: coding, aim: Some(1.02), compacts: false, looks_back: Switch::Off },
    Workload { name: "chat", acts: chat, aim: Some(1.08), compacts: false, looks_back: Switch::On },
    Workload { name: "switch", acts: switch, aim: None, compacts: false, looks_back: Switch::On },
    Workload { name: "long", acts: long, aim: Some(1.03), compacts: true, looks_back: Switch::Off },
];

/// Returns sizes between 500 bytes and 7 kB, as tool results have.
fn sizes(count: usize) -> Vec<usize> {
    (0..count).map(|number| 500 + number * 1_733 % 6_500).collect()
}

/// One prompt, 40 tool turns.
fn coding() -> Vec<Act> {
    let mut steps: Vec<Step> =
        (0..40).map(|number| Step::Read { files: 1, words: 10 + number % 30 }).collect();
    steps.push(Step::Say { words: 150 });
    vec![Act::Files { bytes: sizes(40) }, Act::Say { words: 80, steps }]
}

/// The steps of a chat's turn: two or three reads, and an answer.
fn turn(number: usize) -> Vec<Step> {
    let mut steps: Vec<Step> = (0..2 + number % 2).map(|_| Step::Read { files: 1, words: 20 }).collect();
    steps.push(Step::Say { words: 140 });
    steps
}

/// Twelve turns with pauses between them; the seventh is stopped and tried again.
fn chat() -> Vec<Act> {
    turns(|_| None)
}

/// The same, with another model from the fifth to the eighth turn.
fn switch() -> Vec<Act> {
    turns(|number| match number {
        4 => Some(1),
        8 => Some(0),
        _ => None,
    })
}

fn turns(model: impl Fn(usize) -> Option<usize>) -> Vec<Act> {
    let mut acts = vec![Act::Files { bytes: sizes(40) }];
    for number in 0..12 {
        if number > 0 {
            acts.push(Act::Pause);
        }
        acts.extend(model(number).map(Act::Model));
        let word_count = 15 + number * 7 % 60;
        let mut steps = turn(number);
        acts.push(if number == 6 {
            steps.pop();
            steps.push(Step::Hold { words: 140 });
            Act::SayAndStop { words: word_count, steps, again: vec![Step::Say { words: 140 }] }
        } else {
            Act::Say { words: word_count, steps }
        });
    }
    acts
}

/// 450,000 tokens of tool output, in three turns.
fn long() -> Vec<Act> {
    let mut acts = vec![Act::Files { bytes: vec![15_000; 120] }];
    for _ in 0..3 {
        let mut steps: Vec<Step> = (0..40).map(|_| Step::Read { files: 1, words: 20 }).collect();
        steps.push(Step::Say { words: 150 });
        acts.push(Act::Say { words: 60, steps });
    }
    acts
}
