//! Connections that wait for the person, and the person's answers.

use crate::{
    gate::{AccessRequest, AccessVerdict},
    pattern::HostPattern,
};
use octo_protocol::{CallId, NetworkScope, QuestionId, Rule};
use parking_lot::Mutex;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};
use tokio::sync::oneshot;

/// Maximum number of answers for single commands that are remembered.
const MAX_ANSWERS: usize = 1_000;

/// A connection to decide on. Dropping it refuses it.
#[derive(Debug)]
pub struct PendingConnection {
    request: AccessRequest,
    reply: oneshot::Sender<AccessVerdict>,
}

impl PendingConnection {
    /// Creates it, with the receiver of the verdict.
    pub fn new(request: AccessRequest) -> (Self, oneshot::Receiver<AccessVerdict>) {
        let (reply, verdict) = oneshot::channel();
        (Self { request, reply }, verdict)
    }

    /// Returns the request.
    pub fn request(&self) -> &AccessRequest {
        &self.request
    }

    /// Ends the wait. The client may have given up.
    pub fn answer(self, verdict: AccessVerdict) {
        let _gone = self.reply.send(verdict);
    }
}

/// The calls about whose connections the person is being asked. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct AskingCalls(Arc<Mutex<HashSet<CallId>>>);

impl AskingCalls {
    /// Returns whether the person is being asked about this call's command.
    pub fn contains(&self, call: CallId) -> bool {
        self.0.lock().contains(&call)
    }

    fn replace(&self, calls: HashSet<CallId>) {
        *self.0.lock() = calls;
    }
}

/// The connections of a session that wait for the person.
#[derive(Debug, Default)]
pub struct PendingConnections {
    /// Answers for one command, newest last.
    answers: Vec<(AccessRequest, AccessVerdict)>,
    /// Connections to one host, by the question about it.
    waiting: HashMap<QuestionId, Vec<PendingConnection>>,
    asking: AskingCalls,
}

impl PendingConnections {
    /// Returns the calls about which the person is being asked.
    pub fn asking(&self) -> AskingCalls {
        self.asking.clone()
    }

    /// Answers a connection like an earlier one of the same command, or adds it to those that wait for the same
    /// answer. Returns it if there are none.
    pub fn settle(&mut self, connection: PendingConnection) -> Option<PendingConnection> {
        let answer = self.answers.iter().rev().find(|(request, _)| *request == connection.request);
        if let Some((_, verdict)) = answer {
            connection.answer(*verdict);
            return None;
        }
        let is_same = |waiting: &&mut Vec<PendingConnection>| {
            waiting.first().is_some_and(|first| first.request == connection.request)
        };
        match self.waiting.values_mut().find(is_same) {
            Some(waiting) => {
                waiting.push(connection);
                None
            }
            None => Some(connection),
        }
    }

    /// Has a connection wait for the answer to a question.
    pub fn wait(&mut self, question: QuestionId, connection: PendingConnection) {
        self.waiting.entry(question).or_default().push(connection);
        self.update_asking();
    }

    /// Answers the connections that wait for a question. The command that made them gets the same answer when it
    /// tries again.
    pub fn answer(&mut self, question: QuestionId, verdict: AccessVerdict) {
        for connection in self.waiting.remove(&question).unwrap_or_default() {
            if self.answers.iter().all(|(request, _)| *request != connection.request) {
                self.answers.push((connection.request.clone(), verdict));
            }
            connection.answer(verdict);
        }
        let surplus = self.answers.len().saturating_sub(MAX_ANSWERS);
        self.answers.drain(..surplus);
        self.update_asking();
    }

    /// Refuses the waiting connections of a call that has ended.
    pub fn end_call(&mut self, call: CallId) {
        self.waiting
            .retain(|_, waiting| waiting.iter().all(|connection| connection.request.call != Some(call)));
        self.update_asking();
    }

