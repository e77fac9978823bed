/** Helpers that act as the person, for the acceptance tests. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Locator, type Page } from "playwright-core";
import { drive, settled } from "./stage";

type Words = Readonly<Record<string, string>>;

function wordsOf(language: "en" | "zh"): Words {
  const folder = join(import.meta.dirname, "../../words", language);
  const files = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Words);
  return Object.assign({}, ...files) as Words;
}

const ENGLISH = wordsOf("en");
const CHINESE = wordsOf("zh");

/** Returns the English words of a key with its arguments filled in. */
export function say(key: string, about: Record<string, string | number> = {}): string {
  const words = ENGLISH[key];
  if (words === undefined) throw new Error(`there are no words ${key}`);
  return words.replace(/\{(\w+)\}/g, (hole, name: string) => String(about[name] ?? hole));
}

/** Returns English words that are visible, spoken or in tooltips although a Chinese translation exists. */
export async function leftInEnglish(page: Page): Promise<string[]> {
  const shown = await page.evaluate(() => {
    const texts: string[] = [];
    for (const element of document.querySelectorAll("body *")) {
      if (!element.checkVisibility({ visibilityProperty: true })) continue;
      for (const name of ["placeholder", "aria-label", "title"]) texts.push(element.getAttribute(name) ?? "");
      for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) texts.push(node.nodeValue ?? "");
    }
    return texts.map((text) => text.trim()).filter((text) => text !== "");
  });
  const english = new Set(
    Object.entries(ENGLISH).flatMap(([key, words]) => (CHINESE[key] === words || words.includes("{") ? [] : [words])),
  );
  // Some words are a name in one place and plain text in another.
  const also = new Set(Object.values(CHINESE));
  return [...new Set(shown.filter((text) => english.has(text) && !also.has(text)))];
}

/** Picks an entry of the open menu. */
export async function pick(page: Page, name: string): Promise<void> {
  await page.locator(".menu:popover-open .menu-item", { hasText: name }).first().click();
}

/** Opens a page of the settings. */
export async function settings(page: Page, section: string): Promise<void> {
  await page.getByTestId("open-settings").click();
  await page.locator(`[data-page="${section}"]`).first().click();
  await settled(page);
}

/** Publishes runs of a task that just ended, newest first, one for each of `matters`. */
export async function publishRuns(
  page: Page,
  title: string,
  matters: readonly Record<string, unknown>[],
): Promise<void> {
  const now = await page.evaluate(() => Date.now());
  const usage = { input: 0, cache_read: 0, cache_write: 0, output: 0 };
  const events = matters.map((matter, nth) => {
    const at = now - nth * 100;
    const times = { created_at: at, updated_at: at, read_at: at };
    const kind = { folder: "/home/mei/code", profile: "general", mode: "autonomous", model: null, source: "task" };
    const info = { id: `${nth}`.padStart(32, "d"), title, ...kind, pinned: false, status: "idle", ...times, usage };
    return { topic: { type: "sessions" }, event: { type: "session_listed", info: { ...info, ...matter } } };
  });
  await drive(page, { events });
}

/** Returns a row of the session list by its title. */
export function row(page: Page, title: string): Locator {
  return page.getByTestId("session-row").filter({ hasText: title });
}

/** Returns the id of the session on screen. */
export async function current(page: Page): Promise<string> {
  const id = await page.locator('[data-testid="session-row"][aria-current]').getAttribute("data-session");
  if (id === null) throw new Error("no session is open");
  return id;
}

/** Puts a picture into the clipboard and pastes it by keyboard. */
export async function pasteScreenshot(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const canvas = document.createElement("canvas");
    canvas.width = 64;
    canvas.height = 40;
    const pen = canvas.getContext("2d");
    if (pen) {
      pen.fillStyle = "#2f6b46";
      pen.fillRect(0, 0, 64, 40);
    }
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
    if (blob) await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
  });
  await page.getByTestId("composer").focus();
  await page.keyboard.press("Control+v");
}

/** Drops a file onto the message field, as from another application. */
export async function dropFile(page: Page, file: { name: string; type: string; bytes: number }): Promise<void> {
  const data = await page.evaluateHandle(({ name, type, bytes }) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([new Uint8Array(bytes)], name, { type }));
    return transfer;
  }, file);
  const field = page.locator(".composer");
  await field.dispatchEvent("dragover", { dataTransfer: data });
  await field.dispatchEvent("drop", { dataTransfer: data });
}
