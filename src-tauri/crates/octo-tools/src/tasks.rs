//! The `undo_task`, `redo_task` and `list_tasks` tools: the model's access to the session's time machine.
//!
//! A restore requested by a tool happens after the turn: the requesting turn stays visible, and the rest of it
//! does not run on files that have just changed under it.

use crate::{CallConcurrency, Effects, Outcome, Tool, ToolContext, ToolError, ToolOutput};
use octo_protocol::{
    LastingEffect, LastingEffects, LastingKind, SessionId, StepKind, StepNumber, StepPosition, StepTree,
    StepView, ToolView, TurnId,
};
use octo_workspace::{TimeError, TimeMachine};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Deserialize;
use std::{path::Path, sync::Arc};

/// Default number of listed turns.
const DEFAULT_LISTED: usize = 10;
/// Maximum number of listed turns.
const MAX_LISTED: usize = 100;
/// Maximum paths listed of an undo.
const MAX_PATHS: usize = 20;
/// Maximum effects listed that an undo does not reverse.
const MAX_LASTING: usize = 8;

/// The session's turns, for its tools.
#[derive(Clone, Debug)]
pub struct TurnHistory {
    machine: TimeMachine,
    session: SessionId,
    /// The running turn, and the earlier ones it continues: a restarted turn has the person's message in an
    /// earlier one.
    turns: Vec<TurnId>,
    restore_request: Arc<Mutex<Option<RestoreRequest>>>,
}

/// Restore that a tool requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreRequest {
    /// Takes a turn back.
    Undo {
        /// Number of the turn.
        task: StepNumber,
        /// Its predecessor, whose state the files return to.
        to: StepNumber,
    },
    /// Restores the end of a turn.
    Redo {
        /// Number of the turn.
        to: StepNumber,
    },
}

impl TurnHistory {
    /// Creates the turns of a session during one of its turns.
    pub fn new(machine: TimeMachine, session: SessionId, turn: TurnId) -> Self {
        Self { machine, session, turns: vec![turn], restore_request: Arc::default() }
    }

    /// Returns the same for a turn that continues others: their work counts as its own, and a restore is
    /// requested by all of them.
    #[must_use]
    pub fn continuing(self, turns: Vec<TurnId>) -> Self {
        Self { turns, ..self }
    }

    /// Returns the requested restore once the turn has ended, if any, and clears it.
    pub fn take_restore(&self) -> Option<RestoreRequest> {
        self.restore_request.lock().take()
    }

    fn store_request(&self, request: RestoreRequest) {
        *self.restore_request.lock() = Some(request);
    }

    async fn tree(&self) -> Result<StepTree, ToolError> {
        let (machine, session) = (self.machine.clone(), self.session);
        run_blocking(move || machine.tree(session)).await
    }

    /// Returns the first number of the running turn, if it already has one.
    fn own_number(&self, tree: &StepTree) -> Option<StepNumber> {
        let is_own = |task: &&StepView| task.turn.is_some_and(|turn| self.turns.contains(&turn));
        tree.tasks.iter().find(is_own).map(|task| task.number)
    }

    /// Returns all numbers of the running turn, including those of attempts that failed before any output.
    fn own_numbers(&self, tree: &StepTree) -> Vec<StepNumber> {
        let Some(first_own) = self.own_number(tree) else { return Vec::new() };
        let before = |task: &StepNumber| parent(tree, *task).filter(|parent| *parent >= first_own);
        std::iter::successors(Some(tree.active).filter(|active| *active >= first_own), before).collect()
    }

    /// Returns the state at the start of this turn, which the person sees as the present one.
    fn turn_start(&self, tree: &StepTree) -> StepNumber {
        let parent_number = self.own_number(tree).and_then(|parent_number| parent(tree, parent_number));
        parent_number.unwrap_or(tree.active)
    }

    /// Stores the request, and announces its effect. The exact changes are determined when it happens: until
    /// then this turn may still change files itself.
    fn request_restore(&self, request: RestoreRequest, message: &str) -> ToolOutput {
        self.store_request(request);
        text_output(format!(
            "When this turn ends, {message}. Files somebody else changed since are left as they are; the present \
             state is saved first and can be brought back. End your turn now."
        ))
    }
}

fn parent(tree: &StepTree, number: StepNumber) -> Option<StepNumber> {
    tree.tasks.iter().find(|task| task.number == number)?.parent
}

