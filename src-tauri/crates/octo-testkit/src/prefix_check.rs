//! Whether a request is a byte-wise continuation of an earlier one.

use serde_json::Value;

/// Beginning of the first message of a compacted conversation; see `octo_core`'s compaction.
const SUMMARY_PREFIX: &str = "Summary of the conversation so far;";

/// Texts of messages that later requests do not contain: a compaction's instruction, a refresh of the cache.
const TEMPORARY_TEXTS: [&str; 2] = [r#"<octo-notice kind=\"compaction\">"#, r#""Answer with OK.""#];

/// Text of a sub-agent's first own message: from there on, two conversations continue one.
pub(crate) const SUB_AGENT_NOTICE: &str = r#"<octo-notice kind=\"fork\">"#;

/// The parts of a request whose bytes must not change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prefix {
    tools: String,
    system: String,
    messages: Vec<String>,
    /// Whether the model has answered in it.
    answered: bool,
}

impl Prefix {
    pub(crate) fn new(tools: &Value, system: &Value, messages: &[Value]) -> Self {
        let answered = messages.iter().any(|message| crate::recorded::role(message) == "assistant");
        let messages = messages.iter().flat_map(prefix_pieces).collect();
        Self { tools: unmarked_bytes(tools), system: unmarked_bytes(system), messages, answered }
    }

    /// Returns the prefix without its last message, if later requests will not contain that message.
    fn without_temporary(&self) -> Option<Prefix> {
        let (last, remaining) = self.messages.split_last()?;
        let vanishes = TEMPORARY_TEXTS.iter().any(|text| last.contains(text));
        vanishes.then(|| Prefix { messages: remaining.to_vec(), ..self.clone() })
    }

    fn continues(&self, earlier: &Prefix) -> bool {
        self.has_head_of(earlier) && self.messages.starts_with(&earlier.messages)
    }

    fn has_head_of(&self, earlier: &Prefix) -> bool {
        self.tools == earlier.tools && self.system == earlier.system
    }
}

/// Splits a message into the pieces that must not change: the message itself, or its blocks where a server
/// wants consecutive messages of one side merged (Bedrock), because there a message grows and only its blocks
/// stay unchanged.
fn prefix_pieces(message: &Value) -> Vec<String> {
    let blocks = message.get("content").and_then(Value::as_array).filter(|blocks| {
        let is_bare = |block: &Value| block.is_object() && block.get("type").is_none();
        !blocks.is_empty() && blocks.iter().all(is_bare)
    });
    match blocks {
        None => vec![unmarked_bytes(message)],
        Some(blocks) => {
            let content = blocks.iter().filter(|block| block.get("cachePoint").is_none());
            content.map(|block| format!("{}: {}", message["role"], unmarked_bytes(block))).collect()
        }
    }
}

/// Serializes a value without its cache markers. Fields keep their order, so a reordering shows.
fn unmarked_bytes(value: &Value) -> String {
    let mut value = value.clone();
    strip_markers(&mut value);
    value.to_string()
}

/// Removes the marker from every block and nested block; leaves a tool's own parameters alone.
fn strip_markers(value: &mut Value) {
    match value {
        Value::Array(blocks) => {
            blocks.retain(|block| block.get("cachePoint").is_none());
            blocks.iter_mut().for_each(strip_markers);
        }
        Value::Object(fields) => {
            fields.shift_remove("cache_control");
            fields.shift_remove("prompt_cache_breakpoint");
            for inner in ["content", "output"] {
                if let Some(inner) = fields.get_mut(inner) {
                    strip_markers(inner);
                }
            }
        }
        _ => {}
    }
}

/// All conversations a server has seen.
#[derive(Debug, Default)]
pub(crate) struct Conversations {
    heads: Vec<Prefix>,
    back: StepsBack,
}

/// Whether a conversation may continue from an earlier point than its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StepsBack {
    /// A step back is a fault: something was lost.
    #[default]
    Forbidden,
    /// The test goes back or starts over on purpose.
    Allowed,
}

impl Conversations {
    /// From now on, allows a conversation to continue from an earlier point. The part it keeps must still be
    /// unchanged.
    pub(crate) fn allow_steps_back(&mut self) {
        self.back = StepsBack::Allowed;
    }

    /// Accepts a request that continues (or repeats) an earlier one, or starts a conversation. A request that
    /// shares its first message, or the model's first answer, with a conversation it does not continue is a
    /// fault; the reason names the first part that changed.
    pub(crate) fn accept(&mut self, request: Prefix) -> Result<(), String> {
        // The last message may be temporary and missing from the next request.
        if let Some(stable) = request.without_temporary() {
            let is_continuation = |head: &Prefix| stable.continues(head) || head.continues(&stable);
            if self.heads.iter().any(is_continuation) {
                return Ok(());
            }
        }
        if let Some(head) = self
            .heads
            .iter_mut()
            .filter(|head| request.continues(head))
            .max_by_key(|head| head.messages.len())
        {
            let later = request.messages.get(head.messages.len()..).unwrap_or_default();
            let forks = later.iter().any(|message| message.contains(SUB_AGENT_NOTICE));
            if forks {
                // The conversation it branches from continues too.
                self.heads.push(request);
            } else {
                *head = request;
            }
            return Ok(());
        }
        let may_go_back = self.back == StepsBack::Allowed;
        // A call retried after its predecessor got further, or a client that starts the same conversation
        // again.
        let is_beginning = || self.heads.iter().any(|head| head.continues(&request));
        if !request.answered || (may_go_back && is_beginning()) {
            self.heads.push(request);
            return Ok(());
        }
        // A conversation that starts with a summary of earlier messages may keep later ones unchanged.
        if request.messages.first().is_some_and(|first| first.contains(SUMMARY_PREFIX)) {
            self.heads.push(request);
            return Ok(());
        }
        let related = |head: &&Prefix| {
            let is_same = |index: usize| {
                head.messages.get(index).is_some_and(|a| request.messages.get(index) == Some(a))
            };
            is_same(0) || is_same(1)
        };
        let common =
            |head: &Prefix| head.messages.iter().zip(&request.messages).take_while(|(a, b)| a == b).count();
        match self.heads.iter().filter(related).max_by_key(|head| common(head)) {
            Some(head) if may_go_back && is_step_back(head, &request, common(head)) => {
                self.heads.push(request);
                Ok(())
            }
            Some(head) => Err(first_change(head, &request, common(head))),
            // A conversation that began elsewhere.
            None => {
                self.heads.push(request);
                Ok(())
            }
        }
    }
}

