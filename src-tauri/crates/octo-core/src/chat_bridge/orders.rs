//! What a message in a chat asks of Octo itself. Everything else is for the session: its own slash commands, skills, and
//! words for the agent.

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// What can be done here.
    Help,
    /// Begin anew with the next message.
    New,
    /// Stop what runs.
    Stop,
    /// How the session stands.
    Status,
    /// The sessions of this chat.
    List,
    /// Go on with the session of this number in the list.
    Open(Option<usize>),
    /// Say the last answer again.
    Last,
    /// Something that is not done from a chat; its name.
    AtTheComputer(&'static str),
    /// It is for the session.
    ForTheSession,
}

/// Reads a message.
pub(super) fn read(text: &str) -> Order {
    let Some(rest) = text.trim().strip_prefix(['/', '／']) else { return Order::ForTheSession };
    let (name, argument) = match rest.split_once(char::is_whitespace) {
        Some((name, argument)) => (name, argument.trim()),
        None => (rest, ""),
    };
    // In a chat the service itself adds the bot's name to a command that is picked from its menu.
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    match name.to_ascii_lowercase().as_str() {
        "start" | "help" => Order::Help,
        "new" => Order::New,
        "stop" => Order::Stop,
        "status" => Order::Status,
        "list" => Order::List,
        "open" => Order::Open(argument.parse().ok().filter(|number| *number > 0)),
        "last" => Order::Last,
        "mode" => Order::AtTheComputer("mode"),
        "folder" => Order::AtTheComputer("folder"),
        _ => Order::ForTheSession,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_and_the_rest_is_for_the_session() {
        for (text, order) in [
            ("/start", Order::Help),
            (" /HELP ", Order::Help),
            ("／new", Order::New),
            ("/stop@octo_bot", Order::Stop),
            ("/status", Order::Status),
            ("/list", Order::List),
            ("/open 2", Order::Open(Some(2))),
            ("/open 0", Order::Open(None)),
            ("/open x", Order::Open(None)),
            ("/last", Order::Last),
            ("/mode autonomous", Order::AtTheComputer("mode")),
            ("/Folder /", Order::AtTheComputer("folder")),
            ("／MODE@octo_bot autonomous", Order::AtTheComputer("mode")),
            ("/commit all of it", Order::ForTheSession),
            ("/undo", Order::ForTheSession),
            ("stop", Order::ForTheSession),
            ("/etc/hosts is wrong", Order::ForTheSession),
            ("", Order::ForTheSession),
        ] {
            assert_eq!(read(text), order, "{text}");
        }
    }
}