fn text_output(text: String) -> ToolOutput {
    let view = ToolView::Plain { text: text.clone() };
    ToolOutput { text, images: Vec::new(), view, outcome: Outcome::Done }
}

async fn run_blocking<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, TimeError> + Send + 'static,
) -> Result<T, ToolError> {
    crate::blocking::blocking(move || read().map_err(|error| ToolError::new(format!("Not done: {error}."))))
        .await
}

pub(crate) struct ListTasksTool;
pub(crate) struct UndoTaskTool;
pub(crate) struct RedoTaskTool;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListInput {
    /// How many of the newest. Default 10.
    limit: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct UndoInput {}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct RedoInput {
    /// The task's number, from list_tasks.
    task_id: u32,
}

impl Tool for ListTasksTool {
    const NAME: &'static str = "list_tasks";
    const DESCRIPTION: &'static str =
        "Lists this session's tasks (one for each turn): → current, ↯ undone, ⎇ branch.";
    type Input = ListInput;

    fn effects(&self, _input: &ListInput, _cwd: &Path) -> Effects {
        Effects { order: CallConcurrency::Parallel, ..Effects::none() }
    }

    async fn preview(&self, _input: &ListInput, _context: &ToolContext) -> Result<ToolView, ToolError> {
        Ok(ToolView::Plain { text: String::new() })
    }

    async fn run(&self, input: ListInput, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let tree = context.tasks.tree().await?;
        let limit = input
            .limit
            .map_or(DEFAULT_LISTED, |limit| usize::try_from(limit).unwrap_or(MAX_LISTED))
            .clamp(1, MAX_LISTED);
        let (own_tasks, present) = (context.tasks.own_numbers(&tree), context.tasks.turn_start(&tree));
        let lines: Vec<String> = tree
            .tasks
            .iter()
            .filter(|task| !own_tasks.contains(&task.number))
            .map(|task| line(task, present))
            .collect();
        if lines.is_empty() {
            return Ok(text_output("No task came before this one.".to_owned()));
        }
        let start = lines.len().saturating_sub(limit);
        let earlier = if start == 0 { String::new() } else { format!("({start} earlier ones)\n") };
        Ok(text_output(format!("{earlier}{}", lines.get(start..).unwrap_or_default().join("\n"))))
    }
}

fn line(task: &StepView, present: StepNumber) -> String {
    let marker = if task.number == present {
        "→"
    } else if task.status == StepPosition::Undone {
        "↯"
    } else {
        " "
    };
    let branch = if task.branch { "⎇ " } else { "" };
    let kind = match task.kind {
        StepKind::Start => "the state before the first task".to_owned(),
        StepKind::Run => task.summary.clone(),
        StepKind::Safety => "(saved before a restore)".to_owned(),
        StepKind::Files => "(files brought back)".to_owned(),
        StepKind::Checkpoint => format!("(checkpoint) {}", task.summary),
    };
    let files = match (task.changed, task.lasting) {
        (0, 0) => String::new(),
        (files, 0) => format!(" [{files} files]"),
        (0, effects) => format!(" [no files; {effects} not undoable]"),
        (files, effects) => format!(" [{files} files; {effects} not undoable]"),
    };
    format!("{marker} {} {branch}{kind}{files}", task.number)
}

impl Tool for UndoTaskTool {
    const NAME: &'static str = "undo_task";
    const DESCRIPTION: &'static str =
        "Takes back what the last task did to files, commands included. Happens when your turn ends.";
    type Input = UndoInput;

    fn effects(&self, _input: &UndoInput, cwd: &Path) -> Effects {
        Effects::restores(vec![cwd.to_owned()])
    }

    async fn preview(&self, _input: &UndoInput, context: &ToolContext) -> Result<ToolView, ToolError> {
        let (_, target) = undo_target(context).await?;
        Ok(ToolView::Plain { text: target.to_string() })
    }

