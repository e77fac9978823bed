// @vitest-environment jsdom
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { matchLanguage, languageOf, languages } from "./languages";
import { setLanguage, t, wordsOf } from "./words.svelte";

const UI = join(import.meta.dirname, "../..");

it("match the word folders, each with its own words and name", async () => {
  expect(languages.map(({ code }) => code)).toEqual(readdirSync(join(UI, "../../words")).sort());
  for (const { code } of languages) {
    await setLanguage(code);
    expect(t("toast.undo")).toBe((await wordsOf(code))["toast.undo"]);
    expect(document.documentElement.lang).toBe(languageOf(code).page);
  }
  await setLanguage("en");
  const first = await Promise.all(languages.map(async ({ code }) => (await wordsOf(code))["toast.undo"]));
  expect(new Set(first).size).toBe(languages.length);
});

it.each([
  ["zh-TW", "zh"],
  ["ZH_CN", "zh"],
  ["zh", "zh"],
  ["en-GB", "en"],
  ["de", "en"],
  ["", "en"],
])("a system in %s is spoken to in %s", (system, code) => expect(matchLanguage(system)).toBe(code));

it("are listed nowhere else", () => {
  const sources = readdirSync(UI, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(svelte|ts)$/.test(entry.name) && !/\.test\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/[\\/](?:generated[\\/]|fake-)/.test(path));
  const naming = sources.filter((path) =>
    languages.some(({ name }) => new RegExp(`["'>]${name}["'<]`).test(readFileSync(path, "utf8"))),
  );
  expect(naming.map((path) => path.slice(UI.length + 1))).toEqual([join("lib", "words", "languages.ts")]);
});
