//! Another model takes over; model switches; guesses.

use super::rig::{Rig, answers};
use octo_protocol::{
    ChangeSettings, ChooseFallback, ChooseLightModel, Effort, EstimateSwitch, Event, Mode, ModelDraft,
    ModelId, Protocol, Purpose, SaveModel, SetEffort, SetModel, SettingsPatch, Suggestion, Switch, TurnEnd,
};
use octo_testkit::{ModelServer, Reply, Script};

async fn second_model(rig: &Rig, server: &ModelServer) -> ModelId {
    let draft = ModelDraft {
        id: None,
        protocol: Protocol::OpenaiChat,
        base_url: server.url(),
        model: "other".into(),
        key: None,
        headers: None,
    };
    rig.octo.call(SaveModel { draft }).await.expect("the model is saved").id
}

fn own_model(rig: &Rig) -> ModelId {
    rig.seen_models()[0]
}

fn notes(rig: &Rig) -> Vec<String> {
    let notices = rig.seen.iter().filter_map(|envelope| match &envelope.event {
        Event::CommandAnswered { note } => Some(note.key.clone()),
        _ => None,
    });
    notices.collect()
}

#[tokio::test]
async fn after_three_failures_of_the_service_the_other_model_takes_over_and_the_prefix_stays() {
    let busy = Reply::error(529, "overloaded_error", "busy").header("retry-after", "0");
    let mut rig = Rig::new(Script::new().times(3, &busy)).await;
    let other = ModelServer::start(Script::new().text("I stand in").text("and again"));
    let second = second_model(&rig, &other).await;
    let own_model = own_model(&rig);
    rig.octo.call(ChooseFallback { model: own_model, fallback: Some(second) }).await.unwrap();
    let session = rig.start(Mode::Ask, "hello").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(notes(&rig), ["fallback.began.overloaded"]);
    let snapshot = rig.snapshot(session).await;
    let note = &snapshot.notes[0].note;
    assert_eq!(
        (note.args.len(), note.detail.is_some()),
        (2, true),
        "what the provider said is a detail: {note:?}"
    );
    assert_eq!(answers(&snapshot), "I stand in");
    assert_eq!(snapshot.info.model, Some(own_model), "the session's model is what the person chose");
    assert_eq!(snapshot.page.messages.last().unwrap().meta.model, Some(second));
    // It stays until the first model is due for another attempt.
    rig.send(session, "more").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!((rig.server.requests().len(), other.requests().len()), (3, 2));
    // Choosing a model ends it.
    rig.octo.call(SetModel { session, model: own_model }).await.unwrap();
    rig.server.push(Reply::text("back"));
    rig.send(session, "and you?").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(answers(&rig.snapshot(session).await).ends_with("back"));
    rig.assert_sound();
    other.assert_clean();
}

#[tokio::test]
async fn without_another_model_the_own_one_is_tried_on() {
    let busy = Reply::error(529, "overloaded_error", "busy").header("retry-after", "0");
    let mut rig = Rig::new(Script::new().times(4, &busy).text("at last")).await;
    let session = rig.start(Mode::Ask, "hello").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(answers(&rig.snapshot(session).await), "at last");
    assert_eq!(notes(&rig), Vec::<String>::new());
}

#[tokio::test]
async fn a_light_model_guesses_the_next_message_and_nothing_else_does() {
    let mut rig = Rig::new(Script::new().text("The tests are green.").text("Merged.")).await;
    let light = ModelServer::start(Script::new().text("\"Merge it\"\n").text("NONE"));
    let second = second_model(&rig, &light).await;
    rig.octo.call(ChooseLightModel { model: Some(second) }).await.unwrap();
    let session = rig.start(Mode::Ask, "Run the tests").await;
    let guess = rig
        .event("guess", |event| match event {
            Event::Suggested { suggestion } => Some(suggestion.clone()),
            _ => None,
        })
        .await;
    let snapshot = rig.snapshot(session).await;
    assert_eq!(snapshot.suggestion, Some(guess.clone()));
    let turn = snapshot.page.turns[0].id;
    assert_eq!(guess, Suggestion { turn, text: "Merge it".into() });
    let light_request = light.requests()[0].clone();
    assert!(light_request.tools().is_empty() && light_request.user_text().contains("Person: Run the tests"));

    rig.send(session, "Merge it").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(rig.snapshot(session).await.suggestion, None, "a stale guess is gone");
    let billed = |event: &Event| match event {
        Event::CallBilled { call } if call.purpose == Purpose::Suggestion => Some(call.name.clone()),
        _ => None,
    };
    assert_eq!(rig.event("second guess", billed).await, "other");
    assert_eq!(rig.server.requests().len(), 2, "the session's own model is not asked");
    rig.assert_sound();
}

