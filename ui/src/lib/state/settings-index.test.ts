import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { settingsIndex } from "./settings-index";

const PAGES = join(import.meta.dirname, "../../components/settings");

/** Words about completed actions or whole pages, which are not searched for. */
const NOT_SET = new Set([
  "about.data.sub",
  "browser.detach.sub",
  "browser.exposed.sub",
  "data.plan.move.sub",
  "data.trash.sub",
  "settings.proposed.sub",
]);

/** Returns the headings and hints of the settings' pages. */
function titlesOnPages(): string[] {
  const files = readdirSync(PAGES).filter((name) => name.endsWith(".svelte") && !name.endsWith("Dialog.svelte"));
  return files.flatMap((name) => {
    const text = readFileSync(join(PAGES, name), "utf8");
    const headings = [...text.matchAll(/<h2[^>]*>\{t\("([\w.]+)"\)\}/g)];
    const explained = [...text.matchAll(/\bt\("([\w.]+\.sub)"\)/g)];
    return [...headings, ...explained].map(([, key = ""]) => key);
  });
}

describe("the index of settings", () => {
  it("contains every heading and every explained row", () => {
    const titles = new Set(settingsIndex.flatMap(({ title, also }) => [title, ...also] as string[]));
    const keys = titlesOnPages();
    expect(keys.length).toBeGreaterThan(50);
    const missing = keys.filter(
      (key) => !NOT_SET.has(key) && !titles.has(key) && !titles.has(key.replace(/\.sub$/, "")),
    );
    expect(missing).toEqual([]);
  });
});
