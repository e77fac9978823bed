//! Skills for tests, and helpers to follow sub-agents.

use super::rig::Rig;
use octo_protocol::{Block, CallId, Event, SessionId, StoredTopic, SubAgentView, ToolView, TurnEnd};
use octo_testkit::{RecordedRequest, Reply, Script};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::Path};

/// The person's own skills by name, as their files.
#[derive(Clone, Default)]
pub struct TestSkills(BTreeMap<String, String>);

impl TestSkills {
    /// Creates a set with the skill `explore`, which runs in a sub-agent on its parent's model.
    pub fn new() -> Self {
        Self::default().with_sub_agent_skill("explore", "inherit", &[])
    }

    /// Adds a skill that runs in a sub-agent on a model: `inherit`, `light` or a connected one's name.
    pub fn with_sub_agent_skill(mut self, name: &str, model: &str, forbidden: &[&str]) -> Self {
        let text = format!(
            "---\nname: {name}\ndescription: Looks around.\ncontext: fork\nmodel: {model}\nforbidden_tools: {forbidden:?}\n---\n\n\
             Look around as {name} does.\n"
        );
        self.0.insert(name.to_owned(), text);
        self
    }

    /// Adds a skill whose instructions are added to the conversation.
    pub fn with_inline_skill(mut self, name: &str, instructions: &str) -> Self {
        let text = format!("---\nname: {name}\ndescription: Says how.\n---\n\n{instructions}\n");
        self.0.insert(name.to_owned(), text);
        self
    }

    /// Writes them into a home.
    pub fn write(&self, home: &Path) {
        for (name, text) in &self.0 {
            let folder = home.join("skills").join(name);
            fs::create_dir_all(&folder).expect("a folder of the home");
            fs::write(folder.join("SKILL.md"), text).expect("a skill");
        }
    }
}

/// Returns a call of a skill.
pub fn skill(name: &str, task: &str) -> (&'static str, Value) {
    ("invoke_skill", json!({ "skill_name": name, "task": task }))
}

/// Returns a script in which the parent calls these skills at once and then says "done"; sub-agents are
/// answered by `child`.
pub fn sub_agent_script(
    calls: Vec<(&'static str, Value)>,
    mut child: impl FnMut(&RecordedRequest) -> Reply + Send + 'static,
) -> Script {
    let mut calls = Some(calls);
    Script::from_fn(move |request| {
        if is_sub_agent(request) {
            return child(request);
        }
        match calls.take() {
            Some(calls) => calls
                .into_iter()
                .fold(Reply::nothing(), |reply, (name, arguments)| reply.and_call(name, arguments)),
            None => Reply::text("done"),
        }
    })
}

/// Returns whether the request is from a sub-agent.
pub fn is_sub_agent(request: &RecordedRequest) -> bool {
    String::from_utf8_lossy(&request.raw).contains("<octo-notice kind=\\\"fork\\\">")
}

/// The end of the next turn of a session.
pub async fn end_of(rig: &mut Rig, session: SessionId) -> TurnEnd {
    loop {
        let end = rig.turn_end().await;
        let last = rig.seen.last().expect("the event that was waited for");
        if last.topic == (StoredTopic::Session { id: session }) {
            return end;
        }
    }
}

/// Returns the next matching change of a sub-agent's card.
pub async fn card(
    rig: &mut Rig,
    description: &str,
    predicate: impl Fn(&SubAgentView) -> bool,
) -> SubAgentView {
    rig.event(description, |event| match event {
        Event::CallChanged { call } => match &call.view {
            Some(ToolView::SubAgent(view)) if predicate(view) => Some(view.clone()),
            _ => None,
        },
        _ => None,
    })
    .await
}

/// The cards of a session's sub-agents as they are stored, in the order of their calls.
pub async fn cards(rig: &Rig, session: SessionId) -> Vec<SubAgentView> {
    let page = rig.snapshot(session).await.page;
    let order: Vec<CallId> = page
        .messages
        .iter()
        .flat_map(|message| &message.blocks)
        .filter_map(|block| match block {
            Block::ToolCall(call) => Some(call.id),
            _ => None,
        })
        .collect();
    let of = |id: &CallId| page.calls.iter().find(|call| call.id == *id)?.view.clone();
    order
        .iter()
        .filter_map(|id| match of(id) {
            Some(ToolView::SubAgent(view)) => Some(view),
            _ => None,
        })
        .collect()
}
