//! The person's headers, certificates, and the companion models of the presets.

use super::rig::{self, Rig};
use octo_core::Octo;
use octo_protocol::{
    AddCompanion, CertificateSource, CompanionRole, GetSettings, HeaderDraft, KeyState, Mode, ModelCheck,
    ModelDraft, ModelEntry, Protocol, SaveModel, SavedHeader, Secret, SettingsSnapshot, TestModel,
    TrustCertificates, TurnEnd,
};
use octo_testkit::{ModelServer, Reply, Script, TempHome};
use std::path::Path;

const KEY: &str = "sk-test-0123456789abcdef";
const VALUE: &str = "gateway-secret-0123456789wxyz";

fn draft(base_url: &str, headers: Option<Vec<HeaderDraft>>) -> ModelDraft {
    ModelDraft {
        id: None,
        protocol: Protocol::Anthropic,
        base_url: base_url.to_owned(),
        model: "scripted".to_owned(),
        key: Some(Secret::new(KEY)),
        headers,
    }
}

fn header(name: &str, value: Option<&str>) -> HeaderDraft {
    HeaderDraft { name: name.to_owned(), value: value.map(Secret::new) }
}

fn kept(name: &str, last4: &str) -> SavedHeader {
    SavedHeader { name: name.to_owned(), value: KeyState::ThisRun { last4: last4.to_owned() } }
}

fn lost(name: &str) -> SavedHeader {
    SavedHeader { name: name.to_owned(), value: KeyState::Missing }
}

async fn save(octo: &Octo, draft: ModelDraft) -> ModelEntry {
    octo.call(SaveModel { draft }).await.expect("the model is saved")
}

async fn settings(octo: &Octo) -> SettingsSnapshot {
    octo.call(GetSettings {}).await.expect("there are settings")
}

