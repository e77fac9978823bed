//! Answers. No answer is never a yes.

use super::{
    calls,
    state::{Change, Session},
    texts,
    turns::Step,
};
use crate::{permission::Decision, turn::Input};
use octo_protocol::{
    Answer, ApiError, Ask, Block, CallId, CallStatus, ErrorCode, Event, Question, QuestionId, Rule, ToolView,
};
use octo_tools::Vetted;

impl Session {
    /// The person answers a question.
    pub(super) async fn answer(&mut self, id: QuestionId, answer: Answer) -> Result<(), ApiError> {
        let gone = || ApiError::new("question.gone").code(ErrorCode::Gone);
        let running = self.running.as_ref().ok_or_else(gone)?;
        let question = running.questions.iter().find(|one| one.id == id).cloned().ok_or_else(gone)?;
        match (&question.ask, &answer) {
            (Ask::Feedback { .. }, Answer::Text { text }) => {
                let text = text.clone();
                self.close_feedback(&question, answer, text).await
            }
            (Ask::Feedback { .. }, Answer::No { reason }) => {
                let text = texts::unanswered(reason.as_deref());
                self.close_feedback(&question, answer, text).await
            }
            (Ask::Permission { .. }, Answer::No { reason }) => {
                let text = texts::declined(reason.as_deref());
                let mut step = self.close(&question, answer);
                self.end_asked(question.call, CallStatus::Denied, text, None, &mut step);
                self.feed_with(Input::Declined { call: question.call }, step).await
            }
            (Ask::Permission { .. }, Answer::Once) => self.allow(&question, answer, None).await,
            (Ask::Permission { rule, .. }, Answer::Session) => {
                let rule = rule.clone().map(|rule| (self.session_scope(), rule));
                self.allow(&question, answer, rule).await
            }
            // A whole line that no pattern stands for is never allowed for good.
            (Ask::Permission { rule: Some(Rule::Line { .. }), .. }, Answer::Always) => {
                Err(ApiError::new("question.wrong_answer"))
            }
            (Ask::Permission { rule: Some(rule), .. }, Answer::Always) => {
                let rule = Some((self.info.folder.clone(), rule.clone()));
                self.allow(&question, answer, rule).await
            }
            (Ask::Permission { .. }, Answer::Always | Answer::Text { .. })
            | (Ask::Feedback { .. }, Answer::Once | Answer::Session | Answer::Always) => {
                Err(ApiError::new("question.wrong_answer"))
            }
        }
    }

    /// Words sent while the model's own question waits are the answer to it.
    pub(super) fn feedback_waiting(&self, blocks: &[Block]) -> Option<(QuestionId, String)> {
        let [Block::Text { text }] = blocks else { return None };
        let running = self.running.as_ref()?;
        let question = running.questions.iter().find(|one| matches!(one.ask, Ask::Feedback { .. }))?;
        Some((question.id, text.clone()))
    }

    fn close(&mut self, question: &Question, answer: Answer) -> Step {
        let mut step = Step::default();
        if let Some(running) = &mut self.running {
            running.questions.retain(|one| one.id != question.id);
        }
        let closed = Event::QuestionClosed { question: question.id, answer: Some(answer) };
        step.changes.push(Change::Event(closed));
        step
    }

    async fn close_feedback(
        &mut self,
        question: &Question,
        answer: Answer,
        text: String,
    ) -> Result<(), ApiError> {
        let view = match &question.ask {
            Ask::Feedback { question, context, options } => {
                let said = match &answer {
                    Answer::Text { text } => Some(text.clone()),
                    Answer::No { reason } => reason.clone(),
                    Answer::Once | Answer::Session | Answer::Always => None,
                };
                Some(ToolView::Feedback {
                    question: question.clone(),
                    context: context.clone(),
                    options: options.clone(),
                    answer: said,
                })
            }
            Ask::Permission { .. } => None,
        };
        let mut step = self.close(question, answer);
        self.end_asked(question.call, CallStatus::Done, text, view, &mut step);
        self.feed_with(Input::Ended { call: question.call }, step).await
    }

    async fn allow(
        &mut self,
        question: &Question,
        answer: Answer,
        rule: Option<(String, Rule)>,
    ) -> Result<(), ApiError> {
        // After a restart the call was only waiting: it is read again, and must be what was asked about.
        let ready = self.ready_again(question).await;
        let mut step = self.close(question, answer);
        if let Err(text) = ready {
            self.end_asked(question.call, CallStatus::Failed, text, None, &mut step);
            return self.feed_with(Input::Ended { call: question.call }, step).await;
        }
        if let Some((scope, rule)) = rule {
            self.rules.push(rule.clone());
            step.changes.push(Change::Rule { scope, rule });
        }
        self.feed_with(Input::Allowed { call: question.call }, step).await?;
        self.review_questions().await
    }

    /// Makes a waiting call ready to run if it is not: after a restart. Fails with words for the model when
    /// it is no longer what the person was asked about.
    async fn ready_again(&mut self, question: &Question) -> Result<(), String> {
        let ground = self.ground();
        let toolset = self.shared.toolset.clone();
        let Some((call, message, is_ready)) = self.running.as_mut().and_then(|running| {
            running.call(question.call).map(|open| (open.call.clone(), open.message, open.ready.is_some()))
        }) else {
            return Err(texts::CHANGED.to_owned());
        };
        if is_ready {
            return Ok(());
        }
        let context = self.context_for(question.call, message);
        let ready = calls::ready(&toolset, &call, &ground, &context).await.map_err(|error| error.text)?;
        let same = match (&question.ask, ready.decision()) {
            (Ask::Permission { reason, preview, .. }, Decision::Ask { reason: now, .. }) => {
                reason == now && preview == ready.preview()
            }
            // Allowed by itself by now: the person's yes covers it all the more.
            (Ask::Permission { preview, .. }, Decision::Run(_)) => preview == ready.preview(),
            (Ask::Permission { .. }, Decision::Feedback) | (Ask::Feedback { .. }, _) => false,
        };
        if !same {
            return Err(texts::CHANGED.to_owned());
        }
        if let Some(open) = self.running.as_mut().and_then(|running| running.call(question.call)) {
            open.ready = Some(ready);
        }
        Ok(())
    }

    fn context_for(&self, call: CallId, message: octo_protocol::MessageId) -> octo_tools::ToolContext {
        self.tool_context(call, message, Vetted::Policy, self.ending.child_token())
    }

    /// After a rule was added or the mode was changed: questions that need no answer any more are answered.
    pub(super) async fn review_questions(&mut self) -> Result<(), ApiError> {
        let waiting: Vec<Question> =
            self.running.as_ref().map(|running| running.questions.clone()).unwrap_or_default();
        for question in waiting {
            if !matches!(question.ask, Ask::Permission { .. }) || self.ready_again(&question).await.is_err() {
                continue;
            }
            let ground = self.ground();
            let decision = self
                .running
                .as_mut()
                .and_then(|running| running.call(question.call))
                .and_then(|open| open.ready.as_ref())
                .map(|ready| ready.decide(&ground));
            if let Some(Decision::Run(_)) = decision {
                let step = self.close(&question, Answer::Once);
                self.feed_with(Input::Allowed { call: question.call }, step).await?;
            }
        }
        Ok(())
    }
}
