//! Answers to questions. A missing answer is never a yes.

use super::{
    JobReport, network, ready,
    state::Session,
    step::{Change, Step},
    texts,
};
use crate::{
    permission::{self, Decision},
    turn::Input,
};
use octo_protocol::{
    Answer, ApiError, AskReason, Block, CallId, CallStatus, ErrorCode, Mode, Question, QuestionContent,
    QuestionId, Rule, ToolView, TurnId,
};
use octo_tools::{Approver, Effects, LocationAccess};

impl Session {
    /// Takes the person's answer to a question. The changes already in the step are stored together with the
    /// answer.
    pub(super) async fn answer(
        &mut self,
        id: QuestionId,
        answer: Answer,
        step: Step,
    ) -> Result<(), ApiError> {
        let gone_error = || ApiError::new("question.gone").code(ErrorCode::Gone);
        let question = self.turn.get().and_then(|turn| turn.batch.question(id));
        let question = question.cloned().ok_or_else(gone_error)?;
        if network::is_about_connection(&question) {
            return self.answer_about_connection(&question, answer, step).await;
        }
        match (&question.ask, &answer) {
            (QuestionContent::Feedback { .. }, Answer::Text { text }) => {
                let text = text.clone();
                self.close_feedback(&question, answer, text, step).await
            }
            (QuestionContent::Feedback { .. }, Answer::No { reason }) => {
                let text = texts::unanswered_text(reason.as_deref());
                self.close_feedback(&question, answer, text, step).await
            }
            (QuestionContent::Permission { .. }, Answer::No { reason }) => {
                let text = texts::declined_text(reason.as_deref());
                let end = (CallStatus::Denied, text, None);
                let step = self.close(&question, answer, end, step);
                self.feed_with(Input::Declined { call: question.call }, step).await
            }
            (QuestionContent::Permission { .. }, Answer::Once) => self.allow(&question, answer, None).await,
            (QuestionContent::Permission { rule, .. }, Answer::Session) => {
                let rule = rule.clone().map(|rule| (self.session_scope(), rule));
                self.allow(&question, answer, rule).await
            }
            // A whole line that no pattern covers is never allowed permanently.
            (QuestionContent::Permission { rule: Some(Rule::Line { .. }), .. }, Answer::Always) => {
                Err(ApiError::new("question.wrong_answer"))
            }
            (QuestionContent::Permission { rule: Some(rule), .. }, Answer::Always) => {
                let rule = Some((self.info.folder.clone(), rule.clone()));
                self.allow(&question, answer, rule).await
            }
            (QuestionContent::Permission { .. }, Answer::Always | Answer::Text { .. })
            | (QuestionContent::Feedback { .. }, Answer::Once | Answer::Session | Answer::Always) => {
                Err(ApiError::new("question.wrong_answer"))
            }
        }
    }

    /// Returns the model's own waiting question if these words answer it.
    pub(super) fn feedback_waiting(&self, blocks: &[Block]) -> Option<(QuestionId, String)> {
        let [Block::Text { text }] = blocks else { return None };
        let question = self.turn.get()?.batch.feedback()?;
        Some((question.id, text.clone()))
    }

    /// Closes a question and ends its call with these words for the model.
    fn close(
        &mut self,
        question: &Question,
        answer: Answer,
        (status, text, view): (CallStatus, String, Option<ToolView>),
        mut step: Step,
    ) -> Step {
        self.turn.with(|turn| {
            turn.batch.close_question(question.id, answer, &mut step);
            turn.batch.end(question.call, status, text, view, &mut step);
        });
        step
    }

    /// Closes a question whose call is going to run.
    fn close_allowed(&mut self, question: &Question, answer: Answer) -> Step {
        let mut step = Step::default();
        self.turn.with(|turn| turn.batch.close_question(question.id, answer, &mut step));
        step
    }

