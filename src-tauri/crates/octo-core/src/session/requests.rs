//! Requests that a session's actor carries out, each as the client sent it.

use super::{
    inbox::{HeadChange, ReplySender, respond},
    state::Session,
    step::Step,
};
use futures::future::BoxFuture;
use octo_protocol::{
    Acknowledgement, AnswerBudget, AnswerQuestion, ApiError, EditQueued, EstimateSwitch, RemoveQueued,
    RetryTurn, Rule, SessionInfo, SetEffort, SetFolder, SetMode, SetModel, SwitchCost,
};

/// A request to a session's actor.
pub(crate) trait SessionCall<Reply: Send + 'static>: Send + 'static {
    /// Carries it out and returns the reply.
    fn carry_out(self, session: &mut Session) -> impl Future<Output = Result<Reply, ApiError>> + Send;
}

/// A request on its way to the actor.
pub(crate) trait PendingCall: Send {
    /// Carries it out and replies. An `Err` means that the session could not be stored.
    fn run<'a>(self: Box<Self>, session: &'a mut Session) -> BoxFuture<'a, Result<(), ApiError>>;
}

/// A request with the sender for its reply.
struct CallWithReply<C, Reply> {
    call: C,
    reply: ReplySender<Reply>,
}

/// Returns a request to send to the actor, which replies to `reply`.
pub(super) fn pending<Reply: Send + 'static>(
    call: impl SessionCall<Reply>,
    reply: ReplySender<Reply>,
) -> Box<dyn PendingCall> {
    Box::new(CallWithReply { call, reply })
}

impl<Reply: Send + 'static, C: SessionCall<Reply>> PendingCall for CallWithReply<C, Reply> {
    fn run<'a>(self: Box<Self>, session: &'a mut Session) -> BoxFuture<'a, Result<(), ApiError>> {
        Box::pin(async move {
            let outcome = self.call.carry_out(session).await;
            respond(self.reply, outcome)
        })
    }
}

/// Stops the turn.
pub(super) struct StopTurn;

/// Changes the session's entry in the list: title, pin, or what the person has read.
pub(crate) struct ChangeHead(HeadChange);

/// Drops a rule of a scope, because it was revoked.
pub(crate) struct ForgetRule {
    scope: String,
    rule: Rule,
}

impl ChangeHead {
    pub(crate) fn new(change: impl FnOnce(&mut SessionInfo) + Send + 'static) -> Self {
        Self(Box::new(change))
    }
}

impl ForgetRule {
    pub(crate) fn new(scope: String, rule: Rule) -> Self {
        Self { scope, rule }
    }
}

fn done((): ()) -> Acknowledgement {
    Acknowledgement {}
}

impl SessionCall<()> for StopTurn {
    async fn carry_out(self, session: &mut Session) -> Result<(), ApiError> {
        session.actor.stop().take();
        session.stop().await
    }
}

impl SessionCall<()> for ChangeHead {
    async fn carry_out(self, session: &mut Session) -> Result<(), ApiError> {
        (self.0)(&mut session.info);
        session.store_head().await
    }
}

impl SessionCall<()> for ForgetRule {
    async fn carry_out(self, session: &mut Session) -> Result<(), ApiError> {
        if self.scope == session.info.folder || self.scope == session.session_scope() {
            session.grants.forget(&self.rule);
        }
        Ok(())
    }
}

impl SessionCall<Acknowledgement> for RetryTurn {
    async fn carry_out(self, session: &mut Session) -> Result<Acknowledgement, ApiError> {
        session.go_on().await.map(done)
    }
}

impl SessionCall<Acknowledgement> for AnswerQuestion {
    async fn carry_out(self, session: &mut Session) -> Result<Acknowledgement, ApiError> {
        session.answer(self.question, self.answer, Step::default()).await.map(done)
    }
}

impl SessionCall<Acknowledgement> for AnswerBudget {
    async fn carry_out(self, session: &mut Session) -> Result<Acknowledgement, ApiError> {
        session.answer_budget(self.answer).await.map(done)
    }
}

impl SessionCall<Acknowledgement> for SetEffort {
    async fn carry_out(self, session: &mut Session) -> Result<Acknowledgement, ApiError> {
        session.info.effort = self.effort;
        session.warmth.forget_cache();
        session.store_head().await.map(done)
    }
}

impl SessionCall<SwitchCost> for EstimateSwitch {
    async fn carry_out(self, session: &mut Session) -> Result<SwitchCost, ApiError> {
        session.estimate_switch(self.model)
    }
}

impl SessionCall<Acknowledgement> for EditQueued {
    async fn carry_out(self, session: &mut Session) -> Result<Acknowledgement, ApiError> {
        session.edit_queued(self.queued, self.blocks).await.map(done)
    }
}

impl SessionCall<Acknowledgement> for RemoveQueued {
    async fn carry_out(self, session: &mut Session) -> Result<Acknowledgement, ApiError> {
        session.remove_queued(self.queued).await.map(done)
    }
}

impl SessionCall<Acknowledgement> for SetMode {
    async fn carry_out(self, session: &mut Session) -> Result<Acknowledgement, ApiError> {
        session.set_mode(self.mode).await.map(done)
    }
}

impl SessionCall<Acknowledgement> for SetModel {
    async fn carry_out(self, session: &mut Session) -> Result<Acknowledgement, ApiError> {
        session.set_model(self.model).await.map(done)
    }
}

impl SessionCall<Acknowledgement> for SetFolder {
    async fn carry_out(self, session: &mut Session) -> Result<Acknowledgement, ApiError> {
        session.set_folder(&self.folder).await.map(done)
    }
}
