//! The preparation of a call: reading its arguments, deciding on it and running the person's hooks.

use super::{calls::plain, confined::SessionConfinement};
use crate::{
    hooks::{HookMoment, HookVerdict, Hooks},
    permission::{self, CallDecision, CommandFacts, Decision, PermissionContext, RunBasis},
};
use octo_policy::RunningCallEntry;
use octo_protocol::{AskReason, CallId, Mode, QuestionContent, Refusal, ToolCall, ToolView};
use octo_runtime::now;
use octo_shell::Confinement;
use octo_tools::{
    Approver, BuiltinCommandEffect, Effects, PreparedCall, ResolvedCall, ToolContext, ToolError, ToolOutput,
    Toolset,
};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// A call with parsed arguments and a decision.
pub(crate) struct ReadyCall {
    tool: &'static str,
    prepared: Box<dyn PreparedCall>,
    effects: Effects,
    decision: Decision,
    /// The command line to run instead of the given one.
    rewritten: Option<String>,
    command_facts: CommandFacts,
    preview: ToolView,
    arguments: Map<String, Value>,
    /// Text for the model from the hooks before the call.
    hook_context: Option<String>,
    /// The mode of the decision.
    mode: Mode,
    /// The working directory of the session's commands at that time: a command runs where its preview said.
    shell_folder: PathBuf,
}

/// Builds the facts about a call for a hook: those of the call that will run, not of the model's text.
pub(super) fn facts(tool: &str, call: CallId, arguments: &Map<String, Value>) -> Map<String, Value> {
    Map::from_iter([
        ("tool".to_owned(), tool.into()),
        ("call".to_owned(), call.to_string().into()),
        ("arguments".to_owned(), arguments.clone().into()),
    ])
}

/// Reads a call, decides on it and runs the person's hooks.
pub(super) async fn ready(
    toolset: &Toolset,
    call: &ToolCall,
    ground: &PermissionContext,
    hooks: &Hooks,
    forbidden_tools: &[String],
    context: &ToolContext,
) -> Result<ReadyCall, ToolError> {
    let ResolvedCall { name: tool, arguments, call: prepared } =
        toolset.prepare(&call.name, &call.arguments)?;
    if forbidden_tools.iter().any(|name| name == tool) {
        // The call is not examined. The model's tool list never changes, so the refusal is stated here.
        return Ok(ReadyCall {
            tool,
            effects: Effects::none(),
            prepared,
            decision: Decision::Deny { refusal: Refusal::SubAgent, subject: tool.to_owned(), part: None },
            rewritten: None,
            command_facts: CommandFacts::default(),
            preview: plain(""),
            arguments,
            hook_context: None,
            mode: ground.mode,
            shell_folder: ground.shell_folder.clone(),
        });
    }
    let effects = prepared.effects(&ground.folder).with_resolved_sites(&context.http).await;
    let entry = permission::entry_permissions(ground);
    // Attaching to a browser may wait for the person; Stop ends the wait.
    let effects = tokio::select! {
        biased;
        () = context.cancel.cancelled() => return Err(ToolError::new(super::texts::STOPPED)),
        weighed = effects.assessed(&*context.browser, &entry) => weighed?,
    };
    let decision_result = permission::decide_off_thread(ground, &effects).await;
    if let Some(entry) = decision_result.log_entry(&effects, context.session, now()) {
        let log = octo_policy::DecisionLog::new(&ground.home.join("logs"));
        // In parallel with the call: a log that cannot be written stops nothing.
        tokio::task::spawn_blocking(move || {
            if let Err(error) = log.write(&entry) {
                tracing::warn!(%error, "a decision could not be logged");
            }
        });
    }
    let CallDecision { decision, rewritten, facts: command_facts } = decision_result;
    let decision = match decision {
        Decision::Ask { reason: AskReason::EmptiesTrash { days, .. }, rule } => {
            let totals = context.trash.count(days).await?;
            Decision::Ask { reason: AskReason::EmptiesTrash { totals, days }, rule }
        }
        decision => decision,
    };
    let ready = ReadyCall {
        tool,
        prepared,
        effects,
        decision,
        rewritten,
        command_facts,
        preview: plain(""),
        arguments,
        hook_context: None,
        mode: ground.mode,
        shell_folder: ground.shell_folder.clone(),
    };
    // A denied call gets no preview: the preview might read the very file that is denied.
    if matches!(ready.decision, Decision::Deny { .. }) {
        return Ok(ready);
    }
    let view_context = ToolContext { files: context.files.for_person(), ..context.clone() };
    let preview = match (ready.prepared.preview(&view_context).await, &ready.decision) {
        (Ok(preview), _) => preview,
        // An error about a file the model may not see yet is shown to the person who is asked, not to the
        // model.
        (Err(error), Decision::Ask { reason, .. }) if concerns_closed_path(reason) => plain(&error.text),
        (Err(error), _) => return Err(error),
    };
    if ready.decision == Decision::Feedback && !matches!(preview, ToolView::Feedback { .. }) {
        return Err(ToolError::new(format!(
            "{tool} asks the person but has no question; nothing was asked."
        )));
    }
    let call_facts = facts(tool, call.id, &ready.arguments);
    let HookVerdict { deny, context: told } =
        hooks.run_all(HookMoment::BeforeTool, Some(tool), call_facts).await;
    let decision = match deny {
        Some(reason) => {
            Decision::Deny { refusal: Refusal::Hook, subject: tool.to_owned(), part: Some(reason) }
        }
        None => ready.decision,
    };
    Ok(ReadyCall { decision, preview, hook_context: told, ..ready })
}

