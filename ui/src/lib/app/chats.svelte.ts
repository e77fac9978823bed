/** Telegram as the person sets it up: a form, its test, and who is let in. A token stays here until it is saved. */
import { asApiError, call } from "$lib/ipc";
import type { ApiError, ChatAccount, Mode, PairedPerson, Switch, TelegramDraft } from "$lib/ipc/types";
import { preferences } from "./preferences.svelte";
import { toasts } from "./toasts.svelte";

/** What came of a test, and of which draft: it says nothing of another. */
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
  /** What the token hangs on; the folder and the mode change nothing of it. */
  readonly #tested = $derived(JSON.stringify([this.#draft.token, this.#draft.server]));
  /** What came of the test of what is on screen. */
  readonly check = $derived(this.#check?.of === this.#tested ? this.#check : null);
  readonly kept = $derived(preferences.settings?.chats.telegram ?? null);
  readonly complete = $derived(
    this.folder.trim() !== "" &&
      (this.token.trim() !== "" || (this.kept !== null && this.kept.token.type !== "missing")),
  );

  /** Shows the form with what is saved, or with what a newcomer would choose. */
  edit(): void {
    const { kept } = this;
    this.token = "";
    this.server = kept?.server ?? "";
    this.folder = kept?.folder ?? preferences.settings?.recent_folders[0] ?? preferences.userHome;
    this.mode = kept?.mode ?? "ask_risky";
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
    const of = this.#tested;
    try {
      this.#check = { of, bot: await call("chats", "test_telegram", { draft: this.#draft }), failure: null };
    } catch (error) {
      this.#check = { of, bot: null, failure: asApiError(error) };
    }
    this.busy = false;
  }

  /** Tests what was not tested, and saves it where it works. */
  async save(): Promise<void> {
    if (!this.complete || this.busy) return;
    const untested = !this.check?.bot && (this.#draft.token !== null || this.#draft.server !== this.kept?.server);
    if (untested) await this.test();
    if (!untested || this.check?.bot) await this.saveAnyway();
  }

  /** Saves it whatever a test says: the network may be away. */
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

/** Who may write: a code being typed, and what came of it. */
export class Pairing {
  code = $state("");
  busy = $state(false);
  problem = $state.raw<ApiError | null>(null);
  /** Who was let in last. */
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

  async unpair(person: PairedPerson): Promise<void> {
    try {
      await call("chats", "unpair_person", { person: person.key });
      if (this.paired?.key === person.key) this.paired = null;
    } catch (error) {
      toasts.fail(error);
    }
  }
}
