import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

/** Prefixes of keys that Rust assembles. All others appear literally. */
const MADE_IN_RUST = ["error.command.misused.", "taskdesk.when."];

const ROOT = join(import.meta.dirname, "../../../..");

/** Returns the product's sources below a folder as one text, without tests. */
function sources(folder: string, kind: RegExp): string {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && kind.test(entry.name) && !/\.test\.ts$|^tests\.rs$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/[\\/](?:generated|target|tests|octo-testkit)[\\/]/.test(path.slice(ROOT.length)))
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
}

const folder = join(ROOT, "words/en");
const files = new Map(
  readdirSync(folder).map((name) => [name, JSON.parse(readFileSync(join(folder, name), "utf8")) as object]),
);
const onlyRust = ["chats.json", "native.json"].flatMap((name) => Object.keys(files.get(name) ?? {}));
const keys = [...files.values()].flatMap((words) => Object.keys(words));

const page = sources("ui/src", /\.(?:svelte|ts)$/);
const rust = sources("src-tauri", /\.rs$/);

const wordsIn = (text: string): Set<string> =>
  new Set([...text.matchAll(/["'`]([\w.-]+)["'`]/g)].map(([, key]) => key ?? ""));
const inPage = wordsIn(page);
const inRust = wordsIn(rust);
// A placeholder replaces exactly one part of a key.
const patterns = [...page.matchAll(/`([\w.-]*\.[\w.-]*\$\{[^`]*)`/g)]
  .map(([, template]) => (template ?? "").split(/\$\{[^}]*\}/))
  .filter((parts) => parts.every((part) => /^[\w.-]*$/.test(part)))
  .map((parts) => new RegExp(`^${parts.map((part) => part.replaceAll(".", "\\.")).join("[^.]+")}$`));

function isUsed(key: string): boolean {
  // Plural keys are used without their form suffix.
  const forms = [key, key.replace(/\.(?:one|other)$/, "")];
  if (MADE_IN_RUST.some((beginning) => key.startsWith(beginning))) return true;
  if (inRust.has(key.replace(/^error\./, "")) || inRust.has(key)) return true;
  return forms.some(
    (form) => inPage.has(form) || (!form.startsWith("error.") && patterns.some((pattern) => pattern.test(form))),
  );
}

describe("every word of the catalogue", () => {
  it("is used by the page or by Rust", () => {
    expect(keys.length).toBeGreaterThan(2_000);
    expect(keys.filter((key) => !isUsed(key))).toEqual([]);
  });

  it("is in one file", () => {
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
  });

  it("outside the page's files is used by Rust", () => {
    const isBuilt = (key: string): boolean => MADE_IN_RUST.some((beginning) => key.startsWith(beginning));
    expect(onlyRust.filter((key) => !inRust.has(key) && !isBuilt(key))).toEqual([]);
  });

  it("is checked: an unused key and one that only looks used are found", () => {
    expect(["side.nobody", "settings.page.nowhere.else", "error.no.such.thing"].filter(isUsed)).toEqual([]);
  });

  it("that Rust composes exists", () => {
    for (const beginning of MADE_IN_RUST) {
      expect(rust).toContain(`"${beginning.replace(/^error\./, "")}{`);
      expect(keys.some((key) => key.startsWith(beginning))).toBe(true);
    }
  });
});