    async fn close_feedback(
        &mut self,
        question: &Question,
        answer: Answer,
        text: String,
        step: Step,
    ) -> Result<(), ApiError> {
        let view = match &question.ask {
            QuestionContent::Feedback { question, context, options } => {
                let text = match &answer {
                    Answer::Text { text } => Some(text.clone()),
                    Answer::No { reason } => reason.clone(),
                    Answer::Once | Answer::Session | Answer::Always => None,
                };
                Some(ToolView::Feedback {
                    question: question.clone(),
                    context: context.clone(),
                    options: options.clone(),
                    answer: text,
                })
            }
            QuestionContent::Permission { .. } => None,
        };
        let step = self.close(question, answer, (CallStatus::Done, text, view), step);
        self.feed_with(Input::Ended { call: question.call }, step).await
    }

    async fn allow(
        &mut self,
        question: &Question,
        answer: Answer,
        rule: Option<(String, Rule)>,
    ) -> Result<(), ApiError> {
        if self.ready_effects(question.call).is_some() {
            return self.allow_ready(question, answer, rule).await;
        }
        // After a restart the call was only waiting: it is read again and must match the question.
        if self.turn.with(|turn| turn.batch.confirm(question.id)) == Some(false) {
            return Err(ApiError::new("question.gone").code(ErrorCode::Gone));
        }
        self.recheck(question.clone(), RecheckPurpose::Allow { answer, rule });
        Ok(())
    }

    async fn allow_ready(
        &mut self,
        question: &Question,
        answer: Answer,
        rule: Option<(String, Rule)>,
    ) -> Result<(), ApiError> {
        let mut step = self.close_allowed(question, answer);
        let mut is_rule = rule.is_some();
        if let QuestionContent::Permission { reason: AskReason::Site { site }, .. } = &question.ask
            && self.is_granted_for_turn(question.call)
        {
            self.grants.grant_site(site.clone());
            is_rule = true;
        }
        if let Some((scope, rule)) = rule {
            self.grants.add_rule(rule.clone());
            step.change(Change::Rule { scope, rule });
        }
        self.feed_with(Input::Allowed { call: question.call }, step).await?;
        if is_rule {
            self.review_questions();
        }
        Ok(())
    }

    /// Whether the place a call asks for is granted for the whole turn. Calls that ask every time are granted
    /// once.
    fn is_granted_for_turn(&self, call: CallId) -> bool {
        let assessment =
            self.ready_effects(call).and_then(|effects| effects.browser.as_ref()?.assessment.as_ref());
        let location = assessment.and_then(|assessment| assessment.location.as_ref());
        location
            .is_some_and(|place| matches!(place.access, LocationAccess::Asks | LocationAccess::AsksEachTurn))
    }

    /// Returns the effects of a call that is ready to run.
    fn ready_effects(&self, call: CallId) -> Option<&Effects> {
        self.turn.get()?.batch.get(call)?.effects()
    }

    /// Answers the questions that a new rule or mode has made unnecessary. The check may take a while, so it
    /// runs off the actor.
    pub(super) fn review_questions(&self) {
        for question in self.turn.get().into_iter().flat_map(|turn| turn.batch.permissions()) {
            self.recheck(question.clone(), RecheckPurpose::Review { mode: self.info.mode });
        }
    }

