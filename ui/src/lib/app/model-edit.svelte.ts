/** A model while the person fills it in: tested without being saved, saved without being tested. */
import { asApiError, call } from "$lib/ipc";
import type {
  ApiError,
  KeyState,
  LocalServer,
  ModelCheck,
  ModelDraft,
  ModelEntry,
  ModelFacts,
  PresetInfo,
  Protocol,
} from "$lib/ipc/types";
import { preferences } from "./preferences.svelte";
import { CUSTOM, presets } from "./presets.svelte";

/** The provider a new model is offered from. */
const FIRST = "anthropic";

/** A header while the person fills it in. */
export interface HeaderEdit {
  /** Tells it from the others, whatever its name becomes. */
  readonly key: number;
  name: string;
  /** What was typed; empty keeps the saved value. */
  value: string;
  /** Where its saved value is; null for a new one. */
  readonly saved: KeyState | null;
}

export class ModelEdit {
  preset = $state(CUSTOM);
  protocol = $state<Protocol>("anthropic");
  address = $state("");
  model = $state("");
  key = $state("");
  /** Headers beside Octo's own. */
  headers = $state<HeaderEdit[]>([]);
  #added = 0;
  /** What the last test or save said. */
  check = $state.raw<ModelCheck | null>(null);
  /** Whether that was a test of the model. */
  tested = $state(false);
  busy = $state<"test" | "save" | "names" | null>(null);
  /** The models the provider said it has; null before it was asked. */
  names = $state.raw<readonly string[] | null>(null);
  /** The model servers of this machine; null before they were looked for. */
  local = $state.raw<readonly LocalServer[] | null>(null);
  looking = $state(false);
  readonly entry: ModelEntry | null;

