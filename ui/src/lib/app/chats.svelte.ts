/** The Telegram setup: a form, its test, and the allowed people. A token stays here until saved. */
import { asApiError, call } from "$lib/ipc";
import type { ApiError, ChatAccount, Mode, PairedPerson, Switch, TelegramDraft } from "$lib/ipc/types";
import { preferences } from "./preferences.svelte";
import { toasts } from "./toasts.svelte";

/** The result of a test and the draft it applies to. */
interface Check {
  readonly of: string;
  readonly bot: ChatAccount | null;
  readonly failure: ApiError | null;
}

export class TelegramForm {
  open = $state(false);
  token = $state("");
  server = $state("");
  folder = $state("");
  mode = $state<Mode>("ask_risky");
  busy = $state(false);
  problem = $state.raw<ApiError | null>(null);
  #check = $state.raw<Check | null>(null);
  readonly #draft = $derived<TelegramDraft>({
    token: this.token.trim() === "" ? null : this.token.trim(),
    server: this.server.trim() === "" ? null : this.server.trim(),
    folder: this.folder.trim(),
    mode: this.mode,
  });
  /** The fields a test depends on; the folder and the mode do not affect it. */
  readonly #tested = $derived(JSON.stringify([this.#draft.token, this.#draft.server]));
  /** The test result for the draft on screen. */
  readonly check = $derived(this.#check?.of === this.#tested ? this.#check : null);
  readonly saved = $derived(preferences.settings?.chats.telegram ?? null);
  readonly complete = $derived(
    this.folder.trim() !== "" &&
      (this.token.trim() !== "" || (this.saved !== null && this.saved.token.type !== "missing")),
  );

  /** Shows the form with the saved values, or with the defaults. */
  edit(): void {
    const { saved: saved } = this;
    this.token = "";
    this.server = saved?.server ?? "";
    this.folder = saved?.folder ?? preferences.settings?.recent_folders[0] ?? preferences.userHome;
    this.mode = saved?.mode ?? "ask_risky";
    this.problem = null;
    this.#check = null;
    this.open = true;
  }

  close(): void {
    this.open = false;
    this.#check = null;
    this.token = "";
    this.problem = null;
  }

  async test(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.problem = null;
    const testedDraft = this.#tested;
    try {
      this.#check = {
        of: testedDraft,
        bot: await call("chats", "test_telegram", { draft: this.#draft }),
        failure: null,
      };
    } catch (error) {
      this.#check = { of: testedDraft, bot: null, failure: asApiError(error) };
    }
    this.busy = false;
  }

  /** Tests an untested draft and saves it if it works. */
  async save(): Promise<void> {
    if (!this.complete || this.busy) return;
    const isUntested = !this.check?.bot && (this.#draft.token !== null || this.#draft.server !== this.saved?.server);
    if (isUntested) await this.test();
    if (!isUntested || this.check?.bot) await this.saveAnyway();
  }

  /** Saves regardless of a test: the network may be down. */
  async saveAnyway(): Promise<void> {
    this.busy = true;
    this.problem = null;
    try {
      await call("chats", "save_telegram", { draft: this.#draft, bot: this.check?.bot ?? null });
      await preferences.refresh();
      this.close();
    } catch (error) {
      this.problem = asApiError(error);
    }
    this.busy = false;
  }

  async turn(on: Switch): Promise<void> {
    await this.#change(() => call("chats", "switch_telegram", { on }));
  }

  async remove(): Promise<void> {
    await this.#change(() => call("chats", "remove_telegram", {}));
    this.close();
  }

  async #change(ask: () => Promise<unknown>): Promise<void> {
    try {
      await ask();
      await preferences.refresh();
    } catch (error) {
      toasts.fail(error);
    }
  }
}

/** Pairing of a person by code: the typed code and its result. */
export class Pairing {
  code = $state("");
  busy = $state(false);
  problem = $state.raw<ApiError | null>(null);
  /** The person paired last. */
  paired = $state.raw<PairedPerson | null>(null);

  async pair(): Promise<void> {
    if (this.code.trim() === "" || this.busy) return;
    this.busy = true;
    this.problem = this.paired = null;
    try {
      this.paired = await call("chats", "pair_person", { code: this.code.trim() });
      this.code = "";
    } catch (error) {
      this.problem = asApiError(error);
    }
    this.busy = false;
  }

  async removePerson(person: PairedPerson): Promise<void> {
    try {
      await call("chats", "unpair_person", { person: person.key });
      if (this.paired?.key === person.key) this.paired = null;
    } catch (error) {
      toasts.fail(error);
    }
  }
}