/// Adds the hooks' text to a result.
fn with_hook_context(
    outcome: Result<ToolOutput, ToolError>,
    hook_context: &str,
) -> Result<ToolOutput, ToolError> {
    if hook_context.is_empty() {
        return outcome;
    }
    let add_context =
        |text: String| format!("{}\n\n[A hook of the person's adds: {hook_context}]", text.trim_end());
    match outcome {
        Ok(output) => Ok(ToolOutput { text: add_context(output.text.clone()), ..output }),
        Err(error) => Err(ToolError::new(add_context(error.text))),
    }
}

impl ReadyCall {
    /// Adapts the decision to an unattended session: calls that would ask are refused, and so is every program.
    pub(super) fn unattended(self) -> Self {
        if matches!(self.decision, Decision::Run(_) | Decision::Deny { .. }) && self.effects.command.is_none()
        {
            return self;
        }
        let refusal =
            Decision::Deny { refusal: Refusal::SubAgent, subject: self.tool.to_owned(), part: None };
        Self { decision: refusal, ..self }
    }

    /// Returns the tool's canonical name.
    pub(super) fn tool(&self) -> &'static str {
        self.tool
    }

    /// Returns the decision.
    pub(super) fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Returns the facts about its command that its effects do not name.
    pub(super) fn command_facts(&self) -> &CommandFacts {
        &self.command_facts
    }

    /// Returns the preview that the person sees or would see.
    pub(super) fn preview(&self) -> &ToolView {
        &self.preview
    }

    /// Returns the question to the person before the call runs.
    pub(super) fn question(&self) -> Option<QuestionContent> {
        match (&self.decision, &self.preview) {
            (Decision::Ask { reason, rule }, preview) => Some(QuestionContent::Permission {
                preview: preview.clone(),
                reason: reason.clone(),
                rule: rule.clone(),
            }),
            (_, ToolView::Feedback { question, context, options, .. }) => Some(QuestionContent::Feedback {
                question: question.clone(),
                context: context.clone(),
                options: options.clone(),
            }),
            // `ready` lets no other question pass.
            (Decision::Feedback | Decision::Run(_) | Decision::Deny { .. }, _) => None,
        }
    }

    /// Returns who approved it; `None` for a refused call.
    pub(super) fn approver(&self) -> Option<Approver> {
        match self.decision {
            Decision::Run(RunBasis::Policy) => Some(Approver::Policy),
            // All other calls run because of the person: by an answer, a rule or the mode.
            Decision::Run(RunBasis::Person) | Decision::Ask { .. } | Decision::Feedback => {
                Some(Approver::Person)
            }
            Decision::Deny { .. } => None,
        }
    }

    /// Returns the confinement of its command.
    pub(super) fn confinement(&self, confinement: &SessionConfinement) -> Option<Confinement> {
        confinement.confinement(&self.decision, &self.command_facts)
    }

    /// Adds the grants of the decision to the call's context.
    pub(super) fn add_grants(
        &self,
        context: ToolContext,
        ground: &PermissionContext,
        confinement: Option<Confinement>,
    ) -> ToolContext {
        let sites = permission::granted_sites(ground, &self.effects, &self.decision);
        ToolContext {
            files: context.files.with_grants(&self.effects.reads, &self.effects.writes),
            http: context.http.with_grants(sites),
            browser_permission: permission::browser_permissions(ground, &self.effects),
            shell_folder: Some(self.shell_folder.clone()),
            rewritten: self.rewritten.clone(),
            confinement,
            ..context
        }
    }

    /// Enters the call among the running ones if it runs unasked.
    ///
    /// # Errors
    ///
    /// The description of a running call with which it conflicts.
    pub(super) fn enter(&self, context: &PermissionContext) -> Result<Option<RunningCallEntry>, String> {
        if self.decision != Decision::Run(RunBasis::Policy) {
            return Ok(None);
        }
        context.running.enter(context.running_call(&self.effects, &self.command_facts)).map(Some)
    }

    /// Whether the call would no longer do what the person approved: files change while a question waits.
    pub(super) async fn has_changed(&self, view_context: &ToolContext) -> bool {
        self.was_shown() && !self.is_still_shown(view_context).await
    }

    /// Whether the person approved a change they saw.
    fn was_shown(&self) -> bool {
        let changes = matches!(self.effects.builtin, Some(BuiltinCommandEffect::Changes(_)));
        matches!(self.decision, Decision::Ask { .. })
            && (changes || matches!(self.preview, ToolView::Diff(_)))
    }

    async fn is_still_shown(&self, view_context: &ToolContext) -> bool {
        self.prepared.preview(view_context).await.is_ok_and(|now| now == self.preview)
    }

    /// Whether a call allowed by an earlier mode must not run in the present one.
    pub(super) fn is_forbidden_by_now(&self, context: &PermissionContext) -> bool {
        matches!(self.decision, Decision::Run(_))
            && context.mode.is_stricter_than(self.mode)
            && permission::is_forbidden_now(context, &self.effects)
    }

    /// Returns the effects of the call.
    pub(super) fn effects(&self) -> &Effects {
        &self.effects
    }

    /// Whether a question is still about this call, which was read again.
    pub(super) fn matches_question(&self, question: &QuestionContent) -> bool {
        match (question, &self.decision) {
            (QuestionContent::Permission { reason, preview, .. }, Decision::Ask { reason: now, .. }) => {
                reason == now && *preview == self.preview
            }
            // Allowed automatically by now: the person's yes covers it all the more.
            (QuestionContent::Permission { preview, .. }, Decision::Run(_)) => *preview == self.preview,
            // Denied by now: it passes here and ends as denied later.
            (QuestionContent::Permission { .. }, Decision::Deny { .. }) => true,
            (QuestionContent::Permission { .. }, Decision::Feedback)
            | (QuestionContent::Feedback { .. }, _) => false,
        }
    }

    /// Runs the call, then the person's hooks on its result.
    pub(super) async fn run(
        self,
        call: CallId,
        hooks: &Hooks,
        context: ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let outcome = self.prepared.run(context).await;
        let mut call_facts = facts(self.tool, call, &self.arguments);
        call_facts.insert("failed".to_owned(), outcome.is_err().into());
        let verdict = hooks.run_all(HookMoment::AfterTool, Some(self.tool), call_facts).await;
        let notes = [self.hook_context, verdict.context].into_iter().flatten().collect::<Vec<_>>().join("\n");
        with_hook_context(outcome, &notes)
    }
}

fn concerns_closed_path(reason: &AskReason) -> bool {
    match reason {
        AskReason::ReadsOutside { .. }
        | AskReason::WritesOutside { .. }
        | AskReason::Secret { .. }
        | AskReason::Startup { .. }
        | AskReason::RunsLater { .. } => true,
        AskReason::Mode
        | AskReason::Protected { .. }
        | AskReason::Instructs { .. }
        | AskReason::ProjectRules { .. }
        | AskReason::Command { .. }
        | AskReason::Unparsed
        | AskReason::Redirects { .. }
        | AskReason::Risky { .. }
        | AskReason::EmptiesTrash { .. }
        | AskReason::PrivateAddress { .. }
        | AskReason::Network { .. }
        | AskReason::Site { .. }
        | AskReason::Page { .. }
        | AskReason::Library { .. } => false,
    }
}
