// @vitest-environment jsdom
import { type Transport, useTransport } from "$lib/ipc";
import { factsOf, fakePresets, fakeServers } from "$lib/ipc/fake-models";
import type { ModelDraft, ModelEntry, ModelRequest, PresetInfo, Request } from "$lib/ipc/types";
import { beforeEach, describe, expect, it } from "vitest";
import { speedTests, rate } from "./speed-test.svelte";
import { ModelEdit, protocolOf } from "./model-edit.svelte";
import { presets } from "./presets.svelte";

let calls: ModelRequest[] = [];
let answer: (call: ModelRequest) => unknown;
const transport: Transport = {
  request: (request: Request) => {
    if (request.domain !== "models") return Promise.resolve({ settings: {}, models: [], keychain: "available" });
    calls.push(request.call);
    const call = request.call;
    return Promise.resolve().then(() => answer(call));
  },
  subscribe: () => Promise.resolve(() => undefined),
  onFileDrop: () => () => undefined,
  blobUrl: (hash) => hash,
};

const preset = (id: string): PresetInfo => {
  const preset = presets.find(id);
  if (!preset) throw new Error(id);
  return preset;
};
const draft: ModelDraft = {
  id: null,
  protocol: "anthropic",
  base_url: "https://api.anthropic.com",
  model: "claude-sonnet-4-5",
  key: null,
};
const entry: ModelEntry = {
  id: "a".repeat(32),
  protocol: "anthropic",
  base_url: draft.base_url,
  model: draft.model,
  context_window: 200_000,
  max_output: 64_000,
  vision: true,
  key: { type: "stored", last4: "4f9A" },
  headers: [
    { name: "x-tenant", value: { type: "stored", last4: "wxyz" } },
    { name: "x-team", value: { type: "missing" } },
  ],
  facts: factsOf(draft),
  fallback: null,
};
const drafts = () => calls.flatMap((call) => ("draft" in call ? [call.draft] : []));

beforeEach(() => {
  useTransport(transport);
  calls = [];
  answer = (call) => {
    if (call.type === "list_presets") return fakePresets;
    if (call.type === "find_local_servers") return fakeServers;
    if (call.type === "test_model") return { type: "works", first_byte_ms: 1 };
    return {};
  };
});

describe("a new model", () => {
  it("starts with the first provider, and searches this computer only on request", async () => {
    const edit = new ModelEdit(null);
    await edit.begin();
    expect([edit.preset, edit.address, edit.model]).toEqual(["anthropic", draft.base_url, draft.model]);
    expect(edit.facts?.price?.input).toBe(3e9);
    expect([edit.local, calls.some((call) => call.type === "find_local_servers")]).toEqual([null, false]);
    await edit.findLocal();
    expect(edit.local).toEqual(fakeServers.servers);
  });

  it("changes the provider and drops the typed key", async () => {
    const edit = new ModelEdit(null);
    await edit.begin();
    edit.key = "sk-of-anthropic";
    edit.choose(preset("glm"));
    expect([edit.address, edit.model, edit.protocol, edit.key]).toEqual([
      "https://api.z.ai/api/paas/v4",
      "glm-5.3",
      "openai-chat",
      "",
    ]);
    await edit.test();
    expect(drafts()).toEqual([{ ...draft, protocol: "openai-chat", base_url: edit.address, model: "glm-5.3" }]);
  });

  it("takes a local server with one click", async () => {
    const edit = new ModelEdit(null);
    await edit.begin();
    const [server] = fakeServers.servers;
    if (server) edit.take(server);
    expect([edit.preset, edit.address, edit.model]).toEqual(["ollama", "http://127.0.0.1:11434/v1", "qwen3:8b"]);
    expect(edit.complete).toBe(true);
  });

  it("uses a router's protocol for the named model", async () => {
    const edit = new ModelEdit(null);
    await edit.begin();
    edit.choose(preset("openrouter"));
    edit.call("openai/gpt-5.5");
    expect(edit.protocol).toBe("openai-responses");
    edit.call("Anthropic/claude-sonnet-4.6");
    expect(edit.protocol).toBe("anthropic");
    const nested = { ...preset("openrouter"), spoken: { "a/": "bedrock", "a/b": "anthropic" } } as const;
    expect([protocolOf(nested, "a/bc"), protocolOf(nested, "a/c")]).toEqual(["anthropic", "bedrock"]);
  });

  it("keeps the protocol chosen for a custom server", async () => {
    const edit = new ModelEdit(null);
    await edit.begin();
    edit.choose(preset("custom"));
    expect([edit.address, edit.model, edit.complete]).toEqual(["", "", false]);
    edit.speak("openai-chat");
    edit.address = "https://host.example/v1/";
    edit.call("mystery");
    expect([edit.protocol, edit.facts, edit.complete]).toEqual(["openai-chat", null, true]);
    await edit.test();
    expect(drafts()[0]?.base_url).toBe("https://host.example/v1");
  });

  it("lists the provider's models, and reports a failure", async () => {
    const edit = new ModelEdit(null);
    await edit.begin();
    answer = () => ({ models: ["one", "two"] });
    await edit.ask();
    expect([edit.names, edit.busy]).toEqual([["one", "two"], null]);
    answer = () => Promise.reject({ key: "provider.auth", args: {}, retryable: false });
    await edit.ask();
    expect(edit.check).toMatchObject({ type: "fails", error: { key: "provider.auth" } });
    expect([edit.names, edit.busy]).toEqual([["one", "two"], null]);
  });
});

