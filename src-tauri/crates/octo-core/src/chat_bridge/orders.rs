//! Requests of a chat message to Octo itself. All other messages are for the session: its slash commands,
//! skills, and words for the agent.

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Show the available orders.
    Help,
    /// Start a new session with the next message.
    New,
    /// Stop the running turn.
    Stop,
    /// Show the state of the session.
    Status,
    /// List the sessions of this chat.
    List,
    /// Continue the session with this number in the list.
    Open(Option<usize>),
    /// Repeat the last answer.
    Last,
    /// An action that is not available from a chat; its name.
    Unavailable(&'static str),
    /// A message for the session.
    Message,
}

/// Reads a message.
pub(super) fn read(text: &str) -> Order {
    let Some(line) = text.trim().strip_prefix(['/', '／']) else { return Order::Message };
    let (name, argument) = match line.split_once(char::is_whitespace) {
        Some((name, argument)) => (name, argument.trim()),
        None => (line, ""),
    };
    // In a group the service itself appends the bot's name to a command picked from its menu.
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    match name.to_ascii_lowercase().as_str() {
        "start" | "help" => Order::Help,
        "new" => Order::New,
        "stop" => Order::Stop,
        "status" => Order::Status,
        "list" => Order::List,
        "open" => Order::Open(argument.parse().ok().filter(|number| *number > 0)),
        "last" => Order::Last,
        "mode" => Order::Unavailable("mode"),
        "folder" => Order::Unavailable("folder"),
        _ => Order::Message,
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
            ("/mode autonomous", Order::Unavailable("mode")),
            ("/Folder /", Order::Unavailable("folder")),
            ("／MODE@octo_bot autonomous", Order::Unavailable("mode")),
            ("/commit all of it", Order::Message),
            ("/undo", Order::Message),
            ("stop", Order::Message),
            ("/etc/hosts is wrong", Order::Message),
            ("", Order::Message),
        ] {
            assert_eq!(read(text), order, "{text}");
        }
    }
}
