/** A model while the person fills it in: tested without being saved, saved without being tested. */
import { asApiError, call } from "$lib/ipc";
import type { ApiError, ModelCheck, ModelDraft, ModelEntry, Protocol } from "$lib/ipc/types";
import { preferences } from "./preferences.svelte";

/** Where each protocol's own vendor is, offered until the person writes another address. */
const ADDRESSES: Record<Protocol, string> = {
  anthropic: "https://api.anthropic.com",
  "openai-chat": "https://api.openai.com/v1",
};

export class ModelEdit {
  protocol = $state<Protocol>("anthropic");
  address = $state(ADDRESSES.anthropic);
  model = $state("");
  key = $state("");
  /** What the last test or save said. */
  check = $state.raw<ModelCheck | null>(null);
  busy = $state<"test" | "save" | null>(null);
  readonly entry: ModelEntry | null;

  constructor(entry: ModelEntry | null) {
    this.entry = entry;
    if (!entry) return;
    this.protocol = entry.protocol;
    this.address = entry.base_url;
    this.model = entry.model;
  }

  /** Changes the protocol, and the address with it while that is still the other vendor's own. */
  speak(protocol: Protocol): void {
    if (this.address.trim() === "" || this.address === ADDRESSES[this.protocol]) this.address = ADDRESSES[protocol];
    this.protocol = protocol;
    this.check = null;
  }

  get validAddress(): boolean {
    return URL.canParse(this.address.trim()) && /^https?:/i.test(this.address.trim());
  }

  get complete(): boolean {
    return this.validAddress && this.model.trim() !== "";
  }

  get changed(): boolean {
    const { entry } = this;
    if (!entry) return true;
    return (
      this.key !== "" ||
      this.protocol !== entry.protocol ||
      this.address.trim() !== entry.base_url ||
      this.model.trim() !== entry.model
    );
  }

  #draft(): ModelDraft {
    return {
      id: this.entry?.id ?? null,
      protocol: this.protocol,
      base_url: this.address.trim().replace(/\/+$/, ""),
      model: this.model.trim(),
      key: this.key.trim() === "" ? null : this.key.trim(),
    };
  }

  /** Asks the model for one word; nothing is saved. */
  async test(): Promise<void> {
    this.busy = "test";
    this.check = null;
    try {
      this.check = await call("models", "test_model", { draft: this.#draft() });
    } catch (error) {
      this.#fail(asApiError(error));
    }
    this.busy = null;
  }

  /** Saves; the entry, or null when that failed. */
  async save(): Promise<ModelEntry | null> {
    this.busy = "save";
    try {
      const entry = await call("models", "save_model", { draft: this.#draft() });
      this.key = "";
      await preferences.refresh();
      return entry;
    } catch (error) {
      this.#fail(asApiError(error));
      return null;
    } finally {
      this.busy = null;
    }
  }

  #fail(error: ApiError): void {
    this.check = { type: "fails", error };
  }
}