/// Returns whether the user went back to the common part and sent something else: one new message at a point
/// after which the earlier conversation had continued. The messages in between may stay unchanged: the turn
/// that asked for it.
fn is_step_back(head: &Prefix, request: &Prefix, common: usize) -> bool {
    if !request.has_head_of(head) {
        return false;
    }
    let Some((_new, unchanged)) = request.messages.get(common..).and_then(<[String]>::split_last) else {
        return false;
    };
    let later = head.messages.get(common..).unwrap_or_default();
    later.len() > 1 && (unchanged.is_empty() || later.windows(unchanged.len()).any(|part| part == unchanged))
}

fn first_change(head: &Prefix, request: &Prefix, common: usize) -> String {
    let show = |before: &str, after: &str| {
        let index = before.bytes().zip(after.bytes()).take_while(|(before, after)| before == after).count();
        let around = |text: &str| -> String {
            String::from_utf8_lossy(text.as_bytes().get(index.saturating_sub(40)..).unwrap_or_default())
                .chars()
                .take(120)
                .collect()
        };
        format!("was …{}… is …{}…", around(before), around(after))
    };
    if head.tools != request.tools {
        return format!("tools_changed: {}", show(&head.tools, &request.tools));
    }
    if head.system != request.system {
        return format!("system_changed: {}", show(&head.system, &request.system));
    }
    let before = head.messages.get(common).map_or("", String::as_str);
    match request.messages.get(common) {
        Some(after) => format!("messages_changed: message {common}: {}", show(before, after)),
        None => format!("messages_changed: message {common} is gone: {}", show(before, "")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn prefix_of(texts: &[&str]) -> Prefix {
        let messages: Vec<Value> = texts
            .iter()
            .enumerate()
            .map(|(place, text)| {
                let role = if text.starts_with("a:") { "assistant" } else { "user" };
                json!({ "role": role, "content": format!("{place} {text}") })
            })
            .collect();
        Prefix::new(&json!([]), &json!("system"), &messages)
    }

    #[test]
    fn steps_back_need_the_tests_permission_and_keep_the_rest() {
        let before = prefix_of(&["hello", "a: hi", "go", "a: calls", "results"]);
        let other_tools = Prefix { tools: "[1]".to_owned(), ..prefix_of(&["hello", "a: hi", "other"]) };
        let other_system = Prefix { system: "new".to_owned(), ..prefix_of(&["hello", "a: hi", "other"]) };
        for (request, may) in [
            (prefix_of(&["hello", "a: hi", "other"]), true),
            (prefix_of(&["hello", "a: hi", "go"]), true),
            (prefix_of(&["hello", "a: hi", "go", "a: calls"]), true),
            (prefix_of(&["hello", "a: hi!", "other"]), false),
            (other_tools, false),
            (other_system, false),
        ] {
            let mut conversations = Conversations::default();
            assert_eq!(conversations.accept(before.clone()), Ok(()));
            assert!(conversations.accept(request.clone()).is_err(), "{request:?}");
            conversations.allow_steps_back();
            assert_eq!(conversations.accept(request.clone()).is_ok(), may, "{request:?}");
        }
    }

    #[test]
    fn a_sub_agent_and_its_parent_both_go_on_from_one_prefix() {
        let fork = "<octo-notice kind=\"fork\">";
        let (first, second) = (format!("{fork} one"), format!("{fork} two"));
        let mut conversations = Conversations::default();
        for request in [
            prefix_of(&["hello"]),
            prefix_of(&["hello", "a: hi", "go"]),
            prefix_of(&["hello", "a: hi", "go", &first]),
            prefix_of(&["hello", "a: hi", "go", &second]),
            prefix_of(&["hello", "a: hi", "go", &first, "a: step", "result"]),
            prefix_of(&["hello", "a: hi", "go", "a: calls", "results"]),
            prefix_of(&["hello", "a: hi", "go", &second, "a: step", "result"]),
            prefix_of(&["hello", "a: hi", "go", "a: calls", "results", "a: done", "again", &first]),
            prefix_of(&["hello", "a: hi", "go", "a: calls", "results", "a: done", "again", "a: x", "y"]),
        ] {
            assert_eq!(conversations.accept(request), Ok(()));
        }
        for changed in [
            prefix_of(&["hello", "a: hi", "go", &first, "a: other step", "result", "more"]),
            prefix_of(&["hello", "a: hi", "go!", "a: calls", "results", "a: done", "again"]),
        ] {
            assert!(conversations.accept(changed).is_err());
        }
    }
}
