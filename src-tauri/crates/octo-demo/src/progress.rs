//! The progress of the script, read from the conversation.

use super::script::{CallName, Scene};
use octo_protocol::{Block, CallId, CallStatus, Message, Origin, Role, ToolResult};
use std::collections::HashMap;

/// Marks a call as the script's own; `demo.<count>.<scene>.<call>`.
const MARK: &str = "demo";

/// A message of the script with calls, and their results.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlayedScene {
    /// The scene.
    pub scene: Scene,
    /// Its calls, in order.
    pub calls: Vec<PlayedCall>,
}

/// A call and its result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlayedCall {
    /// Identifies the call within the scene.
    pub name: CallName,
    /// How it ended; a call without a result may or may not have run.
    pub status: CallStatus,
    /// The result's text.
    pub text: String,
}

/// Everything after the script's last words.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LatestInput {
    /// Whether it contains results of calls, which means that the script is in the middle of its work. A
    /// stopped call's result means the opposite.
    pub results: bool,
    /// The person's last message.
    pub person: Option<String>,
}

/// Returns the id of the `count`th call of a conversation.
pub(super) fn provider_id(count: usize, scene: Scene, call: CallName) -> String {
    format!("{MARK}.{count}.{}.{}", scene.slug(), call.slug())
}

/// Returns the script's messages with calls, oldest first.
pub(super) fn played(messages: &[Message]) -> Vec<PlayedScene> {
    let results: HashMap<CallId, &ToolResult> = messages
        .iter()
        .flat_map(|message| &message.blocks)
        .filter_map(result)
        .map(|given| (given.call, given))
        .collect();
    let acts = messages.iter().filter(|message| message.role == Role::Assistant).filter_map(|message| {
        let mut scene = None;
        let mut calls = Vec::new();
        for call in message.calls() {
            let Some((of, name)) = read(&call.provider_id) else { continue };
            let (status, text) = results
                .get(&call.id)
                .map_or((CallStatus::Interrupted, String::new()), |given| (given.status, given.text.clone()));
            scene = Some(of);
            calls.push(PlayedCall { name, status, text });
        }
        scene.map(|scene| PlayedScene { scene, calls })
    });
    acts.collect()
}

/// Returns everything after the script's last message.
pub(super) fn since(messages: &[Message]) -> LatestInput {
    let mut since = LatestInput::default();
    let tail: Vec<&Message> =
        messages.iter().rev().take_while(|message| message.role != Role::Assistant).collect();
    let mut results = tail.iter().flat_map(|message| &message.blocks).filter_map(result).peekable();
    since.results = results.peek().is_some() && results.all(|given| given.status != CallStatus::Stopped);
    for message in tail {
        if message.meta.origin == Origin::Person && since.person.is_none() {
            since.person = Some(message.text());
        }
    }
    since
}

fn result(block: &Block) -> Option<&ToolResult> {
    match block {
        Block::ToolResult(result) => Some(result),
        _ => None,
    }
}

fn read(provider_id: &str) -> Option<(Scene, CallName)> {
    let mut parts = provider_id.split('.');
    if parts.next() != Some(MARK) {
        return None;
    }
    let (_count, scene, call) = (parts.next()?, parts.next()?, parts.next()?);
    Some((Scene::of_slug(scene)?, CallName::of_slug(call)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_back() {
        for &scene in Scene::ALL {
            for &call in CallName::ALL {
                assert_eq!(read(&provider_id(7, scene, call)), Some((scene, call)));
            }
        }
        for foreign in ["", "toolu_1", "demo", "demo.1.plan", "demo.1.nothing.edit", "demon.1.plan.add"] {
            assert_eq!(read(foreign), None, "{foreign}");
        }
    }
}
