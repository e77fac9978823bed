/**
 * Opens the built page in Chromium without a server: every request is answered from the build's folder, under the
 * shell's content security policy.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { type Browser, type BrowserContext, type Page, type Request, type Route, chromium } from "playwright-core";
import { expect } from "vitest";
import { PageCore, type PageLine, type Seed, connect } from "../core/bridge.ts";
import { CoreProcess } from "../core/process.ts";
import { BUILT } from "./build";

const UI = join(import.meta.dirname, "..");
const ORIGIN = "https://octo.test";
/** The time of the recordings, so that they count as "today". */
const NOW = new Date("2026-11-21T14:02:48Z");

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

/** Returns the shell's content security policy. */
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

/** Options for opening a page: how it looks, whatever it shows. */
interface Appearance {
  /** Further query parameters, like `&sessions=100`. */
  readonly query?: string;
  readonly language?: "en" | "zh";
  /** The system's language when none is chosen in Octo; `language` is then ignored. */
  readonly system?: "en-US" | "zh-CN";
  readonly theme?: "light" | "dark";
  /** In CSS pixels; 1280 by 800 by default. */
  readonly size?: { readonly width: number; readonly height: number };
  /** The system's reduced-motion preference; `reduce` by default. */
  readonly motion?: "reduce" | "no-preference";
  readonly colours?: "active" | "none";
}

/** Options for opening a recorded scene. */
export interface Opening extends Appearance {
  /** The recorded scene. */
  readonly scene: string;
  /** Whether recorded updates arrive at once or at their original pace. */
  readonly pace?: "at_once" | "as_recorded";
  /** Whether the clock stays at the time of the recordings, or runs, for measurements. */
  readonly clock?: "fixed" | "running";
}

/** A page over a real core of its own. */
export interface RealPage {
  readonly page: Page;
  readonly core: PageCore;
}

/** The browser of one test file. */
export class Stage {
  readonly #browser: Browser;
  #process: CoreProcess | undefined;
  /** The home folder of the person the real cores work for. */
  readonly person = mkdtempSync(join(tmpdir(), "octo-person-"));
  /** Console messages and errors of the pages. */
  readonly faults: string[] = [];

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** Starts the system's Chromium (`CHROMIUM` overrides its path). */
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
    await this.#process?.end();
    rmSync(this.person, { recursive: true, force: true });
  }

  /** Opens a recorded scene and waits until it has settled. */
  async open(opening: Opening): Promise<Page> {
    const { page } = await this.#prepare(opening, opening.scene);
    if (opening.clock !== "running") await page.clock.setFixedTime(NOW);
    const pace = opening.pace === "as_recorded" ? "" : "&fast";
    return this.#show(page, opening, `fake=${opening.scene}${pace}`);
  }

  /** Starts a real core, seeds it, opens a page on it and waits until it has settled. The clock runs. */
  async openReal(seed: Seed, opening: Appearance = {}): Promise<RealPage> {
    this.#process ??= new CoreProcess(this.person);
    const core = await PageCore.start(this.#process, seed);
    const { theme = "light", language = "en" } = opening;
    const patch = { theme, ...(opening.system === undefined ? { language } : {}) };
    await core.request({ domain: "app", call: { type: "change_settings", patch } });
    const { context, page } = await this.#prepare(opening, seed.name);
    await context.routeWebSocket(`${ORIGIN.replace("http", "ws")}/core`, (socket) => {
      const { take, end } = connect(core, (line) => socket.send(JSON.stringify(line)));
      socket.onMessage((line) => take(JSON.parse(String(line)) as PageLine));
      socket.onClose(end);
    });
    await context.route(`${ORIGIN}/blobs/**`, async (route) => {
      const blob = await core.blob(new URL(route.request().url()).pathname.slice("/blobs/".length));
      await route.fulfill(blob ? { body: blob.bytes, contentType: blob.type } : { status: 404, body: "" });
    });
    await page.addInitScript((session) => {
      if (session !== null && localStorage.getItem("octo.last-session") === null)
        localStorage.setItem("octo.last-session", session);
    }, core.opens);
    context.once("close", () => void core.end());
    return { page: await this.#show(page, opening, "real"), core };
  }

  async #prepare(opening: Appearance, name: string): Promise<{ context: BrowserContext; page: Page }> {
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
    countRequests(page);
    const where = `${name}${opening.query ?? ""}`;
    page.on("pageerror", (error) => this.faults.push(`${where}: ${error.message}`));
    page.on("console", (message) => {
      const wanted = !["error", "warning"].includes(message.type()) || message.location().url.endsWith("/favicon.ico");
      if (!wanted) this.faults.push(`${where}: ${message.text()}`);
    });
    return { context, page };
  }

  async #show(page: Page, opening: Appearance, what: string): Promise<Page> {
    const { theme = "light", language = "en" } = opening;
    const spoken = opening.system ? "" : `&lang=${language}`;
    await page.goto(`${ORIGIN}/?${what}&theme=${theme}${spoken}${opening.query ?? ""}`);
    await stands(page);
    return page;
  }
}