  constructor(entry: ModelEntry | null) {
    this.entry = entry;
    if (entry) {
      this.preset = entry.facts.preset ?? CUSTOM;
      this.protocol = entry.protocol;
      this.address = entry.base_url;
      this.model = entry.model;
      this.headers = entry.headers.map(({ name, value }) => this.#header(name, value));
    }
  }

  #header(name: string, saved: KeyState | null): HeaderEdit {
    return { key: this.#added++, name, value: "", saved };
  }

  addHeader(): void {
    this.headers.push(this.#header("", null));
    this.check = null;
  }

  removeHeader(key: number): void {
    this.headers = this.headers.filter((header) => header.key !== key);
    this.check = null;
  }

  /** Whether a header keeps the value that was saved: its name is the same, and nothing was typed. */
  keeps(header: HeaderEdit): boolean {
    const known = this.entry?.headers.find(({ name }) => name === header.name.trim().toLowerCase());
    return header.value === "" && known !== undefined && known.value.type !== "missing";
  }

  get #changedHeaders(): boolean {
    const saved = this.entry?.headers ?? [];
    const named = this.headers.filter(({ name, value }) => name.trim() !== "" || value !== "");
    return (
      named.length !== saved.length ||
      named.some(({ name, value }, at) => value !== "" || name.trim().toLowerCase() !== saved[at]?.name)
    );
  }

  /** Reads the providers, and for a new model takes the first one. Servers are only looked for where that is asked. */
  async begin(): Promise<void> {
    try {
      await presets.read();
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (this.entry) return;
    const first = presets.find(FIRST);
    if (first && this.address === "") this.choose(first);
  }

  /** Takes a provider: its usual address and its first model. */
  choose(preset: PresetInfo): void {
    this.preset = preset.id;
    this.address = preset.addresses[0]?.url ?? "";
    this.protocol = preset.protocol;
    this.names = null;
    // What was typed for one provider is not for another.
    this.key = "";
    this.headers = this.headers.filter(({ saved }) => saved !== null).map((header) => ({ ...header, value: "" }));
    this.call(preset.default_model ?? "");
  }

  /** Takes a server of this machine as it was found. */
  take(server: LocalServer): void {
    this.preset = server.preset;
    this.address = server.base_url;
    this.protocol = server.protocol;
    this.names = server.models;
    this.key = "";
    this.call(server.models[0] ?? "");
  }

  /** Names the model; a provider may speak another protocol for it. */
  call(model: string): void {
    this.model = model;
    this.check = null;
    const preset = presets.find(this.preset);
    if (preset && preset.id !== CUSTOM) this.protocol = protocolOf(preset, model);
  }

  speak(protocol: Protocol): void {
    this.protocol = protocol;
    this.check = null;
  }

  /** What is known of the model as it is named now; null when it is not in the provider's list. */
  get facts(): ModelFacts | null {
    const name = this.model.trim();
    const listed = presets.find(this.preset)?.models.find((model) => model.name === name);
    if (listed) return listed.facts;
    return this.entry && !this.changedPlace && name === this.entry.model ? this.entry.facts : null;
  }

  get validAddress(): boolean {
    return URL.canParse(this.address.trim()) && /^https?:/i.test(this.address.trim());
  }

  get complete(): boolean {
    return this.validAddress && this.model.trim() !== "";
  }

  private get changedPlace(): boolean {
    return this.protocol !== this.entry?.protocol || this.address.trim() !== this.entry.base_url;
  }

  get changed(): boolean {
    const { entry } = this;
    return !entry || this.key !== "" || this.changedPlace || this.model.trim() !== entry.model || this.#changedHeaders;
  }

  #draft(): ModelDraft {
    return {
      id: this.entry?.id ?? null,
      protocol: this.protocol,
      base_url: this.address.trim().replace(/\/+$/, ""),
      model: this.model.trim(),
      key: this.key.trim() === "" ? null : this.key.trim(),
      ...(this.#changedHeaders
        ? {
            headers: this.headers
              .filter(({ name, value }) => name.trim() !== "" || value !== "")
              .map(({ name, value }) => ({ name: name.trim(), value: value.trim() === "" ? null : value.trim() })),
          }
        : {}),
    };
  }

  /** The draft as it is now, and whether an answer about a part of it still is one: the person may change it meanwhile. */
  #asking(part: (draft: ModelDraft) => unknown): readonly [draft: ModelDraft, still: () => boolean] {
    const now = (): string => JSON.stringify([this.preset, part(this.#draft())]);
    const asked = now();
    return [this.#draft(), () => now() === asked];
  }

  /** Looks for model servers on this machine. */
  async look(): Promise<void> {
    this.looking = true;
    try {
      this.local = (await call("models", "find_local_servers", {})).servers;
    } catch (error) {
      this.#fail(error);
    }
    this.looking = false;
  }

  /** Asks the provider which models it has. */
  async ask(): Promise<void> {
    this.busy = "names";
    this.check = null;
    // Which model is named meanwhile is nothing to whoever is asked for all of them.
    const [draft, still] = this.#asking(({ model: _, ...place }) => place);
    try {
      const { models } = await call("models", "list_remote_models", { draft });
      if (still()) this.names = models;
    } catch (error) {
      if (still()) this.#fail(error);
    }
    this.busy = null;
  }

  /** Asks the model for one word; nothing is saved. */
  async test(): Promise<void> {
    this.busy = "test";
    this.check = null;
    const [draft, still] = this.#asking((whole) => whole);
    try {
      const check = await call("models", "test_model", { draft });
      if (still()) {
        this.check = check;
        this.tested = true;
      }
    } catch (error) {
      if (still()) {
        this.#fail(error);
        this.tested = true;
      }
    }
    this.busy = null;
  }

  /** Saves; the entry, or null when that failed. */
  async save(): Promise<ModelEntry | null> {
    this.busy = "save";
    try {
      const entry = await call("models", "save_model", { draft: this.#draft() });
      this.key = "";
      this.headers = entry.headers.map(({ name, value }) => this.#header(name, value));
      await preferences.refresh();
      return entry;
    } catch (error) {
      this.#fail(error);
      return null;
    } finally {
      this.busy = null;
    }
  }

  #fail(error: unknown): void {
    const failed: ApiError = asApiError(error);
    this.check = { type: "fails", error: failed };
    this.tested = false;
  }
}

/** How a provider is spoken to about a model: by the longest beginning of its name that has a protocol. */
export function protocolOf(preset: PresetInfo, model: string): Protocol {
  const name = model.trim().toLowerCase();
  const begins = Object.keys(preset.spoken).filter((begin) => name.startsWith(begin));
  const longest = begins.sort((a, b) => b.length - a.length)[0];
  return (longest === undefined ? undefined : preset.spoken[longest]) ?? preset.protocol;
}