#[tokio::test]
async fn switched_off_no_next_message_is_guessed() {
    let mut rig = Rig::new(Script::new().text("one").text("two").text("three")).await;
    let light = ModelServer::start(Script::new().text("Go on"));
    let second = second_model(&rig, &light).await;
    rig.octo.call(ChooseLightModel { model: Some(second) }).await.unwrap();
    let patch = |suggestions| SettingsPatch { suggestions: Some(suggestions), ..SettingsPatch::default() };
    rig.octo.call(ChangeSettings { patch: patch(Switch::Off) }).await.unwrap();
    let session = rig.start(Mode::Ask, "Say one").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.send(session, "Say two").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    // The answer to this is stored with the turn's end.
    rig.octo.call(SetEffort { session, effort: None }).await.unwrap();
    rig.octo.call(ChangeSettings { patch: patch(Switch::On) }).await.unwrap();
    rig.send(session, "Say three").await;
    let guessed = |event: &Event| match event {
        Event::Suggested { suggestion } => Some(suggestion.text.clone()),
        _ => None,
    };
    assert_eq!(rig.event("guess", guessed).await, "Go on");
    assert_eq!(light.requests().len(), 1, "the light model was not asked while it was off");
}

#[tokio::test]
async fn effort_and_a_switch_apply_at_the_next_call_and_their_cost_is_told_before() {
    let mut rig =
        Rig::priced(Script::new().text("one").text("two"), std::time::Duration::from_secs(90)).await;
    let other = ModelServer::start(Script::new().text("three"));
    let second = second_model(&rig, &other).await;
    let session = rig.start(Mode::Ask, &"A long beginning. ".repeat(3_000)).await;
    rig.turn_end().await;
    rig.octo.call(SetEffort { session, effort: Some(Effort::High) }).await.unwrap();
    rig.send(session, "again").await;
    rig.turn_end().await;
    let body = rig.server.requests()[1].body["output_config"]["effort"].clone();
    assert_eq!(body, "high");
    assert_eq!(rig.snapshot(session).await.info.effort, Some(Effort::High));

    let cost = rig.octo.call(EstimateSwitch { session, model: second }).await.unwrap();
    assert!(cost.tokens > 10_000 && cost.cost.is_none(), "nobody knows what the other one costs: {cost:?}");
    assert!(cost.instead.is_some(), "the present one has it in its cache");
    rig.octo.call(SetModel { session, model: second }).await.unwrap();
    rig.send(session, "and you?").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(other.requests().len(), 1);
    rig.server.assert_clean();
    other.assert_clean();
}

#[tokio::test]
async fn another_model_that_is_no_use_is_asked_once() {
    let busy = Reply::error(529, "overloaded_error", "busy").header("retry-after", "0");
    let mut rig = Rig::new(Script::new().times(3, &busy).text("well again")).await;
    let refusal = Reply::error(401, "authentication_error", "invalid x-api-key");
    let other = ModelServer::start(Script::new().reply(refusal));
    let second = second_model(&rig, &other).await;
    rig.octo.call(ChooseFallback { model: own_model(&rig), fallback: Some(second) }).await.unwrap();
    let session = rig.start(Mode::Ask, "hello").await;
    let TurnEnd::Failed { error } = rig.turn_end().await else { panic!("nobody could answer") };
    assert_eq!(error.key, "provider.auth");
    rig.send(session, "and now?").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(answers(&rig.snapshot(session).await).ends_with("well again"));
    assert_eq!(other.requests().len(), 1);
}