    async fn run(&self, _input: UndoInput, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let (task, target) = undo_target(&context).await?;
        let (machine, session) = (context.tasks.machine.clone(), context.tasks.session);
        let changes = run_blocking(move || machine.changes(session, task)).await?;
        let paths: Vec<&str> = changes.paths.iter().take(MAX_PATHS).map(|path| path.path.as_str()).collect();
        let more = changes.paths.len().saturating_sub(MAX_PATHS);
        let remainder = if more == 0 { String::new() } else { format!(" and {more} more") };
        let message = if paths.is_empty() {
            format!("task {task} is undone (it changed no files)")
        } else {
            format!("task {task} is undone, which changed {}{remainder}", paths.join(", "))
        };
        let message = format!("{message}{}", list_lasting(&changes.lasting));
        Ok(context.tasks.request_restore(RestoreRequest::Undo { task, to: target }, &message))
    }
}

/// Lists the effects of a turn that remain, as text after the list of undone changes.
fn list_lasting(effects: &LastingEffects) -> String {
    if effects.is_empty() {
        return String::new();
    }
    let describe = |effect: &LastingEffect| {
        let times = if effect.times > 1 { format!(" ({} times)", effect.times) } else { String::new() };
        format!("{} {}{times}", lasting_label(effect.kind), effect.what)
    };
    let listed: Vec<String> = effects.effects.iter().take(MAX_LASTING).map(describe).collect();
    let omitted = u32::try_from(effects.effects.len() - listed.len()).unwrap_or(u32::MAX);
    let more = effects.more.saturating_add(omitted);
    let suffix = if more == 0 { String::new() } else { format!("; and {more} more") };
    format!(". It does not take back, so tell the person: {}{suffix}", listed.join("; "))
}

fn lasting_label(kind: LastingKind) -> &'static str {
    match kind {
        LastingKind::Pushed => "pushed by",
        LastingKind::Published => "published by",
        LastingKind::Sent => "sent by",
        LastingKind::Remote => "done elsewhere by",
        LastingKind::Installed => "installed by",
        LastingKind::System => "changed in the system by",
        LastingKind::Outside => "possibly changed outside the folder:",
        LastingKind::Unheld => "whatever was changed outside the folder by",
        LastingKind::Acted => "done in the browser at",
        LastingKind::Uploaded => "uploaded to",
        LastingKind::Downloaded => "downloaded from",
        LastingKind::Visited => "opened in the browser:",
    }
}

/// Returns the turn that an undo takes back, and the state it returns to.
async fn undo_target(context: &ToolContext) -> Result<(StepNumber, StepNumber), ToolError> {
    let tree = context.tasks.tree().await?;
    let mut task = context.tasks.turn_start(&tree);
    // A checkpoint is not work.
    while let Some(checkpoint) =
        tree.tasks.iter().find(|step| step.number == task && step.kind == StepKind::Checkpoint)
    {
        task = checkpoint.parent.unwrap_or(0);
    }
    let target = parent(&tree, task)
        .ok_or_else(|| ToolError::new("Nothing to undo: this is the state before the first task."))?;
    Ok((task, target))
}

impl Tool for RedoTaskTool {
    const NAME: &'static str = "redo_task";
    const DESCRIPTION: &'static str = "Brings files to the state at the end of a task, undone or on another branch. Happens when your turn ends.";
    type Input = RedoInput;

    fn effects(&self, _input: &RedoInput, cwd: &Path) -> Effects {
        Effects::restores(vec![cwd.to_owned()])
    }

    async fn preview(&self, input: &RedoInput, context: &ToolContext) -> Result<ToolView, ToolError> {
        check_exists(input.task_id, context).await?;
        Ok(ToolView::Plain { text: input.task_id.to_string() })
    }

    async fn run(&self, input: RedoInput, context: ToolContext) -> Result<ToolOutput, ToolError> {
        check_exists(input.task_id, &context).await?;
        let message = format!("files go to the end of task {}", input.task_id);
        Ok(context.tasks.request_restore(RestoreRequest::Redo { to: input.task_id }, &message))
    }
}

async fn check_exists(task: StepNumber, context: &ToolContext) -> Result<(), ToolError> {
    let tree = context.tasks.tree().await?;
    if context.tasks.own_numbers(&tree).contains(&task) {
        return Err(ToolError::new(format!("Task {task} is this turn itself.")));
    }
    let numbers: Vec<String> = tree.tasks.iter().map(|task| task.number.to_string()).collect();
    if tree.tasks.iter().any(|step| step.number == task) {
        Ok(())
    } else {
        Err(ToolError::new(format!("There is no task {task}; there are {}.", numbers.join(", "))))
    }
}
