//! Connections of running commands, while commands are limited to the folder's network allow list.
//!
//! A connection to a host that is not listed waits for the person, as long as the call that started the command
//! runs: the question belongs to that call. Without such a call, and without an answer, it is refused: the command
//! continues in the background, or the session cannot ask.

use super::{
    JobReport,
    actor::Reporter,
    calls::plain,
    state::Session,
    step::{Change, Step},
};
use crate::base::Base;
use futures::future::BoxFuture;
use octo_network::{
    AccessRequest, AccessVerdict, AskingCalls, Gate, PendingConnection, UpstreamProxy, rule_allows,
};
use octo_protocol::{
    Answer, ApiError, AskReason, CallId, CommandNetwork, Question, QuestionContent, QuestionId, Rule,
};
use octo_runtime::now;
use std::sync::Arc;

/// Passes decisions on connections to the session's actor.
pub(super) struct SessionGate {
    base: Arc<Base>,
    reporter: Reporter,
    asking: AskingCalls,
}

/// A step of the decision on a connection.
pub(crate) enum NetworkReport {
    /// A command requests it.
    Requested(PendingConnection),
    /// The allow list does not have it.
    Unlisted(PendingConnection),
}

impl SessionGate {
    pub(super) fn new(base: Arc<Base>, reporter: Reporter, asking: AskingCalls) -> Self {
        Self { base, reporter, asking }
    }
}

impl Gate for SessionGate {
    fn is_limiting(&self) -> bool {
        // Other systems have no namespaces, and the setting does nothing there.
        cfg!(target_os = "linux") && self.base.preferences().command_network == CommandNetwork::AllowList
    }

    fn decide(&self, request: AccessRequest) -> BoxFuture<'static, AccessVerdict> {
        let (connection, verdict) = PendingConnection::new(request);
        self.reporter.send(JobReport::Network(NetworkReport::Requested(connection)));
        Box::pin(async move { verdict.await.unwrap_or(AccessVerdict::Refused) })
    }

    fn is_asking(&self, call: CallId) -> bool {
        self.asking.contains(call)
    }

    fn upstream(&self) -> UpstreamProxy {
        UpstreamProxy::new(&self.base.preferences().proxy)
    }
}

impl Session {
    /// Takes a step of the decision on a connection.
    pub(super) async fn decide_on_connection(&mut self, report: NetworkReport) -> Result<(), ApiError> {
        match report {
            NetworkReport::Requested(connection) => {
                self.look_up_connection(connection);
                Ok(())
            }
            NetworkReport::Unlisted(connection) => self.ask_about_connection(connection).await,
        }
    }

    /// Looks a connection up in the person's own rules, and in the folder's allow list, off the actor.
    fn look_up_connection(&self, connection: PendingConnection) {
        if self.is_unattended() {
            return connection.answer(AccessVerdict::Refused);
        }
        if self.runtime.services.rules.policy().rules().network.allow(connection.request()) {
            return connection.answer(AccessVerdict::Allowed);
        }
        let (base, report) = (self.runtime.base.clone(), self.reporter());
        let (folder, scope) = (self.info.folder.clone(), self.session_scope());
        tokio::spawn(async move {
            // Other sessions of the folder may have received rules meanwhile.
            match base.load_rules(folder, scope).await {
                Ok(rules) if rules.iter().any(|rule| rule_allows(rule, connection.request())) => {
                    connection.answer(AccessVerdict::Allowed);
                }
                Ok(_) => report.send(JobReport::Network(NetworkReport::Unlisted(connection))),
                Err(error) => {
                    tracing::warn!(%error, "the allow list could not be read");
                    connection.answer(AccessVerdict::Refused);
                }
            }
        });
    }

    /// Asks the person about a connection, unless they have been asked.
    async fn ask_about_connection(&mut self, connection: PendingConnection) -> Result<(), ApiError> {
        let Some(connection) = self.grants.connections().settle(connection) else { return Ok(()) };
        let AccessRequest { call, destination, scope } = connection.request();
        let call = call.and_then(|call| self.turn.get()?.batch.get(call));
        let Some(open) = call.filter(|open| open.is_started()) else {
            connection.answer(AccessVerdict::Refused);
            return Ok(());
        };
        let (host, scope, view) = (destination.to_string(), *scope, open.view());
        let question = Question {
            id: QuestionId::new(),
            call: open.id(),
            tool: view.tool.clone(),
            ask: QuestionContent::Permission {
                preview: view.view.clone().unwrap_or_else(|| plain("")),
                reason: AskReason::Network { host: host.clone(), scope },
                rule: Some(Rule::Network { host, scope }),
            },
            at: now(),
        };
        self.grants.connections().wait(question.id, connection);
        let mut step = Step::default();
        self.turn.with(|turn| turn.batch.add_question(question, &mut step));
        self.finish(step).await
    }

    /// Takes the person's answer about a connection.
    pub(super) async fn answer_about_connection(
        &mut self,
        question: &Question,
        answer: Answer,
        mut step: Step,
    ) -> Result<(), ApiError> {
        let QuestionContent::Permission { rule: Some(rule), .. } = &question.ask else {
            return Err(ApiError::new("question.wrong_answer"));
        };
        let (verdict, scope) = match &answer {
            Answer::Once => (AccessVerdict::Allowed, None),
            Answer::Session => (AccessVerdict::Allowed, Some(self.session_scope())),
            Answer::Always => (AccessVerdict::Allowed, Some(self.info.folder.clone())),
            Answer::No { .. } => (AccessVerdict::Refused, None),
            Answer::Text { .. } => return Err(ApiError::new("question.wrong_answer")),
        };
        if let Some(scope) = scope {
            self.grants.add_rule(rule.clone());
            step.change(Change::Rule { scope, rule: rule.clone() });
        }
        self.turn.with(|turn| turn.batch.close_question(question.id, answer, &mut step));
        self.finish(step).await?;
        self.grants.connections().answer(question.id, verdict);
        Ok(())
    }

    /// Withdraws the questions about connections of a call that has ended.
    pub(super) fn end_connections(&mut self, call: CallId, step: &mut Step) {
        self.grants.connections().end_call(call);
        self.turn.with(|turn| turn.batch.withdraw_questions(call, step));
    }
}

/// Whether a question is about a connection of a running command.
pub(super) fn is_about_connection(question: &Question) -> bool {
    matches!(&question.ask, QuestionContent::Permission { reason: AskReason::Network { .. }, .. })
}
