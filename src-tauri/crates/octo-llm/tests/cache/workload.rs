//! Conversations as the harness builds them, sent according to the plan to a simulated provider with a clock.

use octo_llm::{
    Caching, Layout, MarkerPolicy, ModelRequest, Price, ProviderId, Rates, ToolSchema, WarmKeepingCosts,
    anthropic, bedrock, keep_warm, openai_responses, plan,
};
use octo_protocol::{
    Block, CallId, CallStatus, Message, MessageId, Meta, ModelId, Origin, Protocol, Role, SessionId,
    ToolCall, ToolResult, TurnId, Usage,
};
use octo_testkit::{CacheReadMiss, CacheSimulator};
use serde_json::{Value, json};
use std::{collections::HashMap, sync::Arc, time::Duration};

/// From a request's start to its first token, and from there to the end of the tools it calls.
const FIRST_TOKEN: Duration = Duration::from_secs(2);
const REST: Duration = Duration::from_secs(6);

/// Numbers that look random and are the same each time (splitmix64).
pub struct WorkloadRandom(u64);

impl WorkloadRandom {
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

    /// Creates a different series for each seed. The seed is mixed, because consecutive seeds would give one
    /// series shifted by one.
    pub fn new(seed: u64) -> Self {
        Self(Self::mixed(seed))
    }

