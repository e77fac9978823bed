/** The state and actions of the browser's settings page. */
import { asApiError, call, host } from "$lib/ipc";
import type { ApiError, BrowserCheck, BrowserChoice, BrowserRepair, FoundBrowser, GrantedSite } from "$lib/ipc/types";
import { browser } from "./browser.svelte";
import { preferences } from "./preferences.svelte";
import { toasts } from "./toasts.svelte";

/** Where remote debugging is enabled, if no detected browser names its own address. */
const USUAL_ADDRESS = "chrome://inspect/#remote-debugging";

export class BrowserSetup {
  /** The browsers of this machine; null until detected. */
  found = $state.raw<readonly FoundBrowser[] | null>(null);
  /**
   * Whether a browser can run with a profile of Octo's own: the core reports it, because not every system supports it.
   */
  own = $state(false);
  sites = $state.raw<readonly GrantedSite[] | null>(null);
  /** The results of the browser doctor; null until it ran, and once they are outdated. */
  checks = $state.raw<readonly BrowserCheck[] | null>(null);
  examining = $state(false);
  refreshing = $state(false);
  problem = $state.raw<ApiError | null>(null);
  readonly choice = $derived<BrowserChoice>(preferences.settings?.browser ?? { type: "automatic" });
  /** The browser the setup steps describe: the chosen one, else the first. */
  readonly guide = $derived.by(() => {
    const { choice } = this;
    const chosen = choice.type === "installed" ? this.found?.find(({ id }) => id === choice.id) : undefined;
    return chosen ?? this.found?.find(({ door }) => door === "asks") ?? this.found?.[0] ?? null;
  });
  readonly address = $derived(this.guide?.allow_address ?? USUAL_ADDRESS);

  /** Loads everything on the page. */
  async begin(): Promise<void> {
    await Promise.all([this.refresh(), this.readSites()]);
  }

  /** Detects browsers and their state. */
  async refresh(): Promise<void> {
    if (this.refreshing) return;
    this.refreshing = true;
    this.problem = null;
    try {
      const { browsers, own: ownProfile } = await call("browser", "find_browsers", {});
      this.found = browsers;
      this.own = ownProfile;
    } catch (error) {
      this.problem = asApiError(error);
    } finally {
      this.refreshing = false;
    }
  }

  async readSites(): Promise<void> {
    try {
      this.sites = (await call("browser", "list_sites", {})).sites;
    } catch (error) {
      this.problem = asApiError(error);
    }
  }

  /** Switches to another browser; returns whether that succeeded. */
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

  /** Lets the person pick a browser's profile folder; returns whether one was set. */
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

  /** Runs all checks, one row each. */
  async examine(): Promise<void> {
    if (this.examining) return;
    this.examining = true;
    this.problem = null;
    try {
      let state;
      do {
        ({ state } = browser);
        this.checks = (await call("browser", "examine_browser", {})).checks;
        // Repeats the check if the connection changed in the meantime.
      } while (browser.state !== state);
    } catch (error) {
      this.problem = asApiError(error);
    } finally {
      this.examining = false;
    }
  }

  /** Repeats the checks if they ran before, because the connection changed. */
  async reexamine(): Promise<void> {
    if (this.checks) await this.examine();
  }

  /** Runs a check's repair, and repeats the checks if it may have changed their result. */
  async repair(repair: Exclude<BrowserRepair, { type: "copy_address" }>): Promise<void> {
    switch (repair.type) {
      case "attach":
        // The connection row shows the progress and is checked again as it changes.
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

  /** Revokes a granted site, so that Octo asks again. */
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
