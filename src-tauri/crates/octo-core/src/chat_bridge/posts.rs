//! The posts to a chat for an event of its session: answers, questions and errors. Intermediate actions of the
//! agent are visible only in the window.

use super::Words;
use octo_chats::{Button, Post, posts};
use octo_protocol::{
    Event, EventDomain, Message, MessageEnd, MessageId, Origin, Question, QuestionContent, QuestionId,
    TurnEnd,
};

/// Maximum length of a button's label, in characters; longer text appears in the post.
const LABEL: usize = 48;
/// Prefix of the data of a button that answers a question.
const ANSWER: &str = "a";

/// The meaning of an event for the chat.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ChatUpdate {
    /// Nothing.
    Nothing,
    /// The person wrote in the chat, so they are present there.
    InChat,
    /// The person wrote in a window, so they are at the computer, and the chat gets their text.
    InWindow(Vec<Post>),
    /// The model's message is complete; its text is in the store.
    Answer(MessageId),
    /// Posts to send.
    Send(Vec<Post>),
}

/// Returns the meaning of an event for the chat, which only reports the conversation.
pub(super) fn chat_update(event: &Event, words: Words) -> ChatUpdate {
    if event.domain() != EventDomain::Conversation {
        return ChatUpdate::Nothing;
    }
    match event {
        Event::MessageAdded { message } if message.meta.origin == Origin::Person => match message.meta.via {
            Some(_) => ChatUpdate::InChat,
            None => ChatUpdate::InWindow(window_posts(message, words)),
        },
        Event::MessageEnded { message, end: MessageEnd::Complete | MessageEnd::Truncated, .. } => {
            ChatUpdate::Answer(*message)
        }
        Event::QuestionAsked { question } => ChatUpdate::Send(question_posts(question, words)),
        Event::BudgetReached { .. } => ChatUpdate::Send(vec![Post::plain(words.say("chat.budget"))]),
        Event::TurnEnded { turn } => match &turn.end {
            Some(TurnEnd::Failed { error }) => {
                let reason = words.error(error);
                ChatUpdate::Send(vec![Post::plain(words.fill("chat.failed", &[("why", &reason)]))])
            }
            Some(TurnEnd::Stopped) => ChatUpdate::Send(vec![Post::plain(words.say("chat.stopped"))]),
            Some(TurnEnd::Finished) | None => ChatUpdate::Nothing,
        },
        Event::CommandAnswered { note } => ChatUpdate::Send(vec![Post::plain(words.error(note))]),
        _ => ChatUpdate::Nothing,
    }
}

/// Builds the posts of a model's message. A message before the final answer arrives without a sound.
pub(super) fn answer_posts(message: &Message, words: Words) -> Vec<Post> {
    let is_on_its_way = message.calls().next().is_some();
    let mut result = posts(&message.text(), &words.say("chat.truncated"));
    for post in &mut result {
        post.silent = is_on_its_way;
    }
    // One answer makes one sound.
    let count = result.len();
    for post in result.iter_mut().take(count.saturating_sub(1)) {
        post.silent = true;
    }
    result
}

fn window_posts(message: &Message, words: Words) -> Vec<Post> {
    let text = message.text();
    if text.trim().is_empty() {
        return Vec::new();
    }
    let mut post = Post::plain(words.fill("chat.typed_at_computer", &[("text", &excerpt(&text, 300))]));
    post.silent = true;
    vec![post]
}

/// Builds the posts of a question. The last post has the buttons, so the question precedes them however long it
/// is.
fn question_posts(question: &Question, words: Words) -> Vec<Post> {
    let (text, context, options) = match &question.ask {
        QuestionContent::Permission { .. } => {
            return vec![Post::plain(words.fill("chat.approval", &[("tool", &question.tool)]))];
        }
        QuestionContent::Feedback { question, context, options } => (question, context, options),
    };
    let mut text = text.clone();
    for (number, option) in (1..).zip(options).filter(|(_, option)| option.chars().count() > LABEL) {
        text.push_str(&format!("\n{number}. {option}"));
    }
    let mut result =
        context.as_deref().map(|context| posts(context, &words.say("chat.truncated"))).unwrap_or_default();
    for post in &mut result {
        post.silent = true;
    }
    result.extend(posts(&text, &words.say("chat.truncated")));
    if result.is_empty() {
        result.push(Post::plain("?"));
    }
    if let Some(last_post) = result.last_mut() {
        last_post.silent = false;
        last_post.buttons = (0..)
            .zip(options)
            .map(|(index, option)| {
                let label = if option.chars().count() > LABEL {
                    format!("{}. {}", index + 1, excerpt(option, LABEL))
                } else {
                    option.clone()
                };
                Button { label, data: format!("{ANSWER}:{}:{index}", question.id) }
            })
            .collect();
    }
    result
}

/// Returns the question a button answers, and the index of its answer among those offered.
pub(super) fn parse_button(data: &str) -> Option<(QuestionId, usize)> {
    let mut parts = data.split(':');
    let (kind, question, index) = (parts.next()?, parts.next()?, parts.next()?);
    if kind != ANSWER || parts.next().is_some() {
        return None;
    }
    Some((question.parse().ok()?, index.parse().ok()?))
}

/// Returns the beginning of a text on one line.
pub(super) fn excerpt(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit {
        return line;
    }
    let mut beginning: String = line.chars().take(limit.saturating_sub(1)).collect();
    beginning.push('…');
    beginning
}
