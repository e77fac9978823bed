//! Decides which requests a strict provider would accept, and how they are answered.

use super::{PrefixRule, RequestFault, ServerOptions, State, cache_of};
use crate::{
    RecordedRequest, Reply, cache::ServedRequest, pairing, prefix_check::Prefix, server_format::server_format,
};
use serde_json::Value;

/// The planned answer, decided in one step so that parallel requests cannot mix.
pub(super) struct AnswerPlan {
    pub(super) reply: Reply,
    pub(super) served: ServedRequest,
    pub(super) model: String,
    pub(super) number: usize,
}

pub(super) fn plan_answer(
    state: &mut State,
    options: &ServerOptions,
    request: &RecordedRequest,
) -> AnswerPlan {
    let (reply, served) = match check_and_serve(state, options, request) {
        Err(refusal) => (*refusal, ServedRequest::default()),
        Ok(served) => match state.script.next(request) {
            Some(reply) => (reply, served),
            None => (fault(state, request, "the script has no reply left"), served),
        },
    };
    AnswerPlan { reply, served, model: request.model().to_owned(), number: request.number }
}

fn fault(state: &mut State, request: &RecordedRequest, reason: impl Into<String>) -> Reply {
    let reason = reason.into();
    state.faults.push(RequestFault { request: request.number, reason: reason.clone() });
    Reply::error(400, "invalid_request_error", reason)
}

fn check_and_serve(
    state: &mut State,
    options: &ServerOptions,
    request: &RecordedRequest,
) -> Result<ServedRequest, Box<Reply>> {
    let format = server_format(request.protocol);
    if let Some(key) = &options.key {
        let (name, before) = format.key_header;
        let has_key = request.header(name) == Some(&format!("{before}{key}"));
        if !has_key {
            return Err(Box::new(Reply::error(401, "authentication_error", "invalid x-api-key")));
        }
    }
    let checked = check(request).and_then(|()| {
        if options.prefix == PrefixRule::Free {
            return Ok(());
        }
        let system = (format.frozen_system)(request);
        let tools = request.tool_list().unwrap_or(&Value::Null);
        state.conversations.accept(Prefix::new(tools, &system, request.messages()))
    });
    let counted = checked.and_then(|()| {
        cache_of(state, request.protocol).serve(request.protocol, request.model(), &request.body)
    });
    if let Some(miss) = counted.as_ref().ok().and_then(|served| served.miss) {
        state.misses.push((request.number, miss));
    }
    counted.map_err(|reason| Box::new(fault(state, request, reason)))
}

fn check(request: &RecordedRequest) -> Result<(), String> {
    if !request.body.is_object() {
        return Err("the body is no JSON object".to_owned());
    }
    let format = server_format(request.protocol);
    (format.check)(request)?;
    if request.model().is_empty() {
        return Err("no model".to_owned());
    }
    let limit = ["/max_tokens", "/max_completion_tokens", "/max_output_tokens", "/inferenceConfig/maxTokens"]
        .iter()
        .find_map(|field| request.body.pointer(field).and_then(Value::as_u64));
    if limit.unwrap_or(0) == 0 {
        return Err("no limit of output tokens".to_owned());
    }
    pairing::check(format, request.messages())
}
