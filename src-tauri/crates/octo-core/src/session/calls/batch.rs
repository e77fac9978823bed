//! The calls of one message of the model, and the questions they ask.

use super::OpenCall;
use crate::{
    session::{network, step::Step},
    turn::SettleReason,
};
use octo_protocol::{
    Answer, Block, CallId, CallStatus, Event, MessageId, Question, QuestionContent, QuestionId, ToolCall,
    ToolView, TurnId,
};
use std::collections::HashSet;

/// The calls of the open batch, in order.
#[derive(Default)]
pub(in crate::session) struct Batch {
    calls: Vec<OpenCall>,
    questions: Vec<Question>,
    /// Approved questions whose calls are being read again; see `crate::session::questions`.
    answered: HashSet<QuestionId>,
}

impl Batch {
    /// Restores the calls and questions an earlier process left open.
    pub(in crate::session) fn restored(calls: Vec<OpenCall>, questions: Vec<Question>) -> Self {
        Self { calls, questions, answered: HashSet::new() }
    }

    /// Adds the calls of a message.
    pub(in crate::session) fn plan(
        &mut self,
        turn: TurnId,
        message: MessageId,
        calls: &[ToolCall],
        step: &mut Step,
    ) {
        for call in calls {
            let open = OpenCall::planned(turn, message, call.clone());
            step.event(open.event());
            self.calls.push(open);
        }
    }

    pub(in crate::session) fn call(&mut self, id: CallId) -> Option<&mut OpenCall> {
        self.calls.iter_mut().find(|open| open.id() == id)
    }

    pub(in crate::session) fn get(&self, id: CallId) -> Option<&OpenCall> {
        self.calls.iter().find(|open| open.id() == id)
    }

    /// Whether a call is running.
    pub(in crate::session) fn has_started(&self) -> bool {
        self.calls.iter().any(OpenCall::is_started)
    }

    pub(in crate::session) fn has_questions(&self) -> bool {
        !self.questions.is_empty()
    }

    pub(in crate::session) fn question(&self, id: QuestionId) -> Option<&Question> {
        self.questions.iter().find(|question| question.id == id)
    }

    /// Returns the model's own question, if one waits.
    pub(in crate::session) fn feedback(&self) -> Option<&Question> {
        self.questions.iter().find(|question| matches!(question.ask, QuestionContent::Feedback { .. }))
    }

    /// Returns the questions that ask for permission to run a call.
    pub(in crate::session) fn permissions(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter().filter(|question| {
            matches!(question.ask, QuestionContent::Permission { .. })
                && !network::is_about_connection(question)
        })
    }

    /// Asks a question about a call that runs.
    pub(in crate::session) fn add_question(&mut self, question: Question, step: &mut Step) {
        step.event(Event::QuestionAsked { question: question.clone() });
        self.questions.push(question);
    }

    /// Withdraws the questions of a call.
    pub(in crate::session) fn withdraw_questions(&mut self, call: CallId, step: &mut Step) {
        self.questions.retain(|question| {
            if question.call == call {
                step.event(Event::QuestionClosed { question: question.id, answer: None });
            }
            question.call != call
        });
    }

    /// Records that the person approved a call that is still being read again. Returns `false` if they had
    /// already approved it.
    pub(in crate::session) fn confirm(&mut self, question: QuestionId) -> bool {
        self.answered.insert(question)
    }

    /// Asks the question of a call.
    pub(super) fn ask(&mut self, call: CallId, step: &mut Step) {
        let Some(question) = self.call(call).and_then(|open| open.ask(step)) else { return };
        step.event(Event::QuestionAsked { question: question.clone() });
        self.questions.push(question);
    }

    /// Closes a question.
    pub(in crate::session) fn close_question(
        &mut self,
        question: QuestionId,
        answer: Answer,
        step: &mut Step,
    ) {
        self.questions.retain(|open_question| open_question.id != question);
        step.event(Event::QuestionClosed { question, answer: Some(answer) });
    }

    /// Gives a call its result without running it, and withdraws its question.
    pub(super) fn settle(&mut self, call: CallId, reason: SettleReason, step: &mut Step) {
        self.withdraw_questions(call, step);
        if let Some(open) = self.call(call).filter(|open| open.is_open()) {
            open.settle(reason, step);
        }
    }

    /// Ends a waiting call with the person's answer.
    pub(in crate::session) fn end(
        &mut self,
        call: CallId,
        status: CallStatus,
        text: String,
        view: Option<ToolView>,
        step: &mut Step,
    ) {
        let Some(open) = self.call(call) else { return };
        view.into_iter().for_each(|view| open.show(view));
        open.end(status, text, step);
    }

    /// Gives up the running calls and returns their ids.
    pub(super) fn abandon(&mut self, step: &mut Step) -> Vec<CallId> {
        let started = self.calls.iter_mut().filter(|open| open.is_open() && open.is_started());
        started
            .map(|open| {
                open.abandon(step);
                open.id()
            })
            .collect()
    }

    /// Takes the results of all calls, in the order of the calls; they become one message.
    pub(in crate::session) fn take_results(&mut self) -> Vec<Block> {
        let calls = std::mem::take(&mut self.calls);
        calls.into_iter().map(OpenCall::into_result).map(Block::ToolResult).collect()
    }
}
