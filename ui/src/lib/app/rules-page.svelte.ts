/** The person's own rules while their page is open: changed, removed, tried. */
import { asApiError, call } from "$lib/ipc";
import type { ApiError, CommandTrial, Grant, PolicyList, PolicyRule } from "$lib/ipc/types";
import { preferences } from "./preferences.svelte";
import { toasts } from "./toasts.svelte";

/** A section of the rules: its lists and the rule being added. */
export type Section = "commands" | "paths";

/** The lists of a section, in display order. */
export const LISTS = {
  commands: ["allow", "ask", "deny"],
  paths: ["secret", "deny_path"],
} as const satisfies Record<Section, readonly PolicyList[]>;

/** The rule being typed into a section. */
class Draft {
  text = $state("");
  list = $state<PolicyList>("allow");
  /** Why the last one was not saved. */
  refused = $state.raw<ApiError | null>(null);

  constructor(list: PolicyList) {
    this.list = list;
  }
}

export class RulesPage {
  readonly drafts: Record<Section, Draft> = { commands: new Draft("deny"), paths: new Draft("secret") };
  /** Null until loaded. */
  grants = $state.raw<readonly Grant[] | null>(null);
  line = $state("");
  /** The verdict on the command tried last. */
  trial = $state.raw<{ line: string; found: CommandTrial } | null>(null);
  notTried = $state.raw<ApiError | null>(null);
  busy = $state(false);
  #trying = 0;

  /** Returns the rules of a section, in the order of its lists. */
  rules(section: Section): readonly PolicyRule[] {
    const all = preferences.policy?.rules ?? [];
    return LISTS[section].flatMap((list) => all.filter((rule) => rule.list === list));
  }

  /** Loads the file and the permanent grants. */
  async open(): Promise<void> {
    try {
      const [policy, { grants }] = await Promise.all([
        call("policy", "get_policy", {}),
        call("policy", "list_grants", {}),
      ]);
      preferences.policy = policy;
      this.grants = grants;
    } catch (error) {
      toasts.fail(error);
    }
  }

  /** Saves the rule typed into a section. */
  async add(section: Section): Promise<void> {
    const draft = this.drafts[section];
    const rule = { list: draft.list, text: draft.text.trim() };
    draft.refused = await this.#change("add_policy_rule", rule);
    if (draft.refused === null) draft.text = "";
  }

  /** Removes a rule from the file. */
  async remove(rule: PolicyRule): Promise<void> {
    const error = await this.#change("remove_policy_rule", rule);
    if (error) toasts.fail(error);
  }

  /** Revokes a grant. */
  async takeBack({ folder, rule }: Grant): Promise<void> {
    try {
      this.grants = (await call("policy", "remove_grant", { folder, rule })).grants;
      await this.#again();
    } catch (error) {
      toasts.fail(error);
    }
  }

  /** Evaluates the typed command. */
  async tryCommand(): Promise<void> {
    const line = this.line.trim();
    const turn = ++this.#trying;
    this.notTried = null;
    try {
      const trial = await call("policy", "try_command", { line, folder: null });
      if (turn === this.#trying) this.trial = { line, found: trial };
    } catch (error) {
      if (turn !== this.#trying) return;
      this.trial = null;
      this.notTried = asApiError(error);
    }
  }

  /** Evaluates the tried command again after a change. */
  async #again(): Promise<void> {
    if (this.trial !== null && this.line.trim() === this.trial.line) await this.tryCommand();
  }

  async #change(type: "add_policy_rule" | "remove_policy_rule", rule: PolicyRule): Promise<ApiError | null> {
    if (this.busy) return null;
    this.busy = true;
    try {
      preferences.policy = await call("policy", type, { rule, stamp: preferences.policy?.stamp ?? "" });
      await this.#again();
      return null;
    } catch (error) {
      // Another writer changed it: refreshes the shown policy, so that the next attempt applies to the current
      // one.
      const now = await call("policy", "get_policy", {}).catch(() => null);
      if (now) preferences.policy = now;
      return asApiError(error);
    } finally {
      this.busy = false;
    }
  }
}