    /// Decides again on a waiting call. If it is not ready (after a restart) it is read again first.
    fn recheck(&self, question: Question, purpose: RecheckPurpose) {
        let (hooks, forbidden_tools) = (self.hooks(), self.forbidden_tools());
        let (mut ground, toolset, report) =
            (self.permission_context(), self.runtime.services.toolset.clone(), self.reporter());
        let (runtime, folder, scope) = (self.runtime.clone(), self.info.folder.clone(), self.session_scope());
        let Some(running) = self.turn.get() else { return };
        let Some(open) = running.batch.get(question.call) else { return };
        let (call, effects) = (open.request().clone(), open.effects().cloned());
        let (turn, cancel, tasks) = (running.id(), running.child_token(), running.task().tools());
        let context = self.tool_context(call.id, open.message(), Approver::Policy, cancel, tasks);
        tokio::spawn(async move {
            // A separate task: a panic while reading a call must not leave its question unanswerable.
            let check = tokio::spawn(async move {
                // A rule may have been revoked meanwhile.
                if let Ok(rules) = runtime.base.load_rules(folder, scope).await {
                    ground.rules = rules;
                }
                match effects {
                    Some(effects) => Ok(RecheckResult::Decision(
                        permission::decide_off_thread(&ground, &effects).await.decision,
                    )),
                    None => {
                        let ready =
                            ready::ready(&toolset, &call, &ground, &hooks, &forbidden_tools, &context).await;
                        ready.map(|ready| RecheckResult::Ready(Box::new(ready))).map_err(|error| error.text)
                    }
                }
            });
            let checked = check.await.unwrap_or_else(|error| {
                tracing::error!(%error, "reading a waiting call broke");
                Err(texts::CHANGED.to_owned())
            });
            report.send(JobReport::Rechecked(Recheck { turn, question, purpose, result: checked }));
        });
    }

    /// Takes the second decision on a waiting call.
    pub(super) async fn apply_recheck(&mut self, report: Recheck) -> Result<(), ApiError> {
        let Recheck { turn, question, purpose, result } = report;
        let Some(running) = self.turn.get_by_id(turn) else { return Ok(()) };
        if running.batch.question(question.id).is_none() {
            return Ok(());
        }
        let decision = match result {
            Ok(RecheckResult::Decision(decision)) => Ok(decision),
            Ok(RecheckResult::Ready(ready)) if ready.matches_question(&question.ask) => {
                let decision = ready.decision().clone();
                if let Some(open) = running.batch.call(question.call) {
                    open.replace_ready(*ready);
                }
                Ok(decision)
            }
            Ok(RecheckResult::Ready(_)) => Err(texts::CHANGED.to_owned()),
            Err(text) => Err(text),
        };
        match (purpose, decision) {
            // It is denied by now, whatever the person says.
            (_, Ok(Decision::Deny { refusal, subject, part })) => {
                let text = texts::refusal_text_with(refusal, part.as_deref());
                let view = Some(ToolView::Refused { subject, part, refusal });
                let end = (CallStatus::Denied, text, view);
                let step = self.close(&question, Answer::No { reason: None }, end, Step::default());
                self.feed_with(Input::Ended { call: question.call }, step).await
            }
            (RecheckPurpose::Allow { answer, rule }, Ok(_)) => {
                self.allow_ready(&question, answer, rule).await
            }
            (RecheckPurpose::Allow { answer, .. }, Err(text)) => {
                let end = (CallStatus::Failed, text, None);
                let step = self.close(&question, answer, end, Step::default());
                self.feed_with(Input::Ended { call: question.call }, step).await
            }
            // A decision for a mode that is no longer the session's does not count.
            (RecheckPurpose::Review { mode }, Ok(Decision::Run(_))) if mode == self.info.mode => {
                let step = self.close_allowed(&question, Answer::Once);
                self.feed_with(Input::Allowed { call: question.call }, step).await
            }
            (RecheckPurpose::Review { .. }, _) => Ok(()),
        }
    }
}

/// The result of a second check of a waiting call.
pub(crate) struct Recheck {
    turn: TurnId,
    question: Question,
    purpose: RecheckPurpose,
    /// The check, or for the model why the call can no longer be read.
    result: Result<RecheckResult, String>,
}

enum RecheckResult {
    /// The call was ready; this is the current decision.
    Decision(Decision),
    /// The call was read again.
    Ready(Box<ready::ReadyCall>),
}

/// Why a waiting call is checked again.
enum RecheckPurpose {
    /// The person said yes to it.
    Allow { answer: Answer, rule: Option<(String, Rule)> },
    /// It may no longer need an answer.
    Review { mode: Mode },
}
