//! The `undo_task`, `redo_task` and `list_tasks` tools: the model's access to the session's time machine.
//!
//! A restore requested by a tool happens after the turn: the requesting turn stays visible, and the rest of it
//! does not run on files that have just changed under it.

use crate::{Effects, Order, Outcome, Tool, ToolContext, ToolError, ToolOutput};
use octo_protocol::{
    Lasting, LastingKind, LastingMark, SessionId, TaskKind, TaskNumber, TaskStatus, TaskTree, TaskView,
    ToolView, TurnId,
};
use octo_workspace::{TimeError, TimeMachine};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

/// Default number of listed turns.
const USUAL: usize = 10;
/// Maximum number of listed turns.
const MOST: usize = 100;
/// Maximum paths listed of an undo.
const NAMED: usize = 20;
/// Maximum effects listed that an undo does not reverse.
const STAYING: usize = 8;

/// The session's turns, for its tools.
#[derive(Clone, Debug)]
pub struct Tasks {
    machine: TimeMachine,
    session: SessionId,
    /// The running turn, and the earlier ones it continues: a restarted turn has the person's message in an
    /// earlier one.
    turns: Vec<TurnId>,
    wish: Arc<Mutex<Option<TaskWish>>>,
}

/// Restore that a tool requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskWish {
    /// Takes a turn back.
    Undo {
        /// Number of the turn.
        task: TaskNumber,
        /// Its predecessor, whose state the files return to.
        to: TaskNumber,
    },
    /// Restores the end of a turn.
    Go {
        /// Number of the turn.
        to: TaskNumber,
    },
}

impl Tasks {
    /// Creates the turns of a session during one of its turns.
    pub fn new(machine: TimeMachine, session: SessionId, turn: TurnId) -> Self {
        Self { machine, session, turns: vec![turn], wish: Arc::default() }
    }

    /// Returns the same for a turn that continues others: their work counts as its own, and a restore is
    /// requested by all of them.
    #[must_use]
    pub fn going_on_with(self, turns: Vec<TurnId>) -> Self {
        Self { turns, ..self }
    }

    /// Returns the requested restore once the turn has ended, if any, and clears it.
    pub fn take_wish(&self) -> Option<TaskWish> {
        self.wish.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn wish(&self, wish: TaskWish) {
        *self.wish.lock().unwrap_or_else(PoisonError::into_inner) = Some(wish);
    }

    async fn tree(&self) -> Result<TaskTree, ToolError> {
        let (machine, session) = (self.machine.clone(), self.session);
        beside(move || machine.tree(session)).await
    }

    /// Returns the first number of the running turn, if it already has one.
    fn own(&self, tree: &TaskTree) -> Option<TaskNumber> {
        let is_own = |task: &&TaskView| task.turn.is_some_and(|turn| self.turns.contains(&turn));
        tree.tasks.iter().find(is_own).map(|task| task.number)
    }

    /// Returns all numbers of the running turn, including those of attempts that failed before any output.
    fn all_own(&self, tree: &TaskTree) -> Vec<TaskNumber> {
        let Some(first) = self.own(tree) else { return Vec::new() };
        let before = |task: &TaskNumber| parent(tree, *task).filter(|parent| *parent >= first);
        std::iter::successors(Some(tree.active).filter(|active| *active >= first), before).collect()
    }

    /// Returns the state at the start of this turn, which the person sees as the present one.
    fn present(&self, tree: &TaskTree) -> TaskNumber {
        let own = self.own(tree).and_then(|own| parent(tree, own));
        own.unwrap_or(tree.active)
    }

    /// Stores the request, and announces its effect. The exact changes are determined when it happens: until
    /// then this turn may still change files itself.
    fn ask_for(&self, wish: TaskWish, words: &str) -> ToolOutput {
        self.wish(wish);
        plain(format!(
            "When this turn ends, {words}. Files somebody else changed since are left as they are; the present \
             state is saved first and can be brought back. End your turn now."
        ))
    }
}

fn parent(tree: &TaskTree, number: TaskNumber) -> Option<TaskNumber> {
    tree.tasks.iter().find(|task| task.number == number)?.parent
}

fn plain(text: String) -> ToolOutput {
    let view = ToolView::Plain { text: text.clone() };
    ToolOutput { text, images: Vec::new(), view, outcome: Outcome::Done }
}

async fn beside<T: Send + 'static>(
    look: impl FnOnce() -> Result<T, TimeError> + Send + 'static,
) -> Result<T, ToolError> {
    crate::blocking::blocking(move || look().map_err(|error| ToolError::new(format!("Not done: {error}."))))
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
        Effects { order: Order::Parallel, ..Effects::none() }
    }

    async fn preview(&self, _input: &ListInput, _context: &ToolContext) -> Result<ToolView, ToolError> {
        Ok(ToolView::Plain { text: String::new() })
    }

    async fn run(&self, input: ListInput, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let tree = context.tasks.tree().await?;
        let limit = input.limit.map_or(USUAL, |limit| usize::try_from(limit).unwrap_or(MOST)).clamp(1, MOST);
        let (own, present) = (context.tasks.all_own(&tree), context.tasks.present(&tree));
        let lines: Vec<String> = tree
            .tasks
            .iter()
            .filter(|task| !own.contains(&task.number))
            .map(|task| line(task, present))
            .collect();
        if lines.is_empty() {
            return Ok(plain("No task came before this one.".to_owned()));
        }
        let first = lines.len().saturating_sub(limit);
        let earlier = if first == 0 { String::new() } else { format!("({first} earlier ones)\n") };
        Ok(plain(format!("{earlier}{}", lines.get(first..).unwrap_or_default().join("\n"))))
    }
}

