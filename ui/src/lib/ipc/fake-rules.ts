/** The person's own rules in a replay: enough to use their page by hand. */
import type { ApiError, CommandTrial, Grant, PolicyRequest, PolicyRule, PolicyState } from "./types";

const PATH = "/home/mei/.octo/policy.toml";

const FAULT: ApiError = {
  key: "policy.pattern",
  args: { path: PATH, line: "3", pattern: "just lint; rm -rf build" },
  retryable: false,
};

const failure = (key: string): ApiError => ({ key, args: { path: PATH }, retryable: false });

export class FakeRules {
  #rules: PolicyRule[] = [
    { list: "allow", text: "just lint" },
    { list: "ask", text: "git commit" },
    { list: "deny", text: "docker" },
    { list: "secret", text: "*.token" },
    { list: "deny_path", text: "~/private" },
  ];
  #grants: Grant[] = [
    { folder: "/home/mei/code/harbor", rule: { type: "command", words: ["cargo", "test"] } },
    { folder: "/home/mei/code/harbor", rule: { type: "read", path: "/home/mei/notes" } },
    { folder: "/home/mei/code/site", rule: { type: "host", host: "localhost:5173" } },
  ];
  readonly #broken = new URLSearchParams(location.search).has("broken-rules");
  readonly #changed: (state: PolicyState) => void;
  #written = 0;

  constructor(changed: (state: PolicyState) => void) {
    this.#changed = changed;
  }

  get state(): PolicyState {
    const rules = this.#broken ? [] : [...this.#rules];
    return { path: PATH, stamp: `s${this.#written}`, rules, fault: this.#broken ? FAULT : null };
  }

  #set(rules: PolicyRule[], stamp: string): PolicyState {
    if (this.#broken) throw failure("policy.broken");
    if (stamp !== this.state.stamp) throw failure("policy.changed");
    this.#rules = rules;
    this.#written += 1;
    this.#changed(this.state);
    return this.state;
  }

  answer(call: PolicyRequest): unknown {
    switch (call.type) {
      case "get_policy":
        return this.state;
      case "add_policy_rule":
        if (/[;&|\n]/.test(call.rule.text)) throw failure("policy.rule.joined");
        if (/[$`]/.test(call.rule.text)) throw failure("policy.rule.expanded");
        return this.#set([...this.#rules, call.rule], call.stamp);
      case "remove_policy_rule": {
        const { list, text } = call.rule;
        const rules = this.#rules.filter((rule) => rule.list !== list || rule.text !== text);
        return this.#set(rules, call.stamp);
      }
      case "list_grants":
        return { grants: this.#grants };
      case "remove_grant":
        this.#grants = this.#grants.filter((grant) => JSON.stringify(grant.rule) !== JSON.stringify(call.rule));
        return { grants: this.#grants };
      case "try_command":
        return this.#try(call.line);
      default:
        return call satisfies never;
    }
  }

  #try(line: string): CommandTrial {
    const folder = "/home/mei/code/harbor";
    const trial = (outcome: CommandTrial["outcome"], rewritten: string | null = null): CommandTrial => ({
      folder,
      outcome,
      rewritten,
    });
    const denied = this.#rules.find((rule) => rule.list === "deny" && line.includes(rule.text));
    if (denied) return trial({ type: "refused", refusal: "ruled", part: denied.text });
    if (line.startsWith("rm ")) return trial({ type: "runs", because: "stays_inside" }, `octo-${line}`);
    if (line.startsWith("ls")) return trial({ type: "runs", because: "only_reads" });
    return trial({ type: "asks", reason: { type: "command", part: null } });
  }
}