async function stands(page: Page): Promise<void> {
  await page.waitForSelector("main:not([aria-busy]), .wizard");
  await settled(page);
}

/** Loads a page again, as after a restart. */
export async function restart(page: Page): Promise<void> {
  await page.reload();
  await stands(page);
}

/** Returns the page's requests of one type to the core and the system since it was loaded, oldest first. */
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

/** Resizes a page and waits until it has been told: the browser answers before the page's `resize` event. */
export async function resize(page: Page, width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height });
  await page.evaluate(
    ([width, height]) =>
      new Promise<void>((resolve) => {
        // The event precedes the callbacks of its frame.
        const look = (): void =>
          void requestAnimationFrame(() => (innerWidth === width && innerHeight === height ? resolve() : look()));
        look();
      }),
    [width, height] as const,
  );
  await settled(page);
}

/** The requests of each page without a complete answer, and how many it has made. */
const requests = new WeakMap<Page, { readonly open: Set<Request>; made: number }>();

function countRequests(page: Page): void {
  const of = { open: new Set<Request>(), made: 0 };
  requests.set(page, of);
  page.on("request", (request) => {
    of.open.add(request);
    of.made += 1;
  });
  const answered = (request: Request): void => void of.open.delete(request);
  page.on("requestfinished", answered);
  page.on("requestfailed", answered);
}

/** Waits until late chunks have loaded and two frames have passed without a change. */
export async function settled(page: Page): Promise<void> {
  const counted = requests.get(page);
  let before: number | undefined;
  do {
    before = counted?.made;
    await quiet(page);
    while (counted !== undefined && counted.open.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  } while (counted?.made !== before);
}

/** Waits until a few frames have passed without a change. */
async function quiet(page: Page): Promise<void> {
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
          // Does not wait for content that never settles, such as a clock.
          if (quiet >= 3 || (rounds += 1) > 40) {
            watch.disconnect();
            resolve();
          } else setTimeout(() => requestAnimationFrame(look), 20);
        };
        requestAnimationFrame(look);
      }),
  );
}

/** Publishes events or other updates in the replay, or sends requests as another window. */
export async function drive(
  page: Page,
  detail: { events?: unknown[]; updates?: unknown[]; request?: unknown; finished?: unknown },
): Promise<void> {
  await page.evaluate((what) => dispatchEvent(new CustomEvent("fake", { detail: what })), detail);
}

/** Changes settings as another window would. */
export async function change(page: Page, patch: Record<string, unknown>): Promise<void> {
  await drive(page, { request: { domain: "app", call: { type: "change_settings", patch } } });
  // The quick ask window reads the settings when it gets the focus.
  if ((await page.locator(".quick").count()) > 0) await page.evaluate(() => dispatchEvent(new Event("focus")));
}

/** Returns the test id of the focused element, or its tag. */
export function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const at = document.activeElement;
    if (!(at instanceof HTMLElement)) return "nothing";
    return at.dataset["testid"] ?? `${at.tagName.toLowerCase()}.${at.className}`;
  });
}

/** Waits until an element with the test id has the focus. */
export async function untilFocused(page: Page, testid: string): Promise<void> {
  await expect.poll(() => focused(page), { timeout: 5_000 }).toBe(testid);
}