describe("a reply after the draft changed", () => {
  /** Holds back an answer until it is released. */
  function deferred(): (settle: "taken" | "refused", value: unknown) => void {
    let take: (value: unknown) => void = () => undefined;
    let refuse: (error: unknown) => void = () => undefined;
    answer = () => new Promise((resolve, reject) => ([take, refuse] = [resolve, reject]));
    return (outcome, value) => (outcome === "taken" ? take(value) : refuse(value));
  }
  const refused = { key: "provider.auth", args: {}, retryable: false };

  it.each([
    ["another provider", (edit: ModelEdit) => edit.choose(preset("glm"))],
    ["another address", (edit: ModelEdit) => (edit.address = "https://elsewhere.example")],
    ["another key", (edit: ModelEdit) => (edit.key = "sk-2")],
  ])("is none: %s", async (_, change) => {
    for (const outcome of ["taken", "refused"] as const) {
      const edit = new ModelEdit(null);
      await edit.begin();
      const names = deferred();
      const asking = edit.ask();
      await Promise.resolve();
      await Promise.resolve();
      change(edit);
      names(outcome, outcome === "taken" ? { models: ["of the other"] } : refused);
      await asking;
      expect([edit.names, edit.check, edit.busy]).toEqual([null, null, null]);
      const check = deferred();
      const testing = edit.test();
      await Promise.resolve();
      await Promise.resolve();
      edit.call("another");
      check(outcome, outcome === "taken" ? { type: "works", first_byte_ms: 1 } : refused);
      await testing;
      expect([edit.check, edit.busy]).toEqual([null, null]);
      answer = (call) => (call.type === "list_presets" ? fakePresets : {});
    }
  });

  it("still applies if it does not depend on the change", async () => {
    const edit = new ModelEdit(null);
    await edit.begin();
    const names = deferred();
    const asking = edit.ask();
    await Promise.resolve();
    await Promise.resolve();
    edit.call("half a na");
    names("taken", { models: ["one"] });
    await asking;
    expect(edit.names).toEqual(["one"]);
  });
});

describe("a saved model", () => {
  it("is shown unchanged and not modified by opening it", async () => {
    const edit = new ModelEdit(entry);
    await edit.begin();
    expect([edit.preset, edit.changed, edit.facts]).toEqual(["anthropic", false, entry.facts]);
    expect(calls.some((call) => call.type === "find_local_servers")).toBe(false);
    edit.address = "https://elsewhere.example";
    expect(edit.changed).toBe(true);
  });
});

describe("headers", () => {
  const test = async (edit: ModelEdit) => {
    await edit.test();
    return drafts().at(-1)?.headers;
  };

  const headerAt = (edit: ModelEdit, index: number) => {
    const header = edit.headers[index];
    if (!header) throw new Error(`no header at ${index}`);
    return header;
  };

  it("are sent only once one is changed", async () => {
    const edit = new ModelEdit(entry);
    expect([edit.changed, await test(edit)]).toEqual([false, undefined]);
    expect(edit.headers.map((header) => [header.name, edit.keeps(header)])).toEqual([
      ["x-tenant", true],
      ["x-team", false],
    ]);
    // An added but empty row counts as no row.
    edit.addHeader();
    expect([edit.changed, await test(edit)]).toEqual([false, undefined]);
  });

  it("are sent with typed values, keeping the others by name", async () => {
    const edit = new ModelEdit(entry);
    edit.addHeader();
    const added = headerAt(edit, 2);
    added.name = " X-New ";
    added.value = " three ";
    expect(edit.changed).toBe(true);
    expect(await test(edit)).toEqual([
      { name: "x-tenant", value: null },
      { name: "x-team", value: null },
      { name: "X-New", value: "three" },
    ]);
    headerAt(edit, 0).name = "x-other";
    expect(edit.keeps(headerAt(edit, 0))).toBe(false);
    for (const { key } of [...edit.headers]) edit.removeHeader(key);
    expect(await test(edit)).toEqual([]);
  });

  it("typed for one provider are not sent to another", async () => {
    const edit = new ModelEdit(entry);
    headerAt(edit, 0).value = "secret";
    edit.addHeader();
    edit.choose(preset("glm"));
    expect(edit.headers.map(({ name, value }) => [name, value])).toEqual([
      ["x-tenant", ""],
      ["x-team", ""],
    ]);
  });
});

describe("the speed test", () => {
  const speed = { first_byte_ms: 500, total_ms: 2_500, output_tokens: 100 };

  it("continues after a failure", async () => {
    const reply = (call: ModelRequest) =>
      call.type === "measure_model" && call.model === "two"
        ? Promise.reject({ key: "provider.auth", args: {}, retryable: false })
        : speed;
    answer = reply;
    await speedTests.all(["one", "two", "three"]);
    expect([...speedTests.results].map(([model, result]) => [model, result.type])).toEqual([
      ["one", "speed"],
      ["two", "failed"],
      ["three", "speed"],
    ]);
    expect(speedTests.now).toBeNull();
  });

  it("can be stopped without a result for the current model", async () => {
    speedTests.results.clear();
    let end: (error: unknown) => void = () => undefined;
    answer = (call) => {
      if (call.type === "measure_model") return new Promise((_, reject) => (end = reject));
      end({ key: "model.measure_stopped", args: {}, retryable: false });
      return {};
    };
    const all = speedTests.all(["one", "two"]);
    await Promise.resolve();
    await Promise.resolve();
    await speedTests.stop();
    await all;
    expect([speedTests.now, speedTests.results.size]).toEqual([null, 0]);
    expect(calls.map((call) => call.type)).toEqual(["measure_model", "stop_measuring"]);
  });

  it("shows the rate only if the provider counted tokens", () => {
    expect(rate(speed)).toBe(50);
    expect(rate({ ...speed, output_tokens: null })).toBeNull();
    expect(rate({ ...speed, total_ms: 500 })).toBeNull();
  });
});
