//! The progress of the script, read from the conversation.

use super::script::{CallName, Scene};
use octo_protocol::{Block, CallId, CallStatus, Message, Origin, Role, ToolResult};
use std::collections::HashMap;

/// First part of the id of each call of the script: `demo.<count>.<scene>.<call>`.
const ID_PREFIX: &str = "demo";

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

/// The input since the script's last message.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LatestInput {
    /// True if the message has results of tool calls and the person stopped none of them. The script then continues
    /// its current scene.
    pub results: bool,
    /// The person's last message.
    pub person: Option<String>,
}

/// Returns the id of the `count`th call of a conversation.
pub(super) fn provider_id(count: usize, scene: Scene, call: CallName) -> String {
    format!("{ID_PREFIX}.{count}.{}.{}", scene.slug(), call.slug())
}

/// Returns the script's messages with calls, oldest first.
pub(super) fn played_scenes(messages: &[Message]) -> Vec<PlayedScene> {
    let results: HashMap<CallId, &ToolResult> = messages
        .iter()
        .flat_map(|message| &message.blocks)
        .filter_map(result)
        .map(|call_result| (call_result.call, call_result))
        .collect();
    let scenes = messages.iter().filter(|message| message.role == Role::Assistant).filter_map(|message| {
        let mut scene = None;
        let mut calls = Vec::new();
        for call in message.calls() {
            let Some((call_scene, name)) = parse_id(&call.provider_id) else { continue };
            let (status, text) =
                results.get(&call.id).map_or((CallStatus::Interrupted, String::new()), |call_result| {
                    (call_result.status, call_result.text.clone())
                });
            scene = Some(call_scene);
            calls.push(PlayedCall { name, status, text });
        }
        scene.map(|scene| PlayedScene { scene, calls })
    });
    scenes.collect()
}

/// Returns the input since the script's last message.
pub(super) fn latest_input(messages: &[Message]) -> LatestInput {
    let mut input = LatestInput::default();
    let recent: Vec<&Message> =
        messages.iter().rev().take_while(|message| message.role != Role::Assistant).collect();
    let mut results = recent.iter().flat_map(|message| &message.blocks).filter_map(result).peekable();
    input.results =
        results.peek().is_some() && results.all(|call_result| call_result.status != CallStatus::Stopped);
    for message in recent {
        if message.meta.origin == Origin::Person && input.person.is_none() {
            input.person = Some(message.text());
        }
    }
    input
}

fn result(block: &Block) -> Option<&ToolResult> {
    match block {
        Block::ToolResult(result) => Some(result),
        _ => None,
    }
}

/// Parses the id of a call; `None` if the call is not the script's.
fn parse_id(provider_id: &str) -> Option<(Scene, CallName)> {
    let mut parts = provider_id.split('.');
    if parts.next() != Some(ID_PREFIX) {
        return None;
    }
    let (_count, scene, call) = (parts.next()?, parts.next()?, parts.next()?);
    Some((Scene::of_slug(scene)?, CallName::of_slug(call)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_parse_back() {
        for &scene in Scene::ALL {
            for &call in CallName::ALL {
                assert_eq!(parse_id(&provider_id(7, scene, call)), Some((scene, call)));
            }
        }
        for foreign in ["", "toolu_1", "demo", "demo.1.plan", "demo.1.nothing.edit", "demon.1.plan.add"] {
            assert_eq!(parse_id(foreign), None, "{foreign}");
        }
    }
}
