/** What the page of settings about the browser shows and does. */
import { asApiError, call, host } from "$lib/ipc";
import type { ApiError, BrowserCheck, BrowserChoice, BrowserRepair, FoundBrowser, GrantedSite } from "$lib/ipc/types";
import { browser } from "./browser.svelte";
import { preferences } from "./preferences.svelte";
import { toasts } from "./toasts.svelte";

/** Where a person lets Octo in, when no browser was found that says so itself. */
const USUAL_ADDRESS = "chrome://inspect/#remote-debugging";

export class BrowserSetup {
  /** The browsers of this machine; null before they were looked for. */
  found = $state.raw<readonly FoundBrowser[] | null>(null);
  /** Whether one can be started with a profile of Octo's own: the core says so, for not every system has it. */
  own = $state(false);
  sites = $state.raw<readonly GrantedSite[] | null>(null);
  /** What the doctor found; null before it looked, and when what it found no longer holds. */
  checks = $state.raw<readonly BrowserCheck[] | null>(null);
  examining = $state(false);
  looking = $state(false);
  problem = $state.raw<ApiError | null>(null);
  readonly choice = $derived<BrowserChoice>(preferences.settings?.browser ?? { type: "automatic" });
  /** The browser the steps of letting Octo in are about: the chosen one, else the first. */
  readonly guide = $derived.by(() => {
    const { choice } = this;
    const chosen = choice.type === "installed" ? this.found?.find(({ id }) => id === choice.id) : undefined;
    return chosen ?? this.found?.find(({ door }) => door === "asks") ?? this.found?.[0] ?? null;
  });
  readonly address = $derived(this.guide?.allow_address ?? USUAL_ADDRESS);

  /** Reads all that is shown. */
  async begin(): Promise<void> {
    await Promise.all([this.look(), this.readSites()]);
  }

  /** Looks for browsers and how each answers. */
  async look(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    this.problem = null;
    try {
      const { browsers, own } = await call("browser", "find_browsers", {});
      this.found = browsers;
      this.own = own;
    } catch (error) {
      this.problem = asApiError(error);
    } finally {
      this.looking = false;
    }
  }

  async readSites(): Promise<void> {
    try {
      this.sites = (await call("browser", "list_sites", {})).sites;
    } catch (error) {
      this.problem = asApiError(error);
    }
  }

  /** Works in another browser from now on; whether that could be done. */
  async choose(choice: BrowserChoice): Promise<boolean> {
    try {
      await call("browser", "choose_browser", { choice });
      this.checks = null;
      await preferences.refresh();
      return true;
    } catch (error) {
      toasts.fail(error);
      return false;
    }
  }

  /** Lets the person pick the folder of a browser's profiles; whether one was taken. */
  async chooseFolder(): Promise<boolean> {
    const start = this.choice.type === "folder" ? this.choice.path : null;
    try {
      const picked = await host({ type: "pick_folder", start });
      if (picked.type !== "folder" || picked.path === null) return false;
      return await this.choose({ type: "folder", path: picked.path });
    } catch (error) {
      toasts.fail(error);
      return false;
    }
  }

  /** Looks at all that is needed, a line each. */
  async examine(): Promise<void> {
    if (this.examining) return;
    this.examining = true;
    this.problem = null;
    try {
      let state;
      do {
        ({ state } = browser);
        this.checks = (await call("browser", "examine_browser", {})).checks;
        // What became of the connection meanwhile is looked at too.
      } while (browser.state !== state);
    } catch (error) {
      this.problem = asApiError(error);
    } finally {
      this.examining = false;
    }
  }

  /** Looks again where it had looked: the connection is another than it was then. */
  async reexamine(): Promise<void> {
    if (this.checks) await this.examine();
  }

  /** Does what a check offers, and looks again where that can have changed what it found. */
  async repair(repair: Exclude<BrowserRepair, { type: "copy_address" }>): Promise<void> {
    switch (repair.type) {
      case "attach":
        // How it goes is told beside the connection, and looked at again as it changes.
        return browser.attach();
      case "stop_waiting":
        return browser.detach();
      case "use_own":
        if (await this.choose({ type: "own" })) await this.examine();
        return;
      case "choose_folder":
        if (await this.chooseFolder()) await this.examine();
        return;
      default:
        return repair satisfies never;
    }
  }

  /** Asks about a site again. */
  async forget(site: GrantedSite): Promise<void> {
    try {
      await call("browser", "forget_site", { site });
    } catch (error) {
      toasts.fail(error);
      return;
    }
    await this.readSites();
  }
}