/// Returns whether any file below a folder contains this text.
fn holds(folder: &Path, text: &str) -> bool {
    let entries = std::fs::read_dir(folder).expect("the folder is read");
    entries.map(|entry| entry.expect("an entry").path()).any(|path| {
        if path.is_dir() {
            return holds(&path, text);
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[tokio::test]
async fn headers_go_to_the_host_they_were_given_for_and_are_kept_or_dropped_by_name() {
    let answers = || ModelServer::start(Script::from_fn(|_| Reply::text("OK")));
    let (here, there) = (answers(), answers());
    let home = TempHome::new();
    let octo = rig::open(&home).await;
    let given = vec![header("X-Tenant", Some(VALUE)), header("x-team", Some("a"))];
    let entry = save(&octo, draft(&here.url(), Some(given))).await;
    assert_eq!(entry.headers, [kept("x-tenant", "wxyz"), kept("x-team", "")]);

    let asked = |url: &str, headers| ModelDraft { id: Some(entry.id), key: None, ..draft(url, headers) };
    let check = octo.call(TestModel { draft: asked(&here.url(), None) }).await.expect("the test is made");
    assert!(matches!(check, ModelCheck::Works { .. }), "{check:?}");
    let request = &here.requests()[0];
    assert_eq!((request.header("x-tenant"), request.header("x-team")), (Some(VALUE), Some("a")));

    // Another host gets none, whatever the draft says about the stored ones.
    let wanted = vec![header("x-tenant", None)];
    octo.call(TestModel { draft: asked(&there.url(), Some(wanted)) }).await.expect("the test is made");
    assert_eq!((there.requests()[0].header("x-tenant"), there.requests()[0].header("x-team")), (None, None));

    // Headers a gateway may not receive, and a name without a value, change nothing.
    for (headers, key) in [
        (vec![header("authorization", Some(VALUE))], "provider.header"),
        (vec![header("x-a", Some("1")), header("X-A", Some("2"))], "provider.header"),
        (vec![header("x-a", Some("one\ntwo"))], "provider.header"),
        (vec![header("x-new", None)], "model.header_value_missing"),
        (vec![header("x-new", Some("  "))], "model.header_value_missing"),
    ] {
        let error = octo.call(SaveModel { draft: asked(&here.url(), Some(headers)) }).await.expect_err(key);
        assert_eq!(error.key, key);
        assert!(!error.to_string().contains(VALUE) && !error.to_string().contains("two"), "{error}");
    }
    assert_eq!(settings(&octo).await.models[0].headers, entry.headers);

    // When it is saved with another host, their values are deleted; going back does not restore them.
    let moved = save(&octo, asked(&there.url(), None)).await;
    assert_eq!(moved.headers, [lost("x-tenant"), lost("x-team")]);
    let back = save(&octo, asked(&here.url(), None)).await;
    assert_eq!(back.headers, moved.headers);
    octo.call(TestModel { draft: asked(&here.url(), None) }).await.expect("the test is made");
    assert_eq!(here.requests()[1].header("x-tenant"), None);

    // A restart loses values kept for one run, and says so.
    let again = ModelDraft { id: None, ..draft(&here.url(), Some(vec![header("x-tenant", Some(VALUE))])) };
    assert_eq!(save(&octo, again).await.headers, [kept("x-tenant", "wxyz")]);
    octo.shutdown().await;
    let octo = rig::open(&home).await;
    let models = settings(&octo).await.models;
    assert_eq!(models[1].headers, [lost("x-tenant")]);
    octo.shutdown().await;
}

#[tokio::test]
async fn no_value_of_a_header_is_in_the_home_or_in_an_event() {
    let script = Script::new()
        .reply(Reply::error(400, "invalid_request_error", format!("tenant {VALUE} is unknown")))
        .text("done");
    let mut rig = Rig::new(script).await;
    let mut changed = draft(&rig.server.url(), Some(vec![header("x-tenant", Some(VALUE))]));
    changed.model = "with-headers".to_owned();
    let entry = save(&rig.octo, changed).await;
    let patch = octo_protocol::SettingsPatch { default_model: Some(entry.id), ..Default::default() };
    rig.octo.call(octo_protocol::ChangeSettings { patch }).await.expect("it is chosen");
    let session = rig.start(Mode::Ask, "hello").await;
    let TurnEnd::Failed { error } = rig.turn_end().await else { panic!("it is refused") };
    assert!(error.detail.as_ref().is_some_and(|detail| detail.contains("[header]")), "{error}");
    rig.send(session, "again").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(rig.server.requests().iter().all(|request| request.header("x-tenant") == Some(VALUE)));

    let events = rig.seen.iter().map(|envelope| serde_json::to_string(envelope).expect("an event as JSON"));
    assert!(events.into_iter().all(|event| !event.contains(VALUE) && !event.contains(KEY)));
    let snapshot = serde_json::to_string(&rig.snapshot(session).await).expect("a snapshot as JSON");
    assert!(!snapshot.contains(VALUE));
    assert!(!serde_json::to_string(&settings(&rig.octo).await).expect("settings as JSON").contains(VALUE));
    rig.octo.shutdown().await;
    assert!(holds(&rig.home.octo(), "x-tenant"), "its name is kept, so the search finds what is there");
    assert!(!holds(&rig.home.octo(), VALUE) && !holds(&rig.home.octo(), KEY));
}

/// A certificate of an authority.
const AUTHORITY: &str = include_str!("../../../octo-llm/tests/tls/authority.pem");

#[tokio::test]
async fn certificates_are_read_before_they_are_kept_and_nothing_else_of_their_file_is() {
    let home = TempHome::new();
    let octo = rig::open(&home).await;
    let trust = async |source| octo.call(TrustCertificates { source }).await;
    let pasted = |pem: &str| CertificateSource::Text { pem: pem.to_owned() };
    let path = home.work().join("company.pem");
    let file = || CertificateSource::File { path: path.display().to_string() };

    let garbled = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let private = format!("{AUTHORITY}-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    let open = AUTHORITY.replace("-----END CERTIFICATE-----", "");
    let open = format!("{AUTHORITY}{open}");
    for (pem, key) in [
        ("", "certificates.none"),
        ("no certificate", "certificates.none"),
        (garbled, "certificates.broken"),
        (open.as_str(), "certificates.broken"),
        (private.as_str(), "certificates.private"),
        (AUTHORITY.repeat(200).as_str(), "certificates.too_large"),
    ] {
        assert_eq!(trust(pasted(pem)).await.expect_err(key).key, key);
    }
    assert_eq!(trust(file()).await.expect_err("it is not there").key, "certificates.unreadable");
    let folder = CertificateSource::File { path: home.work().display().to_string() };
    assert_eq!(trust(folder).await.expect_err("a folder").key, "certificates.unreadable");
    assert_eq!(settings(&octo).await.settings.certificates, None);

    std::fs::write(&path, format!("# of the company\n{AUTHORITY}\nand again\n{AUTHORITY}"))
        .expect("it is written");
    let kept = trust(file()).await.expect("it is kept").settings.certificates.expect("they are there");
    assert_eq!((kept.count, kept.file.as_deref()), (2, path.to_str()));
    assert!(
        kept.pem.starts_with("-----BEGIN") && !kept.pem.contains("company") && !kept.pem.contains("again")
    );
    // Later changes of the file have no effect here.
    std::fs::write(&path, "nothing").expect("it is written");
    octo.shutdown().await;
    let octo = rig::open(&home).await;
    assert_eq!(settings(&octo).await.settings.certificates, Some(kept));
    let left =
        octo.call(TrustCertificates { source: CertificateSource::Nothing }).await.expect("they are gone");
    assert_eq!(left.settings.certificates, None);
    octo.shutdown().await;
}

#[tokio::test]
async fn what_the_presets_name_beside_a_model_is_connected_with_its_key_in_one_step() {
    let server = ModelServer::start(Script::from_fn(|_| Reply::text("OK")));
    let home = TempHome::new();
    let table = serde_json::json!({ "version": 1, "providers": [{
        "id": "mine", "name": "Mine", "addresses": [{ "url": server.url() }], "protocol": "anthropic",
        "models": ["big", "small", "spare"], "light": { "big": "small" }, "fallback": { "big": "spare" },
    }] });
    std::fs::create_dir_all(home.octo()).expect("a home");
    std::fs::write(home.octo().join("presets.json"), table.to_string()).expect("presets");
    let octo = rig::open(&home).await;
    let mut first = draft(&server.url(), Some(vec![header("x-tenant", Some(VALUE))]));
    first.model = "big".to_owned();
    let big = save(&octo, first).await;
    assert_eq!(settings(&octo).await.models.len(), 1, "nothing is added by itself");

    let add = async |model, role| octo.call(AddCompanion { model, role }).await;
    let small = add(big.id, CompanionRole::Light).await.expect("it is added");
    assert_eq!((small.model.as_str(), &small.key, &small.headers), ("small", &big.key, &big.headers));
    let spare = add(big.id, CompanionRole::Fallback).await.expect("it is added");
    // A second click only chooses again.
    assert_eq!(add(big.id, CompanionRole::Light).await.expect("it is there").id, small.id);
    let now = settings(&octo).await;
    assert_eq!(now.models.len(), 3);
    assert_eq!((now.settings.light_model, now.models[0].fallback), (Some(small.id), Some(spare.id)));
    assert_eq!(now.settings.default_model, Some(big.id));

    let asked =
        ModelDraft { id: Some(small.id), key: None, model: "small".into(), ..draft(&server.url(), None) };
    octo.call(TestModel { draft: asked }).await.expect("the test is made");
    let request = &server.requests()[0];
    assert_eq!((request.header("x-api-key"), request.header("x-tenant")), (Some(KEY), Some(VALUE)));

    let error = add(small.id, CompanionRole::Light).await.expect_err("the table names none");
    assert_eq!(error.key, "model.no_companion");
    let stranger = octo_protocol::ModelId::new();
    assert_eq!(add(stranger, CompanionRole::Light).await.expect_err("not there").key, "model.unknown");
    octo.shutdown().await;
}
