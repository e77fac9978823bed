/** Open requests from outside the page: links, files, the tray, the system. Each is handled once. */
import { call, host, onErrand } from "$lib/ipc";
import type { CloseAction, OpenRequest, WindowRecovery } from "$lib/ipc/types";
import { withWords } from "$lib/words/words.svelte";
import { newDraft } from "./drafts.svelte";
import { navigation } from "./navigation.svelte";
import { thisWindow } from "./own-window";
import { preferences } from "./preferences.svelte";
import { toasts } from "./toasts.svelte";

/** Requests handled on top of the current page. */
const STAYS: ReadonlySet<OpenRequest["type"]> = new Set(["ask_closing", "update_found", "refused"]);

class OpenRequests {
  /** Set while asking about the action of the close button; tells how to bring a hidden window back. */
  closing = $state<WindowRecovery | null>(null);
  /** A skill file to preview; null once a page has picked it up. */
  skills = $state<string | null>(null);
  #started = false;
  /** Requests that would leave onboarding, deferred until it ends. */
  #deferred: OpenRequest[] = [];
  #seen: string | null | undefined;

  /** Handles pending and future requests, once the page is ready. */
  begin(): void {
    if (this.#started) return;
    this.#started = true;
    onErrand(() => void this.#take());
    void this.#take();
  }

  async #take(): Promise<void> {
    try {
      const reply = await host({ type: "take_errands" });
      if (reply.type === "errands") for (const errand of reply.errands) await this.run(errand);
    } catch (error) {
      toasts.fail(error);
    }
  }

  /** Handles the requests deferred during onboarding. */
  async release(): Promise<void> {
    for (const errand of this.#deferred.splice(0)) await this.run(errand);
  }

  /** Handles one request; if it leads to another page, only after onboarding. */
  async run(errand: OpenRequest): Promise<void> {
    if (navigation.view.page === "welcome" && !STAYS.has(errand.type)) {
      this.#deferred.push(errand);
      return;
    }
    switch (errand.type) {
      case "open_session":
        await this.#open(errand.session);
        return;
      case "new_session":
        newDraft().append(errand.prompt, errand.from === "link");
        navigation.fresh(errand.folder);
        return;
      case "open_tasks":
        navigation.tasks();
        return;
      case "open_settings":
        // Settings are not part of the startup bundle.
        navigation.settings((await import("./settings-pages")).settingsPageNamed(errand.page) ?? undefined);
        return;
      case "inspect_skills":
        this.skills = errand.path;
        navigation.skills();
        return;
      case "ask_closing":
        this.closing = errand.back;
        return;
      case "update_found":
        // Rare, so not part of the startup bundle.
        (await withWords(import("./updates.svelte"), "settings-about")).updates.announce(errand.offer);
        return;
      case "refused":
        toasts.fail(errand.error);
        return;
      default:
        return errand satisfies never;
    }
  }

  async #open(session: string): Promise<void> {
    try {
      await call("sessions", "open_session", { session });
      navigation.session(session);
    } catch (error) {
      toasts.fail(error);
    }
  }

  /** Reports the session on screen, so that no notice is shown for it. */
  reportSession(session: string | null): void {
    if (session === this.#seen) return;
    this.#seen = session;
    host({ type: "look", window: thisWindow.number, session }).catch(() => {
      // An extra notice does no harm.
      this.#seen = undefined;
    });
  }

  /** Sets the action of the close button and runs it now; null cancels. */
  async close(choice: Exclude<CloseAction, "ask"> | null): Promise<void> {
    const target = this.closing;
    this.closing = null;
    try {
      const { desktop, welcomed } = preferences.settings ?? {};
      // Onboarding has no palette to quit from: without a tray it asks every time.
      const lasting = welcomed === true || target === "tray";
      if (choice !== null && desktop && lasting) await preferences.change({ desktop: { ...desktop, closing: choice } });
      await host({ type: choice === null ? "stay_open" : choice === "hide" ? "hide_window" : "quit" });
    } catch (error) {
      toasts.fail(error);
    }
  }
}

/** This window's open requests. */
export const openRequests = new OpenRequests();
