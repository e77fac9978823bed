/** A model form: it can be tested without saving and saved without testing. */
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

/** The provider preselected for a new model. */
const FIRST = "anthropic";

/** A header being edited. */
export interface HeaderEdit {
  /** Identifies the row independently of its name. */
  readonly key: number;
  name: string;
  /** The typed value; empty keeps the saved one. */
  value: string;
  /** Where the saved value is stored; null for a new header. */
  readonly saved: KeyState | null;
}

export class ModelEdit {
  preset = $state(CUSTOM);
  protocol = $state<Protocol>("anthropic");
  address = $state("");
  model = $state("");
  key = $state("");
  /** Headers in addition to Octo's own. */
  headers = $state<HeaderEdit[]>([]);
  #added = 0;
  /** The result of the last test or save. */
  check = $state.raw<ModelCheck | null>(null);
  /** Whether that result is of a test. */
  tested = $state(false);
  busy = $state<"test" | "save" | "names" | null>(null);
  /** The models listed by the provider; null until requested. */
  names = $state.raw<readonly string[] | null>(null);
  /** The model servers of this machine; null until detected. */
  local = $state.raw<readonly LocalServer[] | null>(null);
  findingLocal = $state(false);
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

  /** Returns whether a header keeps its saved value: same name and nothing typed. */
  keeps(header: HeaderEdit): boolean {
    const saved = this.entry?.headers.find(({ name }) => name === header.name.trim().toLowerCase());
    return header.value === "" && saved !== undefined && saved.value.type !== "missing";
  }

  get #changedHeaders(): boolean {
    const saved = this.entry?.headers ?? [];
    const namedHeaders = this.headers.filter(({ name, value }) => name.trim() !== "" || value !== "");
    return (
      namedHeaders.length !== saved.length ||
      namedHeaders.some(({ name, value }, index) => value !== "" || name.trim().toLowerCase() !== saved[index]?.name)
    );
  }

  /** Loads the providers and preselects one for a new model. Servers are only detected on request. */
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

  /** Selects a provider with its default address and first model. */
  choose(preset: PresetInfo): void {
    this.preset = preset.id;
    this.address = preset.addresses[0]?.url ?? "";
    this.protocol = preset.protocol;
    this.names = null;
    // A key typed for one provider must not reach another.
    this.key = "";
    this.headers = this.headers.filter(({ saved }) => saved !== null).map((header) => ({ ...header, value: "" }));
    this.call(preset.default_model ?? "");
  }

  /** Selects a detected local server. */
  take(server: LocalServer): void {
    this.preset = server.preset;
    this.address = server.base_url;
    this.protocol = server.protocol;
    this.names = server.models;
    this.key = "";
    this.call(server.models[0] ?? "");
  }

  /** Sets the model; a provider may use another protocol for it. */
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

  /** The known facts about the named model; null if the provider does not list it. */
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

  /**
   * Returns the current draft, and a check whether an answer about a part of it is still valid: the person may edit it
   * in the meantime.
   */
  #asking(part: (draft: ModelDraft) => unknown): readonly [draft: ModelDraft, still: () => boolean] {
    const now = (): string => JSON.stringify([this.preset, part(this.#draft())]);
    const requested = now();
    return [this.#draft(), () => now() === requested];
  }

  /** Detects model servers on this machine. */
  async findLocal(): Promise<void> {
    this.findingLocal = true;
    try {
      this.local = (await call("models", "find_local_servers", {})).servers;
    } catch (error) {
      this.#fail(error);
    }
    this.findingLocal = false;
  }

  /** Requests the provider's list of models. */
  async ask(): Promise<void> {
    this.busy = "names";
    this.check = null;
    // Changing the model name does not invalidate a request for the list of models.
    const [draft, isCurrent] = this.#asking(({ model: _, ...address }) => address);
    try {
      const { models } = await call("models", "list_remote_models", { draft });
      if (isCurrent()) this.names = models;
    } catch (error) {
      if (isCurrent()) this.#fail(error);
    }
    this.busy = null;
  }

  /** Asks the model for one word; saves nothing. */
  async test(): Promise<void> {
    this.busy = "test";
    this.check = null;
    const [draft, isCurrent] = this.#asking((draft) => draft);
    try {
      const check = await call("models", "test_model", { draft });
      if (isCurrent()) {
        this.check = check;
        this.tested = true;
      }
    } catch (error) {
      if (isCurrent()) {
        this.#fail(error);
        this.tested = true;
      }
    }
    this.busy = null;
  }

  /** Saves the model; returns the entry, or null on failure. */
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

/** Returns a provider's protocol for a model: that of the longest matching name prefix. */
export function protocolOf(preset: PresetInfo, model: string): Protocol {
  const name = model.trim().toLowerCase();
  const matchingPrefixes = Object.keys(preset.spoken).filter((begin) => name.startsWith(begin));
  const longest = matchingPrefixes.sort((a, b) => b.length - a.length)[0];
  return (longest === undefined ? undefined : preset.spoken[longest]) ?? preset.protocol;
}
