// @vitest-environment jsdom
import { type Transport, useTransport } from "$lib/ipc";
import { FakeRules } from "$lib/ipc/fake-rules";
import type { ApiError, PolicyRequest, Request } from "$lib/ipc/types";
import { beforeEach, describe, expect, it } from "vitest";
import { preferences } from "./preferences.svelte";
import { RulesPage } from "./rules-page.svelte";
import { toasts } from "./toasts.svelte";

let calls: PolicyRequest[] = [];
let fake: FakeRules;
const transport: Transport = {
  request: (request: Request) => {
    if (request.domain !== "policy") return Promise.reject(new Error(request.domain));
    calls.push(request.call);
    const { call } = request;
    return Promise.resolve().then(() => fake.answer(call));
  },
  subscribe: () => Promise.resolve(() => undefined),
  onFileDrop: () => () => undefined,
  blobUrl: (hash) => hash,
};
const texts = (rulesPage: RulesPage) => rulesPage.rules("commands").map((rule) => `${rule.list} ${rule.text}`);

beforeEach(() => {
  history.replaceState(null, "", "/");
  fake = new FakeRules(() => undefined);
  useTransport(transport);
  calls = [];
  preferences.policy = null;
  toasts.list = [];
});

describe("the rules page", () => {
  it("shows each section's rules in the order of its lists, and the grants", async () => {
    const rulesPage = new RulesPage();
    expect(rulesPage.grants).toBeNull();
    await rulesPage.open();
    expect(texts(rulesPage)).toEqual(["allow just lint", "ask git commit", "deny docker"]);
    expect(rulesPage.rules("paths").map((rule) => rule.list)).toEqual(["secret", "deny_path"]);
    expect(rulesPage.grants).toHaveLength(3);
  });

  it("saves a rule with the shown version and clears the field", async () => {
    const rulesPage = new RulesPage();
    await rulesPage.open();
    const before = preferences.policy?.stamp;
    rulesPage.drafts.commands.text = "  git push ";
    await rulesPage.add("commands");
    expect(calls.at(-1)).toEqual({ type: "add_policy_rule", rule: { list: "deny", text: "git push" }, stamp: before });
    expect([rulesPage.drafts.commands.text, rulesPage.drafts.commands.refused]).toEqual(["", null]);
    expect(texts(rulesPage)).toContain("deny git push");
  });

  it("shows why a rule is refused and keeps the input", async () => {
    const rulesPage = new RulesPage();
    await rulesPage.open();
    rulesPage.drafts.commands.text = "ls; rm x";
    await rulesPage.add("commands");
    expect(rulesPage.drafts.commands.refused?.key).toBe("policy.rule.joined");
    expect(rulesPage.drafts.commands.text).toBe("ls; rm x");
    expect(texts(rulesPage)).toHaveLength(3);
  });

  it("shows the current file after a change elsewhere", async () => {
    const rulesPage = new RulesPage();
    await rulesPage.open();
    fake.answer({ type: "remove_policy_rule", rule: { list: "deny", text: "docker" }, stamp: "s0" });
    rulesPage.drafts.paths.text = "~/vault";
    await rulesPage.add("paths");
    expect(rulesPage.drafts.paths.refused?.key).toBe("policy.changed");
    expect(texts(rulesPage)).toEqual(["allow just lint", "ask git commit"]);
    await rulesPage.add("paths");
    expect(rulesPage.drafts.paths.refused).toBeNull();
  });

  it("revokes a grant and repeats the trial", async () => {
    const rulesPage = new RulesPage();
    await rulesPage.open();
    rulesPage.line = "docker ps";
    await rulesPage.tryCommand();
    expect(rulesPage.trial?.found.outcome.type).toBe("refused");
    const rule = rulesPage.rules("commands").find((rule) => rule.text === "docker");
    if (rule) await rulesPage.remove(rule);
    expect(rulesPage.trial?.found.outcome.type).toBe("asks");
    const first = rulesPage.grants?.[0];
    if (first) await rulesPage.takeBack(first);
    expect(rulesPage.grants).toHaveLength(2);
    expect(calls.filter((call) => call.type === "try_command")).toHaveLength(3);
  });

  it("saves nothing while the file is invalid", async () => {
    history.replaceState(null, "", "/?broken-rules");
    fake = new FakeRules(() => undefined);
    const rulesPage = new RulesPage();
    await rulesPage.open();
    expect(preferences.policy?.fault?.args).toMatchObject({ line: "3" } satisfies Partial<ApiError["args"]>);
    rulesPage.drafts.commands.text = "git push";
    await rulesPage.add("commands");
    expect(rulesPage.drafts.commands.refused?.key).toBe("policy.broken");
  });
});