    fn mixed(state: u64) -> u64 {
        let mut mixed = state.wrapping_add(Self::STEP);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number between 0 and 1, both excluded.
    fn fraction(&mut self) -> f64 {
        let thrown = Self::mixed(self.0);
        self.0 = self.0.wrapping_add(Self::STEP);
        ((thrown >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    pub fn between(&mut self, least: usize, max: usize) -> usize {
        least + (self.fraction() * (max - least + 1) as f64) as usize
    }

    /// Returns a person's pause: log-normal with a median of 40 s, and one in eight over five minutes.
    fn pause(&mut self) -> Duration {
        let normal = (-2.0 * self.fraction().ln()).sqrt() * (std::f64::consts::TAU * self.fraction()).cos();
        Duration::from_secs_f64((40.0 * (1.752 * normal).exp()).min(86_400.0))
    }

    /// Returns `count` pauses that together match the distribution, in random order: a few of them show as much
    /// as many random draws.
    pub fn pauses(&mut self, count: usize) -> Vec<Duration> {
        const EACH: usize = 101;
        let mut thrown: Vec<Duration> = (0..count * EACH).map(|_| self.pause()).collect();
        thrown.sort();
        let mut chosen: Vec<Duration> = thrown.chunks(EACH).map(|chunk| chunk[EACH / 2]).collect();
        for remaining in (1..count).rev() {
            let index = self.between(0, remaining);
            chosen.swap(remaining, index);
        }
        chosen
    }
}

/// Whether the cache is kept warm through pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepWarm {
    Kept,
    Left,
}

/// The cost of a workload.
#[derive(Clone, Debug, Default)]
pub struct Bill {
    pub requests: usize,
    pub refreshes: usize,
    pub usage: Usage,
    pub cost: f64,
    /// The same conversation, each token written once and read afterwards.
    pub ideal: f64,
    pub misses: Vec<CacheReadMiss>,
}

impl Bill {
    pub fn ratio(&self) -> f64 {
        self.cost / self.ideal
    }
}

/// A conversation with a provider.
pub struct WorkloadConversation {
    pub protocol: Protocol,
    pub caching: Caching,
    pub policy: MarkerPolicy,
    pub cache: CacheSimulator,
    pub messages: Vec<Message>,
    pub bill: Bill,
    pub model: ModelId,
    session: SessionId,
    pub system: Arc<str>,
    pub tools: Arc<[ToolSchema]>,
    turn: TurnId,
    /// The largest input sent to each model so far, for the ideal.
    sent: HashMap<ModelId, u64>,
    last: Option<(Value, Duration)>,
    last_read: u64,
    pauses: Vec<Duration>,
    words: usize,
}

impl WorkloadConversation {
    pub fn new(protocol: Protocol, caching: Caching, policy: MarkerPolicy, cache: CacheSimulator) -> Self {
        let tool = |n: usize| ToolSchema {
            name: format!("tool_{n}"),
            description: "d".repeat(400),
            parameters: json!({ "type": "object", "properties": { "p": { "type": "string" } } }),
        };
        Self {
            protocol,
            caching,
            policy,
            cache,
            messages: Vec::new(),
            bill: Bill::default(),
            model: ModelId::new(),
            session: SessionId::new(),
            system: "s".repeat(4_800).into(),
            tools: (0..16).map(tool).collect(),
            turn: TurnId::new(),
            sent: HashMap::new(),
            last: None,
            last_read: 0,
            pauses: Vec::new(),
            words: 0,
        }
    }

    /// Another conversation of the same profile, with the same provider.
    pub fn new_session(&mut self) {
        self.messages.clear();
        self.session = SessionId::new();
    }

    fn text(&mut self, bytes: usize) -> String {
        self.words += 1;
        format!("{} {}", self.words, "word ".repeat(bytes / 5))
    }

    fn push(&mut self, role: Role, blocks: Vec<Block>) {
        let origin = if role == Role::User { Origin::Person } else { Origin::Model };
        let model = (role == Role::Assistant).then_some(self.model);
        let meta = Meta { model, ..Meta::new(origin, 0) };
        self.messages.push(Message { id: MessageId::new(), turn: self.turn, role, blocks, meta });
    }

    pub fn say(&mut self, bytes: usize) {
        self.turn = TurnId::new();
        let text = self.text(bytes);
        self.push(Role::User, vec![Block::Text { text }]);
    }

    /// The model calls `count` tools at once, and they answer.
    pub fn call(&mut self, count: usize, result: usize) {
        let reasoning = self.text(200);
        let calls: Vec<(CallId, String)> =
            (0..count).map(|n| (CallId::new(), format!("t{}_{n}", self.words))).collect();
        let mut blocks = vec![Block::Text { text: reasoning }];
        blocks.extend(calls.iter().map(|(id, provider_id)| {
            let arguments = json!({ "p": "x".repeat(80) }).to_string();
            let (name, provider_id) = ("tool_3".to_owned(), provider_id.clone());
            Block::ToolCall(ToolCall { id: *id, provider_id, name, arguments })
        }));
        self.push(Role::Assistant, blocks);
        let results = calls.into_iter().map(|(call, provider_id)| {
            let text = self.text(result);
            Block::ToolResult(ToolResult {
                call,
                provider_id,
                status: CallStatus::Done,
                text,
                images: Vec::new(),
            })
        });
        let results = results.collect();
        self.push(Role::User, results);
    }

    pub fn answer(&mut self, bytes: usize) {
        let text = self.text(bytes);
        self.push(Role::Assistant, vec![Block::Text { text }]);
    }

    pub fn request(&self, vanishing: usize) -> ModelRequest {
        let layout = Layout::new(&self.messages)
            .without_last(vanishing)
            .for_model(self.model)
            .for_session(self.session);
        ModelRequest {
            model: format!("model-{}", self.model),
            system: self.system.clone(),
            tools: self.tools.clone(),
            cache: plan(&layout, &self.caching, &self.policy),
            messages: self.messages.clone(),
            images: Arc::default(),
            vision: true,
            documents: true,
            max_output: 8192,
            effort: None,
        }
    }

    fn encode(&self, request: &ModelRequest) -> Value {
        let provider = ProviderId("test@host".to_owned());
        let dialect = octo_llm::Dialect::default();
        match self.protocol {
            Protocol::Anthropic => anthropic::encode(request, &provider, &dialect),
            Protocol::Bedrock => {
                let mut body = bedrock::encode(request, &provider);
                body["model"] = json!(request.model);
                body
            }
            Protocol::OpenaiChat => octo_llm::openai_chat::encode(request, &provider, &dialect),
            Protocol::OpenaiResponses => {
                let breakpoints = octo_llm::BreakpointSupport::Explicit;
                openai_responses::encode(request, &provider, &octo_llm::Dialect { breakpoints, ..dialect })
            }
        }
    }

    /// Sends the conversation; the answer has `output` tokens.
    pub fn send(&mut self, output: u64) -> Usage {
        self.send_vanishing(output, 0)
    }

    /// Like `send`, if `vanishing` messages at the end will be missing from the next request.
    pub fn send_vanishing(&mut self, output: u64, vanishing: usize) -> Usage {
        let request = self.request(vanishing);
        let body = self.encode(&request);
        let start = self.cache.now();
        let usage = self.perform(&body, output);
        self.cache.advance(REST);
        let prices = self.cache.policy().prices;
        let total = usage.total_input();
        let sent_by_model = self.sent.entry(self.model).or_default();
        let ideal_read = (*sent_by_model).min(total);
        let ideal = Usage { cache_read: ideal_read, cache_write: total - ideal_read, output, input: 0 };
        *sent_by_model = total;
        self.bill.ideal += prices.cost(&ideal, 0);
        self.bill.requests += 1;
        self.last = Some((body, start));
        self.last_read = usage.cache_read + usage.cache_write;
        usage
    }

    fn perform(&mut self, body: &Value, output: u64) -> Usage {
        let mut served = self.cache.serve(self.protocol, body["model"].as_str().unwrap(), body).unwrap();
        self.cache.advance(FIRST_TOKEN);
        self.cache.stream(&mut served);
        let usage = Usage { output, ..served.usage };
        self.bill.cost += self.cache.policy().prices.cost(&usage, served.written_long);
        self.bill.usage += usage;
        self.bill.misses.extend(served.miss);
        usage
    }

    /// Lets the person be away.
    pub fn pause(&mut self, pause: Duration, warm: KeepWarm) {
        let ends = self.cache.now() + pause;
        let mut last_use = self.last.as_ref().map_or(self.cache.now(), |last_request| last_request.1);
        let start = last_use;
        let price = Price::per_million;
        let prices = self.cache.policy().prices;
        let rates = Rates {
            input: price(prices.input),
            read: price(prices.read),
            write: price(prices.write),
            ..Rates::default()
        };
        let warmth = WarmKeepingCosts::for_cache(&self.caching, &rates).filter(|_| warm == KeepWarm::Kept);
        let mut refreshes = 0;
        while let Some(delay) =
            warmth.as_ref().and_then(|warmth| keep_warm(&self.pauses, self.last_read, warmth, refreshes))
        {
            let due = last_use + delay;
            if due >= ends {
                break;
            }
            self.cache.advance(due.saturating_sub(self.cache.now()));
            let (mut body, _) = self.last.clone().unwrap();
            body["max_tokens"] = json!(1);
            let usage = self.perform(&body, 1);
            assert!(usage.cache_write == 0, "a refresh writes nothing: {usage:?}");
            last_use = due;
            refreshes += 1;
            self.bill.refreshes += 1;
        }
        self.cache.advance(ends.saturating_sub(self.cache.now()));
        self.pauses.push(self.cache.now() - start);
    }

    /// One prompt, so many tool turns.
    pub fn coding(&mut self, turns: usize) {
        self.say(1200);
        for turn in 0..turns {
            self.send(120);
            self.call(1, 1500 + turn * 37 % 3000);
        }
        self.send(400);
        self.answer(1600);
    }

    /// Runs turns of two or three calls, one more than `pauses`.
    pub fn chat(&mut self, pauses: &[Duration], warm: KeepWarm) {
        let mut disorder = WorkloadRandom::new(7);
        for turn in 0..=pauses.len() {
            if let Some(pause) = turn.checked_sub(1).and_then(|turn| pauses.get(turn)) {
                self.pause(*pause, warm);
            }
            self.say(disorder.between(80, 600));
            for _ in 0..disorder.between(2, 3) {
                self.send(120);
                self.call(1, disorder.between(800, 6000));
            }
            self.send(350);
            self.answer(1400);
        }
    }
}
