/** What came from outside the page: links, files, the tray, the system. Each is carried out once. */
import { call, host, onErrand } from "$lib/ipc";
import type { Closing, Errand, WayBack } from "$lib/ipc/types";
import { lookUp } from "$lib/words/words.svelte";
import { newDraft } from "./drafts.svelte";
import { navigation, type SettingsPage } from "./navigation.svelte";
import { ownWindow } from "./own-window";
import { preferences } from "./preferences.svelte";
import { toasts } from "./toasts.svelte";

/** What is told or asked over whatever page is shown. */
const STAYS: ReadonlySet<Errand["type"]> = new Set(["ask_closing", "update_found", "refused"]);

class Errands {
  /** The person is asked what closing the window is to do, and told what brings it back where it is hidden. */
  closing = $state<WayBack | null>(null);
  /** A file of skills that is to be looked at; null once somebody looks. */
  skills = $state<string | null>(null);
  #begun = false;
  /** What would lead away from the first run, until that is over. */
  #held: Errand[] = [];
  #seen: string | null | undefined;

  /** Carries out what came and what comes; once the page can. */
  begin(): void {
    if (this.#begun) return;
    this.#begun = true;
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

  /** Carries out what waited for the end of the first run. */
  async release(): Promise<void> {
    for (const errand of this.#held.splice(0)) await this.run(errand);
  }

  /** Carries out one; once the first run is over, where it leads to another page. */
  async run(errand: Errand): Promise<void> {
    if (navigation.place.page === "welcome" && !STAYS.has(errand.type)) {
      this.#held.push(errand);
      return;
    }
    switch (errand.type) {
      case "open_session":
        await this.#open(errand.session);
        return;
      case "new_session":
        newDraft().bring(errand.prompt, errand.from === "link");
        navigation.fresh(errand.folder);
        return;
      case "open_tasks":
        navigation.tasks();
        return;
      case "open_settings":
        // A page has a name among the words.
        if (lookUp(`settings.page.${errand.page}`) === null) navigation.settings();
        else navigation.settings(errand.page as SettingsPage);
        return;
      case "inspect_skills":
        this.skills = errand.path;
        navigation.skills();
        return;
      case "ask_closing":
        this.closing = errand.back;
        return;
      case "update_found":
        // Rare: not part of what loads at start.
        (await import("./updates.svelte")).updates.found(errand.offer);
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

  /** Tells which session is on screen, so that no notice tells of it. */
  look(session: string | null): void {
    if (session === this.#seen) return;
    this.#seen = session;
    host({ type: "look", window: ownWindow.number, session }).catch(() => {
      // A notice too many does no harm.
      this.#seen = undefined;
    });
  }

  /** What closing is to do from now on, and does now; null to stay. */
  async close(choice: Exclude<Closing, "ask"> | null): Promise<void> {
    const back = this.closing;
    this.closing = null;
    try {
      const { desktop, welcomed } = preferences.settings ?? {};
      // In the first run there is no palette to quit by: where there is no tray either, it is asked each time.
      const lasting = welcomed === true || back === "tray";
      if (choice !== null && desktop && lasting) await preferences.change({ desktop: { ...desktop, closing: choice } });
      await host({ type: choice === null ? "stay_open" : choice === "hide" ? "hide_window" : "quit" });
    } catch (error) {
      toasts.fail(error);
    }
  }
}

/** The window's errands. */
export const errands = new Errands();
