//! Detects fork bombs.

use crate::script::{Command, Execution, Word};

/// Returns whether a function calls itself concurrently: in a pipeline with itself, or in the background.
pub(super) fn is_fork_bomb(name: &str, body: &Command) -> bool {
    fn calls(name: &str, command: &Command) -> usize {
        let mut count = 0;
        command.visit_commands(&mut |command| {
            if let Command::Simple(simple) = command {
                count += usize::from(
                    simple.words.first().and_then(Word::literal).is_some_and(|first| first == name),
                );
            }
        });
        count
    }
    let mut found = false;
    body.visit_commands(&mut |command| {
        let scripts = match command {
            Command::Compound { compound, .. } => compound.scripts(),
            _ => Vec::new(),
        };
        for list in scripts.iter().flat_map(|script| &script.lists) {
            for (_, pipeline) in &list.pipelines {
                let count: usize = pipeline.stages.iter().map(|stage| calls(name, stage)).sum();
                found |= count >= 2 || (count >= 1 && list.execution == Execution::Background);
            }
        }
    });
    found
}
