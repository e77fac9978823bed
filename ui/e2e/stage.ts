/**
 * The built page in a Chromium without a server: every request is answered from the build's folder, under the content
 * policy of the shell.
 */
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { type Browser, type Page, type Route, chromium } from "playwright-core";
import { expect } from "vitest";
import { BUILT } from "./build";

const UI = join(import.meta.dirname, "..");
const ORIGIN = "https://octo.test";
/** The moment the recordings were made at, so that "today" is in them. */
const NOW = new Date("2026-11-21T14:02:48Z");

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

/** The shell's own policy. */
function policy(): string {
  const shell = JSON.parse(readFileSync(join(UI, "../tauri.conf.json"), "utf8")) as {
    app: { security: { csp: Record<string, string> } };
  };
  return Object.entries(shell.app.security.csp)
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join("; ");
}

const csp = policy();

async function answer(route: Route): Promise<void> {
  const { pathname } = new URL(route.request().url());
  const file = pathname === "/" ? "index.html" : pathname.slice(1);
  let body: Buffer;
  try {
    body = readFileSync(join(UI, BUILT, file));
  } catch {
    return route.fulfill({ status: 404, body: "" });
  }
  const contentType = TYPES[extname(file)] ?? "application/octet-stream";
  return route.fulfill({ body, contentType, headers: { "Content-Security-Policy": csp } });
}

/** How a page is opened. */
export interface Opening {
  /** The recorded scene. */
  readonly scene: string;
  /** More of the address, like `&sessions=100`. */
  readonly query?: string;
  readonly language?: "en" | "zh";
  /** Whose language the system speaks, where none was chosen in Octo; `language` then says nothing. */
  readonly system?: "en-US" | "zh-CN";
  readonly theme?: "light" | "dark";
  /** In CSS pixels; 1280 by 800. */
  readonly size?: { readonly width: number; readonly height: number };
  /** Whether the person asked the system for less motion; they did, unless said otherwise. */
  readonly motion?: "reduce" | "no-preference";
  readonly colours?: "active" | "none";
  /** Whether what was recorded comes at once or at its pace. */
  readonly pace?: "at_once" | "as_recorded";
  /** Whether it is always the moment of the recordings, or time goes on, for what is measured. */
  readonly clock?: "fixed" | "running";
}

/** A browser for one file of tests. */
export class Stage {
  readonly #browser: Browser;
  /** What pages wrote to their consoles, or threw. */
  readonly faults: string[] = [];

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** Starts the system's Chromium (`CHROMIUM` names another one). */
  static async start(): Promise<Stage> {
    const browser = await chromium.launch({
      executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
      // Tests may run as root, where Chromium has no sandbox.
      args: ["--no-sandbox", "--force-device-scale-factor=1"],
    });
    return new Stage(browser);
  }

  async end(): Promise<void> {
    await this.#browser.close();
  }

  /** Opens a scene and waits until it stands. */
  async open(opening: Opening): Promise<Page> {
    const context = await this.#browser.newContext({
      viewport: opening.size ?? { width: 1280, height: 800 },
      timezoneId: "UTC",
      locale: opening.system ?? (opening.language === "zh" ? "zh-CN" : "en-US"),
      permissions: ["clipboard-read", "clipboard-write"],
      reducedMotion: opening.motion ?? "reduce",
      forcedColors: opening.colours ?? "none",
    });
    await context.route(`${ORIGIN}/**`, answer);
    const page = await context.newPage();
    await page.addInitScript(() => {
      const asked: unknown[] = [];
      Object.assign(window, { asked });
      addEventListener("asked", (event) => asked.push((event as CustomEvent).detail));
    });
    page.setDefaultTimeout(45_000);
    const where = `${opening.scene}${opening.query ?? ""}`;
    page.on("pageerror", (error) => this.faults.push(`${where}: ${error.message}`));
    page.on("console", (message) => {
      const wanted = !["error", "warning"].includes(message.type()) || message.location().url.endsWith("/favicon.ico");
      if (!wanted) this.faults.push(`${where}: ${message.text()}`);
    });
    if (opening.clock !== "running") await page.clock.setFixedTime(NOW);
    const { theme = "light", language = "en" } = opening;
    const pace = opening.pace === "as_recorded" ? "" : "&fast";
    const spoken = opening.system ? "" : `&lang=${language}`;
    await page.goto(`${ORIGIN}/?fake=${opening.scene}${pace}&theme=${theme}${spoken}${opening.query ?? ""}`);
    await stands(page);
    return page;
  }
}

async function stands(page: Page): Promise<void> {
  await page.waitForSelector("main:not([aria-busy]), .wizard");
  await settled(page);
}

/** Loads a page again, as after a restart. With `&lasting` the replay goes on where it was. */
export async function restart(page: Page): Promise<void> {
  await page.reload();
  await stands(page);
}

/** What the page asked of the core and of the system, of one kind, since it was loaded; oldest first. */
export function asked(page: Page, type: string): Promise<Record<string, unknown>[]> {
  return page.evaluate(
    (type) =>
      (window as unknown as { asked: { call: Record<string, unknown> }[] }).asked
        .map(({ call }) => call)
        .filter((call) => call["type"] === type),
    type,
  );
}

/** Closes a page with its context. */
export async function close(page: Page): Promise<void> {
  await page.context().close();
}

/** Waits until what was loaded late is there and two frames were drawn since the page last changed. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        let changed = true;
        const watch = new MutationObserver(() => (changed = true));
        watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
        let quiet = 0;
        let rounds = 0;
        const look = (): void => {
          quiet = changed ? 0 : quiet + 1;
          changed = false;
          // What never comes to rest, like a clock, is not waited for.
          if (quiet >= 3 || (rounds += 1) > 40) {
            watch.disconnect();
            resolve();
          } else setTimeout(() => requestAnimationFrame(look), 20);
        };
        requestAnimationFrame(look);
      }),
  );
}

/** Lets events happen in the replay, publishes other updates, or asks as another window would. */
export async function drive(
  page: Page,
  detail: { events?: unknown[]; updates?: unknown[]; request?: unknown; finished?: unknown },
): Promise<void> {
  await page.evaluate((what) => dispatchEvent(new CustomEvent("fake", { detail: what })), detail);
}

/** Changes settings as another window would. */
export async function change(page: Page, patch: Record<string, unknown>): Promise<void> {
  await drive(page, { request: { domain: "app", call: { type: "change_settings", patch } } });
  // The small window reads them when it comes.
  if ((await page.locator(".quick").count()) > 0) await page.evaluate(() => dispatchEvent(new Event("focus")));
}

/** The test id of what has the focus, or what it is. */
export function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const at = document.activeElement;
    if (!(at instanceof HTMLElement)) return "nothing";
    return at.dataset["testid"] ?? `${at.tagName.toLowerCase()}.${at.className}`;
  });
}

/** Waits until something of a test id has the focus. */
export async function untilFocused(page: Page, testid: string): Promise<void> {
  await expect.poll(() => focused(page), { timeout: 5_000 }).toBe(testid);
}