fn line(task: &TaskView, present: TaskNumber) -> String {
    let mark = if task.number == present {
        "→"
    } else if task.status == TaskStatus::Undone {
        "↯"
    } else {
        " "
    };
    let branch = if task.branch { "⎇ " } else { "" };
    let what = match task.kind {
        TaskKind::Start => "the state before the first task".to_owned(),
        TaskKind::Run => task.summary.clone(),
        TaskKind::Safety => "(saved before a restore)".to_owned(),
        TaskKind::Files => "(files brought back)".to_owned(),
        TaskKind::Checkpoint => format!("(checkpoint) {}", task.summary),
    };
    let files = match (task.changed, task.lasting) {
        (0, 0) => String::new(),
        (files, 0) => format!(" [{files} files]"),
        (0, lasting) => format!(" [no files; {lasting} not undoable]"),
        (files, lasting) => format!(" [{files} files; {lasting} not undoable]"),
    };
    format!("{mark} {} {branch}{what}{files}", task.number)
}

impl Tool for UndoTaskTool {
    const NAME: &'static str = "undo_task";
    const DESCRIPTION: &'static str =
        "Takes back what the last task did to files, commands included. Happens when your turn ends.";
    type Input = UndoInput;

    fn effects(&self, _input: &UndoInput, cwd: &Path) -> Effects {
        Effects::writes(vec![cwd.to_owned()])
    }

    async fn preview(&self, _input: &UndoInput, context: &ToolContext) -> Result<ToolView, ToolError> {
        let (_, target) = undone(context).await?;
        Ok(ToolView::Plain { text: target.to_string() })
    }

    async fn run(&self, _input: UndoInput, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let (task, target) = undone(&context).await?;
        let (machine, session) = (context.tasks.machine.clone(), context.tasks.session);
        let changes = beside(move || machine.changes(session, task)).await?;
        let paths: Vec<&str> = changes.paths.iter().take(NAMED).map(|path| path.path.as_str()).collect();
        let more = changes.paths.len().saturating_sub(NAMED);
        let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
        let words = if paths.is_empty() {
            format!("task {task} is undone (it changed no files)")
        } else {
            format!("task {task} is undone, which changed {}{rest}", paths.join(", "))
        };
        let words = format!("{words}{}", stays(&changes.lasting));
        Ok(context.tasks.ask_for(TaskWish::Undo { task, to: target }, &words))
    }
}

/// Lists the effects of a turn that remain, as text after the list of undone changes.
fn stays(lasting: &Lasting) -> String {
    if lasting.is_empty() {
        return String::new();
    }
    let said = |mark: &LastingMark| {
        let times = if mark.times > 1 { format!(" ({} times)", mark.times) } else { String::new() };
        format!("{} {}{times}", deed(mark.kind), mark.what)
    };
    let listed: Vec<String> = lasting.marks.iter().take(STAYING).map(said).collect();
    let beyond = u32::try_from(lasting.marks.len() - listed.len()).unwrap_or(u32::MAX);
    let more = lasting.more.saturating_add(beyond);
    let rest = if more == 0 { String::new() } else { format!("; and {more} more") };
    format!(". It does not take back, so tell the person: {}{rest}", listed.join("; "))
}

fn deed(kind: LastingKind) -> &'static str {
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
async fn undone(context: &ToolContext) -> Result<(TaskNumber, TaskNumber), ToolError> {
    let tree = context.tasks.tree().await?;
    let mut task = context.tasks.present(&tree);
    // A checkpoint is not work.
    while let Some(checkpoint) =
        tree.tasks.iter().find(|known| known.number == task && known.kind == TaskKind::Checkpoint)
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
        Effects::writes(vec![cwd.to_owned()])
    }

    async fn preview(&self, input: &RedoInput, context: &ToolContext) -> Result<ToolView, ToolError> {
        known(input.task_id, context).await?;
        Ok(ToolView::Plain { text: input.task_id.to_string() })
    }

    async fn run(&self, input: RedoInput, context: ToolContext) -> Result<ToolOutput, ToolError> {
        known(input.task_id, &context).await?;
        let words = format!("files go to the end of task {}", input.task_id);
        Ok(context.tasks.ask_for(TaskWish::Go { to: input.task_id }, &words))
    }
}

async fn known(task: TaskNumber, context: &ToolContext) -> Result<(), ToolError> {
    let tree = context.tasks.tree().await?;
    if context.tasks.all_own(&tree).contains(&task) {
        return Err(ToolError::new(format!("Task {task} is this turn itself.")));
    }
    let numbers: Vec<String> = tree.tasks.iter().map(|task| task.number.to_string()).collect();
    if tree.tasks.iter().any(|known| known.number == task) {
        Ok(())
    } else {
        Err(ToolError::new(format!("There is no task {task}; there are {}.", numbers.join(", "))))
    }
}
