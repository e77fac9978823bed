/** Providers and models for the replay: a few of each kind, and changes to the saved models. */
import { failure, newId } from "./fake-parts";
import type { FakeSettings } from "./fake-settings";
import type {
  CompanionRole,
  LocalServers,
  ModelDraft,
  ModelEntry,
  ModelFacts,
  ModelRequest,
  PresetInfo,
  PresetList,
  SavedHeader,
} from "./types";

const unknown: ModelFacts = {
  preset: null,
  known: false,
  context_window: 128_000,
  max_output: 8_192,
  vision: true,
  documents: false,
  tools: true,
  efforts: [],
  price: null,
  caching: "unknown",
};

function facts(preset: string, window: number, dollars: readonly [number, number, number], overrides = {}): ModelFacts {
  const [input, cache_read, output] = dollars.map((price) => price * 1e9);
  const price = {
    input: input ?? null,
    output: output ?? null,
    cache_read: cache_read ?? null,
    cache_write: null,
    more_above: null,
    date: "2026-11-22",
  };
  return {
    ...unknown,
    preset,
    known: true,
    context_window: window,
    max_output: 64_000,
    efforts: ["off", "low", "medium", "high"],
    price,
    caching: "marked_long",
    ...overrides,
  };
}

const anthropic: PresetInfo = {
  id: "anthropic",
  name: "Anthropic (Claude)",
  name_zh: "Anthropic (Claude)",
  addresses: [{ url: "https://api.anthropic.com", label: null }],
  protocol: "anthropic",
  spoken: {},
  key_page: "https://platform.claude.com/settings/keys",
  local: false,
  models: [
    {
      name: "claude-sonnet-4-5",
      protocol: "anthropic",
      light: "claude-haiku-4-5",
      fallback: "claude-haiku-4-5",
      facts: facts("anthropic", 200_000, [3, 0.3, 15]),
    },
    {
      name: "claude-haiku-4-5",
      protocol: "anthropic",
      light: null,
      fallback: null,
      facts: facts("anthropic", 200_000, [1, 0.1, 5]),
    },
  ],
  default_model: "claude-sonnet-4-5",
};

const glm: PresetInfo = {
  ...anthropic,
  id: "glm",
  name: "GLM (Z.ai)",
  name_zh: "GLM（智谱）",
  addresses: [
    { url: "https://api.z.ai/api/paas/v4", label: "global" },
    { url: "https://open.bigmodel.cn/api/paas/v4", label: "china" },
  ],
  protocol: "openai-chat",
  key_page: "https://z.ai/manage-apikey/apikey-list",
  models: [
    {
      name: "glm-5.3",
      protocol: "openai-chat",
      light: null,
      fallback: null,
      facts: facts("glm", 1_000_000, [1.4, 0.26, 4.4], { vision: false, caching: "automatic" }),
    },
  ],
  default_model: "glm-5.3",
};

const router: PresetInfo = {
  ...anthropic,
  id: "openrouter",
  name: "OpenRouter",
  name_zh: "OpenRouter",
  addresses: [{ url: "https://openrouter.ai/api/v1", label: null }],
  protocol: "openai-responses",
  spoken: { "anthropic/": "anthropic" },
  key_page: "https://openrouter.ai/settings/keys",
  models: [],
  default_model: null,
};

const ollama: PresetInfo = {
  ...router,
  id: "ollama",
  name: "Ollama",
  name_zh: "Ollama",
  addresses: [{ url: "http://127.0.0.1:11434/v1", label: null }],
  protocol: "openai-chat",
  spoken: {},
  key_page: null,
  local: true,
};

const custom: PresetInfo = {
  ...ollama,
  id: "custom",
  name: "Another server",
  name_zh: "其他服务器",
  addresses: [],
  protocol: "anthropic",
  local: false,
};

export const fakePresets: PresetList = {
  presets: [anthropic, router, glm, ollama, custom],
  date: "2026-11-22",
  warnings: [],
};

export const fakeServers: LocalServers = {
  servers: [
    {
      preset: "ollama",
      base_url: "http://127.0.0.1:11434/v1",
      protocol: "openai-chat",
      models: ["qwen3:8b", "gpt-oss:20b"],
    },
  ],
};

