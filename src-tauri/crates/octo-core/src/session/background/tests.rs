use super::*;

fn command(handle: &str, state: CommandState) -> BackgroundCommand {
    BackgroundCommand {
        handle: handle.to_owned(),
        call: CallId::new(),
        command: "make".to_owned(),
        cwd: "/work".to_owned(),
        started_at: 1,
        ended_at: state.is_over().then_some(2),
        state,
        log: None,
        last_line: String::new(),
    }
}

/// The state after a turn with this end, with one command in this state.
fn after(end: Option<TurnEnd>, state: CommandState) -> BackgroundCommands {
    let mut background = BackgroundCommands::restored(&[]);
    if let Some(end) = end {
        background.turn_began(TurnCause::Person);
        background.turn_ended(&end);
    }
    background.insert(command("a", state));
    background
}

#[test]
fn only_an_end_somebody_waits_for_begins_a_turn_and_only_after_one_that_finished() {
    let failed = || TurnEnd::Failed { error: ApiError::new("x") };
    let done = CommandState::Exited { code: 0 };
    for (end, state, wakes) in [
        (Some(TurnEnd::Finished), done, true),
        (Some(TurnEnd::Finished), CommandState::Exited { code: 1 }, true),
        (Some(TurnEnd::Finished), CommandState::Signalled { signal: 9 }, true),
        (Some(TurnEnd::Finished), CommandState::TimedOut, true),
        (Some(TurnEnd::Finished), CommandState::Killed, false),
        (Some(TurnEnd::Finished), CommandState::EndedWithOcto, false),
        (Some(TurnEnd::Finished), CommandState::Running, false),
        (Some(TurnEnd::Finished), CommandState::Waiting, false),
        (Some(TurnEnd::Stopped), done, false),
        (Some(failed()), done, false),
        (None, done, false),
    ] {
        assert_eq!(after(end.clone(), state).needs_turn(), wakes, "{end:?} {state:?}");
    }
    let mut halted = after(Some(TurnEnd::Finished), done);
    halted.halt();
    assert!(!halted.needs_turn());
}

#[test]
fn turns_that_begin_by_themselves_are_bounded_until_the_person_speaks() {
    let mut background = after(Some(TurnEnd::Finished), CommandState::Exited { code: 0 });
    for _ in 0..MAX_AUTO_TURNS {
        assert!(background.needs_turn());
        background.turn_began(TurnCause::Automatic);
        background.turn_ended(&TurnEnd::Finished);
    }
    assert!(!background.needs_turn());
    background.turn_began(TurnCause::Person);
    background.turn_ended(&TurnEnd::Finished);
    assert!(background.needs_turn());
}

#[test]
fn what_ran_when_octo_ended_ended_with_it_and_what_had_ended_is_left_as_it_is() {
    let stored = [
        command("a", CommandState::Running),
        command("b", CommandState::Waiting),
        command("c", CommandState::Exited { code: 3 }),
    ];
    let restored = BackgroundCommands::restored(&stored);
    let states: Vec<_> = restored.commands.iter().map(|command| command.state).collect();
    let lost = CommandState::EndedWithOcto;
    assert_eq!(states, [lost, lost, CommandState::Exited { code: 3 }]);
    assert_eq!(restored.unreported_count(), 3);
    assert_eq!(
        BackgroundCommands::restored(&restored.commands).commands,
        restored.commands,
        "a second time changes nothing"
    );
}