    fn update_asking(&self) {
        self.asking.replace(self.waiting.values().flatten().filter_map(|one| one.request.call).collect());
    }
}

/// Returns whether a rule allows a connection. A host that is allowed as a private one may be on the internet too.
pub fn rule_allows(rule: &Rule, request: &AccessRequest) -> bool {
    let Rule::Network { host, scope } = rule else { return false };
    (*scope == NetworkScope::Private || request.scope == NetworkScope::Internet)
        && HostPattern::parse(host).is_some_and(|pattern| pattern.covers(&request.destination, request.scope))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Destination;

    fn request(call: CallId, host: &str) -> AccessRequest {
        let destination = Destination::parse(host, None).unwrap();
        AccessRequest { call: Some(call), destination, scope: NetworkScope::Internet }
    }

    #[test]
    fn an_answer_is_for_all_that_wait_and_for_later_tries_of_the_same_command() {
        let mut pending = PendingConnections::default();
        let (call, question, host) = (CallId::new(), QuestionId::new(), "a.example:443");
        let (first, mut first_verdict) = PendingConnection::new(request(call, host));
        let first = pending.settle(first).expect("nothing is known");
        pending.wait(question, first);
        assert!(pending.asking().contains(call));
        let (second, mut second_verdict) = PendingConnection::new(request(call, host));
        assert!(pending.settle(second).is_none(), "it waits too");
        pending.answer(question, AccessVerdict::Allowed);
        assert!(!pending.asking().contains(call));
        for verdict in [&mut first_verdict, &mut second_verdict] {
            assert_eq!(verdict.try_recv(), Ok(AccessVerdict::Allowed));
        }
        let (again, mut verdict) = PendingConnection::new(request(call, host));
        assert!(pending.settle(again).is_none());
        assert_eq!(verdict.try_recv(), Ok(AccessVerdict::Allowed));
        for other in
            [request(CallId::new(), host), request(call, "a.example:80"), request(call, "b.example:443")]
        {
            assert!(pending.settle(PendingConnection::new(other).0).is_some(), "it is asked about");
        }
    }

    #[test]
    fn the_end_of_a_call_refuses_what_waits_for_it() {
        let mut pending = PendingConnections::default();
        let (call, other, question) = (CallId::new(), CallId::new(), QuestionId::new());
        let (connection, mut verdict) = PendingConnection::new(request(call, "a.example:443"));
        pending.wait(question, connection);
        let (kept, mut kept_verdict) = PendingConnection::new(request(other, "a.example:443"));
        pending.wait(QuestionId::new(), kept);
        pending.end_call(call);
        assert!(verdict.try_recv().is_err(), "a dropped connection is refused");
        assert!(!pending.asking().contains(call) && pending.asking().contains(other));
        assert_eq!(kept_verdict.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        pending.answer(question, AccessVerdict::Allowed);
        let (again, _verdict) = PendingConnection::new(request(call, "a.example:443"));
        assert!(pending.settle(again).is_some(), "an answer without a question counts for nothing");
    }

    #[test]
    fn only_rules_for_the_network_allow_connections() {
        let wanted = request(CallId::new(), "a.example:443");
        let near = AccessRequest { scope: NetworkScope::Private, ..wanted.clone() };
        let rule = |scope| Rule::Network { host: "a.example:443".to_owned(), scope };
        assert!(rule_allows(&rule(NetworkScope::Internet), &wanted));
        assert!(!rule_allows(&rule(NetworkScope::Internet), &near));
        assert!(rule_allows(&rule(NetworkScope::Private), &wanted));
        assert!(rule_allows(&rule(NetworkScope::Private), &near));
        assert!(!rule_allows(&Rule::Host { host: "a.example:443".to_owned() }, &wanted));
        let broken = Rule::Network { host: "*".to_owned(), scope: NetworkScope::Internet };
        assert!(!rule_allows(&broken, &wanted));
    }
}