/** Returns the known facts about a draft's model. */
export function factsOf({ base_url, model }: ModelDraft): ModelFacts {
  const preset = fakePresets.presets.find(({ addresses }) => addresses.some(({ url }) => url === base_url));
  const listed = preset?.models.find(({ name }) => name === model);
  return listed?.facts ?? { ...unknown, preset: preset?.id ?? null };
}

/** Returns the saved headers of a draft. */
function headersOf(drafts: ModelDraft["headers"], before: ModelEntry | undefined): SavedHeader[] {
  if (!drafts) return before?.headers ?? [];
  return drafts.map(({ name, value }) => {
    const saved = before?.headers.find((header) => header.name === name.toLowerCase())?.value;
    const storedValue = value === null ? (saved ?? ({ type: "missing" } as const)) : null;
    return { name: name.toLowerCase(), value: storedValue ?? { type: "stored", last4: (value ?? "").slice(-4) } };
  });
}

/** Answers requests about models; all but the list of providers take as long as on a network. */
export async function modelReply(call: ModelRequest, settings: FakeSettings): Promise<unknown> {
  await new Promise((resolve) => setTimeout(resolve, call.type === "list_presets" ? 0 : 500));
  const { models } = settings;
  const change = (id: string, next: Partial<ModelEntry>): void =>
    settings.set({ models: models.map((model) => (model.id === id ? { ...model, ...next } : model)) });
  switch (call.type) {
    case "list_presets":
      return fakePresets;
    case "find_local_servers":
      return fakeServers;
    case "list_remote_models":
      return { models: ["model-a", "model-b", "model-c"] };
    case "measure_model":
      return { first_byte_ms: 640, total_ms: 3_340, output_tokens: 200 };
    case "stop_measuring":
      return {};
    case "choose_light_model":
      return (settings.change({ light_model: call.model }), {});
    case "add_companion":
      return companion(call.model, call.role, settings);
    case "choose_fallback":
      return (change(call.model, { fallback: call.fallback }), {});
    case "test_model":
      if (call.draft.key === "wrong") return { type: "fails", error: failure("provider.auth") };
      return { type: "works", first_byte_ms: 812 };
    case "remove_model":
      return (settings.set({ models: models.filter((model) => model.id !== call.model) }), {});
    case "save_model": {
      const before = models.find((model) => model.id === call.draft.id);
      const entry = entryOf(call.draft, before);
      if (before) change(entry.id, entry);
      else settings.set({ models: [...models, entry] });
      return entry;
    }
    default:
      return call satisfies never;
  }
}

/** Returns the saved entry of a draft. */
function entryOf(draft: ModelDraft, before: ModelEntry | undefined): ModelEntry {
  const facts = factsOf(draft);
  return {
    id: before?.id ?? newId(),
    protocol: draft.protocol,
    base_url: draft.base_url,
    model: draft.model,
    context_window: facts.context_window,
    max_output: facts.max_output,
    vision: facts.vision,
    key: draft.key === null ? (before?.key ?? { type: "missing" }) : { type: "stored", last4: draft.key.slice(-4) },
    headers: headersOf(draft.headers, before),
    facts,
    fallback: before?.fallback ?? null,
  };
}

function companion(id: string, role: CompanionRole, settings: FakeSettings): ModelEntry {
  const { models } = settings;
  const base = models.find((model) => model.id === id);
  const preset = fakePresets.presets.find((preset) => preset.id === base?.facts.preset);
  const name = preset?.models.find((model) => model.name === base?.model)?.[role] ?? null;
  if (!base || name === null) throw failure("model.no_companion");
  const existing = models.find((model) => model.model === name && model.base_url === base.base_url);
  const facts = preset?.models.find((model) => model.name === name)?.facts ?? base.facts;
  const entry = existing ?? { ...base, id: newId(), model: name, facts, fallback: null };
  const others = existing ? models : [...models, entry];
  settings.set({
    settings: role === "light" ? { ...settings.settings, light_model: entry.id } : settings.settings,
    models:
      role === "light" ? others : others.map((model) => (model.id === id ? { ...model, fallback: entry.id } : model)),
  });
  return entry;
}
