//! Native lists. Their options open in a system window that page input does not reach.

use super::{ActError, ActMethod, Audience, UnsupportedAct};
use crate::{Page, snapshot::NodeRef};
use serde_json::json;

/// Chooses options of a list, or of the list that contains the given option, by label or value. In a
/// multiple-choice list exactly the wanted options end up selected.
const CHOOSE_SCRIPT: &str = "function(wanted) {
    const one = this.localName === 'label' && this.control ? this.control : this.closest?.('select') || this;
    if (one.localName !== 'select') return 'none';
    if (one.disabled) return 'closed';
    const tidy = (text) => text.trim().replace(/\\s+/g, ' ');
    const all = [...one.options];
    const find = (text) => all.find((o) => tidy(o.label) === text || tidy(o.text) === text) || all.find((o) => o.value === text)
        || all.find((o) => tidy(o.label).toLowerCase() === text.toLowerCase());
    const found = wanted.map((text) => find(tidy(text)));
    if (found.some((option) => !option || option.disabled || option.closest('optgroup')?.disabled)) return all.slice(0, 40).map((o) => tidy(o.label).slice(0, 60));
    if (found.length > 1 && !one.multiple) return 'single';
    one.focus({ preventScroll: true });
    const before = all.map((option) => option.selected).join();
    if (one.multiple) for (const option of all) option.selected = found.includes(option);
    else if (found[0]) found[0].selected = true;
    if (before === all.map((option) => option.selected).join()) return 'same';
    one.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    one.dispatchEvent(new Event('change', { bubbles: true }));
    return 'done';
}";

impl Page {
    pub(super) async fn select(
        &self,
        node_ref: &NodeRef,
        values: &[String],
        audience: Audience,
    ) -> Result<ActMethod, ActError> {
        self.highlight(node_ref, audience).await?;
        let reply = self.call_function_on_node(node_ref, CHOOSE_SCRIPT, vec![json!(values)]).await?;
        if let Some(options) = reply.as_array() {
            let options = options.iter().filter_map(|option| option.as_str().map(str::to_owned));
            return Err(UnsupportedAct::NoSuchOption(options.collect()).into());
        }
        match reply.as_str().unwrap_or_default() {
            "done" => Ok(ActMethod::Set),
            "same" => Ok(ActMethod::Nothing),
            "single" => Err(UnsupportedAct::SingleChoice.into()),
            "closed" => Err(UnsupportedAct::Disabled.into()),
            _ => Err(UnsupportedAct::NotAList.into()),
        }
    }
}
