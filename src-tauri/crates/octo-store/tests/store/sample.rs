//! Values for tests. Depends only on the protocol, so that tests inside the crate share it.

use octo_protocol::*;

pub fn head(title: &str) -> SessionInfo {
    SessionInfo {
        title: title.to_owned(),
        profile: Profile::CODING,
        mode: Mode::AskRisky,
        model: Some(ModelId::new()),
        ..SessionInfo::new(SessionId::new(), "/home/me/project", Source::Window, 1_000)
    }
}

pub fn turn() -> TurnView {
    TurnView::new(TurnId::new(), 2_000)
}

pub fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

pub fn person(turn: TurnId, blocks: Vec<Block>) -> Message {
    let meta = Meta { via: Some(octo_protocol::ChatService::Telegram), ..Meta::new(Origin::Person, 3_000) };
    Message { id: MessageId::new(), turn, role: Role::User, blocks, meta }
}

pub fn octo(turn: TurnId, blocks: Vec<Block>) -> Message {
    let mut message = person(turn, blocks);
    message.meta.origin = Origin::Octo;
    message
}

pub fn model(turn: TurnId) -> Message {
    let meta = Meta { model: Some(ModelId::new()), ..Meta::new(Origin::Model, 4_000) };
    Message { id: MessageId::new(), turn, role: Role::Assistant, blocks: Vec::new(), meta }
}

pub fn tool_call(id: CallId) -> Block {
    Block::ToolCall(ToolCall {
        id,
        provider_id: "toolu_1".to_owned(),
        name: "terminal".to_owned(),
        arguments: "{\"command\":\"ls\"}".to_owned(),
    })
}

pub fn result(call: CallId) -> ToolResult {
    ToolResult {
        call,
        provider_id: "toolu_1".to_owned(),
        status: CallStatus::Done,
        text: "a\nb".to_owned(),
        images: Vec::new(),
    }
}

pub fn call(id: CallId, turn: TurnId, state: CallState) -> CallView {
    CallView {
        id,
        turn,
        tool: "terminal".to_owned(),
        state,
        view: Some(ToolView::Plain { text: "ls".to_owned() }),
    }
}

pub fn ended() -> CallState {
    CallState::Ended { status: CallStatus::Done, at: 6_000, duration_ms: 5 }
}

pub fn usage(n: u64) -> Usage {
    Usage { input: n, cache_read: n * 2, cache_write: n * 3, output: n * 4 }
}

pub fn billed(turn: TurnId, message: MessageId, usage: Option<Usage>) -> BilledCall {
    BilledCall {
        turn: Some(turn),
        message: Some(message),
        purpose: Purpose::Turn,
        model: Some(ModelId::new()),
        name: "model-1".to_owned(),
        at: 4_000,
        usage,
        written_for_an_hour: 0,
        cost: usage.map(|usage| Cost::from_nano_dollars(usage.output)),
        first_byte_ms: Some(7),
        total_ms: 9,
        outcome: CallOutcome::Answered,
        expected_read: Some(3),
        miss: Some(CacheMiss::Messages { first: 2 }),
        again: 1,
        again_cost: Some(Cost::from_nano_dollars(2)),
    }
}
