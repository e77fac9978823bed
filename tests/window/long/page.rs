//! A person's actions in the page, as scripts that run in it: typing two thousand turns key by key would take
//! hours.

use anyhow::{Context as _, Result, bail};
use octo_protocol::SessionId;
use serde_json::{Value, json};
use std::path::Path;

/// Building blocks of the steps below. The driver gives a script half a minute.
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
  // The list is redrawn as sessions end: a row may disappear at the moment it is clicked.
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

/// Opens the page of a new session and measures the minimum of its document: tasks continue, and the list
/// reloads.
pub const FRESH: &str = "await fresh(); let [nodes, waiting] = [Infinity, Infinity]; \
    for (let look = 0; look < 20; look++) { \
        nodes = Math.min(nodes, document.querySelectorAll('*').length); \
        waiting = Math.min(waiting, window.__TAURI_INTERNALS__.callbacks.size); \
        await new Promise((done) => setTimeout(done, 100)); \
    } \
    return { nodes, waiting };";

/// Allowed growth of the page's nodes since the warm-up: markers of the list's rows.
const NODES: u64 = 200;
/// Requests and subscriptions that happen to be in progress.
const WAITING: u64 = 4;

/// The size of a new session's page.
#[derive(Clone, Copy, Debug)]
pub struct PageSize {
    /// Nodes of its document.
    nodes: u64,
    /// Number of pending answers and subscriptions.
    waiting: u64,
}

impl PageSize {
    /// Parses the result of [`FRESH`].
    pub fn read(reply: &Value) -> Result<Self> {
        let number = |name: &str| reply[name].as_u64().with_context(|| format!("{name} in {reply}"));
        Ok(Self { nodes: number("nodes")?, waiting: number("waiting")? })
    }
}

/// Checks that it does not grow from the first to the last.
pub fn check(sizes: &[PageSize]) {
    let (first, last) = (sizes[0], sizes[sizes.len() - 1]);
    assert!(last.nodes <= first.nodes + NODES, "the page grows: {sizes:?}");
    assert!(last.waiting <= first.waiting + WAITING, "what is waited for is not forgotten: {sizes:?}");
}

/// Returns a script of these steps that reports their result.
pub fn script(steps: &str) -> String {
    format!(
        "{TOOLS} const done = arguments[0]; \
         (async () => {{ {steps} }})().then((value) => done({{ value: value ?? null }}), \
         (error) => done({{ error: error.message ?? JSON.stringify(error) }}));"
    )
}

/// Returns the result of the steps.
pub fn outcome(mut outcome: Value) -> Result<Value> {
    match outcome.get("error") {
        Some(error) => bail!("in the page: {error}"),
        None => Ok(outcome.get_mut("value").map(Value::take).unwrap_or_default()),
    }
}

/// Starts a session in a folder; the script returns its id.
pub fn begin(folder: &Path, text: &str) -> String {
    let (folder, text) = (json!(folder), json!(text));
    format!(
        "const before = current()?.dataset.session; type(await fresh(), {folder}); await send({text}); \
         return until('its row', () => current() && current().dataset.session !== before \
         && current().dataset.session);"
    )
}

/// Shows a session, waits until it accepts input, and sends a message.
pub fn say(session: &SessionId, text: &str) -> String {
    let (session, text) = (json!(session), json!(text));
    format!(
        "await show({session}); await until('the end of its turn', () => !at('stop')); await send({text});"
    )
}

/// Shows a session.
pub fn show(session: &SessionId) -> String {
    format!("await show({});", json!(session))
}

/// Opens another page, waits until it is drawn, and goes back.
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
