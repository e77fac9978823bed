//! What a person does in the page, as scripts that run in it: two thousand turns key by key would take hours.

use anyhow::{Context as _, Result, bail};
use octo_protocol::SessionId;
use serde_json::{Value, json};
use std::path::Path;

/// What the steps below are made of. The driver gives a script half a minute.
const TOOLS: &str = r#"
const at = (id) => document.querySelector(`[data-testid="${id}"]`);
const row = (session) => document.querySelector(`[data-session="${session}"]`);
const current = () => document.querySelector('[data-session][aria-current="page"]');
const until = async (what, look) => {
  for (const began = Date.now(); Date.now() - began < 25_000; ) {
    const found = look();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 10));
  }
  throw new Error(`waited for ${what}; the page reads: ${document.body.innerText.slice(-2_000)}`);
};
const type = (field, text) => {
  field.value = text;
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
};
const fresh = async () => {
  (await until("the list", () => at("new-session"))).click();
  return until("the page of a new session", () => at("new-folder"));
};
const show = async (session) => {
  // The list is drawn anew as sessions end: a row may go in the moment it is pressed.
  await until("the session", () => {
    if (current()?.dataset.session === session) return at("composer");
    row(session)?.click();
    return null;
  });
};
const send = async (text) => {
  type(at("composer"), text);
  (await until("that it can be sent", () => !at("send")?.disabled && at("send"))).click();
  const first = text.split("\n")[0];
  await until("what was said", () => at("transcript")?.textContent.includes(first));
};
"#;

/// To the page of a new session; what the document holds there, at the least: tasks go on, and the list asks anew.
pub const FRESH: &str = "await fresh(); let [nodes, waiting] = [Infinity, Infinity]; \
    for (let look = 0; look < 20; look++) { \
        nodes = Math.min(nodes, document.querySelectorAll('*').length); \
        waiting = Math.min(waiting, window.__TAURI_INTERNALS__.callbacks.size); \
        await new Promise((done) => setTimeout(done, 100)); \
    } \
    return { nodes, waiting };";

/// How many more nodes than after the warm-up the page may have in the end: the marks of rows of the list.
const NODES: u64 = 200;
/// Requests and subscriptions that happen to be begun.
const WAITING: u64 = 4;

/// What the page of a new session holds.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// Nodes of its document.
    nodes: u64,
    /// Answers and subscriptions it waits for.
    waiting: u64,
}

impl Held {
    /// What [`FRESH`] said.
    pub fn read(said: &Value) -> Result<Self> {
        let number = |name: &str| said[name].as_u64().with_context(|| format!("{name} in {said}"));
        Ok(Self { nodes: number("nodes")?, waiting: number("waiting")? })
    }
}

/// It does not grow from the first to the last.
pub fn check(held: &[Held]) {
    let (first, last) = (held[0], held[held.len() - 1]);
    assert!(last.nodes <= first.nodes + NODES, "the page grows: {held:?}");
    assert!(last.waiting <= first.waiting + WAITING, "what is waited for is not forgotten: {held:?}");
}

/// A script of these steps that says what came of them.
pub fn script(steps: &str) -> String {
    format!(
        "{TOOLS} const done = arguments[0]; \
         (async () => {{ {steps} }})().then((value) => done({{ value: value ?? null }}), \
         (error) => done({{ error: error.message ?? JSON.stringify(error) }}));"
    )
}

/// What came of them.
pub fn outcome(mut outcome: Value) -> Result<Value> {
    match outcome.get("error") {
        Some(error) => bail!("in the page: {error}"),
        None => Ok(outcome.get_mut("value").map(Value::take).unwrap_or_default()),
    }
}

/// Begins a session in a folder; gives its id.
pub fn begin(folder: &Path, words: &str) -> String {
    let (folder, words) = (json!(folder), json!(words));
    format!(
        "const before = current()?.dataset.session; type(await fresh(), {folder}); await send({words}); \
         return until('its row', () => current() && current().dataset.session !== before \
         && current().dataset.session);"
    )
}

/// Shows a session, waits until it can be talked to, and says something.
pub fn say(session: &SessionId, words: &str) -> String {
    let (session, words) = (json!(session), json!(words));
    format!(
        "await show({session}); await until('the end of its turn', () => !at('stop')); await send({words});"
    )
}

/// Shows a session.
pub fn show(session: &SessionId) -> String {
    format!("await show({});", json!(session))
}

/// Opens another page, until it is drawn, and goes back.
pub fn open(page: &str) -> String {
    format!(
        "at('open-{page}').click(); await until('the page', () => at('{page}')); \
         await new Promise((done) => setTimeout(done, 300)); at('settings-back')?.click(); \
         await until('the list', () => at('new-session'));"
    )
}

/// Asks the core.
pub fn ask(request: &str) -> String {
    format!("return window.__TAURI_INTERNALS__.invoke('request', {{ request: {request} }});")
}
