//! The actor that owns the transport. It fails every call whose answer can no longer arrive.

use super::{CallError, events::EventHub};
use crate::{BrowserEvent, BrowserMessage, LinkEnd, RawAnswer, Transport, wire::DetachedEvent};
use chromiumoxide::{
    cdp::browser_protocol::target::{EventDetachedFromTarget, SessionId},
    types::{CallId, MethodId},
};
use serde_json::Value;
use std::{
    collections::HashMap,
    future::poll_fn,
    task::{Context, Poll},
};
use tokio::sync::{mpsc, oneshot, watch};

/// Number of pending calls from which on abandoned ones are discarded. Calls to a hung tab would accumulate.
const MAX_OPEN_CALLS: usize = 256;

pub(crate) enum LinkOrder {
    Call {
        method: MethodId,
        session: Option<SessionId>,
        params: Value,
        reply: oneshot::Sender<Result<RawAnswer, CallError>>,
    },
    Close,
}

struct PendingCall {
    method: MethodId,
    session: Option<SessionId>,
    reply: oneshot::Sender<Result<RawAnswer, CallError>>,
}

pub(crate) struct LinkActor<T> {
    transport: T,
    inbox: mpsc::UnboundedReceiver<LinkOrder>,
    event_hub: EventHub,
    ended: watch::Sender<Option<LinkEnd>>,
    pending: HashMap<CallId, PendingCall>,
}

impl<T: Transport> LinkActor<T> {
    pub(crate) fn new(
        transport: T,
        inbox: mpsc::UnboundedReceiver<LinkOrder>,
        event_hub: EventHub,
        ended: watch::Sender<Option<LinkEnd>>,
    ) -> Self {
        Self { transport, inbox, event_hub, ended, pending: HashMap::new() }
    }

    pub(crate) async fn run(mut self) {
        let reason = poll_fn(|context| self.poll(context)).await;
        tracing::debug!(%reason, calls = self.pending.len(), "the link to the browser ended");
        // Set the reason first, so that the tasks woken below can report it.
        self.ended.send_replace(Some(reason.clone()));
        self.inbox.close();
        self.event_hub.close();
        let unanswered = self.pending.drain().map(|(_, pending_call)| pending_call.reply);
        let mut unsent = Vec::new();
        while let Ok(order) = self.inbox.try_recv() {
            if let LinkOrder::Call { reply, .. } = order {
                unsent.push(reply);
            }
        }
        for reply in unanswered.chain(unsent) {
            let _ = reply.send(Err(CallError::Closed(reason.clone())));
        }
    }

    /// Takes orders, then polls the transport until it is idle. A transport only sends while it is polled, so
    /// it must be polled after the last order.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<LinkEnd> {
        loop {
            loop {
                match self.inbox.poll_recv(context) {
                    Poll::Ready(Some(LinkOrder::Call { method, session, params, reply })) => {
                        self.submit(PendingCall { method, session, reply }, params);
                    }
                    Poll::Ready(Some(LinkOrder::Close) | None) => return Poll::Ready(LinkEnd::ByOcto),
                    Poll::Pending => break,
                }
            }
            match self.transport.poll_incoming(context) {
                Poll::Ready(Ok(BrowserMessage::Answer { call, outcome })) => {
                    // The call of an answer without an entry was abandoned long ago.
                    if let Some(PendingCall { method, reply, .. }) = self.pending.remove(&call) {
                        let _ =
                            reply.send(outcome.map_err(|refusal| CallError::from_refusal(&method, refusal)));
                    }
                }
                Poll::Ready(Ok(BrowserMessage::Event(event))) => self.dispatch_event(event),
                Poll::Ready(Ok(BrowserMessage::Unreadable)) => {}
                Poll::Ready(Err(reason)) => return Poll::Ready(reason),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn submit(&mut self, pending_call: PendingCall, params: Value) {
        if self.pending.len() >= MAX_OPEN_CALLS {
            self.pending.retain(|_, pending_call| !pending_call.reply.is_closed());
        }
        let call = self.transport.submit(pending_call.method.clone(), pending_call.session.clone(), params);
        self.pending.insert(call, pending_call);
    }

    fn dispatch_event(&mut self, event: BrowserEvent) {
        let detached_session = (event.method == EventDetachedFromTarget::IDENTIFIER)
            .then(|| event.read::<DetachedEvent>().map(|detached| detached.session_id))
            .flatten();
        self.event_hub.publish(event);
        if let Some(session) = detached_session {
            self.event_hub.unsubscribe(&session);
            let lost =
                self.pending.extract_if(|_, pending_call| pending_call.session.as_ref() == Some(&session));
            for (_, PendingCall { method, reply, .. }) in lost {
                let _ = reply.send(Err(CallError::Gone { method: method.into_owned() }));
            }
        }
    }
}
