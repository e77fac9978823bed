//! Splits a step as a model would stream it: small pieces of text, then the calls.

use super::script::ScriptStep;
use octo_llm::{BlockKind, FinishReason, ModelEvent};
use octo_protocol::{Block, CallId, ToolCall};

/// Approximate width of a piece of text: a short word, or three Chinese characters.
const PIECE_WIDTH: usize = 6;

/// Number of characters of arguments per piece.
const ARGUMENT_PIECE: usize = 24;

/// Returns the step's events, in order.
pub(super) fn events(step: ScriptStep) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    events.push(ModelEvent::BlockStarted { block: 0, kind: BlockKind::Text });
    events.extend(pieces(&step.text).into_iter().map(|text| ModelEvent::Delta { block: 0, text }));
    events.push(ModelEvent::BlockFinished { block: 0, content: Block::Text { text: step.text } });
    for (block, call) in (1..).zip(step.calls) {
        let arguments = call.arguments.to_string();
        let kind = BlockKind::ToolCall { name: call.tool.to_owned() };
        events.push(ModelEvent::BlockStarted { block, kind });
        let characters: Vec<char> = arguments.chars().collect();
        events.extend(
            characters
                .chunks(ARGUMENT_PIECE)
                .map(|part| ModelEvent::Delta { block, text: part.iter().collect() }),
        );
        let content = Block::ToolCall(ToolCall {
            id: CallId::new(),
            provider_id: call.provider_id,
            name: call.tool.to_owned(),
            arguments,
        });
        events.push(ModelEvent::BlockFinished { block, content });
    }
    events.push(ModelEvent::Finished(FinishReason::Stop));
    events
}

/// Splits a text into small pieces, after spaces and between wide characters.
fn pieces(text: &str) -> Vec<String> {
    let mut chunks = Vec::new();
    let mut chunk = String::new();
    let mut width = 0;
    for character in text.chars() {
        chunk.push(character);
        width += if character.is_ascii() { 1 } else { 2 };
        if width >= PIECE_WIDTH && (character.is_whitespace() || !character.is_ascii()) {
            chunks.push(std::mem::take(&mut chunk));
            width = 0;
        }
    }
    if !chunk.is_empty() {
        chunks.push(chunk);
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chunks_lose_no_character(text in "\\PC{0,200}") {
            prop_assert_eq!(pieces(&text).concat(), text);
        }
    }

    #[test]
    fn chunks_are_small() {
        let english = "A little longer than one piece of text.";
        assert!(pieces(english).iter().all(|chunk| chunk.chars().count() <= 12), "{:?}", pieces(english));
        assert!(pieces("我是一个脚本，不是模型").iter().all(|chunk| chunk.chars().count() <= 3));
    }
}
